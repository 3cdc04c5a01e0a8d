//! What a session holds while its client reads a large answer slowly: the growth of the proxy's memory.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use shuntyard_tests::process;
use shuntyard_tests::proxy::{Proxy, Setup};

use crate::arguments::Extent;
use crate::idle::Tls;
use crate::report::{self, verdict};
use crate::servers::{Backend, Product};
use crate::target::Target;
use shuntyard_tests::statistics::estimate;
use shuntyard_tests::table::{Table, interval};

/// Bytes for the session.
const TARGET: Target = Target::AtMost(1_000_000.0);
/// Rounds at most.
const ROUNDS: usize = 6;
/// The client rests after so many rows,
const BURST: u64 = 50_000;
/// and for so long.
const REST: Duration = Duration::from_millis(100);
/// Between two looks at the proxy's memory.
const LOOK: Duration = Duration::from_millis(20);
/// Rows that another session has read before, so that what all sessions share is there.
const WARM: u64 = 100_000;

/// Measures; `None` where there is no MariaDB.
pub(crate) fn measure(extent: &Extent) -> Option<String> {
    let backend = Backend::start(Product::MariaDb)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut table = Table::new(&["TLS", "rows", "bytes at most", "target"]);
    for tls in [Tls::Off, Tls::On] {
        let grown: Vec<f64> = (0..extent.rounds.min(ROUNDS))
            .map(|_| {
                let proxy = Setup::mariadb(backend.port).line("pooling: transaction").start();
                let grown = runtime.block_on(one(&proxy, tls, extent.answer));
                eprintln!("{} rows, slowly, TLS {}: {grown} bytes", extent.answer, tls.name());
                grown as f64
            })
            .collect();
        let grown = estimate(&grown);
        table.line(&[
            tls.name().to_owned(),
            extent.answer.to_string(),
            interval(grown, 0),
            if tls == Tls::Off { verdict(TARGET, grown) } else { "–".to_owned() },
        ]);
    }
    Some(format!(
        "## A slow client\n\n{}One client reads rows of about 110 bytes and rests for {} ms after each {BURST}, so that the \
         server is always ahead of it; how far the proxy's resident memory grows above what it was before, looked at every {} \
         ms.\n\n{table}\n",
        report::conditions(None, extent),
        REST.as_millis(),
        LOOK.as_millis()
    ))
}

/// The growth in bytes at its largest.
async fn one(proxy: &Proxy, tls: Tls, rows: u64) -> u64 {
    let pid = proxy.process.pid();
    let resident = move || process::resident(pid).expect("the proxy runs");
    read(proxy, tls, WARM.min(rows), Duration::ZERO).await;
    let before = resident();
    let (end, ended) = channel::<()>();
    let watch = thread::spawn(move || {
        let mut most = 0;
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            most = most.max(resident());
        }
        most
    });
    read(proxy, tls, rows, REST).await;
    drop(end);
    watch.join().expect("looking at memory does not panic").saturating_sub(before)
}

async fn read(proxy: &Proxy, tls: Tls, rows: u64, rest: Duration) {
    let mut conn = tls.connect(&proxy.server(), Some("mysql")).await;
    let sql = format!("SELECT seq, REPEAT('x', 100) FROM seq_1_to_{rows}");
    let mut result = conn.query_iter(sql).await.expect("the query runs");
    let mut seen = 0;
    while result.next().await.expect("the answer goes on").is_some() {
        seen += 1;
        if seen % BURST == 0 {
            tokio::time::sleep(rest).await;
        }
    }
    drop(result);
    assert_eq!(seen, rows, "every row arrives");
    conn.disconnect().await.expect("the client may leave");
}
