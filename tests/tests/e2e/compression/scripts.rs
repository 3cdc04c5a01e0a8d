//! Drivers that compress, proxied, against the same drivers straight and without: the whole script, value by value.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use shuntyard_tests::client::Server;
use shuntyard_tests::drivers::{Driver, run};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::process::Guard;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::script::Script;
use shuntyard_tests::{machine, proxy::Proxy};
use tempfile::TempDir;

/// Runs a driver straight, and `zlib` through proxies of every kind.
async fn same(plain: Driver, zlib: Driver, product: &str, straight: &Server, setup: &Setup) {
    if machine::python().is_none() {
        return machine::missing("the Python drivers (`tools/pydrivers`)");
    }
    let files = TempDir::with_prefix("shuntyard-files-").unwrap();
    let left = run(plain, straight, product, files.path()).await;
    assert!(left.steps() > 20, "the script ran");
    let shared = setup.clone().line("pooling: transaction").line("limits: {statements_per_backend: 1}");
    for (pooling, setup) in [("session", setup), ("transaction", &shared)] {
        let proxy = setup.start();
        let right = run(zlib, &proxy.server(), product, files.path()).await;
        let found = left.differences(&right, &Script::load());
        assert!(
            found.is_empty(),
            "{zlib:?} at {product}, pooling: {pooling}: {} of {} steps differ (straight ≠ proxied):\n{}",
            found.len(),
            left.steps(),
            found.join("\n")
        );
    }
}

async fn at_mariadb(plain: Driver, zlib: Driver) {
    let Some(server) = MariaDb::start(&[]) else { return };
    same(plain, zlib, "mariadb", &server.server(), &Setup::mariadb(server.port())).await;
}

async fn at_mysql(plain: Driver, zlib: Driver) {
    let Some(server) = tokio::task::spawn_blocking(MySql::own).await.unwrap() else { return };
    same(plain, zlib, "mysql", &server.server(), &Setup::mysql(server.port())).await;
}

macro_rules! drivers {
    ($($name:ident: $program:literal, $plain:literal, $zlib:literal;)*) => {
        mod mariadb { use super::*; $(#[tokio::test] async fn $name() {
            at_mariadb(Driver::Python($program, $plain), Driver::Python($program, $zlib)).await;
        })* }
        mod mysql { use super::*; $(#[tokio::test] async fn $name() {
            at_mysql(Driver::Python($program, $plain), Driver::Python($program, $zlib)).await;
        })* }
    };
}

// Connector/Python speaks TLS where it is offered, the command-line client here does not: both ways are taken.
drivers! {
    mariadb_client: "run_client.py", "mariadb-client", "mariadb-client:zlib";
    connector_pure_text: "run_connector.py", "connector:pure:text", "connector:pure:text:zlib";
    connector_c_text: "run_connector.py", "connector:c:text", "connector:c:text:zlib";
    connector_c_prepared: "run_connector.py", "connector:c:prepared", "connector:c:prepared:zlib";
}

/// MySQL's own client, and a file that it sends.
struct MySqlClient {
    /// The tree that it sees as /, if not the machine's.
    root: Option<PathBuf>,
    program: PathBuf,
    file: PathBuf,
    _guard: Guard,
}

impl MySqlClient {
    fn find() -> Option<MySqlClient> {
        let path = Command::new(machine::project("tools/mysql97")).arg("path").output().unwrap().stdout;
        let server = PathBuf::from(String::from_utf8_lossy(path.trim_ascii()).into_owned());
        // A server of the tester's own has its client beside it or in the search path.
        let root = if std::env::var_os("MYSQLD").is_none() {
            server.parent()?.parent()?.parent().map(PathBuf::from)
        } else {
            None
        };
        let program = PathBuf::from(if root.is_some() { "/usr/bin/mysql" } else { "mysql" });
        let file = PathBuf::from(format!("/tmp/shuntyard-client-{}.csv", std::process::id()));
        let seen = match &root {
            Some(root) => root.join(file.strip_prefix("/").unwrap()),
            None => file.clone(),
        };
        let guard = Guard::new(&format!("rm -f '{}'", seen.display()));
        std::fs::write(&seen, "1,one\n2,two\n".repeat(50_000)).unwrap();
        Some(MySqlClient { root, program, file, _guard: guard })
    }

