//! All rounds of one cell, and what they say: medians, and ratios taken round by round.

use std::collections::BTreeMap;

use crate::arguments::Extent;
use crate::cell::Cell;
use crate::load::{self, Measured};
use crate::places::{Place, Places};
use shuntyard_tests::statistics::{Estimate, estimate};

/// How often one measurement is tried.
const TRIES: usize = 3;

/// What of a measurement is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Queries per second.
    Queries,
    /// 99th percentile, milliseconds.
    P99,
    /// CPU of the proxy, microseconds for each query.
    Cpu,
    /// Memory of the proxy, MiB.
    Memory,
}

impl Metric {
    fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Metric::Queries => Some(measured.queries),
            Metric::P99 => Some(measured.p99),
            Metric::Cpu => measured.cpu,
            Metric::Memory => measured.memory,
        }
    }
}

/// The rounds of one cell.
pub(crate) struct Series {
    pub(crate) cell: Cell,
    rounds: BTreeMap<Place, Vec<Measured>>,
}

impl Series {
    /// Measures a cell, the places interleaved.
    pub(crate) fn measure(cell: Cell, extent: &Extent, places: &Places, order: &[Place]) -> Series {
        let mut series = Series { cell, rounds: BTreeMap::new() };
        for round in 0..extent.rounds {
            // Another place goes first in each round, so that no place always follows the same one.
            for place in order.iter().cycle().skip(round % order.len()).take(order.len()) {
                let measured = tried(&cell, extent, places, *place);
                eprintln!("{cell} | {place:?}: {:.0} queries/s", measured.queries);
                series.rounds.entry(*place).or_default().push(measured);
            }
        }
        series
    }

    /// The median of one place's rounds.
    pub(crate) fn median(&self, place: Place, metric: Metric) -> Option<f64> {
        let values: Vec<f64> = self.rounds.get(&place)?.iter().filter_map(|m| metric.of(m)).collect();
        estimate(&values).map(|e| e.median)
    }

    /// One place's figure divided by another's, round by round.
    pub(crate) fn ratio(&self, of: Place, to: Place, metric: Metric) -> Option<Estimate> {
        let (of, to) = (self.rounds.get(&of)?, self.rounds.get(&to)?);
        let ratio = |(of, to)| Some(metric.of(of)? / metric.of(to)?);
        estimate(&of.iter().zip(to).filter_map(ratio).collect::<Vec<f64>>())
    }
}

/// A long run does not end because of one login that a busy machine let wait for too long.
fn tried(cell: &Cell, extent: &Extent, places: &Places, place: Place) -> Measured {
    for _ in 1..TRIES {
        match load::run(cell, extent.time, extent.rows, places, place) {
            Ok(measured) => return measured,
            Err(said) => eprintln!("{cell} | {place:?}: once more, since sysbench failed:\n{said}"),
        }
    }
    load::run(cell, extent.time, extent.rows, places, place).unwrap_or_else(|said| panic!("{said}"))
}
