//! Rule files: what they say, and how they are refused.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::RuleSet;
use crate::rule::{Effect, Mode};

fn load(files: &[&str]) -> Result<RuleSet, Vec<String>> {
    let files: Vec<_> =
        files.iter().enumerate().map(|(at, text)| (format!("f{at}.yaml"), (*text).to_owned())).collect();
    RuleSet::load(&files).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

const SHIPPED: [&str; 2] =
    [include_str!("../../../rules/union-limit.yaml"), include_str!("../../../rules/derived-merge.yaml")];

#[test]
fn the_shipped_rules_hold_their_own_tests() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    let rules = RuleSet::load(&files).unwrap_or_else(|faults| {
        let shown: Vec<_> = faults.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"))
    });
    assert!(
        rules.rules().iter().all(|rule| rule.mode == Mode::Enabled),
        "only `lossy` rules may be disabled"
    );
    assert!(rules.rules().len() >= 14 && rules.any_enabled());
}

#[test]
fn a_later_file_overrides_by_id() {
    let own = "- {id: union-limit, mode: explain, pass: union_limit, effect: same_rows, priority: 5}\n";
    let rules = load(&[SHIPPED[0], SHIPPED[1], own]).unwrap();
    let first = &rules.rules()[0];
    assert_eq!((first.id.as_str(), first.mode, first.priority), ("union-limit", Mode::Explain, 5));
    assert_eq!(first.effect, Effect::SameRows);
    assert_eq!(rules.rules().len(), 2);
}

#[test]
fn every_fault_has_its_place() {
    let text = "\
- id: one two
  mode: enabeld
  pass: union_limt
  efect: same_rows
- id: b
  mode: disabled
  pass: union_limit
  options: {max_row: 3}
  effect: same_rows
  server: [mariadb, percona]
- id: b
  mode: disabled
  pass: derived_merge
  effect: same_rows
  tests: [{sql: SELECT 1, expect: changed}]
- {id: c, mode: disabled, match: SELECT 1, pass: derived_merge, effect: lossy}
";
    assert_eq!(
        load(&[text]).unwrap_err(),
        [
            "f0.yaml:1:3: a rule without `effect`",
            "f0.yaml:1:7: an id is up to 64 letters, digits, `-`, `_` and `.`",
            "f0.yaml:2:9: expected one of disabled, explain, shadow, enabled, found `enabeld`, did you mean `enabled`?",
            "f0.yaml:3:9: expected one of union_limit, derived_merge, found `union_limt`, did you mean `union_limit`?",
            "f0.yaml:4:3: unknown key `efect` in a rule, did you mean `effect`?",
            "f0.yaml:8:13: unknown key `max_row` in options of union_limit, did you mean `max_rows`?",
            "f0.yaml:10:21: expected mariadb or mysql, found `percona`",
            "f0.yaml:11:3: the rule `b` stands twice, first at line 5",
            "f0.yaml:15:35: expected one of rewritten, unchanged, found `changed`, did you mean `unchanged`?",
            "f0.yaml:16:3: a rule has either `pass` (a built-in one) or `match` (a pattern)",
        ]
    );
}

#[test]
fn an_enabled_rule_needs_a_near_miss() {
    let text = "\
- id: a
  mode: enabled
  pass: union_limit
  effect: same_rows
  given: CREATE TABLE t (a INT NOT NULL)
  tests: [{sql: SELECT a FROM t UNION ALL SELECT a FROM t ORDER BY a LIMIT 2, expect: rewritten}]
";
    assert_eq!(
        load(&[text]).unwrap_err(),
        ["f0.yaml:1:3: the rule `a` is enabled without a near miss: a test that expects `unchanged`"]
    );
    assert!(load(&[&text.replace("mode: enabled", "mode: explain")]).is_ok());
    assert!(
        load(&["- {id: a, mode: enabled, pass: union_limit, effect: same_rows}"]).unwrap_err().len() == 2
    );
}

#[test]
fn a_test_that_does_not_hold_is_a_fault() {
    let text = "\
- id: a
  mode: explain
  pass: union_limit
  effect: same_rows
  given: CREATE TABLE t (a INT NOT NULL)
  tests:
    - {sql: SELECT a FROM t UNION ALL SELECT b FROM t ORDER BY a LIMIT 2, expect: rewritten}
    - {sql: SELECT a FROM t UNION ALL SELECT a FROM t ORDER BY a LIMIT 2, expect: unchanged}
    - {sql: SELECT FROM, expect: unchanged}
";
    let faults = load(&[text]).unwrap_err();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(
        faults[0].starts_with("f0.yaml:7:7: a test does not hold: expected rewritten, it stays unchanged"),
        "{faults:?}"
    );
    assert!(faults[0].contains("refused by columns: the catalog does not know the column b"), "{faults:?}");
    assert!(
        faults[1].starts_with("f0.yaml:8:7: a test does not hold: expected unchanged, it is rewritten"),
        "{faults:?}"
    );
    assert!(
        faults[2].starts_with("f0.yaml:9:7: a test of the rule `a`: the statement cannot be read"),
        "{faults:?}"
    );
    let wrong =
        "- {id: a, mode: explain, pass: union_limit, effect: same_rows, given: CREATE TABLE t, tests: []}";
    assert!(load(&[wrong]).unwrap_err()[0].contains("`given` of the rule `a`"));
}

#[test]
fn an_empty_file_has_no_rules() {
    assert!(load(&["# nothing\n", ""]).unwrap().rules().is_empty());
    assert!(load(&["{id: a}"]).unwrap_err()[0].contains("expected a list of rules"));
}

/// Rule files made of the right words in any order, and shipped ones with a piece put in or taken out: loaded or refused, with a
/// place for every fault.
#[test]
fn fuzz_load() {
    const PIECES: [&str; 40] = [
        "- ",
        "id: ",
        "a",
        "\n",
        "  ",
        "    ",
        "mode: ",
        "enabled",
        "explain",
        "pass: ",
        "union_limit",
        "derived_merge",
        "effect: ",
        "same_rows",
        "given: ",
        "tests: ",
        "sql: ",
        "expect: ",
        "rewritten",
        "unchanged",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "|\n",
        "'",
        "\"",
        "#",
        "&x ",
        "*x",
        "null",
        "-1",
        "priority: ",
        "server: ",
        "mariadb >= 10.6",
        "options: ",
        "SELECT a FROM t UNION ALL SELECT a FROM t ORDER BY a LIMIT 2",
        "CREATE TABLE t (a INT NOT NULL)",
        ": ",
    ];
    let check = |text: &str| {
        if let Err(faults) = RuleSet::load(&[("f.yaml".to_owned(), text.to_owned())]) {
            assert!(faults.iter().all(|fault| fault.span.line >= 1 && fault.span.column >= 1));
        }
    };
    bolero::check!().with_type::<(Vec<u8>, u16, u8)>().for_each(|(picks, at, cut)| {
        let text: String = picks.iter().map(|pick| PIECES[usize::from(*pick) % PIECES.len()]).collect();
        check(&text);
        // Testing rules takes long: one of the shipped files is changed at a time.
        let mut text = SHIPPED[usize::from(*at) % 2].to_owned();
        let lines: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let from = lines[usize::from(*at) % lines.len()];
        let to =
            lines.get(usize::from(*at) % lines.len() + usize::from(cut % 8)).copied().unwrap_or(text.len());
        text.replace_range(from..to, PIECES[usize::from(*cut) % PIECES.len()]);
        check(&text);
    });
}
