//! What becomes of unions, text by text, and what refuses.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::Product;

use crate::testing::{Session, rule};

const TABLES: [&str; 5] = [
    "CREATE TABLE a (id INT NOT NULL PRIMARY KEY, ts DATETIME, name VARCHAR(20), kind ENUM('x','y'), n BIGINT)",
    "CREATE TABLE b (id INT NOT NULL PRIMARY KEY, ts DATETIME, name VARCHAR(20), kind ENUM('x','y'), n BIGINT)",
    "CREATE TABLE c (id INT UNSIGNED NOT NULL, ts DATETIME(3), name VARCHAR(20) COLLATE utf8mb4_bin, n INT)",
    "CREATE TABLE m (id INT NOT NULL, ts DATETIME) ENGINE=MyISAM",
    "CREATE TABLE two (id INT NOT NULL, ref INT NOT NULL)",
];

fn run(text: &str) -> Result<String, String> {
    Session::new(&TABLES).run(&rule("union_limit"), text)
}

fn becomes(text: &str, expected: &str) {
    assert_eq!(run(text).as_deref(), Ok(expected), "{text}");
}

fn refused(text: &str, reason: &str) {
    let found = run(text).unwrap_err();
    assert!(found.contains(reason), "{text}\n{found}");
}

#[test]
fn order_and_limit_go_into_the_branches() {
    becomes(
        "SELECT id, ts FROM a UNION ALL SELECT id, ts FROM b WHERE id > 5 ORDER BY ts DESC, id LIMIT 20",
        "(SELECT id, ts FROM a ORDER BY 2 DESC, 1 LIMIT 20) UNION ALL \
         (SELECT id, ts FROM b WHERE id > 5 ORDER BY 2 DESC, 1 LIMIT 20) ORDER BY ts DESC, id LIMIT 20",
    );
    becomes(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY 1 LIMIT 20 OFFSET 40",
        "(SELECT id FROM a ORDER BY 1 LIMIT 60) UNION ALL (SELECT id FROM b ORDER BY 1 LIMIT 60) \
         ORDER BY 1 LIMIT 20 OFFSET 40",
    );
    becomes(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY 1 LIMIT 40, 20;",
        "(SELECT id FROM a ORDER BY 1 LIMIT 60) UNION ALL (SELECT id FROM b ORDER BY 1 LIMIT 60) \
         ORDER BY 1 LIMIT 40, 20;",
    );
}

#[test]
fn parentheses_and_own_limits_stay() {
    becomes(
        "(SELECT id FROM a) UNION ALL (SELECT id FROM b LIMIT 3) UNION ALL SELECT 7 ORDER BY id LIMIT 2"
            .replace("UNION ALL SELECT 7 ", "")
            .as_str(),
        "(SELECT id FROM a ORDER BY 1 LIMIT 2) UNION ALL (SELECT id FROM b LIMIT 3) ORDER BY id LIMIT 2",
    );
    refused(
        "(SELECT id FROM a LIMIT 1) UNION ALL (SELECT id FROM b LIMIT 3) ORDER BY id LIMIT 2",
        "NotMatched",
    );
    refused(
        "SELECT id FROM a UNION ALL SELECT 7 ORDER BY id LIMIT 2",
        "types: the sort key id is not a plain column",
    );
}

#[test]
fn names_mean_what_they_mean_in_the_union() {
    becomes(
        "SELECT id AS x, n AS id FROM a UNION ALL SELECT id, n FROM b ORDER BY `ID` LIMIT 2",
        "(SELECT id AS x, n AS id FROM a ORDER BY 2 LIMIT 2) UNION ALL (SELECT id, n FROM b ORDER BY 2 LIMIT 2) \
         ORDER BY `ID` LIMIT 2",
    );
    refused(
        "SELECT id, n AS id FROM a UNION ALL SELECT id, n FROM b ORDER BY id LIMIT 2",
        "two output columns are named id",
    );
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY a.id LIMIT 2", "order_by");
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY ts LIMIT 2", "order_by");
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY 2 LIMIT 2", "order_by");
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY 0 LIMIT 2", "order_by");
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id + 0 LIMIT 2", "order_by");
    refused("SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY NULL LIMIT 2", "order_by");
    refused(
        "SELECT name FROM a UNION ALL SELECT name FROM b ORDER BY name COLLATE utf8mb4_bin LIMIT 2",
        "order_by",
    );
    // The literal's own name is its content: which of the two is meant?
    refused(
        "SELECT id, 'id' FROM a UNION ALL SELECT id, 'id' FROM b ORDER BY id LIMIT 2",
        "two output columns",
    );
}

