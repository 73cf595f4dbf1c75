//! Seeds at rest: XChaCha20-Poly1305 under a key that is not in the database.
//!
//! The associated data is the hand's context and the commitment, so that a sealed seed opens for
//! its own hand only. The id of the key is stored with it: the first 8 bytes of SHA-256 over
//! "sabacc/seed-key/v1" and the key, which reveal nothing of the key. Seeds without a key id are
//! tried under each key.
//!
//! New seeds are sealed under the current key alone. Previous keys only open, until no seed is left
//! under them.
//!
//! Specification: fairness/SPEC.md §3.2.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use fairness::{Commitment, Context, Seed};
use zeroize::Zeroizing;

mod key;

pub use key::{KeyId, SeedKey, parse_key, parse_keys};

/// Seals and opens seeds. Holds the keys.
#[derive(Clone)]
pub struct Vault {
    current: NamedCipher,
    previous: Vec<NamedCipher>,
}

/// A cipher with the id of its key.
#[derive(Clone)]
struct NamedCipher {
    id: KeyId,
    cipher: XChaCha20Poly1305,
}

/// A sealed seed, which only the vault can open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSeed {
    /// Id of the key that it is sealed under; none in older rows.
    pub key: Option<KeyId>,
    pub nonce: [u8; 24],
    /// 64 bytes and the tag of 16.
    pub sealed: Vec<u8>,
}

/// Reason why a sealed seed does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error(
        "a kept seed is sealed under key {0}, which is not here: put that key back, as a line of the file that seed_key_previous names"
    )]
    UnknownKey(KeyId),
    #[error("a kept seed does not open under its key {0}: it is another hand's, or damaged")]
    Corrupt(KeyId),
    #[error(
        "a kept seed does not open: is the key it was kept under among seed_key and seed_key_previous?"
    )]
    NoKeyOpens,
}

impl NamedCipher {
    fn new(key: &[u8; 32]) -> NamedCipher {
        NamedCipher { id: KeyId::of(key), cipher: XChaCha20Poly1305::new(&Key::from(*key)) }
    }

    fn open(&self, kept: &SealedSeed, aad: &[u8]) -> Option<Seed> {
        let payload = Payload { msg: &kept.sealed, aad };
        let opened = self.cipher.decrypt(&XNonce::from(kept.nonce), payload).ok()?;
        let opened = Zeroizing::new(opened);
        let mut bytes = Zeroizing::new([0; 64]);
        if opened.len() != bytes.len() {
            return None;
        }
        bytes.copy_from_slice(&opened);
        Some(Seed::new(bytes))
    }
}

impl Vault {
    /// Makes a vault. `previous` keys only open; the current one among them counts once.
    #[must_use]
    pub fn new(current: &SeedKey, previous: &[SeedKey]) -> Vault {
        let current = NamedCipher::new(current);
        let mut vault = Vault { current, previous: Vec::new() };
        for key in previous {
            let lock = NamedCipher::new(key);
            if vault.ciphers().all(|other| other.id != lock.id) {
                vault.previous.push(lock);
            }
        }
        vault
    }

    /// Id of the key that new seeds are sealed under.
    #[must_use]
    pub fn current(&self) -> KeyId {
        self.current.id
    }

    /// Whether there are keys that only open.
    #[must_use]
    pub(crate) fn has_previous(&self) -> bool {
        !self.previous.is_empty()
    }

    /// Seals a seed. `nonce` is 24 fresh random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes 256 GiB.
    #[must_use]
    pub fn seal(&self, seed: &Seed, of: (&Context, &Commitment), nonce: [u8; 24]) -> SealedSeed {
        let (context, commitment) = of;
        let aad = aad(context, commitment);
        let payload = Payload { msg: seed.expose(), aad: &aad };
        let sealed = self.current.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("64 bytes are within the cipher's limits");
        SealedSeed { key: Some(self.current.id), nonce, sealed }
    }

    /// Opens a sealed seed.
    pub fn open(&self, kept: &SealedSeed, of: (&Context, &Commitment)) -> Result<Seed, VaultError> {
        let (context, commitment) = of;
        let aad = aad(context, commitment);
        let Some(id) = kept.key else {
            let opened = self.ciphers().find_map(|lock| lock.open(kept, &aad));
            return opened.ok_or(VaultError::NoKeyOpens);
        };
        let lock = self.ciphers().find(|lock| lock.id == id).ok_or(VaultError::UnknownKey(id))?;
        lock.open(kept, &aad).ok_or(VaultError::Corrupt(id))
    }

    fn ciphers(&self) -> impl Iterator<Item = &NamedCipher> {
        std::iter::once(&self.current).chain(&self.previous)
    }
}

fn aad(context: &Context, commitment: &Commitment) -> Vec<u8> {
    [context.0, commitment.0].concat()
}

#[cfg(test)]
mod tests;
