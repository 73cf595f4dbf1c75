//! Encodings that the texts of this crate share. Each value has one spelling.

use base64ct::{Base64, Encoding as _};

use crate::Hash;

/// Largest number in a text: 2^63 - 1, so that readers with signed numbers (such as Go's) read the
/// same.
pub(crate) const MAX_NUMBER: u64 = i64::MAX.unsigned_abs();

/// Parses ASCII digits without sign or leading zero, at most [`MAX_NUMBER`].
pub(crate) fn parse_decimal(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok().filter(|number| *number <= MAX_NUMBER)
}

/// Encodes base64 by RFC 4648 section 4, with padding.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Decodes only texts that [`encode_base64`] writes: padding is there, and the bits it pads are
/// zero.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok().filter(|bytes| encode_base64(bytes) == text)
}

pub(crate) fn decode_hash(text: &str) -> Option<Hash> {
    decode_base64(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        for (text, number) in [("0", 0), ("7", 7), ("10", 10), ("9223372036854775807", MAX_NUMBER)]
        {
            assert_eq!(parse_decimal(text), Some(number));
        }
        for text in ["", "00", "01", "+1", "-1", " 1", "1 ", "1_0", "٣", "9223372036854775808"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
        assert_eq!(parse_decimal("18446744073709551616"), None);
    }

    #[test]
    fn bytes_have_one_spelling() {
        assert_eq!(encode_base64(&[0xfb, 0xff]), "+/8=");
        assert_eq!(decode_base64("+/8="), Some(vec![0xfb, 0xff]));
        for text in ["+/9=", "+/8", "+/8==", "-_8=", "+/8=\n", " +/8=", "+", "="] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
        assert_eq!(decode_hash(&encode_base64(&[9; 32])), Some([9; 32]));
        assert_eq!(decode_hash(&encode_base64(&[9; 31])), None);
    }
}
