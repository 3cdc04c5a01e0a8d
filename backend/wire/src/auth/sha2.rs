//! `caching_sha2_password`, fast: `SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)`.
//!
//! The server keeps `SHA256(SHA256(password))` in memory once a full exchange gave it the password; without it, it asks for
//! the password itself. The stored hash is salted and of no use for a fast exchange.

use super::{Nonce, xor};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Server to client, as additional data: the response is right, OK follows.
pub const FAST_OK: u8 = 3;
/// Server to client, as additional data: the password itself is wanted.
pub const FULL: u8 = 4;
/// Client to server: the public key is wanted.
pub const KEY_REQUEST: u8 = 2;

/// `SHA256(SHA256(password))`, what a fast exchange is checked against. Wiped when dropped and never printed.
#[derive(Clone)]
pub struct Sha2Digest(Zeroizing<[u8; 32]>);

impl Sha2Digest {
    /// The digest of a password.
    #[must_use]
    pub fn new(password: &[u8]) -> Self {
        let once = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(password)));
        Self(Zeroizing::new(Sha256::digest(once.as_slice()).into()))
    }

    /// Whether a response is right.
    #[must_use]
    pub fn verify(&self, nonce: &Nonce, response: &[u8]) -> bool {
        let Ok(candidate) = <[u8; 32]>::try_from(response) else { return false };
        let mut candidate = Zeroizing::new(candidate);
        xor(candidate.as_mut_slice(), &self.mask(nonce));
        let digest = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(candidate.as_slice())));
        digest.ct_eq(self.0.as_slice()).into()
    }

    fn mask(&self, nonce: &Nonce) -> [u8; 32] {
        Sha256::new().chain_update(self.0.as_slice()).chain_update(nonce).finalize().into()
    }
}

impl core::fmt::Debug for Sha2Digest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sha2Digest(..)")
    }
}

/// The response for a password. (Without a password the response is empty or one NUL.)
#[must_use]
pub fn scramble_response(password: &[u8], nonce: &Nonce) -> [u8; 32] {
    let mut response = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(password)));
    xor(response.as_mut_slice(), &Sha2Digest::new(password).mask(nonce));
    *response
}
