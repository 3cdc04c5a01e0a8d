//! TLS towards clients.

use std::path::PathBuf;

use sql::yaml::Node;

use super::reader::Reader;

/// Whether clients use TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encryption {
    /// Never offered.
    Disabled,
    /// Offered; clients choose.
    #[default]
    Preferred,
    /// Clients without it are refused, except on Unix sockets.
    Required,
}

/// TLS towards clients. The files exist; what is in them was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ClientTls {
    /// Whether clients use it.
    pub(crate) mode: Encryption,
    /// PEM files of the certificate chain and its key; `None` for a certificate that the proxy signs itself.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    /// PEM file of the authorities that client certificates must come from; `None` asks for none.
    pub(crate) client_ca: Option<PathBuf>,
}

pub(super) fn read(node: &Node, reader: &Reader<'_>) -> Option<ClientTls> {
    let faults = reader.faults;
    let fields = node.fields("`tls`", faults)?;
    let modes = [
        ("disabled", Encryption::Disabled),
        ("preferred", Encryption::Preferred),
        ("required", Encryption::Required),
    ];
    let mode = fields.optional("mode").and_then(|node| node.choice(&modes, faults)).unwrap_or_default();
    let file = |key, what| {
        let node = fields.optional(key)?;
        Some((node, reader.file(node, what)))
    };
    let cert = file("cert", "a PEM file of the certificate");
    let key = file("key", "a PEM file of the private key");
    let client_ca = file("client_ca", "a PEM file of authorities").and_then(|(_, path)| path);
    fields.finish();
    let certificate = match (cert, key) {
        (Some((_, cert)), Some((_, key))) => cert.zip(key),
        (Some((node, _)), None) => {
            faults.add(node.span, "`cert` without `key`");
            None
        }
        (None, Some((node, _))) => {
            faults.add(node.span, "`key` without `cert`");
            None
        }
        (None, None) => None,
    };
    Some(ClientTls { mode, certificate, client_ca })
}
