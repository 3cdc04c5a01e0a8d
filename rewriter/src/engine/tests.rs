//! Several rules, modes, explanations, and random statements.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use proptest::sample::select;

use super::{MAX_PASSES, Read, VerdictKind, rewrite};
use crate::load::RuleSet;
use crate::rule::{Mode, Rule, RuleId, ServerScope};
use crate::shape::{self, Source, Term};
use crate::testing::{Session, rule};

const TABLES: [&str; 3] = [
    "CREATE TABLE a (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20), d DECIMAL(10,2))",
    "CREATE TABLE b (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20), d DECIMAL(10,2))",
    "CREATE TABLE c (id INT NOT NULL, n BIGINT, s VARCHAR(20) COLLATE utf8mb4_bin, d DECIMAL(12,2))",
];
const UNION: &str = "SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY id LIMIT 2";

fn changed(change: impl Fn(&mut Rule)) -> RuleSet {
    let mut rule = rule("union_limit").rules()[0].as_ref().clone();
    change(&mut rule);
    RuleSet::of(&rule)
}

fn verdict(rules: &RuleSet, text: &str) -> (bool, String) {
    let (_, outcome) = Session::new(&TABLES).outcome(rules, text);
    assert_eq!(outcome.fired.is_empty(), outcome.template.is_none());
    (outcome.template.is_some(), outcome.explain[0].to_string())
}

#[test]
fn modes_decide_what_is_served() {
    let note = "ORDER BY and LIMIT copied into 2 of 2 branches";
    for (mode, served, expected) in [
        (Mode::Enabled, true, format!("r: fired: {note}")),
        (Mode::Explain, false, format!("r: would fire (mode explain): {note}")),
        (
            Mode::Shadow,
            false,
            format!("r: would fire (mode shadow, which this version treats as explain): {note}"),
        ),
        (Mode::Disabled, false, "r: disabled".to_owned()),
    ] {
        assert_eq!(verdict(&changed(|rule| rule.mode = mode), UNION), (served, expected));
    }
    let (_, outcome) = Session::new(&TABLES).outcome(&changed(|rule| rule.mode = Mode::Explain), UNION);
    let VerdictKind::WouldFire { text, .. } = &outcome.explain[0].result else { panic!() };
    assert!(text.starts_with("(SELECT id FROM a ORDER BY 1 LIMIT 2)"));
}

#[test]
fn scopes_decide_where() {
    let server = |text: &str| vec![ServerScope::parse(text).unwrap()];
    assert!(verdict(&changed(|rule| rule.scope.servers = server("mariadb >= 10.6")), UNION).0);
    assert!(verdict(&changed(|rule| rule.scope.users = vec!["app".to_owned()]), UNION).0);
    assert!(
        verdict(&changed(|rule| rule.scope.schemas = vec!["x".into(), crate::TEST_SCHEMA.into()]), UNION).0
    );
    for (rules, expected) in [
        (
            changed(|rule| rule.scope.servers = server("mysql")),
            "r: refused by scope: the rule is not for this server",
        ),
        (
            changed(|rule| rule.scope.users = vec!["x".to_owned()]),
            "r: refused by scope: the rule is not for this user",
        ),
        (
            changed(|rule| rule.scope.schemas = vec!["x".to_owned()]),
            "r: refused by scope: the rule is not for this schema",
        ),
    ] {
        assert_eq!(verdict(&rules, UNION), (false, expected.to_owned()));
    }
}

#[test]
fn every_rule_has_one_verdict() {
    let files = ["union_limit", "derived_merge"].map(|pass| {
        let text = format!("- {{id: {pass}, mode: explain, pass: {pass}, effect: same_rows}}");
        (format!("{pass}.yaml"), text)
    });
    let rules = RuleSet::load(&files).unwrap();
    let (_, outcome) = Session::new(&TABLES).outcome(&rules, UNION);
    let texts: Vec<_> = outcome.explain.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "derived_merge: not matched: a UNION",
            "union_limit: would fire (mode explain): ORDER BY and LIMIT copied into 2 of 2 branches",
        ]
    );
    let (_, outcome) = Session::new(&TABLES).outcome(&rules, "INSERT INTO a (id) VALUES (1)");
    assert!(outcome.explain.iter().all(|verdict| verdict.to_string().ends_with("not matched: not a query")));
}

#[test]
fn what_is_refused_says_by_which_guard() {
    let (_, text) =
        verdict(&rule("union_limit"), "SELECT n FROM a UNION ALL SELECT n FROM c ORDER BY n LIMIT 2");
    assert_eq!(text, "r: refused by types: the sort key n is INT in branch 1 and BIGINT in branch 2");
    let text = UNION.replace("SELECT id FROM a", "SELECT /*+ NO_ICP(a) */ id FROM a");
    assert_eq!(
        verdict(&rule("union_limit"), &text).1,
        "r: refused by readable: the text holds an optimizer hint"
    );
}

#[test]
fn the_same_arguments_give_the_same_outcome() {
    let session = Session::new(&TABLES);
    let rules = rule("union_limit");
    let read = Read::of(UNION.as_bytes().to_vec(), session.flavor).unwrap();
    let once = rewrite(&rules, &read.statement(), &session.context());
    let twice = rewrite(&rules, &read.statement(), &session.context());
    assert_eq!(
        (once.template, once.preconditions, once.explain),
        (twice.template, twice.preconditions, twice.explain)
    );
    assert_eq!(once.fired, [RuleId::new("r")]);
    // A union that was limited already is not limited again.
    assert!(once.fired.len() < MAX_PASSES);
}

