//! The sessions that are open now, as seen from outside: who, from where, doing what.
//!
//! A session's own thread is the only writer of its [`SessionInfo`]; what changes with every command is an atomic, what
//! changes rarely lies behind a mutex that nobody contends for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Clock;

/// The connection id that the client was greeted with.
pub(crate) type SessionId = u32;

const SHARDS: usize = 16;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Activity {
    /// Handshake and authentication.
    Login,
    /// Waiting for the next command.
    Sleep,
    /// A text statement.
    Query,
    /// COM_STMT_PREPARE.
    Prepare,
    /// COM_STMT_EXECUTE, fetch and their like.
    Execute,
    /// Any other command.
    Other,
}

const ACTIVITIES: [(Activity, &str); 6] = [
    (Activity::Login, "Login"),
    (Activity::Sleep, "Sleep"),
    (Activity::Query, "Query"),
    (Activity::Prepare, "Prepare"),
    (Activity::Execute, "Execute"),
    (Activity::Other, "Other"),
];

#[derive(Debug, Default)]
struct Details {
    user: String,
    schema: String,
    backend: String,
    pin: &'static str,
}

/// One open session.
#[derive(Debug)]
pub(crate) struct SessionInfo {
    id: SessionId,
    client: String,
    tls: Mutex<Option<&'static str>>,
    since: u64,
    details: Mutex<Details>,
    thread: AtomicU32,
    /// KILLs on their way to `thread`.
    aims: AtomicU32,
    calm: Notify,
    killed: AtomicBool,
    activity: AtomicU8,
    activity_since: AtomicU64,
    queries: AtomicU64,
    digest_high: AtomicU64,
    digest_low: AtomicU64,
    clock: Arc<Clock>,
}

impl SessionInfo {
    /// The connection id that the client was greeted with.
    pub(crate) const fn id(&self) -> SessionId {
        self.id
    }

    /// A command begins; `digest` is 0 where the command has none or it is not known yet.
    #[inline]
    pub(crate) fn begin(&self, activity: Activity, digest: u128) {
        self.digest_high.store((digest >> 64) as u64, Relaxed);
        self.digest_low.store(digest as u64, Relaxed);
        self.queries.store(self.queries.load(Relaxed).wrapping_add(1), Relaxed);
        self.switch(activity);
    }

    /// The digest of the running command became known.
    #[inline]
    pub(crate) fn digest(&self, digest: u128) {
        self.digest_high.store((digest >> 64) as u64, Relaxed);
        self.digest_low.store(digest as u64, Relaxed);
    }

    /// The command was answered.
    #[inline]
    pub(crate) fn idle(&self) {
        self.switch(Activity::Sleep);
    }

    #[inline]
    fn switch(&self, activity: Activity) {
        self.activity.store(activity as u8, Relaxed);
        self.activity_since.store(self.clock.unix_seconds(), Relaxed);
    }

    /// The user who logged in (or changed to).
    pub(crate) fn set_user(&self, user: &str) {
        user.clone_into(&mut self.details().user);
    }

    /// The default schema; empty for none.
    pub(crate) fn set_schema(&self, schema: &str) {
        schema.clone_into(&mut self.details().schema);
    }

    /// The backend of the session, and the connection that it holds there.
    pub(crate) fn set_backend(&self, name: &str, thread: u32) {
        name.clone_into(&mut self.details().backend);
        self.set_thread(thread);
    }

    /// The session holds this connection of its backend now.
    #[inline]
    pub(crate) fn set_thread(&self, thread: u32) {
        self.thread.store(thread, SeqCst);
    }

    /// The session is about to let go of its connection: waits for every KILL that is on its way there.
    pub(crate) async fn leave_thread(&self) {
        self.thread.store(0, SeqCst);
        while self.aims.load(SeqCst) > 0 {
            let calm = self.calm.notified();
            if self.aims.load(SeqCst) > 0 {
                calm.await;
            }
        }
    }

    /// The connection that the session holds, 0 for none. It stays the session's for as long as the [`Aim`] lives.
    pub(crate) fn thread(&self, _: &Aim) -> u32 {
        self.thread.load(SeqCst)
    }

    /// Why it keeps its connection; empty if it does not.
    pub(crate) fn set_pin(&self, reason: &'static str) {
        self.details().pin = reason;
    }

    /// The session is to end.
    pub(crate) fn kill(&self) {
        self.killed.store(true, SeqCst);
    }

    /// Whether it is to end.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(SeqCst)
    }

    /// The TLS version of the client's side, e.g. `TLSv1.3`.
    pub(crate) fn set_tls(&self, version: &'static str) {
        *lock(&self.tls) = Some(version);
    }

    fn details(&self) -> MutexGuard<'_, Details> {
        lock(&self.details)
    }

    /// A copy as of now.
    #[must_use]
    pub(crate) fn read(&self) -> SessionRow {
        let details = self.details();
        let activity = self.activity.load(Relaxed);
        let activity =
            ACTIVITIES.iter().find(|(known, _)| *known as u8 == activity).map_or("Other", |(_, name)| name);
        SessionRow {
            id: self.id,
            user: details.user.clone(),
            client: self.client.clone(),
            schema: details.schema.clone(),
            backend: details.backend.clone(),
            backend_thread: self.thread.load(SeqCst),
            pin: details.pin,
            activity,
            activity_since: self.activity_since.load(Relaxed),
            since: self.since,
            queries: self.queries.load(Relaxed),
            tls: lock(&self.tls).unwrap_or_default(),
            digest: u128::from(self.digest_high.load(Relaxed)) << 64
                | u128::from(self.digest_low.load(Relaxed)),
        }
    }
}

