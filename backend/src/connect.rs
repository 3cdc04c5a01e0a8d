//! Logging in to a server as a session's user.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use sql::{CharsetClass, Flavor, Product, SqlMode, Version};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::{TlsConnector, TlsStream};
use wire::auth::{AuthError, Client, ClientChannel, ClientStep, Secret, ServerKey};
use wire::packet;
use wire::{
    Capabilities, ErrPacket, Greeting, HandshakeResponse, OkPacket, ProtocolError, SqlError, SslRequest, code,
};

use crate::address::Address;
use crate::buffer::Buffer;
use crate::connection::{Connection, ServerInfo, Settings};
use crate::exchange::{ExchangeError, first_row, read_packet, send_queries};
use crate::stream::{Socket, Stream, keep_alive};
use crate::tls::{ClientTls, TlsMode};

/// What every backend connection speaks, whatever the client speaks.
pub const BASE: Capabilities = Capabilities::LONG_FLAG
    .union(Capabilities::PROTOCOL_41)
    .union(Capabilities::TRANSACTIONS)
    .union(Capabilities::SECURE_CONNECTION)
    .union(Capabilities::PLUGIN_AUTH)
    .union(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(Capabilities::SESSION_TRACK)
    .union(Capabilities::DEPRECATE_EOF);

/// What changes the server's behaviour or its packets in a way that the client must see: spoken where the client speaks it.
pub const MIRRORED: Capabilities = Capabilities::LONG_PASSWORD
    .union(Capabilities::FOUND_ROWS)
    .union(Capabilities::NO_SCHEMA)
    .union(Capabilities::ODBC)
    .union(Capabilities::LOCAL_FILES)
    .union(Capabilities::IGNORE_SPACE)
    .union(Capabilities::INTERACTIVE)
    .union(Capabilities::MULTI_STATEMENTS)
    .union(Capabilities::MULTI_RESULTS)
    .union(Capabilities::PS_MULTI_RESULTS)
    .union(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS)
    .union(Capabilities::QUERY_ATTRIBUTES)
    .union(Capabilities::MARIADB_PROGRESS)
    .union(Capabilities::MARIADB_STMT_BULK_OPERATIONS)
    .union(Capabilities::MARIADB_EXTENDED_METADATA);

/// Of those, the ones that shape packets: a server that lacks one cannot serve a client that was offered it.
const SHAPING: Capabilities = Capabilities::QUERY_ATTRIBUTES.union(Capabilities::MARIADB_EXTENDED_METADATA);

/// A server, and how to reach it.
#[derive(Debug, Clone)]
pub struct Target {
    /// The backend's name in the configuration.
    pub name: Arc<str>,
    /// Where it listens.
    pub address: Address,
    /// TLS towards it.
    pub tls: ClientTls,
    /// How long connecting and logging in may take.
    pub timeout: Duration,
}

/// Who logs in, and as what kind of client.
#[derive(Debug)]
pub struct Login<'a> {
    /// The user's name.
    pub user: &'a [u8],
    /// What the proxy knows of the password.
    pub secret: Secret,
    /// The default schema.
    pub schema: Option<&'a [u8]>,
    /// The client's collation id.
    pub charset: u16,
    /// The client's capabilities; see [`MIRRORED`].
    pub capabilities: Capabilities,
    /// The largest packet that the client takes.
    pub max_packet: u32,
    /// The client's connection attributes, as it sent them.
    pub attributes: Option<&'a [u8]>,
}

