//! Where the load goes: the server itself, HAProxy in TCP mode, and the proxy; the latter twice, for the noise.

use std::process::Command;
use std::time::Duration;

use shuntyard_tests::process::Process;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::{machine, raw};
use tempfile::TempDir;

/// One place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The server.
    Direct,
    /// HAProxy, TCP mode.
    HaProxy,
    /// The proxy, rules loaded.
    Shuntyard,
    /// The same proxy once more: what differs from the line above is noise.
    ShuntyardAgain,
}

impl Place {
    /// In the order of the table.
    pub(crate) const ALL: [Place; 4] =
        [Place::Direct, Place::HaProxy, Place::Shuntyard, Place::ShuntyardAgain];

    /// As the table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Direct => "direct",
            Place::HaProxy => "HAProxy",
            Place::Shuntyard => "Shuntyard",
            Place::ShuntyardAgain => "Shuntyard again",
        }
    }
}

/// Everything that is measured, running.
pub(crate) struct Places {
    server: u16,
    haproxy: Process,
    haproxy_port: u16,
    shuntyard: Proxy,
    _dir: TempDir,
}

impl Places {
    /// Starts both proxies in front of the server at 127.0.0.1:`server`.
    pub(crate) fn start(server: u16) -> Places {
        let dir = TempDir::with_prefix("shuntyard-bench-").expect("a temporary folder can be made");
        let port = machine::free_port();
        let config = dir.path().join("haproxy.cfg");
        let text = format!(
            "global\n  maxconn 2000\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n\
             listen mysql\n  bind 127.0.0.1:{port}\n  server one 127.0.0.1:{server}\n"
        );
        std::fs::write(&config, text).expect("the folder is writable");
        let mut command = Command::new("haproxy");
        command.arg("-f").arg(&config).arg("-db");
        let mut haproxy = Process::spawn("haproxy", &mut command, &dir.path().join("haproxy.log"));
        haproxy.until(Duration::from_secs(10), |_| raw::greets(port).then_some(()));
        let shuntyard = Setup::mariadb(server).start();
        Places { server, haproxy, haproxy_port: port, shuntyard, _dir: dir }
    }

    /// The port that a place listens on.
    pub(crate) fn port(&self, place: Place) -> u16 {
        match place {
            Place::Direct => self.server,
            Place::HaProxy => self.haproxy_port,
            Place::Shuntyard | Place::ShuntyardAgain => self.shuntyard.port,
        }
    }

    /// The process between client and server, if any.
    pub(crate) fn pid(&self, place: Place) -> Option<u32> {
        match place {
            Place::Direct => None,
            Place::HaProxy => Some(self.haproxy.pid()),
            Place::Shuntyard | Place::ShuntyardAgain => Some(self.shuntyard.process.pid()),
        }
    }
}
