//! The backend's side of a session: the connection that it holds, if it holds one, and how it shares connections.

use std::io;
use std::sync::Arc;

use backend::connection::{Connection, ServerInfo};
use backend::exchange::ExchangeError;
use backend::pool::{Key, Lease, Legacy, Pool, Saved};
use backend::profile::Profile;
use sql::traces::{Pin, Soft};
use wire::Capabilities;
use wire::auth::Secret;

use super::End;

/// The backend's side.
#[derive(Debug)]
pub(super) struct Server {
    /// The connection; none between statements of a session that shares.
    pub(super) link: Option<Lease>,
    /// What every connection of this session speaks.
    pub(super) capabilities: Capabilities,
    /// The server.
    pub(super) info: Arc<ServerInfo>,
    /// How it shares; `None` for a session that keeps its one connection.
    pub(super) sharing: Option<Box<Sharing>>,
}

impl Server {
    pub(super) fn new(lease: Lease, sharing: Option<Sharing>) -> Self {
        Self {
            capabilities: lease.capabilities,
            info: lease.server.clone(),
            link: Some(lease),
            sharing: sharing.map(Box::new),
        }
    }

    /// The connection that the session holds.
    ///
    /// # Errors
    /// Without one: nobody attached it.
    pub(super) fn link(&mut self) -> Result<&mut Connection, End> {
        match &mut self.link {
            Some(lease) => Ok(lease),
            None => Err(End::BackendLost(io::ErrorKind::NotConnected.into())),
        }
    }

    /// The server's number of the connection; 0 without one.
    pub(super) fn thread_id(&self) -> u32 {
        self.link.as_ref().map_or(0, |lease| lease.thread_id)
    }
}

/// What a session knows of itself, so that it can go on with any connection of its key.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// Which connections will do.
    pub(super) key: Arc<Key>,
    /// What opens another one. Never shown or logged.
    pub(super) secret: Secret,
    /// What the session has set; `None` until it is asked for again.
    pub(super) profile: Option<Arc<Profile>>,
    /// Why the session keeps its connection from here on.
    pub(super) pin: Option<Pin>,
    /// With `autocommit = 0`: something ran since the last transaction ended. The server may hold metadata locks for it, even
    /// where it reports no transaction.
    pub(super) begun: bool,
    /// Its `LAST_INSERT_ID()`.
    pub(super) insert_id: InsertId,
    /// It was lost at some time, so that a connection's 0 means nothing.
    pub(super) lost_id: bool,
    /// Its list of warnings and errors.
    pub(super) warnings: Warnings,
    /// How many there are.
    pub(super) warning_count: u16,
    /// A COM_STMT_RESET, which never reached the server, has set that number to 0 (MySQL 9.7, tried).
    pub(super) warnings_reset: bool,
    /// Its counts.
    pub(super) counts: Counts,
    /// It has asked for counts before, so that they are kept for it.
    pub(super) wants_counts: bool,
    /// `LAST_INSERT_ID()` of the connection that it holds, where that is known.
    pub(super) here: Option<u64>,
    /// What went with the connection that was parked last.
    pub(super) parked: Parked,
}

/// Where a session's `LAST_INSERT_ID()` is. Before a statement that may set it, the session's own is brought to the
/// connection: an answer with an id does not say that the id became `LAST_INSERT_ID()`, since an id that the statement itself
/// gave is reported as well and is not.
#[derive(Debug, Clone)]
pub(super) enum InsertId {
    /// Here.
    Known(u64),
    /// On the connection that is held.
    Held,
    /// It went with a connection.
    Gone(Arc<Legacy>),
    /// Its connection broke.
    Lost,
}

/// Where a session's warnings and errors are.
#[derive(Debug, Clone)]
pub(super) enum Warnings {
    /// There are none.
    None,
    /// There are none, but the connection that is held may have another session's, or some of the proxy's own statements.
    Foreign,
    /// On the connection that is held.
    Held,
    /// They went with a connection.
    Gone(Arc<Legacy>),
    /// They went, and what came since may have ended them.
    Lost,
}

/// Where a session's counts are.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    /// `ROW_COUNT()`.
    pub(super) rows: i64,
    /// `FOUND_ROWS()`.
    pub(super) found: Found,
}

/// Where `FOUND_ROWS()` is.
#[derive(Debug, Clone)]
pub(super) enum Found {
    /// Here.
    Known(u64),
    /// On the connection that is held, `ROW_COUNT()` too.
    Held,
    /// It went with a connection.
    Gone(Arc<Legacy>),
    /// It went, and nobody kept it.
    Lost,
}

/// What went with a connection that was parked, to be found there again by its owner.
#[derive(Debug, Default)]
pub(super) struct Parked {
    /// What only the server knew.
    pub(super) legacy: Option<Arc<Legacy>>,
    /// The counts were on it.
    pub(super) counts: bool,
}

impl Sharing {
    /// A session that has just logged in with a connection in this state. The proxy has run statements of its own since.
    pub(crate) fn new(key: Key, secret: Secret, profile: Option<Arc<Profile>>) -> Self {
        Self {
            key: Arc::new(key),
            secret,
            profile,
            pin: None,
            begun: false,
            insert_id: InsertId::Known(0),
            lost_id: false,
            warnings: Warnings::Foreign,
            warning_count: 0,
            warnings_reset: false,
            counts: Counts { rows: 0, found: Found::Known(0) },
            wants_counts: false,
            here: Some(0),
            parked: Parked::default(),
        }
    }

