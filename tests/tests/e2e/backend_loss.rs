//! The server dies, comes back, or stops answering: clear errors, closed sessions, no hang, and new sessions work.

use std::time::{Duration, Instant};

use mysql_async::Error;
use mysql_async::prelude::Queryable;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Setup, eventually};
use shuntyard_tests::raw;
use tokio::time::timeout;

/// A session that lost its server: an error that makes drivers reconnect, or the closed connection itself.
fn is_loss(error: &Error) -> bool {
    match error {
        Error::Server(e) => {
            matches!(e.code, 1053 | 2006 | 2013 | 1927) && e.state == "08S01" || e.code == 1927
        }
        _ => true,
    }
}

#[tokio::test]
async fn a_killed_server_ends_its_sessions_and_new_ones_work_when_it_is_back() {
    let Some(mut server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).unshared().line("timeouts: {wait: 2s, connect: 1s}").start();
    let mut idle = proxy.server().connect().await;
    let mut busy = proxy.server().connect().await;
    assert_eq!(idle.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
    let running = tokio::spawn(async move { busy.query_drop("SELECT SLEEP(60)").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.kill();

    let error = timeout(Duration::from_secs(5), running).await.expect("no hang").unwrap().unwrap_err();
    assert!(is_loss(&error), "{error}");
    let error =
        timeout(Duration::from_secs(5), idle.query_drop("SELECT 1")).await.expect("no hang").unwrap_err();
    assert!(is_loss(&error), "{error}");
    let again = timeout(Duration::from_secs(5), idle.query_drop("SELECT 1")).await.expect("no hang");
    assert!(again.is_err(), "the session is closed");

    let from = Instant::now();
    let refused = timeout(Duration::from_secs(10), proxy.server().try_connect(None)).await.expect("no hang");
    assert!(refused.is_err(), "there is no server");
    assert!(from.elapsed() < Duration::from_secs(8), "within the timeout");

    server.up();
    eventually("new sessions work", Duration::from_secs(15), async || {
        proxy.server().try_connect(None).await.is_ok()
    })
    .await;
    let mut conn = proxy.server().connect().await;
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_result_is_an_error_not_an_end() {
    let Some(mut server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let target = proxy.server();
    let (read, started) = std::sync::mpsc::channel();
    let client = tokio::task::spawn_blocking(move || {
        let mut client = raw::Client::login(&target, Some("mysql"), raw::modern()).unwrap();
        client.send_raw(b"\x03SELECT seq, REPEAT('x', 1000) FROM seq_1_to_100000000").unwrap();
        for _ in 0..1000 {
            client.packet().unwrap();
        }
        read.send(()).unwrap();
        // Until the connection ends: an ERR packet or a closed socket, never an OK that looks like the end of the rows.
        loop {
            match client.packet() {
                Ok(p) if p.first() == Some(&0xFF) => return true,
                Ok(p) if p.first() == Some(&0xFE) && p.len() < 64 => return false,
                Ok(_) => {}
                Err(_) => return true,
            }
        }
    });
    tokio::task::spawn_blocking(move || {
        started.recv().unwrap();
        server.kill();
        server
    })
    .await
    .unwrap();
    assert!(timeout(Duration::from_secs(20), client).await.expect("no hang").unwrap());
}

#[tokio::test]
async fn a_server_that_stops_answering_is_an_error_within_the_timeout() {
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).line("timeouts: {read: 1s, connect: 1s, wait: 1s}").start();
    let mut conn = proxy.server().connect().await;
    server.signal("STOP");
    let from = Instant::now();
    let answer = timeout(Duration::from_secs(10), conn.query_drop("SELECT 1")).await;
    server.signal("CONT");
    assert!(answer.expect("no hang").is_err());
    assert!(from.elapsed() < Duration::from_secs(6), "{:?}", from.elapsed());
}

#[tokio::test]
async fn the_proxy_starts_before_its_server() {
    let Some(mut server) = MariaDb::start(&[]) else { return };
    server.stop();
    let proxy = Setup::mariadb(server.port()).line("timeouts: {wait: 1s, connect: 500ms}").start();
    let ready = shuntyard_tests::http::get(proxy.http, "/readyz").map(|(code, _)| code);
    assert_eq!(ready, Some(503), "no backend, not ready");
    assert!(proxy.server().try_connect(None).await.is_err());
    server.up();
    eventually("it is ready", Duration::from_secs(15), async || {
        shuntyard_tests::http::get(proxy.http, "/readyz").is_some_and(|(code, _)| code == 200)
    })
    .await;
    proxy.server().connect().await;
}
