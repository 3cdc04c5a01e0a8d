//! A MySQL 9 server of the tests' own, by `tools/mysql97`.

mod command_line;

pub use command_line::{ClientFile, CommandLine};

use std::process::Command;
use std::sync::{Arc, Mutex};

use mysql_async::prelude::Queryable;

use crate::client::{Account, Server};
use crate::machine;
use crate::process::Guard;

/// A running MySQL.
#[derive(Debug)]
pub struct MySql {
    port: u16,
    _guard: Guard,
}

impl MySql {
    /// The server that the tests of this process share; `None` where there is none, which is noted as missing.
    pub async fn shared() -> Option<Arc<MySql>> {
        static SHARED: Mutex<Option<Option<Arc<MySql>>>> = Mutex::new(None);
        let started = tokio::task::spawn_blocking(|| {
            let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            shared.get_or_insert_with(|| MySql::start(&[]).map(Arc::new)).clone()
        });
        let server = started.await.expect("starting a server does not panic")?;
        server.accounts().await;
        Some(server)
    }

    /// A server of one test's own.
    ///
    /// # Panics
    /// When it does not start.
    pub fn own() -> Option<MySql> {
        MySql::with(&[])
    }

    /// A server of one test's own, with further options.
    ///
    /// # Panics
    /// When it does not start.
    pub fn with(extra: &[&str]) -> Option<MySql> {
        let server = MySql::start(extra)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(server.accounts());
        Some(server)
    }

    fn start(extra: &[&str]) -> Option<MySql> {
        let tool = machine::project("tools/mysql97");
        let path = Command::new(&tool).arg("path").output().map(|out| out.stdout).unwrap_or_default();
        if path.trim_ascii().is_empty() {
            machine::missing("MySQL 9 (`tools/mysql97 install`, or MYSQLD=path of a mysqld)");
            return None;
        }
        let port = machine::free_port();
        let guard = Guard::new(&format!("'{}' stop {port} >/dev/null 2>&1", tool.display()));
        let args = ["--max-allowed-packet=64M", "--innodb-buffer-pool-size=64M", "--skip-log-bin"];
        let status = Command::new(&tool).arg("start").arg(port.to_string()).args(args).args(extra).status();
        assert!(status.is_ok_and(|s| s.success()), "MySQL does not start");
        Some(MySql { port, _guard: guard })
    }

    async fn accounts(&self) {
        let root = Server { port: self.port, account: Account::new("root", "") };
        let mut conn = root.connect().await;
        for sql in [
            "CREATE USER IF NOT EXISTS app@'%' IDENTIFIED BY 'app'",
            "GRANT ALL ON *.* TO app@'%' WITH GRANT OPTION",
            "CREATE USER IF NOT EXISTS shuntyard@'%' IDENTIFIED BY 'proxy-secret'",
            "GRANT ALL ON *.* TO shuntyard@'%'",
        ] {
            conn.query_drop(sql).await.expect("root may make accounts");
        }
    }

    /// TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How a client reaches it.
    pub fn server(&self) -> Server {
        Server { port: self.port, account: Account::app() }
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        let tool = machine::project("tools/mysql97");
        let _ = Command::new(tool).arg("stop").arg(self.port.to_string()).status();
    }
}
