//! Commands that name prepared statements. A session that shares connections gives its statements ids of its own, and has each
//! prepared on whichever connection it is to run on.

use std::sync::Arc;

use backend::pool::Lease;
use backend::statements::Statement;
use sql::traces::{List, Soft};
use sql::{Product, Traces};
use wire::execute::{self, Types};
use wire::follow::Expect;
use wire::packet::{self, HEADER, Header};
use wire::{Command, SqlError, Status};

use super::attach::{Named, Purpose, Wants};
use super::command::Next;
use super::relay::Answer;
use super::server::Warnings;
use super::statements::{Hold, LAST, MOST, Moving, Prepared};
use super::{End, Session, patch};
use crate::planner::Planned;

const UNKNOWN_STATEMENT: u16 = 1243;
const NO_CURSOR: u16 = 1421;
pub(super) const WRONG_ARGUMENTS: u16 = 1210;
const TOO_MANY_STATEMENTS: u16 = 1461;

/// A statement that is about to be prepared.
#[derive(Debug)]
pub(super) struct Coming {
    /// The id that the client is told; the server's own where there is none.
    pub(super) id: Option<u32>,
    statement: Option<Arc<Statement>>,
}

/// Of a statement that was not looked at, which is one of more than a megabyte: few of them ask for warnings or counts.
pub(super) fn unseen() -> Traces {
    Traces { reads: Soft::INSERT_ID, ..Traces::unknown() }
}

/// What a command needs that names a statement and does not execute it.
fn other(id: u32) -> Wants {
    Wants { traces: quiet(), statement: Some(Named { id, purpose: Purpose::Other }) }
}

/// As the servers word it, who name one of their functions.
pub(super) fn unknown(id: u32, product: Product) -> SqlError {
    let asked_by = if product == Product::MySql { "mysql_stmt_precheck" } else { "mysqld_stmt_execute" };
    let text = format!("Unknown prepared statement handler ({id}) given to {asked_by}");
    SqlError::new(UNKNOWN_STATEMENT, text)
}

fn quiet() -> Traces {
    Traces { list: List::Quiet, ..Traces::default() }
}

impl Session {
    /// COM_STMT_PREPARE. Goes on as it came: a rewritten statement would outlive the catalog that it was proven by.
    pub(super) async fn prepare(&mut self, header: Header, bytes: &[u8], text: &[u8]) -> Result<Next, End> {
        let planned = self.plan(text).await?;
        if let Some(planned) = &planned
            && let router::plan::Plan::Local = planned.plan()
        {
            let text = "This command is not supported in the prepared statement protocol yet";
            return self.refuse(header, &SqlError::new(1295, text)).await;
        }
        self.statements.forget_last();
        if let Some(error) = self.attach(Traces::default()).await? {
            return self.refuse(header, &error).await;
        }
        if self.statements.len() >= MOST {
            let text =
                format!("Can't create more than max_prepared_stmt_count statements (current value: {MOST})");
            return self.refuse(header, &SqlError::new(TOO_MANY_STATEMENTS, text)).await;
        }
        self.coming = Some(self.announce_statement(Some(text)).await?);
        self.send_server(bytes).await?;
        Ok(Next::Relay { expect: Expect::Prepare, counted: planned, rewritten: false })
    }

    /// Finds out what the statement is that is about to be prepared on the connection in hand; a text that is not in hand
    /// makes one that stays there.
    pub(super) async fn announce_statement(&mut self, text: Option<&[u8]>) -> Result<Coming, End> {
        let pool = &self.shared.home().pool;
        let (Some(sharing), Some(lease)) = (&mut self.server.sharing, &mut self.server.link) else {
            return Ok(Coming { id: None, statement: None });
        };
        let origin = match text.filter(|_| sharing.pin.is_none()) {
            Some(text) => sharing.know_profile(lease, pool).await?.map(|profile| (text, profile)),
            None => None,
        };
        let statement = match origin {
            Some((text, profile)) => self.statements.intern(pool.statements(), text, &profile),
            None => pool.statements().bound(),
        };
        Ok(Coming { id: Some(self.statements.next_id()), statement: Some(statement) })
    }