/// What a server said at the end of a login.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Status flags of its OK packet.
    pub status: wire::Status,
    /// What its session starts with; empty where the server does not say because of [`Opened::expired`].
    pub settings: Settings,
    /// The password is expired: until it is changed, this is the server's answer to everything else.
    pub expired: Option<SqlError>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody answers there, or the connection broke.
    #[error("backend {name} ({address}) cannot be reached: {source}")]
    Unreachable {
        /// The backend.
        name: Arc<str>,
        /// Its address.
        address: Address,
        /// What happened.
        source: io::Error,
    },
    /// It took too long.
    #[error("backend {name} ({address}) did not answer within {limit:?} (timeouts.connect)")]
    Timeout {
        /// The backend.
        name: Arc<str>,
        /// Its address.
        address: Address,
        /// The limit.
        limit: Duration,
    },
    /// The server refused.
    #[error("backend {name} refused the login: {error}")]
    Refused {
        /// The backend.
        name: Arc<str>,
        /// Its error.
        error: SqlError,
    },
    /// There are as many connections as there may be.
    #[error("{most} connections to backend {name} are open (limits.per_backend)")]
    Full {
        /// The backend.
        name: Arc<str>,
        /// The limit.
        most: usize,
    },
    /// TLS cannot be agreed on.
    #[error("backend {name}: {reason}")]
    Tls {
        /// The backend.
        name: Arc<str>,
        /// Why.
        reason: String,
    },
    /// Its account cannot be logged in to this way.
    #[error("backend {name}: {error}")]
    Auth {
        /// The backend.
        name: Arc<str>,
        /// Why.
        error: AuthError,
    },
    /// It does not speak the protocol as expected.
    #[error("backend {name} ({address}) is not understood: {error}")]
    Protocol {
        /// The backend.
        name: Arc<str>,
        /// Its address.
        address: Address,
        /// Why.
        error: ProtocolError,
    },
}

/// Connects and logs in.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect(target: &Target, login: &Login<'_>) -> Result<(Connection, Opened), ConnectError> {
    match tokio::time::timeout(target.timeout, open(target, login)).await {
        Ok(opened) => opened,
        Err(_) => Err(ConnectError::Timeout {
            name: target.name.clone(),
            address: target.address.clone(),
            limit: target.timeout,
        }),
    }
}

impl Target {
    fn exchange(&self, error: ExchangeError) -> ConnectError {
        let (name, address) = (self.name.clone(), self.address.clone());
        match error {
            ExchangeError::Io(source) => ConnectError::Unreachable { name, address, source },
            ExchangeError::Protocol(error) => ConnectError::Protocol { name, address, error },
            ExchangeError::Server(error) => ConnectError::Refused { name, error },
            ExchangeError::Timeout(limit) => ConnectError::Timeout { name, address, limit },
        }
    }

    fn protocol(&self, error: ProtocolError) -> ConnectError {
        self.exchange(ExchangeError::Protocol(error))
    }

    fn io(&self, error: io::Error) -> ConnectError {
        self.exchange(ExchangeError::Io(error))
    }

    async fn socket(&self) -> io::Result<Socket> {
        Ok(match &self.address {
            Address::Unix(path) => Socket::Unix(UnixStream::connect(path).await?),
            Address::Tcp { host, port } => {
                let socket = TcpStream::connect((host.as_str(), *port)).await?;
                socket.set_nodelay(true)?;
                keep_alive(&socket)?;
                Socket::Tcp(socket)
            }
        })
    }
}

