//! `mysql_native_password`: the response is `SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))`.
//!
//! Who knows the stored `SHA1(SHA1(password))` and sees a valid response, learns `SHA1(password)`, and that is all it takes
//! to log in elsewhere as the same user.

use super::{Nonce, xor};
use sha1::{Digest, Sha1};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// `SHA1(password)`: as good as the password for this plugin. Wiped when dropped and never printed.
#[derive(Clone)]
pub struct Sha1Password(Zeroizing<[u8; 20]>);

impl Sha1Password {
    /// The hash of a password.
    #[must_use]
    pub fn new(password: &[u8]) -> Self {
        Self(Zeroizing::new(Sha1::digest(password).into()))
    }

    /// `SHA1(SHA1(password))`, which servers store.
    #[must_use]
    pub fn stored(&self) -> Stored {
        Stored(Sha1::digest(self.0.as_slice()).into())
    }
}

impl core::fmt::Debug for Sha1Password {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sha1Password(..)")
    }
}

/// `SHA1(SHA1(password))`, the stored form of a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stored(pub [u8; 20]);

impl Stored {
    /// Reads `*` and 40 hexadecimal digits, the form of `mysql.user` and `PASSWORD()`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('*')?.as_bytes();
        let mut stored = [0; 20];
        if digits.len() != 2 * stored.len() {
            return None;
        }
        for (byte, pair) in stored.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                *byte = *byte << 4 | char::from(*digit).to_digit(16)? as u8;
            }
        }
        Some(Self(stored))
    }
}

impl core::fmt::Debug for Stored {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Stored(..)")
    }
}

/// The response for a password. (Without a password the response is empty.)
#[must_use]
pub fn scramble_response(password: &[u8], nonce: &Nonce) -> [u8; 20] {
    response_from_sha1(&Sha1Password::new(password), nonce)
}

/// The response for the hash of a password.
#[must_use]
pub fn response_from_sha1(password: &Sha1Password, nonce: &Nonce) -> [u8; 20] {
    let mut response = *password.0;
    xor(&mut response, &mask(&password.stored(), nonce));
    response
}

/// Checks a response against the stored form; gives out `SHA1(password)` where it is right.
#[must_use]
pub fn verify(stored: &Stored, nonce: &Nonce, response: &[u8]) -> Option<Sha1Password> {
    let mut candidate = Sha1Password(Zeroizing::new(<[u8; 20]>::try_from(response).ok()?));
    xor(candidate.0.as_mut_slice(), &mask(stored, nonce));
    bool::from(candidate.stored().0.ct_eq(&stored.0)).then_some(candidate)
}

fn mask(stored: &Stored, nonce: &Nonce) -> [u8; 20] {
    Sha1::new().chain_update(nonce).chain_update(stored.0).finalize().into()
}
