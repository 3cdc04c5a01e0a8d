//! What full logins with `caching_sha2_password` leave behind, so that the next one of the same account is fast.

use std::sync::Arc;

use moka::sync::Cache;
use wire::auth::{Password, Sha2Digest, WeakPassword};

/// Accounts at most. What falls out costs its account one more full login.
const MOST: u64 = 10_000;

/// The accounts whose password the backend has accepted. Of a password only a digest stays; the password itself is found
/// as long as a session keeps it.
#[derive(Debug)]
pub(crate) struct Known(Cache<String, Arc<Entry>>);

#[derive(Debug)]
struct Entry {
    /// What the server stored about the password: another text is another password.
    stored: Vec<u8>,
    digest: Sha2Digest,
    password: WeakPassword,
}

impl Default for Known {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Known {
    /// The digest of an account's password, and the password itself where a session keeps it.
    pub(super) fn recall(&self, account: &str, stored: &[u8]) -> Option<(Sha2Digest, Option<Password>)> {
        let entry = self.0.get(account).filter(|entry| entry.stored == stored)?;
        Some((entry.digest.clone(), entry.password.upgrade()))
    }

    /// The backend took this password. Returns the copy that the account's sessions share.
    pub(super) fn remember(&self, account: &str, stored: &[u8], password: Password) -> Password {
        if password.is_empty() {
            return password;
        }
        let kept = self.recall(account, stored).and_then(|(_, kept)| kept).filter(|kept| *kept == password);
        if let Some(kept) = kept {
            return kept;
        }
        let digest = Sha2Digest::new(password.as_bytes());
        let entry = Entry { stored: stored.to_vec(), digest, password: password.downgrade() };
        self.0.insert(account.to_owned(), Arc::new(entry));
        password
    }
}

#[cfg(test)]
mod tests;
