//! Keeping one server running: start, wait until it answers, restart after a crash, stop.

use super::account::Account;
use super::backoff;
use super::find::Installation;
use super::folder::Marker;
use super::init;
use super::layout::{Layout, entry};
use super::log;
use super::process::{Launcher, Process};
use super::upgrade;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use rustix::process::Signal;
use std::fs::File;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tokio::time;

/// How often a starting server is asked whether it answers.
const ASK: Duration = Duration::from_millis(20);
/// How long one answer may take: a server that recovers listens before it answers.
const ANSWER: Duration = Duration::from_secs(5);
/// After this time a start that is not over is worth a line in the log, again and again.
const SLOW: Duration = Duration::from_secs(30);

/// What a bundled server is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The process is being started, or recovers its data; it does not answer yet.
    Starting,
    /// It answers.
    Ready,
    /// It ended by itself and will be started again, for ever.
    Restarting {
        /// Number of this restart since the server was last stable; 1 is the first.
        attempt: u32,
        /// When it will be started.
        next: Instant,
        /// How it ended, with the end of its log.
        reason: String,
    },
    /// It was asked to stop and is doing so.
    Stopping,
    /// It was stopped.
    Stopped,
    /// It ended and no restart can help: its data folder is gone.
    Failed {
        /// What is wrong.
        reason: String,
    },
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It shut down when asked.
    Cleanly,
    /// It did not within the time given and was killed; it will recover at its next start.
    Killed,
    /// It was not running.
    Already,
}

/// Owns one server for as long as it is to run.
pub(crate) struct Supervisor {
    pub(crate) layout: Layout,
    pub(crate) installation: Installation,
    pub(crate) launcher: Launcher,
    pub(crate) account: Account,
    pub(crate) marker: Marker,
    pub(crate) stop_timeout: Duration,
    pub(crate) state: watch::Sender<State>,
    /// Fires, or is dropped, when the server is to stop.
    pub(crate) stop: oneshot::Receiver<()>,
    /// The server's pid, 0 while there is none.
    pub(crate) pid: Arc<AtomicU32>,
    /// The locked lock file: held to the end.
    pub(crate) _lock: File,
}

/// How one run of the process came to its end.
enum Run {
    Stopped(Ended),
    Crashed { reason: String, ready_for: Option<Duration> },
}

impl Supervisor {
    /// Runs the server until it is to stop.
    pub(crate) async fn run(mut self) -> Ended {
        let mut attempt = 0;
        loop {
            self.state.send_replace(State::Starting);
            let run = self.run_once().await;
            self.pid.store(0, Ordering::Relaxed);
            let (reason, ready_for) = match run {
                Run::Stopped(ended) => return self.stopped(ended),
                Run::Crashed { reason, ready_for } => (reason, ready_for),
            };
            let name = &self.layout.name;
            if !self.layout.path(entry::MARKER).exists() {
                let reason = format!("its data folder is gone; {reason}");
                tracing::error!(server = %name, %reason, "bundled server cannot run any more");
                self.state.send_replace(State::Failed { reason });
                return Ended::Already;
            }
            attempt = backoff::next_attempt(attempt, ready_for);
            let wait = backoff::delay(attempt);
            tracing::error!(server = %name, attempt, ?wait, %reason, "bundled server ended; starting it again");
            self.state.send_replace(State::Restarting { attempt, next: Instant::now() + wait, reason });
            tokio::select! {
                () = time::sleep(wait) => {}
                _ = &mut self.stop => return self.stopped(Ended::Already),
            }
        }
    }

    fn stopped(&self, ended: Ended) -> Ended {
        tracing::info!(server = %self.layout.name, ?ended, "bundled server stopped");
        self.state.send_replace(State::Stopped);
        ended
    }

