//! Fresh tokens among the messages of a stream.
//!
//! A method's option names the field of its messages that has one (`token_field`). Nothing else of a
//! message is looked at: a message with a fresh token is that field alone, a text.

use bytes::BytesMut;

use super::frames::HEAD_BYTES;
use crate::auth::{TokenError, TokenExpiry};

/// Bytes of the longest message with a token.
const MAX_BYTES: usize = 4096 + HEAD_BYTES + 4;
/// Wire type of texts.
const LENGTH_DELIMITED: u8 = 2;

/// Finds fresh tokens, and lets the stream live as long as they do.
pub(super) struct FreshTokens {
    /// First byte of a message with a token.
    key: u8,
    expiry: TokenExpiry,
    /// Bytes of the message under way, with its head.
    message: BytesMut,
    /// Whether the message under way has another field.
    is_other: bool,
}

impl FreshTokens {
    /// Finds tokens in `field`, which is 1 to 15.
    pub(super) fn new(field: u8, expiry: TokenExpiry) -> FreshTokens {
        let key = field << 3 | LENGTH_DELIMITED;
        FreshTokens { key, expiry, message: BytesMut::new(), is_other: false }
    }

    /// Passes over bytes of one message; `ends` with its last ones.
    ///
    /// # Errors
    /// The message has a token that is refused.
    pub(super) fn pass(&mut self, bytes: &[u8], ends: bool) -> Result<(), TokenError> {
        if !self.is_other {
            self.message.extend_from_slice(bytes);
            let first = self.message.get(HEAD_BYTES);
            self.is_other =
                first.is_some_and(|first| *first != self.key) || self.message.len() > MAX_BYTES;
        }
        if !ends {
            return Ok(());
        }
        let message = std::mem::take(&mut self.message);
        let is_other = std::mem::take(&mut self.is_other);
        if is_other || message.len() <= HEAD_BYTES {
            return Ok(());
        }
        let token = text(&message[HEAD_BYTES + 1..]);
        self.expiry.renew(token.ok_or(TokenError::Malformed { claim: None })?)
    }
}

/// Text behind its length, and nothing behind it.
fn text(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes;
    let length = prost::encoding::decode_varint(&mut rest).ok()?;
    let fits = u64::try_from(rest.len()).ok()? == length;
    std::str::from_utf8(rest).ok().filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_long_as_it_says() {
        assert_eq!(text(b"\x03abc"), Some("abc"));
        assert_eq!(text(b"\x00"), Some(""));
        for bad in [&b""[..], b"\x03ab", b"\x03abcd", b"\x02\xff\xff", b"\xff"] {
            assert_eq!(text(bad), None, "{bad:?}");
        }
        let long = [&[0xac, 0x02][..], &[b'a'; 300]].concat();
        assert_eq!(text(&long).map(str::len), Some(300));
    }
}
