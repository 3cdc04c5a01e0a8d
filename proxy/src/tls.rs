//! TLS towards clients: the certificate, given or made, and the settings for rustls.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;

/// Where the certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// Files in PEM form, by the administrator.
    Files {
        /// The chain, the server's own certificate first.
        cert: PathBuf,
        /// Its private key.
        key: PathBuf,
        /// Authorities that a client's certificate must be signed by, if clients must show one.
        client_ca: Option<PathBuf>,
    },
    /// A self-signed one, made at the first start and kept in this folder.
    SelfSigned(PathBuf),
}

/// Why TLS towards clients cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerTlsError {
    /// A file cannot be read, written or understood.
    #[error("tls: {path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A certificate could not be made.
    #[error("tls: no certificate could be made: {0}")]
    Generate(#[from] rcgen::Error),
    /// rustls refused certificate, key or settings.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
    /// The authorities for clients' certificates cannot be used.
    #[error("tls.client_ca: {0}")]
    Clients(#[from] rustls::server::VerifierBuilderError),
}

fn file_fault(path: &Path, reason: impl ToString) -> ServerTlsError {
    ServerTlsError::File { path: path.to_owned(), reason: reason.to_string() }
}

/// Prepares TLS towards clients.
///
/// # Errors
/// Whatever keeps the certificate from being used, with the file's name.
pub(crate) fn server_config(certificate: &Certificate) -> Result<Arc<ServerConfig>, ServerTlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let (cert, key, client_ca) = match certificate {
        Certificate::Files { cert, key, client_ca } => (cert.clone(), key.clone(), client_ca.as_ref()),
        Certificate::SelfSigned(folder) => {
            let (cert, key) = self_signed(folder)?;
            (cert, key, None)
        }
    };
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = rustls::RootCertStore::empty();
            for authority in certificates(path)? {
                roots.add(authority)?;
            }
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?,
            )
        }
    };
    let secret = PrivateKeyDer::from_pem_file(&key).map_err(|error| file_fault(&key, error))?;
    Ok(Arc::new(builder.with_single_cert(certificates(&cert)?, secret)?))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServerTlsError> {
    CertificateDer::pem_file_iter(path)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| file_fault(path, error))
        .and_then(
            |found| if found.is_empty() { Err(file_fault(path, "no certificate in it")) } else { Ok(found) },
        )
}

/// Makes certificate and key where they are missing. Both are written anew if either is, so they always match.
fn self_signed(folder: &Path) -> Result<(PathBuf, PathBuf), ServerTlsError> {
    let (cert, key) = (folder.join("server-cert.pem"), folder.join("server-key.pem"));
    if !(cert.is_file() && key.is_file()) {
        fs::create_dir_all(folder).map_err(|error| file_fault(folder, error))?;
        let made = rcgen::generate_simple_self_signed(vec!["shuntyard".into(), "localhost".into()])?;
        write_new(&key, made.signing_key.serialize_pem().as_bytes(), 0o600)?;
        write_new(&cert, made.cert.pem().as_bytes(), 0o644)?;
    }
    Ok((cert, key))
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ServerTlsError> {
    let _ = fs::remove_file(path);
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| file_fault(path, error))
}
