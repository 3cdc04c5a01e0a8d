//! `make bench`: the proxy beside a direct connection and HAProxy, interleaved, and what the rules gain.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

mod bare;
mod gains;
mod load;
mod places;
mod report;
mod statistics;

use std::time::{Duration, Instant};

use clap::{Parser, Subcommand, ValueEnum};
use shuntyard_tests::mariadb::MariaDb;

use load::{Run, Workload};
use places::{Place, Places};
use report::Series;

/// Measures the proxy beside its rival and writes docs/benchmarks.md
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds; in each of them every place is measured once, one after the other
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Seconds of load for each measurement
    #[arg(long, default_value_t = 4)]
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
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this program does instead of measuring.
#[derive(Debug, Subcommand)]
enum Role {
    /// Copy bytes between a port and a server's port: one of the places that are measured
    #[command(hide = true)]
    Relay { runtime: bare::Runtime, listen: u16, to: u16 },
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// sysbench oltp_point_select
    PointSelect,
    /// sysbench oltp_read_only
    ReadOnly,
    /// Relays that only copy bytes, on Tokio's two runtimes
    Runtimes,
    /// The rules' gains on the demo data
    Rules,
}

fn main() {
    let mut arguments = Arguments::parse();
    if let Some(Role::Relay { runtime, listen, to }) = arguments.role {
        bare::serve(runtime, listen, to).expect("the relay's port is free");
        return;
    }
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
    if !workloads.is_empty() || wanted(What::Runtimes) {
        let bench = Bench::start(&arguments);
        let series: Vec<Series> = workloads
            .iter()
            .flat_map(|workload| arguments.threads.iter().map(|threads| (*workload, *threads)))
            .map(|(workload, threads)| bench.series(workload, threads, &Place::RIVALS))
            .collect();
        text.push_str(&report::conditions(arguments.rounds, arguments.seconds, arguments.rows));
        text.push_str(&report::relay(&series));
        if wanted(What::Runtimes) {
            let threads = arguments.threads.iter().max().copied().unwrap_or(1);
            text.push_str(&report::runtimes(&bench.series(Workload::PointSelect, threads, &Place::RUNTIMES)));
        }
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

/// A server with its table, and all places in front of it.
struct Bench<'a> {
    places: Places,
    arguments: &'a Arguments,
    _server: MariaDb,
}

impl Bench<'_> {
    fn start(arguments: &Arguments) -> Bench<'_> {
        let settings = ["--innodb-buffer-pool-size=512M", "--max-connections=600", "--skip-name-resolve"];
        let server = MariaDb::start(&settings).expect("MariaDB is there");
        load::prepare(server.port(), arguments.rows);
        Bench { places: Places::start(server.port()), arguments, _server: server }
    }

    /// One workload at one number of threads, the places interleaved.
    fn series(&self, workload: Workload, threads: u32, places: &'static [Place]) -> Series {
        let time = Duration::from_secs(self.arguments.seconds.into());
        let load = Run { workload, threads, rows: self.arguments.rows, time };
        let mut series = Series::new(workload, threads, places);
        for round in 0..self.arguments.rounds {
            // Another place goes first in each round, so that no place always follows the same one.
            for place in places.iter().cycle().skip(round % places.len()).take(places.len()) {
                let measured = load.at(&self.places, *place);
                eprintln!("{} × {threads} {place:?}: {:.0} queries/s", workload.name(), measured.queries);
                series.add(*place, measured);
            }
        }
        series
    }
}
