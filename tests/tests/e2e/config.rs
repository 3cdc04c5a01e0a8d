//! Configurations with faults: every one at once, with line and column, and the exit codes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use shuntyard_tests::proxy::run;
use tempfile::TempDir;

fn folder(config: &str) -> TempDir {
    let dir = TempDir::with_prefix("shuntyard-config-").unwrap();
    std::fs::write(dir.path().join("shuntyard.yaml"), config).unwrap();
    dir
}

fn check(dir: &Path) -> (Option<i32>, String) {
    let out = run(dir, &["check", "--config", "shuntyard.yaml"]);
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    (out.status.code(), said)
}

const GOOD: &str = "\
listen: 127.0.0.1:1
http: disabled
backends:
  main: {primary: \"127.0.0.1:1\"}
account: {user: shuntyard, password: {env: SHUNTYARD_PASSWORD}}
admins: [app]
timeouts: {wait: 10s, connect: 2s}
";

#[test]
fn a_good_file_is_fine() {
    let dir = folder(GOOD);
    let (code, said) = check(dir.path());
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn every_fault_is_named_at_once() {
    let bad = GOOD
        .replace("http: disabled", "htpp: disabled")
        .replace("wait: 10s", "wait: 10")
        .replace("connect: 2s", "connect: 2s, connect: 3s")
        .replace("admins: [app]", "admins: [app]\ntls: {mode: on}\nlimits: {connections: many}");
    let dir = folder(&bad);
    let (code, said) = check(dir.path());
    assert_eq!(code, Some(1), "{said}");
    for (needle, what) in [
        ("htpp", "an unknown key"),
        ("wait: 10,", "a duration without unit"),
        ("connect: 3s", "a duplicate key"),
        ("mode: on", "a boolean for a mode"),
        ("connections: many", "a number that is none"),
    ] {
        let line = 1 + bad.lines().position(|l| l.contains(needle)).unwrap();
        assert!(said.contains(&format!("shuntyard.yaml:{line}:")), "{what} at line {line} is named:\n{said}");
    }
    assert!(said.contains("shuntyard.yaml:2:1"), "line and column: {said}");
    assert!(said.contains("did you mean") && said.contains("`http`") || said.contains("http"), "{said}");
}

#[test]
fn json_has_the_same_faults() {
    let dir = folder(&GOOD.replace("http:", "htpp:"));
    let out = run(dir.path(), &["check", "--config", "shuntyard.yaml", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    assert!(text.contains("htpp"), "{text}");
}

#[test]
fn a_faulty_rule_file_is_a_fault_of_the_configuration() {
    let dir = folder(&format!("{GOOD}rules: {{files: [\"builtin:*\", \"own.yaml\"]}}\n"));
    std::fs::write(dir.path().join("own.yaml"), "- id: mine\n  mode: perhaps\n  pass: union_limit\n")
        .unwrap();
    let (code, said) = check(dir.path());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("own.yaml:2:9"), "{said}");
}

#[test]
fn a_password_in_the_clear_must_not_be_readable_for_everybody() {
    let dir = folder(&GOOD.replace("{env: SHUNTYARD_PASSWORD}", "in-the-clear"));
    let file = dir.path().join("shuntyard.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, said) = check(dir.path());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("shuntyard.yaml:5:"), "{said}");
    assert!(!said.contains("in-the-clear"), "the message does not repeat the password: {said}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(check(dir.path()).0, Some(0));
}

#[test]
fn serve_refuses_a_faulty_file_and_wrong_usage() {
    let dir = folder(&GOOD.replace("http:", "htpp:"));
    let out = run(dir.path(), &["serve", "--config", "shuntyard.yaml"]);
    assert!(matches!(out.status.code(), Some(1 | 2)), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("shuntyard.yaml:2:1"), "{out:?}");
    assert_eq!(run(dir.path(), &["serve", "--no-such-option"]).status.code(), Some(2));
    assert_eq!(run(dir.path(), &["no-such-verb"]).status.code(), Some(2));
    let missing = run(dir.path(), &["serve", "--config", "nowhere.yaml"]);
    assert!(matches!(missing.status.code(), Some(1 | 2)), "{missing:?}");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("nowhere.yaml"), "{missing:?}");
}

#[test]
fn help_and_version() {
    let dir = folder(GOOD);
    assert_eq!(run(dir.path(), &["--help"]).status.code(), Some(0));
    let version = run(dir.path(), &["--version"]);
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("shuntyard "), "{version:?}");
}
