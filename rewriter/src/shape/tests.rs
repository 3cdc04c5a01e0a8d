//! Shapes of queries, and texts that have none.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::Product;
use sql::digest::Scanner;

use super::{ItemKind, Odd, Query, SetOp, Source, Term, from, read};
use crate::fixture::flavor;

fn shape<T>(text: &str, look: impl Fn(Source<'_>, Result<Query, Odd>) -> T) -> T {
    let flavor = flavor(Product::MariaDb);
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text.as_bytes(), flavor);
    let source = Source { text: text.as_bytes(), units: scan.units };
    look(source, read(source))
}

fn odd(text: &str) -> String {
    shape(text, |_, query| query.unwrap_err().0)
}

#[test]
fn clauses_are_found_at_their_own_depth() {
    let text = "SELECT a, (SELECT b FROM u ORDER BY c LIMIT 1) AS d, GROUP_CONCAT(e ORDER BY f SEPARATOR ',') \
                FROM t LEFT JOIN u ON t.x = u.x AND LEFT(u.y, 2) = 'a' WHERE x = ' LIMIT 5' ORDER BY d DESC, a LIMIT 3, 4";
    shape(text, |source, query| {
        let query = query.unwrap();
        let Term::Block(block) = &query.first else { panic!() };
        let items: Vec<_> = block.items.iter().map(|item| source.show(&item.value)).collect();
        assert_eq!(
            items,
            ["a", "(SELECT b FROM u ORDER BY c LIMIT 1)", "GROUP_CONCAT(e ORDER BY f SEPARATOR ',')"]
        );
        assert_eq!(source.show(&block.condition.clone().unwrap()), "x = ' LIMIT 5'");
        let factors = from::read(&source, block.from.as_ref().unwrap()).unwrap();
        assert_eq!(factors.len(), 2);
        let order = query.order.as_ref().unwrap();
        assert_eq!(order.keys.iter().map(|key| key.descending).collect::<Vec<_>>(), [true, false]);
        let limit = query.limit.as_ref().unwrap();
        assert_eq!(source.bytes(limit.count), b"4");
        assert_eq!(source.bytes(limit.offset.unwrap()), b"3");
    });
}

#[test]
fn unions_are_read_with_their_operations() {
    let text = "(SELECT 1 LIMIT 2) UNION ALL SELECT 2 UNION SELECT 3 ORDER BY 1 LIMIT 5 OFFSET 6";
    shape(text, |source, query| {
        let query = query.unwrap();
        assert!(matches!(&query.first, Term::Nested(inner) if inner.limit.is_some()));
        assert_eq!(query.rest.iter().map(|(op, _)| *op).collect::<Vec<_>>(), [SetOp::UnionAll, SetOp::Other]);
        assert_eq!(source.bytes(query.limit.as_ref().unwrap().offset.unwrap()), b"6");
    });
}

#[test]
fn items_are_told_apart() {
    let text = "SELECT *, t.*, a, t.a, s.t.a b, -1 AS c, 'x' 'y', NULL, a + 1 x, COUNT(*), `a` `b`, CURRENT_ROLE, d IS NULL e FROM t";
    let kinds = shape(text, |source, query| {
        let query = query.unwrap();
        let Term::Block(block) = &query.first else { panic!() };
        block
            .items
            .iter()
            .map(|item| {
                let kind = match item.kind {
                    ItemKind::Star => "star",
                    ItemKind::QualifiedStar(_) => "qualified star",
                    ItemKind::Column(_) => "column",
                    ItemKind::Literal => "literal",
                    ItemKind::Null => "null",
                    ItemKind::Expression => "expression",
                };
                format!(
                    "{kind} {}",
                    item.alias.map(|alias| source.show(&(alias..alias + 1))).unwrap_or_default()
                )
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(
        kinds,
        [
            "star ",
            "qualified star ",
            "column ",
            "column ",
            "column b",
            "literal c",
            "expression ",
            "null ",
            "expression x",
            "expression ",
            "column `b`",
            "expression ",
            "expression e",
        ]
    );
}

#[test]
fn what_is_not_plain_is_odd() {
    for text in [
        "",
        "SELECT",
        "SELECT FROM t",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t LOCK IN SHARE MODE",
        "SELECT a INTO @x FROM t",
        "SELECT a FROM t PROCEDURE ANALYSE()",
        "SELECT a FROM t USE INDEX FOR ORDER BY (i) ORDER BY a",
        "SELECT a FROM t ORDER BY a LIMIT 5 ROWS EXAMINED 10",
        "SELECT a FROM t ORDER BY a OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY",
        "SELECT a FROM t WINDOW w AS (ORDER BY a)",
        "WITH c AS (SELECT 1) SELECT * FROM c",
        "SELECT a FROM t LIMIT @x",
        "SELECT a FROM (SELECT 1",
        "SELECT a FROM t)",
        "SELECT a FROM t MINUS SELECT b FROM u",
        "VALUES (1), (2)",
        "TABLE t",
        "SELECT {d '2020-01-01'} FROM t",
        "SELECT a FROM t; SELECT b FROM u",
        "INSERT INTO t SELECT a FROM u",
    ] {
        assert!(!odd(text).is_empty(), "{text}");
    }
    assert!(odd(&format!("{}SELECT 1{}", "(".repeat(40), ")".repeat(40))).contains("too deeply"));
    assert!(!odd(&"(".repeat(50_000)).is_empty());
}

#[test]
fn odd_joins_are_odd() {
    for text in [
        "SELECT a FROM t NATURAL JOIN u",
        "SELECT a FROM t JOIN u USING (x)",
        "SELECT a FROM t PARTITION (p0)",
        "SELECT a FROM (t, u) JOIN v ON 1",
        "SELECT a FROM t LEFT JOIN (u JOIN v ON 1) ON 1",
        "SELECT a FROM JSON_TABLE(x, '$' COLUMNS (a INT PATH '$')) j",
    ] {
        shape(text, |source, query| {
            let Ok(query) = query else { return };
            let Term::Block(block) = &query.first else { panic!() };
            assert!(from::read(&source, block.from.as_ref().unwrap()).is_err(), "{text}");
        });
    }
}
