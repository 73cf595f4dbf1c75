//! The leaf record: the bytes that the Merkle tree is built over. 149 bytes, big-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `SLE2` |
//! | 8 | position |
//! | 8 | recorded at, Unix microseconds |
//! | 16 | stream |
//! | 8 | version |
//! | 2 | kind |
//! | 2 | schema |
//! | 1 | sealed: 0 or 1 |
//! | 4 | length of the payload |
//! | 32 | SHA-256 of the salt and the payload: [`payload_hash`] |
//! | 32 | SHA-256 of actor, request id and trace: [`author_hash`] |
//! | 32 | SHA-256 of the leaf record before it in its stream; zeros for the first |
//!
//! The payload's hash is salted with 16 random bytes that are kept and given with the payload. So
//! leaf records can be public before their payloads are: a guess of a payload cannot be tested, and
//! a payload that was destroyed with its salt is gone.
//!
//! Specification: ARCHITECTURE.md §2.2.

use sha2::{Digest, Sha256};

pub const RECORD_LEN: usize = 149;
/// Length of the salt of a payload.
pub const SALT_LEN: usize = 16;
const MAGIC: &[u8; 4] = b"SLE2";

/// A parsed leaf record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafRecord {
    pub position: u64,
    /// Unix microseconds.
    pub recorded_at: u64,
    pub stream: [u8; 16],
    pub version: u64,
    pub kind: u16,
    pub schema: u16,
    pub sealed: bool,
    pub payload_len: u32,
    pub payload_hash: [u8; 32],
    pub author_hash: [u8; 32],
    pub previous: [u8; 32],
}

/// Error of bytes that are no leaf record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    #[error("a leaf record has 149 bytes, this has {0}")]
    Length(usize),
    #[error("a leaf record begins with SLE2")]
    Magic,
    #[error("the sealed flag is 0 or 1, this is {0}")]
    Sealed(u8),
}

impl LeafRecord {
    #[must_use]
    pub fn to_bytes(&self) -> [u8; RECORD_LEN] {
        let LeafRecord {
            position,
            recorded_at,
            stream,
            version,
            kind,
            schema,
            sealed,
            payload_len,
            payload_hash,
            author_hash,
            previous,
        } = self;
        let mut bytes = [0; RECORD_LEN];
        let mut rest = &mut bytes[..];
        for field in [
            &MAGIC[..],
            &position.to_be_bytes(),
            &recorded_at.to_be_bytes(),
            stream,
            &version.to_be_bytes(),
            &kind.to_be_bytes(),
            &schema.to_be_bytes(),
            &[u8::from(*sealed)],
            &payload_len.to_be_bytes(),
            payload_hash,
            author_hash,
            previous,
        ] {
            let (slot, after) = rest.split_at_mut(field.len());
            slot.copy_from_slice(field);
            rest = after;
        }
        bytes
    }

    pub fn parse(bytes: &[u8]) -> Result<LeafRecord, RecordError> {
        let bytes: &[u8; RECORD_LEN] =
            bytes.try_into().map_err(|_| RecordError::Length(bytes.len()))?;
        let mut fields = Fields(bytes);
        if &fields.take::<4>() != MAGIC {
            return Err(RecordError::Magic);
        }
        Ok(LeafRecord {
            position: u64::from_be_bytes(fields.take()),
            recorded_at: u64::from_be_bytes(fields.take()),
            stream: fields.take(),
            version: u64::from_be_bytes(fields.take()),
            kind: u16::from_be_bytes(fields.take()),
            schema: u16::from_be_bytes(fields.take()),
            sealed: match fields.take() {
                [0] => false,
                [1] => true,
                [other] => return Err(RecordError::Sealed(other)),
            },
            payload_len: u32::from_be_bytes(fields.take()),
            payload_hash: fields.take(),
            author_hash: fields.take(),
            previous: fields.take(),
        })
    }
}

/// Returns SHA-256 of a payload behind its salt.
#[must_use]
pub fn payload_hash(salt: &[u8; SALT_LEN], payload: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(salt).chain_update(payload).finalize().into()
}

/// Returns SHA-256 of LP(actor), LP(request id, or nothing) and LP(trace), where LP(x) is x behind
/// its length as a big-endian u32.
#[must_use]
pub fn author_hash(actor: &str, request_id: Option<&[u8; 16]>, trace: &[u8; 16]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for field in [actor.as_bytes(), request_id.map_or(&[][..], |id| &id[..]), &trace[..]] {
        let length = u32::try_from(field.len()).expect("no actor has 4 GiB");
        hash.update(length.to_be_bytes());
        hash.update(field);
    }
    hash.finalize().into()
}

/// Returns SHA-256 of a leaf record. The next record of the stream has it as `previous`. The leaf
/// hash of the Merkle tree is another hash, with a prefix.
#[must_use]
pub fn chain_hash(record: &[u8; RECORD_LEN]) -> [u8; 32] {
    Sha256::digest(record).into()
}

/// The unread rest of a record. The widths taken from it sum to the length of a record.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) =
            self.0.split_first_chunk::<N>().expect("the fields' widths sum to the record's length");
        self.0 = rest;
        *field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> LeafRecord {
        LeafRecord {
            position: 0x0102_0304_0506_0708,
            recorded_at: 0x1112_1314_1516_1718,
            stream: [0x20; 16],
            version: 0x3132_3334_3536_3738,
            kind: 0x4142,
            schema: 0x5152,
            sealed: true,
            payload_len: 0x7172_7374,
            payload_hash: [0x50; 32],
            author_hash: [0x55; 32],
            previous: [0x60; 32],
        }
    }

    #[test]
    fn bytes_are_where_the_table_says() {
        let mut expected = b"SLE2".to_vec();
        expected.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        expected.extend([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
        expected.extend([0x20; 16]);
        expected.extend([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38]);
        expected.extend([0x41, 0x42, 0x51, 0x52, 1, 0x71, 0x72, 0x73, 0x74]);
        expected.extend([0x50; 32]);
        expected.extend([0x55; 32]);
        expected.extend([0x60; 32]);
        assert_eq!(record().to_bytes().to_vec(), expected);
    }

    #[test]
    fn parse_is_the_inverse_and_refuses_the_rest() {
        let bytes = record().to_bytes();
        assert_eq!(LeafRecord::parse(&bytes), Ok(record()));
        assert_eq!(LeafRecord::parse(&bytes[1..]), Err(RecordError::Length(148)));
        let mut wrong = bytes;
        wrong[3] = b'1';
        assert_eq!(LeafRecord::parse(&wrong), Err(RecordError::Magic));
        let mut wrong = bytes;
        wrong[48] = 2;
        assert_eq!(LeafRecord::parse(&wrong), Err(RecordError::Sealed(2)));
    }

    /// SHA-256("abc") is FIPS 180-2's; here the salt is the "abc" and 13 zeros.
    #[test]
    fn a_payload_is_hashed_behind_its_salt_and_an_author_by_lengths() {
        let mut salt = [0; 16];
        salt[..3].copy_from_slice(b"abc");
        let joined = [&salt[..], b"def"].concat();
        assert_eq!(payload_hash(&salt, b"def"), <[u8; 32]>::from(Sha256::digest(joined)));
        let bytes = b"\0\0\0\x03bob\0\0\0\0\0\0\0\x10tttttttttttttttt";
        let expected: [u8; 32] = Sha256::digest(bytes).into();
        assert_eq!(author_hash("bob", None, &[b't'; 16]), expected);
        assert_ne!(author_hash("bob", Some(&[0; 16]), &[b't'; 16]), expected);
    }
}
