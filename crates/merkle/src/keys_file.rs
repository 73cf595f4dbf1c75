//! Keys file: the public keys that a reader trusts, as text.
//!
//! ```text
//! # a comment
//! <C2SP verifier key>
//! <C2SP verifier key> until <number>
//! ```
//!
//! Lines end in a line feed; a carriage return before it is dropped. Empty lines and lines that
//! begin with `#` are passed over. Any other line refuses the whole file, as does a byte order mark
//! or one public key under two names. `until N` ends a key: it counts for trees of at most N
//! records.
//!
//! Specification: fairness/SPEC.md §17.

use crate::key::{KeyError, VerifierKey};

/// Text between a key and the size at which it ends.
const UNTIL: &str = " until ";

/// A key of a keys file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedKey {
    pub key: VerifierKey,
    /// Largest tree that the key counts for; `None` if it has no end.
    pub until: Option<u64>,
}

/// Reason why a text is no keys file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeysFileError {
    #[error("the file begins with a byte order mark: write it as UTF-8 without one")]
    ByteOrderMark,
    #[error("line {line} is neither a key nor a comment: {why}")]
    Key { line: usize, why: KeyError },
    #[error("line {line}: a key ends `until N`, N a decimal number without leading zeros")]
    Until { line: usize },
    #[error("line {line} has a public key that stands under another name before")]
    TwoNames { line: usize },
}

/// Returns the room in the name of a log's key: `ROOM/table`, or `ROOM/3/table` where a log is
/// divided. `log` is the last part; `None` if the name has another or no room.
#[must_use]
pub fn room_of<'a>(key: &'a str, log: &str) -> Option<&'a str> {
    let room = key.strip_suffix(log)?.strip_suffix('/')?;
    let shard = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits && (text == "0" || !text.starts_with('0'))
    };
    let divided = room.rsplit_once('/').filter(|(room, last)| !room.is_empty() && shard(last));
    Some(divided.map_or(room, |(room, _)| room)).filter(|room| !room.is_empty())
}

/// Parses a keys file.
///
/// # Errors
/// The first line that makes the file none.
pub fn parse_keys_file(text: &str) -> Result<Vec<ListedKey>, KeysFileError> {
    if text.starts_with('\u{feff}') {
        return Err(KeysFileError::ByteOrderMark);
    }
    let mut keys: Vec<ListedKey> = Vec::new();
    for (line, text) in (1..).zip(text.split_inclusive('\n')) {
        let ended = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        let text = ended.unwrap_or(text);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (key, until) = match text.split_once(UNTIL) {
            None => (text, None),
            Some((key, until)) => {
                (key, Some(parse_until(until).ok_or(KeysFileError::Until { line })?))
            }
        };
        let key = VerifierKey::parse(key).map_err(|why| KeysFileError::Key { line, why })?;
        let other_name = |listed: &ListedKey| {
            listed.key.bytes() == key.bytes() && listed.key.name() != key.name()
        };
        if keys.iter().any(other_name) {
            return Err(KeysFileError::TwoNames { line });
        }
        keys.push(ListedKey { key, until });
    }
    Ok(keys)
}

/// Parses a number of records in its one spelling.
fn parse_until(text: &str) -> Option<u64> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyName;

    fn key(name: &str, secret: u8) -> VerifierKey {
        let point = ed25519_dalek::SigningKey::from_bytes(&[secret; 32]).verifying_key();
        VerifierKey::log(KeyName::try_new(name).unwrap(), point.as_bytes()).unwrap()
    }

    /// fairness/SPEC.md §17.
    #[test]
    fn keys_comments_and_ends_are_read() {
        let (table, dealer) = (key("room/table", 1), key("room/dealer", 2));
        let text = format!("# ours\r\n\n{table}\r\n{dealer} until 70\n{dealer}");
        let listed = |key: &VerifierKey, until| ListedKey { key: key.clone(), until };
        let keys = [listed(&table, None), listed(&dealer, Some(70)), listed(&dealer, None)];
        assert_eq!(parse_keys_file(&text).as_deref(), Ok(&keys[..]));
        assert_eq!(parse_keys_file("").as_deref(), Ok(&[][..]));
    }

    /// fairness/SPEC.md §17.
    #[test]
    fn anything_else_refuses_the_file() {
        let (table, other) = (key("room/table", 1), key("room/dealer", 1));
        let refused = |text: String| parse_keys_file(&text).unwrap_err();
        assert_eq!(refused(format!("\u{feff}{table}")), KeysFileError::ByteOrderMark);
        assert_eq!(refused(format!("{table}\n{other}")), KeysFileError::TwoNames { line: 2 });
        for end in ["", "x", "07", "-1", "7 ", "18446744073709551616"] {
            let error = refused(format!("{table} until {end}"));
            assert_eq!(error, KeysFileError::Until { line: 1 }, "{end}");
        }
        let no_keys = [
            format!("{table}\r"),
            format!("{table}\r\r\n"),
            format!(" {table}"),
            format!("{table} "),
            format!("\n {table}"),
            format!("# a\u{2028}{table}\nnonsense"),
            format!("{table}\u{2028}{table}"),
            " ".to_owned(),
        ];
        for text in no_keys {
            assert!(matches!(refused(text.clone()), KeysFileError::Key { .. }), "{text:?}");
        }
    }
}
