//! Column definitions.

use crate::codec::{NULL, Reader, put_lenenc_bytes};
use crate::{Capabilities, ColumnType, ProtocolError};
use bitflags::bitflags;

bitflags! {
    /// `*_FLAG` of column definitions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ColumnFlags: u16 {
        /// Cannot be NULL.
        const NOT_NULL = 1;
        /// Part of the primary key.
        const PRI_KEY = 2;
        /// Part of a unique key.
        const UNIQUE_KEY = 4;
        /// Part of another key.
        const MULTIPLE_KEY = 8;
        /// BLOB or TEXT.
        const BLOB = 16;
        /// Unsigned.
        const UNSIGNED = 32;
        /// ZEROFILL.
        const ZEROFILL = 64;
        /// Binary collation or data.
        const BINARY = 128;
        /// ENUM.
        const ENUM = 256;
        /// AUTO_INCREMENT.
        const AUTO_INCREMENT = 512;
        /// TIMESTAMP.
        const TIMESTAMP = 1024;
        /// SET.
        const SET = 2048;
        /// Has no default value.
        const NO_DEFAULT_VALUE = 4096;
        /// Set to the time of an UPDATE.
        const ON_UPDATE_NOW = 8192;
        /// Part of some key.
        const PART_KEY = 16384;
        /// A number.
        const NUM = 32768;

        const _ = !0;
    }
}

/// `Protocol::ColumnDefinition41`. Names are bytes in the connection's character set (`character_set_results`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDef<'a> {
    /// Always `def`.
    pub catalog: &'a [u8],
    /// Schema.
    pub schema: &'a [u8],
    /// Table or its alias.
    pub table: &'a [u8],
    /// Table.
    pub org_table: &'a [u8],
    /// Column or its alias.
    pub name: &'a [u8],
    /// Column.
    pub org_name: &'a [u8],
    /// With `MARIADB_EXTENDED_METADATA`: chunks of a kind (0: type name, 1: format) and a length-encoded string.
    pub extended: &'a [u8],
    /// Collation id.
    pub charset: u16,
    /// Display length, in bytes.
    pub length: u32,
    /// Type.
    pub kind: ColumnType,
    /// Flags.
    pub flags: ColumnFlags,
    /// Digits after the point; 31 for floating point numbers and where it does not apply.
    pub decimals: u8,
    /// The default value, in replies to `COM_FIELD_LIST`.
    pub default: DefaultValue<'a>,
}

/// A column's default value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultValue<'a> {
    /// The definition is not one of a field list.
    #[default]
    Absent,
    /// NULL, or none.
    Null,
    /// As text.
    Text(&'a [u8]),
}

impl Default for ColumnDef<'_> {
    fn default() -> Self {
        Self {
            catalog: b"def",
            schema: b"",
            table: b"",
            org_table: b"",
            name: b"",
            org_name: b"",
            extended: b"",
            charset: 63,
            length: 0,
            kind: ColumnType::NULL,
            flags: ColumnFlags::empty(),
            decimals: 0,
            default: DefaultValue::Absent,
        }
    }
}

impl<'a> ColumnDef<'a> {
    /// Reads a column definition.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        let catalog = r.lenenc_bytes()?;
        let schema = r.lenenc_bytes()?;
        let table = r.lenenc_bytes()?;
        let org_table = r.lenenc_bytes()?;
        let name = r.lenenc_bytes()?;
        let org_name = r.lenenc_bytes()?;
        let extended = if capabilities.contains(Capabilities::MARIADB_EXTENDED_METADATA) {
            r.lenenc_bytes()?
        } else {
            &[]
        };
        let fixed = r.lenenc_bytes()?;
        let mut f = Reader::new(fixed);
        let charset = f.u16()?;
        let length = f.u32()?;
        let kind = ColumnType(f.u8()?);
        let flags = ColumnFlags::from_bits_retain(f.u16()?);
        let decimals = f.u8()?;
        let default = if r.is_empty() {
            DefaultValue::Absent
        } else {
            r.nullable_bytes()?.map_or(DefaultValue::Null, DefaultValue::Text)
        };
        Ok(Self {
            catalog,
            schema,
            table,
            org_table,
            name,
            org_name,
            extended,
            charset,
            length,
            kind,
            flags,
            decimals,
            default,
        })
    }

    /// Appends the payload.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        for text in [self.catalog, self.schema, self.table, self.org_table, self.name, self.org_name] {
            put_lenenc_bytes(out, text);
        }
        if capabilities.contains(Capabilities::MARIADB_EXTENDED_METADATA) {
            put_lenenc_bytes(out, self.extended);
        }
        out.push(12);
        out.extend_from_slice(&self.charset.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.kind.0);
        out.extend_from_slice(&self.flags.bits().to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0; 2]);
        match self.default {
            DefaultValue::Absent => {}
            DefaultValue::Null => out.push(NULL),
            DefaultValue::Text(text) => put_lenenc_bytes(out, text),
        }
    }

    /// Whether its values are unsigned numbers.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        self.flags.contains(ColumnFlags::UNSIGNED)
    }
}

#[cfg(test)]
mod tests;
