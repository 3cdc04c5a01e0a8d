//! How the rivals are configured: as their makers would have them on loopback, without TLS.

use std::fs;
use std::path::Path;
use std::process::Command;

use shuntyard_tests::machine;

/// Whether MySQL Router shares server connections between clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    Off,
    On,
}

/// HAProxy in TCP mode.
pub(crate) fn haproxy(port: u16, server: u16, dir: &Path) -> Command {
    let text = format!(
        "global\n  maxconn 2000\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n\
         listen mysql\n  bind 127.0.0.1:{port}\n  server one 127.0.0.1:{server}\n"
    );
    let config = dir.join("haproxy.cfg");
    fs::write(&config, text).expect("the folder is writable");
    let mut command = Command::new("haproxy");
    command.arg("-f").arg(&config).arg("-db");
    command
}

/// What MySQL Router says of itself; empty where there is none.
pub(crate) fn router_version() -> String {
    let version = Command::new(machine::project("tools/mysql97")).arg("router-version").output();
    let version = version.map(|out| out.stdout).unwrap_or_default();
    // MySQL Router  Ver 9.7.4-2 for Linux on x86_64 ((Debian))
    String::from_utf8_lossy(&version)
        .split(" for ")
        .next()
        .unwrap_or_default()
        .replace("  Ver", "")
        .trim()
        .to_owned()
}

/// MySQL Router for the classic protocol.
pub(crate) fn router(port: u16, server: u16, sharing: Sharing, dir: &Path) -> Command {
    let (shares, idle) = match sharing {
        Sharing::Off => (0, 0),
        Sharing::On => (1, 64),
    };
    let text = format!(
        "[DEFAULT]\nuser=root\nmax_total_connections=2000\n[logger]\nlevel=ERROR\n[connection_pool]\nmax_idle_server_connections={idle}\n\
         [routing:one]\nbind_address=127.0.0.1\nbind_port={port}\ndestinations=127.0.0.1:{server}\n\
         routing_strategy=first-available\nprotocol=classic\nclient_ssl_mode=DISABLED\nserver_ssl_mode=DISABLED\n\
         connection_sharing={shares}\nmax_connections=2000\n"
    );
    let config = dir.join(format!("router-{port}.conf"));
    fs::write(&config, text).expect("the folder is writable");
    let mut command = Command::new(machine::project("tools/mysql97"));
    command.arg("router").arg(config);
    command
}
