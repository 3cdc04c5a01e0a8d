//! Whether a backend answers: a task for each that asks every second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::control::{Control, ControlError, ServerFacts, Target};

/// What is known of a backend.
#[derive(Debug, Clone)]
pub enum Health {
    /// Nothing yet.
    Unknown,
    /// It answers.
    Up {
        /// Since when.
        since: Instant,
        /// How long it took to answer the last time.
        latency: Duration,
        /// What it said about itself when the connection was made.
        facts: Arc<ServerFacts>,
    },
    /// It does not.
    Down {
        /// Since when.
        since: Instant,
        /// Why, and what to do.
        error: ControlError,
    },
}

impl Health {
    /// Whether it answers.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        matches!(self, Self::Up { .. })
    }

    /// What the server said about itself, while it is up.
    #[must_use]
    pub fn facts(&self) -> Option<&Arc<ServerFacts>> {
        match self {
            Self::Up { facts, .. } => Some(facts),
            Self::Unknown | Self::Down { .. } => None,
        }
    }
}

/// How often a backend is asked.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Between two pings.
    pub period: Duration,
    /// A server that does not answer a ping within this is down.
    pub silence: Duration,
    /// The longest wait between two tries to connect; the first one waits a tenth of `period`, then twice as long
    /// each time.
    pub back_off: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(1),
            silence: Duration::from_secs(3),
            back_off: Duration::from_secs(5),
        }
    }
}

/// A backend's health as every core sees it. The task ends when the last clone of this is gone.
#[derive(Debug, Clone)]
pub struct Monitor {
    state: watch::Receiver<Health>,
    _task: Arc<Task>,
}

#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Monitor {
    /// Starts a task on the current runtime that watches a server.
    #[must_use]
    pub fn start(target: Target, pace: Pace) -> Self {
        let (sender, state) = watch::channel(Health::Unknown);
        Self { state, _task: Arc::new(Task(tokio::spawn(run(target, pace, sender)))) }
    }

    /// What is known now.
    #[must_use]
    pub fn now(&self) -> Health {
        self.state.borrow().clone()
    }

    /// Every change, from now on.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Health> {
        self.state.clone()
    }

    /// Waits for the first answer or failure.
    pub async fn first(&self) -> Health {
        self.wait_for(|health| !matches!(health, Health::Unknown)).await
    }

    /// Waits until the backend is up.
    pub async fn up(&self) -> Health {
        self.wait_for(Health::is_up).await
    }

    async fn wait_for(&self, what: impl Fn(&Health) -> bool) -> Health {
        let mut state = self.state.clone();
        let found = state.wait_for(|health| what(health)).await.map(|health| health.clone());
        found.unwrap_or(Health::Unknown)
    }
}

async fn run(target: Target, pace: Pace, state: watch::Sender<Health>) {
    let target = Target { read_timeout: pace.silence, ..target };
    let first = pace.period / 10;
    let mut wait = first;
    loop {
        let error = match watch_one(&target, pace, &state).await {
            (Visit::Answered, error) => {
                wait = first;
                error
            }
            (Visit::Refused, error) => error,
        };
        state.send_modify(|health| {
            let since = match health {
                Health::Down { since, .. } => *since,
                Health::Unknown | Health::Up { .. } => {
                    tracing::warn!(%error, "backend down");
                    Instant::now()
                }
            };
            *health = Health::Down { since, error };
        });
        sleep(wait).await;
        wait = (wait * 2).min(pace.back_off);
    }
}

/// How a connection's life went.
enum Visit {
    Answered,
    Refused,
}

/// Connects, and pings until that fails.
async fn watch_one(target: &Target, pace: Pace, state: &watch::Sender<Health>) -> (Visit, ControlError) {
    let mut control = match target.connect().await {
        Ok(control) => control,
        Err(error) => return (Visit::Refused, error),
    };
    let facts = match ServerFacts::probe(&mut control).await {
        Ok(facts) => Arc::new(facts),
        Err(error) => return (Visit::Refused, error),
    };
    let since = Instant::now();
    tracing::info!(address = %target.address, version = %facts.version_text, "backend up");
    loop {
        let latency = match ping(&mut control).await {
            Ok(latency) => latency,
            Err(error) => return (Visit::Answered, error),
        };
        state.send_replace(Health::Up { since, latency, facts: facts.clone() });
        sleep(pace.period).await;
    }
}

async fn ping(control: &mut Control) -> Result<Duration, ControlError> {
    let asked = Instant::now();
    control.ping().await?;
    Ok(asked.elapsed())
}