async fn open(target: &Target, login: &Login<'_>) -> Result<(Connection, Opened), ConnectError> {
    let mut stream = Stream::Plain(target.socket().await.map_err(|error| target.io(error))?);
    let mut input = Buffer::new();
    let (payload, mut seq) =
        read_packet(&mut stream, &mut input).await.map_err(|error| target.exchange(error))?;
    if payload.first() == Some(&wire::reply::ERR) {
        let error = ErrPacket::parse(&payload).map_err(|error| target.protocol(error))?.to_error();
        return Err(ConnectError::Refused { name: target.name.clone(), error });
    }
    let greeting = Greeting::parse(&payload).map_err(|error| target.protocol(error))?;
    let capabilities = agree(target, login, &greeting)?;
    seq = seq.wrapping_add(1);
    let mut out = Vec::new();
    if capabilities.contains(Capabilities::SSL) {
        let request =
            SslRequest { capabilities, max_packet: login.max_packet, charset: greeted_in(login.charset) };
        packet::build(&mut out, &mut seq, |out| request.write(out));
        stream.write_all(&out).await.map_err(|error| target.io(error))?;
        out.clear();
        stream = encipher(target, stream).await?;
    }
    let secure = stream.is_tls() || matches!(target.address, Address::Unix(_));
    let channel = if secure { ClientChannel::Secure } else { ClientChannel::Plain(ServerKey::Ask) };
    let auth = |error| ConnectError::Auth { name: target.name.clone(), error };
    let start = Client::start(&greeting.auth_plugin, &greeting.scramble, login.secret.clone(), channel)
        .map_err(auth)?;
    let response = HandshakeResponse {
        capabilities,
        max_packet: login.max_packet,
        charset: greeted_in(login.charset),
        user: login.user,
        auth_response: &start.response,
        schema: login.schema,
        plugin: Some(start.plugin.as_bytes()),
        raw_attributes: login.attributes.filter(|_| capabilities.contains(Capabilities::CONNECT_ATTRS)),
        zstd_level: None,
    };
    let mut payload = Vec::new();
    response.write(&mut payload).map_err(|error| target.protocol(error))?;
    packet::write(&mut out, &mut seq, &payload);
    let mut client = start.client;
    let status = loop {
        stream.write_all(&out).await.map_err(|error| target.io(error))?;
        out.clear();
        let (payload, last) =
            read_packet(&mut stream, &mut input).await.map_err(|error| target.exchange(error))?;
        seq = last.wrapping_add(1);
        client = match client.step(&payload).map_err(auth)? {
            ClientStep::Send(payload, next) => {
                packet::write(&mut out, &mut seq, &payload);
                next
            }
            ClientStep::Wait(next) => next,
            ClientStep::Done => {
                break OkPacket::parse(&payload, capabilities)
                    .map_err(|error| target.protocol(error))?
                    .status;
            }
            ClientStep::Refused(error) => {
                return Err(ConnectError::Refused { name: target.name.clone(), error });
            }
        };
    };
    let server = Arc::new(ServerInfo {
        version: greeting.server_version,
        capabilities: greeting.capabilities,
        charset: greeting.charset,
        auth_plugin: greeting.auth_plugin,
    });
    let mut connection = Connection {
        stream,
        input,
        capabilities,
        thread_id: greeting.thread_id,
        server,
        statements: Box::default(),
    };
    // An expired password is answered with an error to whatever is asked.
    let (settings, expired) = match begin(&mut connection, login.charset).await {
        Ok(settings) => (settings, None),
        Err(ExchangeError::Server(error)) if error.code == code::MUST_CHANGE_PASSWORD => {
            (Settings::default(), Some(error))
        }
        Err(error) => return Err(target.exchange(error)),
    };
    Ok((connection, Opened { status, settings, expired }))
}

/// What both sides speak from here on.
fn agree(target: &Target, login: &Login<'_>, greeting: &Greeting) -> Result<Capabilities, ConnectError> {
    let offered = greeting.capabilities;
    let refuse = |reason: &str| ConnectError::Tls { name: target.name.clone(), reason: reason.to_owned() };
    let mut wanted = BASE | (login.capabilities & MIRRORED);
    wanted.set(Capabilities::CONNECT_ATTRS, login.attributes.is_some());
    wanted.set(Capabilities::CONNECT_WITH_DB, login.schema.is_some());
    let agreed = wanted & (offered | Capabilities::LONG_PASSWORD);
    if !(login.capabilities & SHAPING & !agreed).is_empty() {
        return Err(refuse("the server was replaced by one that lacks what was offered; connect again"));
    }
    let over_tcp = matches!(target.address, Address::Tcp { .. });
    Ok(match target.tls.mode {
        TlsMode::Disabled => agreed,
        TlsMode::Preferred if !over_tcp || !offered.contains(Capabilities::SSL) => agreed,
        _ if !offered.contains(Capabilities::SSL) => {
            return Err(refuse(
                "TLS is required by the configuration (tls.mode), and the server does not offer it",
            ));
        }
        _ => agreed | Capabilities::SSL,
    })
}

async fn encipher(target: &Target, stream: Stream) -> Result<Stream, ConnectError> {
    let refuse = |reason: String| ConnectError::Tls { name: target.name.clone(), reason };
    let (Stream::Plain(socket), Some(config)) = (stream, target.tls.config()) else {
        return Err(refuse("TLS is not set up".to_owned()));
    };
    let host = match &target.address {
        Address::Tcp { host, .. } => host.clone(),
        Address::Unix(_) => "localhost".to_owned(),
    };
    let name = ServerName::try_from(host).map_err(|error| refuse(format!("TLS: {error}")))?;
    let tls = TlsConnector::from(config)
        .connect(name, socket)
        .await
        .map_err(|error| refuse(format!("TLS failed: {error}")))?;
    Ok(Stream::Tls(Box::new(TlsStream::Client(tls))))
}

