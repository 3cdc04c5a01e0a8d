//! What the digest tells apart, what it does not, and that nothing leaks or panics.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::*;
use crate::flavor::{CharsetClass, Flavor, SqlMode};

fn scan(text: &str) -> OwnedScan {
    Scanner::new().scan(text.as_bytes(), Flavor::MARIADB).to_owned()
}

fn same(a: &str, b: &str) {
    let (left, right) = (scan(a), scan(b));
    assert_eq!(left.digest, right.digest, "{a}  |  {b}");
    assert_eq!(left.units.len(), right.units.len(), "{a}  |  {b}");
    let kinds = |scan: &OwnedScan| scan.slots.iter().map(|slot| (slot.unit, slot.kind)).collect::<Vec<_>>();
    assert_eq!(kinds(&left), kinds(&right), "{a}  |  {b}");
}

fn differ(a: &str, b: &str) {
    assert_ne!(scan(a).digest, scan(b).digest, "{a}  |  {b}");
}

#[test]
fn literals_of_one_kind_are_one_digest() {
    same("SELECT c FROM t WHERE id=1", "select c from t where id = 99");
    same("SELECT c FROM t WHERE a='x'", "SELECT c FROM t WHERE a='it''s'");
    same("SELECT c FROM t WHERE a=\"x\"", "SELECT c FROM t WHERE a='y'");
    same("SELECT c FROM t LIMIT 5", "SELECT c FROM t LIMIT 10");
    same("SELECT c FROM t LIMIT 5, 10", "SELECT c FROM t LIMIT 7,20");
    same("SELECT c FROM t WHERE a=0x1", "SELECT c FROM t WHERE a=x'ff'");
    same("SELECT c FROM t; ", "SELECT c FROM t");
    same("SELECT c /* x */ FROM t -- y", "SELECT c FROM t");
    same("SELECT IF(a > 5, 1, 0) AS x FROM t", "SELECT IF(a > 6, 2, 3) AS x FROM t");
    same(
        "SELECT (SELECT b FROM u WHERE c = 1 LIMIT 2) AS x FROM t",
        "SELECT (SELECT b FROM u WHERE c = 3 LIMIT 4) AS x FROM t",
    );
    same("INSERT INTO t SELECT 1, 'a' FROM u", "INSERT INTO t SELECT 2, 'b' FROM u");
    same("UPDATE t SET a=5 WHERE b=6", "UPDATE t SET a=7 WHERE b=8");
    same(
        "SELECT a FROM t WHERE b ORDER BY FIELD(a, 1, 2)",
        "SELECT a FROM t WHERE b ORDER BY FIELD(a, 3, 4)",
    );
}

#[test]
fn lists_collapse() {
    same("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (1, 2, 3)");
    same("SELECT a FROM t WHERE b IN (1, NULL)", "SELECT a FROM t WHERE b IN (NULL, 2, 3)");
    same("SELECT a FROM t WHERE b IN ('x' 'y')", "SELECT a FROM t WHERE b IN ('x', 'y')");
    same("SELECT a FROM t WHERE (b,c) IN ((1,2))", "SELECT a FROM t WHERE (b,c) IN ((1,2),(3,4))");
    same("INSERT INTO t VALUES (1,'a')", "INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c')");
    same("INSERT INTO t VALUES (1),(2),('x'),('y')", "INSERT INTO t VALUES (1),('x')");
    differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN ('1')");
    differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (-1)");
    differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (1, NULL)");
    differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (1, c)");
    differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b = (1)");
    differ("SELECT a FROM t WHERE b IN (?)", "SELECT a FROM t WHERE b IN (?, ?)");
    differ("INSERT INTO t VALUES (1,'a')", "INSERT INTO t VALUES ('a',1)");
    differ("INSERT INTO t VALUES (1,2)", "INSERT INTO t VALUES (1),(2)");
    differ("INSERT INTO t VALUES (1,'a')", "INSERT INTO t VALUES (1,'a'),('b',2)");
    let one = scan("INSERT INTO t VALUES (1,'a'),(2,'b')");
    assert_eq!(one.units.len(), 5);
    assert_eq!(one.units[4].kind, UnitKind::Rows { columns: 2 });
    assert!(one.slots.is_empty());
    // The collapsed list covers its parentheses.
    let text = "SELECT a FROM t WHERE b IN (1, /* shuntyard: rewrite=off */ 2) AND c";
    let list = scan(text);
    assert!(list.marks.contains(Marks::PRAGMA_OFF));
    let unit = list.units.iter().find(|unit| matches!(unit.kind, UnitKind::List(_))).unwrap();
    assert!(unit.of(text.as_bytes()).starts_with(b"(1,") && unit.of(text.as_bytes()).ends_with(b"2)"));
}

