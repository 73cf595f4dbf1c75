//! The one injective encoding under every hash of the protocol.
//!
//! `LP(x)` is the length of x as a big-endian u32, then x. `H(tag, f…)` is SHA-256 over
//! LP("sabacc/fair/v1/" + tag), LP(f1), LP(f2) and so on. `PRF(k, tag, f…)` is HMAC-SHA-512 under
//! key k over the same bytes. Lengths stand before contents, so no two lists of fields encode
//! alike. Pieces go straight into the hash, so no buffer that held a secret is left behind.
//!
//! Specification: fairness/SPEC.md §4.1 to §4.4.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroizing;

/// Prefix of every tag.
pub(crate) const TAG_PREFIX: &str = "sabacc/fair/v1/";

/// 64 bytes that are wiped when dropped.
pub(crate) type Secret64 = Zeroizing<[u8; 64]>;

/// HMAC-SHA-512 with its key in place, to be cloned for each message.
pub(crate) type KeyedHmac = Hmac<Sha512>;

/// Puts LP of the joined `parts`: their total length, then each part.
fn put_lp(parts: &[&[u8]], put: &mut impl FnMut(&[u8])) {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    put(&u32::try_from(total).expect("no field reaches 4 GiB").to_be_bytes());
    parts.iter().for_each(|part| put(part));
}

/// Puts LP(SCHEME + tag), then LP of each field.
fn put_tagged(tag: &str, fields: &[&[u8]], mut put: impl FnMut(&[u8])) {
    put_lp(&[TAG_PREFIX.as_bytes(), tag.as_bytes()], &mut put);
    fields.iter().for_each(|field| put_lp(&[field], &mut put));
}

/// H(tag, fields…).
pub(crate) fn hash(tag: &str, fields: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    put_tagged(tag, fields, |bytes| hasher.update(bytes));
    hasher.finalize().into()
}

/// Prepares a key for [`prf`].
pub(crate) fn keyed_hmac(key: &[u8; 64]) -> KeyedHmac {
    KeyedHmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// PRF(key, tag, fields…).
pub(crate) fn prf(key: &KeyedHmac, tag: &str, fields: &[&[u8]]) -> Secret64 {
    let mut mac = key.clone();
    put_tagged(tag, fields, |bytes| mac.update(bytes));
    Zeroizing::new(mac.finalize().into_bytes().into())
}

/// LP(tag), then LP of each field, with `tag` exactly as given.
pub(crate) fn lp_list(tag: &str, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |piece: &[u8]| bytes.extend_from_slice(piece);
    put_lp(&[tag.as_bytes()], &mut put);
    fields.iter().for_each(|field| put_lp(&[field], &mut put));
    bytes
}

/// Reads a list of LP fields back: the fields, if they are all of `bytes`.
pub(crate) fn read_lp_list(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (field, rest) = rest.split_at_checked(length)?;
        fields.push(field);
        bytes = rest;
    }
    Some(fields)
}

/// LP(field) alone.
pub(crate) fn lp_bytes(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_lp(&[field], &mut |piece: &[u8]| bytes.extend_from_slice(piece));
    bytes
}

/// LP(SCHEME + tag) alone: the prefix of a card record, and the label of an HKDF expansion.
pub(crate) fn lp_tag(tag: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_tagged(tag, &[], |piece| bytes.extend_from_slice(piece));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fairness/SPEC.md §4.1, §4.2.
    #[test]
    fn fields_cannot_slide_into_each_other() {
        assert_ne!(hash("t", &[b"ab", b"c"]), hash("t", &[b"a", b"bc"]));
        assert_ne!(hash("t", &[b"ab"]), hash("t", &[b"ab", b""]));
        assert_ne!(hash("ta", &[b"b"]), hash("t", &[b"ab"]));
    }

    /// fairness/SPEC.md §4.1, §4.4.
    #[test]
    fn lengths_are_four_bytes_big_endian() {
        assert_eq!(lp_list("t", &[b"xyz"]), b"\0\0\0\x01t\0\0\0\x03xyz");
        assert_eq!(lp_tag("card"), b"\0\0\0\x13sabacc/fair/v1/card");
    }
}
