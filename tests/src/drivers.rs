//! One run of the script through one driver.

use std::path::Path;

use crate::client::Server;
use crate::machine;
use crate::report::Report;
use crate::script::Script;

mod packets;
mod program;
mod python;
mod rust_mysql;
mod sqlx;
mod walk;

pub use packets::Age;

/// A driver that runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// A Python program of `drivers/` and its `--driver`.
    Python(&'static str, &'static str),
    /// `mysql2` of Node.
    Node(Protocol),
    /// MariaDB Connector/J.
    Java(Protocol),
    /// `mysqli` of PHP.
    Php(Protocol),
    /// `mysql_async`.
    Async(Protocol),
    /// `sqlx`.
    Sqlx(Protocol),
    /// Packets, with EOF packets and without session tracking, or as clients of today.
    Raw(Age),
}

/// Which protocol statements take where they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// COM_QUERY.
    Text,
    /// COM_STMT_PREPARE and COM_STMT_EXECUTE.
    Binary,
}

/// Where one run of the script takes place.
#[derive(Debug, Clone)]
struct Place<'a> {
    script: &'a Script,
    server: &'a Server,
    /// `mariadb` or `mysql`.
    product: &'a str,
    /// The folder with the client's files.
    files: &'a Path,
}

impl Driver {
    /// What is missing on this machine for it, in words.
    pub fn lacks(self) -> Option<&'static str> {
        let (there, what) = match self {
            Driver::Python(..) => (machine::python().is_some(), "the Python drivers (`tools/pydrivers`)"),
            Driver::Node(_) => (program::NODE.is_there(), "Node's mysql2 (`tools/otherdrivers node`)"),
            Driver::Java(_) => (program::JAVA.is_there(), "Connector/J (`tools/otherdrivers java`)"),
            Driver::Php(_) => (program::PHP.is_there(), "PHP's mysqli (`tools/otherdrivers php`)"),
            Driver::Async(_) | Driver::Sqlx(_) | Driver::Raw(_) => (true, ""),
        };
        (!there).then_some(what)
    }
}

/// Runs the script at `server`, which is (or stands before) a `mariadb` or a `mysql`.
///
/// # Panics
/// When the driver breaks down.
pub async fn run(driver: Driver, server: &Server, product: &str, files: &Path) -> Report {
    let script = Script::load();
    script.write_files(files);
    let place = Place { script: &script, server, product, files };
    match driver {
        Driver::Python(program, name) => python::run(program, name, &place).await,
        Driver::Node(protocol) => program::run(&program::NODE, protocol, &place).await,
        Driver::Java(protocol) => program::run(&program::JAVA, protocol, &place).await,
        Driver::Php(protocol) => program::run(&program::PHP, protocol, &place).await,
        Driver::Async(protocol) => {
            walk::walk(&mut rust_mysql::Async { protocol, place: &place }, &place).await
        }
        Driver::Sqlx(protocol) => walk::walk(&mut sqlx::Sqlx { protocol, place: &place }, &place).await,
        Driver::Raw(age) => packets::run(age, &place).await,
    }
}
