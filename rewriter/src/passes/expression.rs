//! What passes may know of an expression from its units alone.

use std::ops::Range;

use sql::catalog::BaseType;
use sql::digest::LiteralKind;
use sql::{Keyword, Product, UnitKind};

use crate::engine::Context;
use crate::guard::{Guard, Refusal, refuse};
use crate::scope::Scope;
use crate::shape::{self, Block, ItemKind, Met, Reference, Source, Term, Walk};

/// Functions that make one row of many.
const AGGREGATES: [&str; 23] = [
    "COUNT",
    "SUM",
    "MIN",
    "MAX",
    "AVG",
    "GROUP_CONCAT",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "MEDIAN",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "ST_COLLECT",
    "GROUPING",
];

/// Functions whose arguments hold words that are not columns.
const WORDY: [&str; 6] =
    ["TIMESTAMPDIFF", "TIMESTAMPADD", "GET_FORMAT", "WEIGHT_STRING", "JSON_VALUE", "JSON_TABLE"];

fn upper(source: &Source<'_>, unit: u32) -> String {
    String::from_utf8_lossy(source.bytes(unit)).to_ascii_uppercase()
}

fn is_aggregate(source: &Source<'_>, unit: u32) -> bool {
    AGGREGATES.contains(&upper(source, unit).as_str())
}

/// The columns of an expression in which every word is understood: operators, comparisons, calls of ordinary functions.
/// Aggregates, subqueries, INTERVAL, CAST, COLLATE, typed literals and the like are refused.
pub(super) fn references(
    source: &Source<'_>,
    range: &Range<u32>,
    place: &str,
) -> Result<Vec<Reference>, Refusal> {
    let mut found = Vec::new();
    for met in Walk::new(source, range) {
        match met {
            Met::Subquery(_) => return refuse(Guard::Readable, format!("{place} holds a subquery")),
            Met::Call(unit) => {
                let name = upper(source, unit);
                let beside_dot = unit > range.start && source.is_punct(unit - 1, b'.');
                let reserved = matches!(source.kind(unit), Some(UnitKind::Keyword(word))
                    if !matches!(word, Keyword::If | Keyword::Left | Keyword::Right | Keyword::Replace
                        | Keyword::Mod | Keyword::Date | Keyword::Time));
                if is_aggregate(source, unit) || WORDY.contains(&name.as_str()) || beside_dot || reserved {
                    return refuse(Guard::Readable, format!("{place} calls {name}()"));
                }
            }
            Met::Column(reference) => {
                let range = reference.range();
                let neighbour = |at: Option<u32>| {
                    at.and_then(|at| source.kind(at)).is_some_and(|kind| {
                        matches!(kind, UnitKind::Literal { .. }) || shape::is_identifier(Some(kind))
                    })
                };
                if neighbour(Some(range.end)) || neighbour(range.start.checked_sub(1)) {
                    let shown = source.show(&range);
                    return refuse(
                        Guard::Readable,
                        format!("{place} holds {shown} in a form not known here"),
                    );
                }
                found.push(reference);
            }
            Met::Other(unit) => {
                let understood = match source.kind(unit) {
                    Some(
                        UnitKind::Literal { .. }
                        | UnitKind::List(_)
                        | UnitKind::Rows { .. }
                        | UnitKind::Introducer
                        | UnitKind::Op(_)
                        | UnitKind::Punct(b'(' | b')' | b','),
                    ) => true,
                    Some(UnitKind::Keyword(word)) => matches!(
                        word,
                        Keyword::And
                            | Keyword::Or
                            | Keyword::Xor
                            | Keyword::Not
                            | Keyword::Is
                            | Keyword::Null
                            | Keyword::True
                            | Keyword::False
                            | Keyword::Between
                            | Keyword::In
                            | Keyword::Like
                            | Keyword::Div
                            | Keyword::Mod
                    ),
                    _ => false,
                };
                if !understood {
                    let word = upper(source, unit);
                    return refuse(
                        Guard::Readable,
                        format!("{place} holds {word}, which is not followed here"),
                    );
                }
            }
        }
    }
    Ok(found)
}

/// Proves that a value of a select list is computed from one row: no aggregate and no window of its own query. Aggregates
/// of a subquery must be surely the subquery's own, for one over outer columns alone would belong to the query around it.
pub(super) fn rows_one_by_one(
    source: &Source<'_>,
    range: &Range<u32>,
    context: &Context<'_>,
) -> Result<(), Refusal> {
    for met in Walk::new(source, range) {
        match met {
            Met::Call(unit) if is_aggregate(source, unit) => {
                return refuse(
                    Guard::Derived,
                    format!("the derived table aggregates: {}", upper(source, unit)),
                );
            }
            Met::Other(unit) if source.is(unit, Keyword::Over) => {
                return refuse(Guard::Derived, "the derived table has a window function");
            }
            Met::Subquery(range) => subquery(source, &range, context)?,
            _ => {}
        }
    }
    Ok(())
}

