//! Guards of a rule file: what must be proven of what the metavariables stand for.
//!
//! Guards are three-valued. What is not known refuses like what is false; the reason says which.

mod prove;
mod read;

pub(in crate::pattern) use prove::Facts;
pub(crate) use read::read;

use sql::SqlMode;
use sql::catalog::BaseType;
use sql::digest::LiteralKind;

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
    /// One literal of one of these kinds; any kind but a parameter, if none is named.
    Literal(String, Vec<Kind>),
    /// An integer literal within these bounds, checked at every execution.
    Within(String, u64, u64),
    /// Two integer literals that differ, checked at every execution.
    Differ(String, String),
    /// `sql_mode` has all of these.
    Mode(SqlMode),
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
    /// `'2023-05-17'`, a date of the calendar from year 1 on, checked at every execution.
    Date,
}

impl Kind {
    fn covers(self, kind: LiteralKind) -> bool {
        match self {
            Kind::Int => kind == LiteralKind::Int,
            Kind::Text | Kind::Date => kind == LiteralKind::String,
        }
    }
}

impl When {
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
            Check::SameType(a, b) | Check::Differ(a, b) => vec![a, b],
            Check::Mode(_) => Vec::new(),
        }
    }
}
