//! Public keys that a client trusts, and the secret that its entropy is derived from.

use std::fmt;

use merkle::{KeysFileError, ListedKey, parse_keys_file};
use sha2::{Digest as _, Sha256};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

/// Public keys of a room's logs. Without keys a client checks everything except signatures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys {
    /// Origin of each log, and its key.
    keys: Vec<(String, [u8; 32])>,
}

impl TrustedKeys {
    /// Parses a room's keys file. Keys of witnesses are skipped, and so are keys that have an end:
    /// at play nothing is signed with them any more.
    ///
    /// # Errors
    /// The first line that makes the text no keys file.
    pub fn parse(text: &str) -> Result<TrustedKeys, KeysFileError> {
        let mut trust = TrustedKeys::default();
        for ListedKey { key, until } in parse_keys_file(text)? {
            if key.is_log() && until.is_none() {
                trust.add(key.name().as_str(), *key.bytes());
            }
        }
        Ok(trust)
    }

    /// Adds a log's key.
    pub fn add(&mut self, origin: &str, key: [u8; 32]) {
        self.keys.push((origin.to_owned(), key));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys with this id: the first 8 bytes of the SHA-256 of the key.
    pub(super) fn by_id<'a>(
        &'a self,
        id: &'a [u8],
    ) -> impl Iterator<Item = (&'a str, &'a [u8; 32])> {
        let named = move |key: &[u8; 32]| Sha256::digest(key)[..8] == *id;
        let keys = self.keys.iter().filter(move |(_, key)| named(key));
        keys.map(|(origin, key)| (&**origin, key))
    }
}

/// Secret that a client's entropy is derived from: 32 unpredictable bytes. Anybody who knows it
/// knows what the client will reveal.
#[derive(Clone)]
pub struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    /// Secret from stored bytes. With it a restarted client reveals what it had committed to
    /// before.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Secret {
        Secret(Zeroizing::new(bytes))
    }

    /// Random secret that lasts as long as the process.
    #[must_use]
    pub fn random() -> Secret {
        Secret::from_bytes(entropy::secret(&SystemEntropy))
    }

    pub(super) fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use merkle::note::{KeyName, VerifierKey};

    use super::*;

    #[test]
    fn keys_are_read_as_a_room_gives_them_out() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]).verifying_key();
        let name = || KeyName::try_new("room/dealer").unwrap();
        let log = VerifierKey::log(name(), key.as_bytes()).unwrap();
        let witness = VerifierKey::witness(name(), key.as_bytes()).unwrap();
        let text = format!("# the dealer\n\n{log}\n{witness}\n");
        let trust = TrustedKeys::parse(&text).unwrap();
        assert_eq!(trust.keys, [("room/dealer".to_owned(), *key.as_bytes())]);
        let id = Sha256::digest(key.as_bytes());
        assert_eq!(trust.by_id(&id[..8]).count(), 1);
        assert_eq!(trust.by_id(&[0; 8]).count(), 0);
        let ended = TrustedKeys::parse(&format!("{log} until 7\n")).unwrap();
        assert!(ended.is_empty());
        assert!(TrustedKeys::parse(&format!("{log}\nnonsense")).is_err());
    }

    #[test]
    fn a_secret_does_not_print() {
        assert_eq!(format!("{:?}", Secret::from_bytes([0x41; 32])), "Secret(..)");
    }
}
