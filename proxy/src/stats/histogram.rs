//! A latency histogram of fixed size whose buckets grow with the value, read as percentiles within about 3 %.
//!
//! Each power of two is cut into 16 equal buckets (the layout of HdrHistogram), so a bucket is at most 1/16 of its own
//! lower bound wide and its middle at most 1/32 from any value in it. Values are microseconds, from 0 to 2^31.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;
/// Exponents 4 to 30 have 16 buckets each, below them every microsecond has its own.
const BUCKETS: usize = 16 + 27 * 16;
const LARGEST: u64 = (1 << 31) - 1;

/// A bucket that reaches this halves the whole histogram: percentiles keep their meaning and lean to the recent past.
const HALVE_AT: u32 = 1 << 31;

/// Counts of durations, written by any thread.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: [AtomicU32; BUCKETS],
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { buckets: [const { AtomicU32::new(0) }; BUCKETS] }
    }

    /// Counts one duration; more than 35 minutes counts as 35 minutes.
    #[inline]
    pub(crate) fn record(&self, micros: u64) {
        let Some(bucket) = self.buckets.get(index(micros)) else { return };
        if bucket.fetch_add(1, Relaxed) >= HALVE_AT {
            self.halve();
        }
    }

    #[cold]
    fn halve(&self) {
        for bucket in &self.buckets {
            // A racing increment may be lost: one in two thousand millions.
            bucket.store(bucket.load(Relaxed) / 2, Relaxed);
        }
    }

    /// Adds what was counted so far to `sum`.
    pub(crate) fn add_to(&self, sum: &mut Latencies) {
        for (total, bucket) in sum.counts.iter_mut().zip(&self.buckets) {
            *total = total.saturating_add(u64::from(bucket.load(Relaxed)));
        }
    }

    /// Counts everything in `from` here too, which is how an evicted digest joins the rest.
    pub(crate) fn absorb(&self, from: &Latencies) {
        for (bucket, count) in self.buckets.iter().zip(&from.counts) {
            let sum = u64::from(bucket.load(Relaxed)).saturating_add(*count);
            bucket.store(u32::try_from(sum).unwrap_or(u32::MAX).min(HALVE_AT), Relaxed);
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// A copy of one or several histograms, to be asked for percentiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Latencies {
    counts: Vec<u64>,
}

impl Latencies {
    /// Nothing counted.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS] }
    }

    /// How many durations were counted.
    #[must_use]
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The sum of all durations in microseconds, within about 3 %.
    #[must_use]
    pub(crate) fn sum(&self) -> u64 {
        let products = self.counts.iter().enumerate().map(|(at, count)| middle(at).saturating_mul(*count));
        products.fold(0, u64::saturating_add)
    }

    /// The duration in microseconds below which the share `quantile` (0 to 1) of all lies; 0 where there is none.
    #[must_use]
    pub(crate) fn quantile(&self, quantile: f64) -> u64 {
        let total = self.count();
        if total == 0 {
            return 0;
        }
        let rank = ((quantile.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        let mut seen = 0_u64;
        for (at, count) in self.counts.iter().enumerate() {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return middle(at);
            }
        }
        LARGEST
    }

    /// How many durations are at most `micros`, to the precision of a bucket: a bucket counts once its middle is in.
    #[must_use]
    pub(crate) fn at_most(&self, micros: u64) -> u64 {
        let within = self.counts.iter().enumerate().take_while(|(at, _)| middle(*at) <= micros);
        within.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// What was counted since `earlier`, a former copy of the same histograms.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let pairs = self.counts.iter().zip(&earlier.counts);
        Self { counts: pairs.map(|(now, then)| now.saturating_sub(*then)).collect() }
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn index(micros: u64) -> usize {
    let value = micros.min(LARGEST);
    if value < SUB {
        return value as usize;
    }
    let exponent = value.ilog2();
    let sub = (value >> (exponent - SUB_BITS)) & (SUB - 1);
    (u64::from(exponent - SUB_BITS + 1) * SUB + sub) as usize
}

fn middle(index: usize) -> u64 {
    let index = index as u64;
    if index < SUB {
        return index;
    }
    let shift = index / SUB - 1;
    let low = (SUB + index % SUB) << shift;
    low + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests;
