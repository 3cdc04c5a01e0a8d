//! A client that writes down every packet it gets.

use shuntyard_tests::client::Server;
use shuntyard_tests::raw::Client;
use wire::reply::{EOF, ERR, OK};
use wire::{Capabilities, Command, EofPacket, OkPacket, Status, StmtExecute};

/// A conversation. What differs from run to run by its nature (ids of statements, texts of statistics) is left out of what is
/// written down.
pub(super) struct Talk {
    pub(super) client: Client,
    /// Where it logged in.
    pub(super) server: Server,
    seen: Vec<String>,
}

impl Talk {
    /// Logs in, runs a script, and returns what was seen.
    pub(super) fn record(server: &Server, wanted: Capabilities, script: &impl Fn(&mut Talk)) -> Vec<String> {
        let client = Client::login(server, None, wanted).unwrap();
        let mut talk = Talk { client, server: server.clone(), seen: Vec::new() };
        script(&mut talk);
        talk.seen
    }

    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.seen.push(what.into());
    }

    /// The next packet, noted.
    pub(super) fn packet(&mut self) -> Vec<u8> {
        let packet = self.client.packet().unwrap();
        self.note(shown(&packet));
        packet
    }

    pub(super) fn query(&mut self, sql: &str) {
        self.note(format!("> {sql}"));
        self.client.send(&Command::Query(wire::Query::new(sql.as_bytes()))).unwrap();
        self.results();
    }

    /// Runs a statement that is no part of what is compared.
    pub(super) fn quietly(&mut self, sql: &str) {
        let answer = self.client.query(sql.as_bytes()).unwrap();
        let failed =
            answer.results.iter().find(|result| matches!(result, router::compare::Outcome::Failed(_)));
        assert!(failed.is_none(), "{sql}: {failed:?}");
    }

    /// Sends a command and notes the one packet that answers it.
    pub(super) fn simple(&mut self, command: &Command<'_>) -> Vec<u8> {
        self.note(format!("> command {}", command.byte()));
        self.client.send(command).unwrap();
        self.packet()
    }

    /// Prepares; the id is not noted.
    pub(super) fn prepare(&mut self, sql: &str) -> Option<u32> {
        self.note(format!("> prepare {sql}"));
        self.client.send(&Command::StmtPrepare(sql.as_bytes())).unwrap();
        let head = self.client.packet().unwrap();
        if head.first() == Some(&ERR) {
            self.note(head.escape_ascii().to_string());
            return None;
        }
        self.note(head[5..].escape_ascii().to_string());
        let number = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        for definitions in [number(7), number(5)] {
            for _ in 0..definitions {
                self.packet();
            }
            if definitions > 0 && !self.deprecates_eof() {
                assert_eq!(self.client.packet().unwrap().first(), Some(&EOF));
            }
        }
        Some(u32::from_le_bytes([head[1], head[2], head[3], head[4]]))
    }

    /// Executes, and notes the results.
    pub(super) fn execute(&mut self, id: u32, flags: u8, params: &[u8]) {
        self.note(format!("> execute {flags} {}", params.escape_ascii()));
        self.client.send(&Command::StmtExecute(StmtExecute { id, flags, iterations: 1, params })).unwrap();
        self.results();
    }

    /// Notes results to their end.
    pub(super) fn results(&mut self) {
        loop {
            let head = self.packet();
            let status = match head.first() {
                Some(&OK) => self.ok(&head),
                Some(&ERR) => return,
                Some(&EOF) if head.len() < 9 => EofPacket::parse(&head).unwrap().status,
                _ => {
                    let columns = wire::codec::Reader::new(&head).lenenc().unwrap();
                    for _ in 0..columns {
                        self.packet();
                    }
                    let mut cursor = false;
                    if !self.deprecates_eof() {
                        // Here a server tells flags that the proxy learns at the result's end only; nobody reads them.
                        let eof = self.client.packet().unwrap();
                        cursor = EofPacket::parse(&eof).unwrap().status.contains(Status::CURSOR_EXISTS);
                        self.note(format!("end of columns, cursor: {cursor}"));
                    }
                    if cursor { Status::empty() } else { self.rows() }
                }
            };
            if !status.contains(Status::MORE_RESULTS_EXISTS) {
                return;
            }
        }
    }

    /// Notes rows, and what ends them.
    pub(super) fn rows(&mut self) -> Status {
        loop {
            let packet = self.packet();
            match packet.first() {
                Some(&ERR) => return Status::empty(),
                Some(&EOF) if packet.len() < 9 && !self.deprecates_eof() => {
                    return EofPacket::parse(&packet).unwrap().status;
                }
                Some(&EOF) if self.deprecates_eof() => return self.ok(&packet),
                _ => {}
            }
        }
    }

    /// Whether the server still answers; noted.
    pub(super) fn lives(&mut self) -> bool {
        let answer = self.client.send(&Command::Ping).and_then(|()| self.client.packet());
        self.note(format!("answers: {}", answer.is_ok()));
        answer.is_ok()
    }

    fn ok(&self, packet: &[u8]) -> Status {
        OkPacket::parse(packet, self.client.capabilities()).unwrap().status
    }

    pub(super) fn deprecates_eof(&self) -> bool {
        self.client.capabilities().contains(Capabilities::DEPRECATE_EOF)
    }

    /// Another session runs a statement of its own in between, on the same connection where they are shared.
    pub(super) fn interlude(&mut self) {
        let mut other = Client::login(&self.server, None, self.client.capabilities()).unwrap();
        other.query(b"SELECT 1 FROM (SELECT 2) t WHERE 0").unwrap();
        other.query(b"SELECT 1/0").unwrap();
    }
}

/// A packet as text. A client that is not told of changes of its session's state has no use for the flag that says that they
/// follow. Errors name a statement's number in parentheses, which the connection has counted.
fn shown(packet: &[u8]) -> String {
    if let [EOF, a, b, low, high] = *packet {
        let status =
            Status::from_bits_retain(u16::from_le_bytes([low, high])) - Status::SESSION_STATE_CHANGED;
        let [low, high] = status.bits().to_le_bytes();
        return [EOF, a, b, low, high].escape_ascii().to_string();
    }
    let text = packet.escape_ascii().to_string();
    match (packet.first(), text.find('('), text.find(')')) {
        (Some(&ERR), Some(start), Some(end)) if start < end => {
            format!("{}(…{}", &text[..start], &text[end..])
        }
        _ => text,
    }
}
