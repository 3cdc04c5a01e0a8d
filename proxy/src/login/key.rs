//! The RSA key that clients encipher their password with when they log in without TLS.

use std::sync::{Arc, OnceLock};

use wire::auth::PrivateKey;

/// A key pair that is made in the background, once, and lives as long as the process.
#[derive(Debug, Clone, Default)]
pub(crate) struct RsaKey(Arc<OnceLock<Arc<PrivateKey>>>);

impl RsaKey {
    /// Begins to make the key pair on a thread of its own: it takes a noticeable part of a second.
    pub(crate) fn make(&self) {
        let slot = self.0.clone();
        let started =
            std::thread::Builder::new().name("rsa-key".to_owned()).spawn(
                move || match PrivateKey::generate() {
                    Ok(key) => drop(slot.set(Arc::new(key))),
                    Err(error) => tracing::error!(%error, "no RSA key pair: full logins need TLS"),
                },
            );
        if let Err(error) = started {
            tracing::error!(%error, "no RSA key pair: full logins need TLS");
        }
    }

    /// The key pair, once it is made.
    pub(crate) fn get(&self) -> Option<Arc<PrivateKey>> {
        self.0.get().cloned()
    }
}
