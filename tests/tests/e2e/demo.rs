//! `shuntyard demo`: from nothing to a shop that answers, its servers guarded, stopped, and started again on their data.

use std::path::Path;
use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::{Account, Server};
use shuntyard_tests::machine;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::process::Process;
use shuntyard_tests::proxy::{command, eventually};
use tempfile::TempDir;

struct Demo {
    process: Process,
    server: Server,
    http: u16,
}

fn start(dir: &Path) -> Demo {
    let (port, http) = (machine::free_port(), machine::free_port());
    let mut command = command(dir);
    command.arg("demo").args(["--port", &port.to_string(), "--http", &format!("127.0.0.1:{http}")]);
    command.arg("--data").arg(dir.join("data"));
    let mut process = Process::spawn("shuntyard demo", &mut command, &dir.join("log"));
    let ready = format!("ready: mysql 127.0.0.1:{port}");
    process.until(Duration::from_secs(180), |p| p.log().contains(&ready).then_some(()));
    Demo { process, server: Server { port, account: Account::app() }, http }
}

/// Servers whose command line names the folder.
fn servers(dir: &Path) -> Vec<u32> {
    let named = dir.display().to_string();
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.split('\0').next().is_some_and(|program| program.ends_with("mariadbd")) && line.contains(&named)
    })
    .collect()
}

#[tokio::test]
async fn the_demo_from_nothing_and_again() {
    if MariaDb::shared().is_none() {
        return;
    }
    let dir = TempDir::with_prefix("shuntyard-demo-").unwrap();
    let mut demo = start(dir.path());
    assert_eq!(servers(dir.path()).len(), 2, "two bundled servers");
    let mut conn = demo.server.connect_to(Some("shop")).await;
    for (table, least) in [("customers", 100_000_u64), ("orders", 1_000_000), ("orders_archive", 100_000)] {
        let rows: Option<u64> = conn.query_first(format!("SELECT COUNT(*) FROM {table}")).await.unwrap();
        assert!(rows >= Some(least), "{table}: {rows:?}");
    }
    let states: Vec<String> = conn.query("SELECT state FROM shuntyard.backends").await.unwrap();
    assert_eq!(states, ["up", "up"], "app is an administrator");
    assert_eq!(shuntyard_tests::http::get(demo.http, "/readyz").map(|(code, _)| code), Some(200));

    // A second one over the same data is refused.
    let mut second = command(dir.path());
    second.arg("demo").args(["--port", &machine::free_port().to_string(), "--http", "127.0.0.1:0"]);
    second.arg("--data").arg(dir.path().join("data"));
    let mut second = Process::spawn("second demo", &mut second, &dir.path().join("second.log"));
    let status = second.wait(Duration::from_secs(60));
    assert!(status.is_some_and(|s| !s.success()), "{}", second.log());
    conn.query_drop("SELECT 1").await.unwrap();

    // A server that crashes comes back.
    for pid in servers(dir.path()) {
        let _ = std::process::Command::new("kill").arg("-9").arg(pid.to_string()).status();
    }
    assert!(conn.query_drop("SELECT 1").await.is_err());
    eventually("the server is back", Duration::from_secs(60), async || {
        demo.server.try_connect(None).await.is_ok()
    })
    .await;
    let mut conn = demo.server.connect_to(Some("shop")).await;
    conn.query_drop("CREATE TABLE kept (id INT PRIMARY KEY)").await.unwrap();
    conn.query_drop("INSERT INTO kept VALUES (7)").await.unwrap();
    drop(conn);

    // Stopped: nothing is left. Started again: the data is there, and quickly.
    demo.process.signal("TERM");
    let status = demo.process.wait(Duration::from_secs(60));
    assert_eq!(status.and_then(|s| s.code()), Some(0), "{}", demo.process.log());
    assert!(servers(dir.path()).is_empty(), "no server is left behind");
    let from = Instant::now();
    let demo = start(dir.path());
    assert!(from.elapsed() < Duration::from_secs(30), "{:?}", from.elapsed());
    let mut conn = demo.server.connect_to(Some("shop")).await;
    assert_eq!(conn.query_first::<u8, _>("SELECT id FROM kept").await.unwrap(), Some(7));
}
