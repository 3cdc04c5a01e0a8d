//! Clients that are in and misbehave: wrong headers, half-closed sockets, commands that end early, answers that nobody reads.

use std::io::Write;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use shuntyard_tests::raw::{Client, modern};
use wire::packet::{Header, MAX_PAYLOAD};

use super::watch::{Watched, read_to_end};

const SOON: Duration = Duration::from_secs(5);

fn header(len: usize, seq: u8) -> Vec<u8> {
    Header { len, seq }.bytes().to_vec()
}

fn with(header: Vec<u8>, payload: &[u8]) -> Vec<u8> {
    [header, payload.to_vec()].concat()
}

/// Bytes in place of a command, after which the client says that no more come.
fn streams() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = vec![
        ("half a header", vec![1, 0]),
        ("a header and nothing", header(5, 0)),
        ("less than the header says", with(header(50, 0), b"\x03SELECT 1")),
        ("more than the header says", with(header(3, 0), b"\x03SELECT 1")),
        ("an empty command", header(0, 0)),
        ("many empty commands", header(0, 0).repeat(1000)),
        ("a long PING", with(header(2 << 20, 0), &vec![0x0e; 2 << 20])),
        ("a long QUIT", with(header(2 << 20, 0), &vec![0x01; 2 << 20])),
        ("a long unknown command", with(header(2 << 20, 0), &vec![0x99; 2 << 20])),
        ("a long CHANGE_USER", with(header(2 << 20, 0), &vec![0x11; 2 << 20])),
        ("a long EXECUTE of nothing", with(header(2 << 20, 0), &vec![0x17; 2 << 20])),
        ("a long BULK_EXECUTE of nothing", with(header(2 << 20, 0), &vec![0xFA; 2 << 20])),
        ("a long CLOSE", with(header(2 << 20, 0), &vec![0x19; 2 << 20])),
        ("16 MB that do not come", with(header(MAX_PAYLOAD, 0), b"\x03SELECT 1")),
        (
            "a continuation of another number",
            [with(header(MAX_PAYLOAD, 0), &vec![0x03; MAX_PAYLOAD]), with(header(3, 7), b"abc")].concat(),
        ),
        (
            "a continuation that does not come",
            [header(MAX_PAYLOAD, 0), vec![0x03; MAX_PAYLOAD], header(9, 1)].concat(),
        ),
        ("another number", with(header(9, 9), b"\x03SELECT 1")),
        ("the last number", with(header(9, 255), b"\x03SELECT 1")),
        ("a server's packets", with(header(7, 0), b"\0\0\0\x02\0\0\0")),
        ("a file that nobody asked for", with(header(4, 2), b"file")),
        ("CHANGE_USER to nobody", with(header(9, 0), b"\x11nobody\0\0")),
        ("CHANGE_USER that ends early", with(header(6, 0), b"\x11app\0\xff")),
        ("CHANGE_USER without an end", with(header(4, 0), b"\x11app")),
        ("attributes that lie", with(header(12, 0), b"\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01")),
        ("a dump of the binary log", with(header(11, 0), b"\x12\x04\0\0\0\0\0\x01\0\0\0")),
        ("commands behind QUIT", [with(header(1, 0), b"\x01"), with(header(9, 0), b"\x03SELECT 1")].concat()),
        ("noise", (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
    ];
    // A statement of two parameters, and executions that do not fit it.
    let prepare = with(header(17, 0), b"\x16SELECT ? + ?, 'x'");
    let execute = |rest: &[u8]| {
        let payload = [&[0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0][..], rest].concat();
        [prepare.clone(), with(header(payload.len(), 0), &payload)].concat()
    };
    for (what, rest) in [
        ("no parameters", &b""[..]),
        ("half a bitmap", b"\0"),
        ("no types", b"\0\x01"),
        ("one type", b"\0\x01\x08\0"),
        ("no values", b"\0\x01\x08\0\x08\0"),
        ("one value", b"\0\x01\x08\0\x08\0\x01\0\0\0\0\0\0\0"),
        ("half a value", b"\0\x01\x08\0\x08\0\x01\0\0\0\0\0\0\0\x01\0"),
        (
            "a string that is longer than its packet",
            b"\0\x01\xfd\0\xfd\0\x01a\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
        ),
        ("a string without an end", b"\0\x01\xfd\0\xfd\0\x01a\xfa"),
        ("NULL as a length", b"\0\x01\xfd\0\xfd\0\xfb\xfb"),
        ("types that nobody has", b"\0\x01\x99\0\x98\0abc"),
        ("a date of 200 bytes", b"\0\x01\x0c\0\x0c\0\xc8abc\xc8"),
        ("more than there are", b"\0\x01\x01\0\x01\0\x01\x02\x03\x04\x05"),
        ("bits beyond the parameters", b"\xff\x01\x01\0\x01\0"),
        ("types announced by another byte", b"\0\x07\x01\0\x01\0\x01\x02"),
    ] {
        all.push((what, execute(rest)));
    }
    all
}

fn misbehave(mut watched: Watched) {
    for (what, bytes) in streams() {
        for leaves in [true, false] {
            let mut client = Client::login(&watched.server(), Some("mysql"), modern()).unwrap();
            let stream = client.stream();
            stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
            let from = Instant::now();
            let _ = stream.write_all(&bytes);
            if leaves {
                let _ = stream.shutdown(Shutdown::Write);
                let end = read_to_end(stream, from);
                assert!(end.as_ref().is_ok_and(|(_, took)| *took < SOON), "{what}: {end:?}");
            } else {
                // Goes without a word while the proxy may still wait for more, or speak.
                std::thread::sleep(Duration::from_millis(20));
            }
            drop(client);
            assert_eq!(watched.fault(), None, "{what}");
        }
    }
    watched.end();
}

#[test]
fn clients_that_misbehave_with_connections_of_their_own() {
    if let Some(watched) = Watched::mariadb(&["timeouts: {login: 2s, wait: 2s}", "pooling: session"]) {
        misbehave(watched);
    }
}

#[test]
fn clients_that_misbehave_on_shared_connections() {
    let lines =
        ["timeouts: {login: 2s, wait: 2s}", "pooling: transaction", "limits: {statements_per_backend: 2}"];
    if let Some(watched) = Watched::mariadb(&lines) {
        misbehave(watched);
    }
    if let Some(watched) = Watched::mysql(&lines) {
        misbehave(watched);
    }
}

/// A command whose header comes in parts, each in a segment of its own, is answered like any other.
#[test]
fn a_command_that_comes_byte_by_byte_is_answered() {
    for pooling in ["session", "transaction"] {
        let Some(watched) = Watched::mariadb(&[&format!("pooling: {pooling}")]) else { return };
        let mut client = Client::login(&watched.server(), Some("mysql"), modern()).unwrap();
        client.stream().set_read_timeout(Some(SOON)).unwrap();
        for _ in 0..2 {
            for byte in with(header(9, 0), b"\x03SELECT 1") {
                client.stream().write_all(&[byte]).unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
            let reply = client.reply(wire::follow::Expect::Query).unwrap();
            assert_eq!(reply.error(), None, "{reply:?}");
        }
        drop(client);
        watched.end();
    }
}

/// Thousands of commands whose answers nobody reads: the proxy stops reading too.
#[test]
fn a_client_that_only_speaks_costs_bounded_memory() {
    for pooling in ["session", "transaction"] {
        let Some(mut watched) = Watched::mariadb(&[&format!("pooling: {pooling}")]) else { return };
        let mut deaf: Vec<Client> =
            (0..4).map(|_| Client::login(&watched.server(), Some("mysql"), modern()).unwrap()).collect();
        let command = b"\x03SELECT REPEAT('x', 10000)";
        let commands = with(header(command.len(), 0), command).repeat(2_000);
        for client in &mut deaf {
            let stream = client.stream();
            stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
            for _ in 0..50 {
                if stream.write_all(&commands).is_err() {
                    break;
                }
            }
        }
        assert_eq!(watched.fault(), None);
        drop(deaf);
        watched.end();
    }
}

/// A client that sends its commands all at once gets all answers, in order.
#[test]
fn commands_ahead_of_their_answers_are_answered_in_order() {
    for pooling in ["session", "transaction"] {
        let Some(watched) = Watched::mariadb(&[&format!("pooling: {pooling}")]) else { return };
        let mut client = Client::login(&watched.server(), Some("mysql"), modern()).unwrap();
        let count = 500;
        let mut commands = Vec::new();
        for n in 0..count {
            let command = format!("\u{3}SELECT {n}, '{}'", "y".repeat(n));
            commands.extend(with(header(command.len(), 0), command.as_bytes()));
        }
        // Cut in the middle of headers and payloads.
        for part in commands.chunks(7_001) {
            client.stream().write_all(part).unwrap();
        }
        for n in 0..count {
            let reply = client.reply(wire::follow::Expect::Query).unwrap();
            let number = n.to_string();
            let row = &reply.0[3].payload;
            assert_eq!(&row[1..=number.len()], number.as_bytes());
            assert_eq!(row.len(), 1 + number.len() + n + if n > 250 { 3 } else { 1 });
        }
        drop(client);
        watched.end();
    }
}
