//! Why a client may not come in, and what it is told.

use std::io;
use std::sync::Arc;

use backend::connect::ConnectError;
use backend::exchange::ExchangeError;
use wire::auth::AuthError;
use wire::{ProtocolError, SqlError, code};

use crate::stats::SessionId;

/// ER_CONNECT_TO_FOREIGN_DATA_SOURCE: the server behind cannot be reached.
const CONNECT_FAILED: u16 = 1429;

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The connection broke, or what came is not the protocol.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// What came is not the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// TLS failed.
    #[error("TLS with the client failed: {0}")]
    Tls(#[source] io::Error),
    /// The exchange of proofs cannot go on.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// Name, host or password are wrong.
    #[error("access denied for user '{user}'@'{host}'")]
    Denied {
        user: String,
        host: String,
        /// The client sent a password.
        password: bool,
    },
    /// The account is locked.
    #[error("the account of '{user}'@'{host}' is locked")]
    Locked { user: String, host: String },
    /// The account cannot be used through the proxy.
    #[error("the account of '{user}'@'{host}' cannot be used: {reason}")]
    Unusable { user: String, host: String, reason: String },
    /// The backend would make somebody else of the client.
    #[error("the client matches the account {matched}, and the backend chose {chosen}")]
    OtherAccount { matched: String, chosen: String },
    /// Accounts are not known.
    #[error("the accounts of backend {name} are not known yet: {reason}")]
    NoAccounts { name: Arc<str>, reason: String },
    /// No backend connection.
    #[error(transparent)]
    Backend(#[from] ConnectError),
    /// The backend was not reached since the start.
    #[error("backend {0} has not been reached yet")]
    NotYet(Arc<str>),
    /// `limits.connections`.
    #[error("{0} connections are open (limits.connections)")]
    TooManyConnections(usize),
    /// `connections` of a listed user.
    #[error("{limit} connections of user '{user}' are open (users.connections)")]
    TooManyOfListed { user: String, limit: usize },
    /// `limits.per_user`.
    #[error("{limit} connections of user '{user}' are open (limits.per_user)")]
    TooManyOfUser { user: String, limit: usize },
    /// `tls.mode: required`.
    #[error("the client does not use TLS (tls.mode is required)")]
    TlsRequired,
    /// The proxy is about to end.
    #[error("the proxy is shutting down")]
    ShuttingDown,
}

impl Failure {
    /// The error that the client is told; none where it is gone or does not speak the protocol.
    pub(crate) fn answer(&self) -> Option<SqlError> {
        let error = match self {
            Self::Exchange(_) | Self::Tls(_) => return None,
            Self::Protocol(_) => SqlError::new(code::HANDSHAKE, "Bad handshake"),
            Self::Denied { user, host, password } => {
                let using = if *password { "YES" } else { "NO" };
                let text = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
                SqlError::new(code::ACCESS_DENIED, text)
            }
            Self::Locked { user, host } => {
                let text = format!("Access denied for user '{user}'@'{host}'. Account is locked.");
                SqlError { code: 3118, state: *b"HY000", message: text }
            }
            Self::OtherAccount { matched, chosen } => {
                let text = format!(
                    "Access denied: you match the account {matched}, but the backend, which sees the proxy's address, \
                     chose {chosen}; give the user one account that covers both addresses"
                );
                SqlError::new(code::ACCESS_DENIED, text)
            }
            Self::Unusable { .. } => SqlError::new(code::NOT_SUPPORTED_AUTH_MODE, self.to_string()),
            Self::Auth(AuthError::Protocol(_)) => SqlError::new(code::HANDSHAKE, "Bad handshake"),
            Self::Auth(error) => SqlError::new(code::NOT_SUPPORTED_AUTH_MODE, error.to_string()),
            // The backend's own word, unchanged: unknown schema, too many connections, …
            Self::Backend(ConnectError::Refused { error, .. }) => error.clone(),
            Self::Backend(ConnectError::Full { .. }) => {
                SqlError::new(code::CON_COUNT, "Too many connections")
            }
            Self::Backend(_) | Self::NotYet(_) | Self::NoAccounts { .. } => {
                // Not a code of the clients' own (2000 and up): libraries take such a packet for malformed.
                SqlError { code: CONNECT_FAILED, state: *b"08S01", message: self.to_string() }
            }
            Self::TooManyConnections(_) => SqlError::new(code::CON_COUNT, "Too many connections"),
            // As a server's own variable max_user_connections, and as an account's own bound there.
            Self::TooManyOfUser { user, .. } => SqlError {
                code: 1203,
                state: *b"42000",
                message: format!(
                    "User {user} already has more than 'max_user_connections' active connections"
                ),
            },
            Self::TooManyOfListed { user, limit } => SqlError {
                code: 1226,
                state: *b"42000",
                message: format!(
                    "User '{user}' has exceeded the 'max_user_connections' resource (current value: {limit})"
                ),
            },
            Self::TlsRequired => SqlError::new(
                code::SECURE_TRANSPORT_REQUIRED,
                "Connections using insecure transport are prohibited while tls.mode is required",
            ),
            Self::ShuttingDown => SqlError::new(code::SERVER_SHUTDOWN, "Server shutdown in progress"),
        };
        Some(error)
    }

    /// Writes it down, as loud as it deserves: a client that only looked at the port is no event.
    pub(crate) fn log(&self, session: SessionId) {
        match self {
            Self::Exchange(_) | Self::ShuttingDown => tracing::debug!(session, error = %self, "login failed"),
            // An account's own matter: locked, expired, an unknown schema.
            Self::Backend(ConnectError::Refused { .. }) => {
                tracing::info!(session, error = %self, "login failed")
            }
            Self::Backend(_) | Self::NotYet(_) | Self::NoAccounts { .. } | Self::TooManyConnections(_) => {
                tracing::warn!(session, error = %self, "login failed");
            }
            _ => tracing::info!(session, error = %self, "login failed"),
        }
    }
}
