//! Prepared statements of sessions that share connections: the same packets as on a connection of one's own.

use shuntyard_tests::raw::Client;
use wire::{Command, StmtExecute};

use super::world::{Act, Step, each};

/// Statements that one client has at most.
pub(super) const HANDLES: usize = 3;

/// What is done with a prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Use {
    /// COM_STMT_PREPARE.
    Prepare(String),
    /// COM_STMT_EXECUTE.
    Execute(Given),
    /// COM_STMT_EXECUTE that asks for a cursor.
    Open(Given),
    /// COM_STMT_FETCH of so many rows.
    Fetch(u32),
    /// COM_STMT_SEND_LONG_DATA for the first parameter.
    LongData(&'static str),
    /// COM_STMT_RESET.
    Reset,
    /// COM_STMT_CLOSE.
    Close,
}

/// The parameters of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// None.
    Nothing,
    /// One number, with its type.
    Number(i64),
    /// One text, with its type.
    Text(&'static str),
    /// One value of the type that was sent before: the number's bytes, or the text.
    NumberAgain(i64),
    /// The same.
    TextAgain(&'static str),
    /// What was sent as long data, with its type.
    Sent,
}

/// A client at one server, with its statements.
pub(super) struct Side {
    pub(super) client: Client,
    handles: [u32; HANDLES],
}

impl Side {
    pub(super) fn new(client: Client) -> Self {
        // No server has given this id.
        Self { client, handles: [9_999_999; HANDLES] }
    }

    pub(super) fn act(&mut self, handle: usize, act: &Use) -> Result<Vec<String>, String> {
        let id = self.handles[handle];
        let mut bytes = Vec::new();
        let execute = |flags, given: &Given, bytes: &mut Vec<u8>| {
            let (types, value): (&[u8], Vec<u8>) = match given {
                Given::Nothing => return flags,
                Given::Number(n) => (&[1, 8, 0], n.to_le_bytes().to_vec()),
                Given::Text(text) => (&[1, 253, 0], text_value(text)),
                Given::NumberAgain(n) => (&[0], n.to_le_bytes().to_vec()),
                Given::TextAgain(text) => (&[0], text_value(text)),
                Given::Sent => (&[1, 252, 0], Vec::new()),
            };
            bytes.push(0);
            bytes.extend_from_slice(types);
            bytes.extend(value);
            flags
        };
        let command = match act {
            Use::Prepare(text) => Command::StmtPrepare(text.as_bytes()),
            Use::Execute(given) | Use::Open(given) => {
                let flags = execute(u8::from(matches!(act, Use::Open(_))), given, &mut bytes);
                Command::StmtExecute(StmtExecute { id, flags, iterations: 1, params: &bytes })
            }
            Use::Fetch(rows) => Command::StmtFetch { id, rows: *rows },
            Use::LongData(text) => Command::StmtSendLongData { id, param: 0, data: text.as_bytes() },
            Use::Reset => Command::StmtReset(id),
            Use::Close => Command::StmtClose(id),
        };
        let reply = self.client.whole_reply(&command, id).map_err(|error| error.kind().to_string())?;
        if let Some(id) = reply.prepared {
            self.handles[handle] = id;
        }
        Ok(reply.packets)
    }
}

fn text_value(text: &str) -> Vec<u8> {
    let mut bytes = vec![text.len() as u8];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn prepare(text: &str) -> Use {
    Use::Prepare(text.to_owned())
}

/// Steps of a script: who, which statement, what.
fn statements(steps: &[(usize, usize, Use)]) -> Vec<Step> {
    steps.iter().map(|(at, handle, act)| (*at, Act::Statement(*handle, act.clone()))).collect()
}

fn texts(steps: &[(usize, &str)]) -> Vec<Step> {
    steps.iter().map(|(at, text)| (*at, Act::Query((*text).to_owned()))).collect()
}

/// Runs a script on both servers, with one connection.
fn same(script: &[Step]) {
    for (server, world) in each(1) {
        if let Err(why) = world.run(script) {
            panic!("{server}: {why}");
        }
    }
}

#[test]
fn statements_are_executed_wherever_the_session_is() {
    let mut script = texts(&[(0, "INSERT INTO t0 (v) VALUES (1), (2), (3)")]);
    script.extend(statements(&[
        (0, 0, prepare("SELECT v, ? FROM t0 WHERE v >= ?")),
        (0, 1, prepare("SELECT ? + 1")),
        (1, 0, prepare("SELECT ? + 1")),
        (0, 1, Use::Execute(Given::Number(5))),
        (1, 0, Use::Execute(Given::Text("7"))),
        // The same statement, other types: who leaves them out means their own.
        (0, 1, Use::Execute(Given::NumberAgain(6))),
        (1, 0, Use::Execute(Given::TextAgain("8"))),
        (0, 1, Use::Execute(Given::NumberAgain(7))),
        (1, 0, Use::Close),
        (1, 0, Use::Execute(Given::Number(1))),
        (0, 1, Use::Execute(Given::NumberAgain(8))),
        // Twice the same in one session are two.
        (0, 2, prepare("SELECT ? + 1")),
        (0, 2, Use::Execute(Given::NumberAgain(9))),
        (0, 2, Use::Execute(Given::Text("10"))),
        (0, 1, Use::Execute(Given::NumberAgain(11))),
        (0, 1, Use::Reset),
        (0, 1, Use::Reset),
        (1, 0, Use::Reset),
        (0, 1, prepare("SELECT nosuch")),
        (0, 1, Use::Execute(Given::Nothing)),
    ]));
    same(&script);
}

/// MySQL computes by the kinds of parameters that came before: those of another session are no matter.
#[test]
fn kinds_of_parameters_are_each_sessions_own() {
    let text = "SELECT v FROM t0 WHERE w = ?";
    let mut script = texts(&[
        (0, "ALTER TABLE t0 ADD COLUMN w VARCHAR(10) NOT NULL DEFAULT ''"),
        (0, "INSERT INTO t0 (v, w) VALUES (1, '2'), (2, '02'), (3, '2x')"),
    ]);
    for (at, other) in [(0, 1), (1, 2), (2, 0)] {
        script.extend(statements(&[
            (at, 0, prepare(text)),
            (other, 1, prepare(text)),
            (at, 0, Use::Execute(Given::Number(2))),
            (other, 1, Use::Execute(Given::Text("02"))),
            (at, 0, Use::Execute(Given::NumberAgain(2))),
            (other, 1, Use::Execute(Given::TextAgain("2x"))),
            (other, 0, prepare("SELECT ?")),
            (at, 1, prepare("SELECT ?")),
            (other, 0, Use::Execute(Given::Text("two"))),
            (at, 1, Use::Execute(Given::Number(2))),
            (at, 2, prepare("SELECT ?")),
            (at, 2, Use::Execute(Given::Number(3))),
            (other, 0, Use::Execute(Given::TextAgain("three"))),
            (at, 1, Use::Close),
            (at, 2, Use::Close),
            (other, 0, Use::Close),
        ]));
    }
    same(&script);
}

#[test]
fn a_cursor_and_long_data_keep_their_connection() {
    let mut script = texts(&[(0, "INSERT INTO t0 (v) VALUES (1), (2), (3), (4)")]);
    script.extend(statements(&[
        (0, 0, prepare("SELECT v FROM t0 ORDER BY v")),
        (0, 1, prepare("SELECT CONCAT(?, '!')")),
        (0, 0, Use::Fetch(1)),
        (0, 0, Use::Open(Given::Nothing)),
        (0, 0, Use::Fetch(1)),
        (1, 0, prepare("SELECT v FROM leak.t0 ORDER BY v")),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 0, Use::Fetch(1)),
        (0, 0, Use::Fetch(5)),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 0, Use::Fetch(1)),
        (0, 0, Use::Open(Given::Nothing)),
        (0, 0, Use::Reset),
        // Another one had a cursor on the same statement of the same connection.
        (2, 0, prepare("SELECT v FROM leak.t0 ORDER BY v")),
        (2, 0, Use::Open(Given::Nothing)),
        (2, 0, Use::Reset),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 1, Use::LongData("long ")),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 1, Use::LongData("data")),
        (0, 1, Use::Execute(Given::Sent)),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 1, Use::LongData("lost")),
        (0, 1, Use::Reset),
        (0, 1, Use::Execute(Given::Text("kept"))),
        (0, 2, Use::LongData("nowhere")),
        (0, 2, Use::Fetch(1)),
    ]));
    same(&script);
}

