//! One run of the script through one driver.

use std::path::Path;
use std::process::Command;

use mysql_async::prelude::Queryable;
use mysql_async::{ChangeUserOpts, Conn, Opts, Params, WhiteListFsHandler};
use router::compare::{Answer, Outcome};
use wire::Capabilities;

use crate::client::{self, Server};
use crate::report::{Case, Report, Step as Ran};
use crate::script::{self, Connect, Script, Step};
use crate::{machine, raw};

/// A driver that runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// A Python program of `drivers/` and its `--driver`.
    Python(&'static str, &'static str),
    /// `mysql_async`.
    Async(Protocol),
    /// Packets, with EOF packets and without session tracking, or as clients of today.
    Raw(Age),
}

/// Which protocol statements take where they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// COM_QUERY.
    Text,
    /// COM_STMT_PREPARE and COM_STMT_EXECUTE.
    Binary,
}

/// What a raw client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Neither DEPRECATE_EOF nor SESSION_TRACK.
    Classic,
    /// Both.
    Modern,
}

/// Runs the script at `server`, which is (or stands before) a `mariadb` or a `mysql`.
///
/// # Panics
/// When the driver breaks down.
pub async fn run(driver: Driver, server: &Server, product: &str, files: &Path) -> Report {
    let script = Script::load();
    script.write_files(files);
    match driver {
        Driver::Python(program, name) => {
            let (server, product) = (server.clone(), product.to_owned());
            let files = files.to_owned();
            let run = move || python(program, name, &server, &product, &files);
            tokio::task::spawn_blocking(run).await.expect("a driver's report")
        }
        Driver::Async(protocol) => {
            fresh(&script, server).await;
            by_async(&script, protocol, server, product, files).await
        }
        Driver::Raw(age) => {
            fresh(&script, server).await;
            let (server, product) = (server.clone(), product.to_owned());
            let files = files.to_owned();
            let run = move || by_packets(&script, age, &server, &product, &files);
            tokio::task::spawn_blocking(run).await.expect("a driver's report")
        }
    }
}

