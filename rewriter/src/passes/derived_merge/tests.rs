//! What becomes of derived tables, text by text, and what refuses.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::Product;

use crate::testing::{Session, rule};

const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT, b INT, name VARCHAR(20), `order` INT, d DECIMAL(10,2))",
    "CREATE TABLE u (id INT NOT NULL PRIMARY KEY, t_id INT NOT NULL, at DATETIME)",
    "CREATE TABLE k (t_id INT NOT NULL PRIMARY KEY, code CHAR(8))",
    "CREATE TABLE m (id INT NOT NULL PRIMARY KEY, a INT) ENGINE=MyISAM",
];

fn run(text: &str) -> Result<String, String> {
    Session::new(&TABLES).run(&rule("derived_merge"), text)
}

/// Compared word by word: the space around spliced words is free.
fn becomes(text: &str, expected: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = run(text).unwrap_or_else(|reason| panic!("{text}\n{reason}"));
    assert_eq!(words(&found), expected, "{text}");
}

fn refused(text: &str, reason: &str) {
    let found = run(text).unwrap_err();
    assert!(found.contains(reason), "{text}\n{found}");
}

#[test]
fn the_case_of_2011() {
    becomes(
        "SELECT x.id, x.name, x.last FROM (SELECT id, name, (SELECT MAX(u.at) FROM u WHERE u.t_id = t.id) AS last \
         FROM t WHERE a = 5) AS x ORDER BY x.name DESC, last",
        "SELECT id, name, (SELECT MAX(u.at) FROM u WHERE u.t_id = t.id) AS last FROM t WHERE a = 5 \
         ORDER BY t.name DESC, 3",
    );
}

#[test]
fn conditions_are_joined_in_parentheses() {
    becomes(
        "SELECT x.id FROM (SELECT id, a FROM t WHERE a = 1 OR b = 2) x WHERE x.a = 3 OR id IN (4, 5)",
        "SELECT id FROM t WHERE (a = 1 OR b = 2) AND (a = 3 OR id IN (4, 5))",
    );
    becomes("SELECT x.id FROM (SELECT id FROM t) x WHERE x.id = 3", "SELECT id FROM t WHERE id = 3");
    becomes("SELECT x.id FROM (SELECT id FROM t WHERE a < 2) x", "SELECT id FROM t WHERE a < 2");
}

#[test]
fn output_names_are_kept() {
    becomes("SELECT x.n FROM (SELECT name AS n FROM t) x", "SELECT name AS n FROM t");
    becomes(
        "SELECT X.N FROM (SELECT name AS n FROM t) X".replace("X.N", "N").as_str(),
        "SELECT name AS N FROM t",
    );
    becomes("SELECT x.n AS m FROM (SELECT name AS n FROM t) x", "SELECT name AS m FROM t");
    becomes("SELECT `x`.`n` FROM (SELECT name n FROM t) x", "SELECT name AS `n` FROM t");
    becomes("SELECT x.order FROM (SELECT * FROM t) x", "SELECT t.order FROM t");
    refused("SELECT x.order FROM (SELECT a AS `order` FROM t) x", "names");
    refused("SELECT x.a + 1 FROM (SELECT a FROM t) x", "names: the column x.a + 1 has no alias");
    refused("SELECT * FROM (SELECT a + 1 FROM t) x", "names: the column a + 1 has no alias");
    refused("SELECT * FROM (SELECT a, b AS A FROM t) x", "two columns named");
    refused("SELECT * FROM (SELECT * FROM t, u) x", "two columns named");
}

/// Found by random statements at a server that materialises: the merged query used a temporary table.
#[test]
fn what_is_computed_from_char_keeps_its_type() {
    let text = |expression: &str, join: &str, order: &str| {
        format!("SELECT {expression} AS w FROM (SELECT k.code, k.t_id FROM k{join}) x{order}")
    };
    let (join, order) = (" LEFT JOIN u ON u.t_id = k.t_id", " ORDER BY t_id");
    refused(&text("COALESCE(code, 7)", join, order), "types: COALESCE(code, 7) may be told as VARCHAR");
    assert!(run(&text("COALESCE(code, 7)", "", order)).is_ok());
    assert!(run(&text("COALESCE(code, 7)", join, "")).is_ok());
    assert!(run(&text("t_id + 1", join, order)).is_ok());
}

