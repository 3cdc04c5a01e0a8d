//! A client at the level of packets: capabilities at will, replies as they come, and the misbehaviour that tests need.

mod change;
mod exact;
mod frames;
mod reply;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use router::compare::{Answer, Column, Done, Failure, Outcome, ResultSet, Value};
use wire::auth::{Client as Auth, ClientChannel, ClientStep, Password, Secret, ServerKey};
use wire::reply::{EOF, ERR, OK};
use wire::value::TextRow;
use wire::{
    Capabilities, ColumnDef, Command, EofPacket, ErrPacket, Greeting, HandshakeResponse, OkPacket, Query,
    Status, packet,
};

use crate::client::Server;
use frames::Frames;

pub use exact::{ExactReply, Packet};
pub use reply::Reply;

/// utf8mb4_general_ci, which every server has.
pub const UTF8MB4: u16 = 45;

/// The largest payload that is read.
const MOST: usize = 256 << 20;

/// What every client of today asks for.
pub fn modern() -> Capabilities {
    classic() | Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK
}

/// What a client of 2010 asks for: EOF packets, no session tracking.
pub fn classic() -> Capabilities {
    Capabilities::LONG_PASSWORD
        | Capabilities::LONG_FLAG
        | Capabilities::PROTOCOL_41
        | Capabilities::TRANSACTIONS
        | Capabilities::SECURE_CONNECTION
        | Capabilities::MULTI_STATEMENTS
        | Capabilities::MULTI_RESULTS
        | Capabilities::PS_MULTI_RESULTS
        | Capabilities::LOCAL_FILES
        | Capabilities::PLUGIN_AUTH
}

/// Whether something on 127.0.0.1:`port` greets like a server.
pub fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let mut head = [0; 5];
    stream.read_exact(&mut head).is_ok() && head[4] == 10
}

