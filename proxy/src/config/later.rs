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
