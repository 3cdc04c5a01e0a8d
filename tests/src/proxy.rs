//! The proxy under test: its own folder, configuration and ports.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::client::{Account, Server};
use crate::machine;
use crate::process::{Guard, Process};

/// What a proxy is started with.
#[derive(Debug, Clone)]
pub struct Setup {
    backend: String,
    users: Users,
    listed: String,
    rules: String,
    admins: String,
    lines: Vec<String>,
    arguments: Vec<String>,
    unix: bool,
}

/// Who may log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    FromBackends,
    Listed,
}

impl Setup {
    /// In front of a MariaDB at 127.0.0.1:`port`, with the accounts of that server.
    pub fn mariadb(port: u16) -> Setup {
        Setup {
            backend: format!("primary: \"127.0.0.1:{port}\""),
            users: Users::FromBackends,
            listed: "{name: app, password: {env: APP_PASSWORD}}".to_owned(),
            rules: "\"builtin:*\"".to_owned(),
            admins: "app".to_owned(),
            lines: Vec::new(),
            arguments: Vec::new(),
            unix: false,
        }
    }

    /// In front of a MySQL at 127.0.0.1:`port`, with listed accounts.
    pub fn mysql(port: u16) -> Setup {
        Setup { users: Users::Listed, ..Setup::mariadb(port) }
    }

    /// Accounts listed in the configuration.
    #[must_use]
    pub fn listed(mut self) -> Setup {
        self.users = Users::Listed;
        self
    }

    /// The accounts of the server.
    #[must_use]
    pub fn from_backends(mut self) -> Setup {
        self.users = Users::FromBackends;
        self
    }

    /// These accounts listed in the configuration, each the text of a mapping.
    #[must_use]
    pub fn users(mut self, listed: &[&str]) -> Setup {
        self.listed = listed.join(", ");
        self.listed()
    }

    /// Each session has a backend connection of its own.
    #[must_use]
    pub fn unshared(self) -> Setup {
        self.line("pooling: session")
    }

    /// Sessions share so many connections.
    #[must_use]
    pub fn sharing(self, connections: usize) -> Setup {
        self.line("pooling: transaction").line(&format!("limits: {{statements_per_backend: {connections}}}"))
    }

    /// A further line at the top level of the configuration.
    #[must_use]
    pub fn line(mut self, line: &str) -> Setup {
        self.lines.push(line.to_owned());
        self
    }

    /// The backend, as the mapping's text after its name.
    #[must_use]
    pub fn backend(mut self, text: &str) -> Setup {
        self.backend = text.to_owned();
        self
    }

    /// The list of rule files.
    #[must_use]
    pub fn rules(mut self, files: &str) -> Setup {
        self.rules = files.to_owned();
        self
    }

    /// A further argument of `shuntyard serve`.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Setup {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Listens on a Unix socket too.
    #[must_use]
    pub fn unix(mut self) -> Setup {
        self.unix = true;
        self
    }

    fn yaml(&self, port: u16, http: u16) -> String {
        let unix = if self.unix { ", unix:./shuntyard.sock" } else { "" };
        let mut yaml = format!("listen: [127.0.0.1:{port}{unix}]\nhttp: 127.0.0.1:{http}\ndata: ./data\n");
        let _ = writeln!(yaml, "backends:\n  main: {{{}}}", self.backend);
        yaml.push_str("account: {user: shuntyard, password: {env: SHUNTYARD_PASSWORD}}\n");
        match self.users {
            Users::FromBackends => yaml.push_str("users: from_backends\n"),
            Users::Listed => {
                let _ = writeln!(yaml, "users: [{}]", self.listed);
            }
        }
        let _ = writeln!(yaml, "admins: [{}]\nrules: {{files: [{}]}}", self.admins, self.rules);
        for line in &self.lines {
            let _ = writeln!(yaml, "{line}");
        }
        yaml
    }

    /// Starts the proxy and waits until it is ready.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn start(&self) -> Proxy {
        self.start_in(|_| {})
    }

    /// As [`Setup::start`], after `prepare` has put files into the proxy's folder.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn start_in(&self, prepare: impl FnOnce(&Path)) -> Proxy {
        let dir = TempDir::with_prefix("shuntyard-proxy-").expect("a temporary folder can be made");
        prepare(dir.path());
        let (port, http) = (machine::free_port(), machine::free_port());
        let config = dir.path().join("shuntyard.yaml");
        std::fs::write(&config, self.yaml(port, http)).expect("the folder is writable");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&config, private).expect("the file is ours");
        let guard = Guard::new(&format!("sleep 0.2; rm -rf '{}'", dir.path().display()));
        let mut command = command(dir.path());
        command.arg("serve").arg("--config").arg(&config).args(&self.arguments);
        let mut process = Process::spawn("shuntyard", &mut command, &dir.path().join("log"));
        process.until(Duration::from_secs(30), |p| p.log().contains("ready: mysql").then_some(()));
        Proxy { process, port, http, dir, _guard: guard }
    }
}

/// The program in `dir`, with the passwords that configurations of the tests name.
pub fn command(dir: &Path) -> Command {
    command_of(&machine::shuntyard(), dir)
}

/// As [`command`], with a program of its own.
pub fn command_of(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("SHUNTYARD_PASSWORD", "proxy-secret").env("APP_PASSWORD", "app");
    command.env_remove("RUST_LOG");
    command
}

/// Runs the program to its end.
pub fn run(dir: &Path, arguments: &[&str]) -> Output {
    command(dir).args(arguments).output().expect("the program runs")
}

/// A running proxy.
#[derive(Debug)]
pub struct Proxy {
    /// The process.
    pub process: Process,
    /// Port of the MySQL listener.
    pub port: u16,
    /// Port of the console.
    pub http: u16,
    dir: TempDir,
    _guard: Guard,
}

impl Proxy {
    /// How a client reaches it.
    pub fn server(&self) -> Server {
        Server { port: self.port, account: Account::app() }
    }

    /// Its folder: `shuntyard.yaml`, `data/`, `log`.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The Unix socket, where [`Setup::unix`] asked for one.
    pub fn socket(&self) -> PathBuf {
        self.dir().join("shuntyard.sock")
    }

    /// Runs `shuntyard VERB … --data` of this proxy.
    pub fn control(&self, arguments: &[&str]) -> Output {
        let data = self.dir().join("data");
        command(self.dir()).args(arguments).arg("--data").arg(data).output().expect("the program runs")
    }

    /// Asks the drain by SIGTERM and waits for the end.
    pub fn terminate(&mut self, most: Duration) -> Option<ExitStatus> {
        self.process.signal("TERM");
        self.process.wait(most)
    }
}

/// Repeats `ask` until it says true.
///
/// # Panics
/// When it does not within `most`.
pub async fn eventually(what: &str, most: Duration, mut ask: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + most;
    while !ask().await {
        assert!(Instant::now() < until, "not within {most:?}: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
