//! The metrics, as OpenMetrics text.
//!
//! Labels are names from the configuration: backends and rules. Digests would be a label without bound; they are read
//! from `shuntyard.queries`.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::admin::Source;
use crate::stats::COUNTERS;

/// OpenMetrics 1.0.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the latency histogram's buckets, in microseconds.
const BOUNDS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// The metrics of this moment.
///
/// # Errors
/// Only what formatting into memory could fail with.
pub(super) fn text(source: &Arc<dyn Source>) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("shuntyard");
    registry.register_collector(Box::new(Moment(Arc::clone(source))));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

struct Moment(Arc<dyn Source>);

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Moment")
    }
}

impl Collector for Moment {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let source = &*self.0;
        let registry = source.registry();
        let totals = registry.totals.read();
        for (counter, name, help) in COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            metric.encode_counter::<NoLabelSet, _, u64>(&totals.get(counter), None)?;
        }
        let gauges = [
            ("connected", "Client connections open now", totals.connected()),
            ("digests", "Statement digests kept apart", registry.digests.len() as u64),
            ("rules_on", "Whether rules are applied", u64::from(source.rules_on())),
            ("draining", "Whether new connections are refused", u64::from(source.draining())),
            ("uptime_seconds", "Time since the start", registry.clock().uptime_seconds()),
        ];
        for (name, help, value) in gauges {
            encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&signed(value))?;
        }
        let latencies = &totals.latencies;
        let mut below = 0;
        let mut buckets = Vec::with_capacity(BOUNDS.len() + 1);
        for bound in BOUNDS {
            let at_most = latencies.at_most(bound);
            buckets.push((bound as f64 / 1e6, at_most.saturating_sub(below)));
            below = at_most;
        }
        let count = latencies.count();
        buckets.push((f64::INFINITY, count.saturating_sub(below)));
        let help = "Latency of commands, from the last byte of the command to the last of its answer";
        encoder
            .encode_descriptor("latency_seconds", help, None, MetricType::Histogram)?
            .encode_histogram::<NoLabelSet>(latencies.sum() as f64 / 1e6, count, &buckets, None)?;
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        encoder.encode_descriptor("build", "This program", None, MetricType::Info)?.encode_info(&version)?;
        backends(source, &mut encoder)?;
        rules(source, &mut encoder)
    }
}

/// Name, help, and the value for one row.
type Series<R, V> = (&'static str, &'static str, fn(&R) -> V);

fn backends(source: &dyn Source, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let rows = source.backends();
    let gauges: [Series<crate::admin::BackendRow, f64>; 6] = [
        ("backend_up", "Whether the backend answers", |row| if row.state == "up" { 1.0 } else { 0.0 }),
        ("backend_open_connections", "Connections to the backend open now", |row| row.connections as f64),
        ("backend_parked_connections", "Shared connections that no session holds", |row| row.parked as f64),
        ("backend_waiting_sessions", "Sessions that wait for a shared connection", |row| row.waiting as f64),
        ("backend_statements_limit", "How many connections may be shared", |row| row.statements_limit as f64),
        ("backend_ping_seconds", "Round trip of the last health check", |row| row.ping_micros as f64 / 1e6),
    ];
    for (name, help, value) in gauges {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for row in &rows {
            family.encode_family(&[("backend", row.name.as_str())])?.encode_gauge(&value(row))?;
        }
    }
    let counters: [Series<crate::admin::BackendRow, u64>; 2] = [
        ("backend_opened", "Connections to the backend opened", |row| row.connections_total),
        ("backend_failures", "Failed attempts to connect to the backend", |row| row.failures),
    ];
    for (name, help, value) in counters {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for row in &rows {
            let labels = [("backend", row.name.as_str())];
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&value(row), None)?;
        }
    }
    Ok(())
}

fn rules(source: &dyn Source, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let rows = source.rules();
    let counters: [Series<crate::admin::RuleRow, u64>; 2] = [
        ("rule_fired", "Statements that the rule changed", |row| row.fired),
        ("rule_refused", "Statements that the rule matched while a guard refused", |row| row.refused),
    ];
    for (name, help, value) in counters {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for row in &rows {
            let labels = [("rule", row.id.as_str()), ("mode", row.mode)];
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&value(row), None)?;
        }
    }
    Ok(())
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
