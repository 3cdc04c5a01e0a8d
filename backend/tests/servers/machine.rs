//! Real servers for these tests: MariaDB from the machine, MySQL by the project's own tool.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use backend::address::Address;
use backend::control::{Control, Target};
use tempfile::TempDir;
use zeroize::Zeroizing;

/// The machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A MariaDB of a test's own; root has no password.
pub(crate) struct MariaDb {
    pub(crate) port: u16,
    dir: TempDir,
    options: Vec<String>,
    child: Option<Child>,
    guard: Option<Child>,
}

impl MariaDb {
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_with(options, |_| vec![])
    }

    /// `prepare` may put files into the server's folder and returns further options.
    pub(crate) fn start_with(options: &[&str], prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let dir = TempDir::with_prefix("shuntyard-backend-").unwrap();
        let copied = Command::new("cp").arg("-a").arg(template()).arg(dir.path().join("data")).status();
        assert!(copied.unwrap().success());
        let mut options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        options.extend(prepare(dir.path()));
        let mut server = Self { port: free_port(), dir, options, child: None, guard: None };
        server.up();
        server
    }

    pub(crate) fn up(&mut self) {
        let log = File::create(self.dir.path().join("log")).unwrap();
        let child = Command::new(program("mariadbd"))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", self.dir.path().join("data").display()))
            .arg(format!("--socket={}", self.socket().display()))
            .arg(format!("--pid-file={}", self.dir.path().join("pid").display()))
            .arg(format!("--port={}", self.port))
            .arg(format!("--user={}", user()))
            .args(["--bind-address=127.0.0.1", "--skip-log-bin", "--innodb-buffer-pool-size=64M"])
            .args(["--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2", "--max-connections=100"])
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .spawn()
            .unwrap();
        self.guard = Some(guard(&format!("kill -9 {}", child.id())));
        self.child = Some(child);
        let until = Instant::now() + PATIENCE;
        // It opens the socket after the port.
        while UnixStream::connect(self.socket()).is_err() {
            let ended = self.child.as_mut().unwrap().try_wait().unwrap();
            let log = || std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < until, "mariadbd: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Sends a signal: STOP holds the process where it stands.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([format!("-{signal}"), pid]).status().unwrap().success());
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("sock")
    }

    pub(crate) fn tcp(&self) -> Target {
        target(Address::Tcp { host: "127.0.0.1".into(), port: self.port })
    }

    pub(crate) fn unix(&self) -> Target {
        target(Address::Unix(self.socket()))
    }

    pub(crate) async fn root(&self) -> Control {
        self.unix().connect().await.unwrap()
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        self.kill();
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// A MySQL 9, by `tools/mysql97`; root has no password. `None` where there is none, said loudly; under `CI` that fails.
pub(crate) struct MySql {
    pub(crate) port: u16,
    guard: Child,
}

impl MySql {
    pub(crate) fn start() -> Option<Self> {
        let path = Command::new(tool()).arg("path").output().unwrap().stdout;
        if path.trim_ascii().is_empty() {
            assert!(std::env::var_os("CI").is_none(), "MySQL is missing, and under CI that is a failure");
            eprintln!("SKIPPED: no MySQL 9 here; `tools/mysql97 install`, or set SHUNTYARD_MYSQL or MYSQLD");
            return None;
        }
        let port = free_port();
        let guard = guard(&format!("'{}' stop {port}", tool().display()));
        let started = Command::new(tool())
            .arg("start")
            .arg(port.to_string())
            .args(["--skip-log-bin", "--innodb-buffer-pool-size=64M"])
            .status();
        assert!(started.unwrap().success());
        Some(Self { port, guard })
    }

    pub(crate) fn tcp(&self) -> Target {
        target(Address::Tcp { host: "127.0.0.1".into(), port: self.port })
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        let _ = Command::new(tool()).arg("stop").arg(self.port.to_string()).status();
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

fn tool() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tools/mysql97")
}

fn target(address: Address) -> Target {
    let mut target = Target::new(address, "root", Zeroizing::default());
    target.connect_timeout = PATIENCE;
    target.read_timeout = PATIENCE;
    target
}

/// The same with another account.
pub(crate) fn as_user(target: &Target, user: &str, password: &str) -> Target {
    Target { user: user.into(), password: Zeroizing::new(password.into()), ..target.clone() }
}

/// Runs a shell command when this process ends without having ended the guard.
fn guard(then: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("cat >/dev/null; {then}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// A port that nobody listens on, another one at each call: below those that the kernel gives to outgoing connections,
/// which could take one before its server does.
pub(crate) fn free_port() -> u16 {
    static CALLS: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 3_000).unwrap();
    let mut ports =
        std::iter::repeat_with(|| 17_000 + (start + CALLS.fetch_add(1, Ordering::Relaxed)) % 3_000);
    ports.by_ref().take(3_000).find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).unwrap()
}

fn template() -> &'static Path {
    static TEMPLATE: OnceLock<(PathBuf, Child)> = OnceLock::new();
    let (data, _) = TEMPLATE.get_or_init(|| {
        let dir = TempDir::with_prefix("shuntyard-backend-template-").unwrap().keep();
        let guard = guard(&format!("rm -rf '{}'", dir.display()));
        let data = dir.join("data");
        let made = Command::new(program("mariadb-install-db"))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--user={}", user()))
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        (data, guard)
    });
    data
}

/// From PATH, or where distributions put servers.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"].map(PathBuf::from);
    let mut found = std::env::split_paths(&path).chain(usual).map(|dir| dir.join(name));
    found.find(|file| file.is_file()).unwrap_or_else(|| panic!("{name} is not installed; run tools/packages"))
}

fn user() -> String {
    let out = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

/// Waits until `check` answers something, asking again and again.
pub(crate) async fn until<T>(mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            if let Some(found) = check().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap()
}
