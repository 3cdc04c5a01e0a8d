//! Which statements are ours and what they become.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

fn ours(text: &str) -> Option<Result<Statement<'_>, SqlError>> {
    parse(text.as_bytes(), Flavor::MARIADB)
}

fn sql_of(text: &str) -> String {
    match ours(text) {
        Some(Ok(Statement::Read(query))) => query.sql,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn show_becomes_a_select() {
    assert_eq!(sql_of("SHOW SHUNTYARD STATUS"), "SELECT * FROM shuntyard.status ");
    assert_eq!(
        sql_of("show shuntyard queries order by p99 desc limit 10;"),
        "SELECT * FROM shuntyard.queries order by p99 desc limit 10"
    );
    assert_eq!(
        sql_of("/* tool */ SHOW SHUNTYARD STATUS LIKE 'conn%' -- now"),
        "SELECT * FROM shuntyard.status WHERE `name` LIKE 'conn%' ESCAPE '\\' "
    );
    assert_eq!(
        sql_of("SHOW SHUNTYARD Backends WHERE state <> 'up'"),
        "SELECT * FROM shuntyard.backends WHERE state <> 'up'"
    );
    assert!(sql_of("SHOW FULL TABLES FROM `shuntyard` LIKE 'q%'").contains("Tables_in_shuntyard` LIKE 'q%'"));
    assert!(sql_of("DESCRIBE shuntyard.queries").contains("'p99','double'"));
    assert!(sql_of("show columns from shuntyard.queries").contains("'p99','double'"));
}

#[test]
fn selects_that_read_only_our_schema_are_ours() {
    for text in [
        "SELECT * FROM shuntyard.queries",
        "select count(*) from ShuntYard.`Queries` as q where q.p99 > 1 limit 1",
        "SELECT * FROM (SELECT digest FROM shuntyard.queries) d, shuntyard.sessions s WHERE d.digest = s.digest",
        "SELECT q.digest FROM shuntyard.queries q JOIN shuntyard.sessions s ON q.digest = s.digest, shuntyard.rules",
        "WITH top AS (SELECT * FROM shuntyard.queries), t (a) AS (SELECT 1) SELECT * FROM top JOIN t",
        "(SELECT id FROM shuntyard.rules) UNION ALL (SELECT name FROM shuntyard.backends) ORDER BY 1",
        "SELECT (SELECT max(p99) FROM shuntyard.queries)",
        "SELECT * FROM (shuntyard.queries q CROSS JOIN shuntyard.rules)",
        "SELECT 1 FROM shuntyard.rules WHERE EXISTS (SELECT 1 FROM shuntyard.queries WHERE a IN (1, 2))",
    ] {
        assert!(matches!(ours(text), Some(Ok(Statement::Read(_)))), "{text}: {:?}", ours(text));
    }
}

#[test]
fn everything_else_goes_to_the_server() {
    for text in [
        "",
        "SELECT 1",
        "SELECT * FROM orders",
        "SELECT 'shuntyard.queries' FROM t",
        "SELECT 'FROM shuntyard.queries'",
        "SELECT shuntyard.id FROM shop.shuntyard",
        "SELECT id, shuntyard.id FROM t shuntyard ORDER BY id, shuntyard.id",
        "SELECT * FROM shuntyard",
        "SELECT * FROM shuntyard.queries, orders",
        "SELECT * FROM shuntyard.queries q JOIN shop.orders o ON o.id = q.count",
        "SELECT * FROM shuntyard.queries WHERE count IN (SELECT id FROM orders)",
        "SELECT * FROM shuntyard.queries UNION SELECT * FROM orders",
        "SELECT EXTRACT(YEAR FROM day) FROM shuntyard.queries",
        "SELECT * FROM shuntyard.queries, JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) j",
        "SELECT * FROM shuntyard.queries JOIN (VALUES (1)) v, LATERAL (SELECT * FROM orders) o",
        "/* shuntyard: rewrite=off */ SELECT * FROM orders",
        "INSERT INTO shuntyard.queries VALUES (1)",
        "INSERT INTO orders SELECT * FROM shuntyard.queries",
        "EXPLAIN SELECT * FROM shuntyard.queries",
        "SHOW TABLES FROM shop LIKE 'shuntyard'",
        "SHOW CREATE TABLE shuntyard.queries",
        "SELECT * FROM shuntyard.queries)",
        "USE shuntyard",
    ] {
        assert_eq!(ours(text), None, "{text}");
    }
    assert_eq!(parse(b"SELECT '\xff' FROM shuntyard.queries", Flavor::MARIADB), None);
}

#[test]
fn commands_are_read() {
    assert_eq!(ours("SHUNTYARD RELOAD;"), Some(Ok(Statement::Reload)));
    for (text, on) in [
        ("shuntyard set RULES = off", false),
        ("SHUNTYARD SET rules=ON", true),
        ("SHUNTYARD SET rules = 0", false),
    ] {
        assert_eq!(ours(text), Some(Ok(Statement::Set { switch: Switch::Rules, on })), "{text}");
    }
    assert_eq!(
        ours("EXPLAIN SHUNTYARD  SELECT /* x */ 1;"),
        Some(Ok(Statement::Explain(b"SELECT /* x */ 1;")))
    );
    assert_eq!(ours("EXPLAIN SHUNTYARD /*+ x */ 'a"), Some(Ok(Statement::Explain(b"'a"))));
}

#[test]
fn what_is_ours_but_wrong_is_told() {
    for (text, code) in [
        ("SHUNTYARD", 1064),
        ("SHUNTYARD DANCE", 1064),
        ("SHUNTYARD SET rules = maybe", 1064),
        ("SHUNTYARD SET cache = ON", 1064),
        ("SHUNTYARD RELOAD now", 1064),
        ("EXPLAIN SHUNTYARD", 1064),
        ("SHOW SHUNTYARD", 1064),
        ("SHOW SHUNTYARD SHARDS", 1064),
        ("SHOW SHUNTYARD STATUS LIKE x", 1064),
        ("SHOW SHUNTYARD STATUS LIKE 'x' WHERE 1", 1064),
        ("SHOW SHUNTYARD STATUS UNION SELECT 1", 1064),
        ("DESCRIBE shuntyard.nothing", 1146),
        ("SELECT * FROM shuntyard.queries; SELECT 1", 1064),
    ] {
        assert_eq!(ours(text).unwrap().unwrap_err().code, code, "{text}");
    }
}

#[test]
fn the_word_is_found_wherever_it_stands() {
    for text in ["shuntyard", "x SHUNTYARD y", "yyyyyshuntYardyyyy", "`ShuntyarD`"] {
        assert!(mentions(text.as_bytes()), "{text}");
    }
    for text in ["", "y", "shunty", "shuntyar", "huntyard", "shunt yard", &"y".repeat(100)] {
        assert!(!mentions(text.as_bytes()), "{text}");
    }
}

/// Words of administrators' statements in any order: ours or not, read or refused.
#[test]
fn fuzz_statement() {
    const WORDS: [&str; 36] = [
        "SHOW",
        "SHUNTYARD",
        "STATUS",
        "QUERIES",
        "LIKE",
        "'a%'",
        "WHERE",
        "ORDER BY",
        "LIMIT",
        "1",
        ",",
        ";",
        "SELECT",
        "*",
        "FROM",
        "shuntyard.",
        "queries",
        "`rules`",
        "AS",
        "q",
        "JOIN",
        "ON",
        "(",
        ")",
        "UNION",
        "WITH",
        "x",
        "EXPLAIN",
        "RELOAD",
        "SET",
        "rules",
        "=",
        "OFF",
        "DESCRIBE",
        "\\",
        "/* c */",
    ];
    bolero::check!().with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(picks, bytes)| {
        let words: Vec<&str> = picks.iter().map(|pick| WORDS[usize::from(*pick) % WORDS.len()]).collect();
        for text in [words.join(" ").into_bytes(), [b"SHOW SHUNTYARD ", bytes.as_slice()].concat()] {
            for flavor in [Flavor::MARIADB, Flavor::MYSQL.with_mode(sql::SqlMode::ANSI_QUOTES)] {
                let _ = parse(&text, flavor);
            }
        }
    });
}
