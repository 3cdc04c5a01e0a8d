//! Servers that break the protocol: the client is told, its session ends, nobody else's does, and no file of the proxy's is read.

use std::time::{Duration, Instant};

use shuntyard_tests::interposer::{After, Interposer};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw::{Client, classic, modern};
use wire::Capabilities;
use wire::follow::Expect;
use wire::packet::{Header, MAX_PAYLOAD};

use super::watch::Watched;

const SOON: Duration = Duration::from_secs(6);

fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    [&Header { len: payload.len(), seq }.bytes(), payload].concat()
}

fn watched(pooling: &str) -> Option<(Interposer, Watched)> {
    let server = MariaDb::shared()?;
    let between = Interposer::start(server.port());
    let setup = Setup::mariadb(0)
        .backend(&format!("primary: \"127.0.0.1:{}\", tls: {{mode: disabled}}", between.port()));
    let pooling = format!("pooling: {pooling}");
    let watched = Watched::start(
        setup,
        &[&pooling, "limits: {statements_per_backend: 4}", "timeouts: {read: 1s, connect: 1s, wait: 2s}"],
        Box::new(server),
    );
    Some((between, watched))
}

/// Answers that no server gives.
fn answers() -> Vec<(&'static str, Vec<u8>)> {
    let definition = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0";
    let columns = |count: &[u8]| [packet(1, count), packet(2, definition)].concat();
    vec![
        ("nothing", Vec::new()),
        ("half a header", vec![7, 0]),
        ("a header and nothing", vec![7, 0, 0, 1]),
        ("an empty packet", packet(1, b"")),
        ("an OK that ends early", packet(1, b"\0\x01")),
        (
            "an OK of lengths that lie",
            packet(
                1,
                b"\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0",
            ),
        ),
        ("an OK with changes that lie", packet(1, b"\0\0\0\x02\x40\0\0\0\xfd\xff\xff\xff\0\x01")),
        ("an OK with changes cut off", packet(1, b"\0\0\0\x02\x40\0\0\0\x05\0\x09abc")),
        ("an OK of a megabyte", packet(1, &[&b"\0\0\0\x02\0\0\0"[..], &vec![b'i'; 1 << 20]].concat())),
        ("an ERR that ends early", packet(1, b"\xff")),
        ("an ERR without a state", packet(1, b"\xff\x10\x04")),
        ("an EOF in front", packet(1, b"\xfe\0\0\x02\0")),
        ("no columns", packet(1, b"\xfe\0\0\0\0\0\0\0\0")),
        ("more columns than there can be", columns(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff")),
        ("NULL columns", packet(1, b"\xfb")),
        ("columns without rows", columns(b"\x01")),
        ("a definition that ends early", [packet(1, b"\x01"), packet(2, b"\x03d")].concat()),
        (
            "an OK between definitions",
            [packet(1, b"\x02"), packet(2, definition), packet(3, b"\0\0\0\x02\0\0\0")].concat(),
        ),
        ("rows without an end", [columns(b"\x01"), packet(3, b"\x011"), packet(4, b"\x012")].concat()),
        (
            "an ERR among rows",
            [columns(b"\x01"), packet(3, b"\x011"), packet(4, b"\xff\x10\x04#08004away")].concat(),
        ),
        ("more results that do not come", packet(1, b"\0\0\0\x0a\0\0\0")),
        (
            "a row of 16 MB that does not come",
            [columns(b"\x01"), Header { len: MAX_PAYLOAD, seq: 3 }.bytes().to_vec()].concat(),
        ),
        ("two answers", [packet(1, b"\0\0\0\x02\0\0\0"), packet(1, b"\0\0\0\x02\0\0\0")].concat()),
        ("another number", packet(9, b"\0\0\0\x02\0\0\0")),
        ("a request to log in again", packet(1, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0")),
        ("a greeting", packet(0, b"\x0a9.9.9\0\x01\0\0\0abcdefgh\0\xff\xff\x08\x02\0\xff\xff")),
        ("progress", packet(1, b"\xff\xff\xff\x01\x01\x02\0\0\0\x05stage")),
        ("noise", (0..9_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect()),
        ("text", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
    ]
}

fn misbehave(pooling: &str) {
    let Some((between, mut watched)) = watched(pooling) else { return };
    for (number, (what, bytes)) in answers().into_iter().enumerate() {
        for after in [After::Close, After::Stay] {
            let marker = format!("hostile_{number}_{}", after == After::Close);
            between.instead(&marker, bytes.clone(), after);
            for capabilities in [modern(), classic()] {
                let mut client = Client::login(&watched.server(), Some("mysql"), capabilities).unwrap();
                let from = Instant::now();
                // An answer or an end; what it says is the server's.
                let _ = client.exchange(format!("\u{3}SELECT '{marker}'").as_bytes(), Expect::Query);
                let _ = client.exchange(b"\x0e", Expect::Simple);
                assert!(from.elapsed() < SOON, "{what}, {after:?}: {:?}", from.elapsed());
                assert_eq!(watched.fault(), None, "{what}, {after:?}");
            }
        }
    }
    watched.end();
}

#[test]
fn servers_that_misbehave_on_a_sessions_own_connection() {
    misbehave("session");
}

#[test]
fn servers_that_misbehave_on_shared_connections() {
    misbehave("transaction");
}

/// A server that asks for a file gets the client's, if the client offers files at all, and never one of the proxy's.
#[test]
fn a_server_that_asks_for_a_file_gets_none_of_the_proxys() {
    for pooling in ["session", "transaction"] {
        let Some((between, mut watched)) = watched(pooling) else { return };
        for name in ["/etc/passwd", "shuntyard.yaml", "log", "/proc/self/environ"] {
            let request = [&[0xFB][..], name.as_bytes()].concat();
            between.instead(&format!("ask for {name}"), packet(1, &request), After::Stay);
            for offers in [true, false] {
                let mut capabilities = modern();
                capabilities.set(Capabilities::LOCAL_FILES, offers);
                let mut client = Client::login(&watched.server(), Some("mysql"), capabilities).unwrap();
                client.infile = b"the client's own".to_vec();
                between.heard();
                let _ = client.exchange(format!("\u{3}DO 'ask for {name}'").as_bytes(), Expect::Query);
                let asked = if offers { name.as_bytes() } else { b"" };
                assert_eq!(client.asked_for, asked, "{name}");
                assert_eq!(watched.fault(), None);
            }
        }
        // Whatever went to the server, nothing of the proxy's own files was in it.
        assert!(!between.all().iter().any(|packet| {
            [&b"root:"[..], b"backends:", b"SHUNTYARD_PASSWORD="]
                .iter()
                .any(|part| packet.windows(part.len()).any(|window| window == *part))
        }));
        watched.end();
    }
}
