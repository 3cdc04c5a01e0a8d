//! Patterns, folders and shipped packs.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::source::Faults;
use sql::yaml;

use super::*;

fn rules(folder: &Path, text: &str) -> Result<RuleFiles, Vec<Fault>> {
    let faults = Faults::new("shuntyard.yaml");
    let node = yaml::parse(text, &faults).unwrap();
    let environment = |_: &str| None;
    let reader = Reader { faults: &faults, folder, exposed: false, environment: &environment };
    let rules = super::read(&node, &reader);
    faults.into_result(rules).map(Option::unwrap)
}

fn names(files: &RuleFiles) -> Vec<String> {
    let base = |name: String| name.rsplit('/').next().unwrap().to_owned();
    files.read().unwrap().into_iter().map(|(name, _)| base(name)).collect()
}

#[test]
fn files_come_in_the_order_of_the_list_and_each_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rules")).unwrap();
    for name in ["b.yaml", "a.yaml", "note.txt", ".hidden.yaml"] {
        fs::write(folder.path().join("rules").join(name), name).unwrap();
    }
    let files =
        rules(folder.path(), "files: ['rules/b.yaml', './rules/*.yaml', 'builtin:union-limit']").unwrap();
    assert_eq!(names(&files), ["b.yaml", "a.yaml", "builtin:union-limit.yaml"]);
    assert_eq!(files.folders(), BTreeSet::from([folder.path().join("rules")]));
    fs::write(folder.path().join("rules/c.yaml"), "c").unwrap();
    assert_eq!(names(&files).len(), 4, "a pattern is looked up at every reading");
}

#[test]
fn shipped_rules_are_in_the_program() {
    let all = RuleFiles::builtin().read().unwrap();
    assert!(
        all.iter().any(|(name, text)| name == "builtin:union-limit.yaml" && text.contains("union_limit"))
    );
    let error = rules(Path::new("."), "files: ['builtin:onion']").unwrap_err();
    assert!(error.first().unwrap().message.contains("builtin:union-limit"), "{error:?}");
}

#[test]
fn what_cannot_be_read_is_a_fault_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (text, at, part) in [
        ("files: [nothing.yaml]", 9, "nothing.yaml cannot be read"),
        ("files: ['no/*.yaml']", 9, "no folder"),
        ("files: ['*/a.yaml']", 9, "not of a folder"),
        ("files: ['']", 9, "expected a file"),
        ("files:", 6, "expected a file"),
        ("other: 1", 1, "unknown key"),
    ] {
        let faults = rules(folder.path(), text).unwrap_err();
        let found = faults.iter().find(|fault| fault.message.contains(part));
        assert!(found.is_some_and(|fault| fault.span.column == at), "{text}: {faults:?}");
    }
    let path = folder.path().join("a.yaml");
    fs::write(&path, "x").unwrap();
    let files = rules(folder.path(), "files: a.yaml").unwrap();
    fs::write(&path, [0xff, 0xfe]).unwrap();
    let faults = files.read().unwrap_err();
    assert_eq!((&*faults.first().unwrap().file, faults.len()), ("shuntyard.yaml", 1));
}

#[test]
fn stars_and_question_marks_match() {
    for (pattern, name) in [("*", ""), ("*.yaml", "a.yaml"), ("a?c", "abc"), ("a*b*c", "axxbyyc")] {
        assert!(wild(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [("*.yaml", "a.yml"), ("?", ""), ("a%", "ab"), ("a_", "ab"), ("a", "ab")] {
        assert!(!wild(pattern, name), "{pattern} {name}");
    }
}
