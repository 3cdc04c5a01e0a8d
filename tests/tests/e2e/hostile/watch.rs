//! A proxy under watch: alive, silent about panics, of bounded memory, without sessions that nobody has, and right to others.

use std::any::Any;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use router::compare::{Answer, Outcome, Value};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, modern};

/// How much memory misbehaviour may cost, in bytes.
const GROWTH: u64 = 48 << 20;
/// How long sessions may outlive their clients.
const LINGER: Duration = Duration::from_secs(10);

/// What the witness has set, and reads back whatever others do.
const STATE: &str = "+07:00";

/// The proxy and somebody who behaves.
pub(super) struct Watched {
    pub(super) proxy: Proxy,
    witness: Client,
    before: u64,
    _server: Box<dyn Any + Send + Sync>,
}

impl Watched {
    /// A proxy before a server that stays as long as `keep`, with further lines of configuration.
    pub(super) fn start(setup: Setup, lines: &[&str], keep: Box<dyn Any + Send + Sync>) -> Watched {
        let setup = lines.iter().fold(setup, |setup, line| setup.line(line));
        let proxy = setup.line("log: {level: warn}").start();
        let mut witness = Client::login(&proxy.server(), Some("mysql"), modern()).unwrap();
        witness.query(format!("SET time_zone = '{STATE}'").as_bytes()).unwrap();
        // What the first sessions cost is no growth.
        for _ in 0..4 {
            Client::login(&proxy.server(), Some("mysql"), modern()).unwrap().query(b"SELECT 1").unwrap();
        }
        let before = proxy.process.memory();
        Watched { proxy, witness, before, _server: keep }
    }

    /// One before a MariaDB.
    pub(super) fn mariadb(lines: &[&str]) -> Option<Watched> {
        let server = MariaDb::shared()?;
        Some(Watched::start(Setup::mariadb(server.port()), lines, Box::new(server)))
    }

    /// One before a MySQL.
    pub(super) fn mysql(lines: &[&str]) -> Option<Watched> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = runtime.block_on(MySql::shared())?;
        Some(Watched::start(Setup::mysql(server.port()), lines, Box::new(server)))
    }

    pub(super) fn server(&self) -> Server {
        self.proxy.server()
    }

    /// A connection that has said nothing yet.
    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.proxy.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Whether all is well so far; cheap.
    pub(super) fn fault(&mut self) -> Option<String> {
        if let Some(status) = self.proxy.process.ended() {
            return Some(format!("the proxy ended: {status}\n{}", self.proxy.process.log()));
        }
        let log = self.proxy.process.log();
        if log.contains("panicked") {
            return Some(log);
        }
        let right = [Value::Bytes(STATE.into()), Value::Bytes("mysql".into())];
        match self.witness.query(b"SELECT @@time_zone, DATABASE()").map(row) {
            Ok(Some(row)) if row == right => None,
            other => Some(format!("the witness got {other:?}")),
        }
    }

    /// All is well, and nothing is left behind.
    pub(super) fn end(mut self) {
        assert_eq!(self.fault(), None);
        let from = Instant::now();
        loop {
            let sessions = self.witness.query(b"SELECT COUNT(*) FROM shuntyard.sessions").unwrap();
            if row(sessions.clone()) == Some(vec![Value::Bytes("1".into())]) {
                break;
            }
            assert!(from.elapsed() < LINGER, "sessions are left: {sessions:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
        let grown = self.proxy.process.memory().saturating_sub(self.before);
        assert!(grown < GROWTH, "{} KiB more memory", grown / 1024);
        // Who comes now is served.
        let mut next = Client::login(&self.server(), Some("mysql"), modern()).unwrap();
        assert_eq!(row(next.query(b"SELECT 5").unwrap()), Some(vec![Value::Bytes("5".into())]));
    }
}

fn row(answer: Answer) -> Option<Vec<Value>> {
    match answer.results.into_iter().next()? {
        Outcome::Rows(set) => set.rows.into_iter().next(),
        _ => None,
    }
}

/// Sends bytes, says that no more come, and reads to the end; what was read, and how long it took.
///
/// # Errors
/// When the other side does not end it within the stream's timeout.
pub(super) fn say_and_leave(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<(Vec<u8>, Duration)> {
    let from = Instant::now();
    // It may be closed while we still speak.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(stream, from)
}

/// Reads to the end.
pub(super) fn read_to_end(stream: &mut TcpStream, from: Instant) -> io::Result<(Vec<u8>, Duration)> {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => Ok((rest, from.elapsed())),
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
            Ok((rest, from.elapsed()))
        }
        Err(error) => Err(error),
    }
}
