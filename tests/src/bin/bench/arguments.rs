//! What the command line asks for.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use crate::bare;
use crate::cell::{Cell, Protocol, Workload};
use crate::servers::Product;

/// Rows of the table under load in a smoke test.
const FEW: u32 = 10_000;

/// Measures the proxy beside its rivals and writes docs/benchmarks.md
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// All cells: every load, text and prepared statements, 1, 16, 64 and 256 threads, in front of both servers
    #[arg(long)]
    full: bool,
    /// Measure only this part; repeatable
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Only this load; repeatable
    #[arg(long, value_enum)]
    load: Vec<Workload>,
    /// Only this protocol; repeatable
    #[arg(long, value_enum)]
    protocol: Vec<Protocol>,
    /// Client threads
    #[arg(long, value_delimiter = ',')]
    threads: Vec<u32>,
    /// Rounds; in each of them every place is measured once, one after the other. Below 6 no interval reaches 95 %
    /// [default: 9, with --full 6]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of load for each measurement
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Rows of the table under load
    #[arg(long, default_value_t = 200_000)]
    rows: u32,
    /// Idle connections whose memory is measured
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// Rows of the answer to a slow client
    #[arg(long, default_value_t = 5_000_000)]
    answer: u64,
    /// A smoke test of a few minutes: one round, one second, few rows; writes no file
    #[arg(long)]
    quick: bool,
    /// Print only, leave docs/benchmarks.md as it is
    #[arg(long)]
    print: bool,
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

/// What this program does instead of measuring.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Copy bytes between a port and a server's port: one of the places that are measured
    #[command(hide = true)]
    Relay { runtime: bare::Runtime, listen: u16, to: u16 },
}

/// What can be measured, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Part {
    /// sysbench in front of MariaDB: direct, HAProxy, Shuntyard
    Mariadb,
    /// sysbench in front of MySQL: direct, HAProxy, MySQL Router, Shuntyard
    Mysql,
    /// What the proxy does for one statement, without any input or output
    Micro,
    /// Memory of idle connections
    Idle,
    /// Memory while a client reads a large answer slowly
    SlowClient,
    /// Relays that only copy bytes, on Tokio's two runtimes
    Runtimes,
    /// The rules' gains on the demo's data
    Rules,
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// How often each place is measured.
    pub(crate) rounds: usize,
    /// For how long.
    pub(crate) time: Duration,
    /// Rows of the table under load.
    pub(crate) rows: u32,
    /// Idle connections.
    pub(crate) idle: usize,
    /// Rows of the answer to a slow client.
    pub(crate) answer: u64,
}

impl Arguments {
    /// Whether a part is wanted.
    pub(crate) fn wants(&self, part: Part) -> bool {
        // Two that say little about the proxy of today are left to those who have the time.
        let by_default = self.full || part != Part::Runtimes;
        if self.only.is_empty() { by_default } else { self.only.contains(&part) }
    }

    /// How much is measured.
    pub(crate) fn extent(&self) -> Extent {
        if self.quick {
            return Extent {
                rounds: 1,
                time: Duration::from_secs(1),
                rows: self.rows.min(FEW),
                idle: self.idle.min(500),
                answer: self.answer.min(200_000),
            };
        }
        Extent {
            rounds: self.rounds.unwrap_or(if self.full { 6 } else { 9 }).max(1),
            time: Duration::from_secs(self.seconds.max(1).into()),
            rows: self.rows,
            idle: self.idle.max(1),
            answer: self.answer,
        }
    }

    /// Whether docs/benchmarks.md stays as it is.
    pub(crate) fn prints_only(&self) -> bool {
        self.print || self.quick
    }

    /// The cells of the grid in front of a server.
    pub(crate) fn cells(&self, product: Product) -> Vec<Cell> {
        let or = |given: &[Workload], default: &[Workload]| {
            if given.is_empty() { default.to_vec() } else { given.to_vec() }
        };
        let workloads = match (self.full, product) {
            (true, _) => or(&self.load, Workload::value_variants()),
            (false, Product::MariaDb) => or(&self.load, &[Workload::PointSelect, Workload::ReadOnly]),
            (false, Product::MySql) => or(&self.load, &[Workload::PointSelect]),
        };
        let protocols = match (&*self.protocol, self.full) {
            ([], true) => Protocol::value_variants().to_vec(),
            ([], false) => vec![Protocol::Text],
            (given, _) => given.to_vec(),
        };
        let threads = match (&*self.threads, self.full, product) {
            ([], true, _) => vec![1, 16, 64, 256],
            ([], false, Product::MariaDb) => vec![64, 256],
            ([], false, Product::MySql) => vec![64],
            (given, ..) => given.to_vec(),
        };
        let mut cells = Vec::new();
        for workload in &workloads {
            for protocol in &protocols {
                cells.extend(threads.iter().map(|threads| Cell {
                    workload: *workload,
                    protocol: *protocol,
                    threads: *threads,
                }));
            }
        }
        cells
    }
}
