//! `make bench`: the proxy beside a direct connection and its rivals, interleaved; its memory; and what the rules gain.
#![expect(clippy::print_stdout, reason = "a program that prints tables")]

mod arguments;
mod bare;
mod cell;
mod gains;
mod grid;
mod idle;
mod load;
mod micro;
mod places;
mod report;
mod rivals;
mod series;
mod servers;
mod slow;
mod target;

use std::time::Instant;

use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use arguments::{Arguments, Part, Role};
use cell::{Cell, Protocol, Workload};
use servers::Product;

fn main() {
    let arguments = Arguments::parse();
    if let Some(Role::Relay { runtime, listen, to }) = arguments.role {
        bare::serve(runtime, listen, to).expect("the relay's port is free");
        return;
    }
    allow_descriptors();
    let from = Instant::now();
    // A part is written as soon as it is there: a run that ends early has not been for nothing.
    for part in Part::value_variants().iter().filter(|part| arguments.wants(**part)) {
        let Some(text) = measure(*part, &arguments) else { continue };
        println!("{text}");
        if !arguments.prints_only() {
            report::write(*part, &text);
        }
    }
    eprintln!("measured in {} s", from.elapsed().as_secs());
}

/// Measures one part; `None` where something that it needs is missing, which is noted.
fn measure(part: Part, arguments: &Arguments) -> Option<String> {
    let extent = arguments.extent();
    let grid = |product| grid::measure(product, &arguments.cells(product), &extent);
    match part {
        Part::Mariadb => grid(Product::MariaDb),
        Part::Mysql => grid(Product::MySql),
        Part::Micro => Some(micro::measure(&extent)),
        Part::Idle => idle::measure(&extent),
        Part::SlowClient => slow::measure(&extent),
        Part::Runtimes => {
            let cell = Cell { workload: Workload::PointSelect, protocol: Protocol::Text, threads: 64 };
            grid::runtimes(cell, &extent)
        }
        Part::Rules => Some(gains::report(&gains::measure(extent.rounds))),
    }
}

/// Idle connections take a descriptor each, here and in the proxies that this program starts.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
