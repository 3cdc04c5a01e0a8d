//! KILL: the ids that clients were greeted with become the backend's own.

use std::sync::Arc;

use sql::digest::LiteralKind;
use sql::traces::Pin;
use sql::{Keyword, Scanner, Traces, Unit};
use wire::follow::Expect;
use wire::packet::{self, Header};
use wire::{Command, SqlError};

use super::command::Next;
use super::{End, Session};
use crate::planner::Planned;
use crate::shared::Shared;
use crate::stats::{Aim, SessionInfo};

/// Whether a text begins like a KILL, behind nothing but space.
pub(super) fn is_kill(text: &[u8]) -> bool {
    text.trim_ascii_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"kill"))
}

/// ER_KILL_DENIED_ERROR.
const KILL_DENIED: u16 = 1095;

/// What a KILL is aimed at.
enum Target {
    /// A connection of the backend by its own number.
    Thread(u32),
    /// A session that holds no connection now: nothing runs there.
    Idle(Arc<SessionInfo>),
}

/// Whose connections a `KILL USER` ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Whom {
    /// `None`: the killer's own.
    name: Option<String>,
    host: Option<String>,
}

impl Session {
    /// `KILL [HARD | SOFT] [CONNECTION | QUERY] id`. An id that is not a session's here goes on as it came: it is the
    /// backend's own, from its process list or CONNECTION_ID(). Who may kill whom is the server's decision, as the
    /// statement runs on the killer's own connection; but for sessions that hold none, where the proxy decides as the
    /// servers do for users without privileges.
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
        let query = scan.units.iter().any(|unit| unit.is(Keyword::Query));
        // The one literal is the id, so everything before it stays as it was written.
        let start = scan
            .units
            .get(scan.slots.first().map_or(0, |slot| slot.unit as usize))
            .map_or(0, |unit| unit.start);
        // A connection first: who waits for one must not keep the target from letting go of its own.
        let mut traces = planned.as_ref().map_or(Traces::unknown(), |planned| planned.traces());
        if let Some(error) = self.attach(traces).await? {
            return self.refuse(header, &error).await;
        }
        if id.is_some_and(|id| id == self.member.id() || id == self.server.thread_id()) {
            // What is about to be closed is not shared.
            traces.pin = Some(Pin::NotUnderstood);
            self.traces = traces;
        }
        let target = id.and_then(|id| self.target(id, !query));
        if let Some(Target::Idle(session)) = &target {
            return self.kill_idle(header, session, query).await;
        }
        match target {
            Some(Target::Thread(thread)) => {
                let mut new = text.get(..start as usize).unwrap_or_default().to_vec();
                new.extend_from_slice(thread.to_string().as_bytes());
                self.send_query(header, &wire::Query::new(&new)).await?;
            }
            _ => self.send_server(bytes).await?,
        }
        self.kills = if query { None } else { killed_user(text, scan.units) };
        Ok(Next::Relay { expect: Expect::Query, counted: planned, rewritten: false })
    }

    /// After a `KILL USER` that the server has answered with OK: the user's sessions that hold no connection end as well.
    pub(super) async fn kill_idle_of(&self, whom: Whom) {
        let address = self.client.stream.peer().map(|peer| peer.ip().to_canonical());
        let own = &self.client.identity.user;
        let name = whom.name.unwrap_or_else(|| own.clone());
        let may = name == *own || self.shared.live().admins.contains(own, address);
        // As the server names the proxy, which is what it compares.
        let fits = match whom.host {
            Some(host) if host != "%" => self.server_sees().await == Some(host),
            _ => true,
        };
        if !may || !fits {
            return;
        }
        for row in self.shared.stats.sessions.read() {
            let idle = self
                .shared
                .stats
                .sessions
                .get(row.id)
                .filter(|_| row.user == name && row.backend_thread == 0);
            if let Some(session) = idle {
                self.shared.kill(&session);
            }
        }
    }

    /// The host that the server sees the proxy as.
    async fn server_sees(&self) -> Option<String> {
        let mut control = self.shared.home().control.connect().await.ok()?;
        let host = control.first("SELECT SUBSTRING_INDEX(USER(), '@', -1)").await.ok()?;
        control.close().await;
        host
    }

    /// COM_PROCESS_KILL.
    pub(super) async fn process_kill(&mut self, header: Header, id: u32) -> Result<Next, End> {
        let mut traces = Traces::default();
        if let Some(error) = self.attach(traces).await? {
            return self.refuse(header, &error).await;
        }
        if id == self.member.id() || id == self.server.thread_id() {
            traces.pin = Some(Pin::NotUnderstood);
            self.traces = traces;
        }
        let id = match self.target(id, true) {
            None => id,
            Some(Target::Thread(thread)) => thread,
            Some(Target::Idle(session)) => return self.kill_idle(header, &session, false).await,
        };
        let mut bytes = Vec::new();
        let mut seq = header.seq;
        packet::build(&mut bytes, &mut seq, |out| {
            Command::ProcessKill(id).write(self.server.capabilities, out);
        });
        self.send_server(&bytes).await?;
        Ok(Next::Relay { expect: Expect::Simple, counted: None, rewritten: false })
    }

    /// Aims at a session of this proxy, until the answer has come; at the `whole` of it, or at what it runs.
    fn target(&mut self, id: u32, whole: bool) -> Option<Target> {
        let session = self.shared.stats.sessions.get(id)?;
        let aim = Aim::at(&session);
        Some(match session.thread(&aim) {
            0 => Target::Idle(session),
            thread => {
                // One's own connection is not let go of before the answer anyway.
                self.aim = (id != self.member.id()).then_some((aim, whole));
                Target::Thread(thread)
            }
        })
    }

    async fn kill_idle(&mut self, header: Header, session: &SessionInfo, query: bool) -> Result<Next, End> {
        let address = self.client.stream.peer().map(|peer| peer.ip().to_canonical());
        let user = &self.client.identity.user;
        if session.read().user != *user && !self.shared.live().admins.contains(user, address) {
            let text = format!("You are not owner of thread {}", session.id());
            return self.refuse(header, &SqlError::new(KILL_DENIED, text)).await;
        }
        if !query {
            self.shared.kill(session);
        }
        self.send_ok(header).await
    }
}

/// Interrupts the statement that runs on a connection of the home backend (`timeouts.statement`).
pub(super) fn interrupt(shared: Arc<Shared>, aim: Aim, thread: u32) {
    tokio::spawn(async move {
        // The connection stays the session's until the answer has come.
        let _aim = aim;
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

/// Whom a text names behind `USER`; `None` where it has no such word.
fn killed_user(text: &[u8], units: &[Unit]) -> Option<Whom> {
    let word = |unit: &Unit| unit.of(text);
    let at = units.iter().take(4).find(|unit| word(unit).eq_ignore_ascii_case(b"user"))?;
    let named = String::from_utf8_lossy(text.get(at.end as usize..)?).into_owned();
    let (name, rest) = part(&named)?;
    if matches!(name.to_ascii_lowercase().as_str(), "current_user" | "current_user()") {
        return Some(Whom { name: None, host: None });
    }
    let host = rest.trim_start().strip_prefix('@').and_then(part).map(|(host, _)| host);
    Some(Whom { name: Some(name), host })
}

/// A name, quoted or not, and what stands behind it.
fn part(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next()?;
    if let '\'' | '"' | '`' = quote {
        let (name, rest) = text.get(1..)?.split_once(quote)?;
        return Some((name.to_owned(), rest));
    }
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '@' | ';')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

#[cfg(test)]
mod tests;
