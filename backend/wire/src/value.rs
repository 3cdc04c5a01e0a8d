//! Values, in rows of the text protocol, rows of the binary protocol, and parameters.

mod params;
mod row;
mod temporal;

pub use params::{ParamType, Params, put_params};
pub use row::{BinaryRow, TextRow, put_binary_row, put_text_row};
pub use temporal::{DateTime, Time};

use crate::codec::{NULL, Reader, put_lenenc_bytes};
use crate::{ColumnType, ProtocolError, Shape};
use std::io::Write as _;

/// One value. In text rows every value that is not NULL is `Bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// Text, binary data, and every type that the binary protocol sends as text (decimals, JSON, …).
    Bytes(&'a [u8]),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A single-precision number.
    Float(f32),
    /// A double-precision number.
    Double(f64),
    /// A date, or a date with a time of day.
    DateTime(DateTime),
    /// A span of time.
    Time(Time),
}

impl<'a> Value<'a> {
    /// Reads a binary value that is not NULL.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`.
    pub fn read_binary(r: &mut Reader<'a>, kind: ColumnType, unsigned: bool) -> Result<Self, ProtocolError> {
        Ok(match kind.shape() {
            Shape::Null => Self::Null,
            Shape::Int(width) => {
                let mut wide = [0; 8];
                let bytes = r.bytes(width)?;
                let negative = !unsigned && bytes.last().is_some_and(|b| b & 0x80 != 0);
                if negative {
                    wide = [0xFF; 8];
                }
                wide.iter_mut().zip(bytes).for_each(|(w, b)| *w = *b);
                if unsigned {
                    Self::UInt(u64::from_le_bytes(wide))
                } else {
                    Self::Int(i64::from_le_bytes(wide))
                }
            }
            Shape::Float => Self::Float(f32::from_le_bytes(r.array()?)),
            Shape::Double => Self::Double(f64::from_le_bytes(r.array()?)),
            Shape::Date => Self::DateTime(DateTime::read(r)?),
            Shape::Time => Self::Time(Time::read(r)?),
            Shape::Bytes => Self::Bytes(r.lenenc_bytes()?),
        })
    }

    /// Appends the value in the binary layout of `kind`; NULL appends nothing.
    ///
    /// # Errors
    /// `Malformed` where the value has no such layout: a text as a number, or a number that is too large.
    pub fn put_binary(&self, kind: ColumnType, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        let misfit = ProtocolError::Malformed("value for its type");
        match (kind.shape(), self) {
            (_, Self::Null) => {}
            (Shape::Int(width), Self::Int(_) | Self::UInt(_)) => {
                let n = match *self {
                    Self::Int(n) => i128::from(n),
                    Self::UInt(n) => i128::from(n),
                    _ => return Err(misfit),
                };
                let bits = 8 * width as u32;
                if n < -(1 << (bits - 1)) || n >= 1 << bits {
                    return Err(misfit);
                }
                out.extend_from_slice(n.to_le_bytes().get(..width).ok_or(misfit)?);
            }
            (Shape::Float, Self::Float(n)) => out.extend_from_slice(&n.to_le_bytes()),
            (Shape::Double, Self::Double(n)) => out.extend_from_slice(&n.to_le_bytes()),
            (Shape::Date, Self::DateTime(at)) => at.put(out),
            (Shape::Time, Self::Time(span)) => span.put(out),
            (Shape::Bytes, Self::Bytes(bytes)) => put_lenenc_bytes(out, bytes),
            _ => return Err(misfit),
        }
        Ok(())
    }

    /// Appends the value as a text row holds it: length-encoded text, or NULL.
    pub fn put_text(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(NULL),
            Self::Bytes(bytes) => put_lenenc_bytes(out, bytes),
            Self::Int(n) => put_display(out, n),
            Self::UInt(n) => put_display(out, n),
            Self::Float(n) => put_display(out, n),
            Self::Double(n) => put_display(out, n),
            Self::DateTime(at) => put_display(out, at),
            Self::Time(span) => put_display(out, span),
        }
    }
}

/// Appends a value whose text is short.
fn put_display(out: &mut Vec<u8>, value: &dyn core::fmt::Display) {
    let start = out.len();
    out.push(0);
    // Writing to a Vec does not fail.
    let _ = write!(out, "{value}");
    let len = out.len() - start - 1;
    match u8::try_from(len) {
        Ok(len @ 0..=0xFA) => {
            if let Some(prefix) = out.get_mut(start) {
                *prefix = len;
            }
        }
        _ => {
            let text = out.split_off(start + 1);
            out.truncate(start);
            put_lenenc_bytes(out, &text);
        }
    }
}

#[cfg(test)]
mod tests;
