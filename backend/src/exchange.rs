//! Small exchanges that the proxy has with a server on a session's own connection: whole packets, small answers.

use std::io;
use std::time::Duration;

use wire::codec::Reader;
use wire::follow::{Expect, Follower, Kind, Step};
use wire::packet::{self, HEADER, Header};
use wire::{Capabilities, ColumnDef, Command, ErrPacket, OkPacket, ProtocolError, Query, SqlError, Status};

use crate::buffer::{Buffer, SMALL};
use crate::connection::Connection;
use crate::stream::Stream;

/// The longest packet that such an exchange takes, in bytes.
const LONGEST: usize = 1 << 20;
/// The longest answer that is taken as a whole, in bytes.
const LARGEST_ANSWER: usize = 1 << 24;

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The server broke the protocol.
    #[error("not understood: {0}")]
    Protocol(#[from] ProtocolError),
    /// The server answered with an error.
    #[error("{0}")]
    Server(SqlError),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
}

/// Reads one whole packet: its payload and sequence id.
///
/// # Errors
/// `Io` when the connection breaks, `Protocol` for a packet of more than a megabyte.
pub async fn read_packet(stream: &mut Stream, input: &mut Buffer) -> Result<(Vec<u8>, u8), ExchangeError> {
    loop {
        let bytes = input.filled();
        if let Some(Header { len, seq }) = Header::parse(bytes) {
            if len > LONGEST {
                return Err(ProtocolError::TooLong { max: LONGEST }.into());
            }
            if let Some(payload) = bytes.get(HEADER..HEADER + len) {
                let payload = payload.to_vec();
                input.consume(HEADER + len);
                return Ok((payload, seq));
            }
        }
        let want = packet::needed(input.filled()).max(SMALL);
        if stream.read(input, want).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}

/// Reads one whole packet and not a byte more: what follows may be the beginning of a TLS handshake.
///
/// # Errors
/// As [`read_packet`].
pub async fn read_packet_exactly(stream: &mut Stream) -> Result<(Vec<u8>, u8), ExchangeError> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).await?;
    let Some(Header { len, seq }) = Header::parse(&header) else {
        return Err(ProtocolError::Truncated.into());
    };
    if len > LONGEST {
        return Err(ProtocolError::TooLong { max: LONGEST }.into());
    }
    let mut payload = vec![0; len];
    stream.read_exact(&mut payload).await?;
    Ok((payload, seq))
}

/// Writes text statements, one packet each, in one go.
///
/// # Errors
/// `Io` when the connection breaks.
pub async fn send_queries(connection: &mut Connection, texts: &[&str]) -> Result<(), ExchangeError> {
    let mut out = Vec::new();
    for text in texts {
        let mut seq = 0;
        packet::build(&mut out, &mut seq, |out| {
            Command::Query(Query::new(text.as_bytes())).write(connection.capabilities, out);
        });
    }
    Ok(connection.stream.write_all(&out).await?)
}

/// A row of a text answer: its cells, `None` for NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// A small result set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The collation id of the first column.
    pub charset: u16,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Reads one answer to its end and returns its first row; nothing for an answer without rows.
///
/// # Errors
/// See [`ExchangeError`]. After `Server` the connection is in order.
pub async fn first_row(connection: &mut Connection) -> Result<Row, ExchangeError> {
    Ok(rows(connection).await?.rows.into_iter().next().unwrap_or_default())
}

/// Reads one answer to its end and returns its rows; none for an answer without rows.
///
/// # Errors
/// See [`ExchangeError`]. After `Server` the connection is in order.
pub async fn rows(connection: &mut Connection) -> Result<Rows, ExchangeError> {
    let deprecate = connection.capabilities.contains(Capabilities::DEPRECATE_EOF);
    let Connection { stream, input, capabilities, .. } = connection;
    let (head, _) = read_packet(stream, input).await?;
    let columns = match head.first() {
        Some(&wire::reply::OK) => return Ok(Rows::default()),
        Some(&wire::reply::ERR) => return Err(ExchangeError::Server(ErrPacket::parse(&head)?.to_error())),
        _ => Reader::new(&head).lenenc()?,
    };
    let mut found = Rows::default();
    for at in 0..columns.saturating_add(u64::from(!deprecate)) {
        let (payload, _) = read_packet(stream, input).await?;
        if at == 0 {
            found.charset = ColumnDef::parse(&payload, *capabilities)?.charset;
        }
    }
    loop {
        let (payload, _) = read_packet(stream, input).await?;
        match payload.first() {
            Some(&wire::reply::ERR) => {
                return Err(ExchangeError::Server(ErrPacket::parse(&payload)?.to_error()));
            }
            // A row that starts so has a first column of 16 MB and more, which no answer here has.
            Some(&wire::reply::EOF) => return Ok(found),
            _ => {
                let mut reader = Reader::new(&payload);
                let row: Result<Row, ProtocolError> =
                    (0..columns).map(|_| Ok(reader.nullable_bytes()?.map(<[u8]>::to_vec))).collect();
                found.rows.push(row?);
            }
        }
    }
}

