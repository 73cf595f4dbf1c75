//! Keys of secrets at rest, their ids, and the form in which files hold them.

use std::fmt;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// A key that seals secrets at rest.
pub type Key = Zeroizing<[u8; 32]>;

/// Id of a key, which reveals nothing of it: the first 8 bytes of SHA-256 over
/// "sabacc/keyring/v1" and the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    #[must_use]
    pub fn of(key: &Key) -> KeyId {
        let hash = Sha256::new().chain_update("sabacc/keyring/v1").chain_update(**key).finalize();
        KeyId(*hash.first_chunk().expect("a hash has 32 bytes"))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// Parses a key as a file holds it: 64 hexadecimal digits, with space around them.
#[must_use]
pub fn parse_key(text: &str) -> Option<Key> {
    let mut key = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text.trim(), &mut key[..]).ok()?;
    Some(key)
}

/// Parses keys as a file holds them, one a line; empty lines are skipped.
#[must_use]
pub fn parse_keys(text: &str) -> Option<Vec<Key>> {
    text.lines().filter(|line| !line.trim().is_empty()).map(parse_key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_keys_line_by_line() {
        let (one, two) = ("0f".repeat(32), "AB".repeat(32));
        assert_eq!(*parse_key(&format!(" {one}\n")).unwrap(), [0x0f; 32]);
        let both = parse_keys(&format!("\n{one}\r\n{two}\n\n")).unwrap();
        assert_eq!(both.iter().map(|key| **key).collect::<Vec<_>>(), [[0x0f; 32], [0xab; 32]]);
        assert_eq!(parse_keys("").unwrap().len(), 0);
        let wrong = ["", "0f", &one[1..], &format!("{one}00"), &"0g".repeat(32), &"é".repeat(32)];
        for wrong in wrong {
            assert!(parse_key(wrong).is_none(), "{wrong:?}");
            assert!(parse_keys(&format!("{two}\n{wrong}x")).is_none(), "{wrong:?}");
        }
    }

    /// Key ids are in databases, so they never change. Computed with another language's library.
    #[test]
    fn a_known_key_has_its_known_name() {
        assert_eq!(KeyId::of(&Zeroizing::new([2; 32])).to_string(), "e4d5fe436429467b");
    }
}
