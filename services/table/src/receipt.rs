//! Receipts: the table's signed statements that what a client sent stands in its log.
//!
//! A receipt names the position of the record, so it can be made only once the record is durable.
//! The answer that the log keeps is therefore the receipt without position and signature. Both are
//! filled in whenever the answer is given, at first and at every repeat of the request.
//!
//! Of a decision the stored receipt has the context in place of the signature, since nothing else in
//! the answer names the hand.
//!
//! Specification: fairness/SPEC.md §3.3, §3.5, §8.2, §8.5, §8.7.

use ed25519_dalek::SigningKey;
use fairness::{
    Chain, ClientCommitment, CommitReceipt, Commitment, Context, DecisionReceipt, Entropy, KeyId,
    RevealReceipt, SignedText,
};
use proto::table::v1 as pb;
use wire::ApiRefusal;
use wire::field::{exactly, player_id, seat};

use crate::answer::{damaged, decode};

/// Signing key of receipts: the key of the table's log.
pub(crate) struct ReceiptKey {
    key: SigningKey,
    id: KeyId,
}

/// Key id and signature of a receipt.
struct Signed {
    key_id: Vec<u8>,
    signature: Vec<u8>,
}

impl ReceiptKey {
    #[must_use]
    pub(crate) fn new(key: SigningKey) -> ReceiptKey {
        let id = KeyId::of(key.verifying_key().as_bytes());
        ReceiptKey { key, id }
    }

    /// Completes and signs the stored answer to a commitment that stands at a position of the log.
    pub(crate) fn complete_commit(
        &self,
        stored: &[u8],
        position: u64,
    ) -> Result<pb::CommitEntropyResponse, ApiRefusal> {
        let answer: pb::CommitEntropyResponse = decode(stored)?;
        let unsigned = answer.receipt.ok_or_else(damaged)?;
        let key = &unsigned.player_key;
        let player_key = (!key.is_empty()).then(|| exactly("player_key", key)).transpose()?;
        let receipt = CommitReceipt {
            context: &Context(exactly("context", &unsigned.context)?),
            dealer: &Commitment(exactly("dealer_commitment", &unsigned.dealer_commitment)?),
            seat: seat("seat", unsigned.seat)?.get(),
            player: player_id(&unsigned.player_id)?,
            commitment: &ClientCommitment(exactly("commitment", &unsigned.commitment)?),
            player_key: player_key.as_ref(),
            position,
        };
        let Signed { key_id, signature } = self.sign(&receipt);
        let signed = pb::EntropyReceipt { position, key_id, signature, ..unsigned };
        Ok(pb::CommitEntropyResponse { receipt: Some(signed) })
    }

    /// Completes and signs the stored answer to a reveal that stands at a position of the log. The
    /// opening of withheld entropy has no receipt.
    pub(crate) fn complete_reveal(
        &self,
        stored: &[u8],
        position: u64,
    ) -> Result<pb::RevealEntropyResponse, ApiRefusal> {
        let answer: pb::RevealEntropyResponse = decode(stored)?;
        let Some(unsigned) = answer.receipt else { return Ok(answer) };
        let receipt = RevealReceipt {
            context: &Context(exactly("context", &unsigned.context)?),
            dealer: &Commitment(exactly("dealer_commitment", &unsigned.dealer_commitment)?),
            seat: seat("seat", unsigned.seat)?.get(),
            player: player_id(&unsigned.player_id)?,
            entropy: &Entropy(exactly("entropy", &unsigned.entropy)?),
            position,
        };
        let Signed { key_id, signature } = self.sign(&receipt);
        let signed = pb::RevealReceipt { position, key_id, signature, ..unsigned };
        Ok(pb::RevealEntropyResponse { receipt: Some(signed) })
    }

    /// Completes and signs the stored answer to a decision that stands at a position of the log.
    pub(crate) fn complete_decision(
        &self,
        stored: &[u8],
        position: u64,
    ) -> Result<pb::ActResponse, ApiRefusal> {
        let pb::ActResponse { sequence, receipt } = decode(stored)?;
        let receipt = Some(self.sign_decision(receipt.ok_or_else(damaged)?, position)?);
        Ok(pb::ActResponse { sequence, receipt })
    }