    fn run(&self, server: &Server, options: &[&str], sql: &str) -> String {
        let mut command = match &self.root {
            Some(root) => {
                let mut command = Command::new("chroot");
                command.arg(root).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command
            .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--user=app", "--password=app"])
            .arg(format!("--port={}", server.port))
            .args(["-vv", "--table", "--column-type-info", "--show-warnings", "--force", "--local-infile=1"])
            .args(["--delimiter=$$", "--skip-auto-rehash", "--max-allowed-packet=64M"])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let text = sql.to_owned();
        let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, text.as_bytes()));
        let out = child.wait_with_output().unwrap();
        let _ = writer.join();
        let text = [out.stdout, out.stderr].map(|raw| String::from_utf8_lossy(&raw).into_owned()).concat();
        // What a statement took is not the same twice.
        let timed = |line: &str| line.split(" (").next().unwrap_or_default().to_owned();
        text.lines().map(timed).collect::<Vec<_>>().join("\n")
    }
}

/// MySQL 9's client with zlib, in the clear and under TLS, at both servers.
#[tokio::test]
async fn mysql_client() {
    let Some(mysql) = MySql::shared().await else { return };
    let mariadb = MariaDb::shared();
    tokio::task::spawn_blocking(move || {
        let Some(client) = MySqlClient::find() else { return };
        let mut places: Vec<(Server, Setup)> = vec![(mysql.server(), Setup::mysql(mysql.port()))];
        if let Some(mariadb) = &mariadb {
            places.push((mariadb.server(), Setup::mariadb(mariadb.port())));
        }
        for (straight, setup) in places {
            let load = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE t FIELDS TERMINATED BY ','", client.file.display());
            let sql = [
                "DROP DATABASE IF EXISTS zclient",
                "CREATE DATABASE zclient; USE zclient; CREATE TABLE t (id INT, v VARCHAR(20)); CREATE TABLE b (v LONGBLOB)",
                &format!("SELECT 1; {load}; SELECT 2; {load}"),
                "SELECT COUNT(*), SUM(id), MAX(v) FROM zclient.t",
                "SELECT v FROM zclient.t ORDER BY v, id",
                &format!("INSERT INTO zclient.b VALUES ('{}')", "0123456789".repeat(2_000_000)),
                "SELECT LENGTH(v), MD5(v) FROM zclient.b",
                "SELECT v FROM zclient.b",
                "SELECT nothing",
                "SHOW WARNINGS",
            ]
            .join("\n$$\n");
            let plain = client.run(&straight, &["--ssl-mode=DISABLED"], &sql);
            assert!(plain.contains("200000") && plain.contains("20000000"), "{}", &plain[..plain.len().min(2000)]);
            let shared = setup.clone().line("pooling: transaction").line("limits: {statements_per_backend: 1}");
            let proxies: [Proxy; 2] = [setup.start(), shared.start()];
            for (proxy, tls) in proxies.iter().flat_map(|p| [(p, "DISABLED"), (p, "REQUIRED")]) {
                let ssl = format!("--ssl-mode={tls}");
                let zlib = client.run(&proxy.server(), &["--compression-algorithms=zlib", &ssl], &sql);
                let differs = plain.lines().zip(zlib.lines()).find(|(a, b)| a != b);
                let shown = |line: &str| line.chars().take(200).collect::<String>();
                assert!(plain == zlib, "{tls}: {:?}", differs.map(|(a, b)| (shown(a), shown(b))));
                // zstd is not offered, so a client that insists on it is told by its own library.
                let zstd = client.run(&proxy.server(), &["--compression-algorithms=zstd", &ssl], "SELECT 1");
                assert!(zstd.contains("ERROR 2066"), "{zstd}");
            }
        }
    })
    .await
    .unwrap();
}
