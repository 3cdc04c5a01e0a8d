//! The RSA key that clients encipher their password with when they log in without TLS.

use std::sync::Arc;

use tokio::sync::watch;
use wire::auth::PrivateKey;

/// A key pair that is made in the background, once, and lives as long as the process.
#[derive(Debug, Clone)]
pub(crate) struct RsaKey(watch::Sender<State>);

#[derive(Debug)]
enum State {
    Making,
    Made(Arc<PrivateKey>),
    Failed,
}

impl Default for RsaKey {
    fn default() -> Self {
        Self(watch::Sender::new(State::Making))
    }
}

impl RsaKey {
    /// Begins to make the key pair on a thread of its own: it takes a noticeable part of a second.
    pub(crate) fn make(&self) {
        let state = self.0.clone();
        let started = std::thread::Builder::new().name("rsa-key".to_owned()).spawn(move || {
            state.send_replace(match PrivateKey::generate() {
                Ok(key) => State::Made(Arc::new(key)),
                Err(error) => {
                    tracing::error!(%error, "no RSA key pair: full logins need TLS");
                    State::Failed
                }
            })
        });
        if let Err(error) = started {
            tracing::error!(%error, "no RSA key pair: full logins need TLS");
            self.0.send_replace(State::Failed);
        }
    }

    /// The key pair, once it is made; `None` where that failed.
    pub(crate) async fn get(&self) -> Option<Arc<PrivateKey>> {
        let mut state = self.0.subscribe();
        match &*state.wait_for(|state| !matches!(state, State::Making)).await.ok()? {
            State::Made(key) => Some(key.clone()),
            State::Making | State::Failed => None,
        }
    }
}
