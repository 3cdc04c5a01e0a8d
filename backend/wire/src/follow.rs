//! Follows a server's reply by packet headers alone, so that a relay neither decodes nor copies it.
//!
//! The relay shows the follower the bytes that it has in hand and is told what they are: so many bytes to send on as they
//! are, or one whole control packet (OK, ERR, EOF, …) that it may want to rebuild, or that more bytes are needed. Rows and
//! column definitions of any size pass without being held. Nothing is allocated.
//!
//! Invariant: between two steps the follower stands at a packet's boundary, or `rest` bytes before one.

use crate::codec::Reader;
use crate::packet::{HEADER, Header, MAX_PAYLOAD};
use crate::reply::{EOF, ERR, EofPacket, OK};
use crate::{Capabilities, ProtocolError, Status};

/// The largest control packet (OK, ERR, EOF, column count, statistics) that a relay must hold as a whole, in bytes of
/// payload. Servers send a few hundred bytes; session tracking of long variables some thousands.
pub const MAX_CONTROL: usize = 1 << 20;

/// First byte of a request for a local file.
const LOCAL_INFILE: u8 = 0xFB;

/// The error code of MariaDB's progress reports.
const PROGRESS: [u8; 2] = [0xFF, 0xFF];

/// The shape of the reply that a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// `COM_QUERY`: results, each an OK, an ERR, a request for a local file, or columns and rows.
    Query,
    /// `COM_STMT_EXECUTE`: as a query, with binary rows, and without rows where a cursor was opened.
    Execute,
    /// `COM_STMT_PREPARE`: a statement id, then definitions of parameters and columns.
    Prepare,
    /// `COM_STMT_FETCH`: rows without columns before them.
    Fetch,
    /// `COM_FIELD_LIST`: column definitions without a count.
    FieldList,
    /// One OK, ERR or EOF.
    Simple,
    /// `COM_STATISTICS`: one packet of text.
    Statistics,
    /// `COM_BINLOG_DUMP`: events until an EOF or ERR, or without end.
    Binlog,
    /// No reply.
    None,
}

/// What the bytes at the front of the buffer are. After `Pass` and `Packet` the relay must drop them before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes must be in hand, in total, before the follower can go on. Nothing is consumed.
    Need(usize),
    /// So many bytes (at least 1) belong to the reply and go on as they are: whole packets, or parts of them.
    Pass(usize),
    /// One whole control packet.
    Packet {
        /// What it is.
        kind: Kind,
        /// Its length, header included.
        len: usize,
    },
    /// A block of definitions is over, and with `DEPRECATE_EOF` in force no packet says so: here an EOF packet has to be
    /// inserted for a client without that capability. Nothing is consumed. Comes once for a result set and for the
    /// parameters and the columns of a prepared statement; not where a cursor was opened, as there the packet that ends
    /// the reply is the EOF packet after the columns.
    EndOfColumns,
    /// The reply is complete. Nothing is consumed.
    Done,
    /// The server broke the protocol; what it sends cannot be followed any more. Every further step says so again.
    Violation(ProtocolError),
}

/// Kinds of control packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An OK packet with header 0x00.
    Ok,
    /// An ERR packet.
    Err,
    /// An EOF packet.
    Eof {
        /// Whether it stands after definitions, with rows (or nothing) to follow, and not at a result's end.
        after_columns: bool,
    },
    /// An OK packet with header 0xFE, which ends rows.
    EndOfRows,
    /// The number of columns of a result set.
    ColumnCount(u64),
    /// A request for a local file: its name is the payload from the second byte. The client sends the file next.
    LocalInfile,
    /// A statement was prepared.
    PrepareOk {
        /// Statement id.
        id: u32,
        /// Number of columns.
        columns: u16,
        /// Number of parameters.
        params: u16,
        /// Number of warnings.
        warnings: u16,
    },
    /// The answer to `COM_STATISTICS`.
    Text,
}

/// What definitions are of, and so what comes after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Result,
    Params { columns: u16 },
    PreparedColumns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first packet of a result.
    Start,
    Definitions {
        left: u64,
        block: Block,
    },
    /// After definitions: an EOF packet, or the place where there would be one.
    AfterDefinitions(Block),
    Rows,
    /// The client is sending a file.
    Infile,
    Done,
    Broken(ProtocolError),
}

/// The reply to one command, as far as it has come.
#[derive(Clone, Copy, Debug)]
pub struct Follower {
    expect: Expect,
    capabilities: Capabilities,
    state: State,
    /// Bytes still to come of the physical packet that is passing.
    rest: usize,
    /// The packet that is passing, or has just passed, is continued by the next one.
    continued: bool,
    next_seq: u8,
    /// Those of the last OK or EOF packet, which may be none at all.
    status: Option<Status>,
}

