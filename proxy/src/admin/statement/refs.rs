//! Finds the tables that a SELECT reads, by following its parentheses and clauses.
//!
//! Where it errs it errs towards tables that are not ours, so the statement goes to the server.

use super::super::SCHEMA;
use super::super::translate::Piece;

/// Where in a query a token stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Not in a FROM clause.
    Elsewhere,
    /// In a FROM clause where a table must come next.
    Table,
    /// In a FROM clause after a table.
    AfterTable,
}

/// Words that end a FROM clause.
const ENDS: [&str; 14] = [
    "SELECT",
    "WHERE",
    "GROUP",
    "ORDER",
    "HAVING",
    "LIMIT",
    "WINDOW",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "FOR",
    "INTO",
    "PROCEDURE",
    "VALUES",
];

/// Whether at least one table of our schema is read, and none of any other.
pub(super) fn only_own(pieces: &[Piece<'_>]) -> bool {
    let ctes = ctes(pieces);
    let mut own = 0_usize;
    let mut places = vec![Place::Elsewhere];
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let place = places.last().copied().unwrap_or(Place::Elsewhere);
        let mut now = place;
        let after = at.saturating_add(1);
        let follows = |offset: usize| pieces.get(at.saturating_add(offset));
        let mut next = after;
        if piece.is_punct(b'(') {
            let inner = if place == Place::Table { Place::Table } else { Place::Elsewhere };
            if place == Place::Table {
                now = Place::AfterTable;
            }
            replace(&mut places, now);
            places.push(inner);
            at = after;
            continue;
        } else if piece.is_punct(b')') {
            places.pop();
            if places.is_empty() {
                return false;
            }
            at = after;
            continue;
        } else if ENDS.iter().any(|word| piece.is(word)) {
            now = Place::Elsewhere;
        } else if place == Place::Table {
            if piece.is("LATERAL") {
                at = after;
                continue;
            }
            let Some(name) = piece.name() else { return false };
            now = Place::AfterTable;
            if follows(1).is_some_and(|dot| dot.is_punct(b'.')) {
                if !name.eq_ignore_ascii_case(SCHEMA) {
                    return false;
                }
                own = own.saturating_add(1);
                next = at.saturating_add(3);
            } else {
                let known = ctes.iter().any(|cte| cte.eq_ignore_ascii_case(&name));
                if !known || follows(1).is_some_and(|open| open.is_punct(b'(')) {
                    return false;
                }
            }
        } else if piece.is("FROM") || (place == Place::AfterTable && joins(piece)) {
            now = Place::Table;
        }
        replace(&mut places, now);
        at = next;
    }
    own > 0
}

fn replace(places: &mut [Place], now: Place) {
    if let Some(last) = places.last_mut() {
        *last = now;
    }
}

fn joins(piece: &Piece<'_>) -> bool {
    piece.is_punct(b',') || piece.is("JOIN") || piece.is("STRAIGHT_JOIN")
}

/// Names before `AS (` or `(columns) AS (`: no other construct puts a parenthesis behind AS.
fn ctes(pieces: &[Piece<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    let mut opened = Vec::new();
    let mut closed = None;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.is_punct(b'(') {
            opened.push(at);
        } else if piece.is_punct(b')') {
            closed = opened.pop().map(|open| (at, open));
        }
        let next = pieces.get(at.saturating_add(1));
        if piece.is("AS") && next.is_some_and(|next| next.is_punct(b'(')) {
            let before = match closed {
                Some((close, open)) if close.saturating_add(1) == at => open.checked_sub(1),
                _ => at.checked_sub(1),
            };
            names.extend(before.and_then(|before| pieces.get(before)).and_then(Piece::name));
        }
    }
    names
}
