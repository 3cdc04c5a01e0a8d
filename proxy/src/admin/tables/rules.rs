//! `shuntyard.rules`: the loaded rules with what they did.

use super::{Cell, Column, Table, int, text};
use crate::admin::Source;

const COLUMNS: &[Column] = &[
    text("id", "the rule's id"),
    text("mode", "`disabled`, `explain`, `shadow` or `enabled`"),
    text("pass", "the built-in pass, or `pattern`"),
    text("effect", "what it keeps: `same_order`, `same_rows` or `lossy`"),
    text("scope", "where it applies; NULL for everywhere"),
    text("origin", "file and line"),
    int("fired", "statements that it changed"),
    int("refused", "statements that it matched while a guard refused"),
    text("summary", "what it does"),
];

pub(super) static TABLE: Table = Table {
    name: "rules",
    help: "The loaded rules, in their order of application.",
    like: "id",
    columns: COLUMNS,
    rows,
};

fn rows(source: &dyn Source) -> Vec<Vec<Cell>> {
    let row = |rule: crate::admin::RuleRow| {
        vec![
            Cell::Text(rule.id),
            Cell::text(rule.mode),
            Cell::text(rule.pass),
            Cell::text(rule.effect),
            Cell::text(rule.scope),
            Cell::text(rule.origin),
            rule.fired.into(),
            rule.refused.into(),
            Cell::text(rule.summary),
        ]
    };
    source.rules().into_iter().map(row).collect()
}
