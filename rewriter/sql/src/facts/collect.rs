//! Reads the facts off a tree.

use std::ops::ControlFlow;

use super::functions::{AGGREGATES, purity};
use super::{Access, Facts, FunctionUse, Purity, TableUse, Truth};
use crate::digest::Marks;
use crate::tree::Statement;
use crate::tree::ast::{
    self, Expr, FromTable, Function, FunctionArguments, JoinOperator, ObjectName, Query, Select, SetExpr,
    TableFactor, TableObject, TableWithJoins, Value, Visit, Visitor,
};
use crate::verb::Verb;

/// A name that a WITH brings in.
struct CommonTable {
    name: String,
    /// The unit from which on the name means the common table.
    from: u32,
}

struct Collector<'s> {
    statement: &'s Statement,
    facts: Facts,
    /// For each query around the current node, how many names its WITH brought in.
    queries: Vec<usize>,
    common: Vec<CommonTable>,
    /// Parenthesised branches of set operations are queries to the library.
    branches: u32,
    all_queries: u32,
}

impl Facts {
    /// The facts of a statement.
    pub fn of(statement: &Statement) -> Facts {
        let scan = statement.scan();
        let mut collector = Collector {
            statement,
            facts: Facts {
                verb: scan.verb,
                tables: Vec::new(),
                joins: 0,
                outer_joins: 0,
                subqueries: 0,
                derived: 0,
                ctes: 0,
                set_operations: 0,
                has_limit: false,
                any_limit: false,
                order_by: false,
                distinct: false,
                group_by: false,
                aggregates: false,
                windows: false,
                locking: scan.marks.contains(Marks::LOCKING),
                into: scan.verb == Verb::Select && scan.marks.contains(Marks::INTO),
                user_variables: scan.marks.intersects(Marks::USER_VAR | Marks::ASSIGN),
                system_variables: scan.marks.contains(Marks::SYS_VAR),
                calc_found_rows: scan.marks.contains(Marks::CALC_FOUND_ROWS),
                full_text: false,
                parameters: 0,
                functions: Vec::new(),
                purity: Purity::Pure,
                deterministic: Truth::Unknown,
            },
            queries: Vec::new(),
            common: Vec::new(),
            branches: 0,
            all_queries: 0,
        };
        collector.outermost();
        // The visitor never breaks.
        let _: ControlFlow<()> = statement.tree().visit(&mut collector);
        collector.finish()
    }
}

