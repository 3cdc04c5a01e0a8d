//! Rows of two bags paired off: by sorting on the exact columns, then within the tolerance on the others.

use std::cmp::Ordering;
use std::ops::Range;

use super::Rows;
use super::cell::{self, Cells};
use crate::compare::Value;

/// Indexes of the rows that only the left and only the right side has, ascending.
///
/// Where several floating-point columns are noisy at once the pairing within rows that are otherwise equal is greedy,
/// lowest first: a difference may be reported among rows closer to each other than the tolerance, never hidden.
pub(super) fn unmatched(cells: &Cells, left: Rows<'_>, right: Rows<'_>) -> (Vec<usize>, Vec<usize>) {
    let l = Sorted::new(cells, left);
    let r = Sorted::new(cells, right);
    let (mut only_left, mut only_right) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    loop {
        match (l.row(i), r.row(j)) {
            (None, None) => break,
            (Some(_), None) => {
                only_left.extend(l.index(i));
                i += 1;
            }
            (None, Some(_)) => {
                only_right.extend(r.index(j));
                j += 1;
            }
            (Some(a), Some(b)) => match exact(cells, a, b) {
                Ordering::Less => {
                    only_left.extend(l.index(i));
                    i += 1;
                }
                Ordering::Greater => {
                    only_right.extend(r.index(j));
                    j += 1;
                }
                Ordering::Equal => {
                    let (to_i, to_j) = (l.group(cells, i), r.group(cells, j));
                    group(cells, (&l, i..to_i), (&r, j..to_j), &mut only_left, &mut only_right);
                    (i, j) = (to_i, to_j);
                }
            },
        }
    }
    only_left.sort_unstable();
    only_right.sort_unstable();
    (only_left, only_right)
}

/// Rows by index, sorted by the exact columns, then by the loose ones.
struct Sorted<'a> {
    rows: Rows<'a>,
    order: Vec<usize>,
}

impl<'a> Sorted<'a> {
    fn new(cells: &Cells, rows: Rows<'a>) -> Sorted<'a> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| match (rows.get(*a), rows.get(*b)) {
            (Some(a), Some(b)) => exact(cells, a, b).then_with(|| loose(cells, a, b)),
            _ => Ordering::Equal,
        });
        Sorted { rows, order }
    }

    fn index(&self, at: usize) -> Option<usize> {
        self.order.get(at).copied()
    }

    fn row(&self, at: usize) -> Option<&'a [Value]> {
        self.index(at).and_then(|i| self.rows.get(i)).map(Vec::as_slice)
    }

    /// End of the rows that are equal to row `at` in the exact columns.
    fn group(&self, cells: &Cells, at: usize) -> usize {
        let Some(head) = self.row(at) else { return at };
        let mut end = at + 1;
        while self.row(end).is_some_and(|row| exact(cells, head, row) == Ordering::Equal) {
            end += 1;
        }
        end
    }
}

/// Pairs off rows that are equal in the exact columns. Both sides are sorted by the first loose column, so the rows that
/// may match one row lie in a window that only moves forward.
fn group(
    cells: &Cells,
    (left, l): (&Sorted<'_>, Range<usize>),
    (right, r): (&Sorted<'_>, Range<usize>),
    only_left: &mut Vec<usize>,
    only_right: &mut Vec<usize>,
) {
    let first_loose = cells.loose().next();
    let mut used = vec![false; r.len()];
    let mut low = r.start;
    for i in l {
        let Some(row) = left.row(i) else { continue };
        let taken = |at: usize| used.get(at - r.start).copied().unwrap_or(true);
        while low < r.end && (taken(low) || first_loose.is_some_and(|c| below(cells, c, right.row(low), row)))
        {
            low += 1;
        }
        let found = (low..r.end)
            .take_while(|at| first_loose.is_none_or(|c| !above(cells, c, right.row(*at), row)))
            .find(|at| !taken(*at) && right.row(*at).is_some_and(|candidate| cells.same_row(row, candidate)));
        match found.and_then(|at| used.get_mut(at - r.start)) {
            Some(mark) => *mark = true,
            None => only_left.extend(left.index(i)),
        }
    }
    only_right.extend(
        used.iter().enumerate().filter(|(_, used)| !**used).filter_map(|(k, _)| right.index(r.start + k)),
    );
}

/// Whether `candidate` lies below `row` by more than the tolerance in one loose column, and so below every later row.
fn below(cells: &Cells, column: usize, candidate: Option<&[Value]>, row: &[Value]) -> bool {
    apart(cells, column, candidate, row, Ordering::Less)
}

fn above(cells: &Cells, column: usize, candidate: Option<&[Value]>, row: &[Value]) -> bool {
    apart(cells, column, candidate, row, Ordering::Greater)
}

fn apart(cells: &Cells, column: usize, candidate: Option<&[Value]>, row: &[Value], side: Ordering) -> bool {
    let number = |row: &[Value]| row.get(column).and_then(cell::number);
    match (candidate.and_then(number), number(row)) {
        (Some(c), Some(r)) => c.total_cmp(&r) == side && !cells.near(c, r),
        // What is not a number sorts first.
        (None, Some(_)) => side == Ordering::Less,
        (Some(_), None) => side == Ordering::Greater,
        (None, None) => false,
    }
}

fn exact(cells: &Cells, left: &[Value], right: &[Value]) -> Ordering {
    let mut pairs = left.iter().zip(right).enumerate().filter(|(column, _)| !cells.is_loose(*column));
    pairs
        .find_map(|(_, (l, r))| Some(cell::compare(l, r)).filter(|o| o.is_ne()))
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn loose(cells: &Cells, left: &[Value], right: &[Value]) -> Ordering {
    let mut pairs = left.iter().zip(right).enumerate().filter(|(column, _)| cells.is_loose(*column));
    pairs
        .find_map(|(_, (l, r))| {
            let order = match (cell::number(l), cell::number(r)) {
                (Some(l), Some(r)) => l.total_cmp(&r),
                (l, r) => l.is_some().cmp(&r.is_some()),
            };
            Some(order).filter(|o| o.is_ne())
        })
        .unwrap_or(Ordering::Equal)
}
