//! One client's session: waits for a command, has it answered, and waits again.

mod attach;
mod change;
mod command;
mod infile;
mod kill;
mod local;
mod patch;
mod placing;
mod prepared;
mod relay;
mod release;
mod server;
mod settings;
mod statements;
mod streamed;
mod translate;
mod view;
mod watchdog;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use backend::buffer::{Buffer, LARGE, SMALL};
use backend::exchange::ExchangeError;
use backend::pool::{Guest, Lease};
use backend::stream::Stream;
use tokio::time::Instant;
use wire::packet::{self, HEADER, Header};
use wire::{ProtocolError, SqlError, Status, code};

use patch::Patch;
use prepared::Coming;
use server::Server;
pub(crate) use server::Sharing;
use sql::Traces;
use statements::Statements;
use translate::Translation;
use view::View;
use watchdog::Watchdog;

use crate::login::Identity;
use crate::shared::{Member, Shared};
use crate::stats::Aim;

/// A command longer than this, in bytes, is streamed on without being looked at.
const LOOKED_AT: usize = 1 << 20;

/// A server that is up answers within this time.
const ANSWERS: Duration = Duration::from_secs(1);

/// Why a session ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    /// COM_QUIT, or the client closed its connection between commands.
    #[error("the client left")]
    Quit,
    /// The client's connection broke.
    #[error("the client's connection broke: {0}")]
    ClientLost(#[source] io::Error),
    /// The client broke the protocol.
    #[error("the client broke the protocol: {0}")]
    ClientProtocol(#[source] ProtocolError),
    /// The backend's connection broke, or the backend closed it.
    #[error("the backend's connection broke: {0}")]
    BackendLost(#[source] io::Error),
    /// The backend broke the protocol.
    #[error("the backend broke the protocol: {0}")]
    BackendProtocol(#[source] ProtocolError),
    /// Nothing came from the client for too long.
    #[error("idle for too long")]
    Idle,
    /// The backend did not answer in time.
    #[error("the backend did not answer within {0:?}")]
    ReadTimeout(Duration),
    /// The proxy is about to end.
    #[error("the proxy is shutting down")]
    Drained,
    /// Another session killed it while it held no connection.
    #[error("killed by another session")]
    Killed,
}

impl From<ExchangeError> for End {
    /// An exchange of the proxy's own with the backend failed.
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Protocol(error) => Self::BackendProtocol(error),
            ExchangeError::Io(error) => Self::BackendLost(error),
            other => Self::BackendLost(io::Error::other(other.to_string())),
        }
    }
}

impl End {
    /// A client could not be read from: its connection broke, or what it sent under compression is not the protocol.
    pub(super) fn of_client(error: io::Error) -> Self {
        match error.get_ref().and_then(|error| error.downcast_ref::<ProtocolError>()) {
            Some(error) => Self::ClientProtocol(*error),
            None => Self::ClientLost(error),
        }
    }

    /// The error that the client is told, if it is still there to hear it.
    fn farewell(&self, backend: &str) -> Option<SqlError> {
        let (code, text) = match self {
            Self::Quit | Self::ClientLost(_) | Self::Killed => return None,
            Self::ClientProtocol(error) => (code::MALFORMED_PACKET, format!("malformed packet: {error}")),
            Self::BackendLost(_) => {
                (code::SERVER_SHUTDOWN, format!("backend {backend} closed the connection; connect again"))
            }
            Self::BackendProtocol(error) => (
                code::SERVER_SHUTDOWN,
                format!("backend {backend} sent what is not understood ({error}); connect again"),
            ),
            Self::Idle => (
                code::CLIENT_INTERACTION_TIMEOUT,
                "The client was disconnected by the server because of inactivity.".to_owned(),
            ),
            Self::ReadTimeout(limit) => (
                code::SERVER_SHUTDOWN,
                format!("backend {backend} did not answer within {limit:?} (timeouts.read); connect again"),
            ),
            Self::Drained => (code::SERVER_SHUTDOWN, "Server shutdown in progress".to_owned()),
        };
        Some(SqlError::new(code, text))
    }
}

/// The client's side of a session.
#[derive(Debug)]
pub(crate) struct Client {
    /// The byte stream.
    pub(crate) stream: Stream,
    /// Bytes that were read and not yet used.
    pub(crate) input: Buffer,
    /// Who it is, and how it speaks.
    pub(crate) identity: Identity,
}

/// A session past its login.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) member: Member,
    pub(super) client: Client,
    server: Server,
    /// Counts it among the backend's sessions.
    guest: Guest,
    translation: Translation,
    view: View,
    statements: Statements,
    /// What the running PREPARE makes.
    coming: Option<Coming>,
    /// The statement that the running EXECUTE or FETCH names.
    executing: Option<u32>,
    /// Rebuilt packets, and what stands before them, until they are sent.
    out: Vec<u8>,
    /// One rebuilt packet.
    scratch: Vec<u8>,
    watchdog: Watchdog,
    /// Status flags of the last OK or EOF.
    status: Status,
    /// When the running statement is interrupted.
    statement_ends: Option<Instant>,
    /// How much is read from the backend at a time.
    chunk: usize,
    /// What the running command may leave behind.
    traces: Traces,
    /// What is put in place of what the connection would answer.
    patch: Option<Patch>,
    /// The number of warnings to tell the client where the connection's own are another session's.
    told: Option<u16>,
    /// Another session's connection, while a KILL is on its way there.
    aim: Option<(Aim, bool)>,
    /// What the server tracks for the client where the proxy asks for more; `None` once the tracking is the client's alone.
    tracking: Option<settings::Tracking>,
    /// Whose connections a `KILL USER` ends that is on its way.
    kills: Option<kill::Whom>,
    /// How often the client tried in vain to become somebody else.
    vain_changes: u8,
    /// The sequence id of the next packet to the client: 0 between commands, `None` inside a packet.
    next_seq: Option<u8>,
}

