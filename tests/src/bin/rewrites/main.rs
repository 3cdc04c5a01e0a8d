//! Measures what each shipped rule gains, on both servers, and writes docs/rewrites.md.
//!
//! The original and the rewritten text run in turns on one connection of the server itself: the proxy's own cost is the
//! other benchmark's matter. Both must answer the same rows.

mod cases;
mod data;
mod measure;

use clap::Parser;
use shuntyard_tests::machine;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::table::{Table, figure, interval};
use sql::Product;

use measure::Measured;

/// Measures what each shipped rule gains, on both servers, and writes docs/rewrites.md
#[derive(Debug, Parser)]
struct Arguments {
    /// Rows of the table of orders; the others have a fiftieth and three tenths of it
    #[arg(long, default_value_t = 1_000_000)]
    rows: u32,
    /// Turns; in each of them both texts run once. Below 6 no interval reaches 95 %
    #[arg(long, default_value_t = 7)]
    turns: usize,
    /// Only this rule; repeatable
    #[arg(long)]
    only: Vec<String>,
    /// Print only, leave docs/rewrites.md as it is
    #[arg(long)]
    print: bool,
}

fn main() {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut parts = Vec::new();
    if let Some(server) = MariaDb::start(&["--innodb-buffer-pool-size=1G"]) {
        let measured = runtime.block_on(measure::all(&server.server(), Product::MariaDb, &arguments));
        parts.push(part(&measured));
    }
    if let Some(server) = MySql::with(&["--innodb-buffer-pool-size=1G"]) {
        let measured = runtime.block_on(measure::all(&server.server(), Product::MySql, &arguments));
        parts.push(part(&measured));
    }
    let text = format!("{}{}", head(&arguments), parts.join("\n"));
    print(&text);
    if !arguments.print {
        let file = machine::project("docs/rewrites.md");
        std::fs::write(&file, text).expect("docs/ is writable");
        eprintln!("written: {}", file.display());
    }
}

fn head(arguments: &Arguments) -> String {
    format!(
        "# What the rules gain\n\nWritten by `make bench-rewrites`. {} orders with keys on customer, time and (status, time), \
         a fiftieth as many customers with a TEXT column, three tenths as many archived orders; InnoDB in memory, one connection, \
         warm. The original and the rewritten text run in turns, {} times each, and answer the same rows. A factor is the time of \
         the original divided by that of the rewritten text, its median with the interval that holds it; a factor below 1 would \
         be a loss.\n\n",
        arguments.rows, arguments.turns
    )
}

fn part(measured: &Measured) -> String {
    let mut table = Table::new(&[
        "rule",
        "original ms",
        "rewritten ms",
        "factor",
        "temporary tables on disk",
        "statement",
    ]);
    let mut logarithms = Vec::new();
    for found in &measured.found {
        match &found.gain {
            Some(gain) => {
                logarithms.push(gain.factor.median.ln());
                table.line(&[
                    found.rule.to_owned(),
                    figure(Some(gain.original.median), 2),
                    figure(Some(gain.rewritten.median), 2),
                    interval(Some(gain.factor), 1),
                    format!("{} → {}", gain.disk.0, gain.disk.1),
                    format!("`{}`", found.sql),
                ]);
            }
            None => table.line(&[
                found.rule.to_owned(),
                "–".to_owned(),
                "–".to_owned(),
                "not for this server".to_owned(),
                "–".to_owned(),
                format!("`{}`", found.sql),
            ]),
        }
    }
    let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
    format!("## {}\n\n{table}\nGeometric mean of the factors: {:.1}.\n", measured.server, mean.exp())
}

#[expect(clippy::print_stdout, reason = "this is what a command line is for")]
fn print(text: &str) {
    println!("{text}");
}
