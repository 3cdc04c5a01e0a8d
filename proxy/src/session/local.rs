//! Statements that the proxy answers itself.

use wire::packet::{self, Header};
use wire::{Capabilities, ColumnDef, ColumnFlags, ColumnType, EofPacket, OkPacket, SqlError, Status, code};

use super::command::Next;
use super::{End, Session};
use crate::admin::{self, Answer, Kind, Statement, Switch};
use crate::explain::explain;
use crate::stats::Counter;

impl Session {
    /// Answers a statement about the proxy.
    pub(super) async fn local(&mut self, header: Header, text: &[u8]) -> Result<Next, End> {
        self.shared.stats.totals.add(Counter::Local, 1);
        match self.answer(text).await {
            Ok(Some(answer)) => self.send_answer(header, &answer).await,
            Ok(None) => self.send_ok(header).await,
            Err(error) => self.refuse(header, &error).await,
        }
    }

    async fn answer(&self, text: &[u8]) -> Result<Option<Answer>, SqlError> {
        let statement = match admin::parse(text, self.view.flavor) {
            Some(statement) => statement?,
            // The plan was made for an equal digest, so this cannot be; and if it is, it is no statement of ours.
            None => return Err(SqlError::new(code::PARSE, "not a statement of the proxy")),
        };
        let address = self.client.stream.peer().map(|peer| peer.ip().to_canonical());
        if !self.shared.live().admins.contains(&self.client.identity.user, address) {
            return Err(admin::not_an_admin());
        }
        match statement {
            Statement::Read(query) => {
                // Its bound is seconds: not on the thread that other sessions live on.
                let shared = self.shared.clone();
                let answer = tokio::task::spawn_blocking(move || admin::execute(&query, &*shared)).await;
                answer.map_err(|error| SqlError::new(code::UNKNOWN, error.to_string()))?.map(Some)
            }
            Statement::Reload => match self.shared.reload().await {
                Ok(_) => Ok(None),
                Err(faults) => {
                    let text: Vec<String> = faults.iter().map(ToString::to_string).collect();
                    Err(SqlError::new(code::UNKNOWN, format!("nothing was changed: {}", text.join("; "))))
                }
            },
            Statement::Set { switch: Switch::Rules, on } => {
                tracing::warn!(user = self.client.identity.user, on, "rules were switched");
                self.shared.change_rules(|old| (on, old.set.clone()));
                Ok(None)
            }
            Statement::Explain(text) => {
                let lines = explain(&self.shared, &self.view.question(text)).lines();
                Ok(Some(Answer {
                    columns: vec![("what".to_owned(), Kind::Text), ("value".to_owned(), Kind::Text)],
                    rows: lines.into_iter().map(|(what, value)| vec![Some(what), Some(value)]).collect(),
                }))
            }
        }
    }

    pub(super) async fn send_ok(&mut self, header: Header) -> Result<Next, End> {
        let mut seq = header.seq.wrapping_add(1);
        let mut bytes = Vec::new();
        let ok = OkPacket { status: self.own_status(), ..OkPacket::default() };
        packet::build(&mut bytes, &mut seq, |out| ok.write(self.client.identity.capabilities, out));
        self.client.stream.write_all(&bytes).await.map_err(End::ClientLost)?;
        Ok(Next::Answered)
    }

    /// Sends a text result.
    async fn send_answer(&mut self, header: Header, answer: &Answer) -> Result<Next, End> {
        let capabilities = self.client.identity.capabilities;
        let mut seq = header.seq.wrapping_add(1);
        let mut bytes = Vec::new();
        packet::build(&mut bytes, &mut seq, |out| wire::codec::put_lenenc(out, answer.columns.len() as u64));
        for (name, kind) in &answer.columns {
            let column = column(name, *kind);
            packet::build(&mut bytes, &mut seq, |out| column.write(capabilities, out));
        }
        if !capabilities.contains(Capabilities::DEPRECATE_EOF) {
            let eof = EofPacket { warnings: 0, status: self.own_status() };
            packet::build(&mut bytes, &mut seq, |out| eof.write(out));
        }
        for row in &answer.rows {
            packet::build(&mut bytes, &mut seq, |out| {
                for cell in row {
                    match cell {
                        None => out.push(wire::codec::NULL),
                        Some(text) => wire::codec::put_lenenc_bytes(out, text.as_bytes()),
                    }
                }
            });
        }
        let end = OkPacket { status: self.own_status(), ..OkPacket::default() };
        packet::build(&mut bytes, &mut seq, |out| end.write_end(capabilities, out));
        self.client.stream.write_all(&bytes).await.map_err(End::ClientLost)?;
        Ok(Next::Answered)
    }

    fn own_status(&self) -> Status {
        self.status - (Status::MORE_RESULTS_EXISTS | Status::SESSION_STATE_CHANGED)
    }
}

fn column(name: &str, kind: Kind) -> ColumnDef<'_> {
    /// utf8mb4_general_ci, in which every server knows the proxy's own texts.
    const UTF8MB4: u16 = 45;
    const BINARY: u16 = 63;
    let (kind, charset, length, decimals, flags) = match kind {
        Kind::Int => (ColumnType::LONGLONG, BINARY, 20, 0, ColumnFlags::BINARY),
        Kind::Float => (ColumnType::DOUBLE, BINARY, 23, 31, ColumnFlags::BINARY),
        Kind::Text => (ColumnType::VAR_STRING, UTF8MB4, 4 * 65_535, 0, ColumnFlags::empty()),
    };
    ColumnDef { name: name.as_bytes(), charset, length, kind, flags, decimals, ..ColumnDef::default() }
}
