//! The histogram's precision and edges.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn every_value_is_within_one_thirty_second_of_its_bucket() {
    let mut value = 0_u64;
    while value < LARGEST {
        let at = index(value);
        assert!(at < BUCKETS, "{value} is outside");
        let error = middle(at).abs_diff(value) as f64;
        assert!(error <= value as f64 / 32.0 + 0.5, "{value} read as {}", middle(at));
        value = value + value / 97 + 1;
    }
}

#[test]
fn buckets_rise_without_a_gap() {
    let mut last = 0;
    for value in 0..200_000_u64 {
        let at = index(value);
        assert!(at == last || at == last + 1, "gap at {value}");
        last = at;
    }
    assert_eq!(index(LARGEST), BUCKETS - 1);
    assert_eq!(index(u64::MAX), BUCKETS - 1);
}

#[test]
fn percentiles_of_a_known_distribution_are_within_five_percent() {
    let histogram = Histogram::new();
    for micros in 1..=100_000_u64 {
        histogram.record(micros);
    }
    let mut latencies = Latencies::new();
    histogram.add_to(&mut latencies);
    assert_eq!(latencies.count(), 100_000);
    for (quantile, exact) in [(0.5, 50_000.0), (0.95, 95_000.0), (0.99, 99_000.0), (1.0, 100_000.0)] {
        let read = latencies.quantile(quantile) as f64;
        assert!((read - exact).abs() / exact < 0.05, "{quantile}: {read}");
    }
    let sum = latencies.sum() as f64;
    assert!((sum - 5_000_050_000.0).abs() / sum < 0.03, "{sum}");
    let below = latencies.at_most(10_000) as f64;
    assert!((below - 10_000.0).abs() < 500.0, "{below}");
}

#[test]
fn nothing_counted_reads_as_zero() {
    assert_eq!(Latencies::new().quantile(0.99), 0);
}

#[test]
fn a_full_bucket_halves_all_and_keeps_percentiles() {
    let histogram = Histogram::new();
    histogram.buckets.get(index(100)).unwrap().store(HALVE_AT, Relaxed);
    histogram.buckets.get(index(5_000)).unwrap().store(HALVE_AT / 4, Relaxed);
    histogram.record(100);
    let mut latencies = Latencies::new();
    histogram.add_to(&mut latencies);
    assert!(latencies.count() < u64::from(HALVE_AT));
    assert!(latencies.quantile(0.5).abs_diff(100) <= 4);
    assert!(latencies.quantile(0.99).abs_diff(5_000) <= 160);
}

#[test]
fn absorbing_does_not_overflow() {
    let histogram = Histogram::new();
    let mut much = Latencies::new();
    *much.counts.get_mut(3).unwrap() = u64::MAX;
    histogram.absorb(&much);
    histogram.absorb(&much);
    histogram.record(3);
    let mut latencies = Latencies::new();
    histogram.add_to(&mut latencies);
    assert_eq!(latencies.quantile(0.5), 3);
}
