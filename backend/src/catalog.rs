//! The catalog of one backend, shared by all cores: which one is in force, and when none is.

mod check;
mod keep;
mod load;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use sql::catalog::Catalog;
use tokio::sync::watch;

pub use keep::{Keeper, Timing, keep};
pub use load::{SYSTEM_SCHEMAS, load};

/// The generation of plans that were made without a catalog.
pub const NO_CATALOG: u64 = 0;

/// The catalog of one backend as every core sees it. Clones share it.
///
/// It is *unknown* before the first reading, while a DDL statement runs through the proxy, and from its end to the
/// end of a reading that began after it. So no decision rests on facts that a DDL through this proxy has made
/// stale. DDL from elsewhere is seen by [`keep`] within its period.
#[derive(Clone, Debug, Default)]
pub struct CatalogHandle {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The generation in force; [`NO_CATALOG`] while unknown. Written under `state` only.
    visible: AtomicU64,
    /// The last catalog read, in force or not.
    catalog: ArcSwapOption<Catalog>,
    state: Mutex<State>,
    /// Whether a statement's plan has rested on the catalog, or would have, since the last reading.
    needed: AtomicBool,
    /// Wakes the keeper: counts the requests for a reading.
    wanted: watch::Sender<u64>,
    /// Wakes who waits for a catalog: the generation in force.
    published: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// DDL statements that run through the proxy now.
    running: u64,
    /// Requests for a reading so far: ended DDL statements and [`CatalogHandle::invalidate`].
    stale: u64,
    /// How many of them the last reading covers: those made before it began.
    covered: u64,
    /// The generation of `catalog`.
    generation: u64,
}

/// A DDL statement on its way; the catalog is unknown as long as it lives.
#[derive(Debug)]
pub struct Ddl {
    shared: Arc<Shared>,
}

/// Which requests a reading covers; made before it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

impl CatalogHandle {
    /// An unknown catalog.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The generation in force, or [`NO_CATALOG`]. One atomic load; part of the plan cache's key.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.shared.visible.load(Ordering::Acquire)
    }

    /// The catalog in force; `None` while it is unknown. Its generation says which plans belong to it.
    #[must_use]
    pub fn current(&self) -> Option<Arc<Catalog>> {
        let generation = self.generation();
        let catalog = self.shared.catalog.load_full()?;
        // Another reading may have come in between the two loads.
        (generation != NO_CATALOG && catalog.generation == generation).then_some(catalog)
    }

    /// The last catalog read, in force or not: for showing, never for deciding.
    #[must_use]
    pub fn last(&self) -> Option<Arc<Catalog>> {
        self.shared.catalog.load_full()
    }

    /// To be called before a DDL statement is sent to the server, and the result kept until its reply is complete.
    #[must_use = "the catalog comes back when the guard is dropped"]
    pub fn ddl_began(&self) -> Ddl {
        let mut state = self.shared.lock();
        state.running += 1;
        self.shared.visible.store(NO_CATALOG, Ordering::Release);
        Ddl { shared: self.shared.clone() }
    }

    /// Asks for a reading, and holds the catalog for unknown until it is done. Cheap, from any core.
    pub fn invalidate(&self) {
        let mut state = self.shared.lock();
        self.shared.request(&mut state);
    }

    /// Notes that a statement's plan rests on the catalog, or would if it were known: it is then read again without
    /// delay. An atomic load where that is noted already.
    pub fn need(&self) {
        if !self.shared.needed.load(Ordering::Relaxed)
            && !self.shared.needed.swap(true, Ordering::AcqRel)
            && self.generation() == NO_CATALOG
        {
            self.shared.wanted.send_modify(|count| *count += 1);
        }
    }

    /// Waits until the catalog is in force.
    pub async fn ready(&self) -> Arc<Catalog> {
        self.need();
        let mut published = self.shared.published.subscribe();
        loop {
            published.borrow_and_update();
            if let Some(catalog) = self.current() {
                return catalog;
            }
            // The sender lives in `shared`, which this handle holds.
            let _ = published.changed().await;
        }
    }

    /// Holds the catalog for unknown until the keeper, who found a reason himself, has read again.
    pub(crate) fn doubt(&self) {
        let mut state = self.shared.lock();
        state.stale += 1;
        self.shared.visible.store(NO_CATALOG, Ordering::Release);
    }

    /// The requests so far, taken before a reading begins.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.shared.lock().stale)
    }

    /// A receiver that wakes when a reading is asked for.
    pub(crate) fn requests(&self) -> watch::Receiver<u64> {
        self.shared.wanted.subscribe()
    }

    /// Whether requests are waiting for a reading.
    pub(crate) fn is_stale(&self) -> bool {
        let state = self.shared.lock();
        state.generation == NO_CATALOG || state.covered < state.stale
    }

    /// Whether somebody has needed the catalog since the last reading.
    pub(crate) fn is_needed(&self) -> bool {
        self.shared.needed.load(Ordering::Acquire)
    }

    /// Puts a reading in force that began after `mark`. With `None` the content is what it was. Returns the
    /// generation of the content.
    pub(crate) fn publish(&self, mark: Mark, read: Option<Catalog>) -> u64 {
        // Before it is in force: who needs it from then on counts for the next one.
        let needed = self.shared.needed.swap(false, Ordering::AcqRel);
        let mut state = self.shared.lock();
        if let Some(mut catalog) = read {
            state.generation += 1;
            catalog.generation = state.generation;
            // In this order: `current` compares the two and answers `None` in between.
            self.shared.visible.store(NO_CATALOG, Ordering::Release);
            self.shared.catalog.store(Some(Arc::new(catalog)));
        }
        state.covered = state.covered.max(mark.0);
        self.shared.show(&state);
        if needed && self.generation() == NO_CATALOG {
            self.shared.needed.store(true, Ordering::Release);
        }
        state.generation
    }
}

impl Shared {
    /// A poisoned lock is taken over: the numbers are whole after every statement that holds it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, state: &mut State) {
        state.stale += 1;
        self.visible.store(NO_CATALOG, Ordering::Release);
        self.wanted.send_modify(|count| *count += 1);
    }

    fn show(&self, state: &State) {
        if state.running == 0 && state.covered >= state.stale {
            self.visible.store(state.generation, Ordering::Release);
            self.published.send_replace(state.generation);
        }
    }
}

impl Drop for Ddl {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.running = state.running.saturating_sub(1);
        self.shared.request(&mut state);
    }
}

#[cfg(test)]
mod tests;
