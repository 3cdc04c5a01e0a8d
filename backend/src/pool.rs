//! Where sessions get their backend connections from, and where they bring them back.
//!
//! A session always may open a connection of its own ([`Pool::checkout`]): so it logs in, and so it goes on once it has to
//! keep what it holds. Sessions that share connections [`Pool::park`] theirs between statements and [`Pool::borrow`] one for
//! the next. Parked and borrowed connections are counted against the pool's size; who finds none waits, first come first
//! served.

mod climb;
mod legacy;
mod shelf;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, MissedTickBehavior};
use wire::Capabilities;

use crate::connect::{ConnectError, Login, Opened, Target, connect};
use crate::connection::Connection;
use crate::profile::Profile;
use crate::statements::Registry;

pub use climb::{Climb, Range};
pub use legacy::{Left, Legacy, Saved};
pub use shelf::{Demand, Slot};
use shelf::{Found, Handed, Parked, Shelf};

/// What two sessions must have in common to use the same connections: the account, proven by a login of each, and every
/// agreement of the handshake that shapes answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// `CURRENT_USER()`.
    pub account: String,
    /// The name that was logged in with: `USER()`.
    pub user: Vec<u8>,
    /// What was agreed on with the server.
    pub capabilities: Capabilities,
    /// The collation id of the handshake.
    pub charset: u16,
    /// The largest packet that the client takes.
    pub max_packet: u32,
}

/// Of what was agreed on, what shapes answers: not what the login itself carried.
#[must_use]
pub const fn shape(capabilities: Capabilities) -> Capabilities {
    capabilities.difference(Capabilities::CONNECT_WITH_DB.union(Capabilities::CONNECT_ATTRS))
}

/// The connections to one backend.
#[derive(Debug)]
pub struct Pool {
    target: Arc<Target>,
    /// A permit for each connection.
    open: Arc<Semaphore>,
    /// Connections at most.
    most: usize,
    shelf: Arc<Shelf>,
    profiles: Mutex<Vec<Weak<Profile>>>,
    statements: Registry,
}

/// A session's right to a connection. Dropped, it closes the connection: one with an unread answer can never come back.
#[derive(Debug)]
pub struct Lease {
    connection: Connection,
    /// Counted against the pool's size; `None` for a connection of the session's own.
    slot: Option<Slot>,
    _open: OwnedSemaphorePermit,
}

/// A session that is counted among those of the backend, as long as this lives.
#[derive(Debug)]
pub struct Guest(Arc<Shelf>);

/// Who wants a connection.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Which ones will do.
    pub key: &'a Arc<Key>,
    /// The state that it should be in.
    pub profile: &'a Arc<Profile>,
    /// The session. Its own last connection is preferred.
    pub session: u32,
    /// The core that it runs on.
    pub lane: usize,
}

/// What a session gets.
#[derive(Debug)]
pub enum Borrowed {
    /// A connection.
    Connection(Box<Taken>),
    /// Room to open one.
    Room(Slot),
}

/// A connection that was parked.
#[derive(Debug)]
pub struct Taken {
    /// The connection.
    pub lease: Lease,
    /// The state that it is in.
    pub profile: Arc<Profile>,
    /// Its `LAST_INSERT_ID()`, where that is known.
    pub insert_id: Option<u64>,
    /// Nobody else had it since this session parked it.
    pub own: bool,
    /// What another session left there and may ask for: to be saved before anything else runs.
    pub left: Option<Left>,
}

/// What a session says of the connection that it parks.
#[derive(Debug)]
pub struct Note {
    /// Who may have it.
    pub key: Arc<Key>,
    /// The state that it is in.
    pub profile: Arc<Profile>,
    /// The session.
    pub session: u32,
    /// The core.
    pub lane: usize,
    /// Its `LAST_INSERT_ID()`, where that is known.
    pub insert_id: Option<u64>,
    /// What the session left there that only the server knows.
    pub legacy: Option<Left>,
}

