//! Rows of both protocols.

use super::Value;
use crate::codec::Reader;
use crate::{ColumnType, ProtocolError};

/// A row of the text protocol: yields one value for each column, `None` for NULL. After an error there are no more.
#[derive(Clone, Debug)]
pub struct TextRow<'a>(Reader<'a>);

impl<'a> TextRow<'a> {
    /// The row in this payload.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self(Reader::new(payload))
    }
}

impl<'a> Iterator for TextRow<'a> {
    type Item = Result<Option<&'a [u8]>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let value = self.0.nullable_bytes();
        if value.is_err() {
            self.0 = Reader::new(&[]);
        }
        Some(value)
    }
}

/// Appends the payload of a text row.
pub fn put_text_row<'a>(out: &mut Vec<u8>, values: impl IntoIterator<Item = Value<'a>>) {
    for value in values {
        value.put_text(out);
    }
}

/// A row of the binary protocol, read column by column.
#[derive(Clone, Debug)]
pub struct BinaryRow<'a> {
    nulls: &'a [u8],
    values: Reader<'a>,
    next: usize,
}

/// The NULL bitmap of rows starts at its third bit.
const NULLS_OFFSET: usize = 2;

impl<'a> BinaryRow<'a> {
    /// The row in this payload.
    ///
    /// # Errors
    /// `Unexpected` where it does not start with 0x00, `Truncated`.
    pub fn new(payload: &'a [u8], columns: usize) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            0 => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        let nulls = r.bytes(columns.saturating_add(NULLS_OFFSET).div_ceil(8))?;
        Ok(Self { nulls, values: r, next: 0 })
    }

    /// The next column's value.
    ///
    /// # Errors
    /// `Truncated`, also past the last column, and `Malformed`.
    pub fn next_value(&mut self, kind: ColumnType, unsigned: bool) -> Result<Value<'a>, ProtocolError> {
        let bit = self.next + NULLS_OFFSET;
        let byte = self.nulls.get(bit / 8).ok_or(ProtocolError::Truncated)?;
        let value = if byte >> (bit % 8) & 1 == 1 {
            Value::Null
        } else {
            Value::read_binary(&mut self.values, kind, unsigned)?
        };
        self.next += 1;
        Ok(value)
    }
}

/// Appends the payload of a binary row.
///
/// # Errors
/// `Malformed` where a value does not fit its type; `out` is as before then.
pub fn put_binary_row(out: &mut Vec<u8>, columns: &[(ColumnType, Value<'_>)]) -> Result<(), ProtocolError> {
    let start = out.len();
    out.push(0);
    let result = put_nulls_then(out, NULLS_OFFSET, columns, |_| {});
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Appends the NULL bitmap, what `between` appends, and the values.
pub(super) fn put_nulls_then(
    out: &mut Vec<u8>,
    offset: usize,
    columns: &[(ColumnType, Value<'_>)],
    between: impl FnOnce(&mut Vec<u8>),
) -> Result<(), ProtocolError> {
    let nulls = out.len();
    out.resize(nulls + (columns.len() + offset).div_ceil(8), 0);
    for (i, (_, value)) in columns.iter().enumerate() {
        if matches!(value, Value::Null)
            && let Some(byte) = out.get_mut(nulls + (i + offset) / 8)
        {
            *byte |= 1 << ((i + offset) % 8);
        }
    }
    between(out);
    columns.iter().try_for_each(|(kind, value)| value.put_binary(*kind, out))
}
