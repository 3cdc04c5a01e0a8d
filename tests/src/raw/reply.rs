//! Whole replies to any command, packet by packet, in a form that two servers can be compared in.

use std::io;

use wire::follow::{Expect, Follower, Kind, Step};
use wire::packet::HEADER;
use wire::{Capabilities, Command, EofPacket, OkPacket, Status};

use super::{Client, done, failure, shown};

/// A reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its packets: control packets by what they say, others as hexadecimal digits. A statement's id is left out.
    pub packets: Vec<String>,
    /// The id that a PREPARE was answered with.
    pub prepared: Option<u32>,
}

impl Client {
    /// Sends a command and reads its whole reply; none for commands that have none. In errors, `(id)` stands as `(id)`
    /// whatever its number is.
    ///
    /// # Errors
    /// Those of the network; a reply that breaks the protocol.
    pub fn whole_reply(&mut self, command: &Command<'_>, id: u32) -> io::Result<Reply> {
        self.send(command)?;
        let mut follower = Follower::new(command.expect(), self.capabilities);
        let mut reply = Reply::default();
        if command.expect() == Expect::None {
            return Ok(reply);
        }
        loop {
            match follower.step(&self.buffer) {
                Step::Need(_) => self.fill()?,
                Step::Pass(n) => {
                    let bytes: String = self.buffer.drain(..n).map(|byte| format!("{byte:02x}")).collect();
                    reply.packets.push(bytes);
                }
                Step::Packet { kind, len } => {
                    let packet: Vec<u8> = self.buffer.drain(..len).collect();
                    let payload = packet.get(HEADER..).unwrap_or_default();
                    if let Kind::PrepareOk { id, .. } = kind {
                        reply.prepared = Some(id);
                    }
                    reply.packets.push(said(kind, payload, self.capabilities, id)?);
                }
                Step::EndOfColumns => reply.packets.push("end of columns".to_owned()),
                Step::Done => break,
                Step::Violation(error) => return Err(io::Error::other(error)),
            }
        }
        // How many packets came in one read is of no interest.
        reply.packets = joined(reply.packets);
        Ok(reply)
    }
}

fn said(kind: Kind, payload: &[u8], capabilities: Capabilities, id: u32) -> io::Result<String> {
    let ok = |payload| OkPacket::parse(payload, capabilities).map_err(io::Error::other);
    Ok(match kind {
        Kind::Ok | Kind::EndOfRows => {
            let ok = ok(payload)?;
            // Who shares a statement may hear of its new columns from its rows first.
            format!("{:?}", done(&OkPacket { status: ok.status - Status::METADATA_CHANGED, ..ok }))
        }
        Kind::Eof { after_columns } => {
            let eof = EofPacket::parse(payload).map_err(io::Error::other)?;
            format!("eof {after_columns} {} {:x}", eof.warnings, shown(eof.status))
        }
        Kind::Err => {
            let error = failure(payload)?;
            let message = error.message.replace(&format!("({id})"), "(id)");
            format!("error {} {} {message}", error.code, error.state)
        }
        Kind::PrepareOk { columns, params, warnings, .. } => {
            format!("prepared {columns} {params} {warnings}")
        }
        other => format!("{other:?}"),
    })
}

/// Hexadecimal packets that follow each other as one.
fn joined(packets: Vec<String>) -> Vec<String> {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut out: Vec<String> = Vec::new();
    for packet in packets {
        match out.last_mut() {
            Some(last) if is_hex(last) && is_hex(&packet) => last.push_str(&packet),
            _ => out.push(packet),
        }
    }
    out
}
