//! `caching_sha2_password`, fast: `SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)`.
//!
//! The server keeps `SHA256(SHA256(password))` in memory once a full exchange gave it the password; without it, it asks for
//! the password itself. The stored hash is salted and of no use for a fast exchange. Who knows the digest and sees a valid
//! response, learns `SHA256(password)`, which logs in elsewhere as long as the server there does not ask for the password.

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

/// `SHA256(password)`: enough for a fast exchange, and for nothing else. Wiped when dropped and never printed.
#[derive(Clone)]
pub struct Sha256Password(Zeroizing<[u8; 32]>);

impl Sha256Password {
    /// The hash of a password.
    #[must_use]
    pub fn new(password: &[u8]) -> Self {
        Self(Zeroizing::new(Sha256::digest(password).into()))
    }

    /// What a fast exchange with it is checked against.
    #[must_use]
    pub fn digest(&self) -> Sha2Digest {
        Sha2Digest(Zeroizing::new(Sha256::digest(self.0.as_slice()).into()))
    }
}

impl core::fmt::Debug for Sha256Password {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sha256Password(..)")
    }
}

/// `SHA256(SHA256(password))`, what a fast exchange is checked against. Wiped when dropped and never printed.
#[derive(Clone)]
pub struct Sha2Digest(Zeroizing<[u8; 32]>);

impl Sha2Digest {
    /// The digest of a password.
    #[must_use]
    pub fn new(password: &[u8]) -> Self {
        Sha256Password::new(password).digest()
    }

    /// Checks a response; gives out `SHA256(password)` where it is right.
    #[must_use]
    pub fn verify(&self, nonce: &Nonce, response: &[u8]) -> Option<Sha256Password> {
        let mut candidate = Sha256Password(Zeroizing::new(<[u8; 32]>::try_from(response).ok()?));
        xor(candidate.0.as_mut_slice(), &self.mask(nonce));
        bool::from(candidate.digest().0.as_slice().ct_eq(self.0.as_slice())).then_some(candidate)
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
    response_from_sha256(&Sha256Password::new(password), nonce)
}

/// The response for the hash of a password.
#[must_use]
pub fn response_from_sha256(password: &Sha256Password, nonce: &Nonce) -> [u8; 32] {
    let mut response = *password.0;
    xor(&mut response, &password.digest().mask(nonce));
    response
}
