//! Where a server listens.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a server: a host and port, or the path of a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// `host:port`; an IPv6 host is kept without its brackets.
    Tcp {
        /// Name or IP address.
        host: String,
        /// Port, 1 to 65535.
        port: u16,
    },
    /// `unix:/path`.
    Unix(PathBuf),
}

/// Why a text is not an [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an address: {reason}; write `host:3306`, `[::1]:3306` or `unix:/path/to.sock`")]
pub struct AddressError {
    text: String,
    reason: &'static str,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let fault = |reason| AddressError { text: text.to_owned(), reason };
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(fault("the path is empty")),
                // sun_path holds 108 bytes with its closing NUL (unix(7)).
                _ if path.len() > 107 => Err(fault("the path is longer than 107 bytes")),
                _ => Ok(Self::Unix(PathBuf::from(path))),
            };
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(|| fault("the port is missing"))?;
        let host = match host.strip_prefix('[') {
            Some(inner) => inner.strip_suffix(']').ok_or_else(|| fault("a `]` is missing"))?,
            None if host.contains(':') => return Err(fault("an IPv6 address needs brackets")),
            None => host,
        };
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '/') {
            return Err(fault("the host is not a name"));
        }
        match port.parse() {
            Ok(0) | Err(_) => Err(fault("the port is not a number from 1 to 65535")),
            Ok(port) => Ok(Self::Tcp { host: host.to_owned(), port }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests;
