//! An allow-list over the tree: what the library understands, but MySQL has not or means otherwise, is refused.

use std::ops::ControlFlow;

use super::ParseError;
use super::ast::{
    BinaryOperator, DataType, Distinct, Expr, FunctionArguments, GroupByExpr, JoinOperator, LimitClause,
    Query, Select, SetExpr, Statement, TableFactor, UnaryOperator, Value, Visit, Visitor,
};

/// `Ok` where every node is known to mean to the servers what the tree says.
pub(super) fn covered(tree: &Statement) -> Result<(), ParseError> {
    match tree {
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {}
        _ => return Err(ParseError::NotCovered("this kind of statement")),
    }
    match tree.visit(&mut Check) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(what) => Err(ParseError::NotCovered(what)),
    }
}

struct Check;

type Flow = ControlFlow<&'static str>;

fn only(allowed: bool, what: &'static str) -> Flow {
    if allowed { ControlFlow::Continue(()) } else { ControlFlow::Break(what) }
}

impl Visitor for Check {
    type Break = &'static str;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        only(query.fetch.is_none(), "FETCH")?;
        only(
            query.for_clause.is_none()
                && query.settings.is_none()
                && query.format_clause.is_none()
                && query.pipe_operators.is_empty(),
            "a clause of another product",
        )?;
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, limit_by, .. }) => {
                only(limit.is_some() && limit_by.is_empty(), "OFFSET without LIMIT")?;
            }
            Some(LimitClause::OffsetCommaLimit { .. }) | None => {}
        }
        only(set_expr(&query.body), "this form of a query")
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        only(
            select.top.is_none()
                && select.exclude.is_none()
                && select.into.is_none()
                && select.lateral_views.is_empty()
                && select.prewhere.is_none()
                && select.connect_by.is_empty()
                && select.cluster_by.is_empty()
                && select.distribute_by.is_empty()
                && select.sort_by.is_empty()
                && select.qualify.is_none()
                && select.value_table_mode.is_none(),
            "INTO or a clause of another product",
        )?;
        only(!matches!(select.distinct, Some(Distinct::On(_))), "DISTINCT ON")?;
        only(!matches!(select.group_by, GroupByExpr::All(_)), "GROUP BY ALL")?;
        select.from.iter().flat_map(|from| &from.joins).try_for_each(|join| {
            only(
                !join.global
                    && matches!(
                        join.join_operator,
                        JoinOperator::Join(_)
                            | JoinOperator::Inner(_)
                            | JoinOperator::Left(_)
                            | JoinOperator::LeftOuter(_)
                            | JoinOperator::Right(_)
                            | JoinOperator::RightOuter(_)
                            | JoinOperator::CrossJoin(_)
                            | JoinOperator::StraightJoin(_)
                    ),
                "this join",
            )
        })
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        let known = match factor {
            TableFactor::Table {
                args,
                with_hints,
                version,
                with_ordinality,
                json_path,
                sample,
                inheritance,
                ..
            } => {
                args.is_none()
                    && with_hints.is_empty()
                    && version.is_none()
                    && !with_ordinality
                    && json_path.is_none()
                    && sample.is_none()
                    && inheritance.is_none()
            }
            TableFactor::Derived { sample, alias, .. } => {
                sample.is_none() && alias.as_ref().is_some_and(|alias| alias.columns.is_empty())
            }
            TableFactor::NestedJoin { alias, .. } => alias.is_none(),
            _ => false,
        };
        only(known, "this form of a table")
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        let known = match expr {
            Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. }
            | Expr::Convert { .. }
            | Expr::Cast { .. }
            | Expr::Position { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. }
            | Expr::Extract { .. }
            | Expr::Collate { .. }
            | Expr::Nested(_)
            | Expr::Prefixed { .. }
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::Tuple(_)
            | Expr::Interval(_)
            | Expr::MatchAgainst { .. }
            | Expr::MemberOf(_)
            | Expr::Wildcard(_) => true,
            Expr::In { global, expr, negated, .. } => !global && unchained(expr, *negated),
            Expr::Like { any, expr, negated, .. } => !any && unchained(expr, *negated),
            Expr::RLike { expr, negated, .. } | Expr::Between { expr, negated, .. } => {
                unchained(expr, *negated)
            }
            // The servers take a column and a path, nothing else.
            Expr::BinaryOp { left, op: BinaryOperator::Arrow | BinaryOperator::LongArrow, right } => {
                matches!(left.as_ref(), Expr::Identifier(_) | Expr::CompoundIdentifier(_))
                    && matches!(right.as_ref(), Expr::Value(_))
            }
            Expr::BinaryOp { op, .. } => binary(op),
            Expr::UnaryOp { op, .. } => matches!(
                op,
                UnaryOperator::Not
                    | UnaryOperator::BangNot
                    | UnaryOperator::Minus
                    | UnaryOperator::Plus
                    | UnaryOperator::BitwiseNot
            ),
            Expr::TypedString(typed) => {
                matches!(typed.data_type, DataType::Date | DataType::Time(..) | DataType::Timestamp(..))
            }
            Expr::Value(value) => matches!(
                value.value,
                Value::Number(..)
                    | Value::SingleQuotedString(_)
                    | Value::NationalStringLiteral(_)
                    | Value::HexStringLiteral(_)
                    | Value::SingleQuotedByteStringLiteral(_)
                    | Value::Boolean(_)
                    | Value::Null
                    | Value::Placeholder(_)
            ),
            Expr::Function(function) => {
                !function.uses_odbc_syntax
                    && function.filter.is_none()
                    && function.null_treatment.is_none()
                    && function.within_group.is_empty()
                    && matches!(function.parameters, FunctionArguments::None)
            }
            _ => false,
        };
        only(known, "this form of an expression")
    }
}

/// MariaDB reads `a LIKE b NOT LIKE c` as `a LIKE (b NOT LIKE c)` and `a LIKE b LIKE c` as `(a LIKE b) LIKE c`; MySQL
/// takes neither. Nobody writes it, so it is refused.
fn unchained(left: &Expr, negated: bool) -> bool {
    !negated
        || match left {
            Expr::Like { .. } | Expr::RLike { .. } => false,
            Expr::BinaryOp { op: BinaryOperator::Custom(word), .. } => word != "SOUNDS LIKE",
            _ => true,
        }
}

fn binary(op: &BinaryOperator) -> bool {
    match op {
        BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::StringConcat
        | BinaryOperator::Gt
        | BinaryOperator::Lt
        | BinaryOperator::GtEq
        | BinaryOperator::LtEq
        | BinaryOperator::Spaceship
        | BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Xor
        | BinaryOperator::BitwiseOr
        | BinaryOperator::BitwiseAnd
        | BinaryOperator::BitwiseXor
        | BinaryOperator::PGBitwiseShiftLeft
        | BinaryOperator::PGBitwiseShiftRight
        | BinaryOperator::Assignment => true,
        BinaryOperator::Custom(word) => word == "DIV" || word == "SOUNDS LIKE",
        _ => false,
    }
}

fn set_expr(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => true,
        SetExpr::SetOperation { left, right, .. } => set_expr(left) && set_expr(right),
        // WITH … UPDATE and the like.
        SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Insert(_) => true,
        _ => false,
    }
}
