//! Writes a new text as splices of the old one: a template over units, filled with each execution's own literals.

mod shape;

use std::ops::Range;

use thiserror::Error;

pub use shape::Shape;

use crate::digest::{LiteralKind, Scan};
use crate::lexer::integer;

/// One piece of a new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The original bytes from the start of unit `start` to the end of unit `end - 1`, with the space and comments
    /// between them. As the template's first piece a range from 0 also brings what stands before the first unit; as
    /// its last piece a range to the end also brings what stands after the last one.
    Source(Range<u32>),
    /// Text as it is, with the spaces that it needs around it.
    Text(String),
    /// The sum of two integer slots, in decimal digits.
    Sum(u32, u32),
}

/// How a text of a known digest becomes another text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(pub Vec<Piece>);

/// Why a template does not fit a text: the plan does not belong to this digest, or a slot is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RenderError {
    /// A range or slot that the text does not have.
    #[error("the template does not belong to this statement")]
    Foreign,
    /// A slot of a sum is no integer, or the sum does not fit 64 bits.
    #[error("a literal is out of range")]
    Literal,
}

impl Template {
    /// The template that changes nothing.
    pub fn identity(units: usize) -> Template {
        Template(vec![Piece::Source(0..u32::try_from(units).unwrap_or(u32::MAX))])
    }

    /// Appends the new text of `text`, whose scan is `scan`, to `out`. On error `out` is as it was.
    pub fn render(&self, text: &[u8], scan: &Scan<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        let before = out.len();
        let last = self.0.len().saturating_sub(1);
        for (index, piece) in self.0.iter().enumerate() {
            let written = match piece {
                Piece::Source(range) => source(text, scan, range, index == 0, index == last)
                    .map(|bytes| out.extend_from_slice(bytes))
                    .ok_or(RenderError::Foreign),
                Piece::Text(new) => {
                    out.extend_from_slice(new.as_bytes());
                    Ok(())
                }
                Piece::Sum(a, b) => match (slot_value(text, scan, *a), slot_value(text, scan, *b)) {
                    (Some(a), Some(b)) => match a.checked_add(b) {
                        Some(sum) => {
                            out.extend_from_slice(sum.to_string().as_bytes());
                            Ok(())
                        }
                        None => Err(RenderError::Literal),
                    },
                    _ => Err(RenderError::Literal),
                },
            };
            if let Err(error) = written {
                out.truncate(before);
                return Err(error);
            }
        }
        Ok(())
    }
}

fn source<'t>(
    text: &'t [u8],
    scan: &Scan<'_>,
    range: &Range<u32>,
    first: bool,
    last: bool,
) -> Option<&'t [u8]> {
    let units = scan.units.get(range.start as usize..range.end as usize)?;
    let start = match units.first() {
        _ if first && range.start == 0 => 0,
        Some(unit) => unit.start as usize,
        None => return Some(&[]),
    };
    let end = match units.last() {
        _ if last && range.end as usize == scan.units.len() => text.len(),
        Some(unit) => unit.end as usize,
        None => return Some(&[]),
    };
    text.get(start..end)
}

fn slot_value(text: &[u8], scan: &Scan<'_>, slot: u32) -> Option<u64> {
    integer(scan.slot(text, slot)?)
}

/// A condition on literals, checked at every execution. Slots that are parameters satisfy none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// The slot is an integer of at most `max`.
    IntAtMost {
        /// The slot.
        slot: u32,
        /// The bound, included.
        max: u64,
    },
    /// The slot is an integer of at least `min`.
    IntAtLeast {
        /// The slot.
        slot: u32,
        /// The bound, included.
        min: u64,
    },
    /// Two integer slots whose sum is at most `max`.
    SumAtMost {
        /// One slot.
        left: u32,
        /// The other.
        right: u32,
        /// The bound, included.
        max: u64,
    },
    /// Two integer slots of different value.
    IntsDiffer {
        /// One slot.
        left: u32,
        /// The other.
        right: u32,
    },
    /// The slot is a string of this form.
    Shaped {
        /// The slot.
        slot: u32,
        /// The form.
        shape: Shape,
    },
    /// The slot is a string of as many ASCII characters as the integer slot `length` says.
    Length {
        /// The string.
        slot: u32,
        /// The number.
        length: u32,
    },
    /// The slot's text is exactly this: the plan was made for this literal alone.
    Exactly {
        /// The slot.
        slot: u32,
        /// The text, quotes included.
        text: Vec<u8>,
    },
    /// The text of this unit is exactly this; for lists, which are not slots.
    UnitIs {
        /// The unit.
        unit: u32,
        /// The text.
        text: Vec<u8>,
    },
}

impl Precondition {
    /// Whether it holds for a text.
    pub fn holds(&self, text: &[u8], scan: &Scan<'_>) -> bool {
        match self {
            Precondition::IntAtMost { slot, max } => {
                slot_value(text, scan, *slot).is_some_and(|value| value <= *max)
            }
            Precondition::IntAtLeast { slot, min } => {
                slot_value(text, scan, *slot).is_some_and(|value| value >= *min)
            }
            Precondition::SumAtMost { left, right, max } => {
                match (slot_value(text, scan, *left), slot_value(text, scan, *right)) {
                    (Some(a), Some(b)) => a.checked_add(b).is_some_and(|sum| sum <= *max),
                    _ => false,
                }
            }
            Precondition::IntsDiffer { left, right } => {
                match (slot_value(text, scan, *left), slot_value(text, scan, *right)) {
                    (Some(a), Some(b)) => a != b,
                    _ => false,
                }
            }
            Precondition::Shaped { slot, shape } => {
                quoted(text, scan, *slot).is_some_and(|inner| shape.is_of(inner))
            }
            Precondition::Length { slot, length } => {
                let wanted = slot_value(text, scan, *length);
                quoted(text, scan, *slot)
                    .is_some_and(|inner| inner.is_ascii() && wanted == u64::try_from(inner.len()).ok())
            }
            Precondition::Exactly { slot, text: wanted } => {
                scan.slots.get(*slot as usize).is_some_and(|slot| slot.kind != LiteralKind::Param)
                    && scan.slot(text, *slot) == Some(wanted.as_slice())
            }
            Precondition::UnitIs { unit, text: wanted } => {
                scan.units.get(*unit as usize).is_some_and(|unit| unit.of(text) == wanted.as_slice())
            }
        }
    }
}

/// What stands in the quotes of a string without an introducer.
fn quoted<'t>(text: &'t [u8], scan: &Scan<'_>, slot: u32) -> Option<&'t [u8]> {
    if scan.slots.get(slot as usize)?.kind != LiteralKind::String {
        return None;
    }
    match scan.slot(text, slot)? {
        [b'\'' | b'"', inner @ .., b'\'' | b'"'] => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
