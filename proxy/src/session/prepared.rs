//! Statements that the client has prepared. A session that shares connections gives them ids of its own, and prepares each
//! on whichever connection it is to run on.

use std::collections::HashMap;
use std::sync::Arc;

use backend::exchange::{ExchangeError, prepare};
use backend::pool::Lease;
use backend::profile::Profile;
use backend::statements::{COPIES, Registry, Statement};
use sql::traces::{List, Soft};
use sql::{Product, Traces};
use wire::execute::{self, Kind, NO_KIND, Types};
use wire::follow::Expect;
use wire::packet::{self, HEADER, Header};
use wire::{Command, SqlError, Status};

use super::attach::{Named, Purpose, Unusable, Wants, bring};
use super::command::Next;
use super::relay::Answer;
use super::server::{Sharing, Warnings};
use super::{End, Session, patch};
use crate::planner::Planned;

/// How many statements one client may have prepared at once: the servers' usual `max_prepared_stmt_count`.
const MOST: usize = 16_382;
/// MariaDB's clients name the statement prepared last so, before they know its id.
const LAST: u32 = u32::MAX;

/// The first id that a session gives of its own: far from those that servers give, who count from 1.
const FIRST: u32 = 1 << 30;

const UNKNOWN_STATEMENT: u16 = 1243;
const NO_CURSOR: u16 = 1421;
pub(super) const WRONG_ARGUMENTS: u16 = 1210;
const TOO_MANY_STATEMENTS: u16 = 1461;

/// What keeps a session on the connection where a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Nothing,
    /// Parts of a parameter's value were sent.
    LongData,
    /// It was executed with a cursor that has rows left.
    Cursor,
}

/// A statement that the client prepared.
#[derive(Debug)]
struct Prepared {
    /// What is counted for its executions; nothing where no text is looked at.
    planned: Option<Arc<Planned>>,
    /// How it moves between connections; `None` where ids are the server's.
    moving: Option<Moving>,
}

/// A statement of a session that shares connections.
#[derive(Debug)]
struct Moving {
    statement: Arc<Statement>,
    /// What it was before its parameters were of these kinds: kept, since they may be of those again.
    former: Option<Arc<Statement>>,
    /// Number of parameters.
    params: u16,
    /// Their types as the client sent them last.
    types: Vec<u8>,
    hold: Hold,
    /// What went wrong with long data, which is not answered: told at the next execution.
    owed: Option<SqlError>,
}

impl Moving {
    /// It was prepared without a default schema, to which no connection can be taken back that has one.
    fn is_schemaless(&self) -> bool {
        self.statement.origin().is_some_and(|(_, profile)| profile.schema().is_none())
    }
}

/// All of a session's.
#[derive(Debug, Default)]
pub(super) struct Statements {
    list: HashMap<u32, Prepared>,
    /// The id given last, by a session that gives its own.
    given: u32,
    /// What [`LAST`] means.
    last: Option<u32>,
    /// Statements that hold their connection.
    holding: usize,
    /// Statements that were prepared without a default schema.
    schemaless: usize,
}

/// A statement that is about to be prepared.
#[derive(Debug)]
pub(super) struct Coming {
    /// The id that the client is told; the server's own where there is none.
    pub(super) id: Option<u32>,
    statement: Option<Arc<Statement>>,
}

impl Statements {
    /// All are gone.
    pub(super) fn clear(&mut self) {
        // Ids are not given twice.
        *self = Self { given: self.given, ..Self::default() };
    }

