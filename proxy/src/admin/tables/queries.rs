//! `shuntyard.queries`: statements by digest, with their counts and latencies.

use super::{Cell, Column, Table, float, int, text};
use crate::admin::Source;

const COLUMNS: &[Column] = &[
    text("digest", "32 hexadecimal digits; NULL in the row that sums what was no longer kept apart"),
    text("schema_name", "default schema of the sessions; NULL for none"),
    int("count", "executions"),
    int("errors", "executions answered by an error"),
    int("rewritten", "executions whose text a rule had changed"),
    int("bytes_sent", "bytes sent to clients"),
    float("total", "sum of the latencies, in milliseconds"),
    float("avg", "mean latency, in milliseconds"),
    float("p50", "median latency, in milliseconds, within about 3 %"),
    float("p95", "95th percentile likewise"),
    float("p99", "99th percentile likewise"),
    text("first_seen", "UTC"),
    text("last_seen", "UTC"),
    text("digest_text", "the statement with `?` for its literals"),
];

pub(super) static TABLE: Table = Table {
    name: "queries",
    help: "Statements by digest and schema.",
    like: "digest_text",
    columns: COLUMNS,
    rows,
};

fn rows(source: &dyn Source) -> Vec<Vec<Cell>> {
    let row = |query: crate::stats::DigestRow| {
        let latency = |quantile| Cell::millis(query.latencies.quantile(quantile));
        let (p50, p95, p99) = (latency(0.5), latency(0.95), latency(0.99));
        vec![
            Cell::digest(query.digest),
            Cell::text(query.schema),
            query.count.into(),
            query.errors.into(),
            query.rewritten.into(),
            query.bytes.into(),
            Cell::millis(query.micros),
            Cell::millis(query.micros.checked_div(query.count).unwrap_or(0)),
            p50,
            p95,
            p99,
            Cell::moment(query.first_seen),
            Cell::moment(query.last_seen),
            Cell::Text(query.text),
        ]
    };
    source.registry().digests.read().into_iter().map(row).collect()
}
