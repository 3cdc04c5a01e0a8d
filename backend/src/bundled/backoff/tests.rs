//! Tests of the restart schedule.

use super::{CAP, FIRST, STABLE, delay, next_attempt};
use std::time::Duration;

#[test]
fn doubles_up_to_the_cap_and_stays_there() {
    assert_eq!(delay(1), FIRST);
    assert_eq!(delay(2), FIRST * 2);
    assert_eq!(delay(5), FIRST * 16);
    for attempt in [9, 31, 32, 33, 34, 1000, u32::MAX] {
        assert_eq!(delay(attempt), CAP, "{attempt}");
    }
    assert!((1..100).all(|n| delay(n) <= delay(n + 1)));
}

#[test]
fn a_stable_run_starts_the_count_again() {
    assert_eq!(next_attempt(0, None), 1);
    assert_eq!(next_attempt(7, None), 8);
    assert_eq!(next_attempt(7, Some(Duration::from_secs(1))), 8);
    assert_eq!(next_attempt(7, Some(STABLE)), 1);
    assert_eq!(next_attempt(u32::MAX, None), u32::MAX);
}
