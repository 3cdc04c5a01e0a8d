//! Logins that are cut off, lie about lengths, come a byte at a time, or go on in the clear after asking for TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use shuntyard_tests::raw::modern;
use wire::packet::{HEADER, Header, MAX_PAYLOAD};
use wire::{Capabilities, Greeting, HandshakeResponse, SslRequest};

use super::watch::{Watched, read_to_end, say_and_leave};

/// A login that takes no time is over long before.
const SOON: Duration = Duration::from_secs(5);

/// The proxy's first packet.
fn greeting(stream: &mut TcpStream) -> Greeting {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; Header::parse(&header).unwrap().len];
    stream.read_exact(&mut payload).unwrap();
    Greeting::parse(&payload).unwrap()
}

fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Header { len: payload.len(), seq }.bytes().to_vec();
    bytes.extend_from_slice(payload);
    bytes
}

fn response(capabilities: Capabilities, answer: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    HandshakeResponse {
        capabilities: capabilities | Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA,
        max_packet: 1 << 24,
        charset: 45,
        user: b"app",
        auth_response: answer,
        schema: Some(b"mysql"),
        plugin: Some(b"mysql_native_password"),
        raw_attributes: Some(b"\x04_pid\x0212"),
        zstd_level: None,
    }
    .write(&mut payload)
    .unwrap();
    payload
}

fn ssl_request() -> Vec<u8> {
    let mut payload = Vec::new();
    SslRequest { capabilities: modern() | Capabilities::SSL, max_packet: 1 << 24, charset: 45 }
        .write(&mut payload);
    payload
}

/// What may be said instead of a login. None of it gets anybody in, and each is over soon.
fn instead_of_a_login() -> Vec<(String, Vec<u8>)> {
    let whole = response(modern(), &[7; 20]);
    let mut all = Vec::new();
    for cut in 0..whole.len() {
        all.push((format!("cut at {cut}, with the length of what is there"), packet(1, &whole[..cut])));
        let mut bytes = packet(1, &whole);
        bytes.truncate(cut + 2);
        all.push((format!("cut at {cut}, with the whole length"), bytes));
    }
    for seq in [0, 2, 255] {
        all.push((format!("number {seq}"), packet(seq, &whole)));
    }
    for len in [0, 1, 31, 32, 33, whole.len() - 1, whole.len() + 1, (1 << 20) + 1, MAX_PAYLOAD] {
        let mut bytes = Header { len, seq: 1 }.bytes().to_vec();
        bytes.extend_from_slice(&whole);
        all.push((format!("a length of {len}"), bytes));
    }
    // Lengths inside: each byte after the fixed part as the largest length there is.
    for at in 32..whole.len() {
        for lie in [
            &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..],
            &[0xFC, 0xFF, 0xFF],
            &[0xFB],
            &[0xFF],
        ] {
            let mut payload = whole.clone();
            payload.splice(at..=at, lie.iter().copied());
            all.push((format!("a lie at {at}"), packet(1, &payload)));
        }
    }
    for low in [0_u32, 1, 0x200, 0xFFFF_FFFF, 0x8000, 0x0800, 0x0A00] {
        let mut payload = whole.clone();
        payload[..4].copy_from_slice(&low.to_le_bytes());
        all.push((format!("capabilities 0x{low:x}"), packet(1, &payload)));
    }
    all.push(("the protocol of 3.23".to_owned(), packet(1, b"\x05\x00\x00\x00\x00app\0abcdefgh\0")));
    all.push(("16 MB of nothing".to_owned(), [packet(1, &vec![0; MAX_PAYLOAD]), packet(2, b"")].concat()));
    all.push(("a command".to_owned(), packet(0, b"\x03SELECT 1")));
    all
}

