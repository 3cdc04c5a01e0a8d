//! What the documentation says of the shipped rules is what they are. `UPDATE_DOCS=1` (`make docs`) writes it anew.

#![expect(clippy::unwrap_used, reason = "tests")]

use rewriter::{RuleSet, describe};
use shuntyard_tests::machine;

const MARK: &str = "<!-- catalogue -->\n";

#[test]
fn the_catalogue_of_rules_is_true() {
    let mut files: Vec<(String, String)> = std::fs::read_dir(machine::project("rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    let rules = RuleSet::load(&files).unwrap();
    let described: Vec<String> = rules.rules().iter().map(|rule| describe(rule)).collect();
    let file = machine::project("docs/rules.md");
    let old = std::fs::read_to_string(&file).unwrap();
    let (head, _) = old.split_once(MARK).unwrap();
    let new = format!("{head}{MARK}\n{}", described.join("\n"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, new).unwrap();
    } else {
        assert!(old == new, "docs/rules.md is not what the rules say: `make docs` writes it anew");
    }
}