#[test]
fn stars_and_joins_are_resolved() {
    becomes(
        "SELECT * FROM a UNION ALL SELECT * FROM b ORDER BY ts LIMIT 2",
        "(SELECT * FROM a ORDER BY a.`ts` LIMIT 2) UNION ALL (SELECT * FROM b ORDER BY b.`ts` LIMIT 2) ORDER BY ts LIMIT 2",
    );
    becomes(
        "SELECT * FROM a x UNION ALL SELECT b.* FROM b ORDER BY n DESC, id LIMIT 2",
        "(SELECT * FROM a x ORDER BY x.`n` DESC, x.`id` LIMIT 2) UNION ALL \
         (SELECT b.* FROM b ORDER BY b.`n` DESC, b.`id` LIMIT 2) ORDER BY n DESC, id LIMIT 2",
    );
    becomes(
        "SELECT x.*, two.ref FROM a x JOIN two ON two.id = x.id UNION ALL SELECT b.*, ref FROM two, b ORDER BY ref LIMIT 2",
        "(SELECT x.*, two.ref FROM a x JOIN two ON two.id = x.id ORDER BY 6 LIMIT 2) UNION ALL \
         (SELECT b.*, ref FROM two, b ORDER BY 6 LIMIT 2) ORDER BY ref LIMIT 2",
    );
    refused(
        "SELECT id FROM a, two UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "columns: the column id is ambiguous",
    );
    refused(
        "SELECT a.id FROM a x UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "does not know the column a.id",
    );
    refused("SELECT * FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 2", "different numbers of columns");
    refused("SELECT id FROM a JOIN two USING (id) UNION ALL SELECT id FROM b ORDER BY id LIMIT 2", "in FROM");
    refused(
        "SELECT id FROM (SELECT id FROM a) x UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "derived table",
    );
}

#[test]
fn types_must_agree() {
    refused("SELECT id FROM a UNION ALL SELECT id FROM c ORDER BY id LIMIT 2", "types");
    refused("SELECT ts FROM a UNION ALL SELECT ts FROM c ORDER BY ts LIMIT 2", "types");
    refused(
        "SELECT name FROM a UNION ALL SELECT name FROM c ORDER BY name LIMIT 2",
        "utf8mb4_bin in branch 2",
    );
    refused("SELECT n FROM a UNION ALL SELECT n FROM c ORDER BY n LIMIT 2", "types");
    refused(
        "SELECT kind FROM a UNION ALL SELECT kind FROM b ORDER BY kind LIMIT 2",
        "a UNION may sort otherwise",
    );
    // TIMESTAMP sorts by UTC in MariaDB's unions and by local time in MySQL's.
    for (product, fires) in [(Product::MariaDb, true), (Product::MySql, false)] {
        let mut session = Session::new(&["CREATE TABLE z (id INT NOT NULL, at TIMESTAMP NULL)"]);
        session.flavor = crate::fixture::flavor(product);
        let text = "SELECT at FROM z UNION ALL SELECT at FROM z ORDER BY at LIMIT 2";
        assert_eq!(session.run(&rule("union_limit"), text).is_ok(), fires);
    }
    // Columns that nobody sorts by are converted after the branch was cut.
    assert!(run("SELECT id, name FROM a UNION ALL SELECT id, n FROM b ORDER BY id LIMIT 2").is_ok());
    assert!(run("SELECT id, NULL FROM a UNION ALL SELECT id, 'x' FROM b ORDER BY id LIMIT 2").is_ok());
}

#[test]
fn literals_are_checked_at_each_execution() {
    refused(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 10001",
        "limit: 10001 is more than 10000",
    );
    refused(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 1 OFFSET 10000",
        "limit: 1 + 10000 is more",
    );
    refused(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 18446744073709551615, 18446744073709551615",
        "a literal does not fit",
    );
    refused(
        "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT ?",
        "parameters: LIMIT is a parameter",
    );
    // A plan made for one text serves another of its digest, or stands back.
    let session = Session::new(&TABLES);
    let text = "SELECT id FROM a WHERE name = 'x' UNION ALL SELECT id FROM b ORDER BY id LIMIT 99, 99999";
    let (_, outcome) = session.outcome(&rule("union_limit"), text);
    assert!(outcome.template.is_some() && outcome.preconditions.len() == 1);
    let serve = |text: &str| {
        let read = crate::engine::Read::of(text.as_bytes().to_vec(), session.flavor).unwrap();
        let mut out = Vec::new();
        outcome.render(&read.text, &read.scan.as_scan(), &mut out).then(|| String::from_utf8(out).unwrap())
    };
    assert_eq!(serve(text), None);
    assert_eq!(
        serve(
            "SELECT id FROM a WHERE name = 'a longer one' UNION ALL SELECT id FROM b ORDER BY id LIMIT 5, 6"
        )
        .unwrap(),
        "(SELECT id FROM a WHERE name = 'a longer one' ORDER BY 1 LIMIT 11) UNION ALL \
         (SELECT id FROM b ORDER BY 1 LIMIT 11) ORDER BY id LIMIT 5, 6"
    );
}

