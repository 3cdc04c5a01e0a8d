//! The packets of an authentication exchange between handshake and OK.

use crate::ProtocolError;
use crate::codec::{Reader, put_nul};
use crate::reply::EOF;

/// First byte of [`AuthMoreData`].
const MORE_DATA: u8 = 1;

/// `AuthSwitchRequest`: the server wants another plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSwitchRequest<'a> {
    /// Name of the plugin.
    pub plugin: &'a [u8],
    /// Its data as it is: a challenge for most, with a NUL after it for those of 20 bytes.
    pub data: &'a [u8],
}

impl<'a> AuthSwitchRequest<'a> {
    /// Reads a request. The one-byte request of servers before 4.1 is one for `mysql_old_password`.
    ///
    /// # Errors
    /// `Unexpected` for another packet, `Truncated`.
    pub fn parse(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        match r.u8()? {
            EOF => {}
            other => return Err(ProtocolError::Unexpected(other)),
        }
        if r.is_empty() {
            return Ok(Self { plugin: b"mysql_old_password", data: &[] });
        }
        let plugin = r.nul_bytes()?;
        Ok(Self { plugin, data: r.take_rest() })
    }

    /// Appends the payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(EOF);
        put_nul(out, self.plugin);
        out.extend_from_slice(self.data);
    }
}

/// `AuthMoreData`: data that the plugin in use understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthMoreData<'a>(pub &'a [u8]);

impl<'a> AuthMoreData<'a> {
    /// Reads additional data.
    ///
    /// # Errors
    /// `Unexpected` for another packet, `Truncated`.
    pub fn parse(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        match payload.split_first() {
            Some((&MORE_DATA, data)) => Ok(Self(data)),
            Some((other, _)) => Err(ProtocolError::Unexpected(*other)),
            None => Err(ProtocolError::Truncated),
        }
    }

    /// Appends the payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(MORE_DATA);
        out.extend_from_slice(self.0);
    }
}
