//! Statistics for each statement digest and schema, bounded in number.
//!
//! A cached plan holds the [`DigestStats`] of its statement, so the map is asked only when a plan is made. When the map
//! is full, the entries that no plan holds and that were seen longest ago are folded into `other`; while every entry is
//! held, a new digest counts as `other` itself. So nothing counted is ever lost, and a statement that still runs is
//! never dropped. The capacity should exceed the number of cached plans.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::{Clock, Histogram, Latencies, Padded, core};

/// Digest texts are cut here, at a character boundary.
const TEXT_MAX: usize = 4096;

/// More shards than this cost more memory than contention costs time.
const SHARDS_MAX: usize = 4;

#[derive(Debug, Default)]
struct Shard {
    count: AtomicU64,
    errors: AtomicU64,
    rewritten: AtomicU64,
    bytes: AtomicU64,
    micros: AtomicU64,
    last_seen: AtomicU64,
    latencies: Histogram,
}

/// What is known of one digest in one schema.
#[derive(Debug)]
pub(crate) struct DigestStats {
    digest: u128,
    schema: Box<str>,
    text: Box<str>,
    first_seen: u64,
    shards: Box<[OnceLock<Box<Padded<Shard>>>]>,
    clock: Arc<Clock>,
}

impl DigestStats {
    fn new(digest: u128, schema: &str, text: &str, cores: usize, clock: &Arc<Clock>) -> Self {
        Self {
            digest,
            schema: schema.into(),
            text: cut(text).into(),
            first_seen: clock.unix_seconds(),
            shards: (0..cores.clamp(1, SHARDS_MAX)).map(|_| OnceLock::new()).collect(),
            clock: Arc::clone(clock),
        }
    }

    #[inline]
    fn shard(&self) -> Option<&Shard> {
        let at = core().checked_rem(self.shards.len())?;
        self.shards.get(at).map(|shard| &shard.get_or_init(Box::default).0)
    }

    /// Counts one execution: its latency, whether an ERR answered it, bytes sent to the client.
    #[inline]
    pub(crate) fn record(&self, elapsed: Duration, error: bool, bytes: u64) {
        let Some(shard) = self.shard() else { return };
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        shard.count.fetch_add(1, Relaxed);
        shard.micros.fetch_add(micros, Relaxed);
        shard.bytes.fetch_add(bytes, Relaxed);
        shard.latencies.record(micros);
        if error {
            shard.errors.fetch_add(1, Relaxed);
        }
        let now = self.clock.unix_seconds();
        if shard.last_seen.load(Relaxed) != now {
            shard.last_seen.store(now, Relaxed);
        }
    }

    /// Counts one execution whose text a rule had changed; beside [`Self::record`].
    #[inline]
    pub(crate) fn rewritten(&self) {
        if let Some(shard) = self.shard() {
            shard.rewritten.fetch_add(1, Relaxed);
        }
    }

    /// The normalized text, without literals.
    #[must_use]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read it"))]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn last_seen(&self) -> u64 {
        let seen =
            self.shards.iter().filter_map(|shard| shard.get()).map(|shard| shard.0.last_seen.load(Relaxed));
        seen.max().unwrap_or(self.first_seen).max(self.first_seen)
    }

    /// A copy of the counters as of now.
    #[must_use]
    pub(crate) fn read(&self) -> DigestRow {
        let mut row = DigestRow {
            digest: self.digest,
            schema: self.schema.to_string(),
            text: self.text.to_string(),
            first_seen: self.first_seen,
            last_seen: self.last_seen(),
            ..DigestRow::default()
        };
        for shard in self.shards.iter().filter_map(|shard| shard.get()) {
            let Padded(shard) = shard.as_ref();
            row.count = row.count.wrapping_add(shard.count.load(Relaxed));
            row.errors = row.errors.wrapping_add(shard.errors.load(Relaxed));
            row.rewritten = row.rewritten.wrapping_add(shard.rewritten.load(Relaxed));
            row.bytes = row.bytes.wrapping_add(shard.bytes.load(Relaxed));
            row.micros = row.micros.wrapping_add(shard.micros.load(Relaxed));
            shard.latencies.add_to(&mut row.latencies);
        }
        row
    }

    fn absorb(&self, row: &DigestRow) {
        let Some(shard) = self.shard() else { return };
        shard.count.fetch_add(row.count, Relaxed);
        shard.errors.fetch_add(row.errors, Relaxed);
        shard.rewritten.fetch_add(row.rewritten, Relaxed);
        shard.bytes.fetch_add(row.bytes, Relaxed);
        shard.micros.fetch_add(row.micros, Relaxed);
        shard.last_seen.fetch_max(row.last_seen, Relaxed);
        shard.latencies.absorb(&row.latencies);
    }
}

