//! Decides what happens to one command, sends it on, and relays its answer.

use std::sync::Arc;
use std::time::Instant;

use backend::catalog::Ddl;
use router::plan::Plan;
use sql::traces::{Changes, List, Pin};
use sql::{Marks, Traces, Verb};
use wire::follow::Expect;
use wire::packet::{self, HEADER, Header};
use wire::{Command, Query, SqlError, code};

use super::kill;
use super::relay::Answer;
use super::view::Certainty;
use super::{End, Session};
use crate::planner::Planned;
use crate::stats::{Activity, Counter};

/// First byte of COM_CHANGE_USER.
const CHANGE_USER: u8 = 0x11;

/// What follows after a command was sent on.
#[derive(Debug)]
pub(super) enum Next {
    /// The backend's answer is relayed.
    Relay {
        expect: Expect,
        /// What is counted under its digest.
        counted: Option<Arc<Planned>>,
        /// Another text than the client's is running.
        rewritten: bool,
    },
    /// The client was answered, or no answer is due.
    Answered,
}

/// A command whose answer was relayed.
struct Run {
    expect: Expect,
    counted: Option<Arc<Planned>>,
    rewritten: bool,
    started: Instant,
    /// Bytes of the command.
    received: usize,
}

impl Next {
    const fn plain(expect: Expect) -> Self {
        Self::Relay { expect, counted: None, rewritten: false }
    }
}

impl Session {
    /// One command that is whole in the client's buffer.
    pub(super) async fn command(&mut self, header: Header) -> Result<(), End> {
        let started = Instant::now();
        self.patch = None;
        self.told = None;
        self.aim = None;
        self.kills = None;
        self.coming = None;
        self.executing = None;
        let extent = HEADER + header.len;
        // The buffer leaves the session while it is looked at, so that the bytes can be borrowed and sent as they are.
        let mut input = std::mem::take(&mut self.client.input);
        let bytes = input.filled_mut().get_mut(..extent).unwrap_or_default();
        let next = self.dispatch(header, bytes).await;
        input.consume(extent);
        self.client.input = input;
        let Next::Relay { expect, counted, rewritten } = next? else {
            self.aim = None;
            return Ok(());
        };
        // Declared before the relay: the catalog is in doubt until the answer has come, or the session is lost.
        let _ddl = counted.as_ref().and_then(|planned| self.doubt_catalog(planned));
        let answer = self.relay(expect).await?;
        self.note(expect, &answer);
        if let Some((aim, true)) = &self.aim
            && !answer.error
        {
            // It may have let go of the connection that the server closes now.
            self.shared.kill(aim.session());
        }
        self.aim = None;
        if let Some(whom) = self.kills.take()
            && !answer.error
        {
            self.kill_idle_of(whom).await;
        }
        let run = Run { expect, counted, rewritten, started, received: extent };
        self.settle(run, answer);
        Ok(())
    }

    async fn dispatch(&mut self, header: Header, bytes: &mut [u8]) -> Result<Next, End> {
        let payload = bytes.get(HEADER..).unwrap_or_default();
        let command = match Command::parse(payload, self.client.identity.capabilities) {
            Ok(command) => command,
            // Who logs in is at stake: as at the servers, the connection ends.
            Err(error) if payload.first() == Some(&CHANGE_USER) => return Err(End::ClientProtocol(error)),
            // Where the next command begins is known, so the session lives.
            Err(_) => {
                let error = SqlError::new(code::MALFORMED_PACKET, "Malformed communication packet");
                return self.refuse(header, &error).await;
            }
        };
        self.member.begin(activity(&command));
        match command {
            Command::Quit => Err(End::Quit),
            Command::Query(query) => self.query(header, bytes, query).await,
            Command::StmtPrepare(text) => self.prepare(header, bytes, text).await,
            Command::StmtExecute(wire::StmtExecute { id, .. }) | Command::StmtBulkExecute { id, .. } => {
                self.execute(header, bytes, id).await
            }
            Command::StmtFetch { id, .. } => self.fetch(header, bytes, id).await,
            Command::StmtSendLongData { id, .. } => self.long_data(header, bytes, id).await,
            Command::StmtReset(id) => self.reset_statement(header, bytes, id).await,
            Command::StmtClose(id) => self.close_statement(header, bytes, id).await,
            Command::ProcessKill(id) => self.process_kill(header, id).await,
            // Boxed, as in `attach`: it logs in.
            Command::ChangeUser(_) => Box::pin(self.change_user(header, payload)).await,
            Command::ResetConnection => self.reset_connection(header, bytes).await,
            Command::BinlogDump(_) | Command::BinlogDumpGtid(_) | Command::RegisterReplica(_) => {
                let text =
                    "replication does not go through the proxy; connect the replica to its server directly";
                self.refuse(header, &SqlError::new(code::UNKNOWN_COM, text)).await
            }
            Command::Unknown(byte) => {
                let text = format!("Unknown command (0x{byte:02x})");
                self.refuse(header, &SqlError::new(code::UNKNOWN_COM, text)).await
            }
            other => self.forward(header, bytes, other.expect(), traces(&other)).await,
        }
    }

