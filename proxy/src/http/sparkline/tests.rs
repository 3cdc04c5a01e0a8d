//! Coordinates of curves.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn the_newest_value_is_at_the_right_and_the_largest_at_the_top() {
    let run = runs(&[Some(0.0), Some(5.0), Some(10.0)], 3, 10.0).pop().unwrap();
    assert_eq!(run, [(0.0, HEIGHT), (300.0, HEIGHT - 59.0), (600.0, 2.0)]);
    let short = runs(&[Some(10.0)], 3, 10.0).pop().unwrap();
    assert_eq!(short, [(600.0, 2.0)]);
}

#[test]
fn gaps_split_a_curve() {
    let found = runs(&[Some(1.0), None, None, Some(2.0), Some(3.0)], 5, 3.0);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert!(runs(&[None, None], 2, 0.0).is_empty());
}

#[test]
fn only_the_last_seconds_are_drawn_and_nothing_divides_by_zero() {
    assert_eq!(runs(&[Some(9.0); 10], 4, 9.0).pop().unwrap().len(), 4);
    let flat = svg("a < b", 1, 0.0, &[Curve { class: "line", values: &[Some(0.0)] }]);
    assert!(flat.contains("a &lt; b") && !flat.contains("NaN") && !flat.contains("inf"), "{flat}");
    assert!(!svg("", 0, 0.0, &[]).is_empty());
}
