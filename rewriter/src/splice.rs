//! Edits of a text become a template over its units; templates of successive passes become one.

use std::ops::Range;

use sql::digest::Scan;
use sql::{Piece, Precondition, Template, Unit, UnitKind};

/// One change: the units of `at` give way to `with`. An empty range inserts before its start.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) at: Range<u32>,
    pub(crate) with: Vec<Piece>,
}

impl Edit {
    /// Text before a unit.
    pub(crate) fn insert(before: u32, with: Vec<Piece>) -> Edit {
        Edit { at: before..before, with }
    }

    /// Other pieces in place of units.
    pub(crate) fn replace(at: Range<u32>, with: Vec<Piece>) -> Edit {
        Edit { at, with }
    }
}

/// The template of a list of edits over these units. `None` where two of them overlap or one is out of bounds.
pub(crate) fn template(units: &[Unit], mut edits: Vec<Edit>) -> Option<Template> {
    let count = u32::try_from(units.len()).ok()?;
    // Stable: several insertions at one place keep their order.
    edits.sort_by_key(|edit| edit.at.start);
    let mut pieces = Pieces { units, list: Vec::new() };
    let mut at = 0;
    for edit in edits {
        if edit.at.start < at || edit.at.end < edit.at.start || edit.at.end > count {
            return None;
        }
        pieces.push(Piece::Source(at..edit.at.start));
        at = edit.at.end;
        for piece in edit.with {
            pieces.push(piece);
        }
    }
    pieces.push(Piece::Source(at..count));
    Some(Template(pieces.list))
}

/// Pieces with a space between them wherever two words might run into one, or would be unpleasant to read.
struct Pieces<'u> {
    units: &'u [Unit],
    list: Vec<Piece>,
}

impl Pieces<'_> {
    fn push(&mut self, piece: Piece) {
        match (self.list.last_mut(), piece) {
            (_, Piece::Source(range)) if range.is_empty() => {}
            (Some(Piece::Source(last)), Piece::Source(range)) if last.end == range.start => {
                last.end = range.end
            }
            (_, piece) => {
                let space = self.list.last().is_some_and(|last| !self.open(last)) && !self.closing(&piece);
                match (self.list.last_mut(), piece) {
                    (Some(Piece::Text(last)), Piece::Text(more)) => {
                        last.push_str(if space { " " } else { "" });
                        last.push_str(&more);
                    }
                    (Some(Piece::Text(last)), piece) => {
                        last.push_str(if space { " " } else { "" });
                        self.list.push(piece);
                    }
                    (_, Piece::Text(text)) if space => self.list.push(Piece::Text(format!(" {text}"))),
                    (_, piece) => {
                        if space {
                            self.list.push(Piece::Text(" ".to_owned()));
                        }
                        self.list.push(piece);
                    }
                }
            }
        }
    }

    fn punct(&self, unit: Option<u32>, set: &[u8]) -> bool {
        let unit = unit.and_then(|unit| self.units.get(unit as usize));
        matches!(unit.map(|unit| unit.kind), Some(UnitKind::Punct(byte)) if set.contains(&byte))
    }

    /// Nothing needs to stand between this piece and the next one.
    fn open(&self, piece: &Piece) -> bool {
        match piece {
            Piece::Source(range) => self.punct(range.end.checked_sub(1), b"(."),
            Piece::Text(text) => text.ends_with([' ', '(', '.']),
            Piece::Sum(..) => false,
        }
    }

    /// Nothing needs to stand between the piece before and this one.
    fn closing(&self, piece: &Piece) -> bool {
        match piece {
            Piece::Source(range) => self.punct(Some(range.start), b"),.;"),
            Piece::Text(text) => text.starts_with([' ', ')', ',', '.', ';']),
            Piece::Sum(..) => false,
        }
    }
}

/// Where one unit of a rendered text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A unit of the original.
    Source(u32),
    /// The text of a template, at this unit.
    Text(String),
    /// A sum of two slots of the original.
    Sum(u32, u32),
}

