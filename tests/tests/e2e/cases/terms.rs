//! Statements that are very long or very deep: bounded time, no stack overflow, and the server's own answer.

use std::time::{Duration, Instant};

use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw::{Client, modern};

use super::scene::{everywhere, query};

/// How long the proxy may take for one of them, unoptimised and on a busy machine. Anything that is not linear takes minutes.
const BOUND: Duration = Duration::from_secs(20);

/// Names and texts of up to a megabyte, which are looked at, and some beyond.
fn texts() -> Vec<(&'static str, String)> {
    let terms = 100_000;
    let repeat = |text: &str, times: usize| text.repeat(times);
    let list = vec!["7"; terms].join(",");
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("SELECT {}{inner}{} AS x", repeat(open, depth), repeat(close, depth))
    };
    let mut texts = vec![
        ("an IN list", format!("SELECT a FROM t WHERE a IN ({list})")),
        ("an IN list of strings", format!("SELECT a FROM t WHERE a IN ({})", vec!["'7'"; terms].join(","))),
        ("an IN list of columns", format!("SELECT a FROM t WHERE 7 IN ({})", vec!["a"; 20_000].join(","))),
        ("an OR chain", format!("SELECT a FROM t WHERE a=7{}", repeat(" OR a=7", terms))),
        ("a long OR chain", format!("SELECT a FROM t WHERE a=1000000{}", repeat(" OR a=1000000", terms))),
        ("an AND chain", format!("SELECT a FROM t WHERE a=7{}", repeat(" AND a=7", 20_000))),
        ("a sum", format!("SELECT 1{} AS x", repeat("+1", 5_000))),
        ("rows", format!("INSERT INTO u VALUES {}", vec!["(7)"; terms].join(","))),
        ("a row", format!("SELECT ({list}) = 1")),
        ("statements", repeat("DO 0;", 20_000)),
        ("comments", format!("SELECT 1 {}", repeat("/**/", terms))),
        ("open comments", format!("SELECT 1 {}", repeat("/*", terms))),
        ("quotes", format!("SELECT 1 {}", repeat("'", terms))),
        ("strings side by side", format!("SELECT {} AS x", repeat("'a' ", 2_000))),
        ("unions", vec!["SELECT 1"; 2_000].join(" UNION ALL ")),
        (
            "unions with a limit",
            format!("{} ORDER BY 1 LIMIT 2", vec!["SELECT a FROM t"; 1_000].join(" UNION ALL ")),
        ),
        ("a name", format!("SELECT `{}`", repeat("n", 900_000))),
        ("minuses", format!("SELECT {}1", repeat("- ", 2_000))),
        ("NOT", format!("SELECT {}1", repeat("NOT ", 2_000))),
    ];
    for depth in [50, 63, 64, 65, 1_000, 100_000] {
        texts.push(("parentheses", nested("(", "1", ")", depth)));
    }
    for depth in [20, 62, 300, 5_000] {
        texts.push(("functions", nested("ABS(", "1", ")", depth)));
        texts.push(("CASE", nested("CASE WHEN 1 THEN ", "1", " END", depth)));
        texts.push(("subqueries", nested("(SELECT ", "1", ")", depth)));
        texts.push((
            "derived tables",
            format!("SELECT * FROM {}t{}", repeat("(SELECT * FROM ", depth), repeat(") AS d", depth)),
        ));
        texts.push(("joins", format!("SELECT 1 FROM {}t{}", repeat("(", depth), repeat(")", depth))));
        texts.push((
            "IN in IN",
            format!(
                "SELECT a FROM t WHERE a IN {}7{}",
                repeat("(SELECT a FROM t WHERE a IN ", depth) + "(",
                repeat(")", depth + 1)
            ),
        ));
    }
    texts
}

#[test]
fn very_long_and_very_deep_statements() {
    everywhere("case_terms", |scene| {
        scene.stage(&[
            "CREATE TABLE t (a INT NOT NULL)",
            "INSERT INTO t VALUES (7), (8)",
            "CREATE TABLE u (a INT)",
        ]);
        let mut said = Vec::new();
        for (name, text) in texts() {
            let mut client = scene.client();
            let started = Instant::now();
            let reply = query(&mut client, text.as_bytes());
            // What needs the server's own memory says how much of it in its message.
            let told = match reply.error() {
                Some(code) => (Some(code), None),
                None => (None, Some(reply)),
            };
            assert!(started.elapsed() < 2 * BOUND, "{name}: {:?}", started.elapsed());
            said.push((name, text.len(), told));
            said.push(("alive", 0, (None, Some(query(&mut scene.client(), b"SELECT 'alive'")))));
        }
        said
    });
}

/// The same through EXPLAIN SHUNTYARD, which asks every rule.
#[test]
fn very_long_and_very_deep_statements_are_explained() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut client = Client::login(&proxy.server(), Some("mysql"), modern()).unwrap();
    for (name, text) in texts() {
        let started = Instant::now();
        let reply = query(&mut client, format!("EXPLAIN SHUNTYARD {text}").as_bytes());
        assert!(started.elapsed() < BOUND, "{name}: {:?}", started.elapsed());
        assert!(!reply.0.is_empty());
    }
    assert_eq!(query(&mut client, b"SELECT 'alive'").error(), None);
    assert!(!proxy.process.log().contains("panicked"), "{}", proxy.process.log());
}