#[test]
fn what_a_plan_may_depend_on_is_told_apart() {
    let texts = [
        "SELECT a FROM t WHERE b = 1",
        "SELECT a FROM t WHERE b = 1.0",
        "SELECT a FROM t WHERE b = 1e0",
        "SELECT a FROM t WHERE b = '1'",
        "SELECT a FROM t WHERE b = N'1'",
        "SELECT a FROM t WHERE b = _utf8mb4'1'",
        "SELECT a FROM t WHERE b = _latin1'1'",
        "SELECT a FROM t WHERE b = 0x1",
        "SELECT a FROM t WHERE b = b'1'",
        "SELECT a FROM t WHERE b = ?",
        "SELECT a FROM t WHERE b = -1",
        "SELECT a FROM t WHERE b = +1",
        "SELECT a FROM t WHERE b = - -1",
        "SELECT a FROM t WHERE b = 9223372036854775808",
        "SELECT a FROM t WHERE b = 'x' 'y'",
        "SELECT a FROM t WHERE b = NULL",
        "SELECT a FROM t WHERE b = TRUE",
        "SELECT a FROM t WHERE b = FALSE",
        "SELECT a FROM t WHERE b = @b",
        "SELECT a FROM t WHERE b = @c",
        "SELECT a FROM t WHERE b = @@c",
        "SELECT a FROM t WHERE b <> 1",
        "SELECT a FROM t WHERE B = 1",
        "SELECT a FROM T WHERE b = 1",
        "SELECT a FROM t WHERE `b` = 1",
        "SELECT A FROM t WHERE b = 1",
        "SELECT DISTINCT a FROM t WHERE b = 1",
        "SELECT /*+ x */ a FROM t WHERE b = 1",
        "SELECT /*+ y */ a FROM t WHERE b = 1",
        "SELECT a FROM t /*! x */ WHERE b = 1",
        "SELECT a FROM t WHERE b = 1; SELECT 1",
        "SELECT a, 1 FROM t WHERE b = 1",
        "SELECT a, 2 FROM t WHERE b = 1",
        "SELECT a, 1 AS `1` FROM t WHERE b = 1",
        "SELECT a, 1 AS '1' FROM t WHERE b = 1",
        "SELECT a, 1 AS '2' FROM t WHERE b = 1",
        "SELECT a+1 FROM t WHERE b = 1",
        "SELECT a + 1 FROM t WHERE b = 1",
        "SELECT a /**/+ 1 FROM t WHERE b = 1",
        "SELECT a+2 FROM t WHERE b = 1",
        "SELECT (SELECT 1) FROM t WHERE b = 1",
        "SELECT (SELECT 2) FROM t WHERE b = 1",
        "SELECT a DIV b FROM t WHERE b = 1",
        "SELECT a div b FROM t WHERE b = 1",
        "SELECT x FROM (SELECT 1) d WHERE b = 1",
        "SELECT x FROM (SELECT 2) d WHERE b = 1",
        "SELECT a FROM t WHERE b = 1 ORDER BY 1",
        "SELECT a FROM t WHERE b = 1 ORDER BY 2",
        "SELECT a FROM t WHERE b = 1 ORDER BY a, 1",
        "SELECT a FROM t WHERE b = 1 ORDER BY a, 2",
        "SELECT a FROM t WHERE b = 1 ORDER BY (1)",
        "SELECT a FROM t WHERE b = 1 ORDER BY (2)",
        "SELECT a FROM t WHERE b = 1 ORDER BY +1",
        "SELECT a FROM t WHERE b = 1 ORDER BY +2",
        "SELECT a FROM t WHERE b = 1 GROUP BY 1",
        "SELECT a FROM t WHERE b = 1 GROUP BY 2",
        "SELECT a FROM t WHERE b = 1 GROUP BY a + 1",
        "SELECT a FROM t WHERE b = 1 GROUP BY a + 2",
        "SELECT a FROM t WHERE b = 1 GROUP BY FLOOR(a / 3)",
        "SELECT a FROM t WHERE b = 1 GROUP BY FLOOR(a / 4)",
        "SELECT a FROM t WHERE CAST(b AS DECIMAL(10,2)) = 1",
        "SELECT a FROM t WHERE CAST(b AS DECIMAL(10,3)) = 1",
        "SELECT a FROM t WHERE count(b) = 1",
        "SELECT a FROM t WHERE count (b) = 1",
        "SELECT a FROM t WHERE t.select = 1",
        "SELECT a FROM t WHERE t.SELECT = 1",
        "SET a = 1",
        "SET a = 2",
        "SET NAMES 'utf8mb4'",
        "SET NAMES 'latin1'",
        "SELECT 'a' b",
        "SELECT 'a', b",
        "SELECT a b",
        "SELECT ab",
        "",
    ];
    for (index, a) in texts.iter().enumerate() {
        for b in &texts[index + 1..] {
            differ(a, b);
        }
    }
    differ("SELECT 1 -- x\n+1", "SELECT 1");
}

