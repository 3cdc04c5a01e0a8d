//! Tests of the log as a lock and as a source of error texts.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{ROTATE, describe, open, quote};
use std::process::{Command, Stdio};

#[test]
fn a_process_that_writes_to_the_log_holds_its_lock() {
    let dir = tempfile::tempdir().unwrap();
    let (log, old) = (dir.path().join("server.log"), dir.path().join("server.log.1"));
    let file = open(&log, &old).unwrap().unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stderr(Stdio::from(file)).spawn().unwrap();
    assert!(open(&log, &old).unwrap().is_none());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(open(&log, &old).unwrap().is_some());
}

#[test]
fn a_large_log_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let (log, old) = (dir.path().join("server.log"), dir.path().join("server.log.1"));
    std::fs::File::create(&log).unwrap().set_len(ROTATE).unwrap();
    assert!(open(&log, &old).unwrap().is_some());
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    assert_eq!(std::fs::metadata(&old).unwrap().len(), ROTATE);
}

#[test]
fn quotes_errors_before_notes_and_only_this_run() {
    let text = "[Note] a\n[ERROR] b\n[Note] c\n\n";
    assert_eq!(quote(text), "[ERROR] b");
    assert_eq!(quote("x\ny\n"), "x\ny");
    let many: String = (0..50).map(|n| format!("line {n}\n")).collect();
    assert!(quote(&many).starts_with("line 44\n") && quote(&many).ends_with("line 49"));
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("l");
    std::fs::write(&log, "[ERROR] old\n[ERROR] new\n").unwrap();
    let said = describe(&log, 12);
    assert!(said.contains("new") && !said.contains("old"), "{said}");
}