    /// The session's connection was reset: what it had set is gone, and why it was pinned too.
    pub(super) fn reset(&mut self) {
        self.profile = None;
        // A role and the option survive a reset on some servers.
        if !matches!(self.pin, Some(Pin::Account | Pin::Option | Pin::Reset)) {
            self.pin = None;
        }
        self.begun = false;
        self.lost_id = false;
        self.insert_id = InsertId::Known(0);
        self.warnings = Warnings::Foreign;
        self.warning_count = 0;
        self.counts = Counts { rows: 0, found: Found::Lost };
        self.wants_counts = false;
        self.here = Some(0);
    }

    /// The kinds of state that are on the held connection and that only the server knows.
    pub(super) fn held(&self) -> Soft {
        let mut kinds = Soft::empty();
        kinds.set(Soft::INSERT_ID, matches!(self.insert_id, InsertId::Held));
        kinds.set(Soft::DIAGNOSTICS, matches!(self.warnings, Warnings::Held));
        kinds.set(Soft::COUNTS, self.wants_counts && matches!(self.counts.found, Found::Held));
        kinds
    }

    /// What was held is with a legacy now.
    pub(super) fn part_with(&mut self, legacy: Option<&Arc<Legacy>>) {
        if let (InsertId::Held, Some(legacy)) = (&self.insert_id, legacy) {
            self.insert_id = InsertId::Gone(legacy.clone());
        }
        if let (Warnings::Held, Some(legacy)) = (&self.warnings, legacy) {
            self.warnings = Warnings::Gone(legacy.clone());
        }
        if matches!(self.counts.found, Found::Held) {
            self.counts.found = match legacy.filter(|_| self.wants_counts) {
                Some(legacy) => Found::Gone(legacy.clone()),
                None => Found::Lost,
            };
        }
    }

    /// Saves what is held, because something is about to end it, and finds out about the id of the last insert.
    ///
    /// # Errors
    /// See [`ExchangeError`].
    pub(super) async fn save(&mut self, connection: &mut Connection) -> Result<(), ExchangeError> {
        let held = self.held();
        if !held.is_empty() {
            let saved = Saved::read(connection, held).await?;
            if matches!(self.insert_id, InsertId::Held) {
                self.insert_id = self.settled(saved.insert_id);
                self.here = saved.insert_id;
            }
            self.part_with(Some(&Legacy::saved(saved)));
        }
        self.part_with(None);
        Ok(())
    }

    /// The session's state, asked for where it is not known; `None` where it cannot be told or brought to another connection.
    /// Asking ends what is held, which is saved before.
    ///
    /// # Errors
    /// See [`ExchangeError`].
    pub(super) async fn know_profile(
        &mut self,
        lease: &mut Lease,
        pool: &Pool,
    ) -> Result<Option<Arc<Profile>>, ExchangeError> {
        // What a session does that keeps its connection is not followed.
        if self.profile.is_none() || self.pin.is_some() {
            self.save(lease).await?;
            self.take_over();
            let profile = Profile::read(lease).await?.filter(Profile::is_portable);
            self.profile = profile.map(|profile| pool.profile(profile));
        }
        Ok(self.profile.clone())
    }

    /// What a connection said the id of the last insert is.
    fn settled(&self, id: Option<u64>) -> InsertId {
        match id {
            // The session's own was lost before, and nothing came in its place.
            Some(0) if self.lost_id => InsertId::Lost,
            Some(id) => InsertId::Known(id),
            None => InsertId::Lost,
        }
    }

    /// Learns the id of the last insert from whoever saved it.
    pub(super) async fn learn_insert_id(&mut self) {
        if let InsertId::Gone(legacy) = &self.insert_id {
            let saved = legacy.clone().wait().await;
            self.insert_id = self.settled(saved.and_then(|saved| saved.insert_id));
        }
        self.lost_id |= matches!(self.insert_id, InsertId::Lost);
    }

    /// The connection broke with whatever was on it.
    pub(super) fn lose(&mut self) {
        if matches!(self.insert_id, InsertId::Held) {
            self.insert_id = InsertId::Lost;
        }
        if matches!(self.warnings, Warnings::Held) {
            self.warnings = Warnings::Lost;
        }
        if matches!(self.counts.found, Found::Held) {
            self.counts.found = Found::Lost;
        }
    }

    /// The connection was another session's, or the proxy has used it itself.
    pub(super) fn take_over(&mut self) {
        if matches!(self.warnings, Warnings::None) {
            self.warnings = Warnings::Foreign;
        }
    }

    /// The connection that was parked last is back, and nobody else had it.
    pub(super) fn regain(&mut self) {
        let Parked { legacy, counts } = std::mem::take(&mut self.parked);
        let back = |gone: &Arc<Legacy>| legacy.as_ref().is_some_and(|legacy| Arc::ptr_eq(legacy, gone));
        if matches!(&self.insert_id, InsertId::Gone(gone) if back(gone)) {
            self.insert_id = InsertId::Held;
        }
        if matches!(&self.warnings, Warnings::Gone(gone) if back(gone)) {
            self.warnings = Warnings::Held;
        }
        if counts {
            self.counts.found = Found::Held;
        }
    }
}
