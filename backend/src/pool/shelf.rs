//! The parked connections, who waits for one, and the count of all that are shared.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{Ask, Key, Note};
use crate::connection::Connection;
use crate::profile::Profile;

/// A parked connection.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) connection: Connection,
    pub(super) note: Note,
    pub(super) slot: Slot,
    pub(super) _open: OwnedSemaphorePermit,
}

/// What is handed to a session.
#[derive(Debug)]
pub(super) enum Handed {
    /// This connection.
    Connection(Box<Parked>),
    /// This connection's place: it will not do, and is closed once what was left on it is saved.
    Replace(Box<Parked>),
    /// A place for a new connection.
    Room(Slot),
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiter {
    key: Arc<Key>,
    profile: Arc<Profile>,
    lane: usize,
    /// How often a later one was served before it.
    passed: u8,
    sender: oneshot::Sender<Handed>,
}

/// So many of those who wait longest are looked at for one on a connection's own core: to move it, and to wake another core,
/// takes longer than many a statement.
const NEAR: usize = 16;
/// Who was passed over so often is next, on whatever core.
const PATIENCE: u8 = 16;

/// What a look at the shelf gave.
#[derive(Debug)]
pub(super) enum Found {
    Handed(Handed),
    Wait(oneshot::Receiver<Handed>),
    /// Too many wait already.
    Full,
}

/// One of the pool's places. Dropped, it goes to the next who waits.
#[derive(Debug)]
pub struct Slot(Option<Arc<Shelf>>);

#[derive(Debug, Default)]
struct Inner {
    /// The most recently parked last.
    parked: Vec<Parked>,
    waiting: VecDeque<Waiter>,
    /// Slots that there may be.
    size: usize,
    /// Slots that exist: more than there may be for a while, after the shelf was made smaller.
    slots: usize,
    /// What happened since it was last asked for.
    since: Demand,
    /// Sessions of the backend, whether they share connections or not.
    sessions: usize,
}

/// What was asked of a pool within a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demand {
    /// Connections that were lent: statements and transactions that could run.
    pub lent: u64,
    /// Sessions that had to wait for one, or were turned away.
    pub waited: u64,
}

#[derive(Debug)]
pub(super) struct Shelf {
    /// How many may wait.
    queue: usize,
    inner: Mutex<Inner>,
}

impl Inner {
    /// Who gets a connection: first come first served, but for a few places where it fits and saves a change of cores.
    fn next_for(&mut self, note: &Note) -> Option<Waiter> {
        let near = |waiter: &Waiter| {
            waiter.lane == note.lane && (Arc::ptr_eq(&waiter.key, &note.key) || waiter.key == note.key)
        };
        let near = self.waiting.iter().take(NEAR).position(near);
        let first = self.waiting.front_mut()?;
        match near {
            Some(at) if at > 0 && first.passed < PATIENCE => {
                first.passed += 1;
                self.take(at)
            }
            _ => self.take(0),
        }
    }

    /// The waiter at this place, who gets what it waits for.
    fn take(&mut self, at: usize) -> Option<Waiter> {
        let waiter = self.waiting.remove(at)?;
        self.since.lent += 1;
        Some(waiter)
    }
}

impl Shelf {
    pub(super) fn new(size: usize, queue: usize) -> Self {
        Self { queue, inner: Mutex::new(Inner { size, ..Inner::default() }) }
    }

    pub(super) const fn queue(&self) -> usize {
        self.queue
    }

    pub(super) fn size(&self) -> usize {
        self.inner().size
    }

    /// What was asked since the last call.
    pub(super) fn demand(&self) -> Demand {
        std::mem::take(&mut self.inner().since)
    }

