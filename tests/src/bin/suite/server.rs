//! A MariaDB server set up as its regression tests expect it, that can be put back to its first state.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use shuntyard_tests::process::{Guard, Process};
use shuntyard_tests::{machine, mariadb};
use tempfile::TempDir;

use crate::listing;

/// Options whose values the tests' expected output shows. The folder's come besides.
const OPTIONS: &str = "\
bind-address=127.0.0.1
character-set-server=latin1
collation-server=latin1_swedish_ci
default-storage-engine=myisam
local-infile
log-basename=mysqld
log-bin-trust-function-creators=1
max_connections=200
connect-timeout=60
slave-net-timeout=120
plugin-maturity=unknown
performance-schema
use_stat_tables=preferably
histogram_type=json_hb
key_buffer_size=1M
sort_buffer_size=256K
max_heap_table_size=1M
aria-pagecache-buffer-size=8M
innodb_data_file_path=ibdata1:12M:autoextend
innodb_buffer_pool_size=8M
innodb_log_file_size=10M
innodb_flush_log_at_trx_commit=0
";

/// What the tests call at their ends, and no account but root's: `mariadb-install-db` makes one for the machine's name.
const PREPARE: &str = "\
CREATE DATABASE mtr;
CREATE PROCEDURE mtr.add_suppression(pattern TEXT) BEGIN END;
CREATE PROCEDURE mtr.check_testcase() BEGIN END;
CREATE DATABASE IF NOT EXISTS test;
DELETE FROM mysql.global_priv WHERE User = '' OR Host NOT IN ('localhost', '127.0.0.1');
DELETE FROM mysql.proxies_priv WHERE Host <> 'localhost';
FLUSH PRIVILEGES;
";

/// What a test may leave behind.
const STATE: &str = "\
SELECT schema_name FROM information_schema.schemata WHERE schema_name <> 'test' ORDER BY 1;
SELECT table_schema, table_name FROM information_schema.tables
 WHERE table_schema IN ('mysql', 'mtr') ORDER BY 1, 2;
CHECKSUM TABLE mysql.global_priv, mysql.db, mysql.tables_priv, mysql.columns_priv, mysql.procs_priv, mysql.proxies_priv,
 mysql.roles_mapping, mysql.proc, mysql.event, mysql.func, mysql.plugin, mysql.servers, mysql.time_zone_name;
