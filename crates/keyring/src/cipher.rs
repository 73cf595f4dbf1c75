//! XChaCha20-Poly1305 under one key.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use zeroize::Zeroizing;

use crate::Key;

/// Bytes that must be fresh and random each time something is sealed.
pub type Nonce = [u8; 24];

/// Cipher with its key.
#[derive(Clone)]
pub struct Cipher(XChaCha20Poly1305);

impl Cipher {
    #[must_use]
    pub fn new(key: &Key) -> Cipher {
        Cipher(XChaCha20Poly1305::new(&chacha20poly1305::Key::from(**key)))
    }

    /// Encrypts a message and adds a tag of 16 bytes. It opens with `associated` only.
    ///
    /// # Panics
    /// Never: the cipher takes 256 GiB.
    #[must_use]
    pub fn seal(&self, message: &[u8], associated: &[u8], nonce: Nonce) -> Vec<u8> {
        let payload = Payload { msg: message, aad: associated };
        self.0.encrypt(&nonce.into(), payload).expect("a message is within the cipher's limits")
    }

    /// Decrypts a message; none if it was sealed otherwise or is damaged.
    #[must_use]
    pub fn open(
        &self,
        sealed: &[u8],
        associated: &[u8],
        nonce: Nonce,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let payload = Payload { msg: sealed, aad: associated };
        self.0.decrypt(&nonce.into(), payload).ok().map(Zeroizing::new)
    }
}