/// Takes the session on a connection back to its start (COM_RESET_CONNECTION).
///
/// # Errors
/// See [`ExchangeError`]. After `Server` the connection is in order.
pub async fn reset(connection: &mut Connection) -> Result<Status, ExchangeError> {
    let mut out = Vec::new();
    packet::build(&mut out, &mut 0, |out| Command::ResetConnection.write(connection.capabilities, out));
    connection.stream.write_all(&out).await?;
    let Connection { stream, input, capabilities, .. } = connection;
    let (answer, _) = read_packet(stream, input).await?;
    match answer.first() {
        Some(&wire::reply::ERR) => Err(ExchangeError::Server(ErrPacket::parse(&answer)?.to_error())),
        _ => Ok(OkPacket::parse(&answer, *capabilities)?.status),
    }
}

/// Prepares a statement: returns the server's id of it.
///
/// # Errors
/// See [`ExchangeError`]. After `Server` the connection is in order.
pub async fn prepare(connection: &mut Connection, text: &[u8]) -> Result<u32, ExchangeError> {
    let mut out = Vec::with_capacity(text.len() + 2 * HEADER);
    let mut seq = 0;
    packet::build(&mut out, &mut seq, |out| {
        Command::StmtPrepare(text).write(connection.capabilities, out);
    });
    connection.stream.write_all(&out).await?;
    let mut follower = Follower::new(Expect::Prepare, connection.capabilities);
    let mut prepared = Err(ProtocolError::Truncated.into());
    loop {
        let (passed, need) = match follower.step(connection.input.filled()) {
            Step::Pass(n) => (n, 0),
            Step::Packet { kind, len } => {
                match kind {
                    Kind::PrepareOk { id, .. } => prepared = Ok(id),
                    Kind::Err => {
                        let payload = connection.input.filled().get(HEADER..len).unwrap_or_default();
                        prepared = Err(ExchangeError::Server(ErrPacket::parse(payload)?.to_error()));
                    }
                    _ => {}
                }
                (len, 0)
            }
            Step::Need(n) => (0, n),
            Step::EndOfColumns => continue,
            Step::Done => return prepared,
            Step::Violation(error) => return Err(error.into()),
        };
        connection.input.consume(passed);
        if need > 0 && connection.stream.read(&mut connection.input, need.max(SMALL)).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}

/// Reads the answer to one text statement to its end, as it came: whole packets, headers included.
///
/// # Errors
/// See [`ExchangeError`]; `Protocol` for an answer of more than 16 MB. An ERR packet is an answer like any other.
pub async fn whole_answer(connection: &mut Connection) -> Result<Vec<u8>, ExchangeError> {
    let mut follower = Follower::new(Expect::Query, connection.capabilities);
    let mut answer = Vec::new();
    loop {
        let (passed, need) = match follower.step(connection.input.filled()) {
            Step::Pass(n) | Step::Packet { len: n, .. } => (n, 0),
            Step::Need(n) => (0, n),
            Step::EndOfColumns => continue,
            Step::Done => return Ok(answer),
            Step::Violation(error) => return Err(error.into()),
        };
        if answer.len() + passed > LARGEST_ANSWER {
            return Err(ProtocolError::TooLong { max: LARGEST_ANSWER }.into());
        }
        answer.extend_from_slice(connection.input.filled().get(..passed).unwrap_or_default());
        connection.input.consume(passed);
        if need > 0 && connection.stream.read(&mut connection.input, need.max(SMALL)).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}
