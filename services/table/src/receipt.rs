//! Receipts: the table's signed statement that a commitment to entropy stands in its log.
//!
//! A receipt names the position of the record, so it can be made only once the record is durable.
//! The answer that the log keeps is therefore the receipt without position and signature. Both are
//! filled in whenever the answer is given, at first and at every repeat of the request.
//!
//! Specification: fairness/SPEC.md §3.3, §8.2.

use ed25519_dalek::SigningKey;
use fairness::{ClientCommitment, Receipt};
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use sha2::{Digest as _, Sha256};
use wire::{ApiRefusal, api_refusal, field};

/// Signing key of receipts: the key of the table's log.
pub(crate) struct ReceiptKey {
    key: SigningKey,
    /// First bytes of the SHA-256 of the public key.
    id: [u8; 8],
}

impl ReceiptKey {
    #[must_use]
    pub(crate) fn new(key: SigningKey) -> ReceiptKey {
        let hash: [u8; 32] = Sha256::digest(key.verifying_key().to_bytes()).into();
        let [a, b, c, d, e, f, g, h, ..] = hash;
        ReceiptKey { key, id: [a, b, c, d, e, f, g, h] }
    }

    /// Completes and signs the stored answer to a commitment that stands at a position of the log.
    pub(crate) fn complete(&self, stored: &[u8], position: u64) -> Result<Vec<u8>, ApiRefusal> {
        let corrupt = || api_refusal(ErrorReason::Corrupt, "the stored answer is damaged");
        let answer = pb::CommitEntropyResponse::decode(stored).map_err(|_| corrupt())?;
        let unsigned = answer.receipt.ok_or_else(corrupt)?;
        let commitment = ClientCommitment(field::exactly("commitment", &unsigned.commitment)?);
        let receipt = Receipt {
            table: field::table_id(&unsigned.table_id)?,
            hand_no: unsigned.hand_no,
            seat: field::seat("seat", unsigned.seat)?.get(),
            player: field::player_id(&unsigned.player_id)?,
            commitment: &commitment,
            position,
            key_id: &self.id,
        };
        let signature = receipt.sign(&self.key).to_vec();
        let key_id = self.id.to_vec();
        let signed = pb::EntropyReceipt { position, key_id, signature, ..unsigned };
        Ok(pb::CommitEntropyResponse { receipt: Some(signed) }.encode_to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use primitives::{PlayerId, TableId};

    /// fairness/SPEC.md §3.3, §8.2.
    #[test]
    fn a_receipt_names_the_record_and_is_signed_by_the_log() {
        let unsigned = pb::EntropyReceipt {
            table_id: vec![1; 16],
            hand_no: 7,
            seat: 3,
            player_id: vec![4; 16],
            commitment: vec![5; 32],
            ..pb::EntropyReceipt::default()
        };
        let stored = pb::CommitEntropyResponse { receipt: Some(unsigned) }.encode_to_vec();
        let key = SigningKey::from_bytes(&[9; 32]);
        let public = key.verifying_key().to_bytes();
        let answer = ReceiptKey::new(key).complete(&stored, 6).unwrap();
        let answer = pb::CommitEntropyResponse::decode(answer.as_slice()).unwrap();
        let signed = answer.receipt.unwrap();
        assert_eq!(signed.position, 6);
        assert_eq!(signed.key_id, Sha256::digest(public)[..8]);
        let receipt = Receipt {
            table: TableId([1; 16]),
            hand_no: 7,
            seat: 3,
            player: PlayerId([4; 16]),
            commitment: &ClientCommitment([5; 32]),
            position: 6,
            key_id: &signed.key_id,
        };
        let signature: [u8; 64] = signed.signature.try_into().unwrap();
        assert_eq!(receipt.verify(&public, &signature), Ok(()));
    }

    #[test]
    fn a_stored_answer_that_is_none_is_damage() {
        let key = ReceiptKey::new(SigningKey::from_bytes(&[9; 32]));
        assert_eq!(key.complete(&[0xff], 1).unwrap_err().reason(), ErrorReason::Corrupt);
        assert_eq!(key.complete(&[], 1).unwrap_err().reason(), ErrorReason::Corrupt);
    }
}
