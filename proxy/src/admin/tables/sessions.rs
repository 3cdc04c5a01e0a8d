//! `shuntyard.sessions`: the client connections that are open now.

use super::{Cell, Column, Table, int, text};
use crate::admin::Source;

const COLUMNS: &[Column] = &[
    int("id", "the connection id that the client was greeted with"),
    text("user", "NULL before login"),
    text("client", "`address:port`, or `unix`"),
    text("schema_name", "default schema; NULL for none"),
    text("backend", "backend that it holds a connection to; NULL for none"),
    int("backend_thread", "that connection's id on the backend; NULL for none"),
    text("pinned", "why it keeps its connection between statements; NULL if it does not"),
    text("command", "`Login`, `Sleep`, `Query`, `Prepare`, `Execute` or `Other`"),
    int("seconds", "for how long"),
    text("connected", "when it connected, UTC"),
    int("queries", "commands so far"),
    text("tls", "TLS version on the client's side; NULL without TLS"),
    text("digest", "digest of the running or last statement; NULL for none"),
];

pub(super) static TABLE: Table = Table {
    name: "sessions",
    help: "Client connections that are open now.",
    like: "user",
    columns: COLUMNS,
    rows,
};

fn rows(source: &dyn Source) -> Vec<Vec<Cell>> {
    let now = source.registry().clock().unix_seconds();
    let row = |session: crate::stats::SessionRow| {
        vec![
            Cell::from(u64::from(session.id)),
            Cell::text(session.user),
            Cell::text(session.client),
            Cell::text(session.schema),
            Cell::text(session.backend),
            if session.backend_thread == 0 { Cell::Null } else { u64::from(session.backend_thread).into() },
            if session.pin.is_empty() { Cell::Null } else { Cell::text(session.pin.to_owned()) },
            Cell::text(session.activity),
            now.saturating_sub(session.activity_since).into(),
            Cell::moment(session.since),
            session.queries.into(),
            Cell::text(session.tls),
            Cell::digest(session.digest),
        ]
    };
    source.registry().sessions.read().into_iter().map(row).collect()
}
