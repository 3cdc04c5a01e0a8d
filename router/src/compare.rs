//! Whether two answers to one statement are the same: the one comparator of the tests, shadow traffic and replay.
//!
//! Pure: two [`Answer`]s and the [`Terms`] under which they are compared go in, a [`Verdict`] comes out. What one
//! driver, protocol or server cannot tell is absent on both sides by construction; nothing is skipped here silently.

mod answer;
mod metadata;
mod rows;
#[cfg(test)]
mod tests;
mod verdict;

pub use answer::{Answer, Column, Done, Failure, Outcome, ResultSet, Value, Warning};
pub use rows::{Cut, Key, Order, Ties};
pub use verdict::{Difference, MOST, Place, Verdict};

use verdict::Differences;

/// How far two floating-point values may be apart. Integers, decimals, times and strings are always exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Floats {
    /// The same bits, or the same text.
    Exact,
    /// |a − b| ≤ this × max(|a|, |b|): a sum in another order loses a few units in the last place (1e-12 is plenty).
    Relative(f64),
}

/// What of the column definitions counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// Every field and every flag.
    Exact,
    /// Names and types, as an application reads them: another server, or a rewrite that names a derived table.
    NamesAndTypes,
    /// Only how many columns there are.
    Count,
}

/// Whether the message of an error or a warning counts beside its code and SQLSTATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    /// Message, code and SQLSTATE.
    Exact,
    /// Code and SQLSTATE: servers of two products word the same error differently.
    CodesOnly,
}

/// The terms of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// What the statement promises about the order of its rows.
    pub order: Order,
    /// Tolerance for FLOAT and DOUBLE.
    pub floats: Floats,
    /// Which metadata counts.
    pub metadata: Metadata,
    /// Whether messages count.
    pub messages: Messages,
}

impl Terms {
    /// The strictest terms: same rows in the same order, bit for bit, with every flag and every message.
    pub const fn exact() -> Terms {
        Terms {
            order: Order::Ordered,
            floats: Floats::Exact,
            metadata: Metadata::Exact,
            messages: Messages::Exact,
        }
    }

    /// The same terms with another order.
    #[must_use]
    pub fn ordered_by(self, order: Order) -> Terms {
        Terms { order, ..self }
    }
}

/// Compares two answers to one statement (or multi-statement).
///
/// Every kind of difference is looked for, so that one run shows a wrong flag and a wrong row; at most
/// [`MOST`] differences are kept.
pub fn compare(left: &Answer, right: &Answer, terms: &Terms) -> Verdict {
    let mut found = Differences::default();
    if left.results.len() != right.results.len() {
        let shown = |a: &Answer| format!("{} results ({})", a.results.len(), kinds(a));
        found.add(Place::Answer, shown(left), shown(right));
    }
    for (index, (l, r)) in left.results.iter().zip(&right.results).enumerate() {
        outcome(index, l, r, terms, &mut found);
    }
    warnings(left, right, terms, &mut found);
    found.verdict()
}

fn outcome(index: usize, left: &Outcome, right: &Outcome, terms: &Terms, found: &mut Differences) {
    match (left, right) {
        (Outcome::Rows(l), Outcome::Rows(r)) => {
            metadata::compare(index, l, r, terms.metadata, found);
            if l.columns.len() == r.columns.len() {
                rows::compare(index, l, r, terms, found);
            }
            let place = Place::Ending { result: index };
            if l.status != r.status {
                found.add(place, format!("status {:?}", l.status), format!("status {:?}", r.status));
            }
            if l.warnings != r.warnings {
                found.add(place, format!("{:?} warnings", l.warnings), format!("{:?} warnings", r.warnings));
            }
        }
        (Outcome::Done(l), Outcome::Done(r)) if l == r => {}
        (Outcome::Failed(l), Outcome::Failed(r)) if l.same(r, terms.messages) => {}
        (l, r) => found.add(Place::Result { result: index }, l.to_string(), r.to_string()),
    }
}

fn warnings(left: &Answer, right: &Answer, terms: &Terms, found: &mut Differences) {
    let (l, r) = (&left.warnings, &right.warnings);
    for index in 0..l.len().max(r.len()) {
        let same = match (l.get(index), r.get(index)) {
            (Some(l), Some(r)) => l.same(r, terms.messages),
            _ => false,
        };
        if !same {
            let shown = |w: Option<&Warning>| w.map_or_else(|| "no warning".to_owned(), Warning::to_string);
            found.add(Place::Warning { warning: index }, shown(l.get(index)), shown(r.get(index)));
        }
    }
}

fn kinds(answer: &Answer) -> String {
    let kinds: Vec<&str> = answer.results.iter().take(8).map(Outcome::kind).collect();
    kinds.join(", ")
}