/// A copy of one [`SessionInfo`]. Moments are Unix seconds.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    /// The connection id that the client was greeted with.
    pub(crate) id: SessionId,
    /// Empty before login.
    pub(crate) user: String,
    /// `address:port`, or `unix` for the socket.
    pub(crate) client: String,
    /// Default schema, empty for none.
    pub(crate) schema: String,
    /// Name of the backend that it holds a connection to, empty for none.
    pub(crate) backend: String,
    /// That connection's id on the backend, 0 for none.
    pub(crate) backend_thread: u32,
    /// Why it keeps its connection, empty if it does not.
    pub(crate) pin: &'static str,
    /// As in the `Command` column of SHOW PROCESSLIST.
    pub(crate) activity: &'static str,
    /// Since when it does so.
    pub(crate) activity_since: u64,
    /// When it connected.
    pub(crate) since: u64,
    /// Commands so far.
    pub(crate) queries: u64,
    /// TLS version on the client's side, empty without TLS.
    pub(crate) tls: &'static str,
    /// Digest of the running or last statement, 0 for none.
    pub(crate) digest: u128,
}

type Shard = Mutex<HashMap<SessionId, Arc<SessionInfo>>>;

/// The open sessions by id.
#[derive(Debug)]
pub(crate) struct Sessions {
    shards: Arc<[Shard; SHARDS]>,
    clock: Arc<Clock>,
}

impl Sessions {
    /// No sessions yet.
    #[must_use]
    pub(crate) fn new(clock: Arc<Clock>) -> Self {
        Self { shards: Arc::new(std::array::from_fn(|_| Shard::default())), clock }
    }

    /// Enters a session, which leaves when the guard is dropped. `client` is `address:port`, or `unix`.
    #[must_use]
    pub(crate) fn enter(&self, id: SessionId, client: String) -> SessionGuard {
        let now = self.clock.unix_seconds();
        let info = Arc::new(SessionInfo {
            id,
            client,
            tls: Mutex::default(),
            since: now,
            details: Mutex::default(),
            thread: AtomicU32::new(0),
            aims: AtomicU32::new(0),
            calm: Notify::new(),
            killed: AtomicBool::new(false),
            activity: AtomicU8::new(Activity::Login as u8),
            activity_since: AtomicU64::new(now),
            queries: AtomicU64::new(0),
            digest_high: AtomicU64::new(0),
            digest_low: AtomicU64::new(0),
            clock: Arc::clone(&self.clock),
        });
        if let Some(shard) = shard(&self.shards, id) {
            lock(shard).insert(id, Arc::clone(&info));
        }
        SessionGuard { info, shards: Arc::clone(&self.shards) }
    }

    /// One session.
    #[must_use]
    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<SessionInfo>> {
        shard(&self.shards, id).and_then(|shard| lock(shard).get(&id).cloned())
    }

    /// How many are open.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// All open sessions, by id.
    #[must_use]
    pub(crate) fn read(&self) -> Vec<SessionRow> {
        let open = self.shards.iter().flat_map(|shard| lock(shard).values().cloned().collect::<Vec<_>>());
        let mut rows: Vec<SessionRow> = open.map(|info| info.read()).collect();
        rows.sort_unstable_by_key(|row| row.id);
        rows
    }
}

/// An entry in [`Sessions`] that lasts as long as this.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    info: Arc<SessionInfo>,
    shards: Arc<[Shard; SHARDS]>,
}

impl std::ops::Deref for SessionGuard {
    type Target = SessionInfo;

    fn deref(&self) -> &SessionInfo {
        &self.info
    }
}

/// A KILL on its way to the connection of a session. While it lives, the session does not let go of the connection, so that
/// nobody else's statement is met.
#[derive(Debug)]
pub(crate) struct Aim(Arc<SessionInfo>);

impl Aim {
    /// At a session.
    pub(crate) fn at(info: &Arc<SessionInfo>) -> Self {
        info.aims.fetch_add(1, SeqCst);
        Self(Arc::clone(info))
    }

    /// The session.
    pub(crate) fn session(&self) -> &SessionInfo {
        &self.0
    }
}

impl Drop for Aim {
    fn drop(&mut self) {
        if self.0.aims.fetch_sub(1, SeqCst) == 1 {
            self.0.calm.notify_waiters();
        }
    }
}

impl SessionGuard {
    /// Something is sent to kill what runs on the session's own connection.
    pub(crate) fn aim(&self) -> Aim {
        Aim::at(&self.info)
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        let Some(shard) = shard(&self.shards, self.info.id) else { return };
        let mut open = lock(shard);
        // An id that came round again belongs to the newer session.
        if open.get(&self.info.id).is_some_and(|info| Arc::ptr_eq(info, &self.info)) {
            open.remove(&self.info.id);
        }
    }
}

fn shard(shards: &[Shard; SHARDS], id: SessionId) -> Option<&Shard> {
    shards.get(id as usize % SHARDS)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
