//! One sample per second of the last minutes, for the console's curves.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::{Counter, Totals, TotalsRow};

/// Ten minutes.
pub(crate) const SECONDS: usize = 600;

/// What happened in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Unix seconds at its end.
    pub(crate) at: u64,
    /// Seconds that it spans: 1, more when the sampler was late.
    pub(crate) seconds: u64,
    /// Commands answered in it.
    pub(crate) queries: u64,
    /// Of these, by an error.
    pub(crate) errors: u64,
    /// Statements changed by a rule.
    pub(crate) rewritten: u64,
    /// Bytes from clients and to clients.
    pub(crate) bytes: u64,
    /// Client connections open at its end.
    pub(crate) connected: u64,
    /// Median latency in microseconds, 0 without queries.
    pub(crate) p50: u64,
    /// 99th percentile likewise.
    pub(crate) p99: u64,
}

#[derive(Debug, Default)]
struct Ring {
    last: Option<(u64, TotalsRow)>,
    samples: VecDeque<Sample>,
}

/// The ring of samples.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Ring>);

impl History {
    /// No samples yet.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes the difference to the last call as the sample that ends `at`. The first call only sets the base.
    pub(super) fn sample(&self, at: u64, totals: &Totals) {
        let now = totals.read();
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, then)) = &ring.last {
            let seconds = at.saturating_sub(*before);
            if seconds == 0 {
                return;
            }
            let more = |counter| now.get(counter).saturating_sub(then.get(counter));
            let latencies = now.latencies.since(&then.latencies);
            let sample = Sample {
                at,
                seconds,
                queries: more(Counter::Queries),
                errors: more(Counter::Errors),
                rewritten: more(Counter::Rewritten),
                bytes: more(Counter::BytesIn).saturating_add(more(Counter::BytesOut)),
                connected: now.connected(),
                p50: latencies.quantile(0.5),
                p99: latencies.quantile(0.99),
            };
            if ring.samples.len() == SECONDS {
                ring.samples.pop_front();
            }
            ring.samples.push_back(sample);
        }
        ring.last = Some((at, now));
    }

    /// The samples, oldest first, at most ten minutes of them.
    #[must_use]
    pub(crate) fn read(&self) -> Vec<Sample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).samples.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests;
