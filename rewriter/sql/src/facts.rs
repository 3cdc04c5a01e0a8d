//! What is known of a statement: the values that guards, the router and the pool decide by.

mod collect;
mod functions;

pub use functions::purity;

use crate::verb::Verb;

/// A truth of three values; only `Yes` proves anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Truth {
    /// Proven false.
    No,
    /// Not known.
    Unknown,
    /// Proven true.
    Yes,
}

impl Truth {
    /// `Yes` or `No`.
    pub fn of(value: bool) -> Truth {
        if value { Truth::Yes } else { Truth::No }
    }

    /// Kleene's AND.
    pub fn and(self, other: Truth) -> Truth {
        self.min(other)
    }

    /// Kleene's OR.
    pub fn or(self, other: Truth) -> Truth {
        self.max(other)
    }

    /// Whether it is proven true.
    pub fn is_yes(self) -> bool {
        self == Truth::Yes
    }

    /// Whether it is proven false.
    pub fn is_no(self) -> bool {
        self == Truth::No
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
            Truth::Yes => Truth::No,
        }
    }
}

/// What a call may do beyond returning a value of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purity {
    /// Same arguments, same value.
    Pure,
    /// Fixed within a statement: NOW(), CURDATE(), CURRENT_USER(), DATABASE(), VERSION().
    Statement,
    /// Depends on the session's or server's state: LAST_INSERT_ID(), CONNECTION_ID(), FOUND_ROWS(), ROW_COUNT().
    Session,
    /// Another value at each call: RAND(), UUID(), SYSDATE(), NEXTVAL().
    Volatile,
    /// Changes something or waits: GET_LOCK(), SLEEP(), LAST_INSERT_ID(x), BENCHMARK(), LOAD_FILE(), SETVAL().
    Effect,
    /// Not a built-in function known here: stored or loadable.
    Unknown,
}

/// Whether a table is read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only read.
    Read,
    /// Rows may be inserted, changed or deleted.
    Write,
}

/// One mention of a table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// The schema as written, without quotes; none means the session's.
    pub schema: Option<String>,
    /// The name as written, without quotes.
    pub name: String,
    /// The alias.
    pub alias: Option<String>,
    /// Read or write.
    pub access: Access,
    /// 0 for the outermost query, one more for each subquery around it; a parenthesised branch of a UNION counts as one.
    pub depth: u32,
}

/// One function that a statement calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUse {
    /// The name in upper case; with its schema if it has one.
    pub name: String,
    /// What it may do.
    pub purity: Purity,
}

/// A statement's facts. All of them hold for every text of the statement's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What kind of statement it is.
    pub verb: Verb,
    /// Every table and view named, in order of the text; names of CTEs are not among them.
    pub tables: Vec<TableUse>,
    /// How many joins there are at any depth, commas included.
    pub joins: u32,
    /// How many outer joins of these.
    pub outer_joins: u32,
    /// How many subqueries: scalar, IN, EXISTS, derived tables, CTEs.
    pub subqueries: u32,
    /// Derived tables of these.
    pub derived: u32,
    /// Common table expressions.
    pub ctes: u32,
    /// UNION, EXCEPT, INTERSECT.
    pub set_operations: u32,
    /// Whether the outermost statement has LIMIT.
    pub has_limit: bool,
    /// Whether any LIMIT is there, at any depth.
    pub any_limit: bool,
    /// Whether the outermost statement has ORDER BY.
    pub order_by: bool,
    /// Whether the outermost query has DISTINCT.
    pub distinct: bool,
    /// GROUP BY at any depth.
    pub group_by: bool,
    /// Aggregate functions at any depth.
    pub aggregates: bool,
    /// Window functions at any depth.
    pub windows: bool,
    /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE at any depth.
    pub locking: bool,
    /// SELECT … INTO.
    pub into: bool,
    /// User variables.
    pub user_variables: bool,
    /// System variables.
    pub system_variables: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// MATCH … AGAINST.
    pub full_text: bool,
    /// Parameters of a prepared statement.
    pub parameters: u32,
    /// Every function called, once for each name.
    pub functions: Vec<FunctionUse>,
    /// The worst of `functions`.
    pub purity: Purity,
    /// Whether the same rows give the same result, up to the order of ties: no user variables, nothing volatile, no
    /// effects. Unknown where an unknown function is called (a view may hide one as well; that is the catalog's business).
    pub deterministic: Truth,
}

#[cfg(test)]
mod tests;