#[test]
fn encodings_do_not_run_together() {
    // Lengths stand before names of any length.
    let long = "x".repeat(300);
    differ(&format!("SELECT {long} FROM t"), &format!("SELECT {long}x FROM t"));
    differ("SELECT a FROM `b c`", "SELECT a FROM `b` c");
}

#[test]
fn slots_are_numbered_in_order() {
    let text = "SELECT ?, a + 5 AS x, IF(b, 6, ?) AS y FROM t WHERE c = 'z' AND d IN (1,2) LIMIT 9";
    let found = scan(text);
    let slots: Vec<(&str, LiteralKind)> = (0..found.slots.len() as u32)
        .map(|slot| {
            let bytes = found.as_scan().slot(text.as_bytes(), slot).unwrap();
            (std::str::from_utf8(bytes).unwrap(), found.slots[slot as usize].kind)
        })
        .collect();
    assert_eq!(
        slots,
        [
            ("?", LiteralKind::Param),
            ("5", LiteralKind::Int),
            ("6", LiteralKind::Int),
            ("?", LiteralKind::Param),
            ("'z'", LiteralKind::String),
            ("9", LiteralKind::Int),
        ]
    );
    for (index, unit) in found.units.iter().enumerate() {
        if let UnitKind::Literal { slot: Some(slot), .. } = unit.kind {
            assert_eq!(found.slots[slot as usize].unit as usize, index);
        }
    }
    assert!(found.marks.contains(Marks::PARAM));
}

