//! A child process that never outlives the test process: ended on drop, and by a guard if that never comes.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(20);

/// A running child.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    _guard: Guard,
    log: PathBuf,
}

impl Process {
    /// Starts `command` with both outputs into the file `log`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(name: &str, command: &mut Command, log: &Path) -> Process {
        let out = File::create(log).expect("a log file can be made");
        let err = out.try_clone().expect("a file can be shared");
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let child = command.spawn().unwrap_or_else(|e| panic!("{name} does not start: {e}"));
        let guard = Guard::new(&format!("kill -9 {} 2>/dev/null", child.id()));
        Process { name: name.to_owned(), child, _guard: guard, log: log.to_owned() }
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the process has written so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|raw| String::from_utf8_lossy(&raw).into_owned()).unwrap_or_default()
    }

    /// Whether it has ended, and how.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be asked")
    }

    /// Sends a signal: `TERM`, `HUP`, `KILL`, `STOP`, `CONT`.
    pub fn signal(&self, signal: &str) {
        let _ = Command::new("kill").arg(format!("-{signal}")).arg(self.pid().to_string()).status();
    }

    /// Waits for its end.
    pub fn wait(&mut self, most: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + most;
        loop {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until `ready` says something.
    ///
    /// # Panics
    /// When the process ends before, or after `most`; with its log.
    pub fn until<T>(&mut self, most: Duration, mut ready: impl FnMut(&Process) -> Option<T>) -> T {
        let until = Instant::now() + most;
        loop {
            if let Some(found) = ready(self) {
                return found;
            }
            if let Some(status) = self.ended() {
                panic!("{} ended ({status}) before it was ready:\n{}", self.name, self.log());
            }
            assert!(Instant::now() < until, "{} is not ready after {most:?}:\n{}", self.name, self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Resident memory in bytes (`VmRSS`).
    pub fn memory(&self) -> u64 {
        memory(self.pid()).unwrap_or(0)
    }
}

/// Resident memory of a process in bytes.
pub fn memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// Resident memory of a process in bytes, counted page by page: `VmRSS` is a sum of counters that each thread keeps for
/// itself and may be off by hundreds of KiB (proc(5), `/proc/pid/smaps_rollup`).
pub fn resident(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.signal("TERM");
            if self.wait(GRACE).is_none() {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
    }
}

/// Runs a shell command when this process ends without having dropped the guard: on a kill, or at the end of a process
/// that keeps the guarded thing in a static.
///
/// It waits at the read end of a pipe whose only writer is this process.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Arms a guard.
    ///
    /// # Panics
    /// Where there is no shell.
    pub fn new(then: &str) -> Guard {
        let script = format!("cat >/dev/null; {then}");
        let mut shell = Command::new("sh");
        // Its own group: what is typed at the terminal must not end it before it has done its work.
        shell.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        Guard(shell.spawn().expect("there is a shell"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