    /// Why the session must keep the connection that it has, being in a state with this default schema.
    pub(super) fn keeps(&self, schema: Option<&str>) -> Option<&'static str> {
        if self.holding > 0 {
            return Some("a cursor, or parts of a parameter's value");
        }
        (self.schemaless > 0 && schema.is_some())
            .then_some("a statement that was prepared without a default schema")
    }

    /// The id that a client means.
    fn meant(&self, id: u32) -> u32 {
        if id == LAST { self.last.unwrap_or(id) } else { id }
    }

    /// What is counted for executions.
    fn planned(&self, id: u32) -> Option<&Arc<Planned>> {
        self.list.get(&id)?.planned.as_ref()
    }

    /// A statement that moves between connections.
    fn moving(&self, id: u32) -> Option<&Moving> {
        self.list.get(&id)?.moving.as_ref()
    }

    fn moving_mut(&mut self, id: u32) -> Option<&mut Moving> {
        self.list.get_mut(&id)?.moving.as_mut()
    }

    /// The statement behind an id.
    pub(super) fn statement(&self, id: u32) -> Option<&Arc<Statement>> {
        self.moving(id).map(|moving| &moving.statement)
    }

    /// The statement behind an id, and what it was before.
    pub(super) fn placing(&self, id: u32) -> Option<(&Arc<Statement>, Option<&Arc<Statement>>)> {
        self.moving(id).map(|moving| (&moving.statement, moving.former.as_ref()))
    }

    fn remove(&mut self, id: u32) {
        self.hold(id, Hold::Nothing);
        if let Some(Prepared { moving: Some(moving), .. }) = self.list.remove(&id)
            && moving.is_schemaless()
        {
            self.schemaless -= 1;
        }
    }

    fn insert(&mut self, id: u32, prepared: Prepared) {
        self.remove(id);
        self.schemaless += usize::from(prepared.moving.as_ref().is_some_and(Moving::is_schemaless));
        self.list.insert(id, prepared);
        self.last = Some(id);
    }

    fn hold(&mut self, id: u32, hold: Hold) {
        let Some(moving) = self.moving_mut(id) else { return };
        let before = std::mem::replace(&mut moving.hold, hold);
        self.holding += usize::from(hold != Hold::Nothing);
        self.holding -= usize::from(before != Hold::Nothing);
    }

    /// The statement for a text that is to be prepared in a state, other than those that the session has of the same.
    fn intern(&self, registry: &Registry, text: &[u8], profile: &Arc<Profile>) -> Arc<Statement> {
        let own = |copy: u8| {
            let mut statements = self.list.values().filter_map(|prepared| prepared.moving.as_ref());
            statements.any(|moving| moving.statement.is(text, profile, copy))
        };
        let copy = (0..COPIES).find(|copy| !own(*copy)).unwrap_or(COPIES);
        registry.intern(&text.into(), profile, copy)
    }
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
        self.statements.last = None;
        if let Some(error) = self.attach(Traces::default()).await? {
            return self.refuse(header, &error).await;
        }
        if self.statements.list.len() >= MOST {
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
        let statements = &mut self.statements;
        loop {
            statements.given = FIRST | statements.given.wrapping_add(1) & (FIRST - 1);
            if !statements.list.contains_key(&statements.given) {
                break;
            }
        }
        Ok(Coming { id: Some(statements.given), statement: Some(statement) })
    }

    /// The server has prepared it, and the client was told so.
    pub(super) fn arrived(&mut self, planned: Option<Arc<Planned>>, answer: &Answer) {
        let (Some(coming), Some((server, params))) = (self.coming.take(), answer.prepared) else { return };
        let registry = self.shared.home().pool.statements();
        let moving = coming.statement.map(|statement| Moving {
            statement,
            former: None,
            params,
            types: Vec::new(),
            hold: Hold::Nothing,
            owed: None,
        });
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
        let prepared = self.statements.list.get(&id)?;
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
            self.follow_kinds(id, payload);
        }
        let purpose = if execute::opens_cursor(payload) { Purpose::Cursor } else { Purpose::Rows };
        if let Some(error) = self.attach(Wants { traces, statement: Some(Named { id, purpose }) }).await? {
            return Ok(Some(error));
        }
        Ok(self.patch.take().map(|_| patch::lost_state()))
    }

    /// An execution with parameters of other kinds than before is one of another statement.
    fn follow_kinds(&mut self, id: u32, payload: &[u8]) {
        let capabilities = self.server.capabilities;
        let Some(moving) = self.statements.moving_mut(id) else { return };
        let types = match execute::types(payload, moving.params, capabilities) {
            Ok(Types::Sent(types)) => types,
            Ok(Types::Omitted(_)) => &moving.types,
            Ok(Types::None) | Err(_) => return,
        };
        let known = moving.statement.kinds();
        let before = |at: usize| known.get(at).copied().unwrap_or(NO_KIND);
        let kinds = || execute::kinds(payload, types, moving.params, capabilities);
        if kinds().enumerate().all(|(at, kind)| kind == NO_KIND || kind == before(at)) {
            return;
        }
        // What is NULL now stays what it was.
        let now = |(at, kind)| if kind == NO_KIND { before(at) } else { kind };
        let kinds: Arc<[Kind]> = kinds().enumerate().map(now).collect();
        let former = moving.former.take().filter(|former| former.kinds() == &*kinds);
        let statements = self.shared.home().pool.statements();
        let Some(next) = former.or_else(|| statements.of_kinds(&moving.statement, kinds)) else { return };
        moving.former = Some(std::mem::replace(&mut moving.statement, next));
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
        if answer.error {
            // Who knows whether the server took the types.
            self.forget_types(id);
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
            return self.forward_to(header, bytes, id, Expect::Simple).await;
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

/// A statement that a connection is to have.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    pub(super) statement: &'a Arc<Statement>,
    /// What it was before.
    pub(super) former: Option<&'a Arc<Statement>>,
    pub(super) purpose: Purpose,
}

/// Closes on a connection what nobody has prepared any more, and prepares a statement there if it is not yet.
pub(super) async fn place(
    statement: Option<Placing<'_>>,
    sharing: &mut Sharing,
    lease: &mut Lease,
    pool: &backend::pool::Pool,
) -> Result<(), Unusable> {
    let registry = pool.statements();
    tidy(lease, registry).await?;
    let Some(Placing { statement, former, purpose }) = statement else { return Ok(()) };
    if let Some(former) = former {
        lease.statements.turn(former, statement);
    }
    if let Some(entry) = lease.statements.find(statement) {
        // MySQL (9.7, tried) answers a statement that was executed with a cursor before without its rows.
        if purpose != Purpose::Rows || !entry.opened {
            entry.opened |= purpose == Purpose::Cursor;
            return Ok(());
        }
        lease.statements.discard(statement);
    }
    let Some((text, origin)) = statement.origin() else { return Err(patch::lost_state().into()) };
    let current = sharing.know_profile(lease, pool).await?;
    let Some(current) = current else { return Err(patch::lost_state().into()) };
    // Warnings and counts do not survive it.
    sharing.save(lease).await?;
    sharing.take_over();
    let elsewhere = !Arc::ptr_eq(&current, origin);
    if elsewhere {
        bring(lease, &current, origin).await?;
    }
    let prepared = prepare(lease, text).await;
    if elsewhere {
        bring(lease, origin, &current).await?;
    }
    if let Err(ExchangeError::Server(_)) = &prepared {
        // The client is told this error, and may ask for it again.
        sharing.warnings = if elsewhere { Warnings::Lost } else { Warnings::Held };
        sharing.warning_count = 1;
        sharing.counts.rows = -1;
    }
    lease.statements.put(statement, prepared?, registry);
    if let Some(entry) = lease.statements.find(statement) {
        entry.opened = purpose == Purpose::Cursor;
    }
    Ok(tidy(lease, registry).await?)
}

/// Closes what nobody has any more.
async fn tidy(lease: &mut Lease, registry: &Registry) -> Result<(), ExchangeError> {
    if !lease.statements.is_untidy(registry) {
        return Ok(());
    }
    let closing = lease.statements.to_close(registry);
    if closing.is_empty() {
        return Ok(());
    }
    let mut out = Vec::new();
    for id in closing {
        let mut seq = 0;
        packet::build(&mut out, &mut seq, |out| Command::StmtClose(id).write(lease.capabilities, out));
    }
    Ok(lease.stream.write_all(&out).await?)
}
