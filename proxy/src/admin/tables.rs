//! The tables of the schema `shuntyard`: their columns and how their rows come about.

mod backends;
mod queries;
mod rules;
mod sessions;
mod status;

use super::Source;

/// Every table, in the order of `SHOW TABLES FROM shuntyard`.
pub(crate) static TABLES: [&Table; 5] =
    [&backends::TABLE, &queries::TABLE, &rules::TABLE, &sessions::TABLE, &status::TABLE];

/// A table that administrators read.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name, also the word in `SHOW SHUNTYARD <NAME>`.
    pub(crate) name: &'static str,
    /// One sentence for the documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is checked against it"))]
    pub(crate) help: &'static str,
    /// The column that `LIKE` compares.
    pub(crate) like: &'static str,
    /// Its columns; their names are stable.
    pub(crate) columns: &'static [Column],
    /// The rows of the moment, one cell for each column.
    pub(crate) rows: fn(&dyn Source) -> Vec<Vec<Cell>>,
}

/// A column of a [`Table`].
#[derive(Debug)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its type.
    pub(crate) kind: super::Kind,
    /// What it says, with its unit.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is checked against it"))]
    pub(crate) help: &'static str,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// NULL: not known, or it does not apply.
    Null,
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
}

impl Table {
    /// The table of that name, in any case.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().copied().find(|table| table.name.eq_ignore_ascii_case(name))
    }
}

impl Cell {
    /// Text, or NULL where it is empty.
    fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::Null } else { Self::Text(text) }
    }

    /// A moment as `YYYY-MM-DD hh:mm:ss` in UTC, NULL for never.
    fn moment(seconds: u64) -> Self {
        Self::text(crate::stats::unix_text(seconds))
    }

    /// Microseconds as milliseconds, to the microsecond.
    fn millis(micros: u64) -> Self {
        Self::Float(micros as f64 / 1000.0)
    }

    /// A digest as 32 hexadecimal digits, NULL for 0.
    fn digest(digest: u128) -> Self {
        if digest == 0 { Self::Null } else { Self::Text(format!("{digest:032x}")) }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

const fn int(name: &'static str, help: &'static str) -> Column {
    Column { name, kind: super::Kind::Int, help }
}

const fn float(name: &'static str, help: &'static str) -> Column {
    Column { name, kind: super::Kind::Float, help }
}

const fn text(name: &'static str, help: &'static str) -> Column {
    Column { name, kind: super::Kind::Text, help }
}

#[cfg(test)]
mod tests;
