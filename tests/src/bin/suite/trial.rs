//! One run of one test by mysqltest.

use std::fmt;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::listing::{self, Test};

/// Programs that tests call, by the variable that names them.
const PROGRAMS: [(&str, &str); 8] = [
    ("MYSQL", "mariadb"),
    ("MYSQL_DUMP", "mariadb-dump"),
    ("MYSQL_SHOW", "mariadb-show"),
    ("MYSQL_CHECK", "mariadb-check"),
    ("MYSQLADMIN", "mariadb-admin"),
    ("MYSQL_IMPORT", "mariadb-import"),
    ("MYSQL_SLAP", "mariadb-slap"),
    ("MYSQL_UPGRADE", "mariadb-upgrade"),
];

/// Programs that tests call without a connection.
const TOOLS: [(&str, &str); 8] = [
    ("MYSQL_BINLOG", "mariadb-binlog --no-defaults"),
    ("EXE_MYSQL", "mariadb"),
    ("MYISAMCHK", "myisamchk"),
    ("MYISAMPACK", "myisampack"),
    ("PERROR", "perror"),
    ("MY_PERROR", "perror"),
    ("REPLACE", "replace"),
    ("MYSQL_MY_PRINT_DEFAULTS", "my_print_defaults"),
];

/// mysqltest's exit status for a test that does not apply here.
const SKIPPED: i32 = 62;

/// How many bytes of mysqltest's messages are kept, from their end.
const KEPT: usize = 4000;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// Its output is what it should be.
    Pass,
    /// It is not.
    Fail,
    /// It says itself that it does not apply here.
    #[default]
    Skip,
    /// It took too long.
    Timeout,
}

/// One run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) seconds: f64,
    /// What mysqltest said, where it did not pass.
    pub(crate) message: String,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::Skip => "skip",
            Outcome::Timeout => "TIMEOUT",
        };
        write!(f, "{outcome} ({:.1} s)", self.seconds)
    }
}

/// Where a test connects to, and where its files are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The folder with `mysqld.1/data`, `tmp` and `log`.
    pub(crate) dir: &'a Path,
    /// Unix socket: what `localhost` means.
    pub(crate) socket: &'a Path,
    /// TCP port on 127.0.0.1.
    pub(crate) port: u16,
}

impl Target<'_> {
    /// Runs a test to its end.
    pub(crate) fn run(&self, test: &Test, timeout: Duration) -> Trial {
        let folder = listing::folder().expect("a test was found in it");
        let output = self.dir.join("output");
        let file = File::create(&output).expect("the folder is writable");
        let mut command = Command::new("mysqltest");
        self.connection(&mut command)
            .args(["--silent", "-D", "test", "--tail-lines=20", "--max-connect-retries=3"])
            .args(self.folders(folder))
            .arg(format!("--test-file={}", test.script.display()))
            .arg(format!("--result-file={}", test.expected.display()))
            .arg(format!("--timer-file={}", self.dir.join("log/timer").display()));
        self.surroundings(&mut command, folder);
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("a file can be shared")).stderr(file);
        // Its own group: what the test has started ends with it.
        let started = Instant::now();
        let mut child = command.process_group(0).spawn().expect("mysqltest is installed with its tests");
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be asked") {
                break status.code();
            }
            if started.elapsed() > timeout {
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let outcome = match status {
            Some(0) => Outcome::Pass,
            Some(SKIPPED) => Outcome::Skip,
            Some(_) => Outcome::Fail,
            None => Outcome::Timeout,
        };
        let said = match outcome {
            Outcome::Fail | Outcome::Timeout => std::fs::read(&output).unwrap_or_default(),
            Outcome::Pass | Outcome::Skip => Vec::new(),
        };
        let message = String::from_utf8_lossy(&said[said.len().saturating_sub(KEPT)..]).into_owned();
        Trial { outcome, seconds: started.elapsed().as_secs_f64(), message }
    }

    fn connection<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(self.options().split(' '))
    }

    /// What every client is called with.
    fn options(&self) -> String {
        format!("--no-defaults -uroot -S {} -P {}", self.socket.display(), self.port)
    }

    fn folders(&self, tests: &Path) -> [String; 3] {
        [
            format!("--basedir={}", tests.display()),
            format!("--tmpdir={}", self.dir.join("tmp").display()),
            format!("--logdir={}", self.dir.join("log").display()),
        ]
    }

    /// The variables that tests read.
    fn surroundings(&self, command: &mut Command, tests: &Path) {
        let port = self.port.to_string();
        let share = tests.parent().expect("it is an absolute path");
        for (name, program) in PROGRAMS {
            command.env(name, format!("{program} {}", self.options()));
        }
        let mysqltest = format!("mysqltest {} -D test {}", self.options(), self.folders(tests).join(" "));
        command
            .current_dir(tests)
            .envs(TOOLS)
            .env("MYSQL_TEST", mysqltest)
            .env("MYSQL_TEST_DIR", tests)
            .env("MYSQLTEST_VARDIR", self.dir)
            .env("MYSQL_TMP_DIR", self.dir.join("tmp"))
            .env("MYSQLD_DATADIR", self.dir.join("mysqld.1/data"))
            .env("MASTER_MYSOCK", self.socket)
            .envs([("MASTER_MYPORT", &port), ("DEFAULT_MASTER_PORT", &port)])
            .envs([("TZ", "MET"), ("LC_ALL", "C"), ("USE_RUNNING_SERVER", "1"), ("MYSQL_BINDIR", "/usr")])
            .env("MYSQL_LIBDIR", share)
            .env("MYSQL_SHAREDIR", share)
            .env("MYSQL_CHARSETSDIR", share.join("charsets"))
            .env("CHARSETSDIR", share.join("charsets"));
    }
}
