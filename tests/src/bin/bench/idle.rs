//! What an idle connection costs: many of them, each after one query, and the proxy's memory before and after.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, SslOpts};
use shuntyard_tests::client::Server;
use shuntyard_tests::process;
use shuntyard_tests::proxy::{Proxy, Setup};
use tokio::task::JoinSet;

use crate::arguments::Extent;
use crate::report::{self, verdict};
use crate::servers::{Backend, Product};
use crate::target::Target;
use shuntyard_tests::statistics::{Estimate, estimate};
use shuntyard_tests::table::{Table, figure, interval};

/// Bytes of one idle connection without TLS.
const TARGET: Target = Target::AtMost(10_000.0);
/// Logins at a time.
const AT_ONCE: usize = 32;
/// Rounds at most: memory is far steadier than time.
const ROUNDS: usize = 6;

/// Whether clients speak TLS to the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    On,
}

impl Tls {
    /// As the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tls::Off => "off",
            Tls::On => "on",
        }
    }

    /// A connection to a proxy whose certificate nobody signed. No statement runs on it yet.
    pub(crate) async fn connect(self, server: &Server, schema: Option<&str>) -> Conn {
        let trusting = SslOpts::default().with_danger_accept_invalid_certs(true);
        let tls = (self == Tls::On).then_some(trusting);
        // Whatever the driver is told here it does not ask the server for.
        let opts = server.opts(schema).ssl_opts(tls).wait_timeout(Some(28_800));
        Conn::new(Opts::from(opts)).await.unwrap_or_else(|e| panic!("login at port {}: {e}", server.port))
    }
}

/// Measures; `None` where there is no MariaDB.
pub(crate) fn measure(extent: &Extent) -> Option<String> {
    let backend = Backend::start(Product::MariaDb)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut table = Table::new(&[
        "TLS",
        "connections",
        "proxy before, MiB",
        "proxy with them, MiB",
        "bytes each",
        "target",
    ]);
    for tls in [Tls::Off, Tls::On] {
        let rounds: Vec<Round> = (0..extent.rounds.min(ROUNDS))
            .map(|_| {
                let proxy = Setup::mariadb(backend.port)
                    .line("pooling: transaction")
                    .line(&format!("limits: {{connections: {}}}", extent.idle + 100))
                    .start();
                let round = runtime.block_on(one(&proxy, tls, extent.idle));
                eprintln!("idle, TLS {}: {:.0} bytes each", tls.name(), round.each(extent.idle));
                round
            })
            .collect();
        let mib = |of: fn(&Round) -> u64| {
            let values: Vec<f64> = rounds.iter().map(|round| of(round) as f64 / f64::from(1 << 20)).collect();
            figure(estimate(&values).map(|e| e.median), 1)
        };
        let each: Vec<f64> = rounds.iter().map(|round| round.each(extent.idle)).collect();
        let each: Option<Estimate> = estimate(&each);
        table.line(&[
            tls.name().to_owned(),
            extent.idle.to_string(),
            mib(|round| round.before),
            mib(|round| round.after),
            interval(each, 0),
            if tls == Tls::Off { verdict(TARGET, each) } else { "–".to_owned() },
        ]);
    }
    Some(format!(
        "## Idle connections\n\n{}A proxy with `pooling: transaction`, and connections that stay open and idle after one query \
         each; the growth of its resident memory, divided by their number. A fresh proxy for each round.\n\n{table}\n",
        report::conditions(None, extent)
    ))
}

/// Resident memory of one proxy, in bytes.
struct Round {
    before: u64,
    after: u64,
}

impl Round {
    fn each(&self, connections: usize) -> f64 {
        (self.after as f64 - self.before as f64) / connections as f64
    }
}

async fn one(proxy: &Proxy, tls: Tls, count: usize) -> Round {
    let server = proxy.server();
    let resident = || process::resident(proxy.process.pid()).expect("the proxy runs");
    let before = resident();
    let mut crowd: Vec<Conn> = Vec::with_capacity(count);
    let mut arriving = JoinSet::new();
    for _ in 0..count {
        if arriving.len() == AT_ONCE {
            crowd.extend(arriving.join_next().await.map(|arrived| arrived.expect("nobody panics")));
        }
        arriving.spawn(arrive(server.clone(), tls));
    }
    crowd.extend(arriving.join_all().await);
    let after = resident();
    // All of them are still there.
    let mut admin = server.connect().await;
    let there: Option<usize> =
        admin.query_first("SELECT COUNT(*) FROM shuntyard.sessions").await.expect("sessions are listed");
    assert_eq!(there, Some(crowd.len() + 1), "every connection is still open");
    Round { before, after }
}

async fn arrive(server: Server, tls: Tls) -> Conn {
    let mut conn = tls.connect(&server, None).await;
    let answer: Option<u32> = conn.query_first("SELECT 17 + 4").await.expect("the query runs");
    assert_eq!(answer, Some(21));
    conn
}
