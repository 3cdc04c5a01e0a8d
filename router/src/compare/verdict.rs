//! What a comparison found, in words that a person can act on.

use std::fmt;

/// Differences kept in one verdict; the first is the one to look at.
pub const MOST: usize = 20;

/// The outcome of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Verdict {
    /// The same under the terms given.
    Same,
    /// Not the same; never empty, at most [`MOST`] entries.
    Differs(Vec<Difference>),
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub place: Place,
    /// What the left answer has there.
    pub left: String,
    /// What the right answer has there.
    pub right: String,
}

/// Where two answers differ. Indexes count from 0, the text shows them from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The number of results.
    Answer,
    /// One result as a whole.
    Result {
        /// Index of the result.
        result: usize,
    },
    /// The packet that ends a result's rows.
    Ending {
        /// Index of the result.
        result: usize,
    },
    /// A field of a column definition.
    Column {
        /// Index of the result.
        result: usize,
        /// Index of the column.
        column: usize,
        /// Which field.
        field: &'static str,
    },
    /// The number of rows.
    RowCount {
        /// Index of the result.
        result: usize,
    },
    /// One row. Where order does not count: its index in whichever side has it.
    Row {
        /// Index of the result.
        result: usize,
        /// Index of the row.
        row: usize,
    },
    /// One value.
    Cell {
        /// Index of the result.
        result: usize,
        /// Index of the row.
        row: usize,
        /// Index of the column.
        column: usize,
    },
    /// One warning.
    Warning {
        /// Index of the warning.
        warning: usize,
    },
}

impl Verdict {
    /// Whether nothing differs.
    pub fn is_same(&self) -> bool {
        matches!(self, Verdict::Same)
    }

    /// The first difference, if any.
    pub fn first(&self) -> Option<&Difference> {
        match self {
            Verdict::Same => None,
            Verdict::Differs(all) => all.first(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Same => f.write_str("same"),
            Verdict::Differs(all) => {
                for (i, difference) in all.iter().enumerate() {
                    if i > 0 {
                        f.write_str("\n")?;
                    }
                    difference.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ≠ {}", self.place, self.left, self.right)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |i: usize| i.saturating_add(1);
        match *self {
            Place::Answer => f.write_str("answer"),
            Place::Result { result } => write!(f, "result {}", one(result)),
            Place::Ending { result } => write!(f, "result {}, end of rows", one(result)),
            Place::Column { result, column, field } => {
                write!(f, "result {}, column {}, {field}", one(result), one(column))
            }
            Place::RowCount { result } => write!(f, "result {}, number of rows", one(result)),
            Place::Row { result, row } => write!(f, "result {}, row {}", one(result), one(row)),
            Place::Cell { result, row, column } => {
                write!(f, "result {}, row {}, column {}", one(result), one(row), one(column))
            }
            Place::Warning { warning } => write!(f, "warning {}", one(warning)),
        }
    }
}

/// Differences as they are found.
#[derive(Default)]
pub(super) struct Differences(Vec<Difference>);

impl Differences {
    pub(super) fn add(&mut self, place: Place, left: String, right: String) {
        if !self.full() {
            self.0.push(Difference { place, left, right });
        }
    }

    pub(super) fn full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(super) fn verdict(self) -> Verdict {
        if self.0.is_empty() { Verdict::Same } else { Verdict::Differs(self.0) }
    }
}
