//! The table: printed, and written into docs/benchmarks.md between its markers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use shuntyard_tests::machine;

use crate::gains::Gain;
use crate::load::{Measured, Workload};
use crate::places::Place;
use crate::statistics::{Estimate, estimate};

const BEGIN: &str = "<!-- measured: written by `make bench` -->";
const END: &str = "<!-- end of measured -->";

/// All rounds of one workload at one number of threads.
pub(crate) struct Series {
    workload: Workload,
    threads: u32,
    places: &'static [Place],
    rounds: BTreeMap<Place, Vec<Measured>>,
}

impl Series {
    pub(crate) fn new(workload: Workload, threads: u32, places: &'static [Place]) -> Series {
        Series { workload, threads, places, rounds: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, place: Place, measured: Measured) {
        self.rounds.entry(place).or_default().push(measured);
    }

    fn median(&self, place: Place, of: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.rounds.get(&place)?.iter().filter_map(of).collect();
        estimate(&values).map(|e| e.median)
    }

    /// Queries per second of one place divided by another's, round by round.
    fn ratio(&self, of: Place, to: Place) -> Option<Estimate> {
        let (of, to) = (self.rounds.get(&of)?, self.rounds.get(&to)?);
        let ratios: Vec<f64> = of.iter().zip(to).map(|(a, b)| a.queries / b.queries).collect();
        estimate(&ratios)
    }
}

/// Under what everything that follows was measured: this machine, now.
pub(crate) fn conditions(rounds: usize, seconds: u32, rows: u32) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let says = |program: &str, argument: &str| {
        let out = Command::new(program).arg(argument).output().map(|out| out.stdout).unwrap_or_default();
        String::from_utf8_lossy(&out).lines().next().unwrap_or_default().trim().to_owned()
    };
    let server = says("mariadb", "--version");
    let server = server.split("Distrib ").nth(1).unwrap_or(&server).split(',').next().unwrap_or_default();
    let haproxy = says("haproxy", "-v");
    let haproxy = haproxy.split_whitespace().nth(2).unwrap_or_default();
    format!(
        "{cores} cores shared by client, proxy and server; {server}; HAProxy {haproxy}, TCP mode; sysbench, text protocol, \
         {rows} rows, TLS off, rules loaded; {rounds} rounds of {seconds} s for each place, interleaved{}.\n\n",
        commit_here()
    )
}

fn commit_here() -> String {
    let out =
        Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(machine::root()).output();
    let text = out.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { text } else { format!("; commit {text}") }
}

/// What a place needs, as a table: a line for each place of each series.
fn costs(all: &[&Series]) -> String {
    let mut text = String::from(
        "| load | threads | place | queries/s | p99 ms | proxy CPU µs/query | proxy memory MiB |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for series in all {
        for place in series.places {
            let queries = series.median(*place, |m| Some(m.queries)).unwrap_or(f64::NAN);
            let p99 = series.median(*place, |m| Some(m.p99)).unwrap_or(f64::NAN);
            let or_dash = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), |v| format!("{v:.1}"));
            let (cpu, memory) = (series.median(*place, |m| m.cpu), series.median(*place, |m| m.memory));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {queries:.0} | {p99:.2} | {} | {} |",
                series.workload.name(),
                series.threads,
                place.name(),
                or_dash(cpu),
                or_dash(memory)
            );
        }
    }
    text
}

/// Ratios of queries per second, as a table: a line for each series.
fn ratios(all: &[&Series], pairs: &[(&str, Place, Place)]) -> String {
    let mut text = String::from("| load | threads |");
    for (title, ..) in pairs {
        let _ = write!(text, " {title} |");
    }
    let _ = writeln!(text, "\n| --- | --- |{}", " --- |".repeat(pairs.len()));
    for series in all {
        let _ = write!(text, "| {} | {} |", series.workload.name(), series.threads);
        for (_, of, to) in pairs {
            let ratio = series.ratio(*of, *to).map_or_else(|| "–".to_owned(), |e| interval(&e, 3));
            let _ = write!(text, " {ratio} |");
        }
        text.push('\n');
    }
    text
}

