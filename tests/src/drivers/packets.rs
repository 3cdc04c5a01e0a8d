//! The script's statements without parameters by packets: status flags and sequence ids are checked too.

use std::path::Path;

use router::compare::{Failure, Outcome};
use wire::Capabilities;

use super::Place;
use super::walk::{fresh, only};
use crate::client::Server;
use crate::raw::{self, Client};
use crate::report::{Case, Report, Step as Ran};
use crate::script::{self, Action, Connect, Script, Statement};

/// What a raw client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Neither DEPRECATE_EOF nor SESSION_TRACK.
    Classic,
    /// Both.
    Modern,
}

pub(super) async fn run(age: Age, place: &Place<'_>) -> Report {
    fresh(place).await;
    let (script, server) = (place.script.clone(), place.server.clone());
    let (product, files) = (place.product.to_owned(), place.files.to_owned());
    let run = move || by_packets(&script, age, &server, &product, &files);
    tokio::task::spawn_blocking(run).await.expect("a driver's report")
}

fn by_packets(script: &Script, age: Age, server: &Server, product: &str, files: &Path) -> Report {
    let mut cases = Vec::new();
    for case in script.cases.iter().filter(|case| case.is_for(product, &["raw"])) {
        let mut sessions: Vec<(&str, Client)> = Vec::new();
        let mut steps = Vec::new();
        for step in case.steps.iter().filter(|step| step.is_for(&["raw"])) {
            let Action::Run(Statement { sql, params: None, .. }) = &step.action else { continue };
            let known = sessions.iter().position(|(name, _)| *name == step.session);
            if known.is_none() {
                sessions.push((&step.session, open(age, &case.connect, server)));
            }
            let at = known.unwrap_or(sessions.len() - 1);
            let answer = sessions[at].1.query(&script::expand(sql, files)).unwrap_or_else(|e| {
                only(Outcome::Failed(Failure { code: 0, state: String::new(), message: e.to_string() }))
            });
            steps.push(Ran { sql: step.shown(), answer });
        }
        cases.push(Case { name: case.name.clone(), steps });
    }
    Report { cases }
}

fn open(age: Age, connect: &Connect, server: &Server) -> Client {
    let mut wanted = match age {
        Age::Classic => raw::classic(),
        Age::Modern => raw::modern(),
    };
    wanted.set(Capabilities::FOUND_ROWS, connect.found_rows);
    let mut client = Client::login(server, connect.schema.as_deref(), wanted).expect("login");
    client.infile = b"1,Ann\n2,Bob\n".to_vec();
    if connect.charset != "utf8mb4" {
        client.query(format!("SET NAMES {}", connect.charset).as_bytes()).expect("a character set");
    }
    client
}
