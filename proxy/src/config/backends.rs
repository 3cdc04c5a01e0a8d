//! The servers behind the proxy.

use std::path::PathBuf;
use std::str::FromStr;

use backend::address::Address;
use backend::tls::TlsMode;
use sql::source::Faults;
use sql::yaml::{Entry, Node};

use super::later;
use super::reader::Reader;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backend {
    /// Its name: letters, digits, `_` and `-`, which is also the name of its folder.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) place: Place,
    /// Shadow traffic may write to it.
    pub(crate) expendable: bool,
}

/// Who runs a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The proxy itself, in a folder of its own.
    Bundled(Bundled),
    /// Somebody else.
    External(External),
}

/// A MariaDB server that the proxy runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bundled {
    /// Program or folder of the server; `None` looks for one.
    pub(crate) server: Option<PathBuf>,
    /// How much memory it takes.
    pub(crate) memory: MemoryUse,
    /// Server options besides the proxy's own.
    pub(crate) settings: Vec<(String, String)>,
}

/// How much memory bundled servers take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MemoryUse {
    /// At most 512 MiB for each.
    #[default]
    Small,
    /// Half of the machine's for all of them.
    Half,
}

/// A server that somebody else runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct External {
    /// Where it listens.
    pub(crate) address: Address,
    /// TLS towards it.
    pub(crate) tls: TlsMode,
    /// PEM file of the authorities that its certificate must come from.
    pub(crate) ca: Option<PathBuf>,
}

impl External {
    /// A server at that address; TLS where it offers it.
    pub(crate) fn new(address: Address) -> Self {
        Self { address, tls: TlsMode::Preferred, ca: None }
    }
}

/// Faults leave gaps, except that a backend keeps its name.
pub(super) fn read(node: &Node, reader: &Reader<'_>) -> Vec<Backend> {
    let entries = node.entries("backends by name", reader.faults).unwrap_or_default();
    if entries.is_empty() {
        reader.faults.add(node.span, "expected at least one backend");
    }
    let mut found: Vec<Backend> = Vec::new();
    for entry in entries {
        let same = |backend: &&Backend| backend.name.eq_ignore_ascii_case(&entry.key);
        if let Some(other) = found.iter().find(same) {
            let message = format!(
                "`{}` and `{}` differ in case only, and so would their folders",
                other.name, entry.key
            );
            reader.faults.add(entry.key_span, message);
        }
        found.extend(one(entry, reader));
    }
    found
}

fn one(entry: &Entry, reader: &Reader<'_>) -> Option<Backend> {
    let faults = reader.faults;
    let name = entry.key.clone();
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if name.is_empty() || name.len() > 64 || !letters || name.starts_with('-') {
        faults.add(entry.key_span, "a backend's name has 1 to 64 letters, digits, `_` and `-`, no `-` first");
    }
    let fields = entry.value.fields("a backend", faults)?;
    let bundled = fields.optional("bundled");
    let primary = fields.optional("primary");
    let place = match (bundled, primary) {
        (Some(node), None) => {
            node.choice(&[("mariadb", ())], faults);
            let server = fields.optional("server").and_then(|node| reader.path(node, "a program or folder"));
            let sizes = [("small", MemoryUse::Small), ("half", MemoryUse::Half)];
            let memory =
                fields.optional("memory").and_then(|node| node.choice(&sizes, faults)).unwrap_or_default();
            let settings = fields.optional("settings").map(|node| settings(node, faults)).unwrap_or_default();
            Some(Place::Bundled(Bundled { server, memory, settings }))
        }
        (None, Some(node)) => {
            let (tls, ca) =
                fields.optional("tls").map_or((TlsMode::Preferred, None), |node| tls(node, reader));
            address(node, reader).map(|address| Place::External(External { address, tls, ca }))
        }
        _ => {
            faults.add(entry.key_span, "a backend has either `bundled: mariadb` or `primary: \"HOST:PORT\"`");
            for key in ["server", "memory", "settings", "tls"] {
                fields.optional(key);
            }
            None
        }
    };
    let expendable = fields.optional("expendable").and_then(|node| node.truth(faults)).unwrap_or(false);
    later::keys(&fields, &["replicas", "weight", "proxy_protocol"]);
    fields.finish();
    // A place that is never used: the fault keeps the configuration from being valid.
    let place = place.unwrap_or_else(|| Place::Bundled(Bundled::default()));
    Some(Backend { name, place, expendable })
}

fn address(node: &Node, reader: &Reader<'_>) -> Option<Address> {
    let text = node.text("HOST:PORT or unix:PATH", reader.faults)?;
    let resolved = match text.strip_prefix("unix:") {
        Some(path) if !path.is_empty() => format!("unix:{}", reader.resolve(path).display()),
        _ => text.to_owned(),
    };
    Address::from_str(&resolved).map_err(|error| reader.faults.add(node.span, error.to_string())).ok()
}

fn tls(node: &Node, reader: &Reader<'_>) -> (TlsMode, Option<PathBuf>) {
    let faults = reader.faults;
    let Some(fields) = node.fields("a backend's `tls`", faults) else { return (TlsMode::Preferred, None) };
    let modes = [
        ("disabled", TlsMode::Disabled),
        ("preferred", TlsMode::Preferred),
        ("required", TlsMode::Required),
        ("verify_ca", TlsMode::VerifyCa),
        ("verify_identity", TlsMode::VerifyIdentity),
    ];
    let mode =
        fields.optional("mode").and_then(|node| node.choice(&modes, faults)).unwrap_or(TlsMode::Preferred);
    let given = fields.optional("ca");
    let ca = given.and_then(|node| reader.file(node, "a PEM file of authorities"));
    if given.is_none() && matches!(mode, TlsMode::VerifyCa | TlsMode::VerifyIdentity) {
        faults.add(node.span, "this mode needs `ca`, a PEM file of the authorities to trust");
    }
    later::keys(&fields, &["cert", "key"]);
    fields.finish();
    (mode, ca)
}

fn settings(node: &Node, faults: &Faults) -> Vec<(String, String)> {
    let entries = node.entries("server options", faults).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries {
        let letters =
            entry.key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !letters || entry.key.is_empty() {
            faults.add(entry.key_span, "a server option's name has letters, digits, `_` and `-`");
        }
        let Some(value) = entry.value.text("the option's value", faults) else { continue };
        if value.contains(['\n', '\r', '\0']) {
            faults.add(entry.value.span, "a server option's value is one line");
        }
        found.push((entry.key.clone(), value.to_owned()));
    }
    found
}
