//! Where the proxy listens and how it introduces itself.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use sql::source::Faults;
use sql::yaml::Node;

use super::reader::Reader;

/// Where clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    /// An IP address and port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// One address or a list; faults leave gaps.
pub(super) fn listen(node: &Node, reader: &Reader<'_>) -> Vec<Listen> {
    let mut found = Vec::new();
    let items = node.one_or_list("an address", reader.faults).unwrap_or_default();
    if items.is_empty() {
        reader.faults.add(node.span, "expected at least one address to listen on");
    }
    for item in items {
        let Some(address) = one(item, reader) else { continue };
        if found.contains(&address) {
            reader.faults.add(item.span, format!("{address} stands here twice"));
        }
        found.push(address);
    }
    found
}

fn one(node: &Node, reader: &Reader<'_>) -> Option<Listen> {
    let text = node.text("an address", reader.faults)?;
    let Some(path) = text.strip_prefix("unix:") else {
        return tcp(node, text, "or unix:PATH", reader.faults).map(Listen::Tcp);
    };
    let path_max = 107;
    let resolved = reader.resolve(path);
    if path.is_empty() || resolved.as_os_str().len() > path_max {
        let why =
            format!("expected unix: and a path of 1 to {path_max} bytes, found `{}`", resolved.display());
        reader.faults.add(node.span, why);
        return None;
    }
    Some(Listen::Unix(resolved))
}

fn tcp(node: &Node, text: &str, or: &str, faults: &Faults) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let port = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
    match port {
        Some(("localhost", Ok(port))) => return Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        Some(("" | "*", Ok(port))) => {
            let every =
                format!("`{text}`: every interface is written 0.0.0.0:{port}, or [::]:{port} with IPv6");
            faults.add(node.span, every);
        }
        _ => {
            let example = "an IP address and port such as 127.0.0.1:4306 or [::1]:4306";
            faults.add(node.span, format!("expected {example}, {or}, found {}", node.describe()));
        }
    }
    None
}

/// `Some(None)` is `disabled`, `None` a fault.
pub(super) fn http(node: &Node, faults: &Faults) -> Option<Option<SocketAddr>> {
    let text = node.text("an address, or `disabled`", faults)?;
    if text == "disabled" {
        return Some(None);
    }
    tcp(node, text, "or `disabled`", faults).map(Some)
}

/// `auto` is `None`, and so is a fault.
pub(super) fn server_version(node: &Node, faults: &Faults) -> Option<String> {
    let text = node.text("`auto` or a version", faults)?;
    if text == "auto" {
        return None;
    }
    // Clients read the leading numbers; the greeting ends the text with a NUL.
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let numbered = text.starts_with(|first: char| first.is_ascii_digit()) && text.contains('.');
    if !printable || !numbered || text.len() > 60 {
        let example = "expected `auto` or a version such as 10.11.6-MariaDB, at most 60 characters";
        faults.add(node.span, format!("{example}, found {}", node.describe()));
        return None;
    }
    Some(text.to_owned())
}
