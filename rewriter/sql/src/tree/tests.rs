//! The tree is the servers': every pair of operators as they read it, and what is not covered is refused.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use super::ast::{Expr, SelectItem, SetExpr, Spanned};
use super::*;
use crate::edit::{Piece, Template};
use crate::keyword::Keyword;

/// The expression with all its parentheses, in a form of our own: operators before their operands.
fn shape(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) => shape(inner),
        Expr::BinaryOp { left, op, right } => format!("({op} {} {})", shape(left), shape(right)),
        Expr::UnaryOp { op, expr } => {
            let op = match op {
                ast::UnaryOperator::BangNot => "NOT".to_owned(),
                other => other.to_string(),
            };
            format!("({op} {})", shape(expr))
        }
        Expr::IsNull(e) => format!("(isnull {})", shape(e)),
        Expr::IsNotNull(e) => format!("(isnotnull {})", shape(e)),
        Expr::IsTrue(e) => format!("(istrue {})", shape(e)),
        Expr::IsNotFalse(e) => format!("(isnotfalse {})", shape(e)),
        Expr::IsUnknown(e) => format!("(isunknown {})", shape(e)),
        Expr::In { expr, negated, .. } => format!("(in {negated} {})", shape(expr)),
        Expr::Between { expr, negated, low, high } => {
            format!("(between {negated} {} {} {})", shape(expr), shape(low), shape(high))
        }
        Expr::Like { negated, expr, pattern, escape_char, .. } => {
            let escape = escape_char.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("(like {negated} {} {} {escape})", shape(expr), shape(pattern))
        }
        Expr::RLike { negated, expr, pattern, .. } => {
            format!("(rlike {negated} {} {})", shape(expr), shape(pattern))
        }
        Expr::Cast { expr, data_type, .. } => format!("(cast {data_type} {})", shape(expr)),
        Expr::Collate { expr, collation } => format!("(collate {collation} {})", shape(expr)),
        Expr::Interval(interval) => {
            let unit = interval.leading_field.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("(interval {} {unit})", shape(&interval.value))
        }
        Expr::Identifier(ident) => ident.value.clone(),
        Expr::Case { .. } | Expr::Exists { .. } | Expr::Value(_) | Expr::Function(_) => expr.to_string(),
        other => panic!("no shape for {other:?}"),
    }
}

fn first_item(statement: &Statement) -> Expr {
    let SetExpr::Select(select) = statement.query().unwrap().body.as_ref() else {
        panic!("not a SELECT");
    };
    match select.projection.first().unwrap() {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr.clone(),
        other => panic!("no expression: {other:?}"),
    }
}

fn expr(text: &str, flavor: Flavor) -> Result<String, ParseError> {
    parse(&format!("SELECT {text} FROM t"), flavor).map(|statement| shape(&first_item(&statement)))
}

