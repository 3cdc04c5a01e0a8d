//! MariaDB's `client_ed25519`: the response is a signature of the challenge, by a key that is made from the password.
//!
//! It is Ed25519 (RFC 8032) with `SHA512(password)` in the place of the expanded private key, so the password has any
//! length. Who sees a response, or the public key that servers store, can log in nowhere else with it. Source:
//! <https://mariadb.com/docs/server/reference/plugins/authentication-plugins/authentication-plugin-ed25519>.

use super::AuthError;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign, raw_verify};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

/// What the client signs; longer than the greeting's, so it is always asked for by a switch.
pub type Challenge = [u8; 32];

/// A fresh challenge from the system's random source.
///
/// # Errors
/// `Random`.
pub fn challenge() -> Result<Challenge, AuthError> {
    let mut challenge = Challenge::default();
    getrandom::fill(&mut challenge).map_err(|_| AuthError::Random)?;
    Ok(challenge)
}

/// The response for a password, 64 bytes.
#[must_use]
pub fn sign(password: &[u8], challenge: &Challenge) -> [u8; 64] {
    let key = key(password);
    raw_sign::<Sha512>(&key, challenge, &VerifyingKey::from(&key)).to_bytes()
}

/// Whether a response is right.
#[must_use]
pub fn verify(password: &[u8], challenge: &Challenge, response: &[u8]) -> bool {
    let Ok(signature) = Signature::from_slice(response) else { return false };
    raw_verify::<Sha512>(&VerifyingKey::from(&key(password)), challenge, &signature).is_ok()
}

fn key(password: &[u8]) -> ExpandedSecretKey {
    let expanded = Zeroizing::new(<[u8; 64]>::from(Sha512::digest(password)));
    ExpandedSecretKey::from_bytes(&expanded)
}
