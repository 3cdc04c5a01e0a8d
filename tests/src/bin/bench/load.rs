//! One measurement: sysbench for a few seconds, and what the proxy's process used meanwhile.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use shuntyard_tests::process;

use crate::places::{Place, Places};

/// A load of sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// One row by its primary key.
    PointSelect,
    /// Transactions of 14 SELECTs: points, ranges, sums, sorts, DISTINCT.
    ReadOnly,
}

impl Workload {
    /// sysbench's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Workload::PointSelect => "oltp_point_select",
            Workload::ReadOnly => "oltp_read_only",
        }
    }
}

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) workload: Workload,
    pub(crate) threads: u32,
    pub(crate) rows: u32,
    pub(crate) time: Duration,
}

/// What came out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Queries per second.
    pub(crate) queries: f64,
    /// 99th percentile of the latency of one transaction (for point selects: of one query), in milliseconds.
    pub(crate) p99: f64,
    /// CPU time of the proxy for one query, in microseconds; none for a direct connection.
    pub(crate) cpu: Option<f64>,
    /// The proxy's resident memory in the middle of the run, in MiB.
    pub(crate) memory: Option<f64>,
}

fn sysbench(port: u16, rows: u32) -> Command {
    let mut command = Command::new("sysbench");
    command
        .args(["--mysql-host=127.0.0.1", "--mysql-user=app", "--mysql-password=app", "--mysql-db=sbtest"])
        .args(["--tables=1", "--percentile=99", "--db-ps-mode=disable"])
        .arg(format!("--mysql-port={port}"))
        .arg(format!("--table-size={rows}"));
    command
}

/// Makes the schema and its table.
pub(crate) fn prepare(port: u16, rows: u32) {
    let client = |sql: &str| {
        let mut command = Command::new("mariadb");
        command
            .args(["--no-defaults", "-h127.0.0.1", "-uapp", "-papp"])
            .arg(format!("-P{port}"))
            .args(["-e", sql]);
        done(&command.output().expect("the mariadb client runs"));
    };
    client("CREATE DATABASE sbtest");
    done(&sysbench(port, rows).args(["oltp_read_only", "prepare"]).output().expect("sysbench runs"));
    client("ANALYZE TABLE sbtest.sbtest1");
}

fn done(out: &Output) {
    let said = || format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{}", said());
}

impl Run {
    /// Runs it at a place.
    pub(crate) fn at(&self, places: &Places, place: Place) -> Measured {
        let pid = places.pid(place);
        let mut command = sysbench(places.port(place), self.rows);
        command
            .arg(format!("--threads={}", self.threads))
            .arg(format!("--time={}", self.time.as_secs()))
            .args([self.workload.name(), "run"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let before = pid.map(cpu);
        let child = command.spawn().expect("sysbench runs");
        std::thread::sleep(self.time / 2);
        let memory = pid.and_then(process::memory).map(|bytes| bytes as f64 / f64::from(1 << 20));
        let out = child.wait_with_output().expect("sysbench ends");
        done(&out);
        let used = pid.map(cpu).zip(before).map(|(after, before)| after - before);
        let text = String::from_utf8_lossy(&out.stdout);
        let (count, queries) = queries(&text).unwrap_or_else(|| panic!("sysbench said:\n{text}"));
        let p99 = number_after(&text, "99th percentile:").unwrap_or(f64::NAN);
        Measured { queries, p99, cpu: used.map(|seconds| seconds * 1e6 / count), memory }
    }
}

/// Number of queries and queries per second: `queries: 12345 (678.90 per sec.)`.
fn queries(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("queries:"))?;
    let (count, rate) = line.split_once('(')?;
    Some((count.trim().parse().ok()?, rate.split_whitespace().next()?.parse().ok()?))
}

fn number_after(text: &str, label: &str) -> Option<f64> {
    text.lines().find_map(|line| line.trim().strip_prefix(label)).and_then(|rest| rest.trim().parse().ok())
}

/// CPU seconds that a process has used, user and system (`/proc/PID/stat`, fields 14 and 15, in ticks of 10 ms).
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field is the program's name in parentheses and may hold spaces.
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
