//! KILL: the ids that clients were greeted with become the backend's own.

use std::sync::Arc;

use sql::Scanner;
use sql::digest::LiteralKind;
use wire::Command;
use wire::follow::Expect;
use wire::packet::{self, Header};

use super::command::Next;
use super::{End, Session};
use crate::planner::Planned;
use crate::shared::Shared;

/// Whether a text begins like a KILL, behind nothing but space.
pub(super) fn is_kill(text: &[u8]) -> bool {
    text.trim_ascii_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"kill"))
}

impl Session {
    /// `KILL [HARD | SOFT] [CONNECTION | QUERY] id`. An id that is not a session's here goes on as it came: it is the
    /// backend's own, from its process list or CONNECTION_ID(). Who may kill whom is the server's decision, as the
    /// statement runs on the killer's own connection.
    pub(super) async fn kill(
        &mut self,
        header: Header,
        bytes: &[u8],
        text: &[u8],
        planned: Option<Arc<Planned>>,
    ) -> Result<Next, End> {
        let mut scanner = Scanner::default();
        let scan = scanner.scan(text, self.view.flavor);
        let id = match scan.slots {
            [slot] if slot.kind == LiteralKind::Int => scan.slot(text, 0),
            _ => None,
        };
        let id = id.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        match id.and_then(|id| self.shared.stats.sessions.get(id)) {
            None => self.send_server(bytes).await?,
            Some(target) => {
                let row = target.read();
                // The one literal is the id, so everything before it stays as it was written.
                let start = scan
                    .units
                    .get(scan.slots.first().map_or(0, |slot| slot.unit as usize))
                    .map_or(0, |unit| unit.start);
                let mut new = text.get(..start as usize).unwrap_or_default().to_vec();
                new.extend_from_slice(row.backend_thread.to_string().as_bytes());
                self.send_query(header, &new).await?;
            }
        }
        Ok(Next::Relay { expect: Expect::Query, counted: planned, rewritten: false })
    }

    /// COM_PROCESS_KILL.
    pub(super) async fn process_kill(&mut self, header: Header, id: u32) -> Result<Next, End> {
        let id = self.shared.stats.sessions.get(id).map_or(id, |target| target.read().backend_thread);
        let mut bytes = Vec::new();
        let mut seq = header.seq;
        packet::build(&mut bytes, &mut seq, |out| {
            Command::ProcessKill(id).write(self.server.capabilities, out);
        });
        self.send_server(&bytes).await?;
        Ok(Next::Relay { expect: Expect::Simple, counted: None, rewritten: false })
    }
}

/// Interrupts the statement that runs on a connection of the home backend (`timeouts.statement`).
pub(super) fn interrupt(shared: Arc<Shared>, thread: u32) {
    tokio::spawn(async move {
        let killed = async {
            let mut control = shared.home().control.connect().await?;
            control.execute(&format!("KILL QUERY {thread}")).await?;
            control.close().await;
            Ok::<(), backend::control::ControlError>(())
        };
        match killed.await {
            Ok(()) => tracing::info!(thread, "a statement took too long and was interrupted"),
            Err(error) => {
                tracing::warn!(thread, %error, "a statement takes too long and cannot be interrupted")
            }
        }
    });
}
