//! Bundled servers: MariaDB servers that the proxy itself initialises, starts, supervises and stops.
//!
//! ```no_run
//! # async fn f() -> Result<(), backend::bundled::Error> {
//! use backend::bundled::{Memory, Options, Surroundings, prepare};
//! let options = Options::new("s1", "data/s1");
//! let server = prepare(options, &Surroundings::of_process()).await?.start();
//! server.ready().await?; // then: server.socket(), server.account()
//! server.stop().await;
//! # Ok(()) }
//! ```
//!
//! A server listens on a Unix socket of its own and nowhere else; its data stays between runs. See
//! `docs/bundled.md` for the folder's content and what is refused.

mod account;
mod backoff;
mod error;
mod files;
mod find;
mod folder;
mod init;
mod layout;
mod log;
mod machine;
mod memory;
mod option_file;
mod prepare;
mod process;
mod release;
mod supervise;
mod surroundings;
mod upgrade;

pub use account::{Account, USER};
pub use error::Error;
pub use find::{Installation, find};
pub use folder::Refusal;
pub use memory::Memory;
pub use option_file::Setting;
pub use prepare::prepare;
pub use release::Release;
pub use supervise::{Ended, State};
pub use surroundings::{SERVER_VARIABLE, Surroundings};

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use supervise::Supervisor;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// What a bundled server is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// The backend's name, as in the configuration.
    pub name: String,
    /// Its folder; a relative path starts at the working folder.
    pub folder: PathBuf,
    /// The server's program or installation, where the configuration names one.
    pub server: Option<PathBuf>,
    /// How much memory it may take.
    pub memory: Memory,
    /// Server options besides ours, such as `("optimizer_switch", "derived_merge=off")`.
    pub settings: Vec<Setting>,
    /// How long a stop may take before the server is killed.
    pub stop_timeout: Duration,
    /// How long to wait for a server of an earlier run that is still shutting down.
    pub takeover_timeout: Duration,
}

impl Options {
    /// A small server named `name` in `folder`, the only one on this machine.
    #[must_use]
    pub fn new(name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            folder: folder.into(),
            server: None,
            memory: Memory::Small { servers: NonZeroU32::MIN },
            settings: Vec::new(),
            stop_timeout: Duration::from_secs(120),
            takeover_timeout: Duration::from_secs(30),
        }
    }
}

/// A data folder that is ready for a server, and locked for this process.
pub struct Prepared {
    supervisor: Supervisor,
    state: watch::Receiver<State>,
    stop: oneshot::Sender<()>,
}

impl Prepared {
    /// Starts the server on the current Tokio runtime and keeps it running.
    #[must_use]
    pub fn start(self) -> Running {
        let supervisor = self.supervisor;
        Running {
            name: supervisor.layout.name.clone(),
            socket: supervisor.layout.socket.clone(),
            account: supervisor.account.clone(),
            release: supervisor.installation.release,
            pid: Arc::clone(&supervisor.pid),
            state: self.state,
            stop: self.stop,
            task: tokio::spawn(supervisor.run()),
        }
    }
}

/// A supervised server. Dropped, it is stopped in the background.
#[derive(Debug)]
pub struct Running {
    name: String,
    socket: PathBuf,
    account: Account,
    release: Release,
    pid: Arc<AtomicU32>,
    state: watch::Receiver<State>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Ended>,
}

impl Running {
    /// The backend's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's Unix socket, absolute; the same after every restart.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The proxy's own account: all privileges, for connections over the socket.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The server's version.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The server's process, while there is one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// What the server is doing, now and on.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Waits until the server answers.
    ///
    /// # Errors
    /// When it ended instead; it is being started again all the same, until [`Running::stop`].
    pub async fn ready(&self) -> Result<(), Error> {
        let mut state = self.state.clone();
        let seen = state.wait_for(|state| *state != State::Starting).await;
        let reason = match seen.as_deref() {
            Ok(State::Ready) => return Ok(()),
            Ok(State::Restarting { reason, .. } | State::Failed { reason }) => reason.clone(),
            Ok(_) => "it was stopped".to_owned(),
            Err(_) => "its supervisor is gone".to_owned(),
        };
        Err(Error::NotReady { name: self.name.clone(), reason })
    }

    /// Stops the server: SIGTERM, and SIGKILL after [`Options::stop_timeout`].
    pub async fn stop(self) -> Ended {
        // A supervisor that has ended already does not listen any more.
        let _ = self.stop.send(());
        self.task.await.unwrap_or(Ended::Already)
    }
}
