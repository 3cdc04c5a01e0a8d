//! Readers that are slow and servers that stand still, with shared connections.

use std::io::Read;
use std::time::{Duration, Instant};

use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::process::memory;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, classic, modern};
use wire::Capabilities;
use wire::packet::{HEADER, Header};

use super::scene::query;

/// How much more memory a slow reader may cost.
const BOUND: u64 = 16 << 20;
const MILLIONS: usize = 3_000_000;

fn shared(setup: &Setup, timeouts: &str) -> Proxy {
    setup.clone().sharing(1).line(&format!("timeouts: {{{timeouts}}}")).start()
}

/// Reads to the end of a result set, with pauses; returns the count of packets and the most memory that the proxy had.
fn read_slowly(client: &mut Client, pid: u32, packets: usize) -> (usize, u64) {
    let (mut chunk, mut most) = (vec![0; 1 << 20], 0);
    let (mut waiting, mut seen, mut reads) = (Vec::new(), 0, 0_u32);
    while seen < packets {
        let read = client.stream().read(&mut chunk).unwrap();
        assert!(read > 0, "it ended after {seen} packets");
        waiting.extend_from_slice(&chunk[..read]);
        let mut at = 0;
        while let Some(header) = Header::parse(&waiting[at..]) {
            if waiting.len() < at + HEADER + header.len {
                break;
            }
            assert_eq!(header.seq, (seen + 1) as u8, "packet {seen}");
            at += HEADER + header.len;
            seen += 1;
        }
        waiting.drain(..at);
        reads += 1;
        if reads.is_multiple_of(16) {
            std::thread::sleep(Duration::from_millis(5));
            most = most.max(memory(pid).unwrap_or(0));
        }
    }
    assert!(waiting.is_empty(), "{} bytes behind the end", waiting.len());
    (seen, most)
}

fn millions(server: &Server, proxy: &Proxy) {
    let mut straight = Client::login(server, Some("mysql"), modern()).unwrap();
    for text in [
        "CREATE DATABASE IF NOT EXISTS case_millions",
        "CREATE TABLE IF NOT EXISTS case_millions.d (n INT) AS SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL \
         SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9",
    ] {
        assert_eq!(query(&mut straight, text.as_bytes()).error(), None);
    }
    for capabilities in [modern(), classic()] {
        let mut client = Client::login(&proxy.server(), Some("case_millions"), capabilities).unwrap();
        let before = proxy.process.memory();
        client
            .send_raw(b"\x03SELECT a.n, b.n, 'a row like many others' AS r FROM d a, d b, d c, d e, d f, d g, d h WHERE h.n < 3")
            .unwrap();
        // A reader that does not read at all for a while.
        std::thread::sleep(Duration::from_millis(300));
        let ends = if capabilities.contains(Capabilities::DEPRECATE_EOF) { 1 } else { 2 };
        let (_, most) = read_slowly(&mut client, proxy.process.pid(), 1 + 3 + MILLIONS + ends);
        assert!(most.saturating_sub(before) < BOUND, "{} KiB more", most.saturating_sub(before) / 1024);
        assert_eq!(query(&mut client, b"SELECT 'alive'").error(), None);
    }
}

#[test]
fn millions_of_rows_to_a_slow_reader() {
    if let Some(server) = MariaDb::shared() {
        millions(&server.server(), &shared(&Setup::mariadb(server.port()), "wait: 3s"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(server) = runtime.block_on(MySql::shared()) {
        millions(&server.server(), &shared(&Setup::mysql(server.port()), "wait: 3s"));
    }
}

/// While the server stands still every client gets an error in time, wherever its session was: with a connection of its own
/// state, with one that has to be brought to it, in the middle of rows, at its login, in a transaction.
#[test]
fn a_server_that_stands_still_hangs_nobody() {
    const IN_TIME: Duration = Duration::from_secs(8);
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = shared(&Setup::mariadb(server.port()), "read: 1s, connect: 1s, wait: 1s");
    let login = || Client::login(&proxy.server(), Some("mysql"), modern());
    let (mut own, mut other, mut reader) = (login().unwrap(), login().unwrap(), login().unwrap());
    for client in [&mut own, &mut reader] {
        assert_eq!(query(client, b"SELECT 1").error(), None);
    }
    // It has another state than the one connection that there is, and something to be saved from it.
    assert_eq!(query(&mut other, b"SET time_zone = '+05:00'").error(), None);
    assert_eq!(query(&mut own, b"SELECT 1/0").error(), None);
    // It keeps a connection of its own.
    assert_eq!(query(&mut reader, b"SET @a = 1").error(), None);
    reader.send_raw(b"\x03SELECT seq, REPEAT('x', 1000) FROM seq_1_to_1000000").unwrap();
    reader.packet().unwrap();
    server.signal("STOP");
    let asked = Instant::now();
    let asking: Vec<_> = [other, own]
        .into_iter()
        .map(|mut client| {
            std::thread::spawn(move || {
                let said = client.query(b"SELECT @@time_zone");
                (said.map(|answer| format!("{answer:?}")), client)
            })
        })
        .collect();
    let reading = std::thread::spawn(move || while reader.packet().is_ok() {});
    let coming = proxy.server();
    let coming = std::thread::spawn(move || Client::login(&coming, Some("mysql"), modern()).map(drop));
    let ended = |what: &str, thread: &dyn Fn() -> bool| {
        while !thread() {
            assert!(asked.elapsed() < IN_TIME, "{what} hangs");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ended("who had another state", &|| asking[0].is_finished());
        ended("who had the connection's state", &|| asking[1].is_finished());
        ended("who was reading", &|| reading.is_finished());
        ended("who was coming", &|| coming.is_finished());
    }));
    server.signal("CONT");
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
    assert!(coming.join().unwrap().is_err(), "nobody gets in");
    for asking in asking {
        let (said, _) = asking.join().unwrap();
        assert!(said.as_ref().map_or(true, |said| said.contains("Failed")), "{said:?}");
    }
    assert_eq!(query(&mut login().unwrap(), b"SELECT 1").error(), None, "it goes on");
}
