//! The micro-benchmarks of the crates, which divan measures in processes of their own, as one table.

use std::collections::BTreeMap;
use std::process::Command;

use shuntyard_tests::machine;

use crate::arguments::Extent;
use crate::report::{self, verdict};
use crate::target::Target;
use shuntyard_tests::statistics::estimate;
use shuntyard_tests::table::{Table, interval};

/// Nanoseconds for a plan that is cached.
const TARGET: Target = Target::AtMost(2_000.0);
/// The benchmark that the target is about.
const HIT: &str = "planner::hit";

/// Where the benchmarks are, and how cargo runs them. The program's own can be reached from its tests only.
const SUITES: &[(&str, &[&str])] = &[
    (
        "shuntyard",
        &[
            "test",
            "-p",
            "shuntyard",
            "--release",
            "--",
            "--ignored",
            "--exact",
            "--nocapture",
            "planner::bench::measure",
        ],
    ),
    ("sql", &["bench", "-p", "sql", "--bench", "scan"]),
];

/// Runs them all, `rounds` times.
pub(crate) fn measure(extent: &Extent) -> String {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut order = Vec::new();
    for round in 1..=extent.rounds {
        for (suite, arguments) in SUITES {
            eprintln!("micro-benchmarks of {suite}, round {round} of {}", extent.rounds);
            for (name, nanoseconds) in run(arguments) {
                if !found.contains_key(&name) {
                    order.push(name.clone());
                }
                found.entry(name).or_default().push(nanoseconds);
            }
        }
    }
    assert!(order.iter().any(|name| name.starts_with(HIT)), "the hit path is among {order:?}");
    let mut table = Table::new(&["benchmark", "ns", "target"]);
    for name in &order {
        let estimate = found.get(name).and_then(|values| estimate(values));
        let judged = name.starts_with(HIT).then(|| verdict(TARGET, estimate));
        table.line(&[format!("`{name}`"), interval(estimate, 0), judged.unwrap_or_else(|| "–".to_owned())]);
    }
    format!(
        "## Without input and output\n\n{}`{HIT}` is all that a statement with a cached plan pays for it: its text is scanned, the \
         key made, the plan looked up. What is below belongs to it (`scan`, `lex`) or is paid by a statement's first time only \
         (`parse`). Each round is a process of its own that takes divan's median.\n\n{table}\n",
        report::conditions(None, extent)
    )
}

fn run(arguments: &[&str]) -> Vec<(String, f64)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let (verb, rest) = arguments.split_first().expect("a verb comes first");
    let mut command = Command::new(cargo);
    command.current_dir(machine::root()).args([verb, "--quiet", "--locked"]).args(rest);
    let out = command.output().expect("cargo runs");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    medians(&text)
}

/// Names and medians, in nanoseconds, of divan's tree.
fn medians(text: &str) -> Vec<(String, f64)> {
    let mut path: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let is_tree = |c: char| matches!(c, ' ' | '│' | '├' | '╰' | '─');
        let rest = line.trim_start_matches(is_tree);
        let (tree, rest) = line.split_at(line.len() - rest.len());
        // Lines without a branch are heads, or counters of the line above.
        if !tree.contains(['├', '╰']) {
            continue;
        }
        let depth = tree.chars().count() / 3;
        let cells: Vec<&str> = rest.split('│').map(str::trim).collect();
        // A leaf has its fastest time behind its name.
        let first = cells.first().copied().unwrap_or_default();
        let name = match first.rmatch_indices(' ').nth(1) {
            Some((at, _)) if nanoseconds(first[at..].trim()).is_some() => first[..at].trim(),
            _ => first,
        };
        path.truncate(depth.saturating_sub(1));
        path.push(name);
        if let Some(median) = cells.get(2).and_then(|cell| nanoseconds(cell)) {
            let shown: Vec<&str> = path.iter().copied().filter(|part| *part != "bench").collect();
            found.push((shown.join("::"), median));
        }
    }
    found
}

/// `1.25 µs`.
fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let factor = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read() {
        let text = "
running 1 test
Timer precision: 19 ns
shuntyard         fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ planner                      │               │               │               │         │
   ╰─ bench                     │               │               │               │         │
      ╰─ hit                    │               │               │               │         │
         ├─ point 120.5 ns      │ 1.5 µs        │ 0.25 µs       │ 130.1 ns      │ 100     │ 100
         │                      │ 7 GB/s        │ 8 GB/s        │               │         │
         ╰─ range  1 µs         │ 3 µs          │ 2 µs          │ 2 µs          │ 100     │ 100
";
        let expected =
            [("planner::hit::point".to_owned(), 250.0), ("planner::hit::range".to_owned(), 2000.0)];
        assert_eq!(medians(text), expected);
    }
}
