//! OK, ERR and EOF packets: read under one connection's capabilities, written under another's.

use crate::codec::{Reader, put_lenenc, put_lenenc_bytes};
use crate::{Capabilities, ProtocolError, SqlError, Status};

/// First byte of an OK packet.
pub const OK: u8 = 0x00;
/// First byte of an EOF packet, and of an OK packet that stands for one.
pub const EOF: u8 = 0xFE;
/// First byte of an ERR packet.
pub const ERR: u8 = 0xFF;

/// `OK_Packet`: a statement succeeded, or a result set ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OkPacket<'a> {
    /// Rows changed, or found with `FOUND_ROWS`.
    pub affected_rows: u64,
    /// The first automatically generated value.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// Human readable information, such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a [u8],
    /// Session state changes as they are sent, see [`crate::track`]. Empty unless the status holds
    /// `SESSION_STATE_CHANGED`.
    pub changes: &'a [u8],
}

impl<'a> OkPacket<'a> {
    /// Reads an OK packet, of header 0x00 or 0xFE. The info is length-encoded with and without `SESSION_TRACK`, as all
    /// servers write it (the documentation differs); one that is not is taken whole.
    ///
    /// # Errors
    /// `Unexpected` for another header, `Truncated`.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            OK | EOF => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        let affected_rows = r.lenenc()?;
        let last_insert_id = r.lenenc()?;
        let status = Status::from_bits_retain(r.u16()?);
        let warnings = r.u16()?;
        let mut ok = Self { affected_rows, last_insert_id, status, warnings, info: &[], changes: &[] };
        if r.is_empty() {
            return Ok(ok);
        }
        if capabilities.contains(Capabilities::SESSION_TRACK) {
            ok.info = r.lenenc_bytes()?;
            if status.contains(Status::SESSION_STATE_CHANGED) && !r.is_empty() {
                ok.changes = r.lenenc_bytes()?;
            }
        } else {
            ok.info = r.lenenc_bytes().unwrap_or_else(|_| r.take_rest());
        }
        Ok(ok)
    }

    /// Appends an OK packet with header 0x00. Without `SESSION_TRACK` the session state changes and their status flag
    /// are left out.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        self.write_as(OK, capabilities, out);
    }

    /// Appends what ends a result set: an OK packet with header 0xFE for peers with `DEPRECATE_EOF`, an EOF packet for
    /// the others.
    pub fn write_end(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        if capabilities.contains(Capabilities::DEPRECATE_EOF) {
            self.write_as(EOF, capabilities, out);
        } else {
            EofPacket { warnings: self.warnings, status: self.status - Status::SESSION_STATE_CHANGED }
                .write(out);
        }
    }

    fn write_as(&self, header: u8, capabilities: Capabilities, out: &mut Vec<u8>) {
        let track = capabilities.contains(Capabilities::SESSION_TRACK) && !self.changes.is_empty();
        let mut status = self.status;
        status.set(Status::SESSION_STATE_CHANGED, track);
        out.push(header);
        put_lenenc(out, self.affected_rows);
        put_lenenc(out, self.last_insert_id);
        out.extend_from_slice(&status.bits().to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        if track || !self.info.is_empty() {
            put_lenenc_bytes(out, self.info);
        }
        if track {
            put_lenenc_bytes(out, self.changes);
        }
    }
}

/// `EOF_Packet`: the end of column definitions or rows for peers without `DEPRECATE_EOF`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EofPacket {
    /// Number of warnings.
    pub warnings: u16,
    /// Status flags.
    pub status: Status,
}

impl EofPacket {
    /// Length of its payload; an 0xFE packet of 9 bytes and more is something else.
    pub const LEN: usize = 5;

    /// Reads an EOF packet.
    ///
    /// # Errors
    /// `Unexpected` for another header, `Truncated`.
    pub fn parse(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            EOF => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        Ok(Self { warnings: r.u16()?, status: Status::from_bits_retain(r.u16()?) })
    }

    /// Appends the payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(EOF);
        out.extend_from_slice(&self.warnings.to_le_bytes());
        out.extend_from_slice(&self.status.bits().to_le_bytes());
    }
}

/// `ERR_Packet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The server's error code.
    pub code: u16,
    /// SQLSTATE; absent from errors before the handshake is over.
    pub state: Option<[u8; 5]>,
    /// The text, in the connection's character set.
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// Reads an ERR packet. The SQLSTATE is found by its marker, as it is missing from some early errors.
    ///
    /// # Errors
    /// `Unexpected` for another header, `Truncated`.
    pub fn parse(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            ERR => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        let code = r.u16()?;
        let state = match r.rest().split_first_chunk::<6>() {
            Some(([b'#', state @ ..], tail)) => {
                r = Reader::new(tail);
                Some(*state)
            }
            _ => None,
        };
        Ok(Self { code, state, message: r.take_rest() })
    }

    /// Appends the payload; the SQLSTATE goes only to peers with `PROTOCOL_41`.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        out.push(ERR);
        out.extend_from_slice(&self.code.to_le_bytes());
        if capabilities.contains(Capabilities::PROTOCOL_41) {
            out.push(b'#');
            out.extend_from_slice(&self.state.unwrap_or(*b"HY000"));
        }
        out.extend_from_slice(self.message);
    }

    /// The error as a value of its own; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn to_error(&self) -> SqlError {
        SqlError {
            code: self.code,
            state: self.state.unwrap_or(*b"HY000"),
            message: String::from_utf8_lossy(self.message).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
