//! Control connections: what the proxy asks a server on its own account, never on a client's path.
//!
//! They go through `mysql_async`; the relay has its own framing because it must not decode what it passes on.

mod error;
mod facts;
mod open;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mysql_async::prelude::{FromRow, Queryable};
use mysql_async::{Conn, Row};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::address::Address;
use crate::tls::TlsMode;

pub use error::ControlError;
pub use facts::ServerFacts;

/// Where a server is, and how the proxy's own account logs in to it.
#[derive(Clone)]
pub struct Target {
    /// The server's address.
    pub address: Address,
    /// The proxy's own account.
    pub user: String,
    /// Its password; may be empty.
    pub password: Zeroizing<String>,
    /// How TLS is used; never on a Unix socket.
    pub tls: TlsMode,
    /// PEM file of the authorities that `verify_ca` and `verify_identity` trust.
    pub ca: Option<PathBuf>,
    /// How long connecting, TLS and the login may take together.
    pub connect_timeout: Duration,
    /// How long one statement may take.
    pub read_timeout: Duration,
}

/// Connecting takes at most this long, unless told otherwise.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A statement takes at most this long, unless told otherwise.
pub const READ_TIMEOUT: Duration = Duration::from_secs(10);

impl Target {
    /// A server with the usual timeouts and `TlsMode::Preferred`.
    #[must_use]
    pub fn new(address: Address, user: impl Into<String>, password: Zeroizing<String>) -> Self {
        Self {
            address,
            user: user.into(),
            password,
            tls: TlsMode::Preferred,
            ca: None,
            connect_timeout: CONNECT_TIMEOUT,
            read_timeout: READ_TIMEOUT,
        }
    }

    /// Connects and logs in. The session has an empty `sql_mode`, autocommit and utf8mb4, whatever the server's
    /// defaults are.
    ///
    /// # Errors
    /// What stands in the way, and what to do about it.
    pub async fn connect(&self) -> Result<Control, ControlError> {
        let conn = open::open(self).await?;
        Ok(Control { conn: Some(conn), address: self.address.clone(), limit: self.read_timeout })
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

/// One control connection. After a timeout or a broken stream it answers [`ControlError::Lost`] only.
#[derive(Debug)]
pub struct Control {
    conn: Option<Conn>,
    address: Address,
    limit: Duration,
}

impl Control {
    /// The server's number of this connection; 0 once it is lost.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.conn.as_ref().map_or(0, Conn::id)
    }

    /// Whether the connection can still be used.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.conn.is_some()
    }

    /// COM_PING.
    ///
    /// # Errors
    /// The server is gone or silent.
    pub async fn ping(&mut self) -> Result<(), ControlError> {
        self.run(self.limit, async |conn| conn.ping().await).await
    }

    /// Runs a statement, or several, and drops what they return.
    ///
    /// # Errors
    /// The server's error, or the connection's loss.
    pub async fn execute(&mut self, sql: &str) -> Result<(), ControlError> {
        self.execute_within(self.limit, sql).await
    }

    /// The same with its own time limit, for statements that are known to be long.
    ///
    /// # Errors
    /// The server's error, or the connection's loss.
    pub async fn execute_within(&mut self, limit: Duration, sql: &str) -> Result<(), ControlError> {
        self.run(limit, async |conn| conn.query_drop(sql).await).await
    }

    /// All rows of a statement, as tuples or [`Row`]s.
    ///
    /// # Errors
    /// The server's error, the connection's loss, or a value of another type than asked for.
    pub async fn query<T: FromRow + Send + 'static>(&mut self, sql: &str) -> Result<Vec<T>, ControlError> {
        let mut rows = Vec::new();
        let mut odd = false;
        self.each(self.limit, sql, |row| match T::from_row_opt(row) {
            Ok(value) => rows.push(value),
            Err(_) => odd = true,
        })
        .await?;
        if odd { Err(ControlError::Unexpected { address: self.address.clone() }) } else { Ok(rows) }
    }

    /// The first row of a statement, if there is one.
    ///
    /// # Errors
    /// As for [`Control::query`].
    pub async fn first<T: FromRow + Send + 'static>(&mut self, sql: &str) -> Result<Option<T>, ControlError> {
        Ok(self.query(sql).await?.into_iter().next())
    }

    /// Hands over the rows of a statement one by one, as they come; nothing is collected.
    ///
    /// # Errors
    /// The server's error, or the connection's loss.
    pub async fn each(
        &mut self,
        limit: Duration,
        sql: &str,
        mut take: impl FnMut(Row),
    ) -> Result<(), ControlError> {
        self.run(limit, async |conn| {
            let mut result = conn.query_iter(sql).await?;
            while let Some(row) = result.next().await? {
                take(row);
            }
            result.drop_result().await
        })
        .await
    }

    /// Ends the connection in order.
    pub async fn close(mut self) {
        if let Some(conn) = self.conn.take() {
            let _ = timeout(self.limit, conn.disconnect()).await;
        }
    }

    async fn run<T>(
        &mut self,
        limit: Duration,
        what: impl AsyncFnOnce(&mut Conn) -> mysql_async::Result<T>,
    ) -> Result<T, ControlError> {
        let Some(mut conn) = self.conn.take() else {
            return Err(ControlError::Lost {
                address: self.address.clone(),
                reason: "closed earlier".into(),
            });
        };
        // The connection goes back only after a complete reply: what is cut off by the limit or by a dropped
        // future closes it.
        match timeout(limit, what(&mut conn)).await {
            Err(_) => Err(ControlError::Silent { address: self.address.clone(), after: limit }),
            Ok(Ok(value)) => {
                self.conn = Some(conn);
                Ok(value)
            }
            Ok(Err(error)) => {
                let error = ControlError::from_statement(&self.address, error);
                if !error.is_fatal() {
                    self.conn = Some(conn);
                }
                Err(error)
            }
        }
    }
}

/// Quotes a name for use in a statement.
#[must_use]
pub fn quote_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Quotes a string for use in a statement of a control connection (whose `sql_mode` is empty).
#[must_use]
pub fn quote_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\0' => out.push_str("\\0"),
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests;