#[test]
fn marks() {
    for (text, wanted) in [
        ("SELECT 1", Marks::empty()),
        ("SELECT 1;", Marks::empty()),
        ("SELECT 1; -- x", Marks::empty()),
        ("SELECT 1; SELECT 2", Marks::MULTI),
        ("SELECT 1;;", Marks::MULTI),
        ("SELECT ';'", Marks::empty()),
        ("SELECT /*! 1 */", Marks::EXECUTABLE_COMMENT),
        ("SELECT /*M! 1 */", Marks::EXECUTABLE_COMMENT),
        ("SELECT '/*! */'", Marks::empty()),
        ("SELECT /*+ x */ 1", Marks::HINT),
        ("/* shuntyard: rewrite=off */ SELECT 1", Marks::PRAGMA_OFF),
        ("SELECT 1 -- shuntyard: rewrite=off", Marks::PRAGMA_OFF),
        ("SELECT 1 /* shuntyard: rewrite=offer */", Marks::empty()),
        ("SELECT '/* shuntyard: rewrite=off */'", Marks::empty()),
        ("SELECT @a", Marks::USER_VAR),
        ("SELECT @a := 1", Marks::USER_VAR.union(Marks::ASSIGN)),
        ("SELECT @@a", Marks::SYS_VAR),
        ("SELECT ?", Marks::PARAM),
        ("SELECT 'open", Marks::ERROR),
        ("SELECT /* open", Marks::ERROR),
        ("SELECT a INTO OUTFILE 'x'", Marks::INTO),
        ("SELECT a FROM t FOR UPDATE", Marks::LOCKING),
        ("SELECT a FROM t LOCK IN SHARE MODE", Marks::LOCKING),
        ("SELECT a FROM t FOR SHARE", Marks::LOCKING),
        ("SELECT SQL_CALC_FOUND_ROWS a FROM t", Marks::CALC_FOUND_ROWS),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; END", Marks::MULTI.union(Marks::COMPOUND)),
        ("BEGIN NOT ATOMIC SELECT 1; END", Marks::MULTI.union(Marks::COMPOUND)),
    ] {
        assert_eq!(scan(text).marks, wanted, "{text}");
    }
}

#[test]
fn verbs() {
    for (text, verb) in [
        ("", Verb::Empty),
        (" -- x", Verb::Empty),
        ("select 1", Verb::Select),
        ("((select 1))", Verb::Select),
        ("(select 1) union (select 2)", Verb::Select),
        ("WITH a AS (SELECT 1) SELECT * FROM a", Verb::Select),
        ("WITH a AS (SELECT 1) UPDATE t SET b=1", Verb::Update),
        ("WITH a AS (DELETE) DELETE FROM t", Verb::Delete),
        ("VALUES (1)", Verb::Values),
        ("TABLE t", Verb::Table),
        ("INSERT INTO t VALUES (1)", Verb::Insert),
        ("REPLACE t VALUES (1)", Verb::Replace),
        ("SET a=1", Verb::Set),
        ("SET STATEMENT a=1 FOR SELECT 1", Verb::SetStatement),
        ("BEGIN", Verb::Begin),
        ("BEGIN WORK", Verb::Begin),
        ("START TRANSACTION READ ONLY", Verb::Begin),
        ("START SLAVE", Verb::Maintenance),
        ("COMMIT AND CHAIN", Verb::Commit),
        ("ROLLBACK", Verb::Rollback),
        ("ROLLBACK TO SAVEPOINT a", Verb::RollbackTo),
        ("ROLLBACK WORK TO a", Verb::RollbackTo),
        ("SAVEPOINT a", Verb::Savepoint),
        ("RELEASE SAVEPOINT a", Verb::Release),
        ("CALL p()", Verb::Call),
        ("KILL 5", Verb::Kill),
        ("DROP PREPARE a", Verb::Deallocate),
        ("DROP TABLE a", Verb::Ddl),
        ("TRUNCATE a", Verb::Ddl),
        ("CREATE USER a", Verb::Account),
        ("CREATE TABLE user (user INT)", Verb::Ddl),
        ("GRANT ALL ON *.* TO a", Verb::Account),
        ("ANALYZE TABLE t", Verb::Maintenance),
        ("ANALYZE SELECT 1", Verb::Explain),
        ("DESC t", Verb::Explain),
        ("SHUNTYARD RELOAD", Verb::Shuntyard),
        ("XA START 'a'", Verb::Xa),
        ("HANDLER t OPEN", Verb::Handler),
        ("LOCK TABLES t READ", Verb::Lock),
        ("LOAD DATA INFILE 'x' INTO TABLE t", Verb::Load),
        ("frobnicate", Verb::Other),
        ("`select` 1", Verb::Other),
        ("1", Verb::Other),
    ] {
        assert_eq!(scan(text).verb, verb, "{text}");
    }
}

