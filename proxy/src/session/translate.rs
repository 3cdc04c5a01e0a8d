//! Rebuilds control packets for a client whose capabilities differ from the backend connection's. Pure.
//!
//! Backend connections always speak SESSION_TRACK and DEPRECATE_EOF. A client that knows neither gets an EOF after its
//! columns and after its rows, and OK packets without state changes.

use backend::connection::Settings;
use wire::follow::Kind;
use wire::packet::{self, HEADER, Header};
use wire::track::{Record, records};
use wire::{Capabilities, EofPacket, OkPacket, ProtocolError, Status};

use super::relay::Answer;
use super::view::View;

/// What becomes of a control packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It goes on as it is.
    Keep,
    /// What was written to the buffer goes instead.
    Replace,
}

/// How a backend's answers become the client's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Translation {
    client: Capabilities,
    server: Capabilities,
    /// The proxy asks the server to report what the server's clients do not hear of: `sql_mode`,
    hides_mode: bool,
    /// `character_set_client`,
    hides_charset: bool,
    /// and that the session's state has changed.
    hides_state: bool,
}

impl Translation {
    pub(super) fn new(client: Capabilities, server: Capabilities, settings: &Settings) -> Self {
        Self {
            client,
            server,
            hides_mode: !settings.tracks("sql_mode"),
            hides_charset: !settings.tracks("character_set_client"),
            hides_state: !settings.tracks_state,
        }
    }

    /// The proxy asks for nothing any more: what comes is what the client asked for.
    pub(super) const fn reveal(&mut self) {
        self.hides_mode = false;
        self.hides_charset = false;
        self.hides_state = false;
    }

    /// Whether the client waits for an EOF packet where the backend sends none.
    pub(super) const fn inserts_eof(&self) -> bool {
        self.server.contains(Capabilities::DEPRECATE_EOF)
            && !self.client.contains(Capabilities::DEPRECATE_EOF)
    }

    /// Appends the EOF packet that this client waits for behind column definitions.
    pub(super) fn write_eof(&self, mut seq: u8, status: Status, out: &mut Vec<u8>) {
        // Between definitions and rows neither more results nor state changes are announced.
        let status = status - (Status::MORE_RESULTS_EXISTS | Status::SESSION_STATE_CHANGED);
        packet::build(out, &mut seq, |out| EofPacket { warnings: 0, status }.write(out));
    }

    /// Looks at one control packet, header included: takes the session's state from it, and writes what the client gets
    /// in its place to `out` if that differs.
    pub(super) fn control(
        &self,
        kind: Kind,
        bytes: &[u8],
        view: &mut View,
        answer: &mut Answer,
        out: &mut Vec<u8>,
    ) -> Result<Change, ProtocolError> {
        let is_end = match kind {
            Kind::Ok => false,
            Kind::EndOfRows => true,
            _ => return Ok(Change::Keep),
        };
        let (header, payload) = bytes.split_at_checked(HEADER).ok_or(ProtocolError::Truncated)?;
        let ok = OkPacket::parse(payload, self.server)?;
        answer.warnings = ok.warnings;
        answer.insert_id |= ok.last_insert_id != 0;
        answer.row_count = if is_end { -1 } else { i64::try_from(ok.affected_rows).unwrap_or(i64::MAX) };
        let mut hidden = false;
        if !ok.changes.is_empty() {
            for record in records(ok.changes) {
                let record = record?;
                view.apply(&record);
                answer.state_changed |= matches!(record, Record::StateChange([.., b'1']));
                hidden |= self.hides(&record);
            }
        }
        let end_differs = is_end && self.inserts_eof();
        let told = answer.told.filter(|told| *told != ok.warnings);
        let loses_changes = !self.client.contains(Capabilities::SESSION_TRACK)
            && ok.status.contains(Status::SESSION_STATE_CHANGED);
        if !end_differs && !loses_changes && !hidden && told.is_none() {
            return Ok(Change::Keep);
        }
        let mut seq = Header::parse(header).ok_or(ProtocolError::Truncated)?.seq;
        let kept = if hidden { self.without_hidden(ok.changes)? } else { Vec::new() };
        let changes = if hidden { &kept } else { ok.changes };
        let ok = OkPacket { changes, warnings: told.unwrap_or(ok.warnings), ..ok };
        packet::build(out, &mut seq, |out| match is_end {
            true => ok.write_end(self.client, out),
            false => ok.write(self.client, out),
        });
        Ok(Change::Replace)
    }

    /// Whether only the proxy asked for a record.
    fn hides(&self, record: &Record<'_>) -> bool {
        match record {
            Record::SystemVariable { name, .. } => {
                self.hides_mode && name.eq_ignore_ascii_case(b"sql_mode")
                    || self.hides_charset && name.eq_ignore_ascii_case(b"character_set_client")
            }
            Record::StateChange(_) => self.hides_state,
            _ => false,
        }
    }

    /// State changes without those that only the proxy asked for.
    fn without_hidden(&self, changes: &[u8]) -> Result<Vec<u8>, ProtocolError> {
        let mut kept = Vec::with_capacity(changes.len());
        for record in records(changes) {
            let record = record?;
            if !self.hides(&record) {
                record.write(&mut kept);
            }
        }
        Ok(kept)
    }
}