#[test]
fn stars_are_the_inner_list() {
    becomes("SELECT * FROM (SELECT id, a AS z FROM t) x ORDER BY z", "SELECT id, a AS z FROM t ORDER BY 2");
    becomes("SELECT x.*, x.id AS again FROM (SELECT id, a FROM t) x", "SELECT id, a, id AS again FROM t");
    becomes("SELECT * FROM (SELECT * FROM t) x WHERE x.a = 1", "SELECT * FROM t WHERE t.a = 1");
    refused("SELECT x.*, 1 AS one FROM (SELECT * FROM t) x", "columns: a bare *");
    refused("SELECT y.* FROM (SELECT a FROM t) x", "is not the derived table");
}

#[test]
fn order_by_cannot_be_caught_by_an_alias() {
    becomes(
        "SELECT x.p AS b, x.q AS a FROM (SELECT a AS p, b AS q, id AS i FROM t) x ORDER BY x.p, a, i",
        "SELECT a AS b, b AS a FROM t ORDER BY t.a, 2, t.id",
    );
    becomes("SELECT id FROM (SELECT id FROM t y) x ORDER BY x.id", "SELECT id FROM t y ORDER BY y.id");
    becomes("SELECT id FROM (SELECT id FROM t) x ORDER BY 1 DESC", "SELECT id FROM t ORDER BY 1 DESC");
    refused("SELECT id FROM (SELECT id, a FROM t) x ORDER BY a + 1", "order_by");
    refused("SELECT id, a AS id FROM (SELECT id, a FROM t) x ORDER BY id", "two output columns are named id");
    refused(
        "SELECT id FROM (SELECT id, a + 1 AS s FROM t) x ORDER BY x.s",
        "ORDER BY uses x.s, which is computed",
    );
    refused("SELECT id FROM (SELECT id, 5 AS s FROM t) x ORDER BY s", "ORDER BY uses s, which is computed");
}

#[test]
fn computed_columns_are_put_out_only() {
    becomes(
        "SELECT c FROM (SELECT (SELECT COUNT(*) FROM u) AS c FROM t) x",
        "SELECT (SELECT COUNT(*) FROM u) AS c FROM t",
    );
    refused("SELECT id FROM (SELECT id, d / 3 AS r FROM t) x WHERE r = 0.3333", "may be rounded");
    refused("SELECT r * 3 AS s FROM (SELECT d / 3 AS r FROM t) x", "may be rounded");
    refused("SELECT c, c AS s FROM (SELECT (SELECT COUNT(*) FROM u) AS c FROM t) x", "used twice");
    becomes(
        "SELECT a + b AS s FROM (SELECT a, b FROM t) x WHERE IF(a > 1, b, 2) = 3",
        "SELECT a + b AS s FROM t WHERE IF(a > 1, b, 2) = 3",
    );
}

#[test]
fn types_of_computed_columns_must_stay() {
    let both = |value: &str| {
        let text = format!("SELECT x.v FROM (SELECT {value} AS v, id FROM t) x");
        [Product::MariaDb, Product::MySql].map(|product| {
            let mut session = Session::new(&TABLES);
            session.flavor = crate::fixture::flavor(product);
            session.run(&rule("derived_merge"), &text).is_ok()
        })
    };
    for (value, kept) in [
        ("'text'", [true, true]),
        ("1.50", [true, true]),
        ("-1e3", [true, true]),
        ("5", [true, false]),
        ("TRUE", [false, false]),
        ("x'41'", [false, false]),
        ("(SELECT COUNT(*) FROM u)", [true, true]),
        ("(SELECT MAX(at) FROM u)", [true, true]),
        ("(SELECT SUM(t_id) FROM u)", [true, true]),
        ("(SELECT MAX(t_id) FROM u)", [true, false]),
        ("(SELECT u.t_id FROM u ORDER BY id LIMIT 1)", [true, false]),
        ("(SELECT t.a FROM u LIMIT 1)", [false, false]),
        ("(SELECT MAX(at) + 1 FROM u)", [false, false]),
        ("(SELECT GROUP_CONCAT(at) FROM u)", [false, false]),
        ("(SELECT 1 FROM u LIMIT 1)", [false, false]),
        ("(SELECT COUNT(*) FROM u) + 1", [false, false]),
        ("UPPER(name)", [false, false]),
        ("a + 1", [false, false]),
        ("a IS NULL", [false, false]),
    ] {
        assert_eq!(both(value), kept, "{value}");
    }
}

