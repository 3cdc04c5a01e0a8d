//! Where sessions get their backend connections from, and where they bring them back.

use std::sync::Arc;

use crate::connect::{ConnectError, Login, Opened, Target, connect};
use crate::connection::Connection;

/// The connections to one backend.
///
/// In this version each session has one for its whole life: `checkout` opens it, `give_back` closes it. Sessions already
/// hold a [`Lease`] and nothing else, so that sharing changes this file and not them.
#[derive(Debug)]
pub struct Pool {
    target: Arc<Target>,
    /// Counts the leases: one reference each, besides this one.
    open: Arc<()>,
}

/// A session's right to a connection. Ends by [`give_back`](Lease::give_back) when the connection is in order, or by a drop,
/// which closes it: a connection with an unread answer can thus never come back.
#[derive(Debug)]
pub struct Lease {
    connection: Connection,
    _open: Arc<()>,
}

impl Pool {
    /// A pool of connections to one server.
    #[must_use]
    pub fn new(target: Arc<Target>) -> Self {
        Self { target, open: Arc::new(()) }
    }

    /// Connections that are lent now.
    #[must_use]
    pub fn open(&self) -> u64 {
        (Arc::strong_count(&self.open) - 1) as u64
    }

    /// The server that the connections lead to.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A connection that is logged in as `login` says.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn checkout(&self, login: &Login<'_>) -> Result<(Lease, Opened), ConnectError> {
        let (connection, opened) = connect(&self.target, login).await?;
        Ok((Lease { connection, _open: self.open.clone() }, opened))
    }
}

impl Lease {
    /// Brings the connection back: no statement runs on it and no byte of an answer is unread.
    pub async fn give_back(self) {
        self.connection.quit().await;
    }
}

impl std::ops::Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl std::ops::DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
