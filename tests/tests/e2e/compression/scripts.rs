//! Drivers that compress, proxied, against the same drivers straight and without: the whole script, value by value.

use shuntyard_tests::client::Server;
use shuntyard_tests::drivers::Driver;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::{CommandLine, MySql};
use shuntyard_tests::proxy::Proxy;
use shuntyard_tests::proxy::Setup;

use crate::drivers::compared;

async fn at_mariadb(plain: Driver, zlib: Driver) {
    let Some(server) = MariaDb::start(&[]) else { return };
    compared(plain, zlib, "mariadb", &server.server(), &Setup::mariadb(server.port())).await;
}

async fn at_mysql(plain: Driver, zlib: Driver) {
    let Some(server) = tokio::task::spawn_blocking(MySql::own).await.unwrap() else { return };
    compared(plain, zlib, "mysql", &server.server(), &Setup::mysql(server.port())).await;
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

// Connector/Python without its C extension refuses to change the user when it compresses, so it is compared with itself.
// Connector/Python speaks TLS where it is offered, the command-line client here does not: both ways are taken.
drivers! {
    mariadb_client: "run_client.py", "mariadb-client", "mariadb-client:zlib";
    connector_pure_text: "run_connector.py", "connector:pure:text:zlib", "connector:pure:text:zlib";
    connector_c_text: "run_connector.py", "connector:c:text", "connector:c:text:zlib";
}

/// What the client prints, but for how long a statement took.
fn printed(client: &CommandLine, server: &Server, options: &[&str], sql: &str) -> String {
    let verbose = ["-vv", "--table", "--column-type-info", "--show-warnings", "--force", "--delimiter=$$"];
    let further = ["--local-infile=1", "--max-allowed-packet=64M"];
    let text = client.run(server, &[&verbose[..], &further, options].concat(), sql);
    text.lines().map(|line| line.split(" (").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// MySQL 9's client with zlib, in the clear and under TLS, at both servers.
#[tokio::test]
async fn mysql_client() {
    let Some(mysql) = MySql::shared().await else { return };
    let mariadb = MariaDb::shared();
    tokio::task::spawn_blocking(move || {
        let Some(client) = CommandLine::find() else { return };
        let file = client.file(&"1,one\n2,two\n".repeat(50_000));
        let mut places: Vec<(Server, Setup)> = vec![(mysql.server(), Setup::mysql(mysql.port()))];
        if let Some(mariadb) = &mariadb {
            places.push((mariadb.server(), Setup::mariadb(mariadb.port())));
        }
        for (straight, setup) in places {
            let load = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE t FIELDS TERMINATED BY ','", file.path);
            let drop = "DROP DATABASE IF EXISTS zclient";
            let sql = [
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
            client.run(&straight, &["--force"], drop);
            let plain = printed(&client, &straight, &["--ssl-mode=DISABLED"], &sql);
            assert!(plain.contains("200000") && plain.contains("20000000"), "{}", &plain[..plain.len().min(2000)]);
            let proxies: [Proxy; 2] = [setup.clone().unshared().start(), setup.sharing(1).start()];
            for (proxy, tls) in proxies.iter().flat_map(|p| [(p, "DISABLED"), (p, "REQUIRED")]) {
                let ssl = format!("--ssl-mode={tls}");
                client.run(&straight, &["--force"], drop);
                let zlib = printed(&client, &proxy.server(), &["--compression-algorithms=zlib", &ssl], &sql);
                let differs = plain.lines().zip(zlib.lines()).find(|(a, b)| a != b);
                let shown = |line: &str| line.chars().take(200).collect::<String>();
                assert!(plain == zlib, "{tls}: {:?}", differs.map(|(a, b)| (shown(a), shown(b))));
                // zstd is not offered, so a client that insists on it is told by its own library.
                let zstd = printed(&client, &proxy.server(), &["--compression-algorithms=zstd", &ssl], "SELECT 1");
                assert!(zstd.contains("ERROR 2066"), "{zstd}");
            }
        }
    })
    .await
    .unwrap();
}
