//! Clients that vanish, read slowly, or misbehave: the server's side ends, memory stays bounded, the proxy lives.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup, eventually};
use shuntyard_tests::raw;

/// About a gigabyte, made by the server as it is read.
const GIGABYTE: &[u8] = b"\x03SELECT seq, REPEAT('x', 1000) AS vanishing FROM seq_1_to_1000000";

fn start(lines: &[&str]) -> Option<(std::sync::Arc<MariaDb>, Proxy)> {
    let server = MariaDb::shared()?;
    let setup = lines.iter().fold(Setup::mariadb(server.port()), |setup, line| setup.line(line));
    let proxy = setup.start();
    Some((server, proxy))
}

async fn running(server: &Server, what: &str) -> u64 {
    let mut conn = server.connect().await;
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%{what}%' AND id <> CONNECTION_ID()"
    );
    conn.query_first(sql).await.unwrap().unwrap()
}

async fn sessions(proxy: &Proxy) -> u64 {
    let mut conn = proxy.server().connect().await;
    conn.query_first("SELECT COUNT(*) FROM shuntyard.sessions").await.unwrap().unwrap()
}

#[tokio::test]
async fn a_client_that_vanishes_in_the_middle_of_a_result_is_forgotten() {
    let Some((server, proxy)) = start(&[]) else { return };
    let target = proxy.server();
    tokio::task::spawn_blocking(move || {
        let mut client = raw::Client::login(&target, Some("mysql"), raw::modern()).unwrap();
        client.send_raw(GIGABYTE).unwrap();
        for _ in 0..100 {
            client.packet().unwrap();
        }
    })
    .await
    .unwrap();
    eventually("the server's statement has ended", Duration::from_secs(10), async || {
        running(&server.server(), "vanishing").await == 0
    })
    .await;
    eventually("the session is gone", Duration::from_secs(10), async || sessions(&proxy).await == 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_costs_bounded_memory() {
    let Some((server, proxy)) = start(&[]) else { return };
    let mut clients = Vec::new();
    let before = proxy.process.memory();
    for _ in 0..4 {
        let mut client = raw::Client::login(&proxy.server(), Some("mysql"), raw::modern()).unwrap();
        client.send_raw(GIGABYTE).unwrap();
        clients.push(client);
    }
    let mut most = 0;
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        most = most.max(proxy.process.memory());
    }
    let grown = most.saturating_sub(before);
    assert!(grown < 16 << 20, "four gigabytes on the way, {} KiB more memory", grown / 1024);
    assert!(running(&server.server(), "vanishing").await >= 4, "the server waits for the proxy");
    // A part of one result still arrives whole and in order.
    let mut client = clients.pop().unwrap();
    let rows = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            client.packet().unwrap();
        }
        for seq in 1..=100_000_u32 {
            let row = client.packet().unwrap();
            let len = usize::from(row[0]);
            assert_eq!(&row[1..=len], seq.to_string().as_bytes());
        }
        100_000
    });
    assert_eq!(rows.await.unwrap(), 100_000);
    assert!(proxy.process.memory().saturating_sub(before) < 24 << 20, "also while it is read");
}

#[tokio::test]
async fn a_large_result_passes_through_little_memory() {
    let Some((_server, proxy)) = start(&[]) else { return };
    let before = proxy.process.memory();
    let mut client = raw::Client::login(&proxy.server(), Some("mysql"), raw::modern()).unwrap();
    let pid = proxy.process.pid();
    let (bytes, most) = tokio::task::spawn_blocking(move || {
        client.send_raw(b"\x03SELECT REPEAT('x', 10000) FROM seq_1_to_30000").unwrap();
        let (mut bytes, mut most) = (0_usize, 0_u64);
        let mut chunk = vec![0; 1 << 20];
        while bytes < 300_000_000 {
            bytes += client.stream().read(&mut chunk).unwrap();
            most = most.max(shuntyard_tests::process::memory(pid).unwrap_or(0));
        }
        (bytes, most)
    })
    .await
    .unwrap();
    assert!(bytes >= 300_000_000);
    assert!(most.saturating_sub(before) < 16 << 20, "{} KiB more", most.saturating_sub(before) / 1024);
}

#[tokio::test]
async fn idle_sessions_hold_little() {
    let Some((_server, proxy)) = start(&[]) else { return };
    let mut conns = Vec::new();
    for _ in 0..20 {
        conns.push(proxy.server().connect().await);
    }
    let before = proxy.process.memory();
    for _ in 0..180 {
        conns.push(proxy.server().connect().await);
    }
    let each = proxy.process.memory().saturating_sub(before) / 180;
    assert!(each < 40_000, "{each} bytes for each idle session");
}

#[tokio::test]
async fn garbage_instead_of_a_login_harms_nobody() {
    let Some((_server, proxy)) = start(&["timeouts: {login: 1s, wait: 1s}"]) else { return };
    let garbage: &[&[u8]] = &[
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xff\xff\x01\xff\xff\xff\xff",
        b"\x00\x00\x00\x01",
        b"\x01\x00\x00\x01\x00",
        b"\x20\x00\x00\x01\x05\xa6\xff\x01\x00\x00\x00\x01\x2d\x00\x00",
        &[0; 4096],
    ];
    for bytes in garbage {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut rest = Vec::new();
        // The greeting, perhaps an error, then the end: within the login's timeout.
        let end = stream.read_to_end(&mut rest);
        assert!(end.is_ok() || end.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset));
    }
    let mut conn = proxy.server().connect().await;
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
}

#[tokio::test]
async fn a_client_that_never_logs_in_is_closed() {
    let Some((_server, proxy)) = start(&["timeouts: {login: 1s, wait: 1s}"]) else { return };
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let from = std::time::Instant::now();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert!(!all.is_empty(), "it was greeted");
    assert!(from.elapsed() < Duration::from_secs(5), "{:?}", from.elapsed());
}

#[tokio::test]
async fn unknown_and_rare_commands_get_an_answer_and_the_session_lives() {
    let Some((_server, proxy)) = start(&[]) else { return };
    let mut client = raw::Client::login(&proxy.server(), Some("mysql"), raw::modern()).unwrap();
    tokio::task::spawn_blocking(move || {
        // COM_STATISTICS, COM_DEBUG, COM_PING, COM_FIELD_LIST, unknown ones, empty fields.
        client.send_raw(&[0x09]).unwrap();
        let statistics = client.packet().unwrap();
        assert!(String::from_utf8_lossy(&statistics).contains("Uptime"), "{statistics:?}");
        for payload in [&b"\x0d"[..], b"\x0e", b"\x55", b"\xc8", b"\x06", b"\x02no_such_schema"] {
            client.send_raw(payload).unwrap();
            let answer = client.packet().unwrap();
            assert!(matches!(answer.first(), Some(0x00 | 0xFE | 0xFF)), "{payload:?} → {answer:?}");
        }
        client.send_raw(b"\x04user\0\0").unwrap();
        while !matches!(client.packet().unwrap().first(), Some(0xFE | 0xFF)) {}
        let answer = client.query(b"SELECT 'alive'").unwrap();
        assert_eq!(answer.results.len(), 1);
    })
    .await
    .unwrap();
}