/// What a new session starts with.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) shared: Arc<Shared>,
    pub(crate) member: Member,
    pub(crate) client: Client,
    pub(crate) server: Lease,
    /// How the session shares connections; `None` where it keeps its own.
    pub(crate) sharing: Option<Sharing>,
    /// Status flags at the end of the login.
    pub(crate) status: Status,
    pub(crate) settings: backend::connection::Settings,
}

impl Session {
    pub(crate) fn new(start: Start) -> Self {
        let Start { shared, member, client, server, sharing, status, settings } = start;
        let server = Server::new(server, sharing);
        let mut session = Self {
            translation: Translation::new(client.identity.capabilities, server.capabilities, &settings),
            view: View::new(settings.flavor(&server.info), &client.identity.user, settings.schema.clone()),
            guest: shared.home().pool.enter(),
            shared,
            member,
            client,
            server,
            statements: Statements::default(),
            coming: None,
            executing: None,
            out: Vec::new(),
            scratch: Vec::new(),
            watchdog: Watchdog::new(),
            status,
            statement_ends: None,
            chunk: SMALL,
            traces: Traces::default(),
            patch: None,
            told: None,
            aim: None,
            tracking: Some((&settings).into()),
            kills: None,
            vain_changes: 0,
            next_seq: Some(0),
        };
        session.view.set(&settings.sql_mode, &settings.charset_client, settings.schema);
        session
    }

    /// Serves the client until either side ends it; [`finish`](Self::finish) is to follow.
    pub(crate) async fn run(&mut self) -> End {
        let mut turn = self.release().await;
        let end = loop {
            match turn {
                Ok(()) => turn = self.turn().await,
                Err(end) => break end,
            }
        };
        match &end {
            End::Quit | End::Drained | End::Idle | End::Killed => {
                tracing::debug!(session = self.member.id(), %end, "session ended")
            }
            End::ClientLost(_) | End::ClientProtocol(_) => {
                tracing::info!(session = self.member.id(), user = self.client.identity.user, %end, "session ended");
            }
            _ => tracing::warn!(
                session = self.member.id(),
                user = self.client.identity.user,
                backend = self.shared.home().name(),
                %end,
                "session ended"
            ),
        }
        end
    }

    /// Tells the client why, and closes both connections.
    pub(crate) async fn finish(mut self, end: End) {
        if let Some(error) = self.farewell(&end).await {
            // In the middle of a packet there is no way to say anything: the client sees the connection close.
            if let Some(seq) = self.next_seq {
                let _ = self.send_error(seq, &error).await;
            }
        }
        match end {
            // Dropped, not told: a statement may still run on it.
            End::ClientLost(_) | End::BackendLost(_) | End::BackendProtocol(_) | End::ReadTimeout(_) => {
                drop(self.server.link)
            }
            _ => {
                if let Some(lease) = self.server.link {
                    lease.give_back().await;
                }
            }
        }
        drop(self.guest);
        self.shared.home().pool.trim(self.member.id());
        self.client.stream.close().await;
    }

    /// The last word to the client. A server that is up and closed this one connection has ended the session: it was killed,
    /// or idle for too long. On a connection of its own the client would see it closed without a word.
    async fn farewell(&self, end: &End) -> Option<SqlError> {
        match end {
            End::BackendLost(_) if self.is_server_up().await => None,
            end => end.farewell(self.shared.home().name()),
        }
    }

    async fn is_server_up(&self) -> bool {
        let home = self.shared.home();
        match tokio::time::timeout(ANSWERS, home.control.connect()).await {
            Ok(Ok(control)) => {
                control.close().await;
                true
            }
            _ => false,
        }
    }

    /// One command and its answer.
    async fn turn(&mut self) -> Result<(), End> {
        let header = loop {
            match Header::parse(self.client.input.filled()) {
                Some(header) if header.len > LOOKED_AT || self.client.input.len() >= HEADER + header.len => {
                    break header;
                }
                Some(header) => self.read_client(HEADER + header.len).await?,
                None => self.wait_for_command().await?,
            }
        };
        self.next_seq = Some(header.seq.wrapping_add(1));
        self.statement_ends = self.shared.live().timeouts.statement.map(|limit| Instant::now() + limit);
        if header.len > LOOKED_AT {
            self.streamed_command(header).await?;
        } else {
            self.command(header).await?;
        }
        self.next_seq = Some(0);
        self.client.stream.answered();
        // Who has sent the next command already goes on with the same connection.
        if !self.command_is_there() {
            self.release().await?;
        }
        self.member.idle();
        if self.shared.is_draining() && !self.status.contains(Status::IN_TRANS) {
            return Err(End::Drained);
        }
        Ok(())
    }