/// A connection that is logged in.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    capabilities: Capabilities,
    buffer: Vec<u8>,
    seq: u8,
    /// With `COMPRESS`, once it is logged in.
    frames: Option<Box<Frames>>,
    /// The server's first packet.
    pub greeting: Greeting,
    /// What LOAD DATA LOCAL INFILE is answered with, whatever file the server names.
    pub infile: Vec<u8>,
    /// The file that the server named last.
    pub asked_for: Vec<u8>,
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Those of the network; `PermissionDenied` with the server's message when it refuses.
    pub fn login(server: &Server, schema: Option<&str>, wanted: Capabilities) -> io::Result<Client> {
        Client::enter(server, schema, wanted, UTF8MB4, ServerKey::Ask, &mut |_| {})
    }

    /// As [`Client::login`], with a collation's id.
    ///
    /// # Errors
    /// As there.
    pub fn login_in(
        server: &Server,
        schema: Option<&str>,
        wanted: Capabilities,
        charset: u16,
    ) -> io::Result<Client> {
        Client::enter(server, schema, wanted, charset, ServerKey::Ask, &mut |_| {})
    }

    /// As [`Client::login`], with what is known of the server's public key.
    ///
    /// # Errors
    /// As there.
    pub fn login_with(
        server: &Server,
        schema: Option<&str>,
        wanted: Capabilities,
        key: ServerKey,
    ) -> io::Result<Client> {
        Client::enter(server, schema, wanted, UTF8MB4, key, &mut |_| {})
    }

    /// The same; `seen` is given each packet of the server after its greeting.
    ///
    /// # Errors
    /// As there.
    pub fn login_seen(
        server: &Server,
        schema: Option<&str>,
        wanted: Capabilities,
        key: ServerKey,
        seen: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Client> {
        Client::enter(server, schema, wanted, UTF8MB4, key, seen)
    }

    fn enter(
        server: &Server,
        schema: Option<&str>,
        wanted: Capabilities,
        charset: u16,
        key: ServerKey,
        seen: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", server.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut client = Client {
            stream,
            capabilities: wanted,
            buffer: Vec::new(),
            seq: 0,
            frames: None,
            greeting: Greeting {
                server_version: String::new(),
                thread_id: 0,
                scramble: [0; wire::SCRAMBLE],
                capabilities: Capabilities::empty(),
                charset: 0,
                status: Status::empty(),
                auth_plugin: String::new(),
            },
            infile: Vec::new(),
            asked_for: Vec::new(),
        };
        let first = client.packet()?;
        if first.first() == Some(&ERR) {
            return Err(refused(&first));
        }
        client.greeting = Greeting::parse(&first).map_err(io::Error::other)?;
        let secret = Secret::Password(Password::new(server.account.password.as_bytes()));
        let channel = ClientChannel::Plain(key);
        let start = Auth::start(&client.greeting.auth_plugin, &client.greeting.scramble, secret, channel)
            .map_err(io::Error::other)?;
        client.capabilities =
            (wanted & client.greeting.capabilities) | (wanted & Capabilities::LONG_PASSWORD);
        if schema.is_some() {
            client.capabilities |= Capabilities::CONNECT_WITH_DB;
        }
        let mut payload = Vec::new();
        let response = HandshakeResponse {
            capabilities: client.capabilities,
            max_packet: 1 << 30,
            charset,
            user: server.account.user.as_bytes(),
            auth_response: &start.response,
            schema: schema.map(str::as_bytes),
            plugin: Some(start.plugin.as_bytes()),
            raw_attributes: None,
            zstd_level: None,
        };
        response.write(&mut payload).map_err(io::Error::other)?;
        client.write(&payload)?;
        let mut auth = start.client;
        loop {
            let payload = client.packet()?;
            seen(&payload);
            match auth.step(&payload).map_err(io::Error::other)? {
                ClientStep::Send(reply, next) => {
                    client.write(&reply)?;
                    auth = next;
                }
                ClientStep::Wait(next) => auth = next,
                ClientStep::Done => {
                    if client.capabilities.contains(Capabilities::COMPRESS) {
                        client.frames = Some(Box::default());
                    }
                    return Ok(client);
                }
                ClientStep::Refused(error) => {
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, error.message));
                }
            }
        }
    }

    /// The connection's id, as the greeting gave it.
    pub fn thread_id(&self) -> u32 {
        self.greeting.thread_id
    }

    /// What both sides speak.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The next packet is the first one of an answer, to a command that was sent before others.
    pub fn next_answer(&mut self) {
        if let Some(frames) = &mut self.frames {
            frames.expect_answer();
        }
    }

    /// The socket, for whoever wants to misbehave.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends a command without waiting for its reply.
    pub fn send(&mut self, command: &Command<'_>) -> io::Result<()> {
        let mut payload = Vec::new();
        command.write(self.capabilities, &mut payload);
        self.send_raw(&payload)
    }

    /// Sends any payload as a command.
    pub fn send_raw(&mut self, payload: &[u8]) -> io::Result<()> {
        self.restart();
        self.write(payload)
    }

    /// The next packet, from either side, has the sequence id 0.
    pub fn restart(&mut self) {
        self.seq = 0;
        if let Some(frames) = &mut self.frames {
            frames.restart();
        }
    }

    /// Sends any payload as the next packet of the conversation.
    pub fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut out = Vec::with_capacity(payload.len() + 16);
        packet::write(&mut out, &mut self.seq, payload);
        if let Some(frames) = &mut self.frames {
            out = frames.wrap(&out);
        }
        self.stream.write_all(&out)
    }

    /// The next logical packet's payload.
    pub fn packet(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if (self.buffer.len() >= packet::needed(&self.buffer)
                || packet::Header::parse(&self.buffer)
                    .is_some_and(|h| self.buffer.len() >= h.len + packet::HEADER))
                && let Some((payload, used)) = packet::read(&self.buffer, MOST).map_err(io::Error::other)?
            {
                self.seq = payload.next_seq();
                let data = payload.into_data().into_owned();
                self.buffer.drain(..used);
                return Ok(data);
            }
            self.fill()?;
        }
    }

    /// Reads what there is.
    fn fill(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; 1 << 16];
        let read = self.stream.read(&mut chunk)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let read = chunk.get(..read).unwrap_or_default();
        match &mut self.frames {
            Some(frames) => frames.unwrap(read, &mut self.buffer)?,
            None => self.buffer.extend_from_slice(read),
        }
        Ok(())
    }

    /// Runs a text query and reads all of its answer.
    pub fn query(&mut self, sql: &[u8]) -> io::Result<Answer> {
        self.run(&Command::Query(Query::new(sql)))
    }

    /// Sends a command and reads an answer of results.
    pub fn run(&mut self, command: &Command<'_>) -> io::Result<Answer> {
        self.send(command)?;
        self.answer()
    }

    /// Reads the answer to a query.
    pub fn answer(&mut self) -> io::Result<Answer> {
        let mut results = Vec::new();
        loop {
            let head = self.packet()?;
            let status = match head.first() {
                Some(&OK) => {
                    let ok = OkPacket::parse(&head, self.capabilities).map_err(io::Error::other)?;
                    results.push(Outcome::Done(done(&ok)));
                    ok.status
                }
                Some(&ERR) => {
                    results.push(Outcome::Failed(failure(&head)?));
                    Status::empty()
                }
                Some(&EOF) if head.len() < 9 => {
                    let eof = EofPacket::parse(&head).map_err(io::Error::other)?;
                    results.push(Outcome::Done(Done { status: Some(eof.status.bits()), ..Done::default() }));
                    eof.status
                }
                Some(&0xFB) => {
                    self.asked_for = head.get(1..).unwrap_or_default().to_vec();
                    let data = std::mem::take(&mut self.infile);
                    if !data.is_empty() {
                        self.write(&data)?;
                    }
                    self.write(&[])?;
                    self.infile = data;
                    continue;
                }
                _ => {
                    let mut set = ResultSet::default();
                    let status = self.rows(&head, &mut set)?;
                    let failed = status.is_err();
                    results.push(Outcome::Rows(set));
                    match status {
                        Ok(status) => status,
                        Err(error) => {
                            results.push(Outcome::Failed(error));
                            debug_assert!(failed);
                            Status::empty()
                        }
                    }
                }
            };
            if !status.contains(Status::MORE_RESULTS_EXISTS) {
                return Ok(Answer { results, warnings: Vec::new() });
            }
        }
    }

    fn rows(&mut self, head: &[u8], set: &mut ResultSet) -> io::Result<Result<Status, Failure>> {
        let count = wire::codec::Reader::new(head).lenenc().map_err(io::Error::other)?;
        for _ in 0..count {
            let payload = self.packet()?;
            set.columns
                .push(column(&ColumnDef::parse(&payload, self.capabilities).map_err(io::Error::other)?));
        }
        let deprecate_eof = self.capabilities.contains(Capabilities::DEPRECATE_EOF);
        if !deprecate_eof {
            EofPacket::parse(&self.packet()?).map_err(io::Error::other)?;
        }
        loop {
            let payload = self.packet()?;
            let end = payload.first() == Some(&EOF) && payload.len() < packet::MAX_PAYLOAD;
            if end && deprecate_eof {
                let ok = OkPacket::parse(&payload, self.capabilities).map_err(io::Error::other)?;
                (set.status, set.warnings) = (Some(shown(ok.status)), Some(ok.warnings));
                return Ok(Ok(ok.status));
            } else if end && payload.len() < 9 {
                let eof = EofPacket::parse(&payload).map_err(io::Error::other)?;
                (set.status, set.warnings) = (Some(shown(eof.status)), Some(eof.warnings));
                return Ok(Ok(eof.status));
            } else if payload.first() == Some(&ERR) {
                return Ok(Err(failure(&payload)?));
            }
            let row: Result<Vec<Value>, _> = TextRow::new(&payload)
                .map(|v| v.map(|v| v.map_or(Value::Null, |raw| Value::Bytes(raw.to_vec()))))
                .collect();
            set.rows.push(row.map_err(io::Error::other)?);
        }
    }
}