/// MySQL warns at PREPARE of what is deprecated.
#[test]
fn what_a_prepare_warns_of_is_its_sessions_own() {
    let mut script = statements(&[(0, 0, prepare("SELECT SQL_CALC_FOUND_ROWS v FROM t0 LIMIT 1"))]);
    script.extend(texts(&[
        (1, "SELECT 1"),
        (0, "SHOW WARNINGS"),
        (1, "SHOW WARNINGS"),
        (0, "SHOW WARNINGS"),
    ]));
    same(&script);
}

#[test]
fn a_prepare_that_fails_counts_no_rows() {
    let mut script = statements(&[(0, 0, prepare("SELECT 1; SELECT 2"))]);
    script.extend(texts(&[(0, "SELECT ROW_COUNT()")]));
    script.extend(statements(&[(0, 0, prepare("SELECT nosuch"))]));
    script.extend(texts(&[(1, "SELECT 1"), (0, "SELECT ROW_COUNT()")]));
    same(&script);
}

/// MySQL tells no warnings then, and none at the next command without a text.
#[test]
fn a_reset_of_a_statement_counts_no_warnings() {
    let mut script = statements(&[(0, 0, prepare("SELECT 1"))]);
    script.extend(texts(&[(0, "SELECT nosuch")]));
    script.extend(statements(&[(0, 0, Use::Reset)]));
    script.push((0, Act::InitDb("other")));
    script.extend(texts(&[(0, "SHOW WARNINGS"), (0, "SELECT 1/0")]));
    script.extend(statements(&[(0, 0, Use::Reset)]));
    script.extend(texts(&[(0, "SHOW WARNINGS"), (1, "SELECT 1"), (0, "SHOW WARNINGS")]));
    same(&script);
}