/// The bytes in hand, to look at or also to renumber.
trait Window {
    fn bytes(&self) -> &[u8];
    /// The sequence id at `at`, after adding what is to be added to it.
    fn seq(&mut self, at: usize) -> u8;
}

struct Shared<'a>(&'a [u8]);

impl Window for Shared<'_> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.0
    }

    #[inline]
    fn seq(&mut self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or_default()
    }
}

struct Renumbered<'a>(&'a mut [u8], u8);

impl Window for Renumbered<'_> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.0
    }

    #[inline]
    fn seq(&mut self, at: usize) -> u8 {
        let Some(seq) = self.0.get_mut(at) else { return 0 };
        *seq = seq.wrapping_add(self.1);
        *seq
    }
}

impl Follower {
    /// A follower at the start of a reply. `capabilities` are those in force on the server's connection.
    #[must_use]
    pub fn new(expect: Expect, capabilities: Capabilities) -> Self {
        let state = match expect {
            Expect::Fetch | Expect::FieldList | Expect::Binlog => State::Rows,
            Expect::None => State::Done,
            Expect::Query | Expect::Execute | Expect::Prepare | Expect::Simple | Expect::Statistics => {
                State::Start
            }
        };
        Self { expect, capabilities, state, rest: 0, continued: false, next_seq: 1, status: None }
    }

    /// Says what the bytes at the front of `buf` are. `buf` starts where the last `Pass` or `Packet` ended.
    pub fn step(&mut self, buf: &[u8]) -> Step {
        self.advance(&mut Shared(buf))
    }

    /// As [`Follower::step`], and adds `delta` (wrapping) to the sequence id of every packet that it passes or gives out,
    /// in place. Bytes are renumbered once: those that a step did not consume are as they were.
    pub fn step_mut(&mut self, buf: &mut [u8], delta: u8) -> Step {
        self.advance(&mut Renumbered(buf, delta))
    }

    /// After [`Kind::LocalInfile`], once the client has sent its file's last, empty packet: the server's answer is due.
    /// (An answer that comes before is followed just as well.)
    pub fn infile_done(&mut self) {
        if self.state == State::Infile {
            self.state = State::Start;
        }
    }

    /// Whether the client's file is due.
    #[must_use]
    pub fn awaits_infile(&self) -> bool {
        self.state == State::Infile
    }

