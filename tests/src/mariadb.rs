//! A MariaDB server of the tests' own.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tempfile::TempDir;

use crate::client::{Account, Server};
use crate::machine;
use crate::process::{Guard, Process};

/// What every server has: the application's account and the proxy's. Run at every start.
const ACCOUNTS: &str = "\
CREATE USER IF NOT EXISTS app@'%' IDENTIFIED BY 'app';
GRANT ALL ON *.* TO app@'%' WITH GRANT OPTION;
CREATE USER IF NOT EXISTS reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT, SHOW VIEW, CREATE TEMPORARY TABLES, EXECUTE ON *.* TO reader@'%';
CREATE USER IF NOT EXISTS shuntyard@'%' IDENTIFIED BY 'proxy-secret';
GRANT ALL ON *.* TO shuntyard@'%';
";

/// A running MariaDB.
#[derive(Debug)]
pub struct MariaDb {
    process: Option<Process>,
    extra: Vec<String>,
    port: u16,
    dir: TempDir,
    _guard: Guard,
}

impl MariaDb {
    /// The server that the tests of this process share: nobody stops it.
    ///
    /// `None` where there is no MariaDB, which is noted as missing.
    pub fn shared() -> Option<Arc<MariaDb>> {
        static SHARED: Mutex<Option<Arc<MariaDb>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if shared.is_none() {
            *shared = MariaDb::start(&[]).map(Arc::new);
        }
        shared.clone()
    }

    /// A server of one test's own, with further options.
    pub fn start(extra: &[&str]) -> Option<MariaDb> {
        let template = template()?;
        let dir = TempDir::with_prefix("shuntyard-mariadb-").expect("a temporary folder can be made");
        let guard = Guard::new(&format!("sleep 0.2; rm -rf '{}'", dir.path().display()));
        let copied = Command::new("cp").arg("-a").arg(template).arg(dir.path().join("data")).status();
        assert!(copied.is_ok_and(|s| s.success()), "the template's data folder can be copied");
        let extra = extra.iter().map(|s| (*s).to_owned()).collect();
        let mut server = MariaDb { process: None, extra, port: machine::free_port(), dir, _guard: guard };
        server.up();
        Some(server)
    }

    /// Starts it (again) on its data and its port, and waits until it answers.
    pub fn up(&mut self) {
        assert!(self.process.is_none(), "it runs");
        let programs = programs().expect("it was there before");
        let dir = self.dir.path();
        std::fs::write(dir.join("init.sql"), ACCOUNTS).expect("the folder is writable");
        let mut command = Command::new(&programs.server);
        programs.surroundings(&mut command);
        command
            .arg(format!("--datadir={}", dir.join("data").display()))
            .arg(format!("--socket={}", self.socket().display()))
            .arg(format!("--pid-file={}", dir.join("pid").display()))
            .arg(format!("--init-file={}", dir.join("init.sql").display()))
            .arg(format!("--tmpdir={}", dir.display()))
            .arg(format!("--port={}", self.port))
            .arg(format!("--user={}", user()))
            .args(["--bind-address=127.0.0.1", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0"])
            .args(["--innodb-buffer-pool-size=64M", "--max-allowed-packet=64M", "--local-infile=1"])
            .args(["--max-connections=400", "--character-set-server=utf8mb4"])
            .args(&self.extra);
        let mut process = Process::spawn("mariadbd", &mut command, &dir.join("log"));
        let (port, socket) = (self.port, self.socket());
        // The socket is its own: it comes after the port, which another server could have.
        let answers = || UnixStream::connect(&socket).is_ok() && crate::raw::greets(port);
        process.until(Duration::from_secs(60), |_| answers().then_some(()));
        self.process = Some(process);
    }

    /// Kills it, as a crash would.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.signal("KILL");
        }
    }

    /// Stops it in order.
    pub fn stop(&mut self) {
        self.process = None;
    }

    /// Stops its process where it stands, so that it neither answers nor closes; `CONT` resumes it.
    pub fn signal(&self, signal: &str) {
        if let Some(process) = &self.process {
            process.signal(signal);
        }
    }

    /// TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("sock")
    }

    /// How a client reaches it.
    pub fn server(&self) -> Server {
        Server { port: self.port, account: Account::app() }
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // Before its folder goes.
        self.process = None;
    }
}

/// MariaDB's programs and what they need to run.
struct Programs {
    server: PathBuf,
    install: PathBuf,
    /// Where an unpacked tree has its files.
    basedir: Option<PathBuf>,
    libraries: OsString,
}

impl Programs {
    fn surroundings(&self, command: &mut Command) {
        // Has to come first.
        command.arg("--no-defaults");
        if let Some(basedir) = &self.basedir {
            command.env("LD_LIBRARY_PATH", &self.libraries).arg(format!("--basedir={}", basedir.display()));
        }
    }
}

/// `SHUNTYARD_MARIADB`, the project's own unpacked tree, or what is installed.
fn programs() -> Option<Programs> {
    let own = machine::project(".deps/mariadb");
    let tree =
        std::env::var_os("SHUNTYARD_MARIADB").map(PathBuf::from).or_else(|| own.is_dir().then_some(own));
    if let Some(tree) = tree {
        let usr = tree.join("usr");
        let server = usr.join("sbin/mariadbd");
        if server.is_file() {
            let install = usr.join("bin/mariadb-install-db");
            let libraries = usr.join("lib/x86_64-linux-gnu").into_os_string();
            return Some(Programs { server, install, basedir: Some(usr), libraries });
        }
    }
    let server = which("mariadbd")?;
    let install = which("mariadb-install-db")?;
    Some(Programs { server, install, basedir: None, libraries: OsString::new() })
}

fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/homebrew/opt/mariadb/bin"];
    let mut folders = std::env::split_paths(&path).chain(usual.iter().map(PathBuf::from));
    folders.find_map(|dir| Some(dir.join(program)).filter(|p| p.is_file()))
}

/// A freshly initialised data folder, made once per process; `None` where there is no MariaDB, which is noted as missing.
pub fn template() -> Option<&'static Path> {
    static TEMPLATE: OnceLock<Option<(TempDir, Guard)>> = OnceLock::new();
    let made = TEMPLATE.get_or_init(|| {
        let Some(programs) = programs() else {
            machine::missing("MariaDB (mariadbd, mariadb-install-db)");
            return None;
        };
        let dir = TempDir::with_prefix("shuntyard-template-").expect("a temporary folder can be made");
        let guard = Guard::new(&format!("rm -rf '{}'", dir.path().display()));
        let mut command = Command::new(&programs.install);
        programs.surroundings(&mut command);
        command
            .arg(format!("--datadir={}", dir.path().join("data").display()))
            .arg(format!("--user={}", user()))
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        let out = command.output().expect("mariadb-install-db runs");
        assert!(out.status.success(), "mariadb-install-db: {}", String::from_utf8_lossy(&out.stdout));
        Some((dir, guard))
    });
    made.as_ref().map(|(dir, _)| Box::leak(dir.path().join("data").into_boxed_path()) as &Path)
}

/// The user that this process runs as.
pub fn user() -> String {
    let out = Command::new("id").arg("-un").output().expect("id runs");
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}