fn subquery(source: &Source<'_>, range: &Range<u32>, context: &Context<'_>) -> Result<(), Refusal> {
    let query = shape::read_at(*source, range.start + 1).map_err(Refusal::of(Guard::Readable))?;
    let (Term::Block(block), true) = (&query.first, query.rest.is_empty()) else {
        return refuse(Guard::Derived, "a subquery of the derived table is a UNION");
    };
    let mut at = block.range.start;
    while at < query.range.end {
        if source.is_punct(at, b'(')
            && at > block.range.start
            && is_aggregate(source, at - 1)
            && !matches!(source.kind(at - 1), Some(UnitKind::QuotedIdent))
        {
            let after = source.after_parenthesis(at).unwrap_or(query.range.end);
            own_arguments(source, block, &(at..after), context)?;
        }
        at += 1;
    }
    Ok(())
}

/// Every column in an aggregate's arguments is one of the block's own tables; without columns the block must read a table.
fn own_arguments(
    source: &Source<'_>,
    block: &Block,
    arguments: &Range<u32>,
    context: &Context<'_>,
) -> Result<(), Refusal> {
    let scope = Scope::of(source, block, context)?;
    if scope.tables.is_empty() {
        return refuse(Guard::Derived, "a subquery aggregates without a table");
    }
    for met in Walk::new(source, arguments) {
        match met {
            Met::Column(reference) => {
                scope.resolve(source, &reference)?;
            }
            Met::Subquery(_) => return refuse(Guard::Derived, "a subquery aggregates over a subquery"),
            Met::Call(_) | Met::Other(_) => {}
        }
    }
    Ok(())
}

/// Proves that a computed column has the same type whether it is read from a temporary table or computed in the outer
/// list. Tried on MariaDB 10.11 and MySQL 9.7 with `derived_merge` on and off, every column type: MySQL makes BIGINT of
/// the smaller integers and of YEAR, both make VARCHAR of CHAR, and what is not in this list differs or was not tried.
pub(super) fn type_is_kept(
    source: &Source<'_>,
    range: &Range<u32>,
    shown: &str,
    context: &Context<'_>,
) -> Result<(), Refusal> {
    let product = context.flavor.product;
    let kept = match source.kind(range.end - 1) {
        Some(UnitKind::Literal { kind, .. }) => {
            let signed = range.end - range.start == 2
                && matches!(source.kind(range.start), Some(UnitKind::Op(sql::Op::Minus)));
            let single = range.end - range.start == 1 || signed;
            single
                && match kind {
                    LiteralKind::String => !signed,
                    LiteralKind::Decimal | LiteralKind::Float => true,
                    LiteralKind::Int => product == Product::MariaDb,
                    _ => false,
                }
        }
        _ => match Walk::new(source, range).next() {
            Some(Met::Subquery(whole)) if whole == *range => subquery_type_is_kept(source, range, context)?,
            _ => false,
        },
    };
    if kept {
        Ok(())
    } else {
        refuse(Guard::Types, format!("the type of {shown} may be another one in a derived table"))
    }
}

/// The same of a scalar subquery: COUNT, SUM and AVG, and MIN, MAX or the value of a column of a type that stays.
fn subquery_type_is_kept(
    source: &Source<'_>,
    range: &Range<u32>,
    context: &Context<'_>,
) -> Result<bool, Refusal> {
    let query = shape::read_at(*source, range.start + 1).map_err(Refusal::of(Guard::Readable))?;
    let Term::Block(block) = &query.first else {
        return Ok(false);
    };
    let [item] = block.items.as_slice() else {
        return Ok(false);
    };
    let value = &item.value;
    if let ItemKind::Column(reference) = &item.kind {
        let scope = Scope::of(source, block, context)?;
        let (_, column) = scope.resolve(source, reference)?;
        return Ok(stored_as_it_is(column.kind.base, context.flavor.product));
    }
    let call = source.is_punct(value.start + 1, b'(')
        && source.after_parenthesis(value.start + 1) == Some(value.end);
    let function = upper(source, value.start);
    if !call {
        return Ok(false);
    }
    if function == "COUNT" {
        return Ok(true);
    }
    let Some(argument) = Reference::read(source, &(value.start + 2..value.end - 1)) else {
        return Ok(false);
    };
    let scope = Scope::of(source, block, context)?;
    let base = scope.resolve(source, &argument)?.1.kind.base;
    Ok(match function.as_str() {
        "MIN" | "MAX" => stored_as_it_is(base, context.flavor.product),
        "SUM" | "AVG" => {
            base.is_integer() || matches!(base, BaseType::Decimal | BaseType::Float | BaseType::Double)
        }
        _ => false,
    })
}

fn stored_as_it_is(base: BaseType, product: Product) -> bool {
    match base {
        BaseType::BigInt
        | BaseType::Decimal
        | BaseType::Float
        | BaseType::Double
        | BaseType::Date
        | BaseType::Time
        | BaseType::DateTime
        | BaseType::Timestamp
        | BaseType::VarChar
        | BaseType::VarBinary => true,
        BaseType::TinyInt | BaseType::SmallInt | BaseType::MediumInt | BaseType::Int | BaseType::Year => {
            product == Product::MariaDb
        }
        _ => false,
    }
}