/// Parts of a value are with what the server has of a statement: the execution goes there, whatever kind it is of, and who
/// does not execute leaves nothing.
#[test]
fn long_data_is_its_sessions_own() {
    let text = "SELECT CONCAT(?, '!')";
    same(&statements(&[
        (0, 0, prepare(text)),
        (0, 0, Use::Execute(Given::Text("short"))),
        (0, 0, Use::LongData("long")),
        (0, 0, Use::Execute(Given::Sent)),
        (1, 0, prepare(text)),
        (1, 0, Use::LongData("another")),
        (1, 0, Use::Execute(Given::Sent)),
        (2, 0, prepare(text)),
        (2, 0, Use::LongData("secret")),
        (2, 0, Use::Close),
        (1, 0, Use::Execute(Given::Text("mine"))),
        (0, 0, Use::Execute(Given::Text("his"))),
        (0, 0, Use::LongData("secret")),
        (0, 0, Use::Reset),
        (1, 0, Use::Execute(Given::TextAgain("mine again"))),
        (0, 0, Use::Execute(Given::TextAgain("his again"))),
    ]));
}

/// The server keeps SQL mode, character set and schema with a statement.
#[test]
fn a_statement_remembers_what_it_was_prepared_under() {
    let mut script = texts(&[(0, "SET sql_mode = 'ANSI_QUOTES'"), (0, "SET NAMES latin1")]);
    script.extend(statements(&[(0, 0, prepare("SELECT 'a' AS \"q\", ?, COLLATION('x')"))]));
    script.extend(texts(&[
        (0, "SET sql_mode = ''"),
        (0, "SET NAMES utf8mb4"),
        (0, "USE other"),
        (1, "SELECT 1"),
        (1, "SET sql_mode = DEFAULT"),
    ]));
    script.extend(statements(&[
        (0, 0, Use::Execute(Given::Text("x"))),
        (0, 1, prepare("SELECT * FROM t")),
        (1, 0, prepare("SELECT * FROM t")),
        (0, 1, Use::Execute(Given::Nothing)),
    ]));
    script.extend(texts(&[(0, "USE leak"), (1, "SELECT 1"), (0, "SELECT DATABASE(), @@sql_mode")]));
    script.extend(statements(&[
        (0, 1, Use::Execute(Given::Nothing)),
        (0, 0, Use::Execute(Given::TextAgain("y"))),
        (0, 2, prepare("SELECT * FROM t")),
    ]));
    script.push((0, Act::Query("SELECT DATABASE(), @@sql_mode, @@character_set_client".to_owned())));
    same(&script);
}

