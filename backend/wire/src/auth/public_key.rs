//! The RSA key pair by which `caching_sha2_password` sends a password over a connection without TLS.
//!
//! What is encrypted is the password and a NUL, XORed with the nonce, in RSAES-OAEP with SHA-1 and MGF1 (RFC 8017, section
//! 7.1). It keeps listeners out, but not someone in the middle, who would give out a key of his own.

use super::{AuthError, Nonce, Password, xor};
use rsa::pkcs8::{DecodePublicKey, EncodePublicKey, LineEnding};
use sha1::Sha1;
use zeroize::Zeroizing;

/// Bits of a new key pair, as the servers make them.
const BITS: usize = 2048;

/// The key that a server decrypts passwords with.
pub struct PrivateKey {
    key: rsa::PrivateKey,
    pem: String,
}

impl core::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

impl PrivateKey {
    /// A new key pair. Takes a good part of a second.
    ///
    /// # Errors
    /// `Random`.
    pub fn generate() -> Result<Self, AuthError> {
        let key = rsa::PrivateKey::new(&mut getrandom::SysRng, BITS).map_err(|_| AuthError::Random)?;
        let public = rsa::PublicKey::from(&key);
        let pem = public.to_public_key_pem(LineEnding::LF).map_err(|_| AuthError::PublicKey)?;
        Ok(Self { key, pem })
    }

    /// The public key as it is sent, in PEM.
    #[must_use]
    pub fn public_pem(&self) -> &str {
        &self.pem
    }

    /// The password in a client's answer; `None` for anything that is none.
    pub(super) fn decrypt(&self, nonce: &Nonce, encrypted: &[u8]) -> Option<Password> {
        let mut plain = Zeroizing::new(self.key.oaep_decrypt::<Sha1>(encrypted).ok()?);
        xor(&mut plain, nonce);
        plain.strip_suffix(&[0]).map(Password::new)
    }
}

/// The key that a client encrypts passwords with.
#[derive(Clone, Debug)]
pub struct PublicKey(rsa::PublicKey);

impl PublicKey {
    /// Reads a key in PEM (`BEGIN PUBLIC KEY`).
    ///
    /// # Errors
    /// `PublicKey`.
    pub fn from_pem(pem: &[u8]) -> Result<Self, AuthError> {
        let pem = core::str::from_utf8(pem).map_err(|_| AuthError::PublicKey)?;
        rsa::PublicKey::from_public_key_pem(pem.trim_matches(['\0', '\n', '\r', ' ']))
            .map(Self)
            .map_err(|_| AuthError::PublicKey)
    }

    /// The password, encrypted.
    pub(super) fn encrypt(&self, nonce: &Nonce, password: &Password) -> Result<Vec<u8>, AuthError> {
        let mut plain = Zeroizing::new(Vec::with_capacity(password.as_bytes().len() + 1));
        plain.extend_from_slice(password.as_bytes());
        plain.push(0);
        xor(&mut plain, nonce);
        self.0.oaep_encrypt::<Sha1>(&plain).map_err(|_| AuthError::PublicKey)
    }
}
