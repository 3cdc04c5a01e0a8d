//! Why a control connection failed, in words that say what to do.

use std::io;
use std::time::Duration;

use mysql_async::{DriverError, Error, IoError};

use crate::address::Address;

/// A control connection's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The host's name has no address.
    #[error("{address}: the host is unknown ({reason}); check the spelling and the name server")]
    UnknownHost {
        /// The server.
        address: Address,
        /// The resolver's answer.
        reason: String,
    },
    /// Nobody listens there, or the network is in the way.
    #[error("{address}: cannot connect ({reason}); is the server running, and does it listen there?")]
    Unreachable {
        /// The server.
        address: Address,
        /// The system's answer.
        reason: String,
    },
    /// No answer in time.
    #[error(
        "{address}: no answer within {after:?}; the server is overloaded, a firewall drops packets, or what listens there is no MySQL server"
    )]
    Silent {
        /// The server.
        address: Address,
        /// The limit.
        after: Duration,
    },
    /// Something else than a MySQL server answered.
    #[error("{address}: this is not a MySQL or MariaDB server ({reason}); check the port")]
    NotAServer {
        /// The server.
        address: Address,
        /// What came instead.
        reason: String,
    },
    /// TLS is asked for and the server has none.
    #[error(
        "{address}: the server offers no TLS; set `ssl_cert` and `ssl_key` there, or `tls: {{mode: disabled}}` here"
    )]
    TlsMissing {
        /// The server.
        address: Address,
    },
    /// TLS failed, for instance because the certificate is not trusted.
    #[error("{address}: TLS failed ({reason}); check `tls.ca` and the name in the server's certificate")]
    Tls {
        /// The server.
        address: Address,
        /// rustls' answer.
        reason: String,
    },
    /// The account is missing, locked, or has another password.
    #[error(
        "{address}: user `{user}` was refused ({code}: {message}); the account is missing for this host, locked, or has another password (see docs/grants.md)"
    )]
    Denied {
        /// The server.
        address: Address,
        /// The account's name.
        user: String,
        /// The server's error number.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// The account lacks privileges.
    #[error("{address}: the proxy's account lacks privileges; run there:\n{}", statements.join("\n"))]
    Privileges {
        /// The server.
        address: Address,
        /// The GRANT statements that are missing.
        statements: Vec<String>,
    },
    /// The server refused a statement or the connection.
    #[error("{address}: error {code} ({state}): {message}")]
    Server {
        /// The server.
        address: Address,
        /// The server's error number.
        code: u16,
        /// SQLSTATE.
        state: String,
        /// The server's message.
        message: String,
    },
    /// The connection broke, or was closed after an earlier failure.
    #[error("{address}: the connection was lost ({reason})")]
    Lost {
        /// The server.
        address: Address,
        /// How.
        reason: String,
    },
    /// The server's answer does not have the shape that was asked for.
    #[error(
        "{address}: an answer of an unexpected shape; is this a supported version (MariaDB 10.3+, MySQL 5.7+)?"
    )]
    Unexpected {
        /// The server.
        address: Address,
    },
}

impl ControlError {
    /// Whether the connection cannot be used any more.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        !matches!(self, Self::Server { .. } | Self::Privileges { .. } | Self::Unexpected { .. })
    }

    /// The server's error number, where it is one.
    #[must_use]
    pub const fn code(&self) -> Option<u16> {
        match self {
            Self::Server { code, .. } | Self::Denied { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether a statement failed for want of privileges: 1044, 1142, 1143, 1227, 1370.
    #[must_use]
    pub const fn is_privilege(&self) -> bool {
        matches!(self.code(), Some(1044 | 1142 | 1143 | 1227 | 1370))
    }

    /// From a failure while connecting.
    pub(super) fn from_login(address: &Address, user: &str, error: Error) -> Self {
        let address = address.clone();
        match error {
            // 1044/1045/1698: refused; 1130: host not allowed; 1251: plugin; 1820/1862: expired; 3118/4151: locked.
            Error::Server(server)
                if matches!(
                    server.code,
                    1044 | 1045 | 1130 | 1251 | 1275 | 1698 | 1820 | 1862 | 3118 | 4151
                ) =>
            {
                Self::Denied { address, user: user.to_owned(), code: server.code, message: server.message }
            }
            Error::Io(IoError::Io(error)) => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                    Self::Lost { address, reason: error.to_string() }
                }
                io::ErrorKind::InvalidData | io::ErrorKind::Other if tls_fault(&error) => {
                    Self::Tls { address, reason: error.to_string() }
                }
                io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                    Self::NotAServer { address, reason: error.to_string() }
                }
                _ => Self::Unreachable { address, reason: error.to_string() },
            },
            Error::Driver(
                error @ (DriverError::CantParseServerVersion { .. }
                | DriverError::UnexpectedPacket { .. }
                | DriverError::PacketOutOfOrder
                | DriverError::PacketTooLarge),
            ) => Self::NotAServer { address, reason: error.to_string() },
            other => Self::from_statement(&address, other),
        }
    }

    /// From a failure on a connection that had been logged in.
    pub(super) fn from_statement(address: &Address, error: Error) -> Self {
        let address = address.clone();
        match error {
            Error::Server(server) => {
                Self::Server { address, code: server.code, state: server.state, message: server.message }
            }
            Error::Driver(DriverError::NoClientSslFlagFromServer) => Self::TlsMissing { address },
            Error::Driver(error @ DriverError::UnknownAuthPlugin { .. }) => {
                Self::Denied { address, user: String::new(), code: 1251, message: error.to_string() }
            }
            Error::Io(IoError::Tls(error)) => Self::Tls { address, reason: error.to_string() },
            other => Self::Lost { address, reason: other.to_string() },
        }
    }
}

/// tokio-rustls hands rustls' errors over inside an I/O error.
fn tls_fault(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

#[cfg(test)]
mod tests;