impl Collector<'_> {
    fn outermost(&mut self) {
        match self.statement.tree() {
            ast::Statement::Query(query) => {
                self.facts.has_limit = query.limit_clause.is_some();
                self.facts.order_by = query.order_by.is_some();
                if let SetExpr::Select(select) = query.body.as_ref() {
                    self.facts.distinct = select.distinct.is_some();
                }
            }
            ast::Statement::Update(update) => {
                self.facts.has_limit = update.limit.is_some();
                self.facts.order_by = !update.order_by.is_empty();
                self.facts.any_limit = update.limit.is_some();
            }
            ast::Statement::Delete(delete) => {
                self.facts.has_limit = delete.limit.is_some();
                self.facts.order_by = !delete.order_by.is_empty();
                self.facts.any_limit = delete.limit.is_some();
            }
            ast::Statement::Insert(insert) => {
                if let TableObject::TableName(name) = &insert.table {
                    self.table(name, None, Access::Write);
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Facts {
        let own = u32::from(matches!(self.statement.tree(), ast::Statement::Query(_)));
        // INSERT … SELECT and INSERT … VALUES have a query of their own as well.
        let own = own
            + u32::from(
                matches!(self.statement.tree(), ast::Statement::Insert(insert) if insert.source.is_some()),
            );
        self.facts.subqueries = self.all_queries.saturating_sub(own + self.branches);
        match self.statement.tree() {
            ast::Statement::Update(update) => self.written(&[&update.table]),
            ast::Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                self.written(&from.iter().collect::<Vec<_>>());
            }
            ast::Statement::Query(query)
                // WITH … UPDATE, WITH … DELETE: which of the tables is written is not looked at.
                if !matches!(
                    query.body.as_ref(),
                    SetExpr::Select(_)
                        | SetExpr::Query(_)
                        | SetExpr::SetOperation { .. }
                        | SetExpr::Values(_)
                ) => {
                    for table in &mut self.facts.tables {
                        table.access = Access::Write;
                    }
                }
            _ => {}
        }
        self.facts.purity =
            self.facts.functions.iter().map(|function| function.purity).max().unwrap_or(Purity::Pure);
        self.facts.deterministic = if self.facts.user_variables {
            Truth::No
        } else {
            match self.facts.purity {
                Purity::Pure | Purity::Statement => Truth::Yes,
                Purity::Session | Purity::Volatile | Purity::Effect => Truth::No,
                Purity::Unknown => Truth::Unknown,
            }
        };
        self.facts
    }

    /// Marks the tables named directly in these lists as written. All of a multi-table form: which columns belong to
    /// which table is the catalog's business.
    fn written(&mut self, lists: &[&TableWithJoins]) {
        let mut direct: Vec<(Option<String>, String)> = Vec::new();
        for list in lists {
            let factors = std::iter::once(&list.relation).chain(list.joins.iter().map(|join| &join.relation));
            for factor in factors {
                if let TableFactor::Table { name, .. } = factor
                    && let Some(parts) = split(name)
                {
                    direct.push(parts);
                }
            }
        }
        for table in &mut self.facts.tables {
            if table.depth == 0
                && direct.iter().any(|(schema, name)| *schema == table.schema && *name == table.name)
            {
                table.access = Access::Write;
            }
        }
    }

    fn depth(&self) -> u32 {
        let own = usize::from(matches!(
            self.statement.tree(),
            ast::Statement::Query(_) | ast::Statement::Insert(_)
        ));
        u32::try_from(self.queries.len().saturating_sub(own)).unwrap_or(u32::MAX)
    }

    fn table(&mut self, name: &ObjectName, alias: Option<String>, access: Access) {
        let Some((schema, table)) = split(name) else { return };
        if schema.is_none() {
            let at = self.statement.unit_range_of(name).map_or(u32::MAX, |range| range.start);
            let lower = table.to_lowercase();
            if self.common.iter().any(|common| common.name == lower && common.from <= at) {
                return;
            }
        }
        let depth = self.depth();
        self.facts.tables.push(TableUse { schema, name: table, alias, access, depth });
    }

    fn call(&mut self, name: String, purity: Purity) {
        match self.facts.functions.iter_mut().find(|known| known.name == name) {
            Some(known) => known.purity = known.purity.max(purity),
            None => self.facts.functions.push(FunctionUse { name, purity }),
        }
    }

    fn function(&mut self, function: &Function) {
        let parts: Vec<&str> = function
            .name
            .0
            .iter()
            .filter_map(|part| part.as_ident())
            .map(|ident| ident.value.as_str())
            .collect();
        let arguments = match &function.args {
            FunctionArguments::None => 0,
            FunctionArguments::Subquery(_) => 1,
            FunctionArguments::List(list) => list.args.len(),
        };
        let upper = parts.join(".").to_ascii_uppercase();
        let quoted = function
            .name
            .0
            .iter()
            .filter_map(|part| part.as_ident())
            .any(|ident| ident.quote_style.is_some());
        let found = if parts.len() == 1 && !quoted { purity(&upper, arguments) } else { Purity::Unknown };
        if function.over.is_some() {
            self.facts.windows = true;
        } else if parts.len() == 1 && AGGREGATES.contains(&upper.as_str()) {
            self.facts.aggregates = true;
        }
        self.call(upper, found);
    }

    fn joins(&mut self, from: &[TableWithJoins]) {
        let commas = from.len().saturating_sub(1);
        self.facts.joins += u32::try_from(commas).unwrap_or(u32::MAX);
        for join in from.iter().flat_map(|list| &list.joins) {
            self.join(&join.join_operator);
        }
    }

    fn join(&mut self, operator: &JoinOperator) {
        self.facts.joins += 1;
        if matches!(
            operator,
            JoinOperator::Left(_)
                | JoinOperator::LeftOuter(_)
                | JoinOperator::Right(_)
                | JoinOperator::RightOuter(_)
        ) {
            self.facts.outer_joins += 1;
        }
    }

    fn branches(&mut self, body: &SetExpr) {
        match body {
            SetExpr::SetOperation { left, right, .. } => {
                self.facts.set_operations += 1;
                self.branches(left);
                self.branches(right);
            }
            SetExpr::Query(_) => self.branches += 1,
            _ => {}
        }
    }
}

/// Schema and name of a table; `None` for names of more parts.
fn split(name: &ObjectName) -> Option<(Option<String>, String)> {
    let mut parts = name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.clone()));
    let first = parts.next()??;
    let second = parts.next();
    match (second, parts.next()) {
        (None, _) => Some((None, first)),
        (Some(second), None) => Some((Some(first), second?)),
        _ => None,
    }
}

impl Visitor for Collector<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.all_queries += 1;
        self.facts.any_limit |= query.limit_clause.is_some();
        self.branches(&query.body);
        let mut names = 0;
        if let Some(with) = &query.with {
            for cte in &with.cte_tables {
                let from = if with.recursive {
                    0
                } else {
                    self.statement.unit_range(cte.closing_paren_token.0.span).map_or(0, |range| range.end)
                };
                self.common.push(CommonTable { name: cte.alias.name.value.to_lowercase(), from });
                names += 1;
            }
            self.facts.ctes += u32::try_from(names).unwrap_or(u32::MAX);
        }
        self.queries.push(names);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        let names = self.queries.pop().unwrap_or(0);
        self.common.truncate(self.common.len().saturating_sub(names));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.joins(&select.from);
        if let ast::GroupByExpr::Expressions(list, _) = &select.group_by {
            self.facts.group_by |= !list.is_empty();
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                self.table(name, alias, Access::Read);
            }
            TableFactor::Derived { .. } => self.facts.derived += 1,
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.joins(std::slice::from_ref(table_with_joins));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::MatchAgainst { .. } => self.facts.full_text = true,
            // Functions that need no parentheses.
            Expr::Identifier(ident) if ident.quote_style.is_none() => {
                let upper = ident.value.to_ascii_uppercase();
                if matches!(
                    upper.as_str(),
                    "CURRENT_USER"
                        | "CURRENT_ROLE"
                        | "UTC_DATE"
                        | "UTC_TIME"
                        | "UTC_TIMESTAMP"
                        | "CURRENT_DATE"
                        | "CURRENT_TIME"
                        | "CURRENT_TIMESTAMP"
                        | "LOCALTIME"
                        | "LOCALTIMESTAMP"
                ) {
                    self.call(upper, Purity::Statement);
                }
            }
            Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => self.facts.parameters += 1,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
