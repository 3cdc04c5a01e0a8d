//! Places, orders and guesses.

use super::{Fault, Faults, Span, closest};

#[test]
fn a_fault_reads_like_a_compilers() {
    let fault = Fault::new("rules/a.yaml", Span { line: 3, column: 7 }, "unknown key `modus`");
    assert_eq!(fault.to_string(), "rules/a.yaml:3:7: unknown key `modus`");
}

#[test]
fn faults_come_sorted_and_once() {
    let faults = Faults::new("f");
    faults.add(Span { line: 2, column: 9 }, "b");
    faults.add(Span { line: 10, column: 1 }, "c");
    faults.add(Span { line: 2, column: 1 }, "a");
    faults.add(Span { line: 2, column: 1 }, "a");
    let texts: Vec<_> = faults.into_sorted().iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["f:2:1: a", "f:2:9: b", "f:10:1: c"]);
}

#[test]
fn offsets_become_lines_and_columns_in_characters() {
    let text = "é\nxß!";
    assert_eq!(Span::at(text, 0), Span { line: 1, column: 1 });
    assert_eq!(Span::at(text, 2), Span { line: 1, column: 2 });
    assert_eq!(Span::at(text, 3), Span { line: 2, column: 1 });
    assert_eq!(Span::at(text, 6), Span { line: 2, column: 3 });
    assert_eq!(Span::at(text, 4), Span { line: 2, column: 2 });
    assert_eq!(Span::at(text, 999), Span { line: 2, column: 4 });
}

#[test]
fn a_guess_is_near_or_none() {
    let known = ["listen", "http", "backends", "mode"];
    assert_eq!(closest("lisetn", known), Some("listen"));
    assert_eq!(closest("backend", known), Some("backends"));
    assert_eq!(closest("Mode", known), Some("mode"));
    assert_eq!(closest("elephant", known), None);
    assert_eq!(closest(&"x".repeat(100_000), known), None);
}
