//! Messages that the dealer and the table sign, byte for byte, and their verification.
//!
//! A message is LP(tag) then LP of each field: integers big-endian at their width, ids 16 bytes.
//! Signatures are Ed25519, checked strictly (no small-order keys, no second encoding of a
//! signature), so that a signed contradiction is proof against the signer and nobody else.
//!
//! Specification: fairness/SPEC.md §8.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use primitives::{PlayerId, TableId};

use crate::commit::{ClientCommitment, Commitment};
use crate::encoding::lp_list;

/// The signature is not this key's over these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not the named key's over these fields")]
pub struct BadSignature;

/// The dealer's signed commitment for one hand number, tag `dealer-commit-sig`. Two with one table
/// and number and different commitments prove that the dealer tried seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitmentStatement<'a> {
    pub table: TableId,
    pub hand_no: u64,
    pub ruleset_hash: &'a [u8; 32],
    pub commitment: &'a Commitment,
    /// Id of the dealer's key.
    pub key_id: &'a [u8],
}

impl CommitmentStatement<'_> {
    /// Bytes that are signed: LP(tag), then LP of table, hand number, hash of the rules, commitment
    /// and key id.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let CommitmentStatement { table, hand_no, ruleset_hash, commitment, key_id } = self;
        let number = hand_no.to_be_bytes();
        let fields: [&[u8]; 5] = [table.bytes(), &number, &ruleset_hash[..], &commitment.0, key_id];
        lp_list("dealer-commit-sig", &fields)
    }

    #[must_use]
    pub fn sign(&self, key: &SigningKey) -> [u8; 64] {
        key.sign(&self.message()).to_bytes()
    }

    pub fn verify(&self, key: &[u8; 32], signature: &[u8; 64]) -> Result<(), BadSignature> {
        verify(key, &self.message(), signature)
    }
}

/// The table's signed receipt that a client's commitment stands in its log, tag `receipt-sig`. A
/// receipt whose position holds something else is proof against the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt<'a> {
    pub table: TableId,
    pub hand_no: u64,
    pub seat: u8,
    pub player: PlayerId,
    pub commitment: &'a ClientCommitment,
    /// Position in the table's log.
    pub position: u64,
    /// Id of the table's key.
    pub key_id: &'a [u8],
}

impl Receipt<'_> {
    /// Bytes that are signed: LP(tag), then LP of each field in the order of declaration.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let Receipt { table, hand_no, seat, player, commitment, position, key_id } = self;
        let (number, position) = (hand_no.to_be_bytes(), position.to_be_bytes());
        let seat = [*seat];
        let fields: [&[u8]; 7] =
            [table.bytes(), &number, &seat, player.bytes(), &commitment.0, &position, key_id];
        lp_list("receipt-sig", &fields)
    }

    #[must_use]
    pub fn sign(&self, key: &SigningKey) -> [u8; 64] {
        key.sign(&self.message()).to_bytes()
    }

    pub fn verify(&self, key: &[u8; 32], signature: &[u8; 64]) -> Result<(), BadSignature> {
        verify(key, &self.message(), signature)
    }
}

fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), BadSignature> {
    let key = VerifyingKey::from_bytes(key).map_err(|_| BadSignature)?;
    key.verify_strict(message, &Signature::from_bytes(signature)).map_err(|_| BadSignature)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMITTED: CommitmentStatement<'_> = CommitmentStatement {
        table: TableId([1; 16]),
        hand_no: 2,
        ruleset_hash: &[3; 32],
        commitment: &Commitment([4; 32]),
        key_id: &[5; 4],
    };

    const RECEIPT: Receipt<'_> = Receipt {
        table: TableId([1; 16]),
        hand_no: 2,
        seat: 3,
        player: PlayerId([4; 16]),
        commitment: &ClientCommitment([5; 32]),
        position: 6,
        key_id: &[7; 4],
    };

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[9; 32])
    }

    /// fairness/SPEC.md §4.4, §8.1.
    #[test]
    fn the_signed_bytes_are_the_published_ones() {
        let mut bytes = b"\0\0\0\x11dealer-commit-sig\0\0\0\x10".to_vec();
        bytes.extend([1; 16]);
        bytes.extend(b"\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\x20");
        bytes.extend([3; 32]);
        bytes.extend(b"\0\0\0\x20");
        bytes.extend([4; 32]);
        bytes.extend(b"\0\0\0\x04\x05\x05\x05\x05");
        assert_eq!(COMMITTED.message(), bytes);
    }

    /// fairness/SPEC.md §8.1.
    #[test]
    fn every_field_of_a_commitment_is_signed() {
        let (public, signature) = (key().verifying_key().to_bytes(), COMMITTED.sign(&key()));
        assert_eq!(COMMITTED.verify(&public, &signature), Ok(()));
        let others = [
            CommitmentStatement { table: TableId([0; 16]), ..COMMITTED },
            CommitmentStatement { hand_no: 3, ..COMMITTED },
            CommitmentStatement { ruleset_hash: &[0; 32], ..COMMITTED },
            CommitmentStatement { commitment: &Commitment([0; 32]), ..COMMITTED },
            CommitmentStatement { key_id: &[5; 5], ..COMMITTED },
        ];
        for other in others {
            assert_eq!(other.verify(&public, &signature), Err(BadSignature), "{other:?}");
        }
        let other_key = SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes();
        assert_eq!(COMMITTED.verify(&other_key, &signature), Err(BadSignature));
    }

    /// fairness/SPEC.md §8.2.
    #[test]
    fn every_field_of_a_receipt_is_signed() {
        let (public, signature) = (key().verifying_key().to_bytes(), RECEIPT.sign(&key()));
        assert_eq!(RECEIPT.verify(&public, &signature), Ok(()));
        let others = [
            Receipt { table: TableId([0; 16]), ..RECEIPT },
            Receipt { hand_no: 3, ..RECEIPT },
            Receipt { seat: 4, ..RECEIPT },
            Receipt { player: PlayerId([0; 16]), ..RECEIPT },
            Receipt { commitment: &ClientCommitment([0; 32]), ..RECEIPT },
            Receipt { position: 7, ..RECEIPT },
            Receipt { key_id: &[7; 5], ..RECEIPT },
        ];
        for other in others {
            assert_eq!(other.verify(&public, &signature), Err(BadSignature), "{other:?}");
        }
    }

    /// With the point of order one as key, the same point as R and zero as S, the plain equation
    /// holds for every message. Strict verification refuses it.
    /// fairness/SPEC.md §8.3.
    #[test]
    fn a_key_of_small_order_signs_nothing() {
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        assert_eq!(COMMITTED.verify(&neutral, &signature), Err(BadSignature));
        use ed25519_dalek::Verifier;
        let plain = VerifyingKey::from_bytes(&neutral).unwrap();
        let loose = plain.verify(&COMMITTED.message(), &Signature::from_bytes(&signature));
        assert!(loose.is_ok(), "the point of the test: plain verification lets it through");
    }
}