    /// Whether the client's next command is in hand, or its beginning if it is streamed.
    fn command_is_there(&self) -> bool {
        Header::parse(self.client.input.filled())
            .is_some_and(|header| header.len > LOOKED_AT || self.client.input.len() >= HEADER + header.len)
    }

    /// Waits between commands: for the client, for the backend's closing, for the end of the proxy. Holds no buffer.
    async fn wait_for_command(&mut self) -> Result<(), End> {
        if self.client.input.is_empty() {
            self.client.input.release();
            if let Some(lease) = &mut self.server.link {
                lease.input.release();
            }
            self.chunk = SMALL;
            backend::buffer::give_back(&mut self.out);
            backend::buffer::give_back(&mut self.scratch);
        }
        let deadline = self.shared.live().timeouts.idle.map(|idle| Instant::now() + idle);
        tokio::select! {
            biased;
            ready = self.client.stream.readable() => ready.map_err(End::ClientLost)?,
            () = heard(self.server.link.as_ref()) => return self.unsolicited().await,
            () = self.member.woken() => {
                if self.member.is_killed() {
                    return Err(End::Killed);
                }
                return if self.shared.is_draining() && !self.status.contains(Status::IN_TRANS) { Err(End::Drained) } else { Ok(()) };
            }
            () = self.watchdog.until(deadline) => return Err(End::Idle),
        }
        // A part of a header may be there already.
        self.read_client(self.client.input.len() + 1).await
    }

    /// The backend says something that nobody asked for: that it closes the connection, usually.
    async fn unsolicited(&mut self) -> Result<(), End> {
        let connection = self.server.link()?;
        let lost = match connection.stream.read(&mut connection.input, SMALL).await {
            Ok(0) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::other("an answer that nobody asked for"),
            Err(error) => error,
        };
        Err(End::BackendLost(lost))
    }

    /// Reads from the client until its buffer holds `need` bytes.
    async fn read_client(&mut self, need: usize) -> Result<(), End> {
        while self.client.input.len() < need {
            match self.client.stream.read(&mut self.client.input, need).await {
                Ok(0) if self.client.input.is_empty() => return Err(End::Quit),
                Ok(0) => return Err(End::ClientLost(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(End::of_client(error)),
            }
        }
        Ok(())
    }

    /// Reads from the backend at least once, and meanwhile notices a client that leaves. What a client sends ahead of
    /// its answer is kept for later, up to a bound.
    async fn read_server(&mut self, want: usize) -> Result<usize, End> {
        let now = Instant::now();
        let read = self.shared.live().timeouts.read;
        let silent = read.map(|limit| now + limit);
        loop {
            let listens = self.client.input.len() < LARGE;
            let deadline = [silent, self.statement_ends].into_iter().flatten().min();
            let thread = self.server.thread_id();
            let connection = match &mut self.server.link {
                Some(lease) => &mut **lease,
                None => return Err(End::BackendLost(io::ErrorKind::NotConnected.into())),
            };
            tokio::select! {
                biased;
                read = connection.stream.read(&mut connection.input, want) => return match read {
                    Ok(0) => Err(End::BackendLost(io::ErrorKind::UnexpectedEof.into())),
                    Ok(n) => Ok(n),
                    Err(error) => Err(End::BackendLost(error)),
                },
                read = self.client.stream.read_ahead(&mut self.client.input, SMALL), if listens => match read {
                    Ok(0) => return Err(End::ClientLost(io::ErrorKind::UnexpectedEof.into())),
                    Ok(_) => {}
                    Err(error) => return Err(End::ClientLost(error)),
                },
                () = self.watchdog.until(deadline) => {
                    if silent.is_some_and(|silent| Instant::now() >= silent) {
                        return Err(End::ReadTimeout(read.unwrap_or_default()));
                    }
                    // The server answers the statement with 1317, and the session goes on.
                    self.statement_ends = None;
                    kill::interrupt(self.shared.clone(), self.member.aim(), thread);
                }
            }
        }
    }

    /// Sends bytes to the backend.
    async fn send_server(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.server.link()?.stream.write_all(bytes).await.map_err(End::BackendLost)
    }

    /// Sends an ERR packet to the client.
    async fn send_error(&mut self, mut seq: u8, error: &SqlError) -> Result<(), End> {
        let mut bytes = Vec::new();
        packet::build(&mut bytes, &mut seq, |out| error.write(self.client.identity.capabilities, out));
        self.client.stream.write_all(&bytes).await.map_err(End::ClientLost)
    }
}

/// Ends when the backend says something on a connection between statements; never without a connection.
async fn heard(link: Option<&Lease>) {
    match link {
        Some(lease) => drop(lease.stream.readable().await),
        None => std::future::pending().await,
    }
}
