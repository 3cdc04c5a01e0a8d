//! Rules and configuration change while the proxy runs; a faulty file changes nothing.

use std::path::Path;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use shuntyard_tests::machine;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup, eventually};

const SOON: Duration = Duration::from_secs(5);

fn rule(mode: &str) -> String {
    let shipped = std::fs::read_to_string(machine::project("rules/union-limit.yaml")).unwrap();
    shipped.replacen("mode: enabled", &format!("mode: {mode}"), 1)
}

fn with_rules(dir: &Path, text: &str) {
    std::fs::create_dir_all(dir.join("rules")).unwrap();
    std::fs::write(dir.join("rules/own.yaml"), text).unwrap();
}

fn start() -> Option<Proxy> {
    let server = MariaDb::shared()?;
    let setup = Setup::mariadb(server.port()).rules("\"builtin:*\", \"rules/*.yaml\"");
    Some(setup.start_in(|dir| with_rules(dir, &rule("disabled"))))
}

async fn mode(proxy: &Proxy) -> String {
    let mut conn = proxy.server().connect().await;
    let mode: Option<String> =
        conn.query_first("SELECT mode FROM shuntyard.rules WHERE id = 'union-limit'").await.unwrap();
    mode.unwrap_or_default()
}

#[tokio::test]
async fn a_changed_rule_is_live_within_seconds() {
    let Some(proxy) = start() else { return };
    assert_eq!(mode(&proxy).await, "disabled");
    with_rules(proxy.dir(), &rule("enabled"));
    eventually("the rule is enabled", SOON, async || mode(&proxy).await == "enabled").await;
    std::fs::remove_file(proxy.dir().join("rules/own.yaml")).unwrap();
    with_rules(proxy.dir(), &rule("explain"));
    eventually("the rule is in explain mode", SOON, async || mode(&proxy).await == "explain").await;
}

#[tokio::test]
async fn a_faulty_rule_changes_nothing_and_says_where() {
    let Some(proxy) = start() else { return };
    let faulty = rule("disabled").replacen("pass: union_limit", "pass: no_such_pass", 1);
    let line = 1 + faulty.lines().position(|l| l.contains("no_such_pass")).unwrap();
    with_rules(proxy.dir(), &faulty);
    let place = format!("own.yaml:{line}:");
    eventually("the fault is logged with its line", SOON, async || proxy.process.log().contains(&place))
        .await;
    assert_eq!(mode(&proxy).await, "disabled");
    with_rules(proxy.dir(), &rule("enabled"));
    eventually("the mended file counts", SOON, async || mode(&proxy).await == "enabled").await;
}

#[tokio::test]
async fn a_symbolic_link_that_is_swapped_counts() {
    let Some(server) = MariaDb::shared() else { return };
    let setup = Setup::mariadb(server.port()).rules("\"builtin:*\", \"rules/*.yaml\"");
    // As a mounted ConfigMap: rules/own.yaml -> data/own.yaml, data -> v1.
    let version = |dir: &Path, name: &str, mode: &str| {
        std::fs::create_dir_all(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join("own.yaml"), rule(mode)).unwrap();
        std::os::unix::fs::symlink(name, dir.join("new")).unwrap();
        std::fs::rename(dir.join("new"), dir.join("..data")).unwrap();
    };
    let proxy = setup.start_in(|dir| {
        let rules = dir.join("rules");
        version(&rules, "..v1", "disabled");
        std::os::unix::fs::symlink("..data/own.yaml", rules.join("own.yaml")).unwrap();
    });
    assert_eq!(mode(&proxy).await, "disabled");
    version(&proxy.dir().join("rules"), "..v2", "enabled");
    eventually("the new version counts", SOON, async || mode(&proxy).await == "enabled").await;
}

#[tokio::test]
async fn the_configuration_is_read_again_by_watch_signal_and_command() {
    let Some(proxy) = start() else { return };
    let file = proxy.dir().join("shuntyard.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let shows = async || {
        let mut conn = proxy.server().as_user("reader", "reader").connect().await;
        conn.query_drop("SHOW SHUNTYARD STATUS").await.is_ok()
    };
    assert!(!shows().await, "reader is no admin");
    std::fs::write(&file, text.replace("admins: [app]", "admins: [app, reader]")).unwrap();
    eventually("the file's change counts by itself", SOON, shows).await;

    std::fs::write(&file, &text).unwrap();
    proxy.process.signal("HUP");
    eventually("SIGHUP reads it", SOON, async || !shows().await).await;

    std::fs::write(&file, text.replace("admins: [app]", "admins: [app, reader]")).unwrap();
    let done = proxy.control(&["reload"]);
    assert!(done.status.success(), "{done:?}");
    assert!(shows().await, "reload has read it when it returns");

    // A faulty file changes nothing, and the command says where.
    std::fs::write(&file, text.replace("admins: [app]", "admin: [app]")).unwrap();
    let done = proxy.control(&["reload"]);
    assert_eq!(done.status.code(), Some(1));
    let line = 1 + text.lines().position(|l| l.starts_with("admins")).unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(said.contains(&format!("shuntyard.yaml:{line}:1")), "{said}");
    assert!(shows().await, "the configuration before the fault is in force");

    let mut conn = proxy.server().connect().await;
    assert!(conn.query_drop("SHUNTYARD RELOAD").await.is_err(), "the same over SQL");
    std::fs::write(&file, &text).unwrap();
    conn.query_drop("SHUNTYARD RELOAD").await.unwrap();
    assert!(!shows().await);
}
