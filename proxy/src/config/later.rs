//! Keys that the design knows and this version does not: a clear fault instead of silence.

use sql::yaml::Fields;

/// Each of `names` that is present is a fault at its place.
pub(super) fn keys(fields: &Fields<'_>, names: &[&'static str]) {
    for name in names {
        if let Some(entry) = fields.entry(name) {
            fields.faults().add(entry.key_span, format!("`{name}` is not supported by this version"));
        }
    }
}

/// `pooling: session` is what happens anyway.
pub(super) fn pooling(fields: &Fields<'_>) {
    let Some(node) = fields.optional("pooling") else { return };
    let modes = [("session", true), ("transaction", false)];
    if node.choice(&modes, fields.faults()) == Some(false) {
        fields.faults().add(
            node.span,
            "`pooling: transaction` is not supported by this version: each session keeps its connection",
        );
    }
}