fn compare(fixture: &str, product: Flavor) {
    let (mut agreed, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for line in fixture.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (mode, bare, full) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        if full == "error" || full == "unclear" {
            continue;
        }
        let flavor = product.with_mode(SqlMode::parse(mode).0);
        let Ok(found) = expr(bare, flavor) else {
            refused.push(bare);
            continue;
        };
        // A reading with INTERVAL in front of a parenthesis is refused like the bare one.
        let wanted = expr(full, flavor).unwrap_or_else(|error| panic!("{full}: {error}"));
        if found == wanted {
            agreed += 1;
        } else {
            wrong.push(format!("{mode}: {bare} is {full}, but we read {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong of {agreed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(agreed > 2500, "{agreed}");
    // What is refused is forwarded; it must stay the odd forms that nobody writes.
    let chain = |bare: &str| {
        let negated = [" NOT LIKE", " NOT RLIKE", " NOT IN", " NOT BETWEEN"];
        let predicates = bare.matches("LIKE").count()
            + bare.matches("REGEXP").count()
            + bare.matches(" IN").count()
            + bare.matches("BETWEEN").count();
        predicates > 1 && negated.iter().any(|word| bare.contains(word))
    };
    let odd = [
        "a COLLATE utf8mb4_bin COLLATE utf8mb4_bin",
        "a BETWEEN b LIKE c AND d",
        "a BETWEEN b REGEXP c AND d",
        "a BETWEEN b SOUNDS LIKE c AND d",
    ];
    refused.retain(|bare| !bare.starts_with("INTERVAL") && !chain(bare) && !odd.contains(bare));
    assert!(refused.is_empty(), "refused: {refused:#?}");
}

#[test]
fn every_pair_of_operators_on_mariadb() {
    compare(include_str!("../../tests/fixtures/precedence-mariadb.txt"), Flavor::MARIADB);
}

#[test]
fn every_pair_of_operators_on_mysql() {
    compare(include_str!("../../tests/fixtures/precedence-mysql.txt"), Flavor::MYSQL);
}

#[test]
fn the_wrong_trees_of_old() {
    let read = |text| expr(text, Flavor::MARIADB).unwrap();
    assert_eq!(read("tenant = 5 AND a DIV 2 OR b"), "(OR (AND (= tenant 5) (DIV a 2)) b)");
    assert_eq!(read("tenant = 5 AND x || y"), "(OR (AND (= tenant 5) x) y)");
    assert_eq!(read("a XOR b = c"), "(XOR a (= b c))");
    assert_eq!(read("NOT a = b"), "(NOT (= a b))");
    assert_eq!(read("-1 ^ 2"), "(^ (- 1) 2)");
    assert_eq!(read("!a = b"), "(= (NOT a) b)");
    assert_eq!(read("BINARY a = b"), "(= (cast BINARY a) b)");
    assert_eq!(read("a MOD b"), "(% a b)");
    assert_eq!(read("@a := 1 + 2"), "(:= @a (+ 1 2))");
    let concat = Flavor::MARIADB.with_mode(SqlMode::PIPES_AS_CONCAT);
    assert_eq!(expr("a = b || c", concat).unwrap(), "(= a (|| b c))");
    let high = Flavor::MARIADB.with_mode(SqlMode::HIGH_NOT_PRECEDENCE);
    assert_eq!(expr("NOT a BETWEEN 1 AND 2", high).unwrap(), "(between false (NOT a) 1 2)");
}

#[test]
fn values_are_decoded_and_text_is_not_touched() {
    let value = |text: &str, flavor| match first_item(&parse(&format!("SELECT {text}"), flavor).unwrap()) {
        Expr::Value(value) => value.value,
        Expr::Prefixed { value, .. } => match *value {
            Expr::Value(value) => value.value,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    use ast::Value as V;
    let string = |text: &str| V::SingleQuotedString(text.to_owned());
    assert_eq!(value(r"'C:\\new'", Flavor::MARIADB), string(r"C:\new"));
    assert_eq!(
        value(r"'C:\\new'", Flavor::MARIADB.with_mode(SqlMode::NO_BACKSLASH_ESCAPES)),
        string(r"C:\\new")
    );
    assert_eq!(value("''''", Flavor::MARIADB), string("'"));
    assert_eq!(value("'a' 'b' \"c\"", Flavor::MARIADB), string("abc"));
    assert_eq!(value("N'x'", Flavor::MARIADB), V::NationalStringLiteral("x".into()));
    assert_eq!(value("_utf8mb4'x'", Flavor::MARIADB), string("x"));
    assert_eq!(value("0x1", Flavor::MARIADB), V::HexStringLiteral("1".into()));
    let ansi = parse("SELECT \"a\"", Flavor::MARIADB.with_mode(SqlMode::ANSI_QUOTES)).unwrap();
    assert!(matches!(first_item(&ansi), Expr::Identifier(ident) if ident.value == "a"));
    let text = r"SELECT 'C:\\new', '''', N'x', _utf8mb4'y', 0x1 FROM t /* c */ ; ";
    let statement = parse(text, Flavor::MARIADB).unwrap();
    let mut out = Vec::new();
    Template(vec![Piece::Source(statement.all())])
        .render(text.as_bytes(), &statement.scan().as_scan(), &mut out)
        .unwrap();
    assert_eq!(out, text.as_bytes());
}

#[test]
fn statements_that_are_understood() {
    for text in [
        "SELECT a.*, b.c AS d FROM a LEFT JOIN b ON a.x = b.x WHERE a.y IN (1,2) ORDER BY d DESC LIMIT 5, 10",
        "(SELECT a FROM t) UNION ALL (SELECT b FROM u) ORDER BY 1 LIMIT 3",
        "SELECT a FROM t UNION SELECT b FROM u INTERSECT SELECT c FROM v",
        "SELECT a FROM t USE INDEX (i) WHERE b LIKE 'x%' ESCAPE '|'",
        "SELECT a FROM t FORCE INDEX FOR ORDER BY (i)",
        "SELECT STRAIGHT_JOIN SQL_NO_CACHE a FROM t",
        "SELECT DISTINCTROW a FROM t",
        "SELECT a FROM t LOCK IN SHARE MODE",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t FOR UPDATE SKIP LOCKED",
        "SELECT CAST(a AS SIGNED), CONVERT(b USING utf8mb4), CAST(c AS CHAR(5)), CONVERT(a, UNSIGNED) FROM t",
        "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR ',') FROM t GROUP BY c WITH ROLLUP",
        "SELECT a FROM t WHERE ts > NOW() - INTERVAL 1 DAY AND ts < DATE_ADD(x, INTERVAL 1 DAY_HOUR)",
        "SELECT MATCH (a) AGAINST ('x' IN BOOLEAN MODE) FROM t",
        "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM t",
        "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t",
        "SELECT a FROM t WHERE (b, c) = (1, 2) AND EXISTS (SELECT 1 FROM u WHERE u.x = t.x)",
        "SELECT a FROM t WHERE b > ANY (SELECT c FROM u)",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END FROM t",
        "SELECT @a, @@session.sql_mode FROM t",
        "SELECT TIMESTAMPDIFF(DAY, a, b), EXTRACT(YEAR FROM c), SUBSTRING(d, 2), SUBSTRING(d FROM 2 FOR 3), TRIM(LEADING 'x' FROM e) FROM t",
        "SELECT DATE'2020-01-01', TIME'10:00:00', TIMESTAMP'2020-01-01 00:00:00'",
        "SELECT a->'$.x', a->>'$.y' FROM t",
        "SELECT IF(a, b, c), LEFT(a, 2), REPLACE(a, 'x', 'y'), MOD(a, 2), CHAR(65), REPEAT('x', 3) FROM t",
        "SELECT a FROM (SELECT b AS a FROM t) AS d",
        "SELECT a FROM t1 NATURAL JOIN t2 CROSS JOIN t3 JOIN t4 USING (x)",
        "SELECT a, b FROM t1, t2 WHERE t1.x = t2.x HAVING b > 5",
        "SELECT value, date, time, status, names, local, session, first, type, comment FROM t",
        "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y') ON DUPLICATE KEY UPDATE b = VALUES(b)",
        "INSERT IGNORE INTO t SELECT * FROM u",
        "INSERT INTO t SET a = 1, b = 2",
        "REPLACE INTO t VALUES (1, DEFAULT)",
        "UPDATE t SET a = a + 1 WHERE b = 2 ORDER BY c LIMIT 1",
        "UPDATE t JOIN u ON t.x = u.x SET t.a = u.b",
        "DELETE FROM t WHERE a = 1 ORDER BY b LIMIT 3",
        "DELETE t FROM t JOIN u ON t.x = u.x WHERE u.y = 1",
    ] {
        if let Err(error) = parse(text, Flavor::MARIADB) {
            panic!("{text}: {error}");
        }
    }
}

#[test]
fn what_is_not_covered_is_refused() {
    for text in [
        "SELECT /*! STRAIGHT_JOIN */ a FROM t",
        "SELECT /*M! 1 */ a FROM t",
        "SELECT a FROM t; SELECT b FROM t",
        "SELECT 'open",
        "SELECT (a FROM t",
        "SELECT a) FROM t",
        "SELECT COUNT (a) FROM t",
        "SELECT INTERVAL 1 DAY + a = b FROM t",
        "SELECT {d '2020-01-01'}",
        "SELECT a FROM t QUALIFY b",
        "SELECT a::INT FROM t",
        "SELECT TOP 5 a FROM t",
        "SELECT a INTO OUTFILE 'x' FROM t",
        "SELECT a FROM t LIMIT BY b",
        "SELECT a FROM t FETCH FIRST 5 ROWS ONLY",
        "SELECT DISTINCT ON (a) b FROM t",
        "SELECT a FROM t1 FULL OUTER JOIN t2 ON x",
        "SELECT a FROM t GROUP BY ALL",
        "SELECT a FROM (SELECT b FROM t)",
        "SELECT ARRAY[1]",
        "SELECT a ILIKE b FROM t",
        "SELECT x -> y -> z",
        "HANDLER t OPEN",
        "SET a = 1",
        "SHOW TABLES",
        "CREATE TABLE t (a INT)",
        "TABLE t",
        "",
    ] {
        assert!(parse(text, Flavor::MARIADB).is_err(), "{text}");
    }
    let spaced = Flavor::MARIADB.with_mode(SqlMode::IGNORE_SPACE);
    assert!(parse("SELECT COUNT (a) FROM t", spaced).is_ok());
    let oracle = Flavor::MARIADB.with_mode(SqlMode::ORACLE);
    assert_eq!(parse("SELECT 1", oracle).err(), Some(ParseError::Session));
}

#[test]
fn words_of_other_products_are_names() {
    let statement = parse("SELECT qualify FROM t sample", Flavor::MARIADB).unwrap();
    assert_eq!(statement.query().unwrap().to_string(), "SELECT qualify FROM t sample");
    // FULL is an alias, as on the servers.
    let statement = parse("SELECT a FROM t full JOIN u ON x", Flavor::MARIADB).unwrap();
    assert!(statement.query().unwrap().to_string().contains("t full JOIN u"));
}

#[test]
fn nodes_know_their_units() {
    let text = "SELECT a, b + 1 AS c FROM (SELECT x FROM t WHERE y = 'q' LIMIT 4) AS d WHERE e IN (1, 2) ORDER BY c LIMIT 5";
    let statement = parse(text, Flavor::MARIADB).unwrap();
    let query = statement.query().unwrap();
    let SetExpr::Select(select) = query.body.as_ref() else { panic!() };
    let source = |node: &dyn Fn() -> ast::Span| statement.source(statement.unit_range(node()).unwrap());
    assert_eq!(source(&|| select.projection[1].span()), "b + 1 AS c");
    assert_eq!(source(&|| select.selection.as_ref().unwrap().span()), "e IN (1, 2)");
    let all = statement.all();
    assert_eq!(statement.source(statement.order_by(all.clone()).unwrap()), "ORDER BY c");
    assert_eq!(statement.source(statement.limit(all.clone()).unwrap()), "LIMIT 5");
    let from = statement.find(all, Keyword::From).unwrap();
    let open = from + 1;
    let close = statement.partner(open).unwrap();
    assert_eq!(statement.source(open + 1..close), "SELECT x FROM t WHERE y = 'q' LIMIT 4");
    assert_eq!(statement.source(statement.limit(open + 1..close).unwrap()), "LIMIT 4");
    assert_eq!(statement.depth(open), 0);
    assert_eq!(statement.depth(open + 1), 1);
    let Some(ast::LimitClause::LimitOffset { limit: Some(limit), .. }) = &query.limit_clause else {
        panic!()
    };
    let slot = statement.slot_of(limit).unwrap();
    assert_eq!(statement.scan().as_scan().slot(text.as_bytes(), slot), Some(b"5".as_slice()));
    let union = parse(
        "(SELECT a FROM t) UNION ALL SELECT b FROM u UNION SELECT (SELECT 1 UNION SELECT 2)",
        Flavor::MARIADB,
    )
    .unwrap();
    let operators: Vec<&str> =
        union.set_operators(union.all()).into_iter().map(|range| union.source(range)).collect();
    assert_eq!(operators, ["UNION ALL", "UNION"]);
}

#[test]
fn collapsed_lists_show_what_the_digest_tells_apart() {
    let statement = parse("SELECT a FROM t WHERE b IN (1, 2, -3, 'x', 'y', NULL)", Flavor::MARIADB).unwrap();
    assert!(statement.query().unwrap().to_string().ends_with("b IN (1, -3, 'x', NULL)"));
    let rows = parse("INSERT INTO t VALUES (1, 'a'), (2, 'b'), ('c', 3)", Flavor::MARIADB).unwrap();
    assert!(rows.tree().to_string().ends_with("VALUES (1, 'a'), ('c', 3)"));
}

/// On the 2 MB of stack that a thread has.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn giants_end_in_bounded_time() {
    on_a_small_stack(|| {
        let start = Instant::now();
        let list = format!("SELECT a FROM t WHERE b IN ({})", vec!["1"; 100_000].join(","));
        assert!(parse(&list, Flavor::MARIADB).is_ok());
        let chain = |count: usize, operator: &str| {
            let terms = vec!["b = 1"; count].join(operator);
            parse(&format!("SELECT a FROM t WHERE {terms}"), Flavor::MARIADB)
        };
        assert!(chain(100_000, " OR ").is_err());
        assert!(chain(450, " OR ").is_ok());
        let sum = |count: usize| {
            parse(&format!("SELECT a FROM t WHERE {}", vec!["1"; count].join("+")), Flavor::MARIADB)
        };
        assert!(sum(900).map(|statement| crate::facts::Facts::of(&statement)).is_ok());
        assert_eq!(sum(2000).err(), Some(ParseError::Bounds));
        let dates = vec!["INTERVAL 1 DAY"; 400].join(" + ");
        assert!(parse(&format!("SELECT a + {dates} FROM t"), Flavor::MARIADB).is_ok());
        let parens = |count: usize| {
            parse(&format!("SELECT {}1{}", "(".repeat(count), ")".repeat(count)), Flavor::MARIADB)
        };
        assert!(parens(60).is_ok());
        assert!(parens(1000).is_err());
        assert!(parens(100_000).is_err());
        for (open, close) in [
            ("(", ")"),
            ("(SELECT a FROM ", ") b"),
            ("(a JOIN (", "))"),
            ("IF((", "))"),
            ("NOT (", ")"),
            ("CASE WHEN (", ")"),
        ] {
            for count in [10, 30, 60] {
                let _ = parse(
                    &format!("SELECT x FROM {} t {}", open.repeat(count), close.repeat(count)),
                    Flavor::MARIADB,
                );
                let _ = parse(
                    &format!("SELECT {} t {}", open.repeat(count), close.repeat(count)),
                    Flavor::MARIADB,
                );
                let _ = parse(&format!("SELECT {} t", open.repeat(count)), Flavor::MARIADB);
            }
        }
        for prefix in ["NOT ", "- ", "! ", "~ ", "BINARY ", "@a := ", "CASE ", "INTERVAL "] {
            let _ = parse(&format!("SELECT {}a", prefix.repeat(900)), Flavor::MARIADB);
        }
        let unions = vec!["SELECT 1"; 900].join(" UNION ALL ");
        let _ = parse(&unions, Flavor::MARIADB).map(|statement| crate::facts::Facts::of(&statement));
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    });
}

#[test]
fn fuzz_tree() {
    bolero::check!().with_type::<String>().for_each(|text: &String| {
        let _ = parse(text, Flavor::MARIADB);
    });
}

/// Words of statements in any order, nested and repeated: parsed or refused, and their facts are told.
#[test]
fn fuzz_tree_words() {
    const WORDS: [&str; 52] = [
        "SELECT",
        "a",
        "b.c",
        "*",
        ",",
        "FROM",
        "t",
        "WHERE",
        "=",
        "1",
        "'x'",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        "IN",
        "ORDER BY",
        "LIMIT",
        "UNION ALL",
        "JOIN",
        "ON",
        "AS",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "INTERVAL",
        "DAY",
        "+",
        "-",
        "||",
        "BETWEEN",
        "LIKE",
        "COUNT(*)",
        "GROUP BY",
        "@a",
        ":=",
        "EXISTS",
        "IS NULL",
        "DIV",
        "BINARY",
        "COLLATE",
        "x'1F'",
        "?",
        "INSERT INTO t",
        "VALUES",
        "UPDATE t SET",
        "DELETE FROM",
        "WITH",
        "OVER",
        "FOR UPDATE",
    ];
    bolero::check!().with_type::<(bool, Vec<u8>)>().for_each(|(bare, picks)| {
        let words: Vec<&str> = picks.iter().map(|pick| WORDS[usize::from(*pick) % WORDS.len()]).collect();
        let text = format!("{}{}", if *bare { "" } else { "SELECT " }, words.join(" "));
        for flavor in [Flavor::MARIADB, Flavor::MYSQL] {
            if let Ok(statement) = parse(&text, flavor) {
                crate::facts::Facts::of(&statement);
                let mut out = Vec::new();
                let identity = Template::identity(statement.units().len());
                identity.render(text.as_bytes(), &statement.scan().as_scan(), &mut out).unwrap();
                assert_eq!(out, text.as_bytes());
            }
        }
    });
}

proptest::proptest! {
    /// Words of SQL in any order: parsed or refused, and a parsed one renders to itself.
    #[test]
    fn any_words_are_parsed_or_refused(parts in proptest::collection::vec(proptest::sample::select(vec![
        "SELECT", "a", "b.c", "*", ",", "FROM", "t", "WHERE", "=", "1", "'x'", "AND", "OR", "NOT", "(", ")", "IN (1,2)", "ORDER BY",
        "LIMIT", "UNION ALL", "JOIN", "ON", "AS", "CASE", "WHEN", "THEN", "END", "INTERVAL", "DAY", "+", "-", "||", "BETWEEN", "LIKE",
        "COUNT(*)", "GROUP BY", "@a", ":=", "EXISTS", "IS NULL", "MOD", "DIV", "BINARY", "COLLATE", "x'1F'", "?",
    ]), 0..30)) {
        let text = format!("SELECT {}", parts.join(" "));
        if let Ok(statement) = parse(&text, Flavor::MARIADB) {
            let mut out = Vec::new();
            Template::identity(statement.units().len()).render(text.as_bytes(), &statement.scan().as_scan(), &mut out).unwrap();
            proptest::prop_assert_eq!(out, text.into_bytes());
            crate::facts::Facts::of(&statement);
        }
    }
}