#[test]
fn other_set_operations_refuse() {
    for op in ["UNION", "UNION DISTINCT", "EXCEPT", "INTERSECT", "EXCEPT ALL"] {
        refused(&format!("SELECT id FROM a {op} SELECT id FROM b ORDER BY id LIMIT 2"), "union: ");
        refused(
            &format!("SELECT id FROM a UNION ALL SELECT id FROM b {op} SELECT id FROM a ORDER BY id LIMIT 2"),
            "union: ",
        );
    }
    refused(
        "(SELECT id FROM a UNION ALL SELECT id FROM b) UNION ALL SELECT id FROM a ORDER BY id LIMIT 2",
        "branch 1 is a query of several",
    );
}

#[test]
fn what_a_branch_must_not_do() {
    refused(
        "SELECT DISTINCT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "branch 1 has DISTINCT",
    );
    refused("SELECT id FROM a UNION ALL SELECT id FROM b GROUP BY id ORDER BY id LIMIT 2", "branch 2 groups");
    refused(
        "SELECT id FROM a UNION ALL SELECT id FROM b HAVING id > 1 ORDER BY id LIMIT 2",
        "branch 2 groups",
    );
    refused(
        "SELECT id, n + 1 FROM a UNION ALL SELECT id, n FROM b ORDER BY id LIMIT 2",
        "branch 1 computes n + 1",
    );
    refused(
        "SELECT id, COUNT(*) FROM a UNION ALL SELECT id, n FROM b ORDER BY id LIMIT 2",
        "branch 1 computes",
    );
    refused("SELECT id FROM a UNION ALL SELECT id FROM m ORDER BY id LIMIT 2", "engine: m is kept by MyISAM");
    refused(
        "SELECT id FROM a WHERE id IN (SELECT id FROM m) UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "engine",
    );
    refused(
        "SELECT id FROM a WHERE f(id) UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "functions: F() is not a built-in",
    );
    refused(
        "SELECT id FROM a WHERE id < RAND() UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "functions: RAND()",
    );
    refused("SELECT id FROM a WHERE id = @x UNION ALL SELECT id FROM b ORDER BY id LIMIT 2", "variables");
    refused(
        "SELECT id FROM other.a UNION ALL SELECT id FROM b ORDER BY id LIMIT 2",
        "does not know the table other.a",
    );
}

#[test]
fn sessions_that_are_not_plain_refuse() {
    let text = "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 2";
    let session = Session::new(&TABLES);
    let rules = rule("union_limit");
    let (read, _) = session.outcome(&rules, text);
    let verdict = |change: &dyn Fn(&mut crate::Context<'_>)| {
        let mut context = session.context();
        change(&mut context);
        let outcome = crate::rewrite(&rules, &read.statement(), &context);
        assert!(outcome.template.is_none());
        outcome.explain[0].to_string()
    };
    assert!(verdict(&|context| context.session_may_shadow = true).contains("temporary table"));
    assert!(verdict(&|context| context.sql_mode_known = false).contains("sql_mode is not known"));
    assert!(verdict(&|context| context.schema = None).contains("has no schema"));
    assert!(verdict(&|context| context.flavor.mode |= sql::SqlMode::ORACLE).contains("ORACLE"));
    assert!(verdict(&|context| context.flavor.charset = sql::CharsetClass::Unsafe).contains("character set"));
}

#[test]
fn ansi_quotes_name_columns() {
    let mut session = Session::new(&TABLES);
    session.flavor.mode |= sql::SqlMode::ANSI_QUOTES;
    assert_eq!(
        session
            .run(
                &rule("union_limit"),
                "SELECT \"id\" FROM a UNION ALL SELECT id FROM \"b\" ORDER BY \"id\" LIMIT 2"
            )
            .unwrap(),
        "(SELECT \"id\" FROM a ORDER BY 1 LIMIT 2) UNION ALL (SELECT id FROM \"b\" ORDER BY 1 LIMIT 2) \
         ORDER BY \"id\" LIMIT 2"
    );
}
