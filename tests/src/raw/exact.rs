//! A reply to the byte: physical packets with their sequence ids, which is what a proxy must not change.

use std::fmt;
use std::io;

use wire::Status;
use wire::follow::{Expect, Follower, Kind, Step};
use wire::packet::{HEADER, Header};
use wire::reply::{EOF, ERR, OK};

use super::Client;

/// One physical packet.
#[derive(Clone, PartialEq, Eq)]
pub struct Packet {
    /// Its sequence id.
    pub seq: u8,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// All packets of one reply.
#[derive(Clone, PartialEq, Eq)]
pub struct ExactReply(pub Vec<Packet>);

impl ExactReply {
    fn split(mut bytes: &[u8]) -> ExactReply {
        let mut packets = Vec::new();
        while let Some(header) = Header::parse(bytes) {
            let (packet, rest) = bytes.split_at((HEADER + header.len).min(bytes.len()));
            packets.push(Packet { seq: header.seq, payload: packet[HEADER..].to_vec() });
            bytes = rest;
        }
        ExactReply(packets)
    }

    /// The first packet's payload.
    pub fn head(&self) -> &[u8] {
        self.0.first().map_or(&[], |packet| &packet.payload)
    }

    /// Whether it begins with an OK packet.
    pub fn is_ok(&self) -> bool {
        self.head().first() == Some(&OK)
    }

    /// The code of the ERR packet that ends it, if one does.
    pub fn error(&self) -> Option<u16> {
        let last = &self.0.last()?.payload;
        (last.first() == Some(&ERR)).then(|| u16::from_le_bytes([last[1], last[2]]))
    }

    /// Whether it ends with an EOF packet, or its like, that has this flag.
    pub fn ends_with(&self, flag: Status) -> bool {
        match self.0.last().map(|packet| packet.payload.as_slice()) {
            Some([EOF, _, _, low, high, ..]) => {
                Status::from_bits_retain(u16::from_le_bytes([*low, *high])).contains(flag)
            }
            _ => false,
        }
    }

    /// The reply to a PREPARE: the statement's id, and the reply without it, as ids are the server's choice.
    pub fn prepared(mut self) -> (u32, ExactReply) {
        let mut id = [0; 4];
        if self.is_ok()
            && let Some(place) = self.0.first_mut().and_then(|packet| packet.payload.get_mut(1..5))
        {
            id.copy_from_slice(place);
            place.fill(0);
        }
        (u32::from_le_bytes(id), self)
    }
}

impl fmt::Debug for Packet {
    /// Long packets are cut in the middle.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let payload = &self.payload;
        match payload.len() > 3 * SHOWN {
            true => write!(
                f,
                "{}:{}…{} ({} bytes)",
                self.seq,
                text(&payload[..SHOWN]),
                text(&payload[payload.len() - SHOWN..]),
                payload.len()
            ),
            false => write!(f, "{}:{}", self.seq, text(payload)),
        }
    }
}

impl fmt::Debug for ExactReply {
    /// Of many packets the first and the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        let packets = &self.0;
        if packets.len() <= 2 * SHOWN {
            return f.debug_list().entries(packets).finish();
        }
        let (first, last) = (&packets[..SHOWN], &packets[packets.len() - SHOWN..]);
        f.debug_list()
            .entries(first)
            .entry(&format_args!("… {} packets", packets.len()))
            .entries(last)
            .finish()
    }
}

/// Leaves in an EOF packet after columns what is known before the rows: a proxy whose server sends no such packet cannot tell
/// more, and no client wants more of it.
fn forget(packet: &mut [u8]) {
    let known = Status::AUTOCOMMIT | Status::IN_TRANS | Status::CURSOR_EXISTS;
    if let Some([_, warnings @ .., low, high]) = packet.get_mut(HEADER..HEADER + 5) {
        warnings.fill(0);
        let status = Status::from_bits_retain(u16::from_le_bytes([*low, *high])) & known;
        [*low, *high] = status.bits().to_le_bytes();
    }
}

/// Takes the flag away that says that a prepared statement's columns have changed: sessions that share connections may hear of
/// it from the columns first.
fn overlook(packet: &mut [u8]) {
    // Of rows nothing is affected and no id is told: both packets have their flags here.
    if let Some([low, high]) = packet.get_mut(HEADER + 3..HEADER + 5) {
        let status = Status::from_bits_retain(u16::from_le_bytes([*low, *high])) - Status::METADATA_CHANGED;
        [*low, *high] = status.bits().to_le_bytes();
    }
}

impl Client {
    /// Sends any payload as a command and reads its reply, as long as `expect` says that it is. A request for a file is
    /// answered with [`Client::infile`].
    ///
    /// # Errors
    /// Those of the network, and what the follower calls a violation.
    pub fn exchange(&mut self, payload: &[u8], expect: Expect) -> io::Result<ExactReply> {
        self.send_raw(payload)?;
        self.reply(expect)
    }

    /// The reply to a command that was sent.
    ///
    /// # Errors
    /// As [`Client::exchange`].
    pub fn reply(&mut self, expect: Expect) -> io::Result<ExactReply> {
        let mut follower = Follower::new(expect, self.capabilities);
        let mut bytes = Vec::new();
        loop {
            match follower.step(&self.buffer) {
                Step::Need(_) => self.fill()?,
                Step::EndOfColumns => {}
                Step::Pass(n) => bytes.extend(self.buffer.drain(..n)),
                Step::Packet { kind, len } => {
                    let mut packet: Vec<u8> = self.buffer.drain(..len).collect();
                    if kind == (Kind::Eof { after_columns: true }) {
                        forget(&mut packet);
                    }
                    if matches!(kind, Kind::EndOfRows | Kind::Eof { after_columns: false }) {
                        overlook(&mut packet);
                    }
                    if kind == Kind::LocalInfile {
                        self.seq = packet[3].wrapping_add(1);
                        self.asked_for = packet[HEADER + 1..].to_vec();
                        let data = std::mem::take(&mut self.infile);
                        if !data.is_empty() {
                            self.write(&data)?;
                        }
                        self.write(&[])?;
                        self.infile = data;
                        follower.infile_done();
                    }
                    bytes.extend(packet);
                }
                Step::Done => return Ok(ExactReply::split(&bytes)),
                Step::Violation(error) => return Err(io::Error::other(error)),
            }
        }
    }
}
