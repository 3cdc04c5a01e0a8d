//! Counters of what passes through the proxy: in total, for each statement digest, for each session.
//!
//! The hot path calls [`Totals::add`], [`DigestStats::record`] and [`SessionInfo::begin`]: relaxed atomics, no lock
//! and, once a digest was seen on a core, no allocation. Readers take snapshots that are not consistent to the last
//! statement, which nothing here needs.
//!
//! Hot counters are split by core so that two cores never write one cache line. A runtime thread says once which core
//! it is by [`bind_core`]; a thread that never did counts as core 0, which is slower under contention, never wrong.

mod clock;
mod digests;
mod histogram;
mod history;
mod sessions;
mod totals;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use clock::{Clock, unix_text};
pub(crate) use digests::{DigestRow, DigestStats, Digests};
pub(crate) use histogram::{Histogram, Latencies};
pub(crate) use history::{History, Sample};
pub(crate) use sessions::{Activity, Aim, SessionGuard, SessionId, SessionInfo, SessionRow, Sessions};
pub(crate) use totals::COUNTERS;
pub(crate) use totals::{Counter, Totals, TotalsRow};

thread_local! {
    static CORE: Cell<usize> = const { Cell::new(0) };
}

/// Says that the calling thread is the runtime thread of `core` (0-based). Once for each thread.
pub(crate) fn bind_core(core: usize) {
    CORE.set(core);
}

/// The core of the calling thread, as told by [`bind_core`].
pub(crate) fn core() -> usize {
    CORE.get()
}

/// One value on cache lines of its own: two lines, because x86 prefetches them in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Padded<T>(T);

/// All statistics of one running proxy.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Sums over everything since the start.
    pub(crate) totals: Totals,
    /// Per statement digest.
    pub(crate) digests: Digests,
    /// Sessions that are open now.
    pub(crate) sessions: Sessions,
    /// One sample per second of the last minutes.
    pub(crate) history: History,
    clock: Arc<Clock>,
}

impl Registry {
    /// Statistics for a proxy with `cores` runtime threads that keeps at most `digests` statement digests apart.
    #[must_use]
    pub(crate) fn new(cores: usize, digests: usize) -> Arc<Self> {
        let clock = Arc::new(Clock::new());
        Arc::new(Self {
            totals: Totals::new(cores),
            digests: Digests::new(cores, digests, Arc::clone(&clock)),
            sessions: Sessions::new(Arc::clone(&clock)),
            history: History::new(),
            clock,
        })
    }

    /// The coarse clock that timestamps everything here.
    #[must_use]
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Advances the clock and takes the sample of the second that ended; to be called once a second.
    pub(crate) fn tick(&self) {
        self.clock.advance();
        self.history.sample(self.clock.unix_seconds(), &self.totals);
    }

    /// Ticks every second until dropped. Belongs on the control runtime, once for each registry.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut every = tokio::time::interval(Duration::from_secs(1));
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            every.tick().await;
            self.tick();
        }
    }
}

#[cfg(test)]
mod tests;
