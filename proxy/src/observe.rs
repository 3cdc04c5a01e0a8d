//! The running proxy as the admin tables, the metrics and the console see it.

use backend::health::Health;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::admin::{BackendRow, RuleRow, Source};
use crate::shared::{Shared, Unit};
use crate::stats::Registry;

impl Source for Shared {
    fn registry(&self) -> &Registry {
        &self.stats
    }

    fn backends(&self) -> Vec<BackendRow> {
        self.backends.iter().map(|unit| self.backend(unit)).collect()
    }

    fn rules(&self) -> Vec<RuleRow> {
        let rules = self.rules.load();
        let row = |rule: &std::sync::Arc<rewriter::Rule>| {
            let count = self.rule_count(&rule.id);
            RuleRow {
                id: rule.id.to_string(),
                mode: rule.mode.name(),
                pass: rule.pass.name().to_owned(),
                effect: rule.effect.name(),
                scope: scope(&rule.scope),
                origin: format!("{}:{}", rule.file, rule.span.line),
                fired: count.fired.load(Relaxed),
                refused: count.refused.load(Relaxed),
                summary: rule.pass.name().replace('_', " "),
            }
        };
        rules.set.rules().iter().map(row).collect()
    }

    fn rules_on(&self) -> bool {
        self.rules.load().on && !self.passthrough
    }

    fn draining(&self) -> bool {
        self.is_draining()
    }

    fn status(&self) -> Vec<(String, String)> {
        let catalog = self.home().catalog.generation();
        let mut lines = vec![
            ("rules_generation".to_owned(), self.rules.load().generation.to_string()),
            ("catalog_generation".to_owned(), catalog.to_string()),
            ("topology_epoch".to_owned(), self.topology.load().epoch().to_string()),
            ("plan_cache_entries".to_owned(), self.planner.len().to_string()),
            ("passthrough".to_owned(), if self.passthrough { "on" } else { "off" }.to_owned()),
        ];
        lines.extend(self.listening().into_iter().map(|endpoint| ("listen".to_owned(), endpoint)));
        lines
    }
}

impl Shared {
    fn backend(&self, unit: &Unit) -> BackendRow {
        let (opened, failed) = unit.counts();
        let (parked, waiting) = unit.pool.parked_and_waiting();
        let target = unit.pool.target();
        let mut row = BackendRow {
            name: unit.name().to_owned(),
            kind: if unit.bundled { "bundled" } else { "external" },
            address: target.address.to_string(),
            state: "starting",
            server_version: unit.info.load().as_ref().map_or_else(String::new, |info| info.version.clone()),
            connections: unit.pool.open(),
            parked: parked as u64,
            waiting: waiting as u64,
            statements_limit: unit.pool.size() as u64,
            connections_total: opened,
            failures: failed,
            ..BackendRow::default()
        };
        match unit.monitor.now() {
            Health::Unknown => {}
            Health::Up { since, latency, .. } => {
                row.state = "up";
                row.since = moment(since);
                row.ping_micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
            }
            Health::Down { since, error } => {
                row.state = "down";
                row.since = moment(since);
                row.last_error = error.to_string();
            }
        }
        row
    }
}

/// Unix seconds of a moment in the past.
fn moment(since: std::time::Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(since.elapsed()).as_secs()
}

/// Where a rule applies, in the words of its file.
fn scope(scope: &rewriter::Scope) -> String {
    let servers = scope.servers.iter().map(|server| format!("server {server:?}"));
    let schemas = scope.schemas.iter().map(|schema| format!("schema {schema}"));
    let users = scope.users.iter().map(|user| format!("user {user}"));
    servers.chain(schemas).chain(users).collect::<Vec<_>>().join(", ")
}
