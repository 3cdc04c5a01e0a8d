//! The client's first packets: handshake response 41, or the request for TLS before it.

use crate::codec::{Reader, put_lenenc_bytes, put_nul};
use crate::{Capabilities, ProtocolError};

/// The fixed part that a request for TLS and a handshake response share, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SslRequest {
    /// What the client wants to use; holds [`Capabilities::SSL`] where it is a request for TLS.
    pub capabilities: Capabilities,
    /// The largest packet that the client takes, in bytes.
    pub max_packet: u32,
    /// Collation id. The protocol has one byte here and zeroes after it; some drivers write two, and so does this.
    pub charset: u16,
}

impl SslRequest {
    /// Length of its payload.
    pub const LEN: usize = 32;

    /// Reads a request for TLS, or `None` where the payload is a handshake response (longer, or without `SSL`).
    ///
    /// # Errors
    /// `Truncated`; `Unsupported` for clients without the 4.1 protocol.
    pub fn parse(payload: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let mut r = Reader::new(payload);
        let head = Self::head(&mut r)?;
        Ok((r.is_empty() && head.capabilities.contains(Capabilities::SSL)).then_some(head))
    }

    /// Appends the payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.low().to_le_bytes());
        out.extend_from_slice(&self.max_packet.to_le_bytes());
        out.extend_from_slice(&self.charset.to_le_bytes());
        out.extend_from_slice(&[0; 18]);
        out.extend_from_slice(&self.capabilities.high().to_le_bytes());
    }

    fn head(r: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let low = r.u32()?;
        if !Capabilities::from_halves(low, 0).contains(Capabilities::PROTOCOL_41) {
            return Err(ProtocolError::Unsupported("the 4.1 protocol"));
        }
        let max_packet = r.u32()?;
        let charset = r.u16()?;
        r.bytes(18)?;
        let high = r.u32()?;
        let mysql = Capabilities::from_halves(low, 0).contains(Capabilities::LONG_PASSWORD);
        let capabilities = Capabilities::from_halves(low, if mysql { 0 } else { high });
        Ok(Self { capabilities, max_packet, charset })
    }
}

/// `Protocol::HandshakeResponse41`: who logs in, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// What the client wants to use.
    pub capabilities: Capabilities,
    /// The largest packet that the client takes, in bytes.
    pub max_packet: u32,
    /// Collation id, see [`SslRequest::charset`].
    pub charset: u16,
    /// User name, in the client's character set.
    pub user: &'a [u8],
    /// The plugin's answer to the scramble. May be a password in the clear: not to be logged.
    pub auth_response: &'a [u8],
    /// Default schema; never empty.
    pub schema: Option<&'a [u8]>,
    /// The plugin that made the answer.
    pub plugin: Option<&'a [u8]>,
    /// Connection attributes as they are sent: pairs of length-encoded strings. See [`HandshakeResponse::attributes`].
    pub raw_attributes: Option<&'a [u8]>,
    /// zstd level, 1 to 22.
    pub zstd_level: Option<u8>,
}

impl core::fmt::Debug for HandshakeResponse<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HandshakeResponse")
            .field("capabilities", &self.capabilities)
            .field("user", &String::from_utf8_lossy(self.user))
            .field("schema", &self.schema.map(String::from_utf8_lossy))
            .field("plugin", &self.plugin.map(String::from_utf8_lossy))
            .finish_non_exhaustive()
    }
}

impl<'a> HandshakeResponse<'a> {
    /// Reads a handshake response. Missing trailing fields are taken as absent, as servers do.
    ///
    /// # Errors
    /// `Truncated`; `Unsupported` for clients without the 4.1 protocol.
    pub fn parse(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        let SslRequest { capabilities, max_packet, charset } = SslRequest::head(&mut r)?;
        let user = r.nul_bytes()?;
        let auth_response = if capabilities.contains(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            r.lenenc_bytes()?
        } else if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            let len = r.u8()?;
            r.bytes(usize::from(len))?
        } else {
            r.nul_or_rest()
        };
        let schema = capabilities.contains(Capabilities::CONNECT_WITH_DB).then(|| r.nul_or_rest());
        let plugin = capabilities.contains(Capabilities::PLUGIN_AUTH).then(|| r.nul_or_rest());
        let raw_attributes = if capabilities.contains(Capabilities::CONNECT_ATTRS) && !r.is_empty() {
            Some(r.lenenc_bytes()?)
        } else {
            None
        };
        let zstd_level =
            if capabilities.contains(Capabilities::ZSTD_COMPRESSION_ALGORITHM) { r.u8().ok() } else { None };
        Ok(Self {
            capabilities,
            max_packet,
            charset,
            user,
            auth_response,
            schema: schema.filter(|s| !s.is_empty()),
            plugin: plugin.filter(|p| !p.is_empty()),
            raw_attributes,
            zstd_level,
        })
    }

    /// Appends the payload. The flags `CONNECT_WITH_DB`, `PLUGIN_AUTH`, `CONNECT_ATTRS` and
    /// `ZSTD_COMPRESSION_ALGORITHM` are sent exactly where the field is there.
    ///
    /// # Errors
    /// `TooLong` where the answer does not fit the length field that the capabilities allow (255 bytes without
    /// `PLUGIN_AUTH_LENENC_CLIENT_DATA`).
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        let mut capabilities = self.capabilities;
        capabilities.set(Capabilities::CONNECT_WITH_DB, self.schema.is_some());
        capabilities.set(Capabilities::PLUGIN_AUTH, self.plugin.is_some());
        capabilities.set(Capabilities::CONNECT_ATTRS, self.raw_attributes.is_some());
        capabilities.set(Capabilities::ZSTD_COMPRESSION_ALGORITHM, self.zstd_level.is_some());
        SslRequest { capabilities, max_packet: self.max_packet, charset: self.charset }.write(out);
        put_nul(out, self.user);
        if capabilities.contains(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            put_lenenc_bytes(out, self.auth_response);
        } else if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            let len =
                u8::try_from(self.auth_response.len()).map_err(|_| ProtocolError::TooLong { max: 255 })?;
            out.push(len);
            out.extend_from_slice(self.auth_response);
        } else {
            put_nul(out, self.auth_response);
        }
        if let Some(schema) = self.schema {
            put_nul(out, schema);
        }
        if let Some(plugin) = self.plugin {
            put_nul(out, plugin);
        }
        if let Some(attributes) = self.raw_attributes {
            put_lenenc_bytes(out, attributes);
        }
        out.extend(self.zstd_level);
        Ok(())
    }

    /// Connection attributes: names and values. Ends at the first malformed pair.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut r = Reader::new(self.raw_attributes.unwrap_or_default());
        core::iter::from_fn(move || Some((r.lenenc_bytes().ok()?, r.lenenc_bytes().ok()?)))
    }
}

#[cfg(test)]
mod tests;
