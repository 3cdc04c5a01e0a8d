//! Sums over everything since the start, one shard for each core.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Histogram, Latencies, Padded, core};

/// What is counted. The name of each is its name in `shuntyard.status`; its metric is `shuntyard_<name>_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Counter {
    /// Client connections accepted.
    Connections,
    /// Client connections that ended.
    Disconnections,
    /// Client connections turned away: limits, draining, a failed login.
    Refused,
    /// Commands that a backend or the proxy answered.
    Queries,
    /// Commands that were answered by an ERR packet.
    Errors,
    /// Bytes read from clients.
    BytesIn,
    /// Bytes sent to clients.
    BytesOut,
    /// Statements that a rule changed.
    Rewritten,
    /// Statements forwarded as they came.
    Forwarded,
    /// Statements that the proxy answered itself.
    Local,
    /// Statements whose plan was in the cache.
    PlanHits,
    /// Statements that were planned anew.
    PlanMisses,
    /// Statements that the parser did not understand, forwarded untouched.
    Unparsed,
    /// Backend connections opened.
    BackendConnections,
    /// Attempts at a backend connection that failed.
    BackendFailures,
}

/// Each counter with its name and one sentence of help, in the order of display.
pub(crate) const COUNTERS: [(Counter, &str, &str); 15] = [
    (Counter::Connections, "connections", "Client connections accepted"),
    (Counter::Disconnections, "disconnections", "Client connections that ended"),
    (Counter::Refused, "connections_refused", "Client connections turned away"),
    (Counter::Queries, "queries", "Commands answered"),
    (Counter::Errors, "errors", "Commands answered by an error"),
    (Counter::BytesIn, "bytes_in", "Bytes read from clients"),
    (Counter::BytesOut, "bytes_out", "Bytes sent to clients"),
    (Counter::Rewritten, "rewritten", "Statements changed by a rule"),
    (Counter::Forwarded, "forwarded", "Statements forwarded as they came"),
    (Counter::Local, "answered_here", "Statements answered by the proxy itself"),
    (Counter::PlanHits, "plan_cache_hits", "Statements whose plan was cached"),
    (Counter::PlanMisses, "plan_cache_misses", "Statements planned anew"),
    (Counter::Unparsed, "unparsed", "Statements forwarded because they were not understood"),
    (Counter::BackendConnections, "backend_connections", "Backend connections opened"),
    (Counter::BackendFailures, "backend_connection_failures", "Failed attempts at a backend connection"),
];

const COUNT: usize = COUNTERS.len();

#[derive(Debug, Default)]
struct Shard {
    counters: [AtomicU64; COUNT],
    latencies: Histogram,
}

/// The sums; written by sessions, read by the console, the metrics and the admin tables.
#[derive(Debug)]
pub(crate) struct Totals {
    shards: Box<[Padded<Shard>]>,
}

impl Totals {
    /// Sums with one shard for each of `cores` (at least one).
    #[must_use]
    pub(crate) fn new(cores: usize) -> Self {
        Self { shards: (0..cores.max(1)).map(|_| Padded::default()).collect() }
    }

    fn shard(&self) -> Option<&Shard> {
        let at = core().checked_rem(self.shards.len())?;
        self.shards.get(at).map(|padded| &padded.0)
    }

    /// Adds to one counter.
    #[inline]
    pub(crate) fn add(&self, counter: Counter, amount: u64) {
        if let Some(shard) = self.shard()
            && let Some(sum) = shard.counters.get(counter as usize)
        {
            sum.fetch_add(amount, Relaxed);
        }
    }

    /// Counts one answered command with its latency in microseconds, from its last byte in to its answer's last byte.
    #[inline]
    pub(crate) fn query(&self, micros: u64, error: bool) {
        let Some(shard) = self.shard() else { return };
        shard.latencies.record(micros);
        self.add(Counter::Queries, 1);
        if error {
            self.add(Counter::Errors, 1);
        }
    }

    /// The sums of all cores as of now.
    #[must_use]
    pub(crate) fn read(&self) -> TotalsRow {
        let mut row = TotalsRow::default();
        for Padded(shard) in &self.shards {
            for (sum, counter) in row.counters.iter_mut().zip(&shard.counters) {
                *sum = sum.wrapping_add(counter.load(Relaxed));
            }
            shard.latencies.add_to(&mut row.latencies);
        }
        row
    }
}

/// A copy of [`Totals`].
#[derive(Debug, Clone, Default)]
pub(crate) struct TotalsRow {
    counters: [u64; COUNT],
    /// Latencies of all commands.
    pub(crate) latencies: Latencies,
}

impl TotalsRow {
    /// One counter's sum.
    #[must_use]
    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.counters.get(counter as usize).copied().unwrap_or_default()
    }

    /// Client connections that are open now.
    #[must_use]
    pub(crate) fn connected(&self) -> u64 {
        self.get(Counter::Connections).saturating_sub(self.get(Counter::Disconnections))
    }
}

#[cfg(test)]
mod tests;