/// The collation id of a login, which has one byte there. Larger ones come by COM_CHANGE_USER only and are named afterwards; 0
/// stands for the server's default, which it also takes for an id that it does not have.
fn greeted_in(charset: u16) -> u16 {
    u8::try_from(charset).map_or(0, u16::from)
}

/// What is asked and set before a session begins.
async fn begin(connection: &mut Connection, charset: u16) -> Result<Settings, ExchangeError> {
    name_charset(connection, charset).await?;
    bootstrap(connection).await
}

/// Sets the collation whose id is too large for a login.
async fn name_charset(connection: &mut Connection, charset: u16) -> Result<(), ExchangeError> {
    if charset == greeted_in(charset) {
        return Ok(());
    }
    let ask = format!(
        "SELECT CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLLATIONS WHERE ID = {charset}"
    );
    send_queries(connection, &[&ask]).await?;
    let row = first_row(connection).await?;
    let [Some(set), Some(collation)] = &row[..] else { return Ok(()) };
    let (set, collation) = (String::from_utf8_lossy(set), String::from_utf8_lossy(collation));
    send_queries(connection, &[&format!("SET NAMES {set} COLLATE {collation}")]).await?;
    first_row(connection).await.map(drop)
}

/// Turns on the tracking that the proxy relies on, and asks what the session starts with: in one write.
///
/// # Errors
/// See [`ExchangeError`].
pub async fn bootstrap(connection: &mut Connection) -> Result<Settings, ExchangeError> {
    // A name that stands twice in the list is an error on MySQL (3026).
    const TRACK: &str = "SET SESSION session_track_schema=ON, session_track_state_change=ON, session_track_system_variables=\
        IF(@@session_track_system_variables='*', '*', TRIM(BOTH ',' FROM CONCAT(@@session_track_system_variables, \
        IF(FIND_IN_SET('sql_mode', @@session_track_system_variables), '', ',sql_mode'), \
        IF(FIND_IN_SET('character_set_client', @@session_track_system_variables), '', ',character_set_client'))))";
    const ASK: &str = "SELECT @@sql_mode, @@character_set_client, CURRENT_USER(), DATABASE(), \
        @@global.session_track_system_variables, @@global.session_track_state_change, @@global.init_connect=''";
    // The last two leave FOUND_ROWS() and ROW_COUNT() as a new session has them.
    send_queries(connection, &[ASK, "SELECT 1 FROM DUAL WHERE FALSE", TRACK]).await?;
    // All answers are read, also where the first is an error, so that none is left over.
    let row = first_row(connection).await;
    let none = first_row(connection).await;
    first_row(connection).await?;
    none?;
    let row = row?;
    let mut texts =
        row.into_iter().map(|cell| cell.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    let mut next = || texts.next().flatten();
    Ok(Settings {
        sql_mode: next().unwrap_or_default(),
        charset_client: next().unwrap_or_default(),
        account: next().unwrap_or_default(),
        schema: next(),
        tracked: next().unwrap_or_default(),
        tracks_state: next().is_some_and(|value| value == "1"),
        plain_start: next().is_some_and(|value| value == "1"),
    })
}

impl Settings {
    /// Whether the server reports changes of a variable by default.
    #[must_use]
    pub fn tracks(&self, variable: &str) -> bool {
        self.tracked.split(',').any(|name| name.trim() == "*" || name.trim().eq_ignore_ascii_case(variable))
    }

    /// What lexing depends on, on this server.
    #[must_use]
    pub fn flavor(&self, server: &ServerInfo) -> Flavor {
        let (product, version) =
            Version::parse(&server.version).unwrap_or((Product::MySql, Version(8, 0, 0)));
        Flavor {
            product,
            version,
            mode: SqlMode::parse(&self.sql_mode).0,
            charset: CharsetClass::of_charset(&self.charset_client),
        }
    }
}
