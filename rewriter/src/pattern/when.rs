//! Guards of a rule file: what must be proven of what the metavariables stand for.
//!
//! Guards are three-valued. What is not known refuses like what is false; the reason says which.

mod prove;
mod read;

pub(in crate::pattern) use prove::Facts;
pub(crate) use read::read;

use sql::catalog::BaseType;
use sql::{Shape, SqlMode};

/// A guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// As it is written, for explanations.
    text: String,
    check: Check,
}

/// What a guard checks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    /// A column of a base table of the same FROM.
    Column(String),
    /// The first column of a key.
    Indexed(String),
    /// Never NULL there: NOT NULL, and not of the inner side of an outer join.
    NotNull(String),
    /// A column of one of these types.
    Type(String, Vec<BaseType>),
    /// An integer or decimal column with a sign.
    Signed(String),
    /// A column whose strings have one of these collations; a name may end in `*`.
    Collation(String, Vec<String>),
    /// Two columns of one type and collation.
    SameType(String, String),
    /// No column, no subquery, the same value for every row.
    Constant(String),
    /// One literal that is not a parameter; of that kind, if one is named.
    Literal(String, Option<Kind>),
    /// A literal of the column's own type, so that both are compared as that type: integers with integers, strings of the
    /// calendar with dates.
    Fits(String, String),
    /// A string literal of as many characters as an integer literal says.
    Length(String, String),
    /// An integer literal within these bounds, checked at every execution.
    Within(String, u64, u64),
    /// Two integer literals that differ, checked at every execution.
    Differ(String, String),
    /// `sql_mode` has all of these, or none of them.
    Mode(SqlMode, bool),
    /// One of the nodes of a list, word for word.
    Member(String, String),
    /// No item of a select list has another thing under the column's name.
    NoAlias(String, String),
    /// A base table, not a view or derived table.
    BaseTable(String),
}

/// Kinds of literals that a guard names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Digits up to 9223372036854775807.
    Int,
    /// Quotes.
    Text,
    /// Quotes, and this form in them, checked at every execution.
    Shaped(Shape),
}

impl When {
    /// As it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The metavariables that it asks for.
    pub(super) fn variables(&self) -> Vec<&str> {
        match &self.check {
            Check::Column(name)
            | Check::Indexed(name)
            | Check::NotNull(name)
            | Check::Type(name, _)
            | Check::Signed(name)
            | Check::Collation(name, _)
            | Check::Constant(name)
            | Check::Literal(name, _)
            | Check::Within(name, ..)
            | Check::BaseTable(name) => vec![name],
            Check::SameType(a, b)
            | Check::Differ(a, b)
            | Check::Fits(a, b)
            | Check::Length(a, b)
            | Check::Member(a, b)
            | Check::NoAlias(a, b) => vec![a, b],
            Check::Mode(..) => Vec::new(),
        }
    }
}
