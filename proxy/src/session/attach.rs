//! Before a statement: a session that shares gets a connection, and brings it to its own state.

use std::io;
use std::sync::Arc;

use backend::connect::{ConnectError, Login};
use backend::exchange::{ExchangeError, first_row, send_queries};
use backend::pool::{Ask, Borrowed, Lease, Taken, shape};
use backend::profile::Profile;
use sql::traces::{List, Soft};
use sql::{Product, Traces};
use wire::{SqlError, code};

use super::patch::{Patch, lost_state};
use super::placing::{Placing, place};
use super::server::{Found, InsertId, Sharing, Warnings};
use super::{End, Session};
use crate::login::Failure;

/// How often another connection is tried where one turns out to be dead.
const TRIES: usize = 4;

/// What a command needs of its connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants {
    /// What it reads and leaves.
    pub(super) traces: Traces,
    /// The prepared statement that it names.
    pub(super) statement: Option<Named>,
}

/// A prepared statement that a command names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    /// The client's id of it.
    pub(super) id: u32,
    /// What for.
    pub(super) purpose: Purpose,
}

/// What a statement is named for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be executed without a cursor.
    Rows,
    /// To be executed with a cursor.
    Cursor,
    /// Anything else.
    Other,
}

impl From<Traces> for Wants {
    fn from(traces: Traces) -> Self {
        Self { traces, statement: None }
    }
}

/// Why no connection could be had or used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// It broke: another one may do.
    Broken,
    /// The client is told.
    Refused(SqlError),
}

impl From<ExchangeError> for Unusable {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Server(error) => Self::Refused(error),
            _ => Self::Broken,
        }
    }
}

impl From<SqlError> for Unusable {
    fn from(error: SqlError) -> Self {
        Self::Refused(error)
    }
}

impl Session {
    /// Makes sure that the session holds a connection in its own state, with the statement on it that is to be executed.
    /// Returns the error that the client gets where that cannot be.
    ///
    /// # Errors
    /// [`End`] where the session cannot go on.
    pub(super) async fn attach(&mut self, wants: impl Into<Wants>) -> Result<Option<SqlError>, End> {
        let wants = wants.into();
        self.traces = wants.traces;
        let Some(mut sharing) = self.server.sharing.take() else { return self.server.link().map(|_| None) };
        let held = self.server.link.is_some();
        let mut tries = if held { 1 } else { TRIES };
        let result = loop {
            tries -= 1;
            let result = self.attempt(&mut sharing, wants).await;
            if tries == 0 || !matches!(result, Err(Unusable::Broken)) {
                break result;
            }
        };
        if sharing.warnings_reset && wants.traces.list == List::Quiet {
            self.told = Some(sharing.warning_count);
        }
        self.server.sharing = Some(sharing);
        if !held && self.member.is_killed() {
            // While it waited: what it waited for does not run.
            return Err(End::Killed);
        }
        match result {
            Ok(()) => Ok(None),
            Err(Unusable::Refused(error)) => Ok(Some(error)),
            Err(Unusable::Broken) if held => Err(End::BackendLost(io::ErrorKind::ConnectionAborted.into())),
            Err(Unusable::Broken) => {
                let text = format!("backend {} closes its connections", self.shared.home().name());
                Ok(Some(SqlError { code: 1429, state: *b"08S01", message: text }))
            }
        }
    }

    async fn attempt(&mut self, sharing: &mut Sharing, wants: Wants) -> Result<(), Unusable> {
        let mut lease = match self.server.link.take() {
            Some(lease) => lease,
            None => match self.obtain(sharing, wants.traces).await {
                Ok(lease) => {
                    self.member.set_thread(lease.thread_id);
                    lease
                }
                Err(error) => {
                    // Whatever connection it was, it is closed.
                    sharing.lose();
                    return Err(error);
                }
            },
        };
        let named = wants.statement;
        let statement = named.and_then(|named| {
            let (statement, former) = self.statements.placing(named.id)?;
            Some(Placing { statement, former, purpose: named.purpose })
        });
        let mut ready = place(statement, sharing, &mut lease, &self.shared.home().pool).await;
        if ready.is_ok() {
            ready = self.recall(sharing, wants.traces, &mut lease).await;
        }
        if let Err(Unusable::Broken) = ready {
            drop(lease);
            sharing.lose();
        } else {
            self.server.link = Some(lease);
        }
        ready
    }

    async fn obtain(&mut self, sharing: &mut Sharing, traces: Traces) -> Result<Lease, Unusable> {
        let Some(wanted) = sharing.profile.clone() else { return Err(Unusable::Broken) };
        let wait = self.shared.live().timeouts.wait;
        let ask = Ask {
            key: &sharing.key,
            profile: &wanted,
            session: self.member.id(),
            lane: crate::stats::core(),
        };
        let borrowed = self.shared.home().pool.borrow(&ask, wait).await;
        let borrowed =
            borrowed.map_err(|busy| Unusable::Refused(SqlError::new(code::CON_COUNT, busy.to_string())))?;
        Ok(match borrowed {
            Borrowed::Connection(taken) => {
                let Taken { mut lease, profile, insert_id, own, left } = *taken;
                sharing.here = insert_id;
                if own {
                    sharing.regain();
                } else {
                    self.tell_own_warnings(sharing, traces);
                    sharing.take_over();
                    if let Some(left) = left {
                        sharing.here = left.save(&mut lease).await?.insert_id.or(insert_id);
                    }
                    bring(&mut lease, &profile, &wanted).await?;
                }
                lease
            }
            Borrowed::Room(slot) => {
                self.tell_own_warnings(sharing, traces);
                sharing.take_over();
                // Boxed: a login's state is many times as large as what a waiting session holds else.
                let lease = Box::pin(self.open(sharing, &wanted)).await?.in_room(slot);
                let (mut lease, profile) = self.profile_of(lease).await?;
                sharing.here = Some(0);
                bring(&mut lease, &profile, &wanted).await?;
                lease
            }
        })
    }

