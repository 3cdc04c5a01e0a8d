//! The task that keeps one backend's catalog up to date.

use std::time::Duration;

use sql::catalog::Catalog;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::check::Fingerprint;
use super::{CatalogHandle, load};
use crate::control::{Control, ControlError, ServerFacts, Target};

/// How often the keeper looks.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Between two cheap checks: the window in which DDL from elsewhere on InnoDB is not seen.
    pub check: Duration,
    /// Between two whole readings: the same for other engines on MariaDB. Stretched so that readings take at most
    /// a hundredth of the time.
    pub full: Duration,
    /// After DDL through the proxy, where no statement needs the catalog: how long none must have come before it is
    /// read again. A reading opens every table, which whoever works on them would notice.
    pub quiet: Duration,
    /// The longest wait after failures.
    pub back_off: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            check: Duration::from_secs(3),
            full: Duration::from_secs(30),
            quiet: Duration::from_secs(10),
            back_off: Duration::from_secs(10),
        }
    }
}

/// No statement of a whole reading takes longer than this.
const LOAD_LIMIT: Duration = Duration::from_secs(120);

/// Tables that change while they are read are read again this often before the keeper waits.
const TRIES: usize = 3;

/// Between two readings that were asked for, the keeper waits as long as the last one took, and at most this.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The keeper's task; it ends when this is dropped.
#[derive(Debug)]
pub struct Keeper {
    task: JoinHandle<()>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a task on the current runtime that reads the catalog, and reads it again whenever that is asked for or a
/// check finds a change.
#[must_use = "the catalog is kept as long as the keeper lives"]
pub fn keep(target: Target, handle: CatalogHandle, timing: Timing) -> Keeper {
    Keeper { task: tokio::spawn(run(target, handle, timing)) }
}

async fn run(target: Target, handle: CatalogHandle, timing: Timing) {
    let mut requests = handle.requests();
    let mut wait = timing.check;
    let mut reader: Option<Reader> = None;
    let mut told = String::new();
    loop {
        requests.borrow_and_update();
        let result = match &mut reader {
            Some(reader) => reader.round(&handle, timing).await,
            None => match Reader::open(&target).await {
                Ok(fresh) => reader.insert(fresh).round(&handle, timing).await,
                Err(error) => Err(error),
            },
        };
        match result {
            Ok(()) => {
                told.clear();
                wait = timing.check;
            }
            Err(error) => {
                // Nobody watched the server in between: it may come back with other tables.
                handle.doubt();
                reader = None;
                wait = if told.is_empty() { timing.check / 4 } else { (wait * 2).min(timing.back_off) };
                let text = error.to_string();
                if told != text {
                    tracing::warn!(%error, "the catalog cannot be read; rules that need it do not fire");
                    told = text;
                }
            }
        }
        tokio::select! {
            () = sleep(wait) => {}
            Ok(()) = requests.changed(), if reader.is_some() => {
                let took = reader.as_ref().map_or(Duration::ZERO, |reader| reader.took);
                settled(&handle, &mut requests, took, timing.quiet).await;
            }
        }
    }
}

/// Waits before a reading that was asked for. Where a statement needs it, as long as the last one took: a burst of DDL
/// (a migration) then costs the server at most half of one core. Otherwise until no more is asked for.
async fn settled(
    handle: &CatalogHandle,
    requests: &mut watch::Receiver<u64>,
    took: Duration,
    quiet: Duration,
) {
    loop {
        requests.borrow_and_update();
        if handle.is_needed() {
            return sleep(took.min(LONGEST_PAUSE)).await;
        }
        if !handle.is_stale() {
            // It was read meanwhile, and is in force: to be checked as usual.
            return;
        }
        tokio::select! {
            () = sleep(quiet) => return,
            Ok(()) = requests.changed() => {}
        }
    }
}

/// A connection and what its last reading found.
struct Reader {
    control: Control,
    facts: ServerFacts,
    last: Option<Fingerprint>,
    full_due: Instant,
    took: Duration,
}

impl Reader {
    async fn open(target: &Target) -> Result<Self, ControlError> {
        let mut control = target.connect().await?;
        let facts = ServerFacts::probe(&mut control).await?;
        Ok(Self { control, facts, last: None, full_due: Instant::now(), took: Duration::ZERO })
    }

    /// One look: a check, and a whole reading where the check, a request or the time asks for one.
    async fn round(&mut self, handle: &CatalogHandle, timing: Timing) -> Result<(), ControlError> {
        let mut before = Fingerprint::read(&mut self.control).await?;
        let same = self.last.as_ref().is_some_and(|last| last.agrees(&before));
        let proven = same && self.last.as_ref().is_some_and(Fingerprint::is_settled);
        if proven && !handle.is_stale() && Instant::now() < self.full_due {
            return Ok(());
        }
        if !same {
            handle.doubt();
        }
        for _ in 0..TRIES {
            let mark = handle.mark();
            let started = Instant::now();
            let read = load(&mut self.control, &self.facts, LOAD_LIMIT).await?;
            let after = Fingerprint::read(&mut self.control).await?;
            if !after.agrees(&before) {
                handle.doubt();
                before = after;
                continue;
            }
            self.took = started.elapsed();
            self.full_due = Instant::now() + timing.full.max(self.took * 100);
            // The first of the two: what it calls young may have changed unseen until the second.
            self.last = Some(before);
            let changed = !handle.last().is_some_and(|old| same_content(&old, &read));
            let tables = read.tables().count();
            let generation = handle.publish(mark, changed.then_some(read));
            if changed {
                tracing::info!(generation, tables, took = ?self.took, "catalog read");
            }
            return Ok(());
        }
        tracing::debug!("tables change faster than they are read; the catalog stays unknown");
        Ok(())
    }
}

fn same_content(old: &Catalog, new: &Catalog) -> bool {
    old.table_names() == new.table_names()
        && old.tables().count() == new.tables().count()
        && new.tables().all(|table| old.table(&table.schema, &table.name) == Some(table))
}