/// Why no connection was had.
#[derive(Debug, thiserror::Error)]
pub enum Busy {
    /// None became free in time.
    #[error(
        "all {size} shared connections to backend {name} are busy; waited {waited:?} (timeouts.wait, limits.statements_per_backend)"
    )]
    TimedOut {
        /// The backend.
        name: Arc<str>,
        /// The pool's size.
        size: usize,
        /// How long.
        waited: Duration,
    },
    /// So many wait already that another one is turned away at once.
    #[error("{queue} statements wait for backend {name} already (limits.queue)")]
    Full {
        /// The backend.
        name: Arc<str>,
        /// How many may wait.
        queue: usize,
    },
}

/// Bounds of a pool.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Connections that are shared.
    pub size: usize,
    /// Sessions that wait for one.
    pub queue: usize,
    /// Prepared statements on all of them together.
    pub statements: usize,
}

impl Pool {
    /// A pool of connections to one server.
    #[must_use]
    pub fn new(target: Arc<Target>, bounds: Bounds) -> Self {
        Self {
            target,
            open: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            most: Semaphore::MAX_PERMITS,
            shelf: Arc::new(Shelf::new(bounds.size.max(1), bounds.queue)),
            profiles: Mutex::default(),
            statements: Registry::new(bounds.statements),
        }
    }

    /// The same with at most so many connections, shared or not.
    #[must_use]
    pub fn bounded(mut self, most: usize) -> Self {
        self.most = most.min(Semaphore::MAX_PERMITS);
        self.open = Arc::new(Semaphore::new(self.most));
        self
    }

    /// Connections that are open now.
    #[must_use]
    pub fn open(&self) -> u64 {
        (self.most - self.open.available_permits()) as u64
    }