#[test]
fn limit_needs_a_total_order() {
    becomes(
        "SELECT x.a FROM (SELECT id, a FROM t) x ORDER BY x.a, x.id LIMIT 3, 4",
        "SELECT a FROM t ORDER BY t.a, t.id LIMIT 3, 4",
    );
    becomes("SELECT * FROM (SELECT * FROM t) x ORDER BY id LIMIT ?", "SELECT * FROM t ORDER BY 1 LIMIT ?");
    refused("SELECT x.a FROM (SELECT id, a FROM t) x ORDER BY x.a LIMIT 3", "total_order");
    refused("SELECT x.a FROM (SELECT id, a FROM t) x LIMIT 3", "total_order");
    refused(
        "SELECT x.id FROM (SELECT t.id FROM t, u) x ORDER BY id LIMIT 3",
        "total_order: LIMIT over a join",
    );
    refused(
        "SELECT x.s FROM (SELECT (SELECT COUNT(*) FROM u) AS s, id FROM t) x ORDER BY s, id LIMIT 3",
        "total_order: LIMIT under a computed",
    );
    refused("SELECT x.id FROM (SELECT id FROM m) x ORDER BY id LIMIT 3", "engine");
}

#[test]
fn what_a_derived_table_must_not_do() {
    for (inner, reason) in [
        ("SELECT DISTINCT a FROM t", "has DISTINCT"),
        ("SELECT a FROM t GROUP BY a", "groups"),
        ("SELECT a FROM t HAVING a > 1", "groups"),
        ("SELECT COUNT(*) AS a FROM t", "aggregates: COUNT"),
        ("SELECT 1 + MAX(a) AS a FROM t", "aggregates: MAX"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) AS a FROM t", "window"),
        ("SELECT a FROM t LIMIT 3", "has LIMIT"),
        ("SELECT a FROM t ORDER BY a", "has ORDER BY"),
        ("SELECT a FROM t UNION ALL SELECT a FROM t", "is a UNION"),
        ("SELECT 1 AS a", "reads no table"),
        ("SELECT NULL AS a FROM t", "NULL column"),
        ("SELECT STRAIGHT_JOIN a FROM t", "has STRAIGHT_JOIN"),
        ("SELECT (SELECT COUNT(t.id) FROM u) AS a FROM t", "does not know the column t.id"),
        ("SELECT (SELECT COUNT(name) FROM u) AS a FROM t", "does not know the column name"),
        ("SELECT (SELECT COUNT(1)) AS a FROM t", "aggregates without a table"),
        ("SELECT id + 1 AS z, (SELECT MAX(id) FROM u WHERE t_id > z) AS a FROM t", "may mean the alias z"),
        ("SELECT a FROM gone", "does not know the table"),
    ] {
        refused(&format!("SELECT x.a FROM ({inner}) x"), reason);
    }
}