    /// Whether the reply is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done && self.rest == 0
    }

    /// Whether the follower stands between two packets, so that another one may be inserted here.
    #[must_use]
    pub fn at_boundary(&self) -> bool {
        self.rest == 0 && !self.continued
    }

    /// The sequence id after that of the last packet of the reply, as renumbered; 1 before the first. Packets that the
    /// relay itself inserts do not count: after one, it is what that one was given.
    #[must_use]
    pub fn next_seq(&self) -> u8 {
        self.next_seq
    }

    /// The status flags of the last OK or EOF packet; `None` before the first. With `autocommit = 0` they may be empty.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    fn advance<W: Window>(&mut self, window: &mut W) -> Step {
        match self.run(window) {
            Ok(step) => step,
            Err(error) => {
                self.state = State::Broken(error);
                Step::Violation(error)
            }
        }
    }

    fn run<W: Window>(&mut self, window: &mut W) -> Result<Step, ProtocolError> {
        if let State::Broken(error) = self.state {
            return Err(error);
        }
        let left = match self.state {
            State::Rows => u64::MAX,
            State::Definitions { left, .. } => left,
            _ => 0,
        };
        let (passed, left) = self.pass(window, left);
        if let State::Definitions { left: stored, block } = &mut self.state {
            *stored = left;
            if left == 0 && !self.continued {
                self.state = State::AfterDefinitions(*block);
            }
        }
        if passed > 0 {
            return Ok(Step::Pass(passed));
        }
        if self.rest > 0 {
            return Ok(Step::Need(1));
        }
        if self.continued {
            return Ok(Step::Need(HEADER));
        }
        match self.state {
            State::Done => Ok(Step::Done),
            State::AfterDefinitions(block) if self.deprecate_eof() => self.end_of_columns(window, block),
            _ => self.control(window),
        }
    }

    /// Moves over the rest of the packet that is passing and over up to `left` packets after it, as far as the bytes
    /// reach; stops before control packets. Returns how many bytes that were, and what is left of `left`.
    ///
    /// Every header that is passed is there as a whole, together with the first byte after it.
    #[inline]
    fn pass<W: Window>(&mut self, window: &mut W, mut left: u64) -> (usize, u64) {
        let end = window.bytes().len();
        // A row of 16 MB and more may start with 0xFE, the length of a string that long; a shorter packet that starts so
        // ends the rows. Without DEPRECATE_EOF only one too short to hold the 8-byte length does.
        let end_below = if self.deprecate_eof() { MAX_PAYLOAD } else { 9 };
        let mut next = self.rest;
        let mut continued = self.continued;
        while let Some(ahead) = window.bytes().get(next..) {
            let Some(header) = Header::parse(ahead) else { break };
            if !continued {
                let Some(first) = ahead.get(HEADER) else { break };
                let control = *first >= EOF && (*first == ERR || header.len < end_below);
                if left == 0 || control || header.len == 0 {
                    break;
                }
                left -= 1;
            }
            self.next_seq = window.seq(next + 3).wrapping_add(1);
            continued = header.len == MAX_PAYLOAD;
            next += HEADER + header.len;
        }
        let passed = next.min(end);
        self.rest = next - passed;
        self.continued = continued;
        (passed, left)
    }

    /// With `DEPRECATE_EOF` only the packet after the columns tells whether there is a cursor instead of rows.
    fn end_of_columns<W: Window>(&mut self, window: &mut W, block: Block) -> Result<Step, ProtocolError> {
        if block == Block::Result && self.expect == Expect::Execute {
            let Some(first) = window.bytes().get(HEADER) else { return Ok(Step::Need(HEADER + 1)) };
            if *first == EOF {
                let payload = match whole(window.bytes())? {
                    Whole::Payload(payload) => payload,
                    Whole::Need(n) => return Ok(Step::Need(n)),
                };
                if ok_status(payload)?.contains(Status::CURSOR_EXISTS) {
                    self.state = State::Rows;
                    return self.control(window);
                }
            }
        }
        self.after(block);
        Ok(Step::EndOfColumns)
    }

    fn after(&mut self, block: Block) {
        self.state = match block {
            Block::Result => State::Rows,
            Block::Params { columns: 0 } | Block::PreparedColumns => State::Done,
            Block::Params { columns } => {
                State::Definitions { left: u64::from(columns), block: Block::PreparedColumns }
            }
        };
    }

    /// One control packet, at a packet's boundary.
    fn control<W: Window>(&mut self, window: &mut W) -> Result<Step, ProtocolError> {
        let payload = match whole(window.bytes())? {
            Whole::Payload(payload) => payload,
            Whole::Need(n) => return Ok(Step::Need(n)),
        };
        let len = HEADER + payload.len();
        let first = payload.first().copied().ok_or(ProtocolError::Malformed("empty packet"))?;
        let kind = if first == ERR {
            if self.reports_progress() && payload.get(1..3) == Some(&PROGRESS) {
                self.next_seq = window.seq(3).wrapping_add(1);
                return Ok(Step::Pass(len));
            }
            self.state = State::Done;
            Kind::Err
        } else {
            match self.state {
                State::Start => self.start(first, payload)?,
                State::Infile => {
                    self.state = State::Start;
                    self.start(first, payload)?
                }
                State::Rows if first == EOF => self.end_of_result(payload)?,
                State::AfterDefinitions(block) if first == EOF => {
                    let eof = EofPacket::parse(payload)?;
                    self.status = Some(eof.status);
                    if block == Block::Result && eof.status.contains(Status::CURSOR_EXISTS) {
                        self.end();
                    } else {
                        self.after(block);
                    }
                    Kind::Eof { after_columns: true }
                }
                _ => return Err(ProtocolError::Unexpected(first)),
            }
        };
        self.next_seq = window.seq(3).wrapping_add(1);
        Ok(Step::Packet { kind, len })
    }

    /// The first packet of a result.
    fn start(&mut self, first: u8, payload: &[u8]) -> Result<Kind, ProtocolError> {
        match (self.expect, first) {
            (Expect::Statistics, _) => {
                self.state = State::Done;
                Ok(Kind::Text)
            }
            (Expect::Prepare, OK) => self.prepared(payload),
            (Expect::Query | Expect::Execute | Expect::Simple, OK) => {
                self.status = Some(ok_status(payload)?);
                self.end();
                Ok(Kind::Ok)
            }
            (Expect::Simple, EOF) => self.end_of_result(payload),
            (Expect::Query | Expect::Execute, LOCAL_INFILE)
                if self.capabilities.contains(Capabilities::LOCAL_FILES) =>
            {
                self.state = State::Infile;
                Ok(Kind::LocalInfile)
            }
            (Expect::Query | Expect::Execute, 1..=0xFA | 0xFC | 0xFD) => {
                let mut r = Reader::new(payload);
                let columns = r.lenenc()?;
                if columns == 0 {
                    return Err(ProtocolError::Malformed("column count"));
                }
                let optional =
                    Capabilities::MARIADB_CACHE_METADATA | Capabilities::OPTIONAL_RESULTSET_METADATA;
                let left =
                    if self.capabilities.intersects(optional) && r.peek() == Some(0) { 0 } else { columns };
                self.state = State::Definitions { left, block: Block::Result };
                Ok(Kind::ColumnCount(columns))
            }
            _ => Err(ProtocolError::Unexpected(first)),
        }
    }

    /// `COM_STMT_PREPARE_OK`.
    fn prepared(&mut self, payload: &[u8]) -> Result<Kind, ProtocolError> {
        let mut r = Reader::new(payload);
        r.u8()?;
        let (id, columns, params) = (r.u32()?, r.u16()?, r.u16()?);
        let warnings = r.bytes(1).and_then(|_| r.u16()).unwrap_or_default();
        let left_out =
            self.capabilities.contains(Capabilities::OPTIONAL_RESULTSET_METADATA) && r.peek() == Some(0);
        self.state = match (params, columns) {
            _ if left_out => State::Done,
            (0, 0) => State::Done,
            (0, _) => State::Definitions { left: u64::from(columns), block: Block::PreparedColumns },
            _ => State::Definitions { left: u64::from(params), block: Block::Params { columns } },
        };
        Ok(Kind::PrepareOk { id, columns, params, warnings })
    }

    /// An EOF packet, or an OK packet that stands for one. Some servers send the short form in any case.
    fn end_of_result(&mut self, payload: &[u8]) -> Result<Kind, ProtocolError> {
        let kind = if self.deprecate_eof() && payload.len() > EofPacket::LEN {
            self.status = Some(ok_status(payload)?);
            Kind::EndOfRows
        } else {
            // MySQL says behind the columns of OUT parameters that an OK packet follows their row, and not behind the row.
            let before = self.status.unwrap_or_default();
            let promised = before.contains(Status::PS_OUT_PARAMS | Status::MORE_RESULTS_EXISTS);
            let mut status = EofPacket::parse(payload)?.status;
            status.set(Status::MORE_RESULTS_EXISTS, promised || status.contains(Status::MORE_RESULTS_EXISTS));
            self.status = Some(status);
            Kind::Eof { after_columns: false }
        };
        self.end();
        Ok(kind)
    }

    /// A result is over; only queries and executions have another one after it.
    fn end(&mut self) {
        let more = matches!(self.expect, Expect::Query | Expect::Execute)
            && self.status.is_some_and(|status| status.contains(Status::MORE_RESULTS_EXISTS));
        self.state = if more { State::Start } else { State::Done };
    }

    fn deprecate_eof(&self) -> bool {
        self.capabilities.contains(Capabilities::DEPRECATE_EOF)
    }

    fn reports_progress(&self) -> bool {
        self.capabilities.intersects(Capabilities::MARIADB_PROGRESS | Capabilities::PROGRESS_OBSOLETE)
    }
}

/// A packet that must be in hand as a whole.
enum Whole<'a> {
    Payload(&'a [u8]),
    Need(usize),
}

/// The packet at the front of `bytes`. Its length is judged only once its first byte shows that it is no row.
fn whole(bytes: &[u8]) -> Result<Whole<'_>, ProtocolError> {
    let Some(header) = Header::parse(bytes) else { return Ok(Whole::Need(HEADER + 1)) };
    if header.len > 0 && bytes.len() == HEADER {
        return Ok(Whole::Need(HEADER + 1));
    }
    if header.len > MAX_CONTROL {
        return Err(ProtocolError::TooLong { max: MAX_CONTROL });
    }
    let end = HEADER + header.len;
    Ok(bytes.get(HEADER..end).map_or(Whole::Need(end), Whole::Payload))
}

/// The status flags of an OK packet.
fn ok_status(payload: &[u8]) -> Result<Status, ProtocolError> {
    let mut r = Reader::new(payload);
    r.u8()?;
    r.lenenc()?;
    r.lenenc()?;
    Ok(Status::from_bits_retain(r.u16()?))
}

#[cfg(test)]
mod tests;
