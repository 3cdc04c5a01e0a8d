//! What is printed, and written into docs/benchmarks.md: each part between its own markers.

use std::fmt::Write as _;
use std::process::Command;

use clap::ValueEnum;
use shuntyard_tests::machine;
use shuntyard_tests::statistics::Estimate;

use crate::arguments::{Extent, Part};
use crate::rivals;
use crate::servers::{Backend, Product};

use crate::target::{Target, Verdict};

/// Whether a figure has reached its target; a dash where nothing was measured.
pub(crate) fn verdict(target: Target, estimate: Option<Estimate>) -> String {
    let said = estimate.map(|estimate| target.judge(&estimate)).as_ref().map(Verdict::to_string);
    format!("{target}: {}", said.unwrap_or_else(|| "–".to_owned()))
}

/// Under what a part was measured: this machine, now.
pub(crate) fn conditions(backend: Option<&Backend>, extent: &Extent) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut text = format!("{cores} cores shared by client, proxy and server");
    if let Some(backend) = backend {
        let Backend { product, version, .. } = backend;
        // 10.11.14-MariaDB, 9.7.0
        let version = version.split('-').next().unwrap_or_default();
        let haproxy = says(Command::new("haproxy").arg("-v"));
        let haproxy = haproxy.split_whitespace().nth(2).unwrap_or_default();
        let _ = write!(text, "; {} {version}; HAProxy {haproxy}", product.name());
        if *product == Product::MySql {
            let _ = write!(text, "; {}", rivals::router_version());
        }
        let Extent { rounds, time, rows, .. } = extent;
        let _ = write!(
            text,
            "; sysbench, {rows} rows; {rounds} rounds of {} s for each place, interleaved",
            time.as_secs()
        );
    }
    let commit =
        says(Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(machine::root()));
    if !commit.is_empty() {
        let _ = write!(text, "; commit {commit}");
    }
    text + ".\n\n"
}

/// The first line of what a program prints; empty where it does not run.
pub(crate) fn says(command: &mut Command) -> String {
    let out = command.output().map(|out| out.stdout).unwrap_or_default();
    String::from_utf8_lossy(&out).lines().next().unwrap_or_default().trim().to_owned()
}

/// Puts a part's text between its markers in docs/benchmarks.md; everything else stays.
pub(crate) fn write(part: Part, measured: &str) {
    let file = machine::project("docs/benchmarks.md");
    let old = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::write(&file, put(&old, part, measured)).expect("docs/ is writable");
    eprintln!("written: {}", file.display());
}

/// A text with a part replaced, or added at its end.
fn put(old: &str, part: Part, measured: &str) -> String {
    let part = part.to_possible_value().expect("no part is hidden");
    let (begin, end) =
        (format!("<!-- measured: {} -->", part.get_name()), format!("<!-- end of {} -->", part.get_name()));
    let new = format!("{begin}\n\n{}\n\n{end}", measured.trim());
    if let Some((before, rest)) = old.split_once(&begin)
        && let Some((_, after)) = rest.split_once(&end)
    {
        return format!("{before}{new}{after}");
    }
    format!("{}\n\n{new}\n", old.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_replaces_itself_only() {
        let first = put("# Title\n", Part::Idle, "one");
        let both = put(&first, Part::Rules, "rules");
        let again = put(&both, Part::Idle, "two\n");
        assert_eq!(both.replace("one", "two"), again);
        assert!(again.starts_with("# Title\n\n<!-- measured: idle -->\n\ntwo\n\n<!-- end of idle -->\n"));
        assert_eq!(put(&again, Part::Rules, "rules"), again);
    }

    #[test]
    fn targets_are_judged_by_the_interval() {
        let more = Estimate { median: 2.0, low: 1.0, high: 3.0, confidence: 0.96 };
        assert_eq!(verdict(Target::AtMost(2.5), Some(more)), "≤ 2.5: open");
        assert_eq!(verdict(Target::AtMost(3.0), Some(more)), "≤ 3: reached");
    }
}
