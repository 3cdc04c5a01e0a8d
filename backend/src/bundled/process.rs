//! One server process, started from a thread of its own that lives as long as the process does.
//!
//! The thread matters: Linux sends the parent-death signal (prctl(2), PR_SET_PDEATHSIG) when the
//! *thread* that started the process ends, so a server started from a runtime's worker would be
//! stopped with that worker. When our process dies, however it dies, all its threads do, and the
//! server gets its SIGTERM.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// How servers are started: through `setpriv` where it can tie their life to ours.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    setpriv: Option<PathBuf>,
}

impl Launcher {
    /// Looks for a `setpriv` (util-linux) that knows the parent-death signal. Blocking.
    pub(crate) fn detect(path: &[PathBuf]) -> Self {
        let works = |program: &PathBuf| {
            Command::new(program)
                .args(["--pdeathsig", "TERM", "true"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        let setpriv =
            path.iter().map(|dir| dir.join("setpriv")).filter(|program| program.is_file()).find(works);
        if setpriv.is_none() {
            tracing::warn!(
                "no setpriv with --pdeathsig found: if shuntyard is killed, its bundled servers keep running until they are stopped by hand"
            );
        }
        Self { setpriv }
    }

    /// A command that runs `program`, in a process group of its own: a terminal's Ctrl-C is for us,
    /// who stop the servers after their last client has gone.
    pub(crate) fn command(&self, program: &Path) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = match &self.setpriv {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "TERM", "--"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.process_group(0);
        command
    }
}

/// A running process. Dropped while it runs, it is asked to end.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    /// False from the moment before the process is reaped: its pid must not be signalled any more.
    living: Arc<Mutex<bool>>,
    ended: oneshot::Receiver<io::Result<ExitStatus>>,
}

impl Process {
    /// Starts `command`; `input` is written to its standard input, which is then closed.
    pub(crate) async fn start(name: &str, command: Command, input: Option<Vec<u8>>) -> io::Result<Self> {
        let living = Arc::new(Mutex::new(true));
        let (tell_start, started) = oneshot::channel();
        let (tell_end, ended) = oneshot::channel();
        let theirs = Arc::clone(&living);
        thread::Builder::new()
            .name(format!("server {name}"))
            .spawn(move || attend(command, input, &theirs, tell_start, tell_end))?;
        let pid = started.await.map_err(io::Error::other)??;
        Ok(Self { pid, living, ended })
    }

    /// The process's id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for its end and says how it ended. Safe to cancel; must not be called again after it returned.
    pub(crate) async fn ended(&mut self) -> String {
        match (&mut self.ended).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => format!("cannot wait for it: {error}"),
            Err(_) => "its thread is gone".to_owned(),
        }
    }

    /// Sends a signal, unless the process has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        signal_living(self.pid, &self.living, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}

fn signal_living(pid: Pid, living: &Mutex<bool>, signal: Signal) {
    let living = living.lock().unwrap_or_else(PoisonError::into_inner);
    if *living && let Err(error) = rustix::process::kill_process(pid, signal) {
        tracing::warn!(?pid, ?signal, %error, "cannot signal a server");
    }
}

/// The thread's whole life.
fn attend(
    mut command: Command,
    input: Option<Vec<u8>>,
    living: &Mutex<bool>,
    tell_start: oneshot::Sender<io::Result<Pid>>,
    tell_end: oneshot::Sender<io::Result<ExitStatus>>,
) {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let spawned = command.spawn();
    // Our copies of the log are in the command: the server must be the only holder of its lock.
    drop(command);
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let _ = tell_start.send(Err(error));
            return;
        }
    };
    let pid = Pid::from_child(&child);
    if tell_start.send(Ok(pid)).is_err() {
        // Nobody waits for this process any more.
        signal_living(pid, living, Signal::TERM);
    }
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A process that ends early closes the pipe; how it ended says more than this error.
        let _ = stdin.write_all(&input);
    }
    // Wait without reaping: until the flag is down the pid still belongs to this process.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while rustix::process::waitid(WaitId::Pid(pid), options).is_err_and(|e| e == rustix::io::Errno::INTR) {}
    *living.lock().unwrap_or_else(PoisonError::into_inner) = false;
    let _ = tell_end.send(child.wait());
}

#[cfg(test)]
mod tests;
