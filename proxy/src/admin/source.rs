//! What the running proxy tells the admin tables, the metrics and the console.

use crate::stats::Registry;

/// The running proxy as its observers see it. Every call takes a copy of the moment and must not wait for anything.
pub(crate) trait Source: Send + Sync {
    /// The counters.
    fn registry(&self) -> &Registry;

    /// The configured backends, in the order of the file.
    fn backends(&self) -> Vec<BackendRow>;

    /// The loaded rules, in their order of application.
    fn rules(&self) -> Vec<RuleRow>;

    /// Whether rules are applied at all (`SHUNTYARD SET rules`, `--passthrough`).
    fn rules_on(&self) -> bool;

    /// Whether new connections are refused because the proxy is about to stop.
    fn draining(&self) -> bool;

    /// Further lines of `shuntyard.status`, such as listening addresses or generations: name and value.
    fn status(&self) -> Vec<(String, String)>;
}

/// One backend. Moments are Unix seconds, 0 for never.
#[derive(Debug, Clone, Default)]
pub(crate) struct BackendRow {
    /// Its name in the configuration.
    pub(crate) name: String,
    /// `external` or `bundled`.
    pub(crate) kind: &'static str,
    /// `host:port` or `unix:/path`.
    pub(crate) address: String,
    /// `up`, `down`, `starting` or `stopped`.
    pub(crate) state: &'static str,
    /// What the server calls itself, empty while unknown.
    pub(crate) server_version: String,
    /// Connections that are open now.
    pub(crate) connections: u64,
    /// Shared connections of them that no session holds now.
    pub(crate) parked: u64,
    /// Sessions that wait for a shared connection.
    pub(crate) waiting: u64,
    /// Shared connections that there may be.
    pub(crate) statements_limit: u64,
    /// Connections opened since the start.
    pub(crate) connections_total: u64,
    /// Attempts that failed since the start.
    pub(crate) failures: u64,
    /// Round trip of the last health check, in microseconds; 0 while unknown.
    pub(crate) ping_micros: u64,
    /// Since when it is in its state.
    pub(crate) since: u64,
    /// The last failure's text, empty for none.
    pub(crate) last_error: String,
}

/// One rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleRow {
    /// Its id.
    pub(crate) id: String,
    /// `disabled`, `explain`, `shadow` or `enabled`.
    pub(crate) mode: &'static str,
    /// The built-in pass's name, or `pattern`.
    pub(crate) pass: String,
    /// `same_order`, `same_rows` or `lossy`.
    pub(crate) effect: &'static str,
    /// Where it applies, empty for everywhere.
    pub(crate) scope: String,
    /// File and line that it came from.
    pub(crate) origin: String,
    /// Statements that it changed since it was loaded.
    pub(crate) fired: u64,
    /// Statements that it matched while a guard refused.
    pub(crate) refused: u64,
    /// One line of what it does.
    pub(crate) summary: String,
}
