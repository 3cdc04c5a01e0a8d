//! Where the load goes: the server itself, its rivals, and the proxy; and relays that only copy bytes, to see what a proxy
//! on Tokio costs at least.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use shuntyard_tests::process::Process;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::{machine, raw};
use tempfile::TempDir;

use crate::bare::Runtime;
use crate::rivals::{self, Sharing};
use crate::servers::{Backend, Product};

/// One place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The server.
    Direct,
    /// HAProxy, TCP mode.
    HaProxy,
    /// MySQL Router, a server connection for each client.
    Router,
    /// MySQL Router, connection sharing on.
    RouterSharing,
    /// The proxy, rules loaded, a connection for each session.
    Shuntyard,
    /// A proxy whose sessions share connections (`pooling: transaction`).
    Pooled,
    /// The same proxy once more: what differs from the line above is noise.
    PooledAgain,
    /// A bare relay on one current-thread runtime for each core.
    BareCurrentThread,
    /// A bare relay on the multi-thread runtime.
    BareMultiThread,
}

impl Place {
    /// Tokio's runtimes compared, with the rival beside them.
    pub(crate) const RUNTIMES: &[Place] = &[Place::HaProxy, Place::BareCurrentThread, Place::BareMultiThread];

    /// What the proxy is compared with in front of a server.
    pub(crate) fn in_front_of(product: Product) -> Vec<Place> {
        let mut places = vec![Place::Direct, Place::HaProxy];
        if product == Product::MySql {
            if rivals::router_version().is_empty() {
                machine::missing(
                    "MySQL Router (`tools/mysql97 install-router`, or MYSQLROUTER=path of a mysqlrouter)",
                );
            } else {
                places.extend([Place::Router, Place::RouterSharing]);
            }
        }
        places.extend([Place::Shuntyard, Place::Pooled, Place::PooledAgain]);
        places
    }

    /// As the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Direct => "direct",
            Place::HaProxy => "HAProxy",
            Place::Router => "Router",
            Place::RouterSharing => "Router, sharing",
            Place::Shuntyard => "session",
            Place::Pooled => "pooled",
            Place::PooledAgain => "again",
            Place::BareCurrentThread => "current-thread",
            Place::BareMultiThread => "multi-thread",
        }
    }
}

/// Everything that is measured, running.
pub(crate) struct Places {
    server: u16,
    running: BTreeMap<Place, Running>,
    _dir: TempDir,
}

/// A process between clients and server.
enum Running {
    Process { process: Process, port: u16 },
    Proxy(Proxy),
}

impl Places {
    /// Starts `places` in front of a server.
    pub(crate) fn start(backend: &Backend, places: &[Place]) -> Places {
        let dir = TempDir::with_prefix("shuntyard-bench-").expect("a temporary folder can be made");
        let running = places.iter().filter_map(|place| Some((*place, start(*place, backend, dir.path())?)));
        Places { server: backend.port, running: running.collect(), _dir: dir }
    }

    fn running(&self, place: Place) -> Option<&Running> {
        self.running.get(if place == Place::PooledAgain { &Place::Pooled } else { &place })
    }

    /// The port that a place listens on.
    pub(crate) fn port(&self, place: Place) -> u16 {
        match self.running(place) {
            None => self.server,
            Some(Running::Process { port, .. }) => *port,
            Some(Running::Proxy(proxy)) => proxy.port,
        }
    }

    /// The process between client and server, if any.
    pub(crate) fn pid(&self, place: Place) -> Option<u32> {
        Some(match self.running(place)? {
            Running::Process { process, .. } => process.pid(),
            Running::Proxy(proxy) => proxy.process.pid(),
        })
    }
}

/// Starts what a place needs; `None` for what needs nothing of its own.
fn start(place: Place, backend: &Backend, dir: &Path) -> Option<Running> {
    let proxy = || {
        let setup = match backend.product {
            Product::MariaDb => Setup::mariadb(backend.port),
            Product::MySql => Setup::mysql(backend.port),
        };
        // Hundreds of clients come at the same moment.
        setup.line("timeouts: {connect: 30s}")
    };
    let port = machine::free_port();
    let mut command = match place {
        Place::Direct | Place::PooledAgain => return None,
        Place::Shuntyard => return Some(Running::Proxy(proxy().unshared().start())),
        Place::Pooled => return Some(Running::Proxy(proxy().line("pooling: transaction").start())),
        Place::HaProxy => rivals::haproxy(port, backend.port, dir),
        Place::Router => rivals::router(port, backend.port, Sharing::Off, dir),
        Place::RouterSharing => rivals::router(port, backend.port, Sharing::On, dir),
        Place::BareCurrentThread => bare(Runtime::CurrentThread, port, backend.port),
        Place::BareMultiThread => bare(Runtime::MultiThread, port, backend.port),
    };
    let log = dir.join(format!("{place:?}.log"));
    let mut process = Process::spawn(place.name(), &mut command, &log);
    process.until(Duration::from_secs(20), |_| raw::greets(port).then_some(()));
    Some(Running::Process { process, port })
}

/// A bare relay: this program again, in another role.
fn bare(runtime: Runtime, port: u16, server: u16) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    let runtime = runtime.to_possible_value().expect("no runtime is hidden");
    command.args(["relay", runtime.get_name(), &port.to_string(), &server.to_string()]);
    command
}