    /// Completes the stored answer to a leave that stands at a position of the log, and signs it
    /// where it is one of a hand.
    pub(crate) fn complete_leave(
        &self,
        stored: &[u8],
        position: u64,
    ) -> Result<pb::StandUpResponse, ApiRefusal> {
        let pb::StandUpResponse { after_hand, receipt } = decode(stored)?;
        let receipt = receipt.map(|receipt| self.sign_decision(receipt, position)).transpose()?;
        Ok(pb::StandUpResponse { after_hand, receipt })
    }

    fn sign_decision(
        &self,
        unsigned: pb::DecisionReceipt,
        position: u64,
    ) -> Result<pb::DecisionReceipt, ApiRefusal> {
        let receipt = DecisionReceipt {
            context: &Context(exactly("context", &unsigned.signature)?),
            chain: &Chain(exactly("chain", &unsigned.chain)?),
            position,
        };
        let Signed { key_id, signature } = self.sign(&receipt);
        Ok(pb::DecisionReceipt { position, key_id, signature, ..unsigned })
    }

    fn sign(&self, text: &impl SignedText) -> Signed {
        Signed { key_id: self.id.0.to_vec(), signature: text.sign(&self.key).to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use primitives::PlayerId;
    use prost::Message as _;
    use proto::common::v1::ErrorReason;

    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[9; 32])
    }

    fn assert_signed(text: &impl SignedText, key_id: &[u8], signature: Vec<u8>) {
        let public = key().verifying_key().to_bytes();
        assert_eq!(key_id, KeyId::of(&public).0);
        assert_eq!(text.verify(&public, &signature.try_into().unwrap()), Ok(()));
    }

    /// fairness/SPEC.md §3.3, §8.2.
    #[test]
    fn a_receipt_of_a_commitment_names_the_record_and_is_signed_by_the_log() {
        for player_key in [None, Some([8; 32])] {
            let unsigned = pb::EntropyReceipt {
                table_id: primitives::TableId([1; 16]).to_string(),
                hand_no: 7,
                seat: 3,
                player_id: PlayerId([4; 16]).to_string(),
                commitment: vec![5; 32],
                player_key: player_key.map_or_else(Vec::new, |key| key.to_vec()),
                context: vec![6; 32],
                dealer_commitment: vec![7; 32],
                ..pb::EntropyReceipt::default()
            };
            let stored = pb::CommitEntropyResponse { receipt: Some(unsigned) }.encode_to_vec();
            let answer = ReceiptKey::new(key()).complete_commit(&stored, 6).unwrap();
            let signed = answer.receipt.unwrap();
            assert_eq!(signed.position, 6);
            let receipt = CommitReceipt {
                context: &Context([6; 32]),
                dealer: &Commitment([7; 32]),
                seat: 3,
                player: PlayerId([4; 16]),
                commitment: &ClientCommitment([5; 32]),
                player_key: player_key.as_ref(),
                position: 6,
            };
            assert_signed(&receipt, &signed.key_id, signed.signature);
        }
    }

    /// fairness/SPEC.md §3.5, §8.5.
    #[test]
    fn a_receipt_of_a_reveal_names_the_record_and_is_signed_by_the_log() {
        let unsigned = pb::RevealReceipt {
            context: vec![6; 32],
            dealer_commitment: vec![7; 32],
            seat: 3,
            player_id: PlayerId([4; 16]).to_string(),
            entropy: vec![5; 32],
            ..pb::RevealReceipt::default()
        };
        let stored = pb::RevealEntropyResponse { receipt: Some(unsigned) }.encode_to_vec();
        let answer = ReceiptKey::new(key()).complete_reveal(&stored, 6).unwrap();
        let signed = answer.receipt.unwrap();
        assert_eq!(signed.position, 6);
        let receipt = RevealReceipt {
            context: &Context([6; 32]),
            dealer: &Commitment([7; 32]),
            seat: 3,
            player: PlayerId([4; 16]),
            entropy: &Entropy([5; 32]),
            position: 6,
        };
        assert_signed(&receipt, &signed.key_id, signed.signature);
    }

    #[test]
    fn a_stored_answer_that_is_none_is_damage() {
        let key = ReceiptKey::new(key());
        assert_eq!(key.complete_commit(&[0xff], 1).unwrap_err().reason(), ErrorReason::Corrupt);
        assert_eq!(key.complete_reveal(&[0xff], 1).unwrap_err().reason(), ErrorReason::Corrupt);
        assert_eq!(key.complete_reveal(&[], 1).unwrap().receipt, None, "of withheld entropy");
    }
}