#[test]
fn a_table_changes_or_goes_under_a_statement() {
    let mut script = texts(&[(0, "CREATE TABLE gone (a INT)"), (0, "INSERT INTO gone VALUES (1)")]);
    script.extend(statements(&[
        (0, 0, prepare("SELECT * FROM gone")),
        (1, 0, prepare("SELECT * FROM gone")),
        (0, 0, Use::Execute(Given::Nothing)),
    ]));
    script.extend(texts(&[(1, "ALTER TABLE gone ADD COLUMN b INT DEFAULT 2")]));
    script.extend(statements(&[
        (0, 0, Use::Execute(Given::Nothing)),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 1, prepare("SELECT * FROM gone")),
        (0, 1, Use::Execute(Given::Nothing)),
    ]));
    script.extend(texts(&[(2, "DROP TABLE gone"), (0, "SET sort_buffer_size = 300000")]));
    script.extend(statements(&[
        (0, 0, Use::Execute(Given::Nothing)),
        (1, 0, Use::Execute(Given::Nothing)),
        (0, 1, Use::Execute(Given::Nothing)),
    ]));
    script.push((0, Act::Reset));
    script.extend(statements(&[(0, 0, Use::Execute(Given::Nothing)), (0, 0, prepare("SELECT 1"))]));
    same(&script);
}

/// What a statement leaves is its session's, prepared or not.
#[test]
fn what_prepared_statements_leave_is_their_sessions() {
    let mut script = statements(&[
        (0, 0, prepare("INSERT INTO t0 (v) VALUES (?)")),
        (0, 1, prepare("SELECT LAST_INSERT_ID()")),
        (1, 0, prepare("INSERT INTO t1 (v, s) VALUES (?, 'far too long')")),
        (0, 0, Use::Execute(Given::Number(5))),
        (1, 0, Use::Execute(Given::Number(6))),
        (0, 1, Use::Execute(Given::Nothing)),
        (1, 1, prepare("SELECT LAST_INSERT_ID()")),
        (1, 1, Use::Execute(Given::Nothing)),
        (0, 0, Use::Execute(Given::NumberAgain(5))),
    ]);
    script.extend(texts(&[(1, "SELECT 1"), (0, "SHOW WARNINGS"), (0, "BEGIN")]));
    script.extend(statements(&[
        (0, 0, Use::Execute(Given::NumberAgain(9))),
        (0, 1, Use::Execute(Given::Nothing)),
    ]));
    script.extend(texts(&[(0, "ROLLBACK"), (1, "SELECT 1"), (0, "SELECT v FROM t0")]));
    script.extend(statements(&[(2, 0, prepare("SET @a = ?")), (2, 0, Use::Execute(Given::Number(4)))]));
    script.extend(texts(&[(3, "SELECT @a"), (2, "SELECT @a")]));
    same(&script);
}