    async fn run_once(&mut self) -> Run {
        let began = Instant::now();
        let path = self.layout.path(entry::LOG);
        let from = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        let crashed = |how: String, ready_for| Run::Crashed {
            reason: format!("{how}; {}", log::describe(&path, from)),
            ready_for,
        };
        let mut process = match self.start().await {
            Ok(process) => process,
            Err(error) => {
                let reason = format!("cannot start {}: {error}", self.installation.program.display());
                return Run::Crashed { reason, ready_for: None };
            }
        };
        self.pid.store(process.pid(), Ordering::Relaxed);
        let ready = tokio::select! {
            how = process.ended() => return crashed(how, None),
            _ = &mut self.stop => None,
            marker = became_ready(&self.layout, &self.account, &self.installation, self.marker) => Some(marker),
        };
        let Some(marker) = ready else {
            return Run::Stopped(self.terminate(process).await);
        };
        self.marker = marker;
        tracing::info!(
            server = %self.layout.name, pid = process.pid(), release = %self.installation.release,
            took = ?began.elapsed(), "bundled server ready"
        );
        self.state.send_replace(State::Ready);
        let since = Instant::now();
        tokio::select! {
            how = process.ended() => crashed(how, Some(since.elapsed())),
            _ = &mut self.stop => Run::Stopped(self.terminate(process).await),
        }
    }

    async fn start(&self) -> io::Result<Process> {
        let layout = &self.layout;
        let log = log::open(&layout.path(entry::LOG), &layout.path(entry::OLD_LOG))?
            .ok_or_else(|| io::Error::other("a server still holds its log"))?;
        let mut command = self.launcher.command(&self.installation.program);
        self.installation.clean(&mut command);
        let mut defaults = std::ffi::OsString::from("--defaults-file=");
        defaults.push(layout.path(entry::OPTIONS));
        command
            .arg(defaults)
            .current_dir(&layout.folder)
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log));
        Process::start(&layout.name, command, None).await
    }

    async fn terminate(&self, mut process: Process) -> Ended {
        self.state.send_replace(State::Stopping);
        process.signal(Signal::TERM);
        if time::timeout(self.stop_timeout, process.ended()).await.is_ok() {
            return Ended::Cleanly;
        }
        tracing::error!(
            server = %self.layout.name, pid = process.pid(), after = ?self.stop_timeout,
            "bundled server does not stop: killing it"
        );
        process.signal(Signal::KILL);
        process.ended().await;
        Ended::Killed
    }
}

/// Waits until the server answers our account, then brings its system tables up to its version where
/// an older one made them. The marker as it is afterwards.
async fn became_ready(
    layout: &Layout,
    account: &Account,
    installation: &Installation,
    mut marker: Marker,
) -> Marker {
    let mut slow = time::interval(SLOW);
    slow.tick().await;
    let answers = answers(layout, account);
    tokio::pin!(answers);
    loop {
        tokio::select! {
            () = &mut answers => break,
            _ = slow.tick() => tracing::warn!(
                server = %layout.name, log = %layout.path(entry::LOG).display(), "bundled server is still starting"
            ),
        }
    }
    if marker.release.series() < installation.release.series() {
        if let Err(error) = upgrade::run(installation, layout, account).await {
            // The next start tries again; meanwhile the server runs with its old system tables.
            tracing::error!(server = %layout.name, %error, "the system tables stay as an older server made them");
            return marker;
        }
        tracing::info!(server = %layout.name, from = %marker.release, to = %installation.release, "system tables upgraded");
    }
    if marker.release < installation.release {
        marker.release = installation.release;
        if let Err(error) = init::finish(layout, marker) {
            tracing::error!(server = %layout.name, %error, "cannot note the server's version in its data folder");
        }
    }
    marker
}

/// Returns once the server has answered.
async fn answers(layout: &Layout, account: &Account) {
    let opts: Opts = OptsBuilder::default()
        .socket(layout.socket.to_str())
        .user(Some(account.user))
        .pass(Some(account.password.as_str()))
        .into();
    loop {
        if layout.socket.exists() {
            let asked = Box::pin(ask(opts.clone()));
            match time::timeout(ANSWER, asked).await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => tracing::debug!(server = %layout.name, %error, "not ready yet"),
                Err(_) => {}
            }
        }
        time::sleep(ASK).await;
    }
}

async fn ask(opts: Opts) -> Result<(), mysql_async::Error> {
    let mut conn = Conn::new(opts).await?;
    conn.ping().await?;
    conn.disconnect().await
}