#[test]
fn normalized_text() {
    for (text, wanted) in [
        ("select  c from sbtest1 where id=5012", "SELECT c FROM sbtest1 WHERE id = ?"),
        ("SELECT count(*), t.a FROM `t` WHERE b IN (1,2)", "SELECT count(*), t.a FROM `t` WHERE b IN (...)"),
        ("insert into t values (1,'a'),(2,'b')", "INSERT INTO t VALUES (...)"),
        ("SELECT 'a' /* secret */ AS x", "SELECT ? AS x"),
        ("SELECT /*+ SET_VAR(a='secret') */ 1 ORDER BY 1", "SELECT /*+ ... */ ? ORDER BY ?"),
        ("SELECT /*! 'secret' */ 1", "SELECT /*! ... */ ?"),
        ("SELECT 1; SELECT 2;", "SELECT ?; SELECT ?"),
        ("CREATE USER 'a'@'secret' IDENTIFIED BY 'x'", "CREATE USER ?@? IDENTIFIED BY ?"),
        ("SET PASSWORD = 'secret'", "SET PASSWORD = ?"),
        ("SELECT 'secret", "SELECT <?>"),
        ("SELECT -1", "SELECT - ?"),
    ] {
        assert_eq!(normalize(text.as_bytes(), Flavor::MARIADB), wanted, "{text}");
    }
    let ansi = Flavor::MARIADB.with_mode(SqlMode::ANSI_QUOTES);
    assert_eq!(normalize(b"SELECT \"a\"", ansi), "SELECT \"a\"");
    assert_eq!(normalize(b"SELECT \"a\"", Flavor::MARIADB), "SELECT ?");
}

#[test]
fn unsafe_charsets_are_not_read() {
    let gbk = Flavor { charset: CharsetClass::Unsafe, ..Flavor::MARIADB };
    let mut scanner = Scanner::new();
    let found = scanner.scan(b"SELECT 1", gbk);
    assert!(found.units.is_empty() && found.marks == Marks::ERROR);
    assert_ne!(found.digest, Scanner::new().scan(b"SELECT 2", gbk).digest);
    assert!(!normalize(b"SELECT 'secret'", gbk).contains("secret"));
}

#[test]
fn giant_statements_stay_bounded() {
    let list = format!("SELECT a FROM t WHERE b IN ({})", vec!["1"; 100_000].join(","));
    assert_eq!(scan(&list).digest, scan("SELECT a FROM t WHERE b IN (1)").digest);
    let chain = format!("SELECT a FROM t WHERE {}", vec!["b = 1"; 100_000].join(" OR "));
    let found = scan(&chain);
    assert!(found.marks.contains(Marks::LONG));
    assert_eq!(found.units.len(), MAX_UNITS);
    assert!(found.slots.iter().all(|slot| (slot.unit as usize) < MAX_UNITS));
    differ(&chain, &format!("{chain} OR b = 1"));
    same(&chain, &chain.replace("= 1", "= 2"));
    let deep = format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(scan(&deep).marks.contains(Marks::LONG));
    let nested = "b IN (1, ".repeat(20_000);
    scan(&format!("SELECT a FROM t WHERE {nested}"));
    let runs = format!("INSERT INTO t VALUES {}", vec!["(1),('a')"; 50_000].join(","));
    scan(&runs);
    let aliases = format!("SELECT {}", vec!["1 AS a"; 50_000].join(","));
    scan(&aliases);
}

