//! Samples as differences of sums.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn a_sample_is_what_came_since_the_last_one() {
    let (totals, history) = (Totals::new(1), History::new());
    totals.query(10, false);
    history.sample(100, &totals);
    assert!(history.read().is_empty());
    totals.add(Counter::Connections, 2);
    totals.add(Counter::BytesIn, 5);
    totals.add(Counter::BytesOut, 6);
    for _ in 0..99 {
        totals.query(1_000, false);
    }
    totals.query(50_000, true);
    history.sample(101, &totals);
    let sample = *history.read().last().unwrap();
    assert_eq!((sample.at, sample.seconds, sample.queries, sample.errors), (101, 1, 100, 1));
    assert_eq!((sample.bytes, sample.connected), (11, 2));
    assert!(sample.p50.abs_diff(1_000) < 40, "{}", sample.p50);
    history.sample(103, &totals);
    let sample = *history.read().last().unwrap();
    assert_eq!((sample.seconds, sample.queries, sample.p99), (2, 0, 0));
}

#[test]
fn two_samples_of_one_second_are_one_and_lose_nothing() {
    let (totals, history) = (Totals::new(1), History::new());
    history.sample(1, &totals);
    totals.query(1, false);
    history.sample(1, &totals);
    assert!(history.read().is_empty());
    history.sample(2, &totals);
    assert_eq!(history.read().last().unwrap().queries, 1);
}

#[test]
fn only_the_last_ten_minutes_are_kept() {
    let (totals, history) = (Totals::new(1), History::new());
    for second in 0..2_000 {
        history.sample(second, &totals);
    }
    let samples = history.read();
    assert_eq!((samples.len(), samples.last().unwrap().at), (SECONDS, 1_999));
}
