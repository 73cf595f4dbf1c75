//! Public keys that a client trusts, and the secret that its entropy is derived from.

use std::fmt;

use fairness::evidence::Entry;
use fairness::{KeyId, SignedText};
use merkle::{KeysFileError, ListedKey, parse_keys_file, room_of};
use system::entropy::{self, SystemEntropy};
use zeroize::Zeroizing;

/// Log that a key signs for, by the last part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogKind {
    Table,
    Dealer,
}

/// Log whose key a signature has to be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SigningLog<'a> {
    /// A table's log of the room that this dealer's log is of.
    TableBeside { dealer: &'a str },
    /// The log of this name, which is a dealer's.
    Dealer { origin: &'a str },
}

impl LogKind {
    const fn suffix(self) -> &'static str {
        match self {
            LogKind::Table => "/table",
            LogKind::Dealer => "/dealer",
        }
    }
}

/// Public keys of a room's logs. Without the dealer's a client checks everything except signatures,
/// and contributes nothing.
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

    /// Whether the key of a dealer's log is known.
    #[must_use]
    pub fn has_dealer(&self) -> bool {
        self.has(LogKind::Dealer)
    }

    /// Whether a key of such a log is known.
    pub(crate) fn has(&self, kind: LogKind) -> bool {
        self.keys.iter().any(|(origin, _)| origin.ends_with(kind.suffix()))
    }

    /// The evidence entry of a text, if a trusted key with this id signed it. A key counts for its
    /// own log only.
    pub(crate) fn entry_of(
        &self,
        log: SigningLog<'_>,
        text: &impl SignedText,
        key_id: &[u8],
        signature: &[u8],
    ) -> Option<Entry> {
        let signature: [u8; 64] = signature.try_into().ok()?;
        let of_log = |origin: &str| match log {
            SigningLog::TableBeside { dealer } => {
                let room = room_of(dealer, "dealer");
                room.is_some() && room_of(origin, "table") == room
            }
            SigningLog::Dealer { origin: named } => {
                origin.ends_with(LogKind::Dealer.suffix()) && origin == named
            }
        };
        let keys = self.keys.iter().filter(|(origin, _)| of_log(origin)).map(|(_, key)| key);
        let mut named = keys.filter(|key| KeyId::of(key).0 == *key_id);
        let signer = named.find(|key| text.verify(key, &signature).is_ok())?;
        Some(Entry::signed(text, &signature, signer))
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

    pub(crate) fn expose(&self) -> &[u8; 32] {
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
        assert!(trust.has(LogKind::Dealer) && !trust.has(LogKind::Table));
        let ended = TrustedKeys::parse(&format!("{log} until 7\n")).unwrap();
        assert_eq!(ended, TrustedKeys::default());
        assert!(TrustedKeys::parse(&format!("{log}\nnonsense")).is_err());
    }

    /// fairness/SPEC.md §17.
    #[test]
    fn a_key_counts_for_its_own_log_only() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
        let (context, chain) = (fairness::Context([1; 32]), fairness::Chain([2; 32]));
        let text = fairness::DecisionReceipt { context: &context, chain: &chain, position: 7 };
        let (id, signature) = (KeyId::of(key.verifying_key().as_bytes()).0, text.sign(&key));
        let mut trust = TrustedKeys::default();
        trust.add("room/dealer", key.verifying_key().to_bytes());
        let of = |origin| SigningLog::Dealer { origin };
        let entry = |log| trust.entry_of(log, &text, &id, &signature);
        assert!(entry(of("room/dealer")).is_some());
        assert_eq!(entry(of("other/dealer")), None);
        let beside = |dealer| SigningLog::TableBeside { dealer };
        assert_eq!(entry(beside("room/dealer")), None);
        trust.add("room/3/table", key.verifying_key().to_bytes());
        let entry = |log| trust.entry_of(log, &text, &id, &signature);
        assert!(entry(beside("room/dealer")).is_some() && entry(beside("room/3/dealer")).is_some());
        assert_eq!(entry(beside("other/dealer")), None);
        assert_eq!(trust.entry_of(of("room/dealer"), &text, &[0; 8], &signature), None);
        assert_eq!(trust.entry_of(of("room/dealer"), &text, &id, &[0; 64]), None);
        assert_eq!(trust.entry_of(of("room/dealer"), &text, &id, &[]), None);
    }

    #[test]
    fn a_secret_does_not_print() {
        assert_eq!(format!("{:?}", Secret::from_bytes([0x41; 32])), "Secret(..)");
    }
}