    /// The server has prepared it, and the client was told so.
    pub(super) fn arrived(&mut self, planned: Option<Arc<Planned>>, answer: &Answer) {
        let (Some(coming), Some((server, params))) = (self.coming.take(), answer.prepared) else { return };
        let registry = self.shared.home().pool.statements();
        let moving = coming.statement.map(|statement| Moving::new(statement, params));
        if let (Some(moving), Some(lease)) = (&moving, &mut self.server.link) {
            lease.statements.put(&moving.statement, server, registry);
        }
        self.statements.insert(coming.id.unwrap_or(server), Prepared { planned, moving });
    }

    /// COM_STMT_EXECUTE and COM_STMT_BULK_EXECUTE.
    pub(super) async fn execute(&mut self, header: Header, bytes: &mut [u8], id: u32) -> Result<Next, End> {
        if self.server.sharing.is_none() {
            let counted = self.statements.planned(id).cloned();
            self.send_server(bytes).await?;
            return Ok(Next::Relay { expect: Expect::Execute, counted, rewritten: false });
        }
        let Some((id, traces)) = self.execution(id) else {
            return self.forward_unknown(header, bytes, id, Expect::Execute).await;
        };
        let counted = self.statements.planned(id).cloned();
        if let Some(error) = self.ready(id, traces, bytes.get(HEADER..).unwrap_or_default()).await? {
            return self.refuse(header, &error).await;
        }
        let payload = bytes.get(HEADER..).unwrap_or_default();
        match self.address(id, payload) {
            Err(error) => return self.refuse_here(header, &error).await,
            Ok(Addressed { server, types: None }) => {
                execute::set_statement(bytes.get_mut(HEADER..).unwrap_or_default(), server);
                self.send_server(bytes).await?;
            }
            Ok(Addressed { server, types: Some((gap, types)) }) => {
                let mut whole = Vec::with_capacity(payload.len() + types.len());
                gap.fill(payload, &types, &mut whole);
                execute::set_statement(&mut whole, server);
                let (mut out, mut seq) = (Vec::with_capacity(whole.len() + HEADER), header.seq);
                packet::build(&mut out, &mut seq, |out| out.extend_from_slice(&whole));
                self.send_server(&out).await?;
            }
        }
        self.executing = Some(id);
        Ok(Next::Relay { expect: Expect::Execute, counted, rewritten: false })
    }

    /// The statement that an execution names, and what it may leave behind; `None` for one that nobody has.
    pub(super) fn execution(&self, id: u32) -> Option<(u32, Traces)> {
        let id = self.statements.meant(id);
        let prepared = self.statements.get(id)?;
        Some((id, prepared.planned.as_ref().map_or_else(unseen, |planned| planned.traces())))
    }

    /// A command names a statement that the session does not have: the server says so best, if it has none of that id either.
    async fn forward_unknown(
        &mut self,
        header: Header,
        bytes: &[u8],
        id: u32,
        expect: Expect,
    ) -> Result<Next, End> {
        let known = |lease: &mut Lease| id == LAST || lease.statements.has(id);
        // Its error is added to the session's list, which has to be there, unless it is lost.
        let lost = self.server.sharing.as_ref().is_some_and(|it| matches!(it.warnings, Warnings::Lost));
        let reads = if lost { Soft::empty() } else { Soft::DIAGNOSTICS };
        let traces = Traces { reads, ..quiet() };
        if let Some(error) = self.attach(traces).await? {
            return self.refuse(header, &error).await;
        }
        self.patch = None;
        if self.server.link.as_mut().is_some_and(known) {
            return self.refuse_here(header, &unknown(id, self.view.flavor.product)).await;
        }
        self.send_server(bytes).await?;
        Ok(Next::Relay { expect, counted: None, rewritten: false })
    }

    /// Answers with an error that the server would have kept for SHOW WARNINGS.
    async fn refuse_here(&mut self, header: Header, error: &SqlError) -> Result<Next, End> {
        if let Some(sharing) = &mut self.server.sharing {
            sharing.warnings = Warnings::Lost;
            sharing.warning_count = 1;
            sharing.counts.rows = -1;
        }
        self.refuse(header, error).await
    }

    /// Gets a connection with the statement on it; returns the error that its execution is answered with if it cannot be had.
    pub(super) async fn ready(
        &mut self,
        id: u32,
        traces: Traces,
        payload: &[u8],
    ) -> Result<Option<SqlError>, End> {
        let owed = self.statements.moving_mut(id).and_then(|moving| moving.owed.take());
        if owed.is_some() {
            return Ok(owed);
        }
        if self.view.flavor.product == Product::MySql {
            let registry = self.shared.home().pool.statements();
            self.statements.follow_kinds(id, payload, self.server.capabilities, registry);
        }
        let purpose = if execute::opens_cursor(payload) { Purpose::Cursor } else { Purpose::Rows };
        if let Some(error) = self.attach(Wants { traces, statement: Some(Named { id, purpose }) }).await? {
            return Ok(Some(error));
        }
        Ok(self.patch.take().map(|_| patch::lost_state()))
    }

