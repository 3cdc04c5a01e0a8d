//! Runs original and rewritten text in turns.

use std::time::Instant;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};
use rewriter::{RuleSet, selftest};
use shuntyard_tests::client::Server;
use shuntyard_tests::machine;
use shuntyard_tests::statistics::{Estimate, estimate};
use sql::Product;

use crate::cases::{CASES, Case};
use crate::{Arguments, data};

/// What was measured on one server.
pub(crate) struct Measured {
    /// Its product and version.
    pub(crate) server: String,
    /// In the order of the cases.
    pub(crate) found: Vec<Found>,
}

/// What became of one statement.
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) sql: &'static str,
    /// None where the rule leaves it alone on this server.
    pub(crate) gain: Option<Gain>,
}

/// What a rewrite gains.
pub(crate) struct Gain {
    /// Milliseconds.
    pub(crate) original: Estimate,
    /// Milliseconds.
    pub(crate) rewritten: Estimate,
    /// The one divided by the other, turn by turn.
    pub(crate) factor: Estimate,
    /// Temporary tables on disk of each.
    pub(crate) disk: (u64, u64),
}

/// Loads the data and measures every case.
pub(crate) async fn all(server: &Server, product: Product, arguments: &Arguments) -> Measured {
    let mut conn = server.connect().await;
    let version: String =
        conn.query_first("SELECT VERSION()").await.expect("a server has a version").unwrap_or_default();
    let name = match product {
        Product::MariaDb => "MariaDB",
        Product::MySql => "MySQL",
    };
    let version = version.split('-').next().unwrap_or_default();
    let from = Instant::now();
    data::load(&mut conn, arguments.rows).await;
    eprintln!("{name} {version}: loaded in {:.0} s", from.elapsed().as_secs_f64());
    let rules = rules();
    let wanted =
        |case: &&Case| arguments.only.is_empty() || arguments.only.iter().any(|only| only == case.rule);
    let mut found = Vec::new();
    for case in CASES.iter().filter(wanted) {
        let gain = one(&mut conn, &rules, case, product, arguments.turns).await;
        if let Some(gain) = &gain {
            eprintln!("{}: {:.2} ms, {:.2} ms", case.rule, gain.original.median, gain.rewritten.median);
        }
        found.push(Found { rule: case.rule, sql: case.sql, gain });
    }
    Measured { server: format!("{name} {version}"), found }
}

fn rules() -> RuleSet {
    let folder = std::fs::read_dir(machine::project("rules")).expect("the rules are there");
    let mut files: Vec<(String, String)> = folder
        .map(|entry| entry.expect("the folder can be read").path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a rule file")))
        .collect();
    files.sort();
    RuleSet::load(&files).unwrap_or_else(|faults| panic!("{faults:?}"))
}

async fn one(conn: &mut Conn, rules: &RuleSet, case: &Case, product: Product, turns: usize) -> Option<Gain> {
    let (new, outcome) =
        selftest::run(rules, case.sql, &data::tables(), product).expect("the statement is read");
    let fired = outcome.fired.iter().any(|rule| rule.as_str() == case.rule);
    let new = new.filter(|_| fired)?;
    let (mut original, mut rewritten) = (Vec::new(), Vec::new());
    for turn in 0..=turns {
        let (slow, fast) = (time(conn, case.sql).await, time(conn, &new).await);
        assert_eq!(slow.1, fast.1, "other rows:\n{}\n{new}", case.sql);
        // The first turn only warms the caches.
        if turn > 0 {
            original.push(slow.0);
            rewritten.push(fast.0);
        }
    }
    let disk = (on_disk(conn, case.sql).await, on_disk(conn, &new).await);
    let factors: Vec<f64> = original.iter().zip(&rewritten).map(|(slow, fast)| slow / fast).collect();
    let estimate = |values: &[f64]| estimate(values).expect("at least one turn");
    Some(Gain {
        original: estimate(&original),
        rewritten: estimate(&rewritten),
        factor: estimate(&factors),
        disk,
    })
}

/// Milliseconds, and the rows in an order of their own.
async fn time(conn: &mut Conn, sql: &str) -> (f64, Vec<String>) {
    let from = Instant::now();
    let rows: Vec<Row> = conn.query(sql).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let took = from.elapsed().as_secs_f64() * 1e3;
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect();
    rows.sort();
    (took, rows)
}

/// Temporary tables on disk that a statement makes.
async fn on_disk(conn: &mut Conn, sql: &str) -> u64 {
    let mut counted = Vec::new();
    for text in ["DO 0", sql] {
        conn.query_drop(text).await.unwrap_or_else(|error| panic!("{text}\n{error}"));
        let row: Option<(String, u64)> =
            conn.query_first("SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'").await.expect("a counter");
        counted.push(row.map_or(0, |(_, count)| count));
    }
    match counted.as_slice() {
        [before, after] => after - before,
        _ => 0,
    }
}
