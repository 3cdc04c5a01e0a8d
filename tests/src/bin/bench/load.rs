//! One measurement: sysbench for a few seconds, and what the proxy's process used meanwhile.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use shuntyard_tests::process;

use crate::cell::Cell;
use crate::places::{Place, Places};

/// Between two looks at the proxy's memory.
const LOOK: Duration = Duration::from_millis(200);

/// What came out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Queries per second.
    pub(crate) queries: f64,
    /// 99th percentile of the latency of one transaction (for point selects: of one query), in milliseconds.
    pub(crate) p99: f64,
    /// CPU time of the proxy for one query, in microseconds; none for a direct connection.
    pub(crate) cpu: Option<f64>,
    /// The proxy's resident memory at its largest, in MiB.
    pub(crate) memory: Option<f64>,
}

fn sysbench(port: u16, rows: u32) -> Command {
    let mut command = Command::new("sysbench");
    command
        .args(["--mysql-host=127.0.0.1", "--mysql-user=app", "--mysql-password=app", "--mysql-db=sbtest"])
        .args(["--tables=1", "--percentile=99"])
        .arg(format!("--mysql-port={port}"))
        .arg(format!("--table-size={rows}"));
    command
}

/// Makes the table, in the schema `sbtest`.
pub(crate) fn prepare(port: u16, rows: u32) {
    done(&sysbench(port, rows).args(["oltp_read_only", "prepare"]).output().expect("sysbench runs"));
}

fn done(out: &Output) {
    let said = || format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{}", said());
}

/// Runs a cell at a place.
///
/// # Errors
/// What sysbench said when it ended without having measured.
pub(crate) fn run(
    cell: &Cell,
    time: Duration,
    rows: u32,
    places: &Places,
    place: Place,
) -> Result<Measured, String> {
    let pid = places.pid(place);
    let mut command = sysbench(places.port(place), rows);
    command
        .arg(format!("--threads={}", cell.threads))
        .arg(format!("--time={}", time.as_secs()))
        .arg(format!("--db-ps-mode={}", cell.protocol.mode()))
        .args([cell.workload.name(), "run"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("sysbench runs");
    let mut heard = BufReader::new(child.stdout.take().expect("its output is piped"));
    let mut text = String::new();
    // Logins are no part of it: they would count for much in a run of seconds.
    while !text.ends_with("Threads started!\n") && heard.read_line(&mut text).expect("its output is text") > 0
    {
    }
    let before = pid.map(cpu);
    let (end, ended) = channel::<()>();
    let watch =
        thread::spawn(move || largest(pid, || ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout)));
    // The numbers come at once, when all queries have been answered.
    heard.read_line(&mut text).expect("its output is text");
    heard.read_line(&mut text).expect("its output is text");
    let used = pid.map(cpu).zip(before).map(|(after, before)| after - before);
    drop(end);
    let memory = watch.join().expect("looking at memory does not panic");
    heard.read_to_string(&mut text).expect("its output is text");
    let out = child.wait_with_output().expect("sysbench ends");
    let (count, queries) = queries(&text)
        .filter(|_| out.status.success())
        .ok_or_else(|| format!("{text}{}", String::from_utf8_lossy(&out.stderr)))?;
    let p99 = number_after(&text, "99th percentile:").unwrap_or(f64::NAN);
    Ok(Measured {
        queries,
        p99,
        cpu: used.map(|seconds| seconds * 1e6 / count),
        memory: memory.map(|bytes| bytes as f64 / f64::from(1 << 20)),
    })
}

/// The largest memory of a process, in bytes, as long as it shall be looked at.
fn largest(pid: Option<u32>, mut again: impl FnMut() -> bool) -> Option<u64> {
    let mut most = None;
    while again() {
        most = most.max(pid.and_then(process::memory));
    }
    most
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
