//! Column and parameter types, and the shape of their binary values.

use crate::ProtocolError;
use crate::codec::Reader;

/// `enum_field_types`: the type of a column or parameter. An open set: servers may send types that have no name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnType(pub u8);

/// How a type's binary value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No bytes.
    Null,
    /// A little-endian integer of 1, 2, 4 or 8 bytes.
    Int(usize),
    /// IEEE 754 single.
    Float,
    /// IEEE 754 double.
    Double,
    /// A length byte (0, 4, 7 or 11), then year, month, day, hour, minute, second, microsecond.
    Date,
    /// A length byte (0, 8 or 12), then sign, days, hours, minutes, seconds, microseconds.
    Time,
    /// A length-encoded string.
    Bytes,
}

#[expect(missing_docs, reason = "MYSQL_TYPE_* of the servers, by their names")]
impl ColumnType {
    pub const DECIMAL: Self = Self(0);
    pub const TINY: Self = Self(1);
    pub const SHORT: Self = Self(2);
    pub const LONG: Self = Self(3);
    pub const FLOAT: Self = Self(4);
    pub const DOUBLE: Self = Self(5);
    pub const NULL: Self = Self(6);
    pub const TIMESTAMP: Self = Self(7);
    pub const LONGLONG: Self = Self(8);
    pub const INT24: Self = Self(9);
    pub const DATE: Self = Self(10);
    pub const TIME: Self = Self(11);
    pub const DATETIME: Self = Self(12);
    pub const YEAR: Self = Self(13);
    pub const NEWDATE: Self = Self(14);
    pub const VARCHAR: Self = Self(15);
    pub const BIT: Self = Self(16);
    pub const VECTOR: Self = Self(242);
    pub const JSON: Self = Self(245);
    pub const NEWDECIMAL: Self = Self(246);
    pub const ENUM: Self = Self(247);
    pub const SET: Self = Self(248);
    pub const TINY_BLOB: Self = Self(249);
    pub const MEDIUM_BLOB: Self = Self(250);
    pub const LONG_BLOB: Self = Self(251);
    pub const BLOB: Self = Self(252);
    pub const VAR_STRING: Self = Self(253);
    pub const STRING: Self = Self(254);
    pub const GEOMETRY: Self = Self(255);
}

impl ColumnType {
    /// The layout of its binary values. Types without a name here are length-encoded strings, like every type that came
    /// after 4.1.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self {
            Self::NULL => Shape::Null,
            Self::TINY => Shape::Int(1),
            Self::SHORT | Self::YEAR => Shape::Int(2),
            Self::LONG | Self::INT24 => Shape::Int(4),
            Self::LONGLONG => Shape::Int(8),
            Self::FLOAT => Shape::Float,
            Self::DOUBLE => Shape::Double,
            Self::DATE | Self::DATETIME | Self::TIMESTAMP | Self::NEWDATE => Shape::Date,
            Self::TIME => Shape::Time,
            _ => Shape::Bytes,
        }
    }

    /// The bytes of the binary value that is next in `r`, undecoded; a length prefix is part of them.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`.
    pub fn binary<'a>(self, r: &mut Reader<'a>) -> Result<&'a [u8], ProtocolError> {
        let mut ahead = *r;
        match self.shape() {
            Shape::Null => {}
            Shape::Int(n) => {
                ahead.bytes(n)?;
            }
            Shape::Float => {
                ahead.bytes(4)?;
            }
            Shape::Double => {
                ahead.bytes(8)?;
            }
            Shape::Date | Shape::Time => {
                let n = ahead.u8()?;
                ahead.bytes(usize::from(n))?;
            }
            Shape::Bytes => {
                ahead.lenenc_bytes()?;
            }
        }
        r.bytes(r.len() - ahead.len())
    }
}
