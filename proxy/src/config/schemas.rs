//! Which backend a schema lives on: in this version, the home backend.

use sql::source::Faults;
use sql::yaml::{Entry, Node};

use super::Backend;
use super::later;

/// A schema whose home is told. Sessions reach the first backend only, so that no other one may be named yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    /// Its name.
    pub(crate) name: String,
    /// The name of its backend, which is one of those configured.
    pub(crate) home: String,
}

pub(super) fn read(node: &Node, backends: &[Backend], faults: &Faults) -> Vec<Schema> {
    let entries = node.entries("schemas by name", faults).unwrap_or_default();
    entries.iter().filter_map(|entry| one(entry, backends, faults)).collect()
}

fn one(entry: &Entry, backends: &[Backend], faults: &Faults) -> Option<Schema> {
    let own = [crate::admin::SCHEMA, "_shuntyard"].iter().any(|own| own.eq_ignore_ascii_case(&entry.key));
    if own || entry.key.is_empty() || entry.key.chars().count() > 64 {
        faults.add(entry.key_span, format!("`{}` cannot be a schema of yours", entry.key));
    }
    let fields = entry.value.fields("a schema", faults)?;
    let home = fields.required("home").and_then(|node| {
        let text = node.text("the name of a backend", faults)?;
        if !backends.iter().any(|backend| backend.name == text) {
            let known: Vec<&str> = backends.iter().map(|backend| backend.name.as_str()).collect();
            faults.add(node.span, format!("no backend is called `{text}`; there are {}", known.join(", ")));
            return None;
        }
        if let Some(first) = backends.first().filter(|first| first.name != text) {
            let text = format!(
                "a schema on another backend than the first, `{}`, is not supported by this version",
                first.name
            );
            faults.add(node.span, text);
            return None;
        }
        Some(text.to_owned())
    });
    later::keys(&fields, &["tables"]);
    fields.finish();
    Some(Schema { name: entry.key.clone(), home: home? })
}
