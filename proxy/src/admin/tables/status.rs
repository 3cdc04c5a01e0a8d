//! `shuntyard.status`: the proxy as a whole, one line for each fact.

use super::{Cell, Column, Table, text};
use crate::admin::Source;
use crate::stats::COUNTERS;

const COLUMNS: &[Column] = &[
    text("name", "what the line is about; the counters run since the start"),
    text("value", "its value, as text"),
];

pub(super) static TABLE: Table =
    Table { name: "status", help: "The proxy as a whole.", like: "name", columns: COLUMNS, rows };

fn rows(source: &dyn Source) -> Vec<Vec<Cell>> {
    let registry = source.registry();
    let totals = registry.totals.read();
    let recent = registry.history.read();
    let last = recent.last();
    let per_second = last.map_or(0, |sample| sample.queries.checked_div(sample.seconds).unwrap_or(0));
    let millis = |quantile| format!("{:.3}", totals.latencies.quantile(quantile) as f64 / 1000.0);
    let word = |on| if on { "ON" } else { "OFF" };
    let mut lines: Vec<(String, String)> = vec![
        ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ("uptime_seconds".into(), registry.clock().uptime_seconds().to_string()),
        ("rules".into(), word(source.rules_on()).into()),
        ("draining".into(), word(source.draining()).into()),
        ("connected".into(), totals.connected().to_string()),
        ("queries_per_second".into(), per_second.to_string()),
        ("latency_p50_ms".into(), millis(0.5)),
        ("latency_p95_ms".into(), millis(0.95)),
        ("latency_p99_ms".into(), millis(0.99)),
        ("digests".into(), registry.digests.len().to_string()),
    ];
    lines.extend(
        COUNTERS.iter().map(|(counter, name, _)| ((*name).to_owned(), totals.get(*counter).to_string())),
    );
    lines.extend(source.status());
    lines.into_iter().map(|(name, value)| vec![Cell::Text(name), Cell::Text(value)]).collect()
}
