//! The id of a hand, which anybody can compute before the hand starts.
//!
//! Specification: fairness/SPEC.md §4.5.

use primitives::{HandId, TableId};
use sha2::{Digest, Sha256};

use crate::encoding::lp_list;

/// The first 16 bytes of SHA-256 over LP("sabacc/hand-id/v1"), LP(table), LP(u64 hand number), with
/// the version and variant bits of a UUIDv8.
#[must_use]
pub fn hand_id(table: TableId, hand_no: u64) -> HandId {
    let fields: [&[u8]; 2] = [table.bytes(), &hand_no.to_be_bytes()];
    let digest: [u8; 32] = Sha256::digest(lp_list("sabacc/hand-id/v1", &fields)).into();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id[6] = (id[6] & 0x0f) | 0x80;
    id[8] = (id[8] & 0x3f) | 0x80;
    HandId(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with another language's standard library.
    /// fairness/SPEC.md §4.5, §11.2.
    #[test]
    fn a_known_hand_has_its_known_id() {
        let table = TableId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(hand_id(table, 7).to_string(), "0b2caa25-49c2-8deb-a510-3393a082dc33");
    }

    /// fairness/SPEC.md §4.5.
    #[test]
    fn it_is_a_uuid_of_version_8() {
        for number in 0..200 {
            let text = hand_id(TableId([7; 16]), number).to_string();
            assert_eq!(&text[14..15], "8", "{text}");
            assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
        }
    }

    #[test]
    fn table_and_number_both_count() {
        let base = hand_id(TableId([7; 16]), 1);
        assert_ne!(base, hand_id(TableId([7; 16]), 2));
        assert_ne!(base, hand_id(TableId([8; 16]), 1));
    }
}
