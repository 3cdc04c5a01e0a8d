//! A server that goes, hangs and comes back.

use std::time::{Duration, Instant};

use backend::control::{ControlError, Target};
use backend::health::{Health, Monitor, Pace};

use crate::machine::{MariaDb, PATIENCE};

const PACE: Pace = Pace {
    period: Duration::from_millis(50),
    silence: Duration::from_secs(2),
    back_off: Duration::from_millis(200),
};

async fn wait(monitor: &Monitor, wanted: fn(&Health) -> bool) -> Health {
    let mut changes = monitor.changes();
    let seen = tokio::time::timeout(PATIENCE, changes.wait_for(wanted)).await;
    seen.unwrap().unwrap().clone()
}

fn is_down(health: &Health) -> bool {
    matches!(health, Health::Down { .. })
}

#[tokio::test]
async fn a_server_is_seen_to_go_and_to_come_back() {
    let mut server = MariaDb::start(&[]);
    let monitor = Monitor::start(server.tcp(), PACE);
    let Health::Up { facts, latency, .. } = monitor.first().await else { panic!("{:?}", monitor.now()) };
    assert!(facts.version_text.contains("MariaDB") && latency > Duration::ZERO);

    server.kill();
    let Health::Down { error, .. } = wait(&monitor, is_down).await else { unreachable!() };
    assert!(matches!(error, ControlError::Lost { .. } | ControlError::Unreachable { .. }), "{error}");

    let begun = Instant::now();
    server.up();
    let Health::Up { since, .. } = wait(&monitor, Health::is_up).await else { unreachable!() };
    assert!(since > begun, "it is up since it came back");
}

#[tokio::test]
async fn a_server_that_hangs_is_down() {
    let server = MariaDb::start(&[]);
    let target = Target { connect_timeout: Duration::from_secs(5), ..server.tcp() };
    let monitor = Monitor::start(target, PACE);
    assert!(monitor.up().await.is_up());
    server.signal("STOP");
    let Health::Down { error, .. } = wait(&monitor, is_down).await else { unreachable!() };
    assert!(matches!(error, ControlError::Silent { .. }), "{error}");
    server.signal("CONT");
    assert!(wait(&monitor, Health::is_up).await.is_up());
}