fn column() -> impl Strategy<Value = &'static str> {
    select(vec!["id", "n", "s", "d"])
}

prop_compose! {
    fn branch()(table in select(vec!["a", "b", "c"]), condition in select(vec!["", " WHERE n > 3", " WHERE s = ' LIMIT 1) '"]),
                wrap in 0..4_u8) -> (&'static str, &'static str, u8) {
        (table, condition, wrap)
    }
}

fn branches(query: &shape::Query) -> usize {
    query.rest.len() + 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn random_unions_stay_unions(
        list in prop::collection::vec(branch(), 2..5),
        columns in prop::collection::vec(column(), 1..4),
        key in column(),
        descending in any::<bool>(),
        limit in 0..50_u64,
        offset in prop::option::of(0..50_u64),
    ) {
        let columns = columns.join(", ");
        let branch_texts: Vec<_> = list.iter().map(|(table, condition, wrap)| {
            let text = format!("SELECT {columns} FROM {table}{condition}");
            match wrap {
                0 => format!("({text})"),
                1 => format!("({text} ORDER BY 1 LIMIT 3)"),
                _ => text,
            }
        }).collect();
        let direction = if descending { " DESC" } else { "" };
        let offset = offset.map(|offset| format!(" OFFSET {offset}")).unwrap_or_default();
        let text = format!("{} ORDER BY {key}{direction} LIMIT {limit}{offset}", branch_texts.join(" UNION ALL "));
        let session = Session::new(&TABLES);
        let read = Read::of(text.clone().into_bytes(), session.flavor);
        // A text that ends in an unparenthesised branch is the only plain one.
        prop_assume!(read.is_some());
        let read = read.unwrap();
        let outcome = rewrite(&rule("union_limit"), &read.statement(), &session.context());
        let mut out = Vec::new();
        if outcome.render(&read.text, &read.scan.as_scan(), &mut out) {
            let again = Read::of(out.clone(), session.flavor);
            prop_assert!(again.is_some(), "{}", String::from_utf8_lossy(&out));
            let again = again.unwrap();
            let source = |read: &Read| shape::read(Source { text: &read.text, units: &read.scan.units });
            // The borrow of `source` ends with each call.
            let (before, after) = (source(&read).unwrap(), source(&again).unwrap());
            prop_assert_eq!(branches(&before), branches(&after));
            prop_assert!(!list.iter().any(|(table, ..)| *table == "c") || list.iter().all(|(table, ..)| *table == "c")
                || key == "id", "{}", text);
            for term in std::iter::once(&after.first).chain(after.rest.iter().map(|(_, term)| term)) {
                prop_assert!(matches!(term, Term::Nested(query) if query.limit.is_some()));
            }
            let second = rewrite(&rule("union_limit"), &again.statement(), &session.context());
            prop_assert!(second.template.is_none(), "rewritten twice: {}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn no_text_panics(text in "[a-z(),.*'` ;@?=<>0-9-]{0,60}", prefix in select(vec!["", "SELECT ", "SELECT a FROM (SELECT ", "SELECT a UNION ALL SELECT "])) {
        let session = Session::new(&TABLES);
        if let Some(read) = Read::of(format!("{prefix}{text}").into_bytes(), session.flavor) {
            for pass in ["union_limit", "derived_merge"] {
                rewrite(&rule(pass), &read.statement(), &session.context());
            }
        }
    }
}

/// Statements like those that the passes are about, of words in any order: rewritten or not, without a panic, and a new text
/// reads again.
#[test]
fn fuzz_rewrite() {
    const WORDS: [&str; 44] = [
        "SELECT",
        "id",
        "n",
        "s",
        ",",
        "FROM",
        "a",
        "b",
        "c",
        "WHERE",
        "n > 3",
        "s = ' LIMIT 1) '",
        "ORDER BY",
        "1",
        "LIMIT",
        "2",
        "OFFSET",
        "UNION ALL",
        "UNION",
        "(",
        ")",
        "(SELECT",
        "AS d",
        "AS",
        "*",
        "a.id",
        "d.n",
        "JOIN",
        "ON",
        "GROUP BY",
        "HAVING",
        "DISTINCT",
        "COUNT(*)",
        "DESC",
        "/* x */",
        "-- y\n",
        "@v",
        "NOW()",
        "IN (1, 2)",
        "`id`",
        "EXISTS",
        "FOR UPDATE",
        "WITH",
        "NULL",
    ];
    const BEGINNINGS: [&str; 3] = [
        "SELECT id FROM a UNION ALL SELECT id FROM b",
        "SELECT id FROM (SELECT id, n FROM a) AS d",
        "SELECT d.id, d.n FROM (SELECT id, n FROM a WHERE n > 1",
    ];
    let session = Session::new(&TABLES);
    let rules = ["union_limit", "derived_merge"].map(rule);
    bolero::check!().with_type::<(u8, Vec<u8>)>().for_each(|(beginning, picks)| {
        let words: Vec<&str> = picks.iter().map(|pick| WORDS[usize::from(*pick) % WORDS.len()]).collect();
        let text = format!("{} {}", BEGINNINGS[usize::from(*beginning) % BEGINNINGS.len()], words.join(" "));
        let Some(read) = Read::of(text.into_bytes(), session.flavor) else { return };
        for rules in &rules {
            let outcome = rewrite(rules, &read.statement(), &session.context());
            let mut out = Vec::new();
            if outcome.render(&read.text, &read.scan.as_scan(), &mut out) {
                assert!(Read::of(out.clone(), session.flavor).is_some(), "{}", String::from_utf8_lossy(&out));
            }
        }
    });
}
