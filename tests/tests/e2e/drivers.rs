//! One script through every driver, straight and proxied with a connection of its own and with a shared one: the same answers,
//! value by value and flag by flag.

use shuntyard_tests::client::Server;
use shuntyard_tests::drivers::{Age, Driver, Protocol, run};
use shuntyard_tests::machine;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::script::Script;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// The script works in one schema of a server: one run after the other at each.
static AT_MARIADB: Mutex<()> = Mutex::const_new(());
static AT_MYSQL: Mutex<()> = Mutex::const_new(());

async fn same(driver: Driver, product: &str, straight: &Server, setup: &Setup) {
    let _alone = if product == "mysql" { AT_MYSQL.lock().await } else { AT_MARIADB.lock().await };
    compared(driver, driver, product, straight, setup).await;
}

/// The script through `left` straight, and through `right` and proxies of every kind.
pub(super) async fn compared(left: Driver, right: Driver, product: &str, straight: &Server, setup: &Setup) {
    if let Some(what) = right.lacks() {
        return machine::missing(what);
    }
    let files = TempDir::with_prefix("shuntyard-files-").unwrap();
    let expected = run(left, straight, product, files.path()).await;
    assert!(expected.steps() > 20, "the script ran");
    for (pooling, setup) in [("session", setup.clone().unshared()), ("transaction", setup.clone().sharing(1))]
    {
        let proxy = setup.start();
        let proxied = run(right, &proxy.server(), product, files.path()).await;
        let found = expected.differences(&proxied, &Script::load());
        assert!(
            found.is_empty(),
            "{right:?} at {product}, pooling: {pooling}: {} of {} steps differ (straight ≠ proxied):\n{}",
            found.len(),
            expected.steps(),
            found.join("\n")
        );
    }
}

async fn at_mariadb(driver: Driver) {
    let Some(server) = MariaDb::shared() else { return };
    same(driver, "mariadb", &server.server(), &Setup::mariadb(server.port())).await;
}

async fn at_mysql(driver: Driver) {
    let Some(server) = MySql::shared().await else { return };
    same(driver, "mysql", &server.server(), &Setup::mysql(server.port())).await;
}

macro_rules! drivers {
    ($($name:ident: $driver:expr;)*) => {
        mod mariadb { use super::*; $(#[tokio::test] async fn $name() { at_mariadb($driver).await; })* }
        mod mysql { use super::*; $(#[tokio::test] async fn $name() { at_mysql($driver).await; })* }
    };
}

drivers! {
    mariadb_client: Driver::Python("run_client.py", "mariadb-client");
    pymysql: Driver::Python("run_pymysql.py", "pymysql");
    connector_pure_text: Driver::Python("run_connector.py", "connector:pure:text");
    connector_pure_prepared: Driver::Python("run_connector.py", "connector:pure:prepared");
    connector_c_text: Driver::Python("run_connector.py", "connector:c:text");
    connector_c_prepared: Driver::Python("run_connector.py", "connector:c:prepared");
    mysql2_text: Driver::Node(Protocol::Text);
    mysql2_binary: Driver::Node(Protocol::Binary);
    connector_j_text: Driver::Java(Protocol::Text);
    connector_j_binary: Driver::Java(Protocol::Binary);
    mysqli_text: Driver::Php(Protocol::Text);
    mysqli_binary: Driver::Php(Protocol::Binary);
    mysql_async_text: Driver::Async(Protocol::Text);
    mysql_async_binary: Driver::Async(Protocol::Binary);
    sqlx_text: Driver::Sqlx(Protocol::Text);
    sqlx_binary: Driver::Sqlx(Protocol::Binary);
    packets_classic: Driver::Raw(Age::Classic);
    packets_modern: Driver::Raw(Age::Modern);
}
