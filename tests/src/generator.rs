//! Random statements over a fixed schema, for differential tests: a rewritten statement must answer as its original does.
//!
//! Seeded and without a clock: the same seed gives the same tables, rows and statements on every machine.

mod derived;
mod edges;
mod fill;
mod hidden;
mod order;
mod random;
mod schema;
mod union;

pub use edges::edges;
pub use fill::distinct;
pub use random::Random;
pub use schema::{rows, tables};

/// A statement and what it promises about the order of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The text.
    pub sql: String,
    /// Its promise; see [`Statement::order`] for the comparator's form of it.
    pub promise: Promise,
}

/// What a generated statement promises, provided that a rule rewrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// Rows sorted by these output columns; other orders are free. No keys: no order at all.
    Keys(Vec<SortKey>),
    /// The same, cut by LIMIT and OFFSET at any place within ties.
    Cut {
        /// The keys.
        keys: Vec<SortKey>,
        /// Rows left out at the head.
        offset: u64,
        /// Rows at most.
        limit: u64,
    },
    /// A total order.
    Total,
}

/// An output column that rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Its index.
    pub column: usize,
    /// Whether values that differ in case or trailing spaces tie.
    pub folded: bool,
}

/// A UNION ALL under ORDER BY and LIMIT, now and then one that no rule may touch.
pub fn union(random: &mut Random) -> Statement {
    union::statement(random)
}

/// A query over a derived table, now and then one that no rule may touch.
pub fn derived(random: &mut Random) -> Statement {
    derived::statement(random)
}

/// `CREATE TABLE` statements for [`hidden`]; [`edges`] fills them.
pub fn hidden_tables() -> Vec<String> {
    hidden::tables()
}

/// A query whose conditions hide columns from their keys, now and then in a way that no rule may touch.
pub fn hidden(random: &mut Random) -> Statement {
    hidden::statement(random)
}
