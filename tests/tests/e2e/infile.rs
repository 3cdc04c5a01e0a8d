//! LOAD DATA LOCAL INFILE reads the client's file, never one of the proxy's.

use mysql_async::prelude::Queryable;
use router::compare::Outcome;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw;
use wire::Capabilities;

async fn start(table: &str) -> Option<(std::sync::Arc<MariaDb>, Proxy)> {
    let server = MariaDb::shared()?;
    let mut root = server.server().connect().await;
    root.query_drop("CREATE DATABASE IF NOT EXISTS local_files").await.unwrap();
    root.query_drop(format!("CREATE OR REPLACE TABLE local_files.{table} (line VARCHAR(200))"))
        .await
        .unwrap();
    let proxy = Setup::mariadb(server.port())
        .start_in(|dir| std::fs::write(dir.join("data.csv"), "the proxy's\n").unwrap());
    Some((server, proxy))
}

#[tokio::test]
async fn the_clients_bytes_arrive_whatever_lies_beside_the_proxy() {
    let Some((server, proxy)) = start("small").await else { return };
    let (target, path) = (proxy.server(), proxy.dir().join("data.csv"));
    tokio::task::spawn_blocking(move || {
        let mut client = raw::Client::login(&target, Some("local_files"), raw::modern()).unwrap();
        client.infile = b"the client's\nsecond\n".to_vec();
        for name in ["data.csv", path.to_str().unwrap(), "/etc/passwd"] {
            let answer =
                client.query(format!("LOAD DATA LOCAL INFILE '{name}' INTO TABLE small").as_bytes()).unwrap();
            assert_eq!(client.asked_for, name.as_bytes());
            match answer.results.first() {
                Some(Outcome::Done(ok)) => assert_eq!(ok.affected, 2),
                other => panic!("{other:?}"),
            }
        }
    })
    .await
    .unwrap();
    let mut conn = server.server().connect().await;
    let lines: Vec<String> =
        conn.query("SELECT DISTINCT line FROM local_files.small ORDER BY line").await.unwrap();
    assert_eq!(lines, ["second", "the client's"]);
}

#[tokio::test]
async fn a_large_file_passes_in_many_packets_and_little_memory() {
    let Some((server, proxy)) = start("large").await else { return };
    let before = proxy.process.memory();
    let (target, pid) = (proxy.server(), proxy.process.pid());
    let most = tokio::task::spawn_blocking(move || {
        let mut client = raw::Client::login(&target, Some("local_files"), raw::modern()).unwrap();
        client.send_raw(b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE large").unwrap();
        assert_eq!(client.packet().unwrap().first(), Some(&0xFB));
        let chunk = "0123456789".repeat(10) + "\n";
        let chunk = chunk.repeat(10_000);
        let mut most = 0;
        for _ in 0..60 {
            client.write(chunk.as_bytes()).unwrap();
            most = most.max(shuntyard_tests::process::memory(pid).unwrap_or(0));
        }
        client.write(&[]).unwrap();
        let answer = client.answer().unwrap();
        assert!(
            matches!(answer.results.first(), Some(Outcome::Done(ok)) if ok.affected == 600_000),
            "{answer:?}"
        );
        most
    })
    .await
    .unwrap();
    assert!(most.saturating_sub(before) < 16 << 20, "{} KiB more", most.saturating_sub(before) / 1024);
    let mut conn = server.server().connect().await;
    assert_eq!(
        conn.query_first::<u64, _>("SELECT COUNT(*) FROM local_files.large").await.unwrap(),
        Some(600_000)
    );
}

#[tokio::test]
async fn a_client_that_does_not_offer_files_is_not_asked_for_any() {
    let Some((server, proxy)) = start("refused").await else { return };
    let (straight, proxied) = (server.server(), proxy.server());
    tokio::task::spawn_blocking(move || {
        let wanted = raw::modern() - Capabilities::LOCAL_FILES;
        let ask = |server| {
            let mut client = raw::Client::login(server, Some("local_files"), wanted).unwrap();
            let answer = client.query(b"LOAD DATA LOCAL INFILE 'x' INTO TABLE refused").unwrap();
            assert!(client.asked_for.is_empty());
            answer
        };
        assert_eq!(ask(&straight), ask(&proxied));
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_client_that_vanishes_while_sending_leaves_nothing() {
    let Some((server, proxy)) = start("half").await else { return };
    let target = proxy.server();
    tokio::task::spawn_blocking(move || {
        let mut client = raw::Client::login(&target, Some("local_files"), raw::modern()).unwrap();
        client.send_raw(b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE half").unwrap();
        client.packet().unwrap();
        client.write(b"a line\nhalf a li").unwrap();
    })
    .await
    .unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let mut conn = server.server().connect().await;
    assert_eq!(conn.query_first::<u64, _>("SELECT COUNT(*) FROM local_files.half").await.unwrap(), Some(0));
    let mut conn = proxy.server().connect().await;
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
}
