//! Counting by digest and eviction.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::thread;

use super::*;
use crate::stats::bind_core;

fn digests(capacity: usize) -> Digests {
    Digests::new(2, capacity, Arc::new(Clock::new()))
}

#[test]
fn a_digest_is_one_per_schema() {
    let set = digests(10);
    let one = set.get(1, "shop", || "SELECT ?".into());
    assert!(Arc::ptr_eq(&one, &set.get(1, "shop", || unreachable!("known"))));
    assert!(!Arc::ptr_eq(&one, &set.get(1, "other", || "SELECT ?".into())));
    assert_eq!(set.len(), 2);
}

#[test]
fn what_is_recorded_on_all_cores_is_read() {
    let set = digests(10);
    let stats = set.get(7, "shop", || "SELECT ?".into());
    thread::scope(|scope| {
        for core in 0..3 {
            let stats = &stats;
            scope.spawn(move || {
                bind_core(core);
                for at in 0..1000_u64 {
                    stats.record(Duration::from_micros(500), at % 10 == 0, 100);
                }
                stats.rewritten();
            });
        }
    });
    let row = set.read().pop().unwrap();
    assert_eq!((row.count, row.errors, row.rewritten, row.bytes), (3000, 300, 3, 300_000));
    assert_eq!(row.micros, 1_500_000);
    assert_eq!(row.latencies.count(), 3000);
    assert!(row.last_seen >= row.first_seen && row.first_seen > 0);
}

#[test]
fn eviction_folds_the_unheld_into_other_and_loses_nothing() {
    let set = digests(16);
    let held = set.get(9_999, "", || "held".into());
    held.record(Duration::from_micros(1), false, 1);
    for digest in 0..1000 {
        set.get(digest, "", || "SELECT ?".into()).record(Duration::from_micros(10), true, 2);
    }
    assert!(set.len() <= 16);
    let rows = set.read();
    assert!(rows.iter().any(|row| row.digest == 9_999 && row.count == 1), "a held digest was evicted");
    assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 1001);
    assert_eq!(rows.iter().map(|row| row.errors).sum::<u64>(), 1000);
    assert_eq!(rows.iter().map(|row| row.latencies.count()).sum::<u64>(), 1001);
    assert_eq!(rows.iter().filter(|row| row.text == "(other statements)").count(), 1);
}

#[test]
fn a_set_that_is_all_held_counts_new_digests_as_other() {
    let set = digests(4);
    let held: Vec<_> = (0..4).map(|digest| set.get(digest, "", || "SELECT ?".into())).collect();
    let fifth = set.get(5, "", || "SELECT ?".into());
    fifth.record(Duration::from_millis(1), false, 0);
    assert_eq!(fifth.text(), "(other statements)");
    assert_eq!(set.len(), held.len());
    assert_eq!(set.read().last().unwrap().count, 1);
}

#[test]
fn a_capacity_of_nothing_is_other_alone() {
    let set = digests(0);
    set.get(1, "", || "SELECT ?".into()).record(Duration::ZERO, false, 0);
    assert_eq!((set.len(), set.read().len()), (0, 1));
}

#[test]
fn long_texts_are_cut_between_characters() {
    let set = digests(1);
    let stats = set.get(1, "", || "é".repeat(5_000));
    assert_eq!(stats.text().len(), TEXT_MAX);
    let odd = set.get(2, "", unreachable_len);
    assert!(odd.text().len() <= TEXT_MAX);
}

fn unreachable_len() -> String {
    format!("x{}", "é".repeat(5_000))
}
