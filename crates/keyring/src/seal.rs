//! Secrets sealed for their place under one of several keys.
//!
//! The associated data is the id and the label, so that a sealed secret opens in its own place
//! only. New secrets are sealed under the current key alone. Previous keys only open, until no
//! secret is left under them.

use zeroize::Zeroizing;

use crate::{Cipher, Key, KeyId, Nonce};

/// Id of a secret: of the hand or the player that it belongs to.
pub type SecretId = [u8; 16];

/// A secret that only a keyring opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    pub id: SecretId,
    /// Public bytes that the secret is bound to.
    pub label: Vec<u8>,
    /// Id of the key that it is sealed under.
    pub key: KeyId,
    pub nonce: Nonce,
    /// Ciphertext and the tag of 16 bytes.
    pub sealed: Vec<u8>,
}

/// Reason why a sealed secret does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error(
        "a kept secret is sealed under key {0}, which is not here: put that key back, as a line of the file of previous keys"
    )]
    UnknownKey(KeyId),
    #[error("a kept secret does not open under its key {0}: it is another's, or damaged")]
    Corrupt(KeyId),
}

/// Keys that seal and open secrets.
#[derive(Clone)]
pub struct Keyring {
    current: NamedCipher,
    previous: Vec<NamedCipher>,
}

/// A cipher with the id of its key.
#[derive(Clone)]
struct NamedCipher {
    id: KeyId,
    cipher: Cipher,
}

impl NamedCipher {
    fn new(key: &Key) -> NamedCipher {
        NamedCipher { id: KeyId::of(key), cipher: Cipher::new(key) }
    }
}

impl Keyring {
    /// Makes a keyring. `previous` keys only open; the current one among them counts once.
    #[must_use]
    pub fn new(current: &Key, previous: &[Key]) -> Keyring {
        let current = NamedCipher::new(current);
        let mut previous: Vec<_> = previous.iter().map(NamedCipher::new).collect();
        previous.retain(|key| key.id != current.id);
        Keyring { current, previous }
    }

    /// Id of the key that new secrets are sealed under.
    #[must_use]
    pub const fn current(&self) -> KeyId {
        self.current.id
    }

    /// Ids of the keys that only open.
    pub fn previous(&self) -> impl Iterator<Item = KeyId> {
        self.previous.iter().map(|key| key.id)
    }

    /// Seals a secret for its place.
    #[must_use]
    pub fn seal(&self, id: SecretId, label: &[u8], secret: &[u8], nonce: Nonce) -> SealedSecret {
        let sealed = self.current.cipher.seal(secret, &associated(id, label), nonce);
        SealedSecret { id, label: label.to_vec(), key: self.current.id, nonce, sealed }
    }

    /// Opens a secret of `N` bytes.
    ///
    /// # Errors
    /// Its key is missing, or the secret is damaged, another's, or of another length.
    pub fn open<const N: usize>(
        &self,
        kept: &SealedSecret,
    ) -> Result<Zeroizing<[u8; N]>, OpenError> {
        let opened = self.open_bytes(kept)?;
        let mut bytes = Zeroizing::new([0; N]);
        if opened.len() != N {
            return Err(OpenError::Corrupt(kept.key));
        }
        bytes.copy_from_slice(&opened);
        Ok(bytes)
    }

    /// Seals a secret again under the current key.
    ///
    /// # Errors
    /// The secret does not open.
    pub(crate) fn reseal(
        &self,
        kept: &SealedSecret,
        nonce: Nonce,
    ) -> Result<SealedSecret, OpenError> {
        Ok(self.seal(kept.id, &kept.label, &self.open_bytes(kept)?, nonce))
    }

    fn open_bytes(&self, kept: &SealedSecret) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let SealedSecret { id, label, key, nonce, sealed } = kept;
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let named = keys.find(|named| named.id == *key).ok_or(OpenError::UnknownKey(*key))?;
        let opened = named.cipher.open(sealed, &associated(*id, label), *nonce);
        opened.ok_or(OpenError::Corrupt(*key))
    }
}

fn associated(id: SecretId, label: &[u8]) -> Vec<u8> {
    [&id[..], label].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: SecretId = [3; 16];
    const SECRET: [u8; 32] = [2; 32];

    fn key(byte: u8) -> Key {
        Zeroizing::new([byte; 32])
    }

    fn id(byte: u8) -> KeyId {
        KeyId::of(&key(byte))
    }

    fn open(keyring: &Keyring, kept: &SealedSecret) -> Result<[u8; 32], OpenError> {
        keyring.open(kept).map(|secret| *secret)
    }

    #[test]
    fn a_secret_opens_under_its_key_and_in_its_place_only() {
        let keyring = Keyring::new(&key(1), &[]);
        let kept = keyring.seal(ID, b"label", &SECRET, [5; 24]);
        assert_eq!(open(&keyring, &kept), Ok(SECRET));
        assert!(!kept.sealed.windows(4).any(|four| four == [2; 4]), "it is not in the clear");
        let damaged = Err(OpenError::Corrupt(id(1)));
        let with_id = SealedSecret { id: [9; 16], ..kept.clone() };
        let with_label = SealedSecret { label: b"other".to_vec(), ..kept.clone() };
        assert_eq!(open(&keyring, &with_id), damaged);
        assert_eq!(open(&keyring, &with_label), damaged);
        assert_eq!(keyring.open::<31>(&kept), Err(OpenError::Corrupt(id(1))));
        let stranger = Keyring::new(&key(9), &[key(8)]);
        assert_eq!(open(&stranger, &kept), Err(OpenError::UnknownKey(id(1))));
        let mut broken = kept;
        broken.sealed[10] ^= 1;
        assert_eq!(open(&keyring, &broken), damaged);
    }

    #[test]
    fn previous_keys_open_and_never_seal() {
        let old = Keyring::new(&key(1), &[]).seal(ID, b"", &SECRET, [5; 24]);
        let keyring = Keyring::new(&key(2), &[key(3), key(1), key(2)]);
        assert_eq!(open(&keyring, &old), Ok(SECRET));
        let new = keyring.seal(ID, b"", &SECRET, [6; 24]);
        assert_eq!((old.key, new.key, keyring.current()), (id(1), id(2), id(2)));
        assert_eq!(keyring.reseal(&old, [6; 24]), Ok(new));
        assert_eq!(keyring.previous().collect::<Vec<_>>(), [id(3), id(1)]);
        let alone = Keyring::new(&key(2), &[key(2)]);
        assert_eq!(alone.previous().count(), 0, "the current is not previous");
    }

    #[test]
    fn an_error_names_the_key_and_does_not_show_it() {
        let error = OpenError::UnknownKey(id(2)).to_string();
        assert!(error.contains(&id(2).to_string()), "{error}");
        assert!(!error.contains("0202"), "{error}");
    }
}
