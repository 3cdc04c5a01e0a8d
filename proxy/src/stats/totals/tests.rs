//! Sums over shards.

use std::thread;

use super::*;
use crate::stats::bind_core;

#[test]
fn the_table_of_counters_follows_the_enum() {
    for (at, (counter, name, help)) in COUNTERS.iter().enumerate() {
        assert_eq!(*counter as usize, at, "{name}");
        assert!(!help.is_empty());
        assert_eq!(COUNTERS.iter().filter(|(_, other, _)| other == name).count(), 1, "{name}");
    }
}

#[test]
fn cores_write_apart_and_are_read_together() {
    let totals = Totals::new(3);
    thread::scope(|scope| {
        for core in 0..5 {
            let totals = &totals;
            scope.spawn(move || {
                bind_core(core);
                for _ in 0..1000 {
                    totals.query(100, core == 0);
                    totals.add(Counter::BytesOut, 7);
                }
            });
        }
    });
    let row = totals.read();
    assert_eq!(row.get(Counter::Queries), 5000);
    assert_eq!(row.get(Counter::Errors), 1000);
    assert_eq!(row.get(Counter::BytesOut), 35_000);
    assert_eq!(row.latencies.count(), 5000);
}

#[test]
fn connected_never_goes_below_zero() {
    let totals = Totals::new(0);
    totals.add(Counter::Disconnections, 1);
    assert_eq!(totals.read().connected(), 0);
    totals.add(Counter::Connections, 3);
    assert_eq!(totals.read().connected(), 2);
}
