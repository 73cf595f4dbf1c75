//! Whom a client believes: the public keys it was told, and the secret it keeps.

use std::fmt;

use merkle::note::VerifierKey;
use sha2::{Digest as _, Sha256};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

/// The keys of a room's logs. Told none, a client checks everything but who signed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Name of the log, and its key.
    keys: Vec<(String, [u8; 32])>,
}

/// A line that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no verifier key: <origin>+<8 hexadecimal digits>+<base64> is expected")]
pub struct BadKey {
    pub line: usize,
}

impl Trust {
    /// Reads C2SP verifier keys, one a line, as a room gives them out; `#` begins a comment. Keys of
    /// witnesses are left out.
    ///
    /// # Errors
    /// A line is none.
    pub fn parse(text: &str) -> Result<Trust, BadKey> {
        let mut trust = Trust::default();
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

    /// Believes a log's key too.
    pub fn add(&mut self, origin: &str, key: [u8; 32]) {
        self.keys.push((origin.to_owned(), key));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys that this id names: the first 8 bytes of SHA-256 of a key.
    pub(super) fn by_id<'a>(
        &'a self,
        id: &'a [u8],
    ) -> impl Iterator<Item = (&'a str, &'a [u8; 32])> {
        let named = move |key: &[u8; 32]| Sha256::digest(key)[..8] == *id;
        let keys = self.keys.iter().filter(move |(_, key)| named(key));
        keys.map(|(origin, key)| (&**origin, key))
    }
}

/// What a client's entropy is made of. Whoever has it knows what the client will reveal, so it is
/// nobody else's, and 32 bytes that nobody can guess.
#[derive(Clone)]
pub struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    /// A secret that was kept somewhere: with it a client that starts anew still reveals what it had
    /// committed to before.
    #[must_use]
    pub fn kept(bytes: [u8; 32]) -> Secret {
        Secret(Zeroizing::new(bytes))
    }

    /// A fresh one, gone with the process.
    #[must_use]
    pub fn fresh() -> Secret {
        Secret::kept(entropy::bytes(&SystemEntropy))
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
        let trust = Trust::parse(&format!("# the dealer\n\n{log}\n{witness}\n")).unwrap();
        assert_eq!(trust.keys, [("room/dealer".to_owned(), *key.as_bytes())]);
        let id = Sha256::digest(key.as_bytes());
        assert_eq!(trust.by_id(&id[..8]).count(), 1);
        assert_eq!(trust.by_id(&[0; 8]).count(), 0);
        assert_eq!(Trust::parse(&format!("{log}\nnonsense")), Err(BadKey { line: 2 }));
    }

    #[test]
    fn a_secret_does_not_print() {
        assert_eq!(format!("{:?}", Secret::kept([0x41; 32])), "Secret(..)");
    }
}