    /// Where the statement is on the connection in hand, and which types the execution must carry that the client left out.
    /// Both sides remember what it carries.
    pub(super) fn address(&mut self, id: u32, payload: &[u8]) -> Result<Addressed, SqlError> {
        let capabilities = self.server.capabilities;
        let Some(moving) = self.statements.moving_mut(id) else {
            return Err(unknown(id, self.view.flavor.product));
        };
        let entry = self.server.link.as_mut().and_then(|lease| lease.statements.find(&moving.statement));
        let entry = entry.ok_or_else(patch::lost_state)?;
        let wrong = || SqlError::new(WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_execute");
        let server = entry.server;
        let types = match execute::types(payload, moving.params, capabilities) {
            // The server says what is wrong with it.
            Ok(Types::None) | Err(_) => None,
            Ok(Types::Sent(types)) => {
                for list in [&mut moving.types, &mut entry.types] {
                    if list != types {
                        list.clear();
                        list.extend_from_slice(types);
                    }
                }
                None
            }
            // Or that they are missing, if it has none either.
            Ok(Types::Omitted(_)) if moving.types.is_empty() && !entry.types.is_empty() => {
                return Err(wrong());
            }
            Ok(Types::Omitted(_)) if entry.types == moving.types => None,
            Ok(Types::Omitted(gap)) => {
                entry.types.clone_from(&moving.types);
                Some((gap, moving.types.clone()))
            }
        };
        Ok(Addressed { server, types })
    }

    /// What an execution or a fetch left behind.
    pub(super) fn executed(&mut self, answer: &Answer) {
        let Some(id) = self.executing.take() else { return };
        let open =
            self.status.contains(Status::CURSOR_EXISTS) && !self.status.contains(Status::LAST_ROW_SENT);
        let hold = match self.statements.moving(id).map_or(Hold::Nothing, |moving| moving.hold) {
            // A wrong piece of long data is remembered until the statement is reset.
            Hold::LongData if answer.error => Hold::LongData,
            _ if open && !answer.error => Hold::Cursor,
            _ => Hold::Nothing,
        };
        self.statements.hold(id, hold);
        self.discard_mixed(id);
        if answer.error {
            // Who knows whether the server took the types.
            self.forget_types(id);
        }
    }

    /// What the server has of a statement that was executed with long data computes by kinds that nobody knows.
    fn discard_mixed(&mut self, id: u32) {
        if let Some(moving) = self.statements.moving_mut(id)
            && moving.hold == Hold::Nothing
            && std::mem::take(&mut moving.mixed)
            && let Some(lease) = &mut self.server.link
        {
            lease.statements.discard(&moving.statement);
        }
    }

    /// The connection's statement does not have the types that were noted with it: the next execution brings them again.
    pub(super) fn forget_types(&mut self, id: u32) {
        if let Some(statement) = self.statements.statement(id)
            && let Some(lease) = &mut self.server.link
            && let Some(entry) = lease.statements.find(statement)
        {
            entry.types.clear();
        }
    }

    /// COM_STMT_FETCH.
    pub(super) async fn fetch(&mut self, header: Header, bytes: &mut [u8], id: u32) -> Result<Next, End> {
        if self.server.sharing.is_none() {
            return self.forward(header, bytes, Expect::Fetch, quiet()).await;
        }
        let id = self.statements.meant(id);
        let Some(moving) = self.statements.moving(id) else {
            return self.forward_unknown(header, bytes, id, Expect::Fetch).await;
        };
        if moving.hold != Hold::Cursor {
            let end = if self.view.flavor.product == Product::MySql { "." } else { "" };
            let text = format!("The statement ({id}) has no open cursor{end}");
            return self.refuse_here(header, &SqlError::new(NO_CURSOR, text)).await;
        }
        let next = self.forward_to(header, bytes, id, Expect::Fetch).await?;
        if matches!(next, Next::Relay { .. }) {
            self.executing = Some(id);
        }
        Ok(next)
    }

    /// COM_STMT_SEND_LONG_DATA, which has no answer.
    pub(super) async fn long_data(&mut self, header: Header, bytes: &mut [u8], id: u32) -> Result<Next, End> {
        if self.server.sharing.is_none() {
            return self.forward(header, bytes, Expect::None, quiet()).await;
        }
        if let Some(server) = self.long_data_at(id).await? {
            execute::set_statement(bytes.get_mut(HEADER..).unwrap_or_default(), server);
            self.send_server(bytes).await?;
        }
        Ok(Next::Answered)
    }

    /// The server's id of a statement that gets a part of a parameter's value now; `None` where nothing can be sent.
    pub(super) async fn long_data_at(&mut self, id: u32) -> Result<Option<u32>, End> {
        let id = self.statements.meant(id);
        if self.statements.moving(id).is_none() {
            // As the servers do.
            return Ok(None);
        }
        if let Some(error) = self.attach(other(id)).await? {
            if let Some(moving) = self.statements.moving_mut(id) {
                moving.owed = Some(error);
            }
            return Ok(None);
        }
        self.statements.hold(id, Hold::LongData);
        Ok(self.placed_at(id))
    }

    /// COM_STMT_RESET.
    pub(super) async fn reset_statement(
        &mut self,
        header: Header,
        bytes: &mut [u8],
        id: u32,
    ) -> Result<Next, End> {
        if self.server.sharing.is_none() {
            return self.forward(header, bytes, Expect::Simple, quiet()).await;
        }
        let id = self.statements.meant(id);
        let Some(moving) = self.statements.moving_mut(id) else {
            return self.forward_unknown(header, bytes, id, Expect::Simple).await;
        };
        moving.owed = None;
        let held = moving.hold != Hold::Nothing;
        self.statements.hold(id, Hold::Nothing);
        if held {
            let next = self.forward_to(header, bytes, id, Expect::Simple).await;
            self.discard_mixed(id);
            return next;
        }
        if self.view.flavor.product == Product::MySql
            && let Some(sharing) = &mut self.server.sharing
        {
            (sharing.warning_count, sharing.warnings_reset) = (0, true);
        }
        // There is nothing to reset, on whatever connection; the answer is the same.
        let mut out = Vec::new();
        let mut seq = header.seq;
        packet::build(&mut out, &mut seq, |out| Command::Ping.write(self.server.capabilities, out));
        self.forward(header, &out, Expect::Simple, quiet()).await
    }

    /// COM_STMT_CLOSE, which has no answer. Where a session shares connections, the server is told by whoever uses the
    /// statement's connection next.
    pub(super) async fn close_statement(
        &mut self,
        header: Header,
        bytes: &[u8],
        id: u32,
    ) -> Result<Next, End> {
        if self.server.sharing.is_none() {
            self.statements.remove(id);
            return self.forward(header, bytes, Expect::None, Traces::default()).await;
        }
        let id = self.statements.meant(id);
        // Parts of a value, or a cursor, are left with what the server has: nobody else is to find them there.
        if let Some(moving) = self.statements.moving(id)
            && (moving.hold != Hold::Nothing || moving.mixed)
            && let Some(lease) = &mut self.server.link
        {
            lease.statements.discard(&moving.statement);
        }
        self.statements.remove(id);
        Ok(Next::Answered)
    }

    /// Sends a command on to the statement that it names.
    async fn forward_to(
        &mut self,
        header: Header,
        bytes: &mut [u8],
        id: u32,
        expect: Expect,
    ) -> Result<Next, End> {
        if let Some(error) = self.attach(other(id)).await? {
            return self.refuse(header, &error).await;
        }
        let Some(server) = self.placed_at(id) else {
            return self.refuse(header, &patch::lost_state()).await;
        };
        execute::set_statement(bytes.get_mut(HEADER..).unwrap_or_default(), server);
        self.send_server(bytes).await?;
        Ok(Next::Relay { expect, counted: None, rewritten: false })
    }

    fn placed_at(&mut self, id: u32) -> Option<u32> {
        let statement = self.statements.statement(id)?;
        Some(self.server.link.as_mut()?.statements.find(statement)?.server)
    }
}

/// An execution on the connection in hand.
#[derive(Debug)]
pub(super) struct Addressed {
    /// The server's id of the statement.
    pub(super) server: u32,
    /// The types that it must carry besides, and where.
    pub(super) types: Option<(execute::Gap, Vec<u8>)>,
}
