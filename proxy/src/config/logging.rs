//! What is logged and how.

use sql::source::Faults;
use sql::yaml::Node;
use tracing::Level;

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Log {
    /// The least important that is logged.
    pub(crate) level: Level,
    /// How lines look.
    pub(crate) format: Format,
    /// Statements are logged with their literals instead of as digest text. Passwords are never logged.
    pub(crate) literals: bool,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: Level::INFO, format: Format::Text, literals: false }
    }
}

pub(super) fn read(node: &Node, faults: &Faults) -> Option<Log> {
    let fields = node.fields("`log`", faults)?;
    let usual = Log::default();
    let levels = [
        ("error", Level::ERROR),
        ("warn", Level::WARN),
        ("info", Level::INFO),
        ("debug", Level::DEBUG),
        ("trace", Level::TRACE),
    ];
    let formats = [("text", Format::Text), ("json", Format::Json)];
    let level = fields.optional("level").and_then(|node| node.choice(&levels, faults));
    let format = fields.optional("format").and_then(|node| node.choice(&formats, faults));
    let literals = fields.optional("literals").and_then(|node| node.truth(faults));
    fields.finish();
    Some(Log {
        level: level.unwrap_or(usual.level),
        format: format.unwrap_or(usual.format),
        literals: literals.unwrap_or(usual.literals),
    })
}