/// A copy of one [`DigestStats`]. Times are microseconds, moments are Unix seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct DigestRow {
    /// The digest; 0 in the row `other`.
    pub(crate) digest: u128,
    /// Default schema of the sessions that ran it, empty for none.
    pub(crate) schema: String,
    /// Normalized text.
    pub(crate) text: String,
    /// Executions.
    pub(crate) count: u64,
    /// Executions answered by an ERR.
    pub(crate) errors: u64,
    /// Executions whose text a rule had changed.
    pub(crate) rewritten: u64,
    /// Bytes sent to clients.
    pub(crate) bytes: u64,
    /// Sum of the latencies.
    pub(crate) micros: u64,
    /// The latencies' distribution.
    pub(crate) latencies: Latencies,
    /// When the digest was first planned.
    pub(crate) first_seen: u64,
    /// When it last ran, to the second.
    pub(crate) last_seen: u64,
}

#[derive(Debug, Default)]
struct Map {
    by_digest: HashMap<u128, Vec<Arc<DigestStats>>>,
    len: usize,
    /// No scan for entries to evict before this second: the last one found too few.
    scan_after: u64,
}

/// The bounded set of digests.
#[derive(Debug)]
pub(crate) struct Digests {
    map: Mutex<Map>,
    other: Arc<DigestStats>,
    cores: usize,
    capacity: usize,
    clock: Arc<Clock>,
}

impl Digests {
    /// An empty set that keeps at most `capacity` digests apart.
    #[must_use]
    pub(crate) fn new(cores: usize, capacity: usize, clock: Arc<Clock>) -> Self {
        let other = Arc::new(DigestStats::new(0, "", "(other statements)", cores, &clock));
        Self { map: Mutex::default(), other, cores, capacity, clock }
    }

    /// The statistics of `digest` in `schema` (empty for none), made with `text()` at first sight.
    pub(crate) fn get(&self, digest: u128, schema: &str, text: impl FnOnce() -> String) -> Arc<DigestStats> {
        if let Some(known) = self.known(digest, schema) {
            return known;
        }
        // Normalizing happens outside the lock; a second thread that was faster wins.
        let fresh = Arc::new(DigestStats::new(digest, schema, &text(), self.cores, &self.clock));
        let mut map = self.lock();
        if let Some(known) = map.find(digest, schema) {
            return known;
        }
        if map.len >= self.capacity {
            self.evict(&mut map);
            if map.len >= self.capacity {
                return Arc::clone(&self.other);
            }
        }
        map.by_digest.entry(digest).or_default().push(Arc::clone(&fresh));
        map.len += 1;
        fresh
    }

    fn known(&self, digest: u128, schema: &str) -> Option<Arc<DigestStats>> {
        self.lock().find(digest, schema)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Map> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for an eighth of the capacity at once, so that a flood of new digests pays for one scan in many.
    fn evict(&self, map: &mut Map) {
        let now = self.clock.unix_seconds();
        if now < map.scan_after {
            return;
        }
        let free = |stats: &&Arc<DigestStats>| Arc::strong_count(stats) == 1;
        let mut ages: Vec<u64> =
            map.by_digest.values().flatten().filter(free).map(|stats| stats.last_seen()).collect();
        let wanted = (self.capacity / 8).max(1);
        if ages.len() < wanted {
            map.scan_after = now + 1;
        }
        ages.sort_unstable();
        let Some(&oldest) = ages.get(wanted.min(ages.len()).saturating_sub(1)) else { return };
        let mut left = wanted;
        map.by_digest.retain(|_, entries| {
            entries.retain(|stats| {
                // Only this map hands out clones and its lock is held, so a count of 1 stays 1.
                let goes = left > 0 && Arc::strong_count(stats) == 1 && stats.last_seen() <= oldest;
                if goes {
                    left -= 1;
                    self.other.absorb(&stats.read());
                }
                !goes
            });
            !entries.is_empty()
        });
        map.len = map.len.saturating_sub(wanted - left);
    }

    /// All digests as of now, in no order, `other` at the end where it counted anything.
    #[must_use]
    pub(crate) fn read(&self) -> Vec<DigestRow> {
        let held: Vec<Arc<DigestStats>> = self.lock().by_digest.values().flatten().cloned().collect();
        let mut rows: Vec<DigestRow> = held.iter().map(|stats| stats.read()).collect();
        let other = self.other.read();
        if other.count > 0 {
            rows.push(other);
        }
        rows
    }

    /// Number of digests kept apart.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.lock().len
    }
}

impl Map {
    fn find(&self, digest: u128, schema: &str) -> Option<Arc<DigestStats>> {
        self.by_digest.get(&digest)?.iter().find(|stats| &*stats.schema == schema).cloned()
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