    /// From now on there may be so many slots. New ones go to those who wait; surplus ones go as they come back.
    pub(super) fn resize(self: &Arc<Self>, size: usize) {
        self.inner().size = size;
        loop {
            let (waiter, slot) = {
                let mut inner = self.inner();
                if inner.waiting.is_empty() {
                    return;
                }
                let Some(slot) = self.take_room(&mut inner) else { return };
                (inner.take(0), slot)
            };
            // Where nobody takes it, it goes to the next.
            drop(waiter.map(|waiter| waiter.sender.send(Handed::Room(slot))));
        }
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.parked.len(), inner.waiting.len())
    }

    /// Never drop a [`Slot`] or a [`Parked`] while this is held.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self) {
        self.inner().sessions += 1;
    }

    pub(super) fn leave(&self) {
        self.inner().sessions -= 1;
    }

    /// Takes out parked connections while more than one for each session is open, of `open` ones: first what the session
    /// `own` has parked, then the longest parked.
    pub(super) fn surplus(&self, open: usize, own: u32) -> Vec<Parked> {
        let mut inner = self.inner();
        let surplus = open.saturating_sub(inner.sessions).min(inner.parked.len());
        if surplus > 0 {
            inner.parked.sort_by_key(|parked| parked.note.session != own);
        }
        inner.parked.drain(..surplus).collect()
    }

    pub(super) fn has_room(&self) -> bool {
        let inner = self.inner();
        inner.slots < inner.size
    }

    /// A slot, if the pool has room for one more connection.
    pub(super) fn room(self: &Arc<Self>) -> Option<Slot> {
        self.take_room(&mut self.inner())
    }

    fn take_room(self: &Arc<Self>, inner: &mut Inner) -> Option<Slot> {
        (inner.slots < inner.size).then(|| {
            inner.slots += 1;
            Slot(Some(self.clone()))
        })
    }

    /// The best that there is for a session: its own last connection, then one in the right state that nobody left anything
    /// on, then room for a new one, then any that will do, then the room of another account's.
    pub(super) fn find(self: &Arc<Self>, ask: &Ask<'_>) -> Found {
        let mut dead = Vec::new();
        let found = {
            let mut inner = self.inner();
            let found = loop {
                let Some((grade, at)) = best(&inner.parked, ask) else {
                    break self.without(&mut inner, ask);
                };
                if grade > CLEAN
                    && let Some(slot) = self.take_room(&mut inner)
                {
                    break Found::Handed(Handed::Room(slot));
                }
                let parked = inner.parked.remove(at);
                if parked.connection.is_quiet() {
                    break Found::Handed(Handed::Connection(Box::new(parked)));
                }
                dead.push(parked);
            };
            match found {
                Found::Handed(_) => inner.since.lent += 1,
                Found::Wait(_) | Found::Full => inner.since.waited += 1,
            }
            found
        };
        // Not earlier: a slot that goes looks for those who wait, which takes the lock.
        drop(dead);
        found
    }

    /// No connection will do.
    fn without(self: &Arc<Self>, inner: &mut Inner, ask: &Ask<'_>) -> Found {
        if let Some(slot) = self.take_room(inner) {
            return Found::Handed(Handed::Room(slot));
        }
        // The longest parked one of another kind makes room.
        if !inner.parked.is_empty() {
            return Found::Handed(Handed::Replace(Box::new(inner.parked.remove(0))));
        }
        if inner.waiting.len() >= self.queue {
            // Those who stopped waiting are no crowd.
            inner.waiting.retain(|waiter| !waiter.sender.is_closed());
            if inner.waiting.len() >= self.queue {
                return Found::Full;
            }
        }
        let (sender, inbox) = oneshot::channel();
        inner.waiting.push_back(Waiter {
            key: ask.key.clone(),
            profile: ask.profile.clone(),
            lane: ask.lane,
            passed: 0,
            sender,
        });
        Found::Wait(inbox)
    }

    /// Parks a connection, or hands it to the next who waits; gives back what there is no place for any more.
    pub(super) fn put(&self, parked: Parked) -> Option<Parked> {
        let mut parked = parked;
        if !parked.connection.is_quiet() {
            // The server has closed it, or is about to.
            return None;
        }
        loop {
            let waiter = {
                let mut inner = self.inner();
                if inner.slots > inner.size {
                    inner.slots -= 1;
                    parked.slot.0 = None;
                    return Some(parked);
                }
                match inner.next_for(&parked.note) {
                    None => {
                        inner.parked.push(parked);
                        return None;
                    }
                    Some(waiter) => waiter,
                }
            };
            let fits = waiter.key == parked.note.key
                && (waiter.lane == parked.note.lane || parked.connection.can_move())
                && reaches(&parked.note.profile, &waiter.profile);
            let boxed = Box::new(parked);
            let handed = if fits { Handed::Connection(boxed) } else { Handed::Replace(boxed) };
            match waiter.sender.send(handed) {
                // It stopped waiting.
                Err(Handed::Connection(back) | Handed::Replace(back)) => parked = *back,
                _ => return None,
            }
        }
    }
}

/// Below and at this, taking the connection costs nobody anything.
const CLEAN: u8 = 2;

/// How good a parked connection is for a session, 0 the best; `None` if it will not do.
fn grade(parked: &Parked, ask: &Ask<'_>) -> Option<u8> {
    let note = &parked.note;
    let here = note.lane == ask.lane;
    if !(Arc::ptr_eq(&note.key, ask.key) || note.key == *ask.key) || !(here || parked.connection.can_move()) {
        return None;
    }
    if is_own(note, ask) {
        return Some(0);
    }
    if !reaches(&note.profile, ask.profile) {
        return None;
    }
    // Equal profiles of one pool are one: see `Pool::profile`.
    let same = Arc::ptr_eq(&note.profile, ask.profile);
    Some(match (note.legacy.is_none() && same, here) {
        (true, true) => 1,
        (true, false) => 2,
        (false, true) => 3,
        (false, false) => 4,
    })
}

/// Whether the session that asks has parked a connection itself, as the user who it is now.
pub(super) fn is_own(note: &Note, ask: &Ask<'_>) -> bool {
    note.session == ask.session && Arc::ptr_eq(&note.key, ask.key)
}

/// Whether a connection in one state can be brought to another, both being portable: a default schema cannot be taken away.
fn reaches(have: &Profile, want: &Profile) -> bool {
    have.schema().is_none() || want.schema().is_some()
}

/// The best connection's grade and place; of equal ones the most recently parked.
fn best(parked: &[Parked], ask: &Ask<'_>) -> Option<(u8, usize)> {
    let mut best: Option<(u8, usize)> = None;
    for (at, candidate) in parked.iter().enumerate().rev() {
        let Some(grade) = grade(candidate, ask) else { continue };
        if best.is_none_or(|(least, _)| grade < least) {
            best = Some((grade, at));
        }
        if grade == 0 {
            break;
        }
    }
    best
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(shelf) = self.0.take() else { return };
        loop {
            let waiter = {
                let mut inner = shelf.inner();
                let wanted = if inner.slots > inner.size { None } else { inner.take(0) };
                match wanted {
                    None => {
                        inner.slots -= 1;
                        return;
                    }
                    Some(waiter) => waiter,
                }
            };
            // The place lives on in the new slot, unless nobody waits for it any more.
            match waiter.sender.send(Handed::Room(Slot(Some(shelf.clone())))) {
                Err(Handed::Room(mut unwanted)) => unwanted.0 = None,
                _ => return,
            }
        }
    }
}