#[test]
fn what_the_query_around_must_not_do() {
    for (text, reason) in [
        ("SELECT DISTINCT a FROM (SELECT a FROM t) x", "has DISTINCT"),
        ("SELECT a FROM (SELECT a FROM t) x GROUP BY a", "groups"),
        ("SELECT COUNT(*) AS n FROM (SELECT a FROM t) x", "calls COUNT()"),
        ("SELECT SUM(a) OVER () AS n FROM (SELECT a FROM t) x", "calls SUM()"),
        ("SELECT a FROM (SELECT a FROM t) x WHERE a IN (SELECT id FROM u)", "subquery"),
        ("SELECT a FROM (SELECT a FROM t) x WHERE EXISTS (SELECT 1 FROM u WHERE u.id = x.a)", "holds"),
        ("SELECT a FROM (SELECT a FROM t) x WHERE b = 1", "no column b"),
        ("SELECT a FROM (SELECT a FROM t) x WHERE y.a = 1", "no column y.a"),
        ("SELECT a FROM (SELECT a FROM t) x WHERE name = 'x' COLLATE utf8mb4_bin", "holds"),
        ("SELECT a FROM (SELECT at AS a, at AS day FROM u) x WHERE a > NOW() - INTERVAL 1 DAY", "holds"),
        ("SELECT a FROM (SELECT a, name AS date FROM t) x WHERE date '2020-01-01' > a", "form not known"),
        (
            "SELECT a FROM (SELECT a, b AS day FROM t) x WHERE TIMESTAMPDIFF(day, a, a) = 1",
            "calls TIMESTAMPDIFF()",
        ),
        ("SELECT a FROM (SELECT a FROM t) x, u", "NotMatched"),
        ("SELECT a FROM (SELECT a FROM t) x UNION ALL SELECT 1", "NotMatched"),
        ("SELECT a FROM t", "NotMatched"),
    ] {
        refused(text, reason);
    }
}

#[test]
fn parameters_do_not_move() {
    becomes(
        "SELECT x.id, ? AS p FROM (SELECT id FROM t WHERE a = ?) x WHERE x.id > ? ORDER BY id LIMIT ?",
        "SELECT id, ? AS p FROM t WHERE (a = ?) AND (id > ?) ORDER BY 1 LIMIT ?",
    );
    refused("SELECT x.p FROM (SELECT id + ? AS p FROM t) x", "parameters");
}

#[test]
fn nested_ones_merge_in_several_passes() {
    let text = "SELECT x.id FROM (SELECT y.id, y.a FROM (SELECT id, a FROM t WHERE b = 7) y WHERE y.a = 2) x WHERE x.id > 1 ORDER BY x.id";
    becomes(text, "SELECT id FROM t WHERE (b = 7) AND ((a = 2) AND (id > 1)) ORDER BY t.id");
    let session = Session::new(&TABLES);
    let (_, outcome) = session.outcome(&rule("derived_merge"), text);
    assert_eq!(outcome.fired.len(), 2);
    assert_eq!(outcome.explain.len(), 1);
}

#[test]
fn more_than_three_passes_are_not_made() {
    let mut text = "SELECT id FROM t".to_owned();
    for level in 0..6 {
        text = format!("SELECT z{level}.id FROM ({text}) z{level}");
    }
    let session = Session::new(&TABLES);
    let (read, outcome) = session.outcome(&rule("derived_merge"), &text);
    assert_eq!(outcome.fired.len(), crate::MAX_PASSES);
    let mut out = Vec::new();
    assert!(outcome.render(&read.text, &read.scan.as_scan(), &mut out));
    assert_eq!(String::from_utf8(out).unwrap().matches("SELECT").count(), 4);
}

#[test]
fn a_plan_serves_other_literals() {
    let session = Session::new(&TABLES);
    let (_, outcome) = session.outcome(
        &rule("derived_merge"),
        "SELECT x.id FROM (SELECT id FROM t WHERE name = 'a') x WHERE x.id > 1",
    );
    let text = "SELECT x.id FROM (SELECT id FROM t WHERE name = 'b) AS (') x WHERE x.id > 22";
    let read = crate::Read::of(text.as_bytes().to_vec(), session.flavor).unwrap();
    let mut out = Vec::new();
    assert!(outcome.render(&read.text, &read.scan.as_scan(), &mut out));
    assert_eq!(String::from_utf8(out).unwrap(), "SELECT id FROM t WHERE (name = 'b) AS (') AND (id > 22)");
}
