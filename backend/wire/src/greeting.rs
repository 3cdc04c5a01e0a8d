//! The server's first packet, handshake version 10.

use crate::codec::{Reader, put_nul};
use crate::{Capabilities, ProtocolError, Status};

/// Length of the scramble that a server challenges its client with.
pub const SCRAMBLE: usize = 20;

/// `Protocol::HandshakeV10`: what a server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// As the server writes it, for instance `5.5.5-10.11.19-MariaDB` or `9.7.4`.
    pub server_version: String,
    /// The connection's id; the low 32 bits of it.
    pub thread_id: u32,
    /// The challenge for the authentication plugin.
    pub scramble: [u8; SCRAMBLE],
    /// What the server is able to do.
    pub capabilities: Capabilities,
    /// Collation id of the server's default, its low byte.
    pub charset: u8,
    /// Status flags.
    pub status: Status,
    /// The server's default authentication plugin; empty where the server lacks `PLUGIN_AUTH`.
    pub auth_plugin: String,
}

impl Greeting {
    /// Reads a greeting.
    ///
    /// # Errors
    /// `Unexpected` where it is no version 10 handshake (an ERR packet starts with 0xFF, see
    /// [`crate::ErrPacket::parse`]); `Unsupported` for servers without the 4.1 protocol; `Truncated`.
    pub fn parse(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            10 => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        let server_version = text(r.nul_bytes()?);
        let thread_id = r.u32()?;
        let mut scramble = [0; SCRAMBLE];
        let (first, second) = scramble.split_at_mut(8);
        first.copy_from_slice(r.bytes(8)?);
        r.u8()?;
        let low = r.u16()?;
        if r.is_empty() {
            return Err(ProtocolError::Unsupported("the 4.1 protocol"));
        }
        let charset = r.u8()?;
        let status = Status::from_bits_retain(r.u16()?);
        let low = u32::from(low) | u32::from(r.u16()?) << 16;
        let scramble_len = usize::from(r.u8()?);
        r.bytes(6)?;
        let high = r.u32()?;
        let mariadb = !Capabilities::from_halves(low, 0).contains(Capabilities::LONG_PASSWORD);
        let capabilities = Capabilities::from_halves(low, if mariadb { high } else { 0 });
        if !capabilities.contains(Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION) {
            return Err(ProtocolError::Unsupported("the 4.1 protocol"));
        }
        // The second part has at least 13 bytes, the last of them a NUL that is no part of the scramble.
        let part = r.bytes(scramble_len.saturating_sub(8).max(13))?;
        second.copy_from_slice(part.get(..12).ok_or(ProtocolError::Truncated)?);
        let auth_plugin = if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            text(r.nul_or_rest())
        } else {
            String::new()
        };
        Ok(Self { server_version, thread_id, scramble, capabilities, charset, status, auth_plugin })
    }

    /// Appends the greeting's payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        let low = self.capabilities.low().to_le_bytes();
        let (first, second) = self.scramble.split_at(8);
        out.push(10);
        put_nul(out, self.server_version.as_bytes());
        out.extend_from_slice(&self.thread_id.to_le_bytes());
        out.extend_from_slice(first);
        out.push(0);
        out.extend_from_slice(&low[..2]);
        out.push(self.charset);
        out.extend_from_slice(&self.status.bits().to_le_bytes());
        out.extend_from_slice(&low[2..]);
        let plugin = self.capabilities.contains(Capabilities::PLUGIN_AUTH);
        out.push(if plugin { SCRAMBLE as u8 + 1 } else { 0 });
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&self.capabilities.high().to_le_bytes());
        out.extend_from_slice(second);
        out.push(0);
        if plugin {
            put_nul(out, self.auth_plugin.as_bytes());
        }
    }

    /// Whether the server is a MariaDB, by its version text.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB") || self.server_version.starts_with("5.5.5-")
    }

    /// Major, minor and patch version; MariaDB's `5.5.5-` prefix, which was for old replicas, is left out.
    #[must_use]
    pub fn version(&self) -> Option<(u16, u16, u16)> {
        let text = self.server_version.strip_prefix("5.5.5-").unwrap_or(&self.server_version);
        let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