/// Status flags without the one that says that session-track records follow: they are the client's own wish.
fn shown(status: Status) -> u16 {
    (status - Status::SESSION_STATE_CHANGED).bits()
}

fn done(ok: &OkPacket<'_>) -> Done {
    Done {
        affected: ok.affected_rows,
        insert_id: ok.last_insert_id,
        info: String::from_utf8_lossy(ok.info).into_owned(),
        warnings: ok.warnings,
        status: Some(shown(ok.status)),
    }
}

fn failure(payload: &[u8]) -> io::Result<Failure> {
    let error = ErrPacket::parse(payload).map_err(io::Error::other)?.to_error();
    let state = String::from_utf8_lossy(&error.state).into_owned();
    Ok(Failure { code: error.code, state, message: error.message })
}

fn refused(payload: &[u8]) -> io::Error {
    match failure(payload) {
        Ok(error) => {
            io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {}", error.code, error.message))
        }
        Err(error) => error,
    }
}

fn column(def: &ColumnDef<'_>) -> Column {
    let text = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
    Column {
        name: text(def.name),
        org_name: text(def.org_name),
        table: text(def.table),
        org_table: text(def.org_table),
        schema: text(def.schema),
        kind: def.kind.0,
        length: def.length,
        flags: def.flags.bits(),
        decimals: def.decimals,
        charset: def.charset,
    }
}