    /// The one copy of a profile: equal ones are the same.
    #[must_use]
    pub fn profile(&self, profile: Profile) -> Arc<Profile> {
        let mut known = self.profiles.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.strong_count() > 0);
        if let Some(known) = known.iter().filter_map(Weak::upgrade).find(|known| **known == profile) {
            return known;
        }
        let profile = Arc::new(profile);
        known.push(Arc::downgrade(&profile));
        profile
    }

    /// Counts a session.
    #[must_use]
    pub fn enter(&self) -> Guest {
        self.shelf.enter();
        Guest(self.shelf.clone())
    }

    /// Closes what is parked beyond one connection for each session that is left: as many are never needed at once, and the
    /// server is to see no more connections than there are clients. Called after the session `own` has left the connection that
    /// it held; what it has parked goes first.
    pub fn trim(&self, own: u32) {
        for parked in self.shelf.surplus(usize::try_from(self.open()).unwrap_or(usize::MAX), own) {
            tokio::spawn(replace(parked));
        }
    }

    /// Prepared statements of the sessions that share connections.
    #[must_use]
    pub const fn statements(&self) -> &Registry {
        &self.statements
    }

    /// Finds by itself, for ever, how many connections are best shared: see [`Climb`].
    pub async fn climb(&self, range: Range) {
        let mut climb = Climb::new(self.size(), range);
        let mut ticks = tokio::time::interval(climb::ROUND);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let began = Instant::now();
            ticks.tick().await;
            let size = climb.round(self.shelf.demand(), began.elapsed());
            if size != self.size() {
                tracing::debug!(backend = %self.target.name, size, "another number of shared connections");
                self.shelf.resize(size);
            }
        }
    }

    /// How many connections are shared at most.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shelf.size()
    }

    /// Shared connections that are parked, and sessions that wait for one.
    #[must_use]
    pub fn parked_and_waiting(&self) -> (usize, usize) {
        self.shelf.counts()
    }

    /// The server that the connections lead to.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A connection of the session's own that is logged in as `login` says.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn checkout(&self, login: &Login<'_>) -> Result<(Lease, Opened), ConnectError> {
        let full = |_| ConnectError::Full { name: self.target.name.clone(), most: self.most };
        let permit = self.open.clone().try_acquire_owned().map_err(full)?;
        let (connection, opened) = connect(&self.target, login).await?;
        Ok((Lease { connection, slot: None, _open: permit }, opened))
    }

    /// A shared connection, or room to open one; waits for at most `wait`.
    ///
    /// # Errors
    /// When none became free in time, or too many wait already.
    pub async fn borrow(&self, ask: &Ask<'_>, wait: Duration) -> Result<Borrowed, Busy> {
        loop {
            let handed = match self.shelf.find(ask) {
                Found::Handed(handed) => handed,
                Found::Wait(inbox) => match tokio::time::timeout(wait, inbox).await {
                    Ok(Ok(handed)) => handed,
                    // Its sender is kept until it has sent.
                    Ok(Err(_)) => continue,
                    Err(_) => {
                        let name = self.target.name.clone();
                        return Err(Busy::TimedOut { name, size: self.size(), waited: wait });
                    }
                },
                Found::Full => {
                    return Err(Busy::Full { name: self.target.name.clone(), queue: self.shelf.queue() });
                }
            };
            let Parked { connection, note, slot, _open } = match handed {
                Handed::Room(slot) => return Ok(Borrowed::Room(slot)),
                Handed::Replace(parked) => return Ok(Borrowed::Room(replace(*parked).await)),
                Handed::Connection(parked) => *parked,
            };
            let Some(connection) = moved(connection, note.lane == ask.lane) else {
                // It broke meanwhile: its room remains.
                return Ok(Borrowed::Room(slot));
            };
            let own = shelf::is_own(&note, ask);
            let left = note.legacy.filter(|left| !own && !left.is_unwanted());
            return Ok(Borrowed::Connection(Box::new(Taken {
                lease: Lease { connection, slot: Some(slot), _open },
                profile: note.profile,
                insert_id: note.insert_id,
                own,
                left,
            })));
        }
    }

    /// Whether a connection would be kept if it were parked now.
    #[must_use]
    pub fn has_room_for(&self, lease: &Lease) -> bool {
        lease.is_shared() || self.shelf.has_room()
    }

    /// Brings a connection back for others to use: no statement runs on it, no byte of an answer is unread, no transaction is
    /// open, and `note` says what there is to know. A connection beyond the pool's size is closed.
    pub fn park(&self, lease: Lease, note: Note) {
        let Lease { connection, slot, _open } = lease;
        let Some(slot) = slot.or_else(|| self.shelf.room()) else {
            tokio::spawn(connection.quit());
            return;
        };
        if let Some(surplus) = self.shelf.put(Parked { connection, note, slot, _open }) {
            tokio::spawn(replace(surplus));
        }
    }
}

/// The connection on the current core; `None` where it broke or cannot move.
fn moved(connection: Connection, here: bool) -> Option<Connection> {
    if here { Some(connection) } else { connection.hand_over().ok()?.take().ok() }
}

/// Closes a connection after saving what was left on it; its place remains.
async fn replace(parked: Parked) -> Slot {
    let Parked { mut connection, note, slot, _open } = parked;
    let saved = match note.legacy.filter(|left| !left.is_unwanted()) {
        // A socket may be used from another core than its own, only not as cheaply.
        Some(left) => left.save(&mut connection).await.is_ok(),
        None => true,
    };
    if saved {
        tokio::spawn(connection.quit());
    }
    slot
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Lease {
    /// Ends it: no statement runs on the connection and no byte of an answer is unread.
    pub async fn give_back(self) {
        self.connection.quit().await;
    }

    /// From now on the connection is the session's own, and another one takes its place in the pool.
    pub fn keep(&mut self) {
        self.slot = None;
    }

    /// Whether it is counted against the pool's size.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.slot.is_some()
    }

    /// A connection that was opened in room that the pool had.
    #[must_use]
    pub fn in_room(mut self, slot: Slot) -> Self {
        self.slot = Some(slot);
        self
    }
}

impl std::ops::Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl std::ops::DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