SELECT variable_name, variable_value FROM information_schema.global_variables
 WHERE variable_name NOT IN ('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'LAST_INSERT_ID', 'PSEUDO_THREAD_ID')
 AND variable_name NOT LIKE 'GTID%' AND variable_name NOT LIKE 'INNODB_BUFFER_POOL_LOAD%' ORDER BY 1;
";

/// A data folder to start from.
pub(crate) struct Template(TempDir);

/// The server; its folder has `mysqld.1/data`, `tmp`, `log`, `std_data` and `sock`.
pub(crate) struct Server {
    process: Option<Process>,
    template: PathBuf,
    /// What it is like before any test.
    first: Vec<u8>,
    pub(crate) port: u16,
    dir: TempDir,
    _guard: Guard,
}

/// Makes a data folder that every server starts from; `None` where there is no MariaDB.
pub(crate) fn template() -> Option<Template> {
    let data = mariadb::template()?;
    let dir = TempDir::with_prefix("shuntyard-suite-template-").expect("a temporary folder can be made");
    let mut server = Server::new(data);
    server.up();
    let prepared = server.ask(PREPARE);
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    server.process = None;
    copy(&server.data(), &dir.path().join("data"));
    Some(Template(dir))
}

impl Server {
    /// A server on a copy of the template.
    pub(crate) fn start(template: &Template) -> Server {
        let mut server = Server::new(&template.0.path().join("data"));
        server.up();
        server.first = server.state().expect("a server that has just started answers");
        server
    }

    fn new(template: &Path) -> Server {
        let dir = TempDir::with_prefix("shuntyard-suite-").expect("a temporary folder can be made");
        let guard = Guard::new(&format!("sleep 0.5; rm -rf '{}'", dir.path().display()));
        let server = Server {
            process: None,
            template: template.to_owned(),
            first: Vec::new(),
            port: machine::free_port(),
            dir,
            _guard: guard,
        };
        for folder in ["mysqld.1", "tmp", "log"] {
            std::fs::create_dir(server.dir().join(folder)).expect("the folder is writable");
        }
        let std_data = listing::folder().expect("the tests are installed").join("std_data");
        std::os::unix::fs::symlink(std_data, server.dir().join("std_data")).expect("the folder is writable");
        std::fs::write(server.dir().join("my.cnf"), server.options()).expect("the folder is writable");
        copy(template, &server.data());
        server
    }

    fn options(&self) -> String {
        let dir = self.dir().display();
        let mut text = format!("[mysqld]\n{OPTIONS}port={}\nuser={}\n", self.port, mariadb::user());
        for (name, path) in [
            ("datadir", "/mysqld.1/data"),
            ("socket", "/sock"),
            ("pid-file", "/pid"),
            ("tmpdir", "/tmp"),
            ("secure-file-priv", ""),
        ] {
            let _ = writeln!(text, "{name}={dir}{path}");
        }
        text
    }

    fn up(&mut self) {
        let mut command = Command::new("mariadbd");
        command.arg(format!("--defaults-file={}", self.dir().join("my.cnf").display())).current_dir("/");
        let mut process = Process::spawn("mariadbd", &mut command, &self.dir().join("server.log"));
        process.until(Duration::from_secs(60), |_| self.ask("SELECT 1").status.success().then_some(()));
        self.process = Some(process);
    }

    /// Whether a test has left nothing behind, and the server running.
    pub(crate) fn is_first(&self) -> bool {
        self.state().as_ref() == Some(&self.first)
    }

    /// Stops it, puts its first data back, and starts it again on the same port and socket.
    pub(crate) fn restore(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal("KILL");
            process.wait(Duration::from_secs(20));
        }
        std::fs::remove_dir_all(self.data()).expect("the folder is ours");
        copy(&self.template, &self.data());
        let tmp = self.dir().join("tmp");
        std::fs::remove_dir_all(&tmp).and_then(|()| std::fs::create_dir(&tmp)).expect("the folder is ours");
        self.up();
        self.first = self.state().expect("a server that has just started answers");
    }

    fn state(&self) -> Option<Vec<u8>> {
        let answer = self.ask(STATE);
        answer.status.success().then_some(answer.stdout)
    }

    /// Runs statements as root, straight on the server.
    pub(crate) fn ask(&self, sql: &str) -> Output {
        client(&self.socket(), sql)
    }

    /// How many connections there are besides the one that asks.
    fn connections(&self) -> Option<usize> {
        let answer = self.ask("SELECT COUNT(*) - 1 FROM information_schema.processlist");
        String::from_utf8_lossy(&answer.stdout).trim().parse().ok()
    }

    /// How many connections there are, once that has not changed for two seconds.
    pub(crate) fn steady_connections(&self) -> usize {
        let mut same = (0, Instant::now());
        while same.1.elapsed() < Duration::from_secs(2) {
            let now = self.connections().unwrap_or_default();
            if now != same.0 {
                same = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        same.0
    }

    /// Waits until there are so many connections, for ten seconds at most: the next test tells what is wrong.
    pub(crate) fn wait_for_connections(&self, wanted: usize) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.connections() != Some(wanted) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn data(&self) -> PathBuf {
        self.dir().join("mysqld.1/data")
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir().join("sock")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Before its folder goes. Nothing on it is worth an orderly end.
        if let Some(process) = &self.process {
            process.signal("KILL");
        }
        self.process = None;
    }
}

/// Runs statements as root over a Unix socket. A server that hangs is given up.
pub(crate) fn client(socket: &Path, sql: &str) -> Output {
    let mut command = Command::new("timeout");
    command
        .args(["20", "mariadb", "--no-defaults", "-uroot", "-N", "-B", "-S"])
        .arg(socket)
        .args(["-e", sql]);
    command.output().expect("MariaDB's client is installed with the tests")
}

/// Waits until a server or proxy answers.
///
/// # Panics
/// When it does not.
pub(crate) fn wait_for(socket: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while !client(socket, "SELECT 1").status.success() {
        assert!(Instant::now() < until, "nobody answers at {}", socket.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} can be copied", from.display());
}
