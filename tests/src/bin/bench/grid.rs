//! The grid in front of one server: a table for each question.

use crate::arguments::Extent;
use crate::cell::Cell;
use crate::places::{Place, Places};
use crate::report;
use crate::series::{Metric, Series};
use crate::servers::{Backend, Product};
use crate::target::Target;
use shuntyard_tests::table::{Table, figure, interval};

/// One place's figure divided by another's.
#[derive(Clone, Copy)]
struct Ratio {
    of: Place,
    to: Place,
    /// What it has to be, and at which number of threads.
    targets: &'static [(u32, Target)],
}

/// Something that is asked of every cell.
struct Question {
    title: &'static str,
    metric: Metric,
    /// Digits behind the point of a median.
    digits: usize,
    ratios: Vec<Ratio>,
}

const fn plain(of: Place, to: Place) -> Ratio {
    Ratio { of, to, targets: &[] }
}

fn questions(product: Product) -> Vec<Question> {
    use Place::{Direct, HaProxy, Pooled, PooledAgain, Router, RouterSharing, Shuntyard};
    let noise = plain(PooledAgain, Pooled);
    let haproxy: &[_] = &[(64, Target::AtLeast(1.1)), (256, Target::AtLeast(1.25))];
    let mut throughput = vec![Ratio { of: Pooled, to: HaProxy, targets: haproxy }];
    if product == Product::MySql {
        let twice: &[_] = &[(64, Target::AtLeast(2.0))];
        throughput.extend([Router, RouterSharing].map(|to| Ratio { of: Pooled, to, targets: twice }));
    }
    throughput.extend([plain(Pooled, Direct), plain(Shuntyard, HaProxy), noise]);
    let below: &[_] = &[(256, Target::Below(1.0))];
    vec![
        Question { title: "Queries per second", metric: Metric::Queries, digits: 0, ratios: throughput },
        Question {
            title: "The slowest hundredth: p99 of a transaction, ms",
            metric: Metric::P99,
            digits: 2,
            ratios: vec![
                Ratio { of: Pooled, to: HaProxy, targets: below },
                Ratio { of: Pooled, to: Direct, targets: below },
                noise,
            ],
        },
        Question {
            title: "CPU of the proxy, µs for each query",
            metric: Metric::Cpu,
            digits: 1,
            ratios: vec![
                Ratio { of: Pooled, to: HaProxy, targets: &[(64, Target::AtMost(1.0))] },
                plain(Shuntyard, HaProxy),
                noise,
            ],
        },
        Question { title: "Memory of the proxy, MiB", metric: Metric::Memory, digits: 1, ratios: Vec::new() },
    ]
}

/// Measures the cells in front of a server; `None` where there is none.
pub(crate) fn measure(product: Product, cells: &[Cell], extent: &Extent) -> Option<String> {
    let backend = Backend::loaded(product, extent.rows)?;
    let order = Place::in_front_of(product);
    let places = Places::start(&backend, &order);
    let series: Vec<Series> =
        cells.iter().map(|cell| Series::measure(*cell, extent, &places, &order)).collect();
    let mut text = format!(
        "## In front of {}\n\n{}Places: the server itself; HAProxy in TCP mode; {}Shuntyard with a connection for each session; \
         Shuntyard *pooled*, with `pooling: transaction`; the same proxy *again*, whose ratio to itself is the noise. TLS is \
         off, and all shipped rules are loaded.\n\n",
        product.name(),
        report::conditions(Some(&backend), extent),
        if product == Product::MySql { "MySQL Router, without and with connection sharing; " } else { "" },
    );
    for question in questions(product) {
        text.push_str(&answer(&question, &order, &series));
    }
    Some(text)
}

/// The relays of Tokio's two runtimes beside HAProxy; `None` where there is no MariaDB.
pub(crate) fn runtimes(cell: Cell, extent: &Extent) -> Option<String> {
    let backend = Backend::loaded(Product::MariaDb, extent.rows)?;
    let places = Places::start(&backend, Place::RUNTIMES);
    let series = [Series::measure(cell, extent, &places, Place::RUNTIMES)];
    let mut text = format!(
        "## Runtimes\n\n{}A relay that only copies bytes between two sockets: what any proxy on Tokio costs at least, on one \
         current-thread runtime for each core (as Shuntyard has it) and on one multi-thread runtime.\n\n",
        report::conditions(Some(&backend), extent)
    );
    let ratios =
        [(Place::BareCurrentThread, Place::HaProxy), (Place::BareMultiThread, Place::BareCurrentThread)];
    for (title, metric, digits) in
        [("Queries per second", Metric::Queries, 0), ("CPU of the relay, µs for each query", Metric::Cpu, 1)]
    {
        let ratios = ratios.map(|(of, to)| plain(of, to)).to_vec();
        text.push_str(&answer(&Question { title, metric, digits, ratios }, Place::RUNTIMES, &series));
    }
    Some(text)
}

fn answer(question: &Question, places: &[Place], all: &[Series]) -> String {
    let Question { title, metric, digits, ratios } = question;
    let measured: Vec<Place> = places
        .iter()
        .copied()
        .filter(|place| *place != Place::PooledAgain)
        .filter(|place| all.iter().any(|series| series.median(*place, *metric).is_some()))
        .collect();
    let mut head = ["load", "protocol", "threads"].map(str::to_owned).to_vec();
    head.extend(measured.iter().map(|place| place.name().to_owned()));
    head.extend(ratios.iter().map(|ratio| format!("{} / {}", ratio.of.name(), ratio.to.name())));
    let judged = ratios.iter().any(|ratio| !ratio.targets.is_empty());
    head.extend(judged.then(|| "targets".to_owned()));
    let mut table = Table::new(&head);
    for series in all {
        let cell = series.cell;
        let mut line = vec![cell.to_string()];
        line.extend(measured.iter().map(|place| figure(series.median(*place, *metric), *digits)));
        line.extend(ratios.iter().map(|ratio| interval(series.ratio(ratio.of, ratio.to, *metric), 3)));
        line.extend(judged.then(|| targets(ratios, series, *metric)));
        table.line(&line);
    }
    format!("### {title}\n\n{table}\n")
}

/// The verdicts of one cell.
fn targets(ratios: &[Ratio], series: &Series, metric: Metric) -> String {
    let mut said = Vec::new();
    for Ratio { of, to, targets } in ratios {
        for (_, target) in targets.iter().filter(|(threads, _)| *threads == series.cell.threads) {
            if let Some(estimate) = series.ratio(*of, *to, metric) {
                said.push(format!("/ {} {target}: {}", to.name(), target.judge(&estimate)));
            }
        }
    }
    if said.is_empty() { "–".to_owned() } else { said.join("; ") }
}
