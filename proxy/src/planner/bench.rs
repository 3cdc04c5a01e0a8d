//! What a statement pays whose plan is cached: its text is scanned, the key made, the plan looked up.
#![expect(clippy::unwrap_used, reason = "a measurement")]

use divan::{Bencher, Divan, black_box};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::backends::Stack;
use crate::config::{Account, Config, Secret};
use crate::reload;
use crate::shared::Parts;
use crate::stats::Registry;

const TEXTS: &[(&str, &str)] = &[
    ("point", "SELECT c FROM sbtest1 WHERE id=5012"),
    ("range", "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 4978 AND 5077 ORDER BY c"),
    ("update", "UPDATE sbtest1 SET c='68487932199-96439406143-93774651418-41631865787' WHERE id=5012"),
    (
        "long",
        "SELECT o.id, o.created_at, o.amount, c.name, c.city, (SELECT COUNT(*) FROM order_items i WHERE i.order_id = o.id) AS items, \
         CASE WHEN o.amount > 1000 THEN 'large' WHEN o.amount > 100 THEN 'middle' ELSE 'small' END AS size \
         FROM orders o JOIN customers c ON c.id = o.customer_id LEFT JOIN addresses a ON a.customer_id = c.id AND a.kind = 'billing' \
         WHERE o.status IN ('paid', 'sent', 'done') AND o.created_at >= '2024-01-01 00:00:00' AND o.created_at < '2024-02-01 00:00:00' \
         AND c.country = 'DE' AND (a.zip LIKE '10%' OR a.zip IS NULL) ORDER BY o.created_at DESC, o.id LIMIT 20 OFFSET 40",
    ),
];

/// A proxy's state with the shipped rules, in front of a server that is not asked anything.
struct World {
    shared: Arc<Shared>,
    _runtime: Runtime,
    _stack: Stack,
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let account = Account { user: "shuntyard".to_owned(), password: Secret::new("") };
        let config = Config::for_backend("127.0.0.1:3306".parse().unwrap(), account, "/nowhere".into());
        let (stack, units) = runtime.block_on(Stack::up(&config)).unwrap();
        let topology = Topology::new(1, units.iter().map(|unit| unit.name.clone()).collect()).unwrap();
        let set = Arc::new(reload::rules(&config).unwrap());
        let parts = Parts {
            backends: units,
            live: reload::live(&config),
            rules: Rules { generation: 1, on: true, set },
            topology,
            stats: Registry::new(1, 1_000),
            tls: None,
            passthrough: false,
            reloads: tokio::sync::mpsc::unbounded_channel().0,
        };
        Self { shared: Shared::new(parts).unwrap(), _runtime: runtime, _stack: stack }
    }

    fn plan(&self, text: &str) -> Arc<Planned> {
        let question = Question {
            text: text.as_bytes(),
            flavor: Flavor::MARIADB,
            view: 7,
            schema: Some("shop"),
            user: "app",
            sql_mode_known: true,
            may_shadow: false,
        };
        self.shared.planner.plan(&self.shared, &question)
    }
}

#[divan::bench(args = TEXTS.iter().map(|(name, _)| *name))]
fn hit(bencher: Bencher<'_, '_>, name: &str) {
    let world = World::new();
    let (_, text) = TEXTS.iter().find(|(known, _)| *known == name).unwrap();
    world.plan(text);
    bencher.bench_local(|| world.plan(black_box(text)).digest());
}

#[test]
fn what_is_measured_is_a_hit() {
    let world = World::new();
    for (at, (_, text)) in TEXTS.iter().enumerate() {
        let first = world.plan(text);
        // Other literals, the same plan.
        let again = world.plan(&text.replace("5012", "4711"));
        assert!(Arc::ptr_eq(&first, &again), "{text}");
        let row = world.shared.stats.totals.read();
        let count = at as u64 + 1;
        assert_eq!((row.get(Counter::PlanHits), row.get(Counter::PlanMisses)), (count, count));
    }
}

#[test]
#[ignore = "a measurement of its own: make bench-micro"]
fn measure() {
    Divan::default().run_benches();
}
