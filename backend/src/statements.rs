//! Prepared statements of sessions that share connections: what a statement is, wherever it is prepared, and where it is
//! prepared already.
//!
//! A statement is its text together with the state of session that it was prepared in, since the server keeps SQL mode,
//! character set, collation and default schema with it. Sessions that have prepared the same are given the same [`Statement`],
//! so that each connection prepares it once for all of them ([`Placed`]). MySQL also keeps what kinds of parameters a statement
//! was executed with, and computes later executions by them: there these are part of what it is. The server's limit on statements is one for all
//! connections, and so is the [`Registry`]'s budget.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use wire::execute::{Kind, NO_KIND};

use crate::profile::Profile;

/// How often one session may have prepared the same and still share each with others. Two of them are two statements, since
/// cursors and long data belong to one.
pub const COPIES: u8 = 4;

/// What makes two statements the same.
#[derive(Debug, Clone)]
struct Identity {
    text: Arc<[u8]>,
    /// Equal profiles of one pool are one: see `Pool::profile`.
    profile: Arc<Profile>,
    /// The kinds of parameters that it was executed with, [`NO_KIND`](wire::execute::NO_KIND) where there was only NULL; empty
    /// before the first execution, and where the server does not mind.
    kinds: Arc<[Kind]>,
    /// Counts what one session has prepared more than once.
    copy: u8,
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.copy == other.copy
            && Arc::ptr_eq(&self.profile, &other.profile)
            && self.kinds == other.kinds
            && self.text == other.text
    }
}

impl Eq for Identity {}

impl std::hash::Hash for Identity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
        Arc::as_ptr(&self.profile).hash(state);
        self.kinds.hash(state);
        self.copy.hash(state);
    }
}

/// A statement that some session has prepared and not closed.
#[derive(Debug)]
pub struct Statement {
    /// No two have had the same.
    id: u64,
    /// `None` for one that can be prepared nowhere else.
    identity: Option<Identity>,
    counts: Arc<Counts>,
}

/// What all connections of a pool count together.
#[derive(Debug, Default)]
struct Counts {
    /// Ids given out.
    made: AtomicU64,
    /// Statements that nobody has any more.
    dead: AtomicU64,
    /// Statements at the server.
    placed: AtomicUsize,
}

/// All statements of a pool.
#[derive(Debug)]
pub struct Registry {
    known: Mutex<Known>,
    counts: Arc<Counts>,
    budget: usize,
}

#[derive(Debug, Default)]
struct Known {
    statements: HashMap<Identity, Weak<Statement>>,
    /// At this size, what is dead is swept out.
    sweep: usize,
}

/// Below this many statements nothing is swept out.
const SWEEP: usize = 256;

impl Registry {
    /// A registry that lets its connections keep `budget` statements in all.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self { known: Mutex::default(), counts: Arc::default(), budget }
    }

    /// The one statement of this text and state, or its copy.
    #[must_use]
    pub fn intern(&self, text: &Arc<[u8]>, profile: &Arc<Profile>, copy: u8) -> Arc<Statement> {
        self.one(Identity { text: text.clone(), profile: profile.clone(), kinds: Arc::default(), copy })
    }

    /// The same statement as it is once it was executed with parameters of these kinds; `None` for one that can be prepared
    /// nowhere else, and does not have to be found again.
    #[must_use]
    pub fn of_kinds(&self, statement: &Statement, kinds: Arc<[Kind]>) -> Option<Arc<Statement>> {
        let identity = statement.identity.clone()?;
        Some(self.one(Identity { kinds, ..identity }))
    }

    /// The same statement, and nobody else's; `None` for one that can be prepared nowhere else.
    #[must_use]
    pub fn own(&self, statement: &Statement) -> Option<Arc<Statement>> {
        let identity = statement.identity.clone()?;
        Some(self.one(Identity { kinds: Arc::default(), copy: COPIES, ..identity }))
    }

    fn one(&self, identity: Identity) -> Arc<Statement> {
        if identity.copy >= COPIES {
            return Arc::new(self.make(Some(identity)));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known.statements.get(&identity).and_then(Weak::upgrade) {
            return statement;
        }
        if known.statements.len() >= known.sweep.max(SWEEP) {
            known.statements.retain(|_, statement| statement.strong_count() > 0);
            known.sweep = known.statements.len() * 2;
        }
        let statement = Arc::new(self.make(Some(identity.clone())));
        known.statements.insert(identity, Arc::downgrade(&statement));
        statement
    }

    /// A statement that can be prepared nowhere but where it is.
    #[must_use]
    pub fn bound(&self) -> Arc<Statement> {
        Arc::new(self.make(None))
    }

    fn make(&self, identity: Option<Identity>) -> Statement {
        Statement { id: self.counts.made.fetch_add(1, Relaxed), identity, counts: self.counts.clone() }
    }

    /// Statements that are prepared on connections now.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.counts.placed.load(Relaxed)
    }

    /// How many may be, before each new one takes an old one's place.
    #[must_use]
    pub const fn budget(&self) -> usize {
        self.budget
    }
}

