//! Public keys that a client trusts, and the secret that its entropy is derived from.

use std::fmt;

use merkle::note::VerifierKey;
use sha2::{Digest as _, Sha256};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

/// Public keys of a room's logs. Without keys a client checks everything except signatures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys {
    /// Origin of each log, and its key.
    keys: Vec<(String, [u8; 32])>,
}

/// Line that is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no verifier key: <origin>+<8 hexadecimal digits>+<base64> is expected")]
pub struct BadKey {
    pub line: usize,
}

impl TrustedKeys {
    /// Reads C2SP verifier keys, one per line, as in a room's `keys.txt`; `#` begins a comment.
    /// Keys of witnesses are skipped.
    ///
    /// # Errors
    /// Returns the first line that is not a key.
    pub fn parse(text: &str) -> Result<TrustedKeys, BadKey> {
        let mut trust = TrustedKeys::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = VerifierKey::parse(line).map_err(|_| BadKey { line: at + 1 })?;
            if key.is_log() {
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
        Secret::from_bytes(entropy::bytes(&SystemEntropy))
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
    use merkle::note::KeyName;

    use super::*;

    #[test]
    fn keys_are_read_as_a_room_gives_them_out() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]).verifying_key();
        let name = || KeyName::try_new("room/dealer").unwrap();
        let log = VerifierKey::log(name(), key.as_bytes()).unwrap();
        let witness = VerifierKey::witness(name(), key.as_bytes()).unwrap();
        let trust = TrustedKeys::parse(&format!("# the dealer\n\n{log}\n{witness}\n")).unwrap();
        assert_eq!(trust.keys, [("room/dealer".to_owned(), *key.as_bytes())]);
        let id = Sha256::digest(key.as_bytes());
        assert_eq!(trust.by_id(&id[..8]).count(), 1);
        assert_eq!(trust.by_id(&[0; 8]).count(), 0);
        assert_eq!(TrustedKeys::parse(&format!("{log}\nnonsense")), Err(BadKey { line: 2 }));
    }

    #[test]
    fn a_secret_does_not_print() {
        assert_eq!(format!("{:?}", Secret::from_bytes([0x41; 32])), "Secret(..)");
    }
}
