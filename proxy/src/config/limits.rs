//! Bounds and timeouts.

use std::time::Duration;

use sql::source::Faults;
use sql::yaml::{Fields, Node, Value};

/// Bounds on what clients may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Client connections at once; one more is answered with 1040.
    pub(crate) connections: usize,
    /// Client connections of one user at once; `None` is no bound.
    pub(crate) per_user: Option<usize>,
    /// Connections to one backend at once that serve sessions; `None` is no bound.
    pub(crate) per_backend: Option<usize>,
    /// Connections to one backend that sessions with `pooling: transaction` share, and so statements that run there at once;
    /// `None` is found by the proxy.
    pub(crate) statements_per_backend: Option<usize>,
    /// Sessions that wait for one of these connections at most; one more is answered with 1040 at once.
    pub(crate) queue: usize,
    /// Prepared statements on all of these connections together.
    pub(crate) prepared_statements: usize,
}

/// How sessions use backend connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pooling {
    /// Each keeps its own.
    Session,
    /// They share them between transactions.
    #[default]
    Transaction,
}

pub(super) fn pooling(node: &Node, faults: &Faults) -> Option<Pooling> {
    node.choice(&[("session", Pooling::Session), ("transaction", Pooling::Transaction)], faults)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            per_user: None,
            per_backend: None,
            statements_per_backend: None,
            queue: 2_000,
            prepared_statements: 8_000,
        }
    }
}

/// How long things may take; `None` is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// Connecting to a backend and logging in there.
    pub(crate) connect: Duration,
    /// How long a client waits for a backend that is down or busy before it is answered with an error.
    pub(crate) wait: Duration,
    /// A client between two commands.
    pub(crate) idle: Option<Duration>,
    /// A client's login.
    pub(crate) login: Duration,
    /// A backend between two pieces of an answer.
    pub(crate) read: Option<Duration>,
    /// One statement.
    pub(crate) statement: Option<Duration>,
    /// Open sessions after SIGTERM or `drain`.
    pub(crate) drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(2),
            wait: Duration::from_secs(10),
            idle: Some(Duration::from_secs(8 * 3600)),
            login: Duration::from_secs(10),
            read: None,
            statement: None,
            drain: Duration::from_secs(30),
        }
    }
}

/// Longer is never meant.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

pub(super) fn limits(node: &Node, faults: &Faults) -> Option<Limits> {
    let fields = node.fields("`limits`", faults)?;
    let number = |key| fields.optional(key).and_then(|node| node.integer(1..=1_000_000_usize, faults));
    let connections = number("connections").unwrap_or(Limits::default().connections);
    let per_user = number("per_user");
    let per_backend = number("per_backend");
    let statements_per_backend = match fields.optional("statements_per_backend") {
        Some(node) if matches!(&node.value, Value::Scalar(scalar) if scalar.text == "auto") => None,
        Some(node) => node.integer(1..=100_000_usize, faults),
        None => None,
    };
    let prepared_statements = number("prepared_statements").unwrap_or(Limits::default().prepared_statements);
    let queue = number("queue").unwrap_or(Limits::default().queue);
    // Whoever logs in opens a connection, also where the shared ones are all parked.
    if let (Some(most), Some(shared)) = (per_backend, statements_per_backend)
        && most <= shared
    {
        faults.add(
            node.span,
            format!("`per_backend` must be more than `statements_per_backend`, found {most} and {shared}"),
        );
    }
    fields.finish();
    Some(Limits { connections, per_user, per_backend, statements_per_backend, queue, prepared_statements })
}

pub(super) fn timeouts(node: &Node, faults: &Faults) -> Option<Timeouts> {
    let fields = node.fields("`timeouts`", faults)?;
    let usual = Timeouts::default();
    let timeouts = Timeouts {
        connect: some(&fields, "connect", usual.connect),
        wait: some(&fields, "wait", usual.wait),
        idle: maybe(&fields, "idle", usual.idle),
        login: some(&fields, "login", usual.login),
        read: maybe(&fields, "read", usual.read),
        statement: maybe(&fields, "statement", usual.statement),
        drain: some(&fields, "drain", usual.drain),
    };
    fields.finish();
    Some(timeouts)
}

fn some(fields: &Fields<'_>, key: &'static str, usual: Duration) -> Duration {
    fields.optional(key).and_then(|node| positive(node, fields.faults())).unwrap_or(usual)
}

fn maybe(fields: &Fields<'_>, key: &'static str, usual: Option<Duration>) -> Option<Duration> {
    match fields.optional(key) {
        Some(node) if matches!(&node.value, Value::Scalar(scalar) if scalar.text == "never") => None,
        Some(node) => positive(node, fields.faults()),
        None => usual,
    }
}

fn positive(node: &Node, faults: &Faults) -> Option<Duration> {
    let duration = node.duration(faults)?;
    if duration.is_zero() || duration > LONGEST {
        faults.add(
            node.span,
            "expected a duration between 1ms and 366d; for ever is `never` where it is possible",
        );
        return None;
    }
    Some(duration)
}
