//! The task that keeps one backend's accounts up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::Accounts;
use super::load::{checksum, load};
use crate::control::{Control, ControlError, ServerFacts, Target};

/// Between two readings that clients ask for, so that wrong passwords do not keep the server busy.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest wait after failures.
const BACK_OFF: Duration = Duration::from_secs(10);

/// The accounts of one backend as every core sees them. Clones share them.
#[derive(Clone, Debug)]
pub struct AccountsHandle {
    reading: watch::Sender<Reading>,
    requests: watch::Sender<u64>,
}

/// What the last look at the server gave.
#[derive(Debug, Clone, Default)]
struct Reading {
    /// Requests that it covers: those made before it began.
    covers: u64,
    accounts: Option<Arc<Accounts>>,
    fault: Option<ControlError>,
}

impl Default for AccountsHandle {
    fn default() -> Self {
        Self { reading: watch::Sender::new(Reading::default()), requests: watch::Sender::new(0) }
    }
}

impl AccountsHandle {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The accounts as last read, at most a few seconds old while the server is up; `None` before the first reading.
    #[must_use]
    pub fn current(&self) -> Option<Arc<Accounts>> {
        self.reading.borrow().accounts.clone()
    }

    /// Why they could not be read the last time.
    #[must_use]
    pub fn fault(&self) -> Option<ControlError> {
        self.reading.borrow().fault.clone()
    }

    /// Asks for a look at the server now and waits for it, at most `within`; then as [`AccountsHandle::current`]. For a
    /// login that is about to be refused: the password may have been changed a moment ago.
    pub async fn fresh(&self, within: Duration) -> Option<Arc<Accounts>> {
        let mut ticket = 0;
        self.requests.send_modify(|count| {
            *count += 1;
            ticket = *count;
        });
        let mut reading = self.reading.subscribe();
        let _ = timeout(within, reading.wait_for(|reading| reading.covers >= ticket)).await;
        self.current()
    }
}

/// The keeper's task; it ends when this is dropped.
#[derive(Debug)]
pub struct AccountsKeeper {
    task: JoinHandle<()>,
}

impl Drop for AccountsKeeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a task on the current runtime that looks every `period` whether the accounts changed, and reads them if so.
#[must_use = "the accounts are kept as long as the keeper lives"]
pub fn keep(target: Target, handle: AccountsHandle, period: Duration) -> AccountsKeeper {
    AccountsKeeper { task: tokio::spawn(run(target, handle, period)) }
}

async fn run(target: Target, handle: AccountsHandle, period: Duration) {
    let mut requests = handle.requests.subscribe();
    let mut reader: Option<Reader> = None;
    let mut wait = period;
    loop {
        let covers = *requests.borrow_and_update();
        let result = match &mut reader {
            Some(reader) => reader.round().await,
            None => match Reader::open(&target).await {
                Ok(fresh) => reader.insert(fresh).round().await,
                Err(error) => Err(error),
            },
        };
        match result {
            Ok(read) => {
                wait = period;
                handle.reading.send_modify(|reading| {
                    reading.covers = covers;
                    reading.fault = None;
                    if let Some(accounts) = read {
                        reading.accounts = Some(Arc::new(accounts));
                    }
                });
            }
            Err(error) => {
                if error.is_fatal() {
                    reader = None;
                }
                let before = handle.fault();
                wait = if before.is_none() { period } else { (wait * 2).min(BACK_OFF) };
                if before.as_ref() != Some(&error) {
                    tracing::warn!(%error, "the accounts cannot be read");
                }
                handle.reading.send_modify(|reading| {
                    reading.covers = covers;
                    reading.fault = Some(error);
                });
            }
        }
        sleep(PAUSE).await;
        tokio::select! {
            () = sleep(wait) => {}
            Ok(()) = requests.changed() => {}
        }
    }
}

/// A connection and what its last look found.
struct Reader {
    control: Control,
    facts: ServerFacts,
    last: Option<(u64, u64)>,
}

impl Reader {
    async fn open(target: &Target) -> Result<Self, ControlError> {
        let mut control = target.connect().await?;
        let facts = ServerFacts::probe(&mut control).await?;
        Ok(Self { control, facts, last: None })
    }

    /// The accounts if they changed. A change between the two statements is read now and found once more by the
    /// next look.
    async fn round(&mut self) -> Result<Option<Accounts>, ControlError> {
        let sum = checksum(&mut self.control, &self.facts).await?;
        if sum.is_some() && self.last == sum {
            return Ok(None);
        }
        let accounts = load(&mut self.control, &self.facts).await?;
        self.last = sum;
        tracing::debug!(accounts = accounts.len(), "accounts read");
        Ok(Some(accounts))
    }
}
