//! Logins through the clients that people use, and what became of them.

use std::process::Command;

use crate::client::Server;
use crate::machine;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The `mariadb` command-line client.
    MariaDb,
    /// The `mysql` command-line client of MySQL 9.
    MySql,
    /// PyMySQL.
    PyMySql,
    /// mysql-connector-python, its own implementation.
    ConnectorPure,
    /// mysql-connector-python, the C extension: libmysqlclient.
    ConnectorC,
}

impl Client {
    /// All of them.
    pub const ALL: [Client; 5] =
        [Self::MariaDb, Self::MySql, Self::PyMySql, Self::ConnectorPure, Self::ConnectorC];
}

/// Whether a client uses TLS. It does not look at the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// What a login came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// In, as this `CURRENT_USER()`.
    In(String),
    /// A server's or a client's error.
    Out(u16),
}

/// Logs in once. `plugin` is the plugin that the client names first, where it can be told to.
///
/// # Panics
/// When the client cannot be run, or says what is not understood.
pub fn try_login(client: Client, server: &Server, tls: Tls, plugin: Option<&str>) -> Came {
    let mut command = match client {
        Client::MariaDb | Client::MySql => command_line(client, server, tls, plugin),
        Client::PyMySql => python("pymysql", server, tls, plugin),
        Client::ConnectorPure => python("connector:pure", server, tls, plugin),
        Client::ConnectorC => python("connector:c", server, tls, plugin),
    };
    let out = command.output().unwrap_or_else(|error| panic!("{client:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let told = out.lines().chain(err.lines()).find_map(|line| line.strip_prefix("ERROR "));
    match (told, out.lines().last()) {
        (Some(told), _) => {
            let code = told.split([' ', ':']).next().and_then(|code| code.parse().ok());
            Came::Out(code.unwrap_or_else(|| panic!("{client:?}: {told}")))
        }
        (None, Some(user)) => Came::In(user.to_owned()),
        // The mysql client, of an expired password.
        (None, None) if err.contains("--connect-expired-password") => Came::Out(1862),
        (None, None) => panic!("{client:?} says nothing: {err}"),
    }
}

fn command_line(client: Client, server: &Server, tls: Tls, plugin: Option<&str>) -> Command {
    let mut command = if client == Client::MariaDb {
        let mut command = Command::new("mariadb");
        command.arg("--no-defaults");
        match tls {
            Tls::On => command.args(["--ssl", "--skip-ssl-verify-server-cert"]),
            Tls::Off => command.arg("--skip-ssl"),
        };
        command
    } else {
        let mut command = Command::new(machine::project("tools/mysql97"));
        command.args(["client", "--get-server-public-key", "--enable-cleartext-plugin"]);
        command.arg(match tls {
            Tls::On => "--ssl-mode=REQUIRED",
            Tls::Off => "--ssl-mode=DISABLED",
        });
        command
    };
    command.args(["--protocol=tcp", "--host=127.0.0.1", "--batch", "--skip-column-names"]);
    command.arg(format!("--port={}", server.port)).arg(format!("--user={}", server.account.user));
    command.arg(format!("--password={}", server.account.password));
    if let Some(plugin) = plugin {
        command.arg(format!("--default-auth={plugin}"));
    }
    command.args(["-e", "SELECT CURRENT_USER()"]);
    command
}

fn python(driver: &str, server: &Server, tls: Tls, plugin: Option<&str>) -> Command {
    let mut command = Command::new(machine::python().expect("tools/pydrivers has been run"));
    command.arg(machine::project("tests/drivers/login.py"));
    command.arg(format!("--driver={driver}")).arg(format!("--port={}", server.port));
    command.arg(format!("--user={}", server.account.user));
    command.arg(format!("--password={}", server.account.password));
    if tls == Tls::On {
        command.arg("--tls");
    }
    if let Some(plugin) = plugin {
        command.arg(format!("--plugin={plugin}"));
    }
    command
}
