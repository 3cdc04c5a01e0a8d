//! Rows in order, as a bag, or in order up to ties, with LIMIT's freedom to cut a group of ties anywhere.

mod bag;
mod cell;

use super::verdict::{Differences, Place};
use super::{ResultSet, Terms, Value};
use cell::Cells;

/// What a statement promises about the order of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// A total order: row by row.
    Ordered,
    /// None: the same rows, as often, in any order.
    Bag,
    /// ORDER BY these keys: rows with equal keys come in any order, and LIMIT may have cut the outermost of them
    /// anywhere. No keys and a cut: LIMIT without ORDER BY, where any rows are right and only their number is compared.
    Ties {
        /// The keys, most significant first.
        keys: Vec<Key>,
        /// Where LIMIT and OFFSET cut through the rows.
        cut: Cut,
    },
}

/// One key of an ORDER BY that is a column of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Index of the result's column.
    pub column: usize,
    /// When two values of it tie.
    pub ties: Ties,
}

/// When two values of a key are equal for ORDER BY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Equal bytes: numbers, times, binary strings.
    Bytes,
    /// Equal but for case and trailing spaces: the ties of an ordinary `_ci` PAD SPACE collation, accents aside (there a
    /// swap of 'e' and 'é' is reported although the server may make it).
    Folded,
}

/// Where LIMIT and OFFSET may have cut a group of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere: all rows are there.
    Nowhere,
    /// In the first group: an OFFSET, and the rows ended before the limit.
    Start,
    /// In the last group: the limit was reached.
    End,
    /// In the first and the last group.
    Both,
}

impl Order {
    /// ORDER BY `keys` LIMIT `limit` OFFSET `offset` that answered `rows` rows.
    pub fn limited(keys: Vec<Key>, offset: u64, limit: u64, rows: usize) -> Order {
        let reached = u64::try_from(rows).unwrap_or(u64::MAX) >= limit;
        let cut = match (offset > 0, reached) {
            (false, false) => Cut::Nowhere,
            (true, false) => Cut::Start,
            (false, true) => Cut::End,
            (true, true) => Cut::Both,
        };
        Order::Ties { keys, cut }
    }
}

/// Compares the rows of two result sets with equally many columns.
pub(super) fn compare(
    result: usize,
    left: &ResultSet,
    right: &ResultSet,
    terms: &Terms,
    found: &mut Differences,
) {
    let cells = Cells::new(&left.columns, terms.floats);
    let (l, r) = (left.rows.as_slice(), right.rows.as_slice());
    if l.len() != r.len() {
        let place = Place::RowCount { result };
        found.add(place, format!("{} rows", l.len()), format!("{} rows", r.len()));
        if !matches!(&terms.order, Order::Ties { cut, .. } if *cut != Cut::Nowhere) {
            as_bag(result, &cells, (0, l), (0, r), found);
        }
        return;
    }
    match &terms.order {
        Order::Ordered => in_order(result, &cells, l, r, found),
        Order::Bag => as_bag(result, &cells, (0, l), (0, r), found),
        Order::Ties { keys, cut } => up_to_ties(result, &cells, keys, *cut, (l, r), found),
    }
}

type Rows<'a> = &'a [Vec<Value>];

fn in_order(result: usize, cells: &Cells, left: Rows<'_>, right: Rows<'_>, found: &mut Differences) {
    for (row, (l, r)) in left.iter().zip(right).enumerate() {
        one_row(result, cells, row, l, r, found);
        if found.full() {
            return;
        }
    }
}

fn one_row(
    result: usize,
    cells: &Cells,
    row: usize,
    left: &[Value],
    right: &[Value],
    found: &mut Differences,
) {
    if left.len() != right.len() {
        found.add(Place::Row { result, row }, shown(left), shown(right));
        return;
    }
    for (column, (l, r)) in left.iter().zip(right).enumerate() {
        if !cells.same(column, l, r) {
            found.add(Place::Cell { result, row, column }, l.to_string(), r.to_string());
        }
    }
}

/// Rows of both sides from the given indexes on, in any order.
fn as_bag(
    result: usize,
    cells: &Cells,
    left: (usize, Rows<'_>),
    right: (usize, Rows<'_>),
    found: &mut Differences,
) {
    let (only_left, only_right) = bag::unmatched(cells, left.1, right.1);
    if let ([l], [r]) = (only_left.as_slice(), only_right.as_slice())
        && let (Some(left_row), Some(right_row)) = (left.1.get(*l), right.1.get(*r))
    {
        return one_row(result, cells, left.0.saturating_add(*l), left_row, right_row, found);
    }
    let none = || "no such row".to_owned();
    for &l in &only_left {
        let text = left.1.get(l).map(|row| shown(row)).unwrap_or_default();
        found.add(Place::Row { result, row: left.0.saturating_add(l) }, text, none());
    }
    for &r in &only_right {
        let text = right.1.get(r).map(|row| shown(row)).unwrap_or_default();
        found.add(Place::Row { result, row: right.0.saturating_add(r) }, none(), text);
    }
}

/// Both sides have equally many rows. Groups are those of the left side; the right side's keys must be the same row by
/// row, which makes its groups the same ones.
fn up_to_ties(
    result: usize,
    cells: &Cells,
    keys: &[Key],
    cut: Cut,
    (left, right): (Rows<'_>, Rows<'_>),
    found: &mut Differences,
) {
    let mut from = 0;
    while let Some(head) = left.get(from) {
        let rest = left.get(from..).unwrap_or_default();
        let len = rest.iter().take_while(|row| keys.iter().all(|k| cells.ties(*k, head, row))).count().max(1);
        let to = from.saturating_add(len);
        let (l, r) = (left.get(from..to).unwrap_or_default(), right.get(from..to).unwrap_or_default());
        for (index, (l, r)) in l.iter().zip(r).enumerate() {
            for key in keys.iter().filter(|k| !cells.ties(**k, l, r)) {
                let place = Place::Cell { result, row: from.saturating_add(index), column: key.column };
                let at = |row: &[Value]| row.get(key.column).map(Value::to_string).unwrap_or_default();
                found.add(place, at(l), at(r));
            }
        }
        let cut_here = (from == 0 && matches!(cut, Cut::Start | Cut::Both))
            || (to >= left.len() && matches!(cut, Cut::End | Cut::Both));
        if !cut_here {
            as_bag(result, cells, (from, l), (from, r), found);
        }
        if found.full() {
            return;
        }
        from = to;
    }
}

/// A row in a message.
fn shown(row: &[Value]) -> String {
    const SHOWN: usize = 12;
    let values: Vec<String> = row.iter().take(SHOWN).map(Value::to_string).collect();
    let more = if row.len() > SHOWN { ", …" } else { "" };
    format!("({}{more})", values.join(", "))
}
