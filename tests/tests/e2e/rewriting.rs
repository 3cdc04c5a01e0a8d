//! The shipped rules fire through the proxy, the server gets the new text, and the client the same rows.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use router::compare::{Answer, Metadata, Outcome, Terms, compare};
use shuntyard_tests::client::{Server, prepared, text};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup, eventually};

const UNION: &str =
    "SELECT id, ts, name FROM cur UNION ALL SELECT id, ts, name FROM old ORDER BY ts DESC, id LIMIT 7";
/// What the general log has last. (Emptying it between statements would be DDL, upon which the catalog is read again.)
const LAST_SEEN: &str = "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE argument LIKE '%UNION ALL%' \
    AND command_type = 'Query' AND argument NOT LIKE '%general_log%' ORDER BY event_time DESC LIMIT 1";
const DERIVED: &str = "SELECT a.id, a.name FROM (SELECT id, name, ts FROM cur WHERE ts > '2024-01-03') AS a ORDER BY a.name, a.id";

/// Rows to the bit and in order; of the columns what a rule promises to keep (a merged derived table's columns name
/// another table).
fn terms() -> Terms {
    Terms { metadata: Metadata::NamesAndTypes, ..Terms::exact() }
}

async fn fixture(server: &Server, schema: &str) {
    let mut conn = server.connect().await;
    conn.query_drop(format!("DROP DATABASE IF EXISTS {schema}")).await.unwrap();
    conn.query_drop(format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4")).await.unwrap();
    conn.query_drop(format!("USE {schema}")).await.unwrap();
    for (table, year) in [("cur", 2024), ("old", 2023)] {
        conn.query_drop(format!(
            "CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, ts DATETIME NOT NULL, name VARCHAR(30) NOT NULL, KEY (ts)) ENGINE=InnoDB"
        ))
        .await
        .unwrap();
        let rows: Vec<String> = (0..500)
            .map(|n| {
                format!("({n}, '{year}-01-{:02} {:02}:00:00', 'name {}')", 1 + n / 24 % 28, n % 24, n % 37)
            })
            .collect();
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", rows.join(","))).await.unwrap();
    }
}

async fn fired(proxy: &Proxy, rule: &str) -> u64 {
    let mut conn = proxy.server().connect().await;
    conn.query_first(format!("SELECT fired FROM shuntyard.rules WHERE id = '{rule}'")).await.unwrap().unwrap()
}

/// Waits until the proxy has read the catalog: rules that need it do not fire before.
async fn warm(proxy: &Proxy) {
    let mut conn = proxy.server().connect_to(Some("rewriting")).await;
    eventually("the catalog is read", Duration::from_secs(10), async || {
        conn.query_drop(UNION).await.unwrap();
        fired(proxy, "union-limit").await > 0
    })
    .await;
}

/// Waits until a rule has fired so often: counters follow the reply.
async fn count(proxy: &Proxy, rule: &str, times: u64) {
    let mut seen = 0;
    for _ in 0..100 {
        seen = fired(proxy, rule).await;
        if seen >= times {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{rule} has fired {seen} times, at least {times} were due");
}

fn rows(answer: &Answer) -> usize {
    match answer.results.first() {
        Some(Outcome::Rows(set)) => set.rows.len(),
        other => panic!("{other:?}"),
    }
}

async fn same(straight: &mut Conn, proxied: &mut Conn, sql: &str) {
    let (left, right) = (text(straight, sql.as_bytes()).await, text(proxied, sql.as_bytes()).await);
    assert!(rows(&left) > 0, "{sql}");
    let verdict = compare(&left, &right, &terms());
    assert!(verdict.is_same(), "{sql}\n{verdict}");
    let left = prepared(straight, sql.as_bytes(), Params::Empty).await;
    let right = prepared(proxied, sql.as_bytes(), Params::Empty).await;
    let verdict = compare(&left, &right, &terms());
    assert!(verdict.is_same(), "prepared: {sql}\n{verdict}");
}

async fn both_rules(server: Server, setup: Setup) {
    fixture(&server, "rewriting").await;
    let proxy = setup.start();
    warm(&proxy).await;
    let mut straight = server.connect_to(Some("rewriting")).await;
    let mut proxied = proxy.server().connect_to(Some("rewriting")).await;
    for (rule, sql) in [("union-limit", UNION), ("derived-merge", DERIVED)] {
        let before = fired(&proxy, rule).await;
        same(&mut straight, &mut proxied, sql).await;
        same(&mut straight, &mut proxied, sql).await;
        // Prepared statements may or may not be rewritten; their rows are the same.
        count(&proxy, rule, before + 2).await;
    }
    // Other literals of the same digest, from the plan cache.
    let before = fired(&proxy, "union-limit").await;
    for limit in [1, 3, 50] {
        let sql = UNION.replace("LIMIT 7", &format!("LIMIT {limit}"));
        let (left, right) =
            (text(&mut straight, sql.as_bytes()).await, text(&mut proxied, sql.as_bytes()).await);
        assert!(compare(&left, &right, &Terms::exact()).is_same());
        assert_eq!(rows(&right), limit);
    }
    count(&proxy, "union-limit", before + 3).await;
    // Beyond the rule's bound on LIMIT the precondition fails at execution.
    same(&mut straight, &mut proxied, &UNION.replace("LIMIT 7", "LIMIT 100000")).await;
    assert_eq!(fired(&proxy, "union-limit").await, before + 3);
}

#[tokio::test]
async fn both_rules_fire_at_mariadb() {
    let Some(server) = MariaDb::start(&[]) else { return };
    both_rules(server.server(), Setup::mariadb(server.port())).await;
}

#[tokio::test]
async fn both_rules_fire_at_mysql() {
    let Some(server) = MySql::shared().await else { return };
    both_rules(server.server(), Setup::mysql(server.port())).await;
}

#[tokio::test]
async fn the_server_gets_the_new_text_unless_told_otherwise() {
    let Some(server) = MariaDb::start(&["--general-log=1", "--log-output=TABLE"]) else { return };
    fixture(&server.server(), "rewriting").await;
    let proxy = Setup::mariadb(server.port()).start();
    warm(&proxy).await;
    let mut straight = server.server().connect().await;
    let mut conn = proxy.server().connect_to(Some("rewriting")).await;
    // How often LIMIT stands in what the server got last.
    let mut limits = async |sql: &str| {
        conn.query_drop(sql).await.unwrap();
        let seen: Option<String> = straight.query_first(LAST_SEEN).await.unwrap();
        seen.unwrap().matches("LIMIT").count()
    };
    assert_eq!(limits(UNION).await, 3, "ORDER BY and LIMIT are in both branches");
    assert_eq!(limits(&format!("/* shuntyard: rewrite=off */ {UNION}")).await, 1, "told by a comment");

    let mut admin = proxy.server().connect().await;
    admin.query_drop("SHUNTYARD SET rules = OFF").await.unwrap();
    assert_eq!(limits(UNION).await, 1, "rules are off");
    admin.query_drop("SHUNTYARD SET rules = ON").await.unwrap();
    assert_eq!(limits(UNION).await, 3, "and on again");

    // A column that changes its type: the guard has to see it before the next statement.
    admin.query_drop("ALTER TABLE rewriting.old MODIFY ts VARCHAR(30) NOT NULL").await.unwrap();
    assert_eq!(limits(UNION).await, 1, "types differ now");
    admin.query_drop("ALTER TABLE rewriting.old MODIFY ts DATETIME NOT NULL").await.unwrap();
    eventually("the catalog is known again", Duration::from_secs(5), async || limits(UNION).await == 3).await;
    // A temporary table hides the name: what the catalog says of it is wrong then.
    conn.query_drop("CREATE TEMPORARY TABLE old (id VARCHAR(20), ts VARCHAR(30), name TEXT)").await.unwrap();
    conn.query_drop(UNION).await.unwrap();
    let seen: Option<String> = straight.query_first(LAST_SEEN).await.unwrap();
    assert_eq!(seen.unwrap().matches("LIMIT").count(), 1, "a temporary table shadows the catalog's");

    // An executable comment: never touched.
    let mut other = proxy.server().connect_to(Some("rewriting")).await;
    let before = fired(&proxy, "union-limit").await;
    other.query_drop(UNION.replace("UNION ALL", "UNION ALL /*! */")).await.unwrap();
    assert_eq!(fired(&proxy, "union-limit").await, before);
}

#[tokio::test]
async fn ddl_from_elsewhere_is_seen_within_seconds() {
    let Some(server) = MariaDb::start(&[]) else { return };
    fixture(&server.server(), "rewriting").await;
    let proxy = Setup::mariadb(server.port()).start();
    warm(&proxy).await;
    let mut conn = proxy.server().connect_to(Some("rewriting")).await;
    let mut elsewhere = server.server().connect().await;
    elsewhere.query_drop("ALTER TABLE rewriting.old MODIFY ts VARCHAR(30) NOT NULL").await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before = fired(&proxy, "union-limit").await;
    conn.query_drop(UNION).await.unwrap();
    assert_eq!(fired(&proxy, "union-limit").await, before, "the types differ now");
}

#[tokio::test]
async fn passthrough_relays_only() {
    let Some(server) = MariaDb::start(&[]) else { return };
    fixture(&server.server(), "rewriting").await;
    let proxy = Setup::mariadb(server.port()).argument("--passthrough").start();
    let mut straight = server.server().connect_to(Some("rewriting")).await;
    let mut proxied = proxy.server().connect_to(Some("rewriting")).await;
    same(&mut straight, &mut proxied, UNION).await;
}

#[tokio::test]
async fn explain_shows_the_new_text_and_the_guard_that_refused() {
    let Some(server) = MariaDb::start(&[]) else { return };
    fixture(&server.server(), "rewriting").await;
    let proxy = Setup::mariadb(server.port()).start();
    warm(&proxy).await;
    let out = proxy.control(&["explain", "--schema", "rewriting", "--user", "app", UNION]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{out:?}");
    assert!(said.contains("union-limit") && said.matches("LIMIT").count() >= 3, "{said}");
    let refused = UNION.replace("SELECT id, ts, name FROM old", "SELECT name, ts, id FROM old");
    let out = proxy.control(&["explain", "--schema", "rewriting", "--user", "app", &refused]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("union-limit") && said.contains("type"), "the guard is named: {said}");
    let mut conn = proxy.server().connect_to(Some("rewriting")).await;
    let rows: Vec<mysql_async::Row> = conn.query(format!("EXPLAIN SHUNTYARD {UNION}")).await.unwrap();
    assert!(!rows.is_empty());
}