    pub(super) async fn forward(
        &mut self,
        header: Header,
        bytes: &[u8],
        expect: Expect,
        traces: Traces,
    ) -> Result<Next, End> {
        if let Some(error) = self.attach(traces).await? {
            return match expect {
                Expect::None => Ok(Next::Answered),
                _ => self.refuse(header, &error).await,
            };
        }
        self.send_server(bytes).await?;
        Ok(if expect == Expect::None { Next::Answered } else { Next::plain(expect) })
    }

    /// Answers with an error; the session lives on.
    pub(super) async fn refuse(&mut self, header: Header, error: &SqlError) -> Result<Next, End> {
        self.send_error(header.seq.wrapping_add(1), error).await?;
        Ok(Next::Answered)
    }

    async fn query(&mut self, header: Header, bytes: &[u8], query: Query<'_>) -> Result<Next, End> {
        let text = query.text;
        let Some(planned) = self.plan(text).await? else {
            // Relay only; but ids that the proxy gave out are the proxy's to translate.
            return if kill::is_kill(text) {
                self.kill(header, bytes, text, None).await
            } else {
                self.forward(header, bytes, Expect::Query, Traces::unknown()).await
            };
        };
        let shared = self.shared.clone();
        match planned.plan() {
            Plan::Refused(error) => return self.refuse(header, error).await,
            Plan::Local => return self.local(header, text).await,
            Plan::Forward(_) if planned.verb() == Verb::Kill => {
                return self.kill(header, bytes, text, Some(planned)).await;
            }
            Plan::Forward(_) => shared.stats.totals.add(Counter::Forwarded, 1),
            Plan::Rewritten(plan) => {
                if let Some(error) = self.attach(planned.traces()).await? {
                    return self.refuse(header, &error).await;
                }
                let mut new = std::mem::take(&mut self.scratch);
                new.clear();
                let fits = shared.planner.render(plan, text, self.view.flavor, &mut new);
                if fits && self.patch.is_none() {
                    let sent = self.send_query(header, &Query { text: &new, ..query }).await;
                    self.scratch = new;
                    self.scratch.clear();
                    sent?;
                    shared.stats.totals.add(Counter::Rewritten, 1);
                    return Ok(Next::Relay {
                        expect: Expect::Query,
                        counted: Some(planned),
                        rewritten: true,
                    });
                }
                self.scratch = new;
                self.scratch.clear();
                shared.stats.totals.add(Counter::Forwarded, 1);
            }
        }
        if let Some(error) = self.attach(planned.traces()).await? {
            return self.refuse(header, &error).await;
        }
        if let Some(error) = self.send_or_patch(bytes, text).await? {
            return self.refuse(header, &error).await;
        }
        Ok(Next::Relay { expect: Expect::Query, counted: Some(planned), rewritten: false })
    }

