//! `shuntyard.backends`: the configured servers and how they are.

use super::{Cell, Column, Table, float, int, text};
use crate::admin::Source;

const COLUMNS: &[Column] = &[
    text("name", "name in the configuration"),
    text("kind", "`external` or `bundled`"),
    text("address", "`host:port` or `unix:/path`"),
    text("state", "`up`, `down`, `starting` or `stopped`"),
    text("server_version", "what the server calls itself; NULL while unknown"),
    int("connections", "connections open now"),
    int("parked", "shared connections of them that no session holds now"),
    int("waiting", "sessions that wait for a shared connection"),
    int("statements_limit", "how many shared connections there may be: statements and transactions at once"),
    int("connections_total", "connections opened since the start"),
    int("failures", "attempts to connect that failed since the start"),
    float("ping", "round trip of the last health check, in milliseconds; NULL while unknown"),
    text("since", "when it came into its state, UTC"),
    text("last_error", "the last failure; NULL for none"),
];

pub(super) static TABLE: Table =
    Table { name: "backends", help: "The configured servers.", like: "name", columns: COLUMNS, rows };

fn rows(source: &dyn Source) -> Vec<Vec<Cell>> {
    let row = |backend: crate::admin::BackendRow| {
        vec![
            Cell::Text(backend.name),
            Cell::text(backend.kind),
            Cell::text(backend.address),
            Cell::text(backend.state),
            Cell::text(backend.server_version),
            backend.connections.into(),
            backend.parked.into(),
            backend.waiting.into(),
            backend.statements_limit.into(),
            backend.connections_total.into(),
            backend.failures.into(),
            if backend.ping_micros == 0 { Cell::Null } else { Cell::millis(backend.ping_micros) },
            Cell::moment(backend.since),
            Cell::text(backend.last_error),
        ]
    };
    source.backends().into_iter().map(row).collect()
}
