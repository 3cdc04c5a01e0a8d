//! The script's templates and parameters, and that the script itself is readable.

use std::path::Path;

use serde_json::json;

use super::*;

#[test]
fn templates_are_filled_in() {
    let files = Path::new("/files");
    assert_eq!(expand("plain", files), b"plain");
    assert_eq!(expand("a{{x*3}}b", files), b"axxxb");
    assert_eq!(expand("'{{hex:BF5C}}'", files), b"'\xbf\x5c'");
    assert_eq!(expand("{{file:a.csv}}{{hex:00}}", files), b"/files/a.csv\0");
}

#[test]
fn parameters_keep_their_kind() {
    assert_eq!(parameter(&json!(null)), Value::NULL);
    assert_eq!(parameter(&json!(18_446_744_073_709_551_615_u64)), Value::UInt(u64::MAX));
    assert_eq!(parameter(&json!(-1)), Value::Int(-1));
    assert_eq!(parameter(&json!(0.5)), Value::Double(0.5));
    assert_eq!(parameter(&json!({"bytes": "00FF"})), Value::Bytes(vec![0, 255]));
    assert_eq!(parameter(&json!({"repeat": "ab", "times": 2})), Value::Bytes(b"abab".to_vec()));
    assert_eq!(parameter(&json!({"stream": "ab", "times": 2})), Value::Bytes(b"abab".to_vec()));
    assert_eq!(parameter(&json!({"date": "2024-02-29"})), Value::Date(2024, 2, 29, 0, 0, 0, 0));
    let moment = parameter(&json!({"datetime": "2024-02-29 01:02:03.000004"}));
    assert_eq!(moment, Value::Date(2024, 2, 29, 1, 2, 3, 4));
    assert_eq!(parameter(&json!({"time": "-34:05:06.000007"})), Value::Time(true, 1, 10, 5, 6, 7));
}

#[test]
fn steps_are_left_out_for_who_cannot_do_them() {
    let step = Step::read(&json!({"sql": "SELECT 1", "not_for": ["one", "two:binary"]}));
    assert!(!step.is_for(&["one"]) && !step.is_for(&["two", "two:binary"]));
    assert!(step.is_for(&["two", "two:text"]) && Step::read(&json!("SELECT 1")).is_for(&["one"]));
}

#[test]
fn the_script_has_its_cases() {
    let script = Script::load();
    assert!(script.cases.len() > 30);
    assert!(script.cases.iter().all(|case| !case.steps.is_empty()));
    assert!(
        script.cases.iter().any(|case| case.is_for("mysql", &["raw"]) && !case.is_for("mariadb", &["raw"]))
    );
}
