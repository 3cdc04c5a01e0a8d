//! Authentication: `mysql_native_password`, `caching_sha2_password`, `mysql_clear_password` and `client_ed25519`, both sides
//! of each.
//!
//! [`Server`] and [`Client`] are states: each is consumed by the packet that comes next and gives out what to send and the
//! state after it. Hashes and responses are compared in constant time, secrets are wiped when they are dropped.

use crate::{ProtocolError, SCRAMBLE};
use std::sync::{Arc, Weak};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

mod client;
pub mod ed25519;
pub mod native;
mod packets;
mod public_key;
mod server;
pub mod sha2;

pub use client::{Client, ClientChannel, ClientStart, ClientStep, Secret, ServerKey};
pub use native::Sha1Password;
pub use packets::{AuthMoreData, AuthSwitchRequest};
pub use public_key::{PrivateKey, PublicKey};
pub use server::{Check, Plugin, Proof, Server, ServerChannel, ServerStep};
pub use sha2::{Sha2Digest, Sha256Password};

/// Plugin name.
pub const NATIVE: &str = "mysql_native_password";
/// Plugin name.
pub const SHA2: &str = "caching_sha2_password";
/// Plugin name; the client's side only. Servers ask strangers for it, as a pretence.
pub const SHA256: &str = "sha256_password";
/// Plugin name.
pub const CLEAR: &str = "mysql_clear_password";
/// Plugin name.
pub const ED25519: &str = "client_ed25519";

/// What a server challenges its client with.
pub type Nonce = [u8; SCRAMBLE];

/// A fresh challenge from the system's random source: 20 printable bytes without NUL and `$`, as the servers make them.
///
/// # Errors
/// `Random`.
pub fn nonce() -> Result<Nonce, AuthError> {
    let mut nonce = [0; SCRAMBLE];
    getrandom::fill(&mut nonce).map_err(|_| AuthError::Random)?;
    for byte in &mut nonce {
        // 0x25 to 0x7E. Three of 256 bytes at most become the same one, so 20 of them hold 128 bits.
        *byte = 0x25 + *byte % 90;
    }
    Ok(nonce)
}

/// A password in the clear, wiped when the last of its clones is dropped, and never printed.
#[derive(Clone)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

/// A password for as long as somebody else keeps it.
#[derive(Clone)]
pub struct WeakPassword(Weak<Zeroizing<Vec<u8>>>);

impl WeakPassword {
    /// The password, if it is still kept.
    #[must_use]
    pub fn upgrade(&self) -> Option<Password> {
        self.0.upgrade().map(Password)
    }
}

impl core::fmt::Debug for WeakPassword {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("WeakPassword(..)")
    }
}

impl Password {
    /// A copy of `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(Arc::new(Zeroizing::new(bytes.to_vec())))
    }

    /// The same password, without keeping it.
    #[must_use]
    pub fn downgrade(&self) -> WeakPassword {
        WeakPassword(Arc::downgrade(&self.0))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is no password.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Password {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_slice().ct_eq(other.0.as_slice()).into()
    }
}

impl Eq for Password {}

impl core::fmt::Debug for Password {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Password(..)")
    }
}

/// Why an exchange cannot go on. That a password is wrong is no error but a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The peer broke the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The peer wants a plugin that is not supported.
    #[error("authentication plugin '{0}' is not supported")]
    Plugin(String),
    /// The password would have to be sent over a connection that others can read.
    #[error("authentication plugin '{0}' requires a secure connection")]
    Insecure(&'static str),
    /// The peer wants the password in the clear, and only a hash of it is known.
    #[error("authentication plugin '{0}' requires the password, of which only a hash is known")]
    HashOnly(&'static str),
    /// The server's public key is malformed, or too short for this password.
    #[error("the server's public key cannot be used")]
    PublicKey,
    /// The client asks for a public key, and there is none.
    #[error("there is no key pair for password exchange")]
    NoKey,
    /// The system's random source fails.
    #[error("no random numbers")]
    Random,
}

/// `a` with the bytes of `mask` over it, repeated as often as need be.
fn xor(a: &mut [u8], mask: &[u8]) {
    for (a, m) in a.iter_mut().zip(mask.iter().cycle()) {
        *a ^= m;
    }
}

#[cfg(test)]
mod tests;
