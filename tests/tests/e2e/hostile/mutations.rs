//! Valid conversations with a few bytes changed, thousands of them: seeded, a few at a time, and shrunk when one does harm.
//!
//! `MUTATION_SECONDS` says how long it runs for each kind of proxy, `MUTATION_SEED` where it begins.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use shuntyard_tests::client::Server;
use shuntyard_tests::generator::Random;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw::{Client, modern};
use wire::packet::{self, HEADER, Header};
use wire::{Command, HandshakeResponse, StmtExecute};

use super::watch::Watched;

/// Conversations at once.
const AT_ONCE: u64 = 8;
/// How long nothing has to come until an answer is taken for complete.
const QUIET: Duration = Duration::from_millis(15);

/// Who cannot shut a server down, whatever the bytes come to say.
const READER: &str = "reader";

/// Where a conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Login,
    Commands,
}

/// One change to a conversation's bytes; places are taken modulo what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Set(usize, u8),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize),
    /// Another length in a packet's header.
    Length(usize, usize),
    /// Another number in a packet's header.
    Number(usize, u8),
    /// A packet is left out, or comes twice.
    Drop(usize),
    Twice(usize),
    /// Two packets change places.
    Swap(usize, usize),
    Cut(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Conversation {
    from: From,
    changes: Vec<Change>,
    /// Sent in one piece, or cut into pieces of so many bytes.
    pieces: usize,
}

fn conversation(seed: u64) -> Conversation {
    const BYTES: [u8; 14] = [0, 1, 2, 3, 0x0e, 0x11, 0x16, 0x17, 0x18, 0xFA, 0xFB, 0xFC, 0xFE, 0xFF];
    let mut random = Random::new(seed);
    let from = if random.chance(30) { From::Login } else { From::Commands };
    let byte = |random: &mut Random| match random.chance(50) {
        true => *random.pick(&BYTES),
        false => random.below(256) as u8,
    };
    let changes = (0..1 + random.below(4))
        .map(|_| {
            let at = random.below(1 << 16);
            match random.below(16) {
                0..=4 => Change::Set(at, byte(&mut random)),
                5 => Change::Remove(at, 1 + random.below(9)),
                6..=7 => {
                    let bytes = (0..1 + random.below(9)).map(|_| byte(&mut random)).collect();
                    Change::Insert(at, bytes)
                }
                8 => Change::Repeat(at, 1 + random.below(300)),
                9..=10 => Change::Length(
                    at,
                    *random.pick(&[0, 1, 2, 5, 250, 65_536, 1 << 20, (1 << 20) + 1, 0xFF_FFFF]),
                ),
                11 => Change::Number(at, byte(&mut random)),
                12 => Change::Drop(at),
                13 => Change::Twice(at),
                14 => Change::Swap(at, random.below(1 << 16)),
                _ => Change::Cut(at),
            }
        })
        .collect();
    let pieces = if random.chance(20) { 1 + random.below(40) } else { usize::MAX };
    Conversation { from, changes, pieces }
}

/// The packets of a valid conversation of commands.
fn commands() -> Vec<Vec<u8>> {
    let params = [&[0, 1, 3, 0, 253, 0][..], b"\x05\0\0\0\x03abc"].concat();
    let long = vec![b'l'; 300];
    let commands = [
        Command::Query(wire::Query::new(b"SELECT 1, 'x', NULL")),
        Command::InitDb(b"mysql"),
        Command::StmtPrepare(b"SELECT ?, CONCAT(?, 'y')"),
        Command::StmtExecute(StmtExecute { id: 1, flags: 0, iterations: 1, params: &params }),
        Command::StmtSendLongData { id: 1, param: 1, data: &long },
        Command::StmtExecute(StmtExecute {
            id: 1,
            flags: 1,
            iterations: 1,
            params: b"\0\x01\x03\0\xfd\0\x05\0\0\0",
        }),
        Command::StmtFetch { id: 1, rows: 2 },
        Command::StmtReset(1),
        Command::Query(wire::Query::new(b"SET NAMES latin1; SELECT @@sql_mode; SELECT nosuch")),
        Command::FieldList { table: b"user", wildcard: b"U%" },
        Command::Ping,
        Command::Statistics,
        Command::SetOption(1),
        Command::Query(wire::Query::new(b"BEGIN")),
        Command::Query(wire::Query::new(
            b"SELECT a.host FROM (SELECT host FROM user) AS a ORDER BY a.host LIMIT 2",
        )),
        Command::Query(wire::Query::new(b"ROLLBACK")),
        Command::StmtClose(1),
        Command::ResetConnection,
        Command::Query(wire::Query::new(b"SHOW WARNINGS")),
        Command::Quit,
    ];
    commands
        .iter()
        .map(|command| {
            let (mut out, mut seq) = (Vec::new(), 0);
            packet::build(&mut out, &mut seq, |out| command.write(modern(), out));
            out
        })
        .collect()
}

/// The packets of a login with an answer that is not right, and what comes after it.
fn login() -> Vec<Vec<u8>> {
    let mut payload = Vec::new();
    let response = HandshakeResponse {
        capabilities: modern() | wire::Capabilities::CONNECT_ATTRS,
        max_packet: 1 << 24,
        charset: 45,
        user: READER.as_bytes(),
        auth_response: &[5; 20],
        schema: Some(b"mysql"),
        plugin: Some(b"mysql_native_password"),
        raw_attributes: Some(b"\x04_pid\x0212\x0c_client_name\x04test"),
        zstd_level: None,
    };
    response.write(&mut payload).unwrap();
    let (mut first, mut seq) = (Vec::new(), 1);
    packet::write(&mut first, &mut seq, &payload);
    let (mut second, mut seq) = (Vec::new(), 3);
    packet::write(&mut second, &mut seq, &[6; 20]);
    vec![first, second]
}

impl Conversation {
    fn bytes(&self) -> Vec<u8> {
        let mut packets = match self.from {
            From::Login => login(),
            From::Commands => commands(),
        };
        for change in &self.changes {
            let count = packets.len().max(1);
            match change {
                Change::Drop(at) if !packets.is_empty() => drop(packets.remove(at % count)),
                Change::Twice(at) if !packets.is_empty() => {
                    let again = packets[at % count].clone();
                    packets.insert(at % count, again);
                }
                Change::Swap(a, b) if !packets.is_empty() => packets.swap(a % count, b % count),
                Change::Length(at, len) if !packets.is_empty() => {
                    let packet = &mut packets[at % count];
                    if let Some(Header { seq, .. }) = Header::parse(packet) {
                        packet[..HEADER].copy_from_slice(&Header { len: *len, seq }.bytes());
                    }
                }
                Change::Number(at, seq) if !packets.is_empty() => {
                    if let Some(place) = packets[at % count].get_mut(3) {
                        *place = *seq;
                    }
                }
                other => {
                    let Some(packet) = packets.get_mut(place(other) / 7 % count) else { continue };
                    change_bytes(packet, other);
                }
            }
        }
        packets.concat()
    }

    /// Has it, and waits until nothing comes any more.
    fn run(&self, server: &Server) {
        let Some(mut stream) = self.begin(server) else { return };
        let _ = stream.set_read_timeout(Some(QUIET));
        let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
        for piece in self.bytes().chunks(self.pieces) {
            if stream.write_all(piece).is_err() {
                return;
            }
        }
        let mut answer = [0; 4096];
        while stream.read(&mut answer).is_ok_and(|read| read > 0) {}
    }

    fn begin(&self, server: &Server) -> Option<TcpStream> {
        match self.from {
            From::Login => {
                let mut stream = TcpStream::connect(("127.0.0.1", server.port)).ok()?;
                // Every greeting is longer.
                let mut greeting = [0; 64];
                stream.read_exact(&mut greeting).ok()?;
                Some(stream)
            }
            From::Commands => {
                let reader = server.as_user(READER, READER);
                Client::login(&reader, Some("mysql"), modern()).ok()?.stream().try_clone().ok()
            }
        }
    }
}

fn place(change: &Change) -> usize {
    match change {
        Change::Set(at, _) | Change::Remove(at, _) | Change::Insert(at, _) | Change::Repeat(at, _) => *at,
        Change::Length(at, _) | Change::Number(at, _) | Change::Drop(at) | Change::Twice(at) => *at,
        Change::Swap(at, _) | Change::Cut(at) => *at,
    }
}

fn change_bytes(packet: &mut Vec<u8>, change: &Change) {
    let len = packet.len();
    if len == 0 {
        return;
    }
    match change {
        Change::Set(at, byte) => packet[at % len] = *byte,
        Change::Remove(at, count) => drop(packet.drain(at % len..(at % len + count).min(len))),
        Change::Insert(at, bytes) => drop(packet.splice(at % len..at % len, bytes.iter().copied())),
        Change::Repeat(at, count) => {
            let byte = packet[at % len];
            packet.splice(at % len..at % len, std::iter::repeat_n(byte, *count));
        }
        Change::Cut(at) => packet.truncate(at % len),
        _ => {}
    }
}

/// Leaves out whatever is not needed for the harm, each time before a proxy of its own.
fn shrink(start: &dyn Fn() -> Watched, guilty: Vec<Conversation>) -> (Vec<Conversation>, String) {
    let harms = |conversations: &[Conversation]| {
        let mut watched = start();
        conversations.iter().for_each(|conversation| conversation.run(&watched.server()));
        std::thread::sleep(Duration::from_millis(200));
        watched.fault()
    };
    let mut least = guilty;
    let Some(mut why) = harms(&least) else { return (least, "only together, at once".to_owned()) };
    let mut at = 0;
    while at < least.len() {
        let mut less = least.clone();
        less.remove(at);
        match harms(&less) {
            Some(reason) => (least, why) = (less, reason),
            None => at += 1,
        }
    }
    for number in 0..least.len() {
        let mut at = 0;
        while at < least[number].changes.len() {
            let mut less = least.clone();
            less[number].changes.remove(at);
            match harms(&less) {
                Some(reason) => (least, why) = (less, reason),
                None => at += 1,
            }
        }
    }
    (least, why)
}

#[test]
fn changed_conversations_harm_nobody() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual);
    let time = Duration::from_secs(number("MUTATION_SECONDS", 8));
    for pooling in ["session", "transaction"] {
        let Some(server) = MariaDb::start(&[]) else { return };
        let server = std::sync::Arc::new(server);
        let start = || {
            let setup = Setup::mariadb(server.port())
                .line(&format!("pooling: {pooling}"))
                .line("limits: {statements_per_backend: 2}");
            Watched::start(setup, &["timeouts: {login: 1s, wait: 1s}"], Box::new(server.clone()))
        };
        let mut watched = start();
        let (mut seed, until) = (number("MUTATION_SEED", 1), Instant::now() + time);
        let mut count = 0;
        while Instant::now() < until {
            let batch: Vec<Conversation> = (seed..seed + AT_ONCE).map(conversation).collect();
            std::thread::scope(|scope| {
                for conversation in &batch {
                    let server = watched.server();
                    scope.spawn(move || conversation.run(&server));
                }
            });
            if let Some(fault) = watched.fault() {
                let (least, why) = shrink(&start, batch);
                panic!("{pooling}, from seed {seed}: {fault}\nleast: {least:#?}\n{why}");
            }
            seed += AT_ONCE;
            count += AT_ONCE;
        }
        eprintln!("{pooling}: {count} conversations, no harm done");
        watched.end();
    }
}