    /// Commands without a text leave the list of warnings as it is on the connection, and MySQL tells its length.
    fn tell_own_warnings(&mut self, sharing: &Sharing, traces: Traces) {
        if self.view.flavor.product == Product::MySql && traces.list == List::Quiet {
            self.told = Some(sharing.warning_count);
        }
    }

    /// Brings what the statement reads to the connection, or gets ready to put it into the answer.
    async fn recall(
        &mut self,
        sharing: &mut Sharing,
        traces: Traces,
        lease: &mut Lease,
    ) -> Result<(), Unusable> {
        if traces.reads.is_empty() && !traces.inserts {
            return Ok(());
        }
        if traces.reads.contains(Soft::INSERT_ID) || traces.inserts {
            sharing.wants_counts |= traces.reads.contains(Soft::COUNTS);
            if sharing.lost_id && traces.reads.contains(Soft::INSERT_ID) {
                // The connection may say 0 because nothing came in the place of what was lost.
                sharing.save(lease).await?;
            }
            sharing.learn_insert_id().await;
            let id = match sharing.insert_id {
                InsertId::Known(id) => Some(id),
                InsertId::Lost if traces.reads.contains(Soft::INSERT_ID) => return Err(lost_state().into()),
                // Whether the statement sets it can still be seen.
                InsertId::Lost => Some(0),
                InsertId::Held | InsertId::Gone(_) => None,
            };
            if let Some(id) = id.filter(|id| sharing.here != Some(*id)) {
                // Setting it ends what else is there.
                sharing.save(lease).await?;
                run(lease, &format!("SET SESSION last_insert_id={id}")).await?;
                sharing.here = Some(id);
            }
        }
        if traces.reads.contains(Soft::DIAGNOSTICS) {
            match &sharing.warnings {
                Warnings::None | Warnings::Held => {}
                Warnings::Gone(legacy) => {
                    let warnings = legacy.wait().await.and_then(|saved| saved.warnings);
                    self.patch = Some(Patch::Warnings(warnings.ok_or_else(lost_state)?));
                }
                Warnings::Lost => return Err(lost_state().into()),
                // On MySQL any statement begins a new list; on MariaDB one that uses a table, and no table there begins a
                // transaction. What the connection counted does not survive it.
                Warnings::Foreign => {
                    sharing.wants_counts |= traces.reads.contains(Soft::COUNTS);
                    sharing.save(lease).await?;
                    let clear = match self.view.flavor.product {
                        Product::MySql => "DO 0",
                        Product::MariaDb => "SELECT 1 FROM information_schema.SCHEMATA LIMIT 0",
                    };
                    run(lease, clear).await?;
                    sharing.warnings = Warnings::None;
                }
            }
        }
        if traces.reads.contains(Soft::COUNTS) {
            let found = match &sharing.counts.found {
                Found::Held => return Ok(()),
                Found::Known(found) => Some(*found),
                Found::Gone(legacy) => legacy.wait().await.and_then(|saved| saved.found_rows),
                Found::Lost => None,
            };
            self.patch = Some(Patch::Counts { rows: sharing.counts.rows, found });
        }
        Ok(())
    }

    /// Opens a connection as the session's user.
    async fn open(&self, sharing: &Sharing, wanted: &Profile) -> Result<Lease, Unusable> {
        let login = Login {
            user: &sharing.key.user,
            secret: sharing.secret.clone(),
            schema: wanted.schema().map(str::as_bytes),
            charset: sharing.key.charset,
            capabilities: self.client.identity.capabilities,
            max_packet: sharing.key.max_packet,
            attributes: None,
        };
        let wait = self.shared.live().timeouts.wait;
        let refused = |error: ConnectError| match Failure::from(error).answer() {
            Some(error) => Unusable::Refused(error),
            None => Unusable::Broken,
        };
        let (lease, opened) =
            self.shared.home().checkout(&self.shared.stats, &login, wait).await.map_err(refused)?;
        // Accounts may have changed since the login.
        if opened.settings.account != sharing.key.account
            || shape(lease.capabilities) != sharing.key.capabilities
        {
            let text = "the account or the server behind it has changed since the login; connect again";
            return Err(Unusable::Refused(SqlError::new(code::ACCESS_DENIED, text)));
        }
        Ok(lease)
    }

    async fn profile_of(&self, mut lease: Lease) -> Result<(Lease, Arc<Profile>), Unusable> {
        let profile = Profile::read(&mut lease).await?.ok_or(Unusable::Broken)?;
        Ok((lease, self.shared.home().pool.profile(profile)))
    }
}

/// Sets what differs.
pub(super) async fn bring(lease: &mut Lease, have: &Profile, want: &Profile) -> Result<(), Unusable> {
    let Some(replay) = have.replay(want) else { return Err(Unusable::Broken) };
    // The schema first: its name goes out in the character set that the connection is in.
    if let Some(schema) = replay.schema {
        run(lease, &format!("USE `{}`", schema.replace('`', "``"))).await?;
    }
    if let Some(set) = replay.set {
        run(lease, &set).await?;
    }
    Ok(())
}

async fn run(lease: &mut Lease, text: &str) -> Result<(), Unusable> {
    send_queries(lease, &[text]).await?;
    first_row(lease).await?;
    Ok(())
}
