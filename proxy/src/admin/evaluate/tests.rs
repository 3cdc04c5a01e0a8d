//! Statements over real SQLite.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::Flavor;

use super::super::{Statement, parse};
use super::*;
use crate::admin::tests::Fixture;

fn ask(text: &str) -> Result<Answer, SqlError> {
    match parse(text.as_bytes(), Flavor::MARIADB) {
        Some(Ok(Statement::Read(query))) => execute(&query, &Fixture::new()),
        Some(Err(error)) => Err(error),
        other => panic!("{text}: {other:?}"),
    }
}

fn cells(text: &str) -> Vec<Vec<String>> {
    let rows = ask(text).unwrap().rows;
    rows.into_iter().map(|row| row.into_iter().map(|cell| cell.unwrap_or("NULL".into())).collect()).collect()
}

#[test]
fn every_table_answers_with_its_columns() {
    for table in TABLES {
        let answer = ask(&format!("SHOW SHUNTYARD {}", table.name)).unwrap();
        let expected: Vec<_> =
            table.columns.iter().map(|column| (column.name.to_owned(), column.kind)).collect();
        assert_eq!(answer.columns, expected, "{}", table.name);
        assert!(!answer.rows.is_empty(), "{}", table.name);
        for row in &answer.rows {
            assert_eq!(row.len(), table.columns.len());
        }
    }
}

#[test]
fn clauses_mean_what_they_mean() {
    assert_eq!(cells("SELECT name FROM shuntyard.backends ORDER BY name DESC LIMIT 1"), [["s2"]]);
    assert_eq!(cells("SELECT count(*) FROM shuntyard.backends WHERE STATE = 'UP'"), [["1"]]);
    assert_eq!(cells("SHOW SHUNTYARD BACKENDS WHERE name = 'S1'").len(), 1);
    assert_eq!(cells("SHOW SHUNTYARD STATUS LIKE 'RULES'"), [["rules", "ON"]]);
    assert_eq!(
        cells(
            "SELECT digest_text, count FROM shuntyard.queries WHERE digest IS NOT NULL ORDER BY p99 DESC LIMIT 1, 1"
        ),
        [["SELECT ? FROM `orders`", "3"]]
    );
    assert_eq!(
        cells(
            "SELECT s.user, q.digest_text FROM shuntyard.sessions s JOIN shuntyard.queries q ON q.digest = s.digest"
        ),
        [["app", "SELECT ? FROM `orders`"]]
    );
    assert_eq!(
        cells(
            "SELECT state, sum(connections) c FROM shuntyard.backends GROUP BY state HAVING c > 0 ORDER BY 1"
        ),
        [["up", "4"]]
    );
    assert_eq!(cells("WITH x AS (SELECT count(*) n FROM shuntyard.rules) SELECT n + 1 FROM x"), [["3"]]);
    assert_eq!(cells("SHOW TABLES FROM shuntyard").len(), TABLES.len());
    assert_eq!(cells("SHOW TABLES FROM shuntyard WHERE Tables_in_shuntyard = 'rules'"), [["rules"]]);
    assert_eq!(cells("DESC shuntyard.status").first().unwrap().first().unwrap(), "name");
}

#[test]
fn expressions_get_the_type_of_their_values() {
    let answer =
        ask("SELECT count(*), avg(count), max(digest_text), NULL, p99, sum(p99) FROM shuntyard.queries")
            .unwrap();
    let kinds: Vec<Kind> = answer.columns.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds, [Kind::Int, Kind::Float, Kind::Text, Kind::Text, Kind::Float, Kind::Float]);
    let empty = ask("SELECT count, 1 FROM shuntyard.queries WHERE 0").unwrap();
    assert_eq!(empty.columns.first().unwrap().1, Kind::Int);
    assert!(empty.rows.is_empty());
}

#[test]
fn errors_are_those_of_a_server() {
    for (text, code) in [
        ("SELECT * FROM shuntyard.absent", 1146),
        ("SELECT absent FROM shuntyard.queries", 1054),
        ("SELECT `absent` FROM shuntyard.queries", 1054),
        ("SELECT digest FROM shuntyard.queries q, shuntyard.sessions s", 1052),
        ("SELECT sleep(1) FROM shuntyard.queries", 1305),
        ("SELECT FROM shuntyard.queries", 1064),
        ("SELECT * FROM shuntyard.queries FOR UPDATE", 1064),
        ("SELECT * FROM shuntyard.queries INTO OUTFILE '/tmp/x'", 1064),
    ] {
        assert_eq!(ask(text).unwrap_err().code, code, "{text}: {:?}", ask(text));
    }
}

#[test]
fn nothing_but_our_tables_can_be_reached() {
    for text in [
        "SELECT * FROM shuntyard.sqlite_master",
        "SELECT * FROM shuntyard.sqlite_schema",
        "SELECT * FROM shuntyard.json_each",
        "SELECT * FROM shuntyard.pragma_table_list",
        "SELECT load_extension('x') FROM shuntyard.queries",
        "SELECT randomblob(1000000000) FROM shuntyard.queries",
        "SELECT zeroblob(1000000000) FROM shuntyard.queries",
        "SELECT readfile('/etc/passwd') FROM shuntyard.queries",
        "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r) SELECT * FROM r, shuntyard.queries",
        "SELECT printf('%99999999d', 1) FROM shuntyard.queries",
        "SELECT group_concat(printf('%900000d', 1)) FROM shuntyard.queries",
    ] {
        assert!(ask(text).is_err(), "{text}");
    }
    let db = create().unwrap();
    let lock = Arc::new(Mutex::new(Lock::default()));
    lock::close(&db, &lock).unwrap();
    for sql in [
        "ATTACH '/tmp/x' AS x",
        "DETACH shuntyard",
        "PRAGMA writable_schema = 1",
        "CREATE TABLE t (a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "DELETE FROM shuntyard.queries",
        "INSERT INTO shuntyard.rules (id) VALUES (1)",
        "UPDATE shuntyard.rules SET id = 1",
        "DROP TABLE shuntyard.rules",
        "VACUUM INTO '/tmp/x'",
        "BEGIN",
        "ANALYZE",
    ] {
        assert!(db.execute_batch(sql).is_err(), "{sql}");
    }
}

#[test]
fn work_and_size_are_bounded() {
    let many = (0..9).map(|at| format!("shuntyard.status s{at}")).collect::<Vec<_>>().join(",");
    let text = format!("SELECT count(*) FROM {many}");
    let Some(Ok(Statement::Read(query))) = parse(text.as_bytes(), Flavor::MARIADB) else {
        panic!("not ours")
    };
    let begun = Instant::now();
    let error = run(&query, &Fixture::new(), Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.code, 1317);
    assert!(begun.elapsed() < Duration::from_secs(10));
    let four = "shuntyard.status a, shuntyard.status b, shuntyard.status c, shuntyard.status d";
    assert_eq!(ask(&format!("SELECT a.name FROM {four}")).unwrap_err().code, 1317);
}
