//! What the two shipped rules gain on the demo's data: the same statement with the rules on and off, in turns.

use std::process::Command;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use shuntyard_tests::client::{Account, Server};
use shuntyard_tests::machine;
use shuntyard_tests::process::Process;
use tempfile::TempDir;

use shuntyard_tests::statistics::{Estimate, estimate};
use shuntyard_tests::table::{Table, figure, interval};

/// One statement.
pub(crate) struct Gain {
    /// The rule.
    rule: &'static str,
    /// The statement, and what the session sets before.
    sql: &'static str,
    setting: Option<&'static str>,
    /// Milliseconds without and with the rules.
    off: Estimate,
    on: Estimate,
    /// Off divided by on, turn by turn.
    factor: Estimate,
}

/// The gains as a table.
pub(crate) fn report(all: &[Gain]) -> String {
    let mut table = Table::new(&["rule", "off ms", "on ms", "factor", "statement"]);
    for gain in all {
        let setting = gain.setting.map(|s| format!(" (after `{s}`)")).unwrap_or_default();
        table.line(&[
            gain.rule.to_owned(),
            figure(Some(gain.off.median), 2),
            figure(Some(gain.on.median), 2),
            interval(Some(gain.factor), 1),
            format!("`{}`{setting}", gain.sql),
        ]);
    }
    format!(
        "## Rules\n\nThe demo's data (100,000 customers, 1,000,000 orders, their archive) on its bundled MariaDB, through the \
         proxy, warm; rules off and on in turns, the same rows both times.\n\n{table}\n"
    )
}

const STATEMENTS: &[(&str, Option<&str>, &str)] = &[
    (
        "union-limit",
        None,
        "SELECT id, customer_id, created_at, amount FROM orders UNION ALL SELECT id, customer_id, created_at, amount \
         FROM orders_archive ORDER BY created_at DESC, id DESC LIMIT 20",
    ),
    (
        "derived-merge",
        Some("SET SESSION optimizer_switch = 'derived_merge=off,condition_pushdown_for_derived=off'"),
        "SELECT a.id, a.created_at, a.amount FROM (SELECT id, customer_id, created_at, amount FROM orders) AS a \
         WHERE a.customer_id = 4711 ORDER BY a.created_at, a.id",
    ),
    (
        "derived-merge",
        Some("SET SESSION optimizer_switch = 'derived_merge=off,condition_pushdown_for_derived=off'"),
        "SELECT a.id, a.name, a.last FROM (SELECT id, name, city, (SELECT MAX(o.created_at) FROM orders o \
         WHERE o.customer_id = c.id) AS last FROM customers c) AS a WHERE a.id <= 50 ORDER BY a.id",
    ),
];

/// Starts the demo and measures every statement `turns` times each way.
pub(crate) fn measure(turns: usize) -> Vec<Gain> {
    let dir = TempDir::with_prefix("shuntyard-demo-").expect("a temporary folder can be made");
    let (port, http) = (machine::free_port(), machine::free_port());
    let mut command = Command::new(machine::shuntyard());
    command
        .current_dir(dir.path())
        .arg("demo")
        .args(["--port", &port.to_string(), "--http", &format!("127.0.0.1:{http}")])
        .arg("--data")
        .arg(dir.path().join("data"));
    let from = Instant::now();
    let mut demo = Process::spawn("shuntyard demo", &mut command, &dir.path().join("log"));
    demo.until(Duration::from_secs(180), |p| p.log().contains("ready: mysql").then_some(()));
    eprintln!("demo: ready after {:.1} s", from.elapsed().as_secs_f64());
    let server = Server { port, account: Account::app() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut gains = Vec::new();
        for (rule, setting, sql) in STATEMENTS {
            gains.push(one(&server, rule, *setting, sql, turns).await);
        }
        gains
    })
}

async fn one(
    server: &Server,
    rule: &'static str,
    setting: Option<&'static str>,
    sql: &'static str,
    turns: usize,
) -> Gain {
    let mut admin = server.connect().await;
    let mut conn = server.connect_to(Some("shop")).await;
    if let Some(setting) = setting {
        conn.query_drop(setting).await.expect("the session's setting");
    }
    let fired = format!("SELECT fired FROM shuntyard.rules WHERE id = '{rule}'");
    // The proxy reads the catalog every few seconds; a rule that needs it fires from then on.
    let until = Instant::now() + Duration::from_secs(20);
    let before: u64 = admin.query_first(&fired).await.expect("the counter").unwrap_or(0);
    while admin.query_first::<u64, _>(&fired).await.expect("the counter").unwrap_or(0) == before
        && Instant::now() < until
    {
        time(&mut conn, sql).await;
    }
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for turn in 0..=turns {
        admin.query_drop("SHUNTYARD SET rules = OFF").await.expect("the rules can be switched off");
        let slow = time(&mut conn, sql).await;
        admin.query_drop("SHUNTYARD SET rules = ON").await.expect("and on");
        let before: u64 = admin.query_first(&fired).await.expect("the counter").unwrap_or(0);
        let fast = time(&mut conn, sql).await;
        let mut after = before;
        // Counters follow the reply.
        for _ in 0..50 {
            after = admin.query_first(&fired).await.expect("the counter").unwrap_or(0);
            if after > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if after <= before {
            let why: Vec<(String, String)> =
                conn.query(format!("EXPLAIN SHUNTYARD {sql}")).await.expect("explained");
            panic!("{rule} did not fire: {why:#?}");
        }
        assert_eq!(slow.1, fast.1, "{rule}: other rows for: {sql}");
        // The first turn only warms the caches.
        if turn > 0 {
            eprintln!("{rule}: {:.2} ms off, {:.2} ms on", slow.0, fast.0);
            off.push(slow.0);
            on.push(fast.0);
        }
    }
    let factors: Vec<f64> = off.iter().zip(&on).map(|(off, on)| off / on).collect();
    let estimate = |values: &[f64]| estimate(values).expect("at least one turn");
    Gain { rule, sql, setting, off: estimate(&off), on: estimate(&on), factor: estimate(&factors) }
}

async fn time(conn: &mut Conn, sql: &str) -> (f64, Vec<String>) {
    let from = Instant::now();
    let rows: Vec<mysql_async::Row> = conn.query(sql).await.expect("the statement runs");
    let took = from.elapsed().as_secs_f64() * 1e3;
    (took, rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect())
}
