//! Commands that name a prepared statement, as a relay changes them: another id, and types that the client left out.
//!
//! Clients send the types of parameters only when they have changed, and the server remembers them with the statement. Who
//! executes on a connection where another one has executed the same statement meanwhile must send them again.

use crate::codec::Reader;
use crate::command::PARAMETER_COUNT_AVAILABLE;
use crate::{Capabilities, ColumnType, ProtocolError};

/// `COM_STMT_EXECUTE`.
const EXECUTE: u8 = 0x17;
/// `COM_STMT_BULK_EXECUTE`.
const BULK_EXECUTE: u8 = 0xFA;
/// Flag of `COM_STMT_BULK_EXECUTE`: types are sent.
const SEND_TYPES: u16 = 128;

/// How an execution tells the types of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types<'a> {
    /// It has no parameters.
    None,
    /// As they are in the packet: two bytes each, with `QUERY_ATTRIBUTES` and a name behind each.
    Sent(&'a [u8]),
    /// Those of the execution before.
    Omitted(Gap),
}

/// Where types that were left out belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Offset in the payload of what says whether types are sent.
    at: usize,
    bulk: bool,
}

/// Puts a server's id into a command that names a statement: its payload's bytes 1 to 4.
pub fn set_statement(payload: &mut [u8], id: u32) {
    if let Some(room) = payload.get_mut(1..5) {
        room.copy_from_slice(&id.to_le_bytes());
    }
}

/// Whether an execution asks for a cursor.
#[must_use]
pub fn opens_cursor(payload: &[u8]) -> bool {
    payload.first() == Some(&EXECUTE) && payload.get(5).is_some_and(|flags| flags & 7 != 0)
}

/// Finds the types in an execution's payload, of which the end may be missing. `count` is the statement's number of
/// parameters, as the server told it at PREPARE.
///
/// # Errors
/// `Truncated` where the payload ends before its types do, `Malformed`.
pub fn types(payload: &[u8], count: u16, capabilities: Capabilities) -> Result<Types<'_>, ProtocolError> {
    let mut r = Reader::new(payload);
    let command = r.u8()?;
    r.u32()?;
    let at = |r: &Reader<'_>| payload.len() - r.len();
    if command == BULK_EXECUTE {
        let flags = at(&r);
        let sent = r.u16()? & SEND_TYPES != 0;
        return Ok(match count {
            0 => Types::None,
            _ if sent => Types::Sent(r.bytes(usize::from(count) * 2)?),
            _ => Types::Omitted(Gap { at: flags, bulk: true }),
        });
    }
    if command != EXECUTE {
        return Err(ProtocolError::Unexpected(command));
    }
    let (total, _) = values(&mut r, count, capabilities)?;
    if total == 0 {
        return Ok(Types::None);
    }
    let attributes = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
    let flag = at(&r);
    if r.u8()? != 1 {
        return Ok(Types::Omitted(Gap { at: flag, bulk: false }));
    }
    let start = at(&r);
    for _ in 0..total {
        r.u16()?;
        if attributes {
            r.lenenc_bytes()?;
        }
    }
    payload.get(start..at(&r)).map(Types::Sent).ok_or(ProtocolError::Truncated)
}

/// Reads an execution behind its id: how many values it has, and the bits of those that are NULL.
fn values<'a>(
    r: &mut Reader<'a>,
    count: u16,
    capabilities: Capabilities,
) -> Result<(usize, &'a [u8]), ProtocolError> {
    let flags = r.u8()?;
    r.u32()?;
    let mut total = usize::from(count);
    let attributes = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
    if attributes && (count > 0 || flags & PARAMETER_COUNT_AVAILABLE != 0) {
        total = usize::try_from(r.lenenc()?).map_err(|_| ProtocolError::Malformed("parameter count"))?;
    }
    Ok((total, r.bytes(total.div_ceil(8))?))
}

/// What MySQL makes of a parameter's type when it decides what a statement computes with (tried on 9.7): one for all
/// signed integers, for all texts and so on. NULL has none.
pub type Kind = u8;

/// The kind of a NULL.
pub const NO_KIND: Kind = 0;

/// The kinds of the values of a `COM_STMT_EXECUTE` whose types are `types`, one for each of the statement's parameters;
/// nothing where the payload is not well-formed.
pub fn kinds<'a>(
    payload: &'a [u8],
    types: &'a [u8],
    count: u16,
    capabilities: Capabilities,
) -> impl Iterator<Item = Kind> + 'a {
    let attributes = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
    let nulls =
        payload.get(5..).and_then(|rest| Some(values(&mut Reader::new(rest), count, capabilities).ok()?.1));
    let mut r = Reader::new(types);
    let known = if nulls.is_some() { usize::from(count) } else { 0 };
    (0..known).map_while(move |at| {
        let kind = kind(r.u16().ok()?);
        if attributes {
            r.lenenc_bytes().ok()?;
        }
        let null = nulls.and_then(|nulls| nulls.get(at / 8)).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        Some(if null { NO_KIND } else { kind })
    })
}

/// The kind of a type and its flag.
const fn kind(of: u16) -> Kind {
    let unsigned = of & 0x8000 != 0;
    match ColumnType(of.to_le_bytes()[0]) {
        ColumnType::TINY
        | ColumnType::SHORT
        | ColumnType::LONG
        | ColumnType::LONGLONG
        | ColumnType::INT24
        | ColumnType::YEAR => 1 + unsigned as u8,
        ColumnType::DECIMAL | ColumnType::NEWDECIMAL => 3,
        ColumnType::FLOAT | ColumnType::DOUBLE => 4,
        ColumnType::VARCHAR | ColumnType::VAR_STRING | ColumnType::STRING => 5,
        ColumnType::TINY_BLOB | ColumnType::MEDIUM_BLOB | ColumnType::LONG_BLOB | ColumnType::BLOB => 6,
        ColumnType::TIMESTAMP | ColumnType::DATETIME => 7,
        ColumnType::DATE => 8,
        ColumnType::TIME => 9,
        ColumnType::NULL => NO_KIND,
        _ => 10,
    }
}

impl Gap {
    /// Appends the payload, or its beginning as far as it is there, with `types` in their place.
    pub fn fill(self, payload: &[u8], types: &[u8], out: &mut Vec<u8>) {
        let (before, rest) = payload.split_at_checked(self.at).unwrap_or((payload, &[]));
        out.extend_from_slice(before);
        let behind = if self.bulk {
            let flags = rest.first_chunk::<2>().map_or(0, |flags| u16::from_le_bytes(*flags));
            out.extend_from_slice(&(flags | SEND_TYPES).to_le_bytes());
            2
        } else {
            out.push(1);
            1
        };
        out.extend_from_slice(types);
        out.extend_from_slice(rest.get(behind..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests;