/// The relay's tables.
pub(crate) fn relay(all: &[Series]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let all: Vec<&Series> = all.iter().collect();
    let pairs = [
        ("Shuntyard / HAProxy", Place::Shuntyard, Place::HaProxy),
        ("pooled / HAProxy", Place::ShuntyardPooled, Place::HaProxy),
        ("Shuntyard / direct", Place::Shuntyard, Place::Direct),
        ("HAProxy / direct", Place::HaProxy, Place::Direct),
        ("again / Shuntyard", Place::ShuntyardAgain, Place::Shuntyard),
    ];
    format!(
        "## Relay\n\n{}\nMedians over the rounds. p99 is sysbench's, of a whole transaction. The ratios of queries/s below are \
         taken round by round; in brackets the interval of order statistics that holds the true median with the \
         probability given. *Again* is the same proxy measured twice in each round: how far its ratio is from 1 is the \
         noise. *Pooled* is a proxy with `pooling: transaction`.\n\n{}\n",
        costs(&all),
        ratios(&all, &pairs)
    )
}

/// Tokio's runtimes compared.
pub(crate) fn runtimes(series: &Series) -> String {
    let pairs = [
        ("current-thread / HAProxy", Place::BareCurrentThread, Place::HaProxy),
        ("multi-thread / current-thread", Place::BareMultiThread, Place::BareCurrentThread),
    ];
    format!(
        "## Runtimes\n\nA relay that only copies bytes between two sockets, in the same run: what any proxy on Tokio costs at \
         least, on one current-thread runtime for each core (as Shuntyard has it) and on one multi-thread runtime.\n\n{}\n{}\n",
        costs(&[series]),
        ratios(&[series], &pairs)
    )
}

fn interval(e: &Estimate, digits: usize) -> String {
    if e.confidence < 0.5 {
        return format!("{:.digits$}", e.median);
    }
    format!(
        "**{:.digits$}** [{:.digits$}, {:.digits$}], {:.0} %",
        e.median,
        e.low,
        e.high,
        e.confidence * 100.0
    )
}

/// The rules' gains.
pub(crate) fn gains(all: &[Gain]) -> String {
    let mut text = String::from(
        "## Rules\n\nThe demo's data (100,000 customers, 1,000,000 orders, their archive) on its bundled MariaDB, through the \
         proxy, warm; rules off and on in turns, the same rows both times.\n\n\
         | rule | off ms | on ms | factor | statement |\n| --- | --- | --- | --- | --- |\n",
    );
    for gain in all {
        let setting = gain.setting.map(|s| format!(" (after `{s}`)")).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {:.2} | {:.2} | {} | `{}`{setting} |",
            gain.rule,
            gain.off.median,
            gain.on.median,
            interval(&gain.factor, 1),
            gain.sql
        );
    }
    text.push('\n');
    text
}

/// Puts the text between the markers of docs/benchmarks.md; what stands around them stays.
pub(crate) fn write(measured: &str) {
    let file = machine::project("docs/benchmarks.md");
    let old = std::fs::read_to_string(&file).unwrap_or_default();
    let (before, after) = match (old.split_once(BEGIN), old.split_once(END)) {
        (Some((before, _)), Some((_, after))) => (before.to_owned(), after.to_owned()),
        _ if old.is_empty() => (
            "# Benchmarks\n\n`make bench` measures; compare only within one run.\n\n".to_owned(),
            String::new(),
        ),
        _ => (format!("{}\n\n", old.trim_end()), String::new()),
    };
    let text = format!("{before}{BEGIN}\n\n{}\n{END}{after}", measured.trim_end());
    std::fs::write(&file, text.trim_end().to_owned() + "\n").expect("docs/ is writable");
    eprintln!("written: {}", file.display());
}
