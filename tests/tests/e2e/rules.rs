//! Rules on real servers, without the proxy between: the new text of every rule's own tests, and of random statements,
//! answers as the original does: same rows, same order where one is promised, same column names and types.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use rewriter::{RuleSet, selftest, test_catalog, test_flavor};
use router::compare::{Answer, Metadata, Order, Outcome, Terms, compare};
use shuntyard_tests::client::{Server, text};
use shuntyard_tests::generator::{self, Random};
use shuntyard_tests::machine;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use sql::Product;

const SCHEMA: &str = "rule_test";
/// `MYSQL_TYPE_*` of strings. BINARY on any other type says only that the value did not come from a temporary table.
const STRINGS: [u8; 10] = [15, 245, 247, 248, 249, 250, 251, 252, 253, 254];

fn shipped() -> RuleSet {
    let folder = std::fs::read_dir(machine::project("rules")).unwrap();
    let mut files: Vec<(String, String)> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    RuleSet::load(&files).unwrap_or_else(|faults| panic!("{faults:?}"))
}

async fn schema(conn: &mut Conn, statements: &[String]) {
    for sql in [
        format!("DROP DATABASE IF EXISTS {SCHEMA}"),
        format!("CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"),
        format!("USE {SCHEMA}"),
    ] {
        conn.query_drop(sql).await.unwrap();
    }
    for sql in statements {
        conn.query_drop(sql.as_str()).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    }
}

/// What counts of an answer: not how many warnings the rows gave that were looked at, and not BINARY of a number.
fn plain(mut answer: Answer) -> Answer {
    for outcome in &mut answer.results {
        if let Outcome::Rows(set) = outcome {
            set.warnings = None;
            for column in &mut set.columns {
                if !STRINGS.contains(&column.kind) {
                    column.flags &= !128;
                }
            }
        }
    }
    answer
}

fn rows(answer: &Answer) -> usize {
    match answer.results.first() {
        Some(Outcome::Rows(set)) => set.rows.len(),
        _ => 0,
    }
}

async fn same(conn: &mut Conn, original: &str, rewritten: &str, order: impl FnOnce(usize) -> Order) {
    let left = plain(text(conn, original.as_bytes()).await);
    let right = plain(text(conn, rewritten.as_bytes()).await);
    let terms = Terms { metadata: Metadata::NamesAndTypes, ..Terms::exact() }.ordered_by(order(rows(&left)));
    let verdict = compare(&left, &right, &terms);
    assert!(verdict.is_same(), "{original}\n{rewritten}\n{verdict}");
}

/// What the tables of a rule's own tests hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Empty,
    /// All values differ: every order is total.
    Distinct,
    /// Ties, NULLs, bounds: for rules that say what they mean by a pattern, which leave order alone.
    Edges,
}

/// Each rule's own tests, on empty tables, on tables whose values are all different, and on edges.
async fn own_tests(server: &Server, product: Product) {
    let mut conn = server.connect().await;
    let mut given: Vec<String> = Vec::new();
    let mut rewritten = 0;
    let rules = shipped();
    let patterns: Vec<_> = rules
        .rules()
        .iter()
        .filter(|rule| rule.pass.name() == "pattern")
        .map(|rule| rule.id.clone())
        .collect();
    for fill in [Fill::Empty, Fill::Distinct, Fill::Edges] {
        given.clear();
        for case in selftest::cases(&rules, product) {
            if fill == Fill::Edges && !patterns.contains(&case.rule) {
                continue;
            }
            if given != case.given {
                given.clone_from(&case.given);
                let mut statements = given.clone();
                let catalog = test_catalog(&given, test_flavor(product)).unwrap();
                statements.extend(match fill {
                    Fill::Empty => Vec::new(),
                    Fill::Distinct => generator::distinct(&catalog),
                    Fill::Edges => generator::edges(&catalog, product),
                });
                schema(&mut conn, &statements).await;
            }
            let Some(new) = &case.rewritten else { continue };
            let ordered = case.original.contains("ORDER BY");
            let order = |_: usize| if ordered { Order::Ordered } else { Order::Bag };
            same(&mut conn, &case.original, new, order).await;
            rewritten += 1;
        }
    }
    assert!(rewritten >= 60, "only {rewritten} rewritten");
}

/// Random conditions over edges.
async fn hidden_conditions(server: &Server, product: Product) {
    let rules = shipped();
    let tables = generator::hidden_tables();
    let mut conn = server.connect().await;
    let mut statements = tables.clone();
    let catalog = test_catalog(&tables, test_flavor(product)).unwrap();
    statements.extend(generator::edges(&catalog, product));
    schema(&mut conn, &statements).await;
    let seeds = std::env::var("RULE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let mut fired = std::collections::BTreeMap::new();
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        for _ in 0..500 {
            let statement = generator::hidden(&mut random);
            let Ok((Some(new), outcome)) = selftest::run(&rules, &statement.sql, &tables, product) else {
                continue;
            };
            for rule in &outcome.fired {
                *fired.entry(rule.as_str().to_owned()).or_insert(0) += 1;
            }
            same(&mut conn, &statement.sql, &new, |rows| statement.order(rows)).await;
        }
    }
    eprintln!("{product:?}, {} statements: {fired:?}", seeds * 500);
    assert!(fired.values().sum::<u64>() >= 300 && fired.len() >= 8, "{fired:?}");
}

/// Random statements over NULLs, ties, duplicates and values equal only under a collation.
async fn random_statements(server: &Server, product: Product) {
    let rules = shipped();
    let tables = generator::tables();
    let mut conn = server.connect().await;
    let mut fired = 0;
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let mut statements = tables.clone();
        statements.extend(generator::rows(&mut random));
        schema(&mut conn, &statements).await;
        for number in 0..300 {
            let statement =
                if number % 2 == 0 { generator::union(&mut random) } else { generator::derived(&mut random) };
            let Ok((Some(new), _)) = selftest::run(&rules, &statement.sql, &tables, product) else {
                continue;
            };
            fired += 1;
            same(&mut conn, &statement.sql, &new, |rows| statement.order(rows)).await;
        }
    }
    assert!(fired >= 150, "only {fired} of 900 fired");
}

#[tokio::test]
async fn rules_keep_their_promise_at_mariadb() {
    let Some(server) = MariaDb::start(&[]) else { return };
    own_tests(&server.server(), Product::MariaDb).await;
    random_statements(&server.server(), Product::MariaDb).await;
    hidden_conditions(&server.server(), Product::MariaDb).await;
}

#[tokio::test]
async fn rules_keep_their_promise_at_a_mariadb_that_materialises() {
    let Some(server) = MariaDb::start(&["--optimizer-switch=derived_merge=off"]) else { return };
    own_tests(&server.server(), Product::MariaDb).await;
    random_statements(&server.server(), Product::MariaDb).await;
}

#[tokio::test]
async fn rules_keep_their_promise_at_mysql() {
    let Some(server) = MySql::shared().await else { return };
    own_tests(&server.server(), Product::MySql).await;
    random_statements(&server.server(), Product::MySql).await;
    hidden_conditions(&server.server(), Product::MySql).await;
}
