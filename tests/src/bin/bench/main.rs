//! `make bench`: the proxy beside a direct connection and HAProxy, interleaved, and what the rules gain.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

mod gains;
mod load;
mod places;
mod report;
mod statistics;

use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use shuntyard_tests::mariadb::MariaDb;

use load::{Run, Workload};
use places::{Place, Places};
use report::{Conditions, Series};

/// Measures the proxy beside its rival and writes docs/benchmarks.md
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds; in each of them every place is measured once, one after the other
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of load for each measurement
    #[arg(long, default_value_t = 6)]
    seconds: u32,
    /// Client threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 64])]
    threads: Vec<u32>,
    /// Measure only this; repeatable
    #[arg(long, value_enum)]
    only: Vec<What>,
    /// Rows of the table under load
    #[arg(long, default_value_t = 200_000)]
    rows: u32,
    /// A smoke test of a minute: one round, one second, few rows; writes no file
    #[arg(long)]
    quick: bool,
    /// Print only, leave docs/benchmarks.md as it is
    #[arg(long)]
    print: bool,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// sysbench oltp_point_select
    PointSelect,
    /// sysbench oltp_read_only
    ReadOnly,
    /// The rules' gains on the demo data
    Rules,
}

fn main() {
    let mut arguments = Arguments::parse();
    if arguments.quick {
        (arguments.rounds, arguments.seconds, arguments.rows, arguments.print) = (1, 1, 10_000, true);
    }
    let wanted = |what: What| arguments.only.is_empty() || arguments.only.contains(&what);
    let mut text = String::new();
    let from = Instant::now();
    let workloads: Vec<Workload> =
        [(What::PointSelect, Workload::PointSelect), (What::ReadOnly, Workload::ReadOnly)]
            .into_iter()
            .filter_map(|(what, workload)| wanted(what).then_some(workload))
            .collect();
    if !workloads.is_empty() {
        let series = relay(&arguments, &workloads);
        text.push_str(&report::relay(
            &series,
            &Conditions::here(arguments.rounds, arguments.seconds, arguments.rows),
        ));
    }
    if wanted(What::Rules) {
        let gains = gains::measure(if arguments.quick { 1 } else { 5 });
        text.push_str(&report::gains(&gains));
    }
    println!("{text}");
    eprintln!("measured in {} s", from.elapsed().as_secs());
    if !arguments.print {
        report::write(&text);
    }
}

/// Every workload and thread count, all places interleaved.
fn relay(arguments: &Arguments, workloads: &[Workload]) -> Vec<Series> {
    let server =
        MariaDb::start(&["--innodb-buffer-pool-size=512M", "--max-connections=600", "--skip-name-resolve"])
            .expect("MariaDB is there");
    load::prepare(server.port(), arguments.rows);
    let places = Places::start(server.port());
    let mut all = Vec::new();
    for workload in workloads {
        for threads in &arguments.threads {
            let load = Run {
                workload: *workload,
                threads: *threads,
                rows: arguments.rows,
                time: Duration::from_secs(arguments.seconds.into()),
            };
            let mut series = Series::new(*workload, *threads);
            for round in 0..arguments.rounds {
                // Another place goes first in each round, so that no place always follows the same one.
                for turn in 0..Place::ALL.len() {
                    let place = Place::ALL[(round + turn) % Place::ALL.len()];
                    let measured = load.at(&places, place);
                    eprintln!("{} × {threads} {place:?}: {:.0} queries/s", workload.name(), measured.queries);
                    series.add(place, measured);
                }
            }
            all.push(series);
        }
    }
    all
}
