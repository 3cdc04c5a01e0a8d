//! Facts read off statements.

use super::*;
use crate::flavor::Flavor;
use crate::tree;

fn facts(text: &str) -> Facts {
    Facts::of(&tree::parse(text, Flavor::MARIADB).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn tables(text: &str) -> Vec<String> {
    facts(text)
        .tables
        .into_iter()
        .map(|table| {
            let schema = table.schema.map(|schema| format!("{schema}.")).unwrap_or_default();
            let alias = table.alias.map(|alias| format!(" {alias}")).unwrap_or_default();
            let write = if table.access == Access::Write { "!" } else { "" };
            format!("{schema}{}{alias}{write}@{}", table.name, table.depth)
        })
        .collect()
}

#[test]
fn tables_and_their_roles() {
    assert_eq!(tables("SELECT * FROM s.a x, `b` JOIN c ON 1"), ["s.a x@0", "b@0", "c@0"]);
    assert_eq!(tables("SELECT (SELECT 1 FROM u) FROM (SELECT 1 FROM v) d"), ["u@1", "v@1"]);
    assert_eq!(tables("INSERT INTO t SELECT * FROM u"), ["t!@0", "u@0"]);
    assert_eq!(tables("INSERT INTO t VALUES (1)"), ["t!@0"]);
    assert_eq!(tables("UPDATE t SET a = (SELECT 1 FROM u)"), ["t!@0", "u@1"]);
    assert_eq!(tables("DELETE FROM t WHERE a IN (SELECT b FROM u)"), ["t!@0", "u@1"]);
    assert_eq!(tables("SELECT 1"), [""; 0]);
}

#[test]
fn names_of_common_tables_are_not_tables() {
    assert_eq!(tables("WITH x AS (SELECT * FROM t) SELECT * FROM X"), ["t@1"]);
    // Inside its own definition the name is the base table's, unless the WITH is recursive.
    assert_eq!(tables("WITH t AS (SELECT * FROM t) SELECT * FROM t"), ["t@1"]);
    assert_eq!(
        tables(
            "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t"
        ),
        [""; 0]
    );
    assert_eq!(tables("SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) d, x"), ["x@0"]);
    assert_eq!(tables("WITH x AS (SELECT 1) SELECT * FROM s.x"), ["s.x@0"]);
}

#[test]
fn shape_of_a_query() {
    let found = facts(
        "SELECT DISTINCT a, COUNT(*) FROM t LEFT JOIN u ON t.x = u.x JOIN v USING (y) \
         WHERE EXISTS (SELECT 1 FROM w LIMIT 1) GROUP BY a ORDER BY a",
    );
    assert_eq!((found.joins, found.outer_joins, found.subqueries, found.derived), (2, 1, 1, 0));
    assert!(found.distinct && found.group_by && found.aggregates && found.order_by && found.any_limit);
    assert!(!found.has_limit && !found.windows && !found.locking && !found.into);
    let union = facts("(SELECT a FROM t) UNION ALL (SELECT b FROM u) ORDER BY 1 LIMIT 2");
    assert_eq!((union.set_operations, union.subqueries), (1, 0));
    assert!(union.has_limit && union.order_by);
    assert_eq!(facts("INSERT INTO t SELECT a FROM u").subqueries, 0);
    assert!(facts("SELECT a FROM t FOR UPDATE").locking);
    assert!(facts("SELECT a FROM t LOCK IN SHARE MODE").locking);
    assert!(facts("SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1").calc_found_rows);
    assert!(facts("SELECT SUM(a) OVER (ORDER BY b) FROM t").windows);
    assert!(facts("SELECT MATCH (a) AGAINST ('x') FROM t").full_text);
    assert_eq!(facts("SELECT ? FROM t WHERE a = ?").parameters, 2);
}

#[test]
fn purity_of_functions() {
    let of = |text: &str| (facts(text).purity, facts(text).deterministic);
    assert_eq!(of("SELECT a FROM t"), (Purity::Pure, Truth::Yes));
    assert_eq!(of("SELECT ABS(a), NOW() FROM t"), (Purity::Statement, Truth::Yes));
    assert_eq!(of("SELECT CURRENT_USER FROM t"), (Purity::Statement, Truth::Yes));
    assert_eq!(of("SELECT RAND() FROM t"), (Purity::Volatile, Truth::No));
    assert_eq!(of("SELECT LAST_INSERT_ID()"), (Purity::Session, Truth::No));
    assert_eq!(of("SELECT LAST_INSERT_ID(5)"), (Purity::Effect, Truth::No));
    assert_eq!(of("SELECT SLEEP(1)"), (Purity::Effect, Truth::No));
    assert_eq!(of("SELECT my_function(a) FROM t"), (Purity::Unknown, Truth::Unknown));
    assert_eq!(of("SELECT s.abs(a) FROM t"), (Purity::Unknown, Truth::Unknown));
    assert_eq!(of("SELECT `abs`(a) FROM t").0, Purity::Unknown);
    assert_eq!(of("SELECT @a := @a + 1 FROM t").1, Truth::No);
    assert_eq!(of("SELECT a FROM t ORDER BY (SELECT RAND())").1, Truth::No);
}

#[test]
fn three_values() {
    use Truth::{No, Unknown, Yes};
    assert_eq!(
        [Yes.and(Unknown), No.and(Unknown), Yes.or(Unknown), No.or(Unknown)],
        [Unknown, No, Yes, Unknown]
    );
    assert_eq!([!Yes, !No, !Unknown], [No, Yes, Unknown]);
    assert!(Truth::of(true).is_yes() && Truth::of(false).is_no());
}