impl Statement {
    /// Whether it is this copy of a text and state, whatever its parameters.
    #[must_use]
    pub fn is(&self, text: &[u8], profile: &Arc<Profile>, copy: u8) -> bool {
        self.identity
            .as_ref()
            .is_some_and(|own| own.copy == copy && Arc::ptr_eq(&own.profile, profile) && *own.text == *text)
    }

    /// The kinds of parameters that it was executed with, as far as they were told.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        self.identity.as_ref().map_or(&[], |identity| &identity.kinds)
    }

    /// Its text and the state of session that it is prepared in; `None` for one that is bound to its connection.
    #[must_use]
    pub fn origin(&self) -> Option<(&[u8], &Arc<Profile>)> {
        self.identity.as_ref().map(|identity| (&*identity.text, &identity.profile))
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.counts.dead.fetch_add(1, Relaxed);
    }
}

/// A statement on one connection.
#[derive(Debug)]
pub struct Entry {
    statement: Weak<Statement>,
    used: u64,
    /// The server's id of it.
    pub server: u32,
    /// The types of parameters that the server remembers with it, as they were sent; empty before the first execution.
    pub types: Vec<u8>,
    /// It was executed with a cursor here.
    pub opened: bool,
}

/// The statements that are prepared on one connection.
#[derive(Debug, Default)]
pub struct Placed {
    entries: HashMap<u64, Entry>,
    /// The server's ids of statements that are to be closed there.
    closing: Vec<u32>,
    clock: u64,
    /// How many statements were dead when the dead were last looked for.
    swept: u64,
    counts: Option<Arc<Counts>>,
}

impl Placed {
    /// Where a statement is; counts as a use.
    pub fn find(&mut self, statement: &Statement) -> Option<&mut Entry> {
        self.clock += 1;
        let entry = self.entries.get_mut(&statement.id)?;
        entry.used = self.clock;
        Some(entry)
    }

    /// Whether the server has a statement of this id here.
    #[must_use]
    pub fn has(&self, server: u32) -> bool {
        self.entries.values().any(|entry| entry.server == server) || self.closing.contains(&server)
    }

    /// Notes that a statement is prepared here now. What it takes the place of is to be closed: an older one of the same
    /// statement, or with the budget spent the one that was not used for longest.
    pub fn put(&mut self, statement: &Arc<Statement>, server: u32, registry: &Registry) {
        self.clock += 1;
        let entry = Entry {
            statement: Arc::downgrade(statement),
            used: self.clock,
            server,
            types: Vec::new(),
            opened: false,
        };
        let counts = self.counts.get_or_insert_with(|| registry.counts.clone()).clone();
        match self.entries.insert(statement.id, entry) {
            Some(old) => self.closing.push(old.server),
            None => {
                counts.placed.fetch_add(1, Relaxed);
            }
        }
        if counts.placed.load(Relaxed) > registry.budget {
            let others = self.entries.iter().filter(|(id, _)| **id != statement.id);
            let oldest = others.min_by_key(|(_, entry)| entry.used).map(|(id, _)| *id);
            oldest.into_iter().for_each(|id| self.remove(id));
        }
    }

    /// What is prepared here as one statement becomes another by its next execution, if that one has no kinds of parameters of
    /// its own or only tells what was not known before, and is not here too. Another kind would not always replace the one
    /// that the server has: it computes with integers what came as text later.
    pub fn turn(&mut self, from: &Statement, into: &Arc<Statement>) {
        let finer = |(old, new): (&Kind, &Kind)| *old == NO_KIND || old == new;
        if !self.entries.contains_key(&into.id)
            && from.kinds().iter().zip(into.kinds()).all(finer)
            && let Some(entry) = self.entries.remove(&from.id)
        {
            self.entries.insert(into.id, Entry { statement: Arc::downgrade(into), ..entry });
        }
    }

    /// Has a statement closed, so that it is prepared anew for its next execution.
    pub fn discard(&mut self, statement: &Statement) {
        self.remove(statement.id);
    }

    fn remove(&mut self, id: u64) {
        if let Some(entry) = self.entries.remove(&id) {
            self.closing.push(entry.server);
            if let Some(counts) = &self.counts {
                counts.placed.fetch_sub(1, Relaxed);
            }
        }
    }

    /// The server's ids of statements that nobody has any more or that made room: they are to be closed there, and are
    /// forgotten here.
    pub fn to_close(&mut self, registry: &Registry) -> Vec<u32> {
        let dead = registry.counts.dead.load(Relaxed);
        if dead != self.swept {
            self.swept = dead;
            let gone = self.entries.iter().filter(|(_, entry)| entry.statement.strong_count() == 0);
            let gone: Vec<u64> = gone.map(|(id, _)| *id).collect();
            gone.into_iter().for_each(|id| self.remove(id));
        }
        std::mem::take(&mut self.closing)
    }

    /// Whether [`Placed::to_close`] may have something. Costs no more than a look.
    #[must_use]
    pub fn is_untidy(&self, registry: &Registry) -> bool {
        !self.closing.is_empty()
            || !self.entries.is_empty() && registry.counts.dead.load(Relaxed) != self.swept
    }

    /// The server has closed all of them.
    pub fn clear(&mut self) {
        if let Some(counts) = &self.counts {
            counts.placed.fetch_sub(self.entries.len(), Relaxed);
        }
        self.entries.clear();
        self.closing.clear();
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests;
