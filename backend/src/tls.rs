//! TLS towards servers: how much of the server's certificate is checked.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// How TLS is used towards a server; the names are those of MySQL's `--ssl-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// Where the server offers it; its certificate is not checked.
    #[default]
    Preferred,
    /// Always; its certificate is not checked.
    Required,
    /// Always; the certificate is signed by the given authority.
    VerifyCa,
    /// Always; signed by the given authority, and made out to the server's name.
    VerifyIdentity,
}

/// TLS towards one server, ready to use.
#[derive(Debug, Clone)]
pub struct ClientTls {
    /// When TLS is used.
    pub mode: TlsMode,
    config: Option<Arc<ClientConfig>>,
}

/// Why TLS towards a server cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// The file of authorities cannot be used.
    #[error("tls.ca {path}: {reason}")]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A mode that checks certificates needs to be told whom to trust.
    #[error("tls mode verify_ca and verify_identity need `ca:`, a PEM file of the authorities to trust")]
    NoAuthorities,
    /// rustls refused the settings.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

impl ClientTls {
    /// Never TLS.
    #[must_use]
    pub const fn disabled() -> Self {
        Self { mode: TlsMode::Disabled, config: None }
    }

    /// Reads the authorities and prepares the settings.
    ///
    /// # Errors
    /// A file that cannot be read or holds no certificate, or a checking mode without one.
    pub fn new(mode: TlsMode, ca: Option<&PathBuf>) -> Result<Self, TlsSetupError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let verifier: Arc<dyn ServerCertVerifier> = match mode {
            TlsMode::Disabled => return Ok(Self::disabled()),
            TlsMode::Preferred | TlsMode::Required => Arc::new(Lenient { provider, chain: None }),
            TlsMode::VerifyCa | TlsMode::VerifyIdentity => {
                let roots = authorities(ca.ok_or(TlsSetupError::NoAuthorities)?)?;
                let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|error| TlsSetupError::Rustls(rustls::Error::General(error.to_string())))?;
                match mode {
                    TlsMode::VerifyIdentity => chain,
                    _ => Arc::new(Lenient { provider, chain: Some(chain) }),
                }
            }
        };
        let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(Self { mode, config: Some(Arc::new(config)) })
    }

    /// The rustls settings; `None` when TLS is disabled.
    #[must_use]
    pub fn config(&self) -> Option<Arc<ClientConfig>> {
        self.config.clone()
    }
}

fn authorities(path: &PathBuf) -> Result<RootCertStore, TlsSetupError> {
    let fault = |reason: String| TlsSetupError::Authorities { path: path.clone(), reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| fault(error.to_string()))? {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        roots.add(certificate).map_err(|error| fault(error.to_string()))?;
    }
    if roots.is_empty() { Err(fault("no certificate in it".into())) } else { Ok(roots) }
}

/// Checks less than rustls would: with `chain` the authority but not the name (verify_ca), without it neither.
/// The handshake's signatures are always checked, so the peer owns the key of the certificate that it shows.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // The name is the last thing that webpki checks: a fault of the name means that the chain was right.
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
