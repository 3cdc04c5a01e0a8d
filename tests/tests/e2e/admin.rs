//! What administrators see: SHOW SHUNTYARD, the tables, the console, the metrics, the commands.

use mysql_async::prelude::Queryable;
use mysql_async::{Error, Row};
use shuntyard_tests::http;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup};

fn start() -> Option<Proxy> {
    let server = MariaDb::shared()?;
    Some(Setup::mariadb(server.port()).start())
}

#[tokio::test]
async fn every_show_answers_with_its_clauses() {
    let Some(proxy) = start() else { return };
    let mut conn = proxy.server().connect().await;
    for what in ["STATUS", "BACKENDS", "SESSIONS", "QUERIES", "RULES"] {
        let name = match what {
            "STATUS" | "BACKENDS" => "name",
            "SESSIONS" => "user",
            "QUERIES" => "digest_text",
            _ => "id",
        };
        for clause in [
            String::new(),
            " LIKE '%a%'".to_owned(),
            format!(" WHERE {name} IS NOT NULL"),
            format!(" ORDER BY {name} DESC"),
            " LIMIT 1".to_owned(),
            format!(" WHERE {name} LIKE '%' ORDER BY 1 LIMIT 2"),
        ] {
            let sql = format!("SHOW SHUNTYARD {what}{clause}");
            let rows: Result<Vec<Row>, Error> = conn.query(&sql).await;
            let rows = rows.unwrap_or_else(|e| panic!("{sql}: {e}"));
            if clause == " LIMIT 1" {
                assert!(rows.len() <= 1, "{sql}");
            }
        }
        let table = what.to_lowercase();
        let rows: Vec<Row> = conn.query(format!("SELECT * FROM shuntyard.{table}")).await.unwrap();
        assert!(!rows.is_empty(), "{table}");
    }
    let rules: Vec<String> = conn.query("SELECT id FROM shuntyard.rules ORDER BY id").await.unwrap();
    assert!(rules.is_sorted() && rules.iter().any(|rule| rule == "sargable.year"), "{rules:?}");
    // Over the binary protocol they are answered too, or refused as the server refuses what cannot be prepared.
    let prepared: Result<Vec<String>, Error> =
        conn.exec("SELECT name FROM shuntyard.backends WHERE state = ?", ("up",)).await;
    match prepared {
        Ok(names) => assert_eq!(names, ["main"]),
        Err(Error::Server(e)) => assert_eq!(e.code, 1295, "{}", e.message),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn queries_are_counted_by_digest_without_their_literals() {
    let Some(proxy) = start() else { return };
    let mut conn = proxy.server().connect().await;
    for n in 0..5 {
        conn.query_drop(format!("SELECT 'secret word', {n} AS counted_here")).await.unwrap();
    }
    let (text, count, p99): (String, u64, f64) = conn
        .query_first(
            "SELECT digest_text, count, p99 FROM shuntyard.queries WHERE digest_text LIKE '%counted_here%'",
        )
        .await
        .unwrap()
        .unwrap();
    assert_eq!(count, 5);
    assert!(p99 > 0.0);
    assert!(!text.contains("secret"), "{text}");
    let (_, console) = http::get(proxy.http, "/").unwrap();
    assert!(console.contains("counted_here"), "the console shows it");
    assert!(!console.contains("secret word"));
    assert!(!proxy.process.log().contains("secret word"), "nor does the log");
}

#[tokio::test]
async fn others_are_refused_with_1227() {
    let Some(proxy) = start() else { return };
    let mut conn = proxy.server().as_user("reader", "reader").connect().await;
    for sql in [
        "SHOW SHUNTYARD STATUS",
        "SELECT * FROM shuntyard.sessions",
        "SHUNTYARD SET rules = OFF",
        "SHUNTYARD RELOAD",
        "EXPLAIN SHUNTYARD SELECT 1",
        "/* c */ select * from `shuntyard`.`queries`",
    ] {
        match conn.query_drop(sql).await {
            Err(Error::Server(e)) => assert_eq!(e.code, 1227, "{sql}: {}", e.message),
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
}

#[tokio::test]
async fn probes_metrics_and_console_answer() {
    let Some(proxy) = start() else { return };
    let mut conn = proxy.server().connect().await;
    conn.query_drop("SELECT 1").await.unwrap();
    assert_eq!(http::get(proxy.http, "/livez").map(|(code, _)| code), Some(200));
    assert_eq!(http::get(proxy.http, "/readyz").map(|(code, _)| code), Some(200));
    assert_eq!(http::get(proxy.http, "/nowhere").map(|(code, _)| code), Some(404));
    let (code, metrics) = http::get(proxy.http, "/metrics").unwrap();
    assert_eq!(code, 200);
    assert!(metrics.contains("# TYPE shuntyard_"), "{metrics}");
    let (code, console) = http::get(proxy.http, "/").unwrap();
    assert_eq!(code, 200);
    assert!(console.to_lowercase().contains("<html") && console.contains("union-limit"), "{console}");
}

#[tokio::test]
async fn the_commands_ask_the_running_proxy() {
    let Some(proxy) = start() else { return };
    proxy.server().connect().await;
    let status = proxy.control(&["status"]);
    assert!(status.status.success(), "{status:?}");
    let status = proxy.control(&["status", "--json"]);
    let text = String::from_utf8_lossy(&status.stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    let explained = proxy.control(&["explain", "SELECT 1 AS literal_7"]);
    assert!(explained.status.success(), "{explained:?}");
    let explained = proxy.control(&["explain", "--json", "SELECT 1"]);
    let text = String::from_utf8_lossy(&explained.stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    let nobody = shuntyard_tests::proxy::run(proxy.dir(), &["status", "--data", "no-such-folder"]);
    assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
}