fn nobody_gets_in(mut watched: Watched) {
    for (what, bytes) in instead_of_a_login() {
        let mut stream = watched.connect();
        greeting(&mut stream);
        let (said, took) = say_and_leave(&mut stream, &bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(took < SOON, "{what}: {took:?}");
        // A request for another proof or an error; an OK packet's payload begins with 0.
        let first = said.get(HEADER).copied();
        assert_ne!(first, Some(0), "{what}: {said:?}");
        assert_eq!(watched.fault(), None, "{what}");
    }
    watched.end();
}

#[test]
fn what_is_no_login_lets_nobody_in_at_mariadb() {
    if let Some(watched) = Watched::mariadb(&["timeouts: {login: 2s, wait: 1s}"]) {
        nobody_gets_in(watched);
    }
}

#[test]
fn what_is_no_login_lets_nobody_in_at_mysql() {
    if let Some(watched) = Watched::mysql(&["timeouts: {login: 2s, wait: 1s}", "pooling: transaction"]) {
        nobody_gets_in(watched);
    }
}

#[test]
fn a_login_of_one_byte_a_second_ends_by_the_timeout() {
    let Some(watched) = Watched::mariadb(&["timeouts: {login: 1s, wait: 1s}"]) else { return };
    let slow: Vec<_> = [packet(1, &response(modern(), &[7; 20])), packet(1, &ssl_request())]
        .into_iter()
        .map(|bytes| {
            let mut stream = watched.connect();
            std::thread::spawn(move || {
                let from = Instant::now();
                greeting(&mut stream);
                for byte in bytes {
                    if stream.write_all(&[byte]).is_err() || from.elapsed() > Duration::from_secs(10) {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
                read_to_end(&mut stream, from).map(|(_, took)| took)
            })
        })
        .collect();
    for slow in slow {
        let took = slow.join().unwrap().unwrap();
        assert!(took < SOON, "{took:?}");
    }
    watched.end();
}

/// After the request for TLS everything that is not TLS ends the connection; what was sent along with it is not taken for a
/// login, neither now nor under TLS.
#[test]
fn garbage_after_the_request_for_tls() {
    let Some(mut watched) = Watched::mariadb(&["timeouts: {login: 2s, wait: 1s}"]) else { return };
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for (what, more) in [
        ("nothing", Vec::new()),
        ("a login in the clear", packet(2, &response(modern(), &[7; 20]))),
        ("a command", packet(0, b"\x03SELECT 1")),
        ("half a hello", hello.to_vec()),
        ("a record of a wrong version", b"\x16\x09\x09\x00\x05hello".to_vec()),
        ("a record that is too long", [&b"\x16\x03\x01\xff\xff"[..], &[0; 70_000]].concat()),
        ("an alert", b"\x15\x03\x01\x00\x02\x02\x28".to_vec()),
        ("noise", (0..5_000_u32).map(|n| ((n * 7_919) >> 3) as u8).collect()),
        ("the request again", packet(2, &ssl_request())),
    ] {
        for together in [true, false] {
            let mut stream = watched.connect();
            greeting(&mut stream);
            let mut bytes = packet(1, &ssl_request());
            if !together {
                stream.write_all(&bytes).unwrap();
                bytes.clear();
                std::thread::sleep(Duration::from_millis(20));
            }
            bytes.extend_from_slice(&more);
            let (said, took) = say_and_leave(&mut stream, &bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(took < SOON, "{what}: {took:?}");
            assert!(
                said.first().is_none_or(|first| *first == 0x15 || said.get(HEADER) == Some(&0xFF)),
                "{what}: {said:?}"
            );
            assert_eq!(watched.fault(), None, "{what}");
        }
    }
    watched.end();
}

/// caching_sha2 without TLS: the key is given to who asks for it, and only the password encrypted with it lets anybody in.
#[test]
fn only_what_the_key_encrypts_is_a_password() {
    let Some(mut watched) = Watched::mysql(&["timeouts: {login: 2s, wait: 1s}"]) else { return };
    let mut payload = Vec::new();
    HandshakeResponse {
        capabilities: modern(),
        max_packet: 1 << 24,
        charset: 45,
        user: b"app",
        auth_response: &[9; 32],
        schema: None,
        plugin: Some(b"caching_sha2_password"),
        raw_attributes: None,
        zstd_level: None,
    }
    .write(&mut payload)
    .unwrap();
    let login = packet(1, &payload);
    for (what, answers) in [
        ("the password in the clear", vec![b"app\0".to_vec()]),
        ("nothing", vec![Vec::new()]),
        ("the key, then the password in the clear", vec![vec![2], b"app\0".to_vec()]),
        ("the key, then nothing", vec![vec![2], Vec::new()]),
        ("the key twice", vec![vec![2], vec![2]]),
        ("the key, then zeroes", vec![vec![2], vec![0; 256]]),
        ("the key, then ones", vec![vec![2], vec![0xFF; 256]]),
        ("the key, then too little", vec![vec![2], vec![1; 255]]),
        ("the key, then too much", vec![vec![2], vec![1; 257]]),
        ("the key, then a lot", vec![vec![2], vec![1; 1 << 16]]),
        ("another byte", vec![vec![3]]),
        ("the packets of a server", vec![vec![1, 3], vec![1, 4], vec![0, 0, 0, 2, 0, 0, 0]]),
    ] {
        let mut stream = watched.connect();
        assert_eq!(greeting(&mut stream).auth_plugin, "caching_sha2_password");
        stream.write_all(&login).unwrap();
        let mut bytes = Vec::new();
        // The proxy's packets take every other number: 2, 4, ….
        for (number, answer) in answers.iter().enumerate() {
            bytes.extend(packet(3 + 2 * number as u8, answer));
        }
        let (said, took) = say_and_leave(&mut stream, &bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(took < SOON, "{what}: {took:?}");
        let mut rest = said.as_slice();
        while let Some(header) = Header::parse(rest) {
            assert_ne!(rest.get(HEADER), Some(&0), "{what}: {said:?}");
            rest = rest.get(HEADER + header.len..).unwrap_or_default();
        }
        assert_eq!(watched.fault(), None, "{what}");
    }
    watched.end();
}
