//! Answers that a session asks for after its connection went to another one: kept from then, and put in the place of what the
//! new connection would say.

use backend::exchange::whole_answer;
use wire::codec::put_lenenc_bytes;
use wire::packet::{self, HEADER, Header};
use wire::{Capabilities, EofPacket, OkPacket, ProtocolError, SqlError, Status, code};

use super::{End, Session};

/// What is put in place of what the connection would answer.
#[derive(Debug)]
pub(super) enum Patch {
    /// The answer to SHOW WARNINGS.
    Warnings(Vec<u8>),
    /// `ROW_COUNT()` and `FOUND_ROWS()`.
    Counts { rows: i64, found: Option<u64> },
}

/// The error of a statement whose answer is gone.
pub(super) fn lost_state() -> SqlError {
    SqlError::new(
        code::UNKNOWN,
        "what this statement asks for went with a connection that other sessions use now; give the user `pooling: session`",
    )
}

fn is_text(text: &[u8], expected: &str) -> bool {
    text.trim_ascii().eq_ignore_ascii_case(expected.as_bytes())
}

impl Session {
    /// Sends the statement, or puts the answer that was kept for it in its place; with counts that went with another
    /// connection put in.
    pub(super) async fn send_or_patch(&mut self, bytes: &[u8], text: &[u8]) -> Result<Option<SqlError>, End> {
        let Some(patch) = self.patch.take() else {
            self.send_server(bytes).await?;
            return Ok(None);
        };
        match patch {
            Patch::Warnings(answer) if is_text(text, "SHOW WARNINGS") => {
                // Asked all the same, for what the statement does to ROW_COUNT().
                self.send_server(bytes).await?;
                whole_answer(self.server.link()?).await?;
                // Kept from another moment: whether a transaction is open is told as of now.
                let answer = with_status(&answer, self.server.capabilities, self.status);
                let answer = answer.map_err(End::BackendProtocol)?;
                self.server.link()?.input.extend(&answer);
            }
            Patch::Counts { rows: count, .. } if is_text(text, "SELECT ROW_COUNT()") => {
                self.send_server(bytes).await?;
                let answer = whole_answer(self.server.link()?).await?;
                self.server.link()?.input.extend(&with_value(&answer, &count.to_string()));
            }
            Patch::Counts { found: Some(found), .. } if is_text(text, "SELECT FOUND_ROWS()") => {
                self.send_server(bytes).await?;
                let answer = whole_answer(self.server.link()?).await?;
                self.server.link()?.input.extend(&with_value(&answer, &found.to_string()));
            }
            Patch::Warnings(_) | Patch::Counts { .. } => return Ok(Some(lost_state())),
        }
        Ok(None)
    }
}

/// Flags that tell of the session, not of one statement.
const STATE: Status = Status::IN_TRANS
    .union(Status::IN_TRANS_READONLY)
    .union(Status::AUTOCOMMIT)
    .union(Status::NO_BACKSLASH_ESCAPES);

/// A result set with another status at its end.
fn with_status(answer: &[u8], capabilities: Capabilities, status: Status) -> Result<Vec<u8>, ProtocolError> {
    let now = |then: Status| (then - STATE) | (status & STATE);
    let mut out = Vec::with_capacity(answer.len());
    let mut rest = answer;
    while let Some(header) = Header::parse(rest) {
        let (packet, behind) = rest.split_at_checked(HEADER + header.len).ok_or(ProtocolError::Truncated)?;
        rest = behind;
        let payload = packet.get(HEADER..).unwrap_or_default();
        if payload.first() != Some(&wire::reply::EOF) {
            out.extend_from_slice(packet);
            continue;
        }
        let mut seq = header.seq;
        if capabilities.contains(Capabilities::DEPRECATE_EOF) {
            let ok = OkPacket::parse(payload, capabilities)?;
            let ok = OkPacket { status: now(ok.status), ..ok };
            packet::build(&mut out, &mut seq, |out| ok.write_end(capabilities, out));
        } else {
            let eof = EofPacket::parse(payload)?;
            let eof = EofPacket { status: now(eof.status), ..eof };
            packet::build(&mut out, &mut seq, |out| eof.write(out));
        }
    }
    Ok(out)
}

/// An answer of one column and one row, with another text in the row. Its packets are a count, a definition, the row, the end.
fn with_value(answer: &[u8], value: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(answer.len() + value.len());
    let mut rest = answer;
    let mut number = 0;
    while let Some(header) = Header::parse(rest) {
        let extent = HEADER + header.len;
        let packet = rest.get(..extent).unwrap_or(rest);
        rest = rest.get(extent..).unwrap_or_default();
        if number == 2 && packet.get(HEADER) != Some(&wire::reply::ERR) {
            let mut seq = header.seq;
            packet::build(&mut out, &mut seq, |out| put_lenenc_bytes(out, value.as_bytes()));
        } else {
            out.extend_from_slice(packet);
        }
        number += 1;
    }
    out
}