/// Where every unit of the rendered text comes from, in order. `None` when reading the new text again gives other units
/// than were put together: then something was glued, cut or swallowed.
pub(crate) fn origins(
    template: &Template,
    old: (&[u8], &Scan<'_>),
    new: (&[u8], &Scan<'_>),
    text_units: &mut dyn FnMut(&str) -> Option<Vec<String>>,
) -> Option<Vec<Origin>> {
    let mut origins = Vec::with_capacity(new.1.units.len());
    for piece in &template.0 {
        match piece {
            Piece::Source(range) => origins.extend(range.clone().map(Origin::Source)),
            Piece::Text(text) => origins.extend(text_units(text)?.into_iter().map(Origin::Text)),
            Piece::Sum(a, b) => origins.push(Origin::Sum(*a, *b)),
        }
    }
    let same = origins.len() == new.1.units.len()
        && origins.iter().zip(new.1.units).all(|(origin, unit)| matches(origin, unit, old, new.0));
    same.then_some(origins)
}

fn matches(origin: &Origin, unit: &Unit, old: (&[u8], &Scan<'_>), new: &[u8]) -> bool {
    match origin {
        Origin::Source(at) => old
            .1
            .units
            .get(*at as usize)
            .is_some_and(|was| was.of(old.0) == unit.of(new) && same_kind(was.kind, unit.kind)),
        Origin::Text(text) => unit.of(new) == text.as_bytes(),
        Origin::Sum(..) => matches!(unit.kind, UnitKind::Literal { .. }),
    }
}

/// Slots are numbered anew, and whether a literal is one depends on its place.
fn same_kind(a: UnitKind, b: UnitKind) -> bool {
    match (a, b) {
        (UnitKind::Literal { kind: a, .. }, UnitKind::Literal { kind: b, .. }) => a == b,
        _ => a == b,
    }
}

/// The second template, which is over the units of the first one's text, as one over the original's units.
/// `None` where it needs a literal that only the first one's text has.
pub(crate) fn compose(
    second: &Template,
    origins: &[Origin],
    old: &Scan<'_>,
    new: &Scan<'_>,
) -> Option<Template> {
    let mut pieces = Pieces { units: old.units, list: Vec::new() };
    for piece in &second.0 {
        match piece {
            Piece::Source(range) => {
                for origin in origins.get(range.start as usize..range.end as usize)? {
                    pieces.push(match origin {
                        Origin::Source(unit) => Piece::Source(*unit..*unit + 1),
                        Origin::Text(text) => Piece::Text(text.clone()),
                        Origin::Sum(a, b) => Piece::Sum(*a, *b),
                    });
                }
            }
            Piece::Text(text) => pieces.push(Piece::Text(text.clone())),
            Piece::Sum(a, b) => {
                let (a, b) = (slot(*a, origins, old, new)?, slot(*b, origins, old, new)?);
                pieces.push(Piece::Sum(a, b));
            }
        }
    }
    Some(Template(pieces.list))
}

/// A slot of the new text as a slot of the old one.
fn slot(slot: u32, origins: &[Origin], old: &Scan<'_>, new: &Scan<'_>) -> Option<u32> {
    let unit = new.slots.get(slot as usize)?.unit;
    match origins.get(unit as usize)? {
        Origin::Source(unit) => match old.units.get(*unit as usize)?.kind {
            UnitKind::Literal { slot, .. } => slot,
            _ => None,
        },
        Origin::Text(_) | Origin::Sum(..) => None,
    }
}

/// A precondition over the new text's literals as one over the old text's.
pub(crate) fn translate(
    condition: &Precondition,
    origins: &[Origin],
    old: &Scan<'_>,
    new: &Scan<'_>,
) -> Option<Precondition> {
    let map = |at: u32| slot(at, origins, old, new);
    Some(match condition {
        Precondition::IntAtMost { slot, max } => Precondition::IntAtMost { slot: map(*slot)?, max: *max },
        Precondition::IntAtLeast { slot, min } => Precondition::IntAtLeast { slot: map(*slot)?, min: *min },
        Precondition::SumAtMost { left, right, max } => {
            Precondition::SumAtMost { left: map(*left)?, right: map(*right)?, max: *max }
        }
        Precondition::IntsDiffer { left, right } => {
            Precondition::IntsDiffer { left: map(*left)?, right: map(*right)? }
        }
        Precondition::Shaped { slot, shape } => Precondition::Shaped { slot: map(*slot)?, shape: *shape },
        Precondition::Length { slot, length } => {
            Precondition::Length { slot: map(*slot)?, length: map(*length)? }
        }
        Precondition::Exactly { slot, text } => {
            Precondition::Exactly { slot: map(*slot)?, text: text.clone() }
        }
        Precondition::UnitIs { unit, text } => match origins.get(*unit as usize)? {
            Origin::Source(unit) => Precondition::UnitIs { unit: *unit, text: text.clone() },
            Origin::Text(_) | Origin::Sum(..) => return None,
        },
    })
}

#[cfg(test)]
mod tests;
