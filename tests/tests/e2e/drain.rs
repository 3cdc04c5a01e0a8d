//! SIGTERM and `shuntyard drain`: nobody new, running work is finished, then the end with exit code 0.

use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable;
use shuntyard_tests::http;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Setup, eventually};
use tokio::time::timeout;

#[tokio::test]
async fn sigterm_lets_running_statements_finish() {
    let Some(server) = MariaDb::shared() else { return };
    let mut proxy = Setup::mariadb(server.port()).start();
    let mut idle = proxy.server().connect().await;
    let mut busy = proxy.server().connect().await;
    let running = tokio::spawn(async move { busy.query_first::<u8, _>("SELECT 42 + SLEEP(2)").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    proxy.process.signal("TERM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(proxy.server().try_connect(None).await.is_err(), "nobody new");
    let answer = timeout(Duration::from_secs(10), running).await.expect("no hang").unwrap();
    assert_eq!(answer.unwrap(), Some(42), "the running statement is answered");
    let status = proxy.process.wait(Duration::from_secs(10));
    assert_eq!(status.and_then(|s| s.code()), Some(0), "{}", proxy.process.log());
    assert!(idle.query_drop("SELECT 1").await.is_err());
}

#[tokio::test]
async fn an_open_transaction_may_be_finished() {
    let Some(server) = MariaDb::shared() else { return };
    let mut proxy = Setup::mariadb(server.port()).start();
    let mut conn = proxy.server().connect().await;
    conn.query_drop("CREATE DATABASE IF NOT EXISTS drained").await.unwrap();
    conn.query_drop("CREATE OR REPLACE TABLE drained.t (id INT PRIMARY KEY)").await.unwrap();
    conn.query_drop("BEGIN").await.unwrap();
    conn.query_drop("INSERT INTO drained.t VALUES (1)").await.unwrap();
    proxy.process.signal("TERM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    conn.query_drop("INSERT INTO drained.t VALUES (2)").await.unwrap();
    conn.query_drop("COMMIT").await.unwrap();
    let status = proxy.process.wait(Duration::from_secs(10));
    assert_eq!(status.and_then(|s| s.code()), Some(0), "{}", proxy.process.log());
    let mut straight = server.server().connect().await;
    assert_eq!(straight.query_first::<u8, _>("SELECT COUNT(*) FROM drained.t").await.unwrap(), Some(2));
}

#[tokio::test]
async fn the_drain_has_an_end() {
    let Some(server) = MariaDb::shared() else { return };
    let mut proxy = Setup::mariadb(server.port()).line("timeouts: {drain: 1s}").start();
    let mut conn = proxy.server().connect().await;
    let running = tokio::spawn(async move { conn.query_drop("SELECT SLEEP(60)").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let from = Instant::now();
    let status = tokio::task::spawn_blocking(move || proxy.terminate(Duration::from_secs(15))).await.unwrap();
    assert!(status.is_some(), "it ends");
    assert!(from.elapsed() < Duration::from_secs(8), "{:?}", from.elapsed());
    assert!(timeout(Duration::from_secs(5), running).await.expect("no hang").unwrap().is_err());
}

#[tokio::test]
async fn the_drain_command_does_the_same_and_readyz_tells_balancers() {
    let Some(server) = MariaDb::shared() else { return };
    let mut proxy = Setup::mariadb(server.port()).start();
    assert_eq!(http::get(proxy.http, "/readyz").map(|(code, _)| code), Some(200));
    let mut conn = proxy.server().connect().await;
    conn.query_drop("BEGIN").await.unwrap();
    let drained = {
        let dir = proxy.dir().to_owned();
        tokio::task::spawn_blocking(move || shuntyard_tests::proxy::run(&dir, &["drain", "--data", "data"]))
    };
    eventually("readyz says that it drains", Duration::from_secs(3), async || {
        http::get(proxy.http, "/readyz").is_none_or(|(code, _)| code == 503)
    })
    .await;
    conn.query_drop("ROLLBACK").await.unwrap();
    let out = timeout(Duration::from_secs(15), drained).await.expect("no hang").unwrap();
    assert!(out.status.success(), "{out:?}");
    let status = proxy.process.wait(Duration::from_secs(10));
    assert_eq!(status.and_then(|s| s.code()), Some(0), "{}", proxy.process.log());
}
