//! A logged-in connection to a server.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use wire::Capabilities;

use crate::buffer::Buffer;
use crate::statements::Placed;
use crate::stream::{Detached, Socket, Stream};

/// What a server says of itself in its greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// The version text, as greeted (`5.5.5-10.11.6-MariaDB-1`, `9.7.4`).
    pub version: String,
    /// Everything that it offers.
    pub capabilities: Capabilities,
    /// Its default collation's id (low byte).
    pub charset: u8,
    /// The authentication plugin that it proposes.
    pub auth_plugin: String,
}

/// What the session on the other side starts with, as the server answered after the login.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `@@sql_mode`.
    pub sql_mode: String,
    /// `@@character_set_client`.
    pub charset_client: String,
    /// `CURRENT_USER()`: the account that the server chose, `user@host`.
    pub account: String,
    /// `DATABASE()`.
    pub schema: Option<String>,
    /// The variables whose changes the server reports by default, so that clients hear of them anyway.
    pub tracked: String,
    /// The same of `session_track_state_change`.
    pub tracks_state: bool,
    /// The server has no `init_connect`, so that a session after COM_RESET_CONNECTION is like a new one.
    pub plain_start: bool,
}

/// A connection to a server, past its login. Whoever holds it owns its session state.
#[derive(Debug)]
pub struct Connection {
    /// The byte stream.
    pub stream: Stream,
    /// Bytes that were read and not yet used.
    pub input: Buffer,
    /// What client and server agreed on.
    pub capabilities: Capabilities,
    /// The server's number for this connection.
    pub thread_id: u32,
    /// The server.
    pub server: Arc<ServerInfo>,
    /// Statements that sessions which share connections have prepared on it.
    pub statements: Box<Placed>,
}

/// A connection between two cores: registered with no runtime, with no unread byte.
#[derive(Debug)]
pub struct HandOver {
    socket: Detached,
    capabilities: Capabilities,
    thread_id: u32,
    server: Arc<ServerInfo>,
    statements: Box<Placed>,
}

impl Connection {
    /// Takes the connection off this core. Under TLS, or with bytes still unread, it stays where it is.
    ///
    /// # Errors
    /// `Err(Ok(self))` when it cannot move, `Err(Err(_))` when the socket failed and the connection is lost.
    pub fn hand_over(self) -> Result<HandOver, io::Result<Self>> {
        match self {
            Self { stream: Stream::Plain(socket), input, capabilities, thread_id, server, statements }
                if input.is_empty() =>
            {
                let socket = socket.detach().map_err(Err)?;
                Ok(HandOver { socket, capabilities, thread_id, server, statements })
            }
            stays => Err(Ok(stays)),
        }
    }

    /// Whether it could move to another core.
    #[must_use]
    pub fn can_move(&self) -> bool {
        matches!(self.stream, Stream::Plain(_)) && self.input.is_empty()
    }

    /// Whether the server has said nothing since its last answer, as far as the runtime has heard: a server that closes a
    /// connection is heard of. Costs no system call.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        self.input.is_empty() && pin!(self.stream.readable()).poll(&mut context).is_pending()
    }

    /// Says farewell and closes.
    pub async fn quit(mut self) {
        // COM_QUIT, sequence 0.
        let _ = self.stream.write_all(&[1, 0, 0, 0, 1]).await;
        self.stream.close().await;
    }
}

impl HandOver {
    /// Puts the connection on the current core.
    ///
    /// # Errors
    /// The runtime's refusal; the connection is lost.
    pub fn take(self) -> io::Result<Connection> {
        let socket: Socket = self.socket.attach()?;
        Ok(Connection {
            stream: Stream::Plain(socket),
            input: Buffer::new(),
            capabilities: self.capabilities,
            thread_id: self.thread_id,
            server: self.server,
            statements: self.statements,
        })
    }
}
