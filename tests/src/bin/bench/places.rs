//! Where the load goes: the server itself, HAProxy in TCP mode, and the proxy; the latter twice, for the noise. And, to see
//! what a proxy on Tokio costs at least, two relays that only copy bytes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use shuntyard_tests::process::Process;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::{machine, raw};
use tempfile::TempDir;

use crate::bare::Runtime;

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
    /// A proxy whose sessions share connections (`pooling: transaction`).
    ShuntyardPooled,
    /// A bare relay on one current-thread runtime for each core.
    BareCurrentThread,
    /// A bare relay on the multi-thread runtime.
    BareMultiThread,
}

impl Place {
    /// What the proxy is compared with.
    pub(crate) const RIVALS: [Place; 5] =
        [Place::Direct, Place::HaProxy, Place::Shuntyard, Place::ShuntyardAgain, Place::ShuntyardPooled];
    /// Tokio's runtimes compared, with the rival beside them.
    pub(crate) const RUNTIMES: [Place; 3] =
        [Place::HaProxy, Place::BareCurrentThread, Place::BareMultiThread];

    /// As the table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Direct => "direct",
            Place::HaProxy => "HAProxy",
            Place::Shuntyard => "Shuntyard",
            Place::ShuntyardAgain => "Shuntyard again",
            Place::ShuntyardPooled => "Shuntyard, pooled",
            Place::BareCurrentThread => "bare relay, current-thread",
            Place::BareMultiThread => "bare relay, multi-thread",
        }
    }
}

/// Everything that is measured, running.
pub(crate) struct Places {
    server: u16,
    haproxy: Process,
    haproxy_port: u16,
    shuntyard: Proxy,
    pooled: Proxy,
    current_thread: Bare,
    multi_thread: Bare,
    _dir: TempDir,
}

/// A bare relay: this program again, in another role.
struct Bare {
    process: Process,
    port: u16,
}

impl Bare {
    fn start(runtime: Runtime, server: u16, dir: &Path) -> Bare {
        let port = machine::free_port();
        let name = format!("{runtime:?}");
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        let runtime = runtime.to_possible_value().expect("no runtime is hidden");
        command.args(["relay", runtime.get_name(), &port.to_string(), &server.to_string()]);
        let mut process = Process::spawn(&name, &mut command, &dir.join(format!("{name}.log")));
        process.until(Duration::from_secs(10), |_| raw::greets(port).then_some(()));
        Bare { process, port }
    }
}

impl Places {
    /// Starts everything in front of the server at 127.0.0.1:`server`.
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
        let pooled = Setup::mariadb(server).line("pooling: transaction").start();
        let current_thread = Bare::start(Runtime::CurrentThread, server, dir.path());
        let multi_thread = Bare::start(Runtime::MultiThread, server, dir.path());
        Places {
            server,
            haproxy,
            haproxy_port: port,
            shuntyard,
            pooled,
            current_thread,
            multi_thread,
            _dir: dir,
        }
    }

    /// The port that a place listens on.
    pub(crate) fn port(&self, place: Place) -> u16 {
        match place {
            Place::Direct => self.server,
            Place::HaProxy => self.haproxy_port,
            Place::Shuntyard | Place::ShuntyardAgain => self.shuntyard.port,
            Place::ShuntyardPooled => self.pooled.port,
            Place::BareCurrentThread => self.current_thread.port,
            Place::BareMultiThread => self.multi_thread.port,
        }
    }

    /// The process between client and server, if any.
    pub(crate) fn pid(&self, place: Place) -> Option<u32> {
        match place {
            Place::Direct => None,
            Place::HaProxy => Some(self.haproxy.pid()),
            Place::Shuntyard | Place::ShuntyardAgain => Some(self.shuntyard.process.pid()),
            Place::ShuntyardPooled => Some(self.pooled.process.pid()),
            Place::BareCurrentThread => Some(self.current_thread.process.pid()),
            Place::BareMultiThread => Some(self.multi_thread.process.pid()),
        }
    }
}
