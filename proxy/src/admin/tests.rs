//! A proxy to observe: real statistics with a few entries, listed backends and rules.

use std::sync::Arc;
use std::time::Duration;

use super::{BackendRow, RuleRow, Source};
use crate::stats::{Activity, Counter, Registry, SessionGuard};

/// A source with two backends, two rules, two digests and one session.
pub(crate) struct Fixture {
    registry: Arc<Registry>,
    _session: SessionGuard,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let registry = Registry::new(1, 100);
        registry.totals.add(Counter::Connections, 2);
        let slow = registry.digests.get(0xABC, "shop", || "SELECT SLEEP ( ? )".into());
        slow.record(Duration::from_millis(900), true, 100);
        let orders = registry.digests.get(0xDEF, "", || "SELECT ? FROM `orders`".into());
        for _ in 0..3 {
            orders.record(Duration::from_micros(250), false, 50);
            registry.totals.query(250, false);
        }
        orders.rewritten();
        let session = registry.sessions.enter(7, "10.0.0.9:51000".into());
        session.set_user("app");
        session.begin(Activity::Query, 0xDEF);
        Self { registry, _session: session }
    }
}

impl Source for Fixture {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn backends(&self) -> Vec<BackendRow> {
        let up = BackendRow {
            name: "s1".into(),
            kind: "bundled",
            address: "unix:/tmp/s1.sock".into(),
            state: "up",
            server_version: "10.11.6-MariaDB".into(),
            connections: 4,
            connections_total: 9,
            ping_micros: 120,
            since: 1_700_000_000,
            ..BackendRow::default()
        };
        let down = BackendRow {
            name: "s2".into(),
            kind: "external",
            address: "10.0.0.2:3306".into(),
            state: "down",
            failures: 3,
            last_error: "connection refused <script>alert(1)</script>".into(),
            ..BackendRow::default()
        };
        vec![up, down]
    }

    fn rules(&self) -> Vec<RuleRow> {
        let rule = |id: &str, mode, fired| RuleRow {
            id: id.into(),
            mode,
            pass: id.into(),
            effect: "same_rows",
            origin: "builtin:union.yaml:3".into(),
            fired,
            refused: 2,
            summary: "ORDER BY and LIMIT into the branches".into(),
            ..RuleRow::default()
        };
        vec![rule("union-limit", "enabled", 41), rule("derived-merge", "explain", 0)]
    }

    fn rules_on(&self) -> bool {
        true
    }

    fn draining(&self) -> bool {
        false
    }

    fn status(&self) -> Vec<(String, String)> {
        vec![("listen".into(), "127.0.0.1:4306".into())]
    }
}
