//! The keys of seeds at rest, their ids, and the files that hold them.

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// A key of seeds at rest.
pub type SeedKey = Zeroizing<[u8; 32]>;

/// Id of a key; not a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    #[must_use]
    pub fn of(key: &[u8; 32]) -> KeyId {
        let digest: [u8; 32] =
            Sha256::new().chain_update("sabacc/seed-key/v1").chain_update(key).finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        KeyId([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// Parses a key as a file holds it: 64 hexadecimal digits, with space around them.
#[must_use]
pub fn parse_key(text: &str) -> Option<SeedKey> {
    let digits = text.trim();
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = Zeroizing::new([0; 32]);
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}

/// Parses keys as a file holds them, one a line; empty lines are skipped.
#[must_use]
pub fn parse_keys(text: &str) -> Option<Vec<SeedKey>> {
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
        assert_eq!(both.iter().map(|key| key[0]).collect::<Vec<_>>(), [0x0f, 0xab]);
        assert_eq!(parse_keys("").unwrap().len(), 0);
        let wrong = [String::new(), one[1..].to_owned(), format!("{one}00"), one.replace('f', "g")];
        for wrong in wrong {
            assert!(parse_key(&wrong).is_none(), "{wrong:?}");
            assert!(parse_keys(&format!("{two}\n{wrong}x")).is_none(), "{wrong:?}");
        }
    }
}
