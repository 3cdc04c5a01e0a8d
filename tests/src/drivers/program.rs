//! Drivers of other languages: a program of `drivers/` that takes requests, one JSON object a line, and answers each.
//!
//! A request names a `session` (a number) and what to `do`: `open` (port, user, password, schema, charset, found_rows,
//! multi, local_infile, files, binary), `run` (sql, or raw as hexadecimal where it is not UTF-8; params; prepare;
//! handle), `ping`, `reset`, `use`, `change_user`, `forget` (handle), `close`. An answer is what [`report::answer`] reads.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use router::compare::{Answer, Outcome};
use serde_json::{Value as Json, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::walk::{Driver, walk};
use super::{Place, Protocol};
use crate::machine;
use crate::report::{self, Report};
use crate::script::{Connect, Statement};

/// A program and what runs it.
#[derive(Debug)]
pub(super) struct Language {
    /// Names in the script: of both protocols, of the text protocol, of the binary one.
    names: [&'static str; 3],
    /// The interpreter and its arguments.
    command: &'static [&'static str],
    /// File of `drivers/`.
    program: &'static str,
    /// Files without which it cannot run; relative ones are of the project.
    needs: &'static [&'static str],
}

pub(super) static NODE: Language = Language {
    names: ["mysql2", "mysql2:text", "mysql2:binary"],
    command: &["node"],
    program: "node/run_mysql2.js",
    needs: &[".deps/node/node_modules/mysql2/package.json"],
};

pub(super) static JAVA: Language = Language {
    names: ["connector-j", "connector-j:text", "connector-j:binary"],
    command: &[
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        "/usr/share/java/mariadb-java-client.jar:/usr/share/java/gson.jar",
    ],
    program: "RunConnectorJ.java",
    needs: &["/usr/share/java/mariadb-java-client.jar", "/usr/share/java/gson.jar"],
};

pub(super) static PHP: Language = Language {
    names: ["mysqli", "mysqli:text", "mysqli:binary"],
    command: &["php", "-d", "memory_limit=-1", "-d", "mysqli.allow_local_infile=1"],
    program: "run_mysqli.php",
    needs: &[],
};

impl Language {
    /// Whether this machine has what it needs, as `tools/drivers` judges it.
    pub(super) fn is_there(&self) -> bool {
        let (program, arguments) = self.probe();
        self.needs.iter().all(|file| machine::project(file).is_file())
            && Command::new(program)
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
    }

    fn probe(&self) -> (&'static str, &'static [&'static str]) {
        match self.command[0] {
            "php" => ("php", &["-r", "exit(extension_loaded('mysqli') ? 0 : 1);"]),
            "java" => ("javac", &["-version"]),
            other => (other, &["--version"]),
        }
    }
}

pub(super) async fn run(language: &'static Language, protocol: Protocol, place: &Place<'_>) -> Report {
    let mut program = Program::start(language, protocol, place);
    walk(&mut program, place).await
}

/// A running program.
struct Program<'a> {
    place: &'a Place<'a>,
    protocol: Protocol,
    names: [&'static str; 2],
    child: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    errors: NamedTempFile,
    sessions: u32,
}

impl<'a> Program<'a> {
    fn start(language: &'static Language, protocol: Protocol, place: &'a Place<'a>) -> Program<'a> {
        let [name, text, binary] = language.names;
        let names = [name, if protocol == Protocol::Binary { binary } else { text }];
        let errors = NamedTempFile::new().expect("a temporary file can be made");
        let (interpreter, arguments) = language.command.split_first().expect("a command has a program");
        let mut child = tokio::process::Command::new(interpreter)
            .args(arguments)
            .arg(machine::project("tests/drivers").join(language.program))
            .env("NODE_PATH", machine::project(".deps/node/node_modules"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.reopen().expect("a file can be shared"))
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|e| panic!("{interpreter} does not start: {e}"));
        let requests = child.stdin.take().expect("the input is piped");
        let answers = BufReader::new(child.stdout.take().expect("the output is piped")).lines();
        Program { place, protocol, names, child, requests, answers, errors, sessions: 0 }
    }

    async fn ask(&mut self, request: &Json) -> Answer {
        let mut line = request.to_string();
        line.push('\n');
        let sent = self.requests.write_all(line.as_bytes()).await;
        let answer = self.answers.next_line().await;
        let (Ok(()), Ok(Some(answer))) = (sent, answer) else {
            let _ = self.child.start_kill();
            let errors = std::fs::read_to_string(self.errors.path()).unwrap_or_default();
            let shown: String = line.chars().take(400).collect();
            panic!("{} broke down at {shown}\n{errors}", self.names[1]);
        };
        report::answer(&serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{e}: {answer}")))
    }
}

impl Driver for Program<'_> {
    type Session = u32;

    fn names(&self) -> &[&str] {
        &self.names
    }

    async fn open(&mut self, connect: &Connect) -> Result<u32, Outcome> {
        self.sessions += 1;
        let Place { script, server, files, .. } = self.place;
        let files: Vec<PathBuf> = script.file_paths(files);
        let request = json!({
            "do": "open", "session": self.sessions,
            "port": server.port, "user": server.account.user, "password": server.account.password,
            "schema": connect.schema, "charset": connect.charset, "found_rows": connect.found_rows,
            "multi": connect.multi, "local_infile": connect.local_infile, "files": files,
            "binary": self.protocol == Protocol::Binary,
        });
        match self.ask(&request).await.results.into_iter().next() {
            Some(refused) => Err(refused),
            None => Ok(self.sessions),
        }
    }

    async fn run(&mut self, session: &mut u32, statement: &Statement, text: &[u8]) -> Answer {
        let mut request = json!({
            "do": "run", "session": session, "params": statement.params.as_deref().map(parameters),
            "prepare": self.protocol == Protocol::Binary && statement.preparable, "handle": statement.handle,
        });
        match std::str::from_utf8(text) {
            Ok(text) => request["sql"] = text.into(),
            Err(_) => request["raw"] = hex(text).into(),
        }
        self.ask(&request).await
    }

    async fn command(&mut self, session: &mut u32, what: &str, schema: &str) -> Option<Outcome> {
        let account = &self.place.server.account;
        let schema = if what == "change_user" { &self.place.script.schema } else { schema };
        let request = json!({
            "do": what, "session": session, "schema": schema, "user": account.user, "password": account.password,
        });
        self.ask(&request).await.results.into_iter().next()
    }

    async fn forget(&mut self, session: &mut u32, handle: &str) {
        self.ask(&json!({"do": "forget", "session": session, "handle": handle})).await;
    }

    async fn close(&mut self, session: u32) {
        self.ask(&json!({"do": "close", "session": session})).await;
    }
}

/// Integers as text: not every language reads 64 bits from JSON.
fn parameters(params: &[Json]) -> Vec<Json> {
    let exact = |param: &Json| match param {
        Json::Number(n) if !n.is_f64() => json!({"int": n.to_string()}),
        other => other.clone(),
    };
    params.iter().map(exact).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
