//! What a session left on a connection that others may use now: the server forgets it with their first statement, so whoever
//! takes the connection saves it first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sql::traces::Soft;
use tokio::sync::Notify;

use crate::connection::Connection;
use crate::exchange::{ExchangeError, first_row, send_queries, whole_answer};

/// What was saved. Each is there if it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// `LAST_INSERT_ID()`.
    pub insert_id: Option<u64>,
    /// `FOUND_ROWS()`.
    pub found_rows: Option<u64>,
    /// The whole answer to `SHOW WARNINGS`, packets as they came.
    pub warnings: Option<Vec<u8>>,
}

impl Saved {
    /// Reads from a connection what a session left there.
    ///
    /// # Errors
    /// See [`ExchangeError`].
    pub async fn read(connection: &mut Connection, kinds: Soft) -> Result<Self, ExchangeError> {
        let mut saved = Self::default();
        // Warnings first: MySQL forgets them with any other statement. FOUND_ROWS() survives that, ROW_COUNT() does not, but is
        // known from the answer.
        if kinds.contains(Soft::DIAGNOSTICS) {
            send_queries(connection, &["SHOW WARNINGS"]).await?;
            saved.warnings = Some(whole_answer(connection).await?);
        }
        if kinds.intersects(Soft::INSERT_ID | Soft::COUNTS) {
            send_queries(connection, &["SELECT LAST_INSERT_ID(), FOUND_ROWS()"]).await?;
            let row = first_row(connection).await?;
            let number = |at: usize| String::from_utf8_lossy(row.get(at)?.as_ref()?).parse().ok();
            saved.insert_id = number(0);
            saved.found_rows = number(1);
        }
        Ok(saved)
    }
}

#[derive(Debug)]
enum State {
    /// It is still on its connection.
    There,
    Saved(Saved),
    /// The connection is gone.
    Lost,
}

/// What one session left at one time.
#[derive(Debug)]
pub struct Legacy {
    kinds: Soft,
    state: Mutex<State>,
    settled: Notify,
}

/// A legacy together with the connection that it is on. Dropped before it was saved, it is lost.
#[derive(Debug)]
pub struct Left(Arc<Legacy>);

impl Legacy {
    /// These kinds of state are on the connection that is about to be parked.
    #[must_use]
    pub fn new(kinds: Soft) -> Arc<Self> {
        Arc::new(Self { kinds, state: Mutex::new(State::There), settled: Notify::new() })
    }

    /// One that was saved by its owner.
    #[must_use]
    pub fn saved(saved: Saved) -> Arc<Self> {
        Arc::new(Self {
            kinds: Soft::empty(),
            state: Mutex::new(State::Saved(saved)),
            settled: Notify::new(),
        })
    }

    /// What goes along with the connection.
    #[must_use]
    pub fn left(self: &Arc<Self>) -> Left {
        Left(self.clone())
    }

    /// What was saved; waits for whoever is about to do so. `None` if it is lost.
    pub async fn wait(&self) -> Option<Saved> {
        loop {
            let settled = self.settled.notified();
            match &*self.state() {
                State::Saved(saved) => return Some(saved.clone()),
                State::Lost => return None,
                State::There => {}
            }
            settled.await;
        }
    }

    fn settle(&self, state: State) {
        *self.state() = state;
        self.settled.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Left {
    /// Whether nobody will ask for it any more, nor for what the connection is like now.
    pub(super) fn is_unwanted(&self) -> bool {
        // The owner holds the other reference. `LAST_INSERT_ID()` stays on the connection, and whoever has it next must know.
        Arc::strong_count(&self.0) == 1 && !self.0.kinds.contains(Soft::INSERT_ID)
    }

    /// Saves it from its connection, before anything else runs there.
    ///
    /// # Errors
    /// See [`ExchangeError`]; it is lost then.
    pub async fn save(self, connection: &mut Connection) -> Result<Saved, ExchangeError> {
        let saved = Saved::read(connection, self.0.kinds).await?;
        self.0.settle(State::Saved(saved.clone()));
        Ok(saved)
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let waits = matches!(&*self.0.state(), State::There);
        if waits {
            self.0.settle(State::Lost);
        }
    }
}
