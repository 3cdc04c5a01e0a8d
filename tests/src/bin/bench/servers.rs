//! The servers behind all places, with the table under load.

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;

use crate::load;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    MariaDb,
    MySql,
}

impl Product {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Product::MariaDb => "MariaDB",
            Product::MySql => "MySQL",
        }
    }
}

/// A running server.
pub(crate) struct Backend {
    pub(crate) product: Product,
    /// `VERSION()`.
    pub(crate) version: String,
    pub(crate) port: u16,
    _running: Running,
}

enum Running {
    MariaDb { _server: MariaDb },
    MySql { _server: MySql },
}

/// For both: the table in memory, no disk to wait for, and room for every place's connections.
const SETTINGS: [&str; 4] = [
    "--innodb-buffer-pool-size=512M",
    "--innodb-flush-log-at-trx-commit=0",
    "--max-connections=1000",
    "--back-log=1000",
];

impl Backend {
    /// Starts a server; `None` where there is none, which is noted.
    pub(crate) fn start(product: Product) -> Option<Backend> {
        let (server, running) = match product {
            Product::MariaDb => {
                let server = MariaDb::start(&SETTINGS)?;
                (server.server(), Running::MariaDb { _server: server })
            }
            Product::MySql => {
                let server = MySql::with(&SETTINGS)?;
                (server.server(), Running::MySql { _server: server })
            }
        };
        let version = on(&server, async |conn| {
            conn.query_first("SELECT VERSION()").await.expect("a server knows its version")
        });
        Some(Backend { product, version: version.unwrap_or_default(), port: server.port, _running: running })
    }

    /// A server with the table under load.
    pub(crate) fn loaded(product: Product, rows: u32) -> Option<Backend> {
        let backend = Backend::start(product)?;
        let server = Server { port: backend.port, account: shuntyard_tests::client::Account::app() };
        on(&server, async |conn| {
            conn.query_drop("CREATE DATABASE sbtest").await.expect("a schema can be made")
        });
        load::prepare(backend.port, rows);
        on(&server, async |conn| {
            conn.query_drop("ANALYZE TABLE sbtest.sbtest1").await.expect("the table is there");
        });
        Some(backend)
    }
}

/// Does something on a connection of its own.
fn on<T>(server: &Server, work: impl AsyncFnOnce(&mut mysql_async::Conn) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut conn = server.connect().await;
        work(&mut conn).await
    })
}