/// The schema of the script, empty.
async fn fresh(script: &Script, server: &Server) {
    let mut conn = server.connect().await;
    let schema = &script.schema;
    conn.query_drop(format!("DROP DATABASE IF EXISTS {schema}")).await.expect("the script's schema can go");
    conn.query_drop(format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4")).await.expect("and come");
}

fn python(program: &str, name: &str, server: &Server, product: &str, files: &Path) -> Report {
    let python = machine::python().expect("the caller has looked for it");
    let out = Command::new(python)
        .arg(machine::project("tests/drivers").join(program))
        .args(["--host", "127.0.0.1", "--port", &server.port.to_string()])
        .args(["--user", &server.account.user, "--password", &server.account.password])
        .args(["--product", product, "--driver", name])
        .arg("--script")
        .arg(script::path())
        .arg("--files")
        .arg(files)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python runs");
    assert!(out.status.success(), "{program} {name}: {}", String::from_utf8_lossy(&out.stderr));
    Report::parse(&String::from_utf8_lossy(&out.stdout))
}

async fn by_async(
    script: &Script,
    protocol: Protocol,
    server: &Server,
    product: &str,
    files: &Path,
) -> Report {
    let mut cases = Vec::new();
    for case in script.cases.iter().filter(|case| case.is_for(product, "mysql_async")) {
        let mut steps = Vec::new();
        let mut conn = open(&case.connect, server, script, files).await;
        for step in &case.steps {
            steps.push(match &mut conn {
                Ok(conn) => one(conn, step, protocol, server, script, files).await,
                Err(why) => Ran { sql: "connect".to_owned(), answer: only(why.clone()) },
            });
        }
        if let Ok(conn) = conn {
            let _ = conn.disconnect().await;
        }
        cases.push(Case { name: case.name.clone(), steps });
    }
    Report { cases }
}

async fn open(connect: &Connect, server: &Server, script: &Script, files: &Path) -> Result<Conn, Outcome> {
    let mut opts = server.opts(connect.schema.as_deref()).client_found_rows(connect.found_rows);
    if connect.local_infile {
        opts = opts.local_infile_handler(Some(WhiteListFsHandler::new(script.file_paths(files))));
    }
    let mut conn = Conn::new(Opts::from(opts)).await.map_err(client::failed)?;
    if connect.charset != "utf8mb4" {
        conn.query_drop(format!("SET NAMES {}", connect.charset)).await.map_err(client::failed)?;
    }
    Ok(conn)
}

async fn one(
    conn: &mut Conn,
    step: &Step,
    protocol: Protocol,
    server: &Server,
    script: &Script,
    files: &Path,
) -> Ran {
    match step {
        Step::Do { what, schema } => {
            let done = match what.as_str() {
                "ping" => conn.ping().await,
                "reset" => conn.reset().await.map(|_| ()),
                "use" => conn.query_drop(format!("USE {schema}")).await,
                "change_user" => {
                    let account = &server.account;
                    let opts = ChangeUserOpts::new()
                        .with_user(Some(account.user.clone()))
                        .with_pass(Some(account.password.clone()))
                        .with_db_name(Some(script.schema.clone()));
                    conn.change_user(opts).await
                }
                other => panic!("the script asks for {other}"),
            };
            let results = done.err().map(client::failed).into_iter().collect();
            Ran { sql: what.clone(), answer: Answer { results, warnings: Vec::new() } }
        }
        Step::Run { sql, params, preparable } => {
            let text = script::expand(sql, files);
            let binary = protocol == Protocol::Binary && *preparable;
            let mut answer = match params {
                Some(params) => {
                    let params = params.iter().map(script::parameter).collect();
                    client::prepared(conn, &text, Params::Positional(params)).await
                }
                None if binary => client::prepared(conn, &text, Params::Empty).await,
                None => client::text(conn, &text).await,
            };
            // What cannot be prepared (1295) still has to happen.
            if binary
                && params.is_none()
                && matches!(answer.results.first(), Some(Outcome::Failed(f)) if f.code == 1295)
            {
                answer.results.extend(client::text(conn, &text).await.results);
            }
            if !sql.to_ascii_uppercase().starts_with("SHOW ") && has_warnings(&answer) {
                answer.warnings = client::warnings(conn).await;
            }
            Ran { sql: sql.chars().take(200).collect(), answer }
        }
    }
}

fn has_warnings(answer: &Answer) -> bool {
    match answer.results.last() {
        Some(Outcome::Done(done)) => done.warnings > 0,
        Some(Outcome::Rows(set)) => set.warnings.is_some_and(|n| n > 0),
        _ => false,
    }
}

fn only(outcome: Outcome) -> Answer {
    Answer { results: vec![outcome], warnings: Vec::new() }
}

/// The statements of the script without parameters, by packets: status flags and sequence ids are checked too.
fn by_packets(script: &Script, age: Age, server: &Server, product: &str, files: &Path) -> Report {
    let base = match age {
        Age::Classic => raw::classic(),
        Age::Modern => raw::modern(),
    };
    let mut cases = Vec::new();
    for case in script.cases.iter().filter(|case| case.is_for(product, "raw")) {
        let mut wanted = base;
        wanted.set(Capabilities::FOUND_ROWS, case.connect.found_rows);
        let mut conn = raw::Client::login(server, case.connect.schema.as_deref(), wanted).expect("login");
        conn.infile = b"1,Ann\n2,Bob\n".to_vec();
        if case.connect.charset != "utf8mb4" {
            conn.query(format!("SET NAMES {}", case.connect.charset).as_bytes()).expect("a character set");
        }
        let mut steps = Vec::new();
        for step in &case.steps {
            let Step::Run { sql, params: None, .. } = step else { continue };
            let answer = conn.query(&script::expand(sql, files)).unwrap_or_else(|e| {
                let message = e.to_string();
                only(Outcome::Failed(router::compare::Failure { code: 0, state: String::new(), message }))
            });
            steps.push(Ran { sql: sql.chars().take(200).collect(), answer });
        }
        cases.push(Case { name: case.name.clone(), steps });
    }
    Report { cases }
}
