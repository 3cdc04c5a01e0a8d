//! `make suite`: MariaDB's own regression tests through a proxy whose sessions share connections; every test that passes
//! direct must pass there too.
#![expect(clippy::print_stdout, reason = "a program that prints its progress")]

mod known;
mod listing;
mod place;
mod server;
mod trial;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use serde_json::json;
use shuntyard_tests::machine;

use known::Exceptions;
use listing::Test;
use place::{Place, Way};
use trial::{Outcome, Trial};

/// Runs MariaDB's regression tests (package mariadb-test) straight to a server, and those that pass also through the proxy
///
/// Server and proxy are started in a temporary folder, as the tests expect them: everybody logs in with the server's
/// accounts, over Unix sockets. Exit 1 if a test that passes direct does not pass proxied and is not listed in
/// tests/suite/exceptions.txt.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only these tests
    tests: Vec<String>,
    /// Only every Nth test
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Only the first N of these
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only the tests that this file names, one a line
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Take from an earlier --json file which tests pass direct, instead of running them direct again
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Seconds for one test
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// Pairs of server and proxy that work side by side
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// How the proxy's sessions share connections
    #[arg(long, value_name = "POOLING", default_value = "transaction", value_parser = ["session", "transaction"])]
    pooling: String,
    /// The proxy's program; without it, it is built
    #[arg(long, value_name = "PROGRAM")]
    proxy: Option<PathBuf>,
    /// Write what became of each test, with the ends of mysqltest's messages
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What became of one test.
#[derive(Debug)]
struct Both {
    direct: Trial,
    proxied: Option<Trial>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(all) = listing::all() else {
        machine::missing("MariaDB's regression tests (package mariadb-test)");
        return ExitCode::SUCCESS;
    };
    let tests = chosen(&arguments, all);
    if tests.is_empty() {
        eprintln!("suite: no test of that name");
        return ExitCode::from(2);
    }
    let passed = arguments.known.as_deref().map(known::passed);
    let Some(results) = run(&arguments, tests, passed.as_ref()) else {
        machine::missing("MariaDB (mariadbd, mariadb-install-db)");
        return ExitCode::SUCCESS;
    };
    if let Some(file) = &arguments.json {
        let rows = results
            .iter()
            .map(|(name, both)| (name.clone(), json!({"direct": both.direct, "proxied": both.proxied})));
        let text =
            serde_json::to_string_pretty(&rows.collect::<serde_json::Map<_, _>>()).expect("a map of text");
        std::fs::write(file, text).expect("the file of --json can be written");
    }
    verdict(&results, &known::exceptions())
}

fn chosen(arguments: &Arguments, all: Vec<Test>) -> Vec<Test> {
    let listed = arguments.list.as_deref().map(known::names);
    let wanted = |test: &Test| {
        (arguments.tests.is_empty() || arguments.tests.contains(&test.name))
            && listed.as_ref().is_none_or(|listed| listed.contains(&test.name))
    };
    let tests = all.into_iter().filter(wanted).step_by(arguments.every.into());
    tests.take(arguments.limit.unwrap_or(usize::MAX)).collect()
}

/// Runs the tests on as many places as asked for; `None` where there is no server.
fn run(
    arguments: &Arguments,
    tests: Vec<Test>,
    passed: Option<&BTreeMap<String, Trial>>,
) -> Option<BTreeMap<String, Both>> {
    let program = arguments.proxy.clone().unwrap_or_else(machine::shuntyard);
    let timeout = Duration::from_secs(arguments.timeout);
    let total = tests.len();
    let template = server::template()?;
    let queue = Mutex::new(VecDeque::from(tests));
    let results = Mutex::new(BTreeMap::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..usize::from(arguments.jobs).min(total) {
            scope.spawn(|| {
                let mut place = Place::start(&template, &program, &arguments.pooling);
                while let Some(test) = next() {
                    let known = passed.map(|passed| passed.get(&test.name).cloned().unwrap_or_default());
                    let direct = known.unwrap_or_else(|| place.run(&test, Way::Direct, timeout));
                    let proxied =
                        (direct.outcome == Outcome::Pass).then(|| place.run(&test, Way::Proxied, timeout));
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    let told =
                        proxied.as_ref().map_or_else(String::new, |trial| format!(", proxied {trial}"));
                    println!("[{}/{total}] {}: direct {direct}{told}", results.len() + 1, test.name);
                    results.insert(test.name, Both { direct, proxied });
                }
            });
        }
    });
    Some(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Prints what was lost, and the closing line.
fn verdict(results: &BTreeMap<String, Both>, exceptions: &Exceptions) -> ExitCode {
    let (mut ran, mut passed, mut excepted) = (0, 0, 0);
    for (name, both) in results {
        let Some(proxied) = &both.proxied else { continue };
        match (proxied.outcome == Outcome::Pass, exceptions.get(name)) {
            (true, None) => (ran, passed) = (ran + 1, passed + 1),
            (true, Some(_)) => println!("\n{name}: passes, and is listed in tests/suite/exceptions.txt"),
            (false, Some(_)) => excepted += 1,
            (false, None) => {
                ran += 1;
                println!("\n{name}: {}", proxied.message.trim_end());
            }
        }
    }
    if excepted > 0 {
        println!("suite: {excepted} more are listed in tests/suite/exceptions.txt");
    }
    println!("Of those that pass direct, proxied:");
    println!("suite: {passed} passed, {} failed", ran - passed);
    if passed == ran && ran > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