    /// Sends another query in place of the client's.
    pub(super) async fn send_query(&mut self, header: Header, query: &Query<'_>) -> Result<(), End> {
        let mut bytes = std::mem::take(&mut self.out);
        bytes.clear();
        let mut seq = header.seq;
        packet::build(&mut bytes, &mut seq, |out| {
            Command::Query(*query).write(self.server.capabilities, out);
        });
        let sent = self.send_server(&bytes).await;
        bytes.clear();
        self.out = bytes;
        sent
    }

    /// The plan for a text; `None` where no text is looked at.
    pub(super) async fn plan(&mut self, text: &[u8]) -> Result<Option<Arc<Planned>>, End> {
        if self.shared.passthrough {
            return Ok(None);
        }
        let shared = self.shared.clone();
        let mut planned = shared.planner.plan(&shared, &self.view.question(text));
        if matches!(planned.plan(), Plan::Rewritten(_)) && self.view.certainty == Certainty::Ask {
            if self.attach(planned.traces()).await?.is_none() {
                self.ask_settings().await?;
            }
            planned = shared.planner.plan(&shared, &self.view.question(text));
        }
        if self.view.certainty == Certainty::Lost && matches!(planned.plan(), Plan::Rewritten(_)) {
            planned = planned.untouched();
        }
        // What is not understood may name anything.
        let names_variables = Marks::SYS_VAR | Marks::EXECUTABLE_COMMENT | Marks::ERROR;
        if planned.marks().intersects(names_variables) || matches!(planned.verb(), Verb::Set | Verb::Other) {
            self.leave_tracking(text).await?;
        }
        self.member.digest(planned.digest());
        Ok(Some(planned))
    }

    /// While DDL runs, and after it until the catalog was read again, no rewrite relies on the catalog.
    fn doubt_catalog(&self, planned: &Planned) -> Option<Ddl> {
        let marks = planned.marks();
        let ddl = matches!(planned.verb(), Verb::Ddl)
            || (marks.contains(Marks::MULTI) && !marks.contains(Marks::COMPOUND))
            || marks.contains(Marks::EXECUTABLE_COMMENT) && !planned.verb().is_query();
        ddl.then(|| self.shared.home().catalog.ddl_began())
    }

    /// Counts an answered command.
    fn settle(&mut self, run: Run, answer: Answer) {
        let Run { expect, counted, rewritten, started, received } = run;
        let elapsed = started.elapsed();
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let totals = &self.shared.stats.totals;
        totals.query(micros, answer.error);
        totals.add(Counter::BytesIn, received as u64);
        totals.add(Counter::BytesOut, answer.bytes);
        if answer.error && self.view.certainty == Certainty::Sure {
            self.view.certainty = Certainty::Ask;
        }
        if expect == Expect::Prepare {
            self.arrived(counted, &answer);
            return;
        }
        self.executed(&answer);
        let Some(planned) = counted else { return };
        if let Some(stats) = planned.stats() {
            stats.record(elapsed, answer.error, answer.bytes);
            if rewritten {
                stats.rewritten();
            }
        }
        planned.count_rules(rewritten);
        if planned.may_shadow() {
            self.view.shadow();
        }
        if matches!(planned.verb(), Verb::Call | Verb::Execute | Verb::Other) {
            self.shared.home().catalog.invalidate();
        }
    }
}

/// What a command without a text may leave behind.
fn traces(command: &Command<'_>) -> Traces {
    let quiet = Traces { list: List::Quiet, ..Traces::default() };
    match command {
        Command::InitDb(_) => Traces { changes: Changes::SCHEMA, ..quiet },
        Command::Ping | Command::Statistics | Command::Debug | Command::FieldList { .. } => quiet,
        Command::SetOption(_) => Traces { pin: Some(Pin::Option), ..quiet },
        _ => Traces::unknown(),
    }
}

const fn activity(command: &Command<'_>) -> Activity {
    match command {
        Command::Query(_) => Activity::Query,
        Command::StmtPrepare(_) => Activity::Prepare,
        Command::StmtExecute(_) | Command::StmtBulkExecute { .. } | Command::StmtFetch { .. } => {
            Activity::Execute
        }
        _ => Activity::Other,
    }
}