#[test]
fn a_scanner_forgets_what_it_read() {
    let mut scanner = Scanner::new();
    let first = scanner.scan(b"SELECT a FROM t WHERE b = 1", Flavor::MARIADB).to_owned();
    for text in ["SELECT (((", "INSERT INTO t VALUES (1,2),(3", "SELECT 'open", "SELECT 1 AS ("] {
        scanner.scan(text.as_bytes(), Flavor::MARIADB);
    }
    let again = scanner.scan(b"SELECT a FROM t WHERE b = 1", Flavor::MARIADB);
    assert_eq!(again.digest, first.digest);
    assert_eq!(again.units, first.units);
}

#[test]
fn fuzz_digest() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let mut scanner = Scanner::new();
        for flavor in
            [Flavor::MARIADB, Flavor::MYSQL.with_mode(SqlMode::ANSI_QUOTES | SqlMode::NO_BACKSLASH_ESCAPES)]
        {
            let found = scanner.scan(bytes, flavor);
            let mut at = 0;
            for unit in found.units {
                assert!(at <= unit.start && unit.start < unit.end && unit.end as usize <= bytes.len());
                at = unit.end;
            }
            normalize(bytes, flavor);
        }
    });
}

/// Pieces of statements; `#` stands for an integer, `$` for a string.
fn statements() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let part = proptest::sample::select(vec![
        "SELECT ",
        "a, ",
        "# ",
        "$ ",
        "FROM t ",
        "WHERE ",
        "b = # ",
        "c LIKE $ ",
        "AND ",
        "( ",
        ") ",
        "IN (#, #) ",
        "IN ($) ",
        "VALUES (#, $), (#, $) ",
        "ORDER BY ",
        "GROUP BY ",
        "LIMIT # ",
        "AS x ",
        "AS $ ",
        ", ",
        "CASE WHEN # THEN $ END ",
        "UNION ALL ",
        "INSERT INTO t ",
        "CAST(a AS CHAR(#)) ",
        "-# ",
        "@v := # ",
        "; ",
        "OVER (ORDER BY #) ",
        "IF(a, #, #) ",
    ]);
    proptest::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

fn fill(pattern: &str, mut number: u32, word: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            '#' => {
                out.push_str(&number.to_string());
                number += 1;
            }
            '$' => out.push_str(&format!("'{word}{number}'")),
            other => out.push(other),
        }
    }
    out
}

proptest::proptest! {
    /// Texts that differ in literals alone either have one digest, the same units and the same slots, or are told apart.
    #[test]
    fn literals_move_only_slots(pattern in statements()) {
        let (a, b) = (fill(&pattern, 10_000, "x"), fill(&pattern, 20_000, "it''s "));
        let (left, right) = (scan(&a), scan(&b));
        if left.digest == right.digest {
            proptest::prop_assert_eq!(left.units.len(), right.units.len());
            proptest::prop_assert_eq!(left.slots, right.slots);
            // All that differs between the texts lies in slots and lists.
            for (l, r) in left.units.iter().zip(&right.units) {
                proptest::prop_assert_eq!(l.kind, r.kind);
                let open = matches!(l.kind, UnitKind::Literal { slot: Some(_), .. } | UnitKind::List(_) | UnitKind::Rows { .. });
                if !open {
                    proptest::prop_assert_eq!(l.of(a.as_bytes()), r.of(b.as_bytes()));
                }
            }
        } else {
            proptest::prop_assert!(a != b);
        }
        proptest::prop_assert_eq!(scan(&a).digest, left.digest);
    }

    #[test]
    fn no_literal_survives(pattern in statements()) {
        let text = fill(&pattern, 918_273, "secret");
        let normal = normalize(text.as_bytes(), Flavor::MARIADB);
        proptest::prop_assert!(!normal.contains("secret"), "{} -> {}", text, normal);
        proptest::prop_assert!(!normal.contains("91827"), "{} -> {}", text, normal);
    }
}
