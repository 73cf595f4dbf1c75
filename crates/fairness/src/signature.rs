//! Texts that the dealer, the table and players sign, byte for byte, and their verification.
//!
//! A signed text is LP(tag), then LP of each field, then LP of the signer's key id: integers
//! big-endian at their width, ids 16 bytes. Signatures are Ed25519, checked strictly (no small-order
//! keys, no second encoding of a signature), so that a signed contradiction is proof against the
//! signer and nobody else.
//!
//! Specification: fairness/SPEC.md §8.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use primitives::{PlayerId, TableId};
use sha2::{Digest, Sha256};

use crate::closing::Closing;
use crate::commit::{ClientCommitment, Commitment, Entropy};
use crate::context::Context;
use crate::decision::Chain;
use crate::encoding::lp_list;

/// The signature is not this key's over these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not the named key's over these fields")]
pub struct BadSignature;

/// Name of a public key: the first 8 bytes of its SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    /// The id of `key`, an Ed25519 public key of 32 bytes.
    #[must_use]
    pub fn of(key: &[u8; 32]) -> KeyId {
        let digest: [u8; 32] = Sha256::digest(key).into();
        KeyId(*digest.first_chunk().expect("32 bytes are more than 8"))
    }
}

/// A text that somebody signs. Its fields are all that the signature binds, beside the key itself.
pub trait SignedText {
    /// The tag, which no other text has.
    const TAG: &'static str;

    /// The fields, in order, without the key id that follows them.
    fn fields(&self) -> Vec<Vec<u8>>;

    /// The bytes that are signed by the key named `key_id`.
    #[must_use]
    fn message(&self, key_id: &KeyId) -> Vec<u8> {
        let fields = self.fields();
        let mut fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        fields.push(&key_id.0);
        lp_list(Self::TAG, &fields)
    }

    /// Signs with `key`.
    #[must_use]
    fn sign(&self, key: &SigningKey) -> [u8; 64] {
        let key_id = KeyId::of(key.verifying_key().as_bytes());
        key.sign(&self.message(&key_id)).to_bytes()
    }

    /// Verifies strictly that `signature` is that of the public key `key`.
    fn verify(&self, key: &[u8; 32], signature: &[u8; 64]) -> Result<(), BadSignature> {
        verify_message(&self.message(&KeyId::of(key)), key, signature)
    }
}

/// Verifies a signature strictly, over exactly `message`.
pub(crate) fn verify_message(
    message: &[u8],
    key: &[u8; 32],
    signature: &[u8; 64],
) -> Result<(), BadSignature> {
    let key = VerifyingKey::from_bytes(key).map_err(|_| BadSignature)?;
    key.verify_strict(message, &Signature::from_bytes(signature)).map_err(|_| BadSignature)
}

/// The dealer's promise for one hand number. Two with one origin, table and number and different
/// commitments prove that the dealer tried seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitmentStatement<'a> {
    /// Name of the dealer's log.
    pub origin: &'a str,
    pub table: TableId,
    pub hand_no: u64,
    /// Of rule set and settings: [`crate::rules_hash`].
    pub rules_hash: &'a [u8; 32],
    pub commitment: &'a Commitment,
}

impl SignedText for CommitmentStatement<'_> {
    const TAG: &'static str = "dealer-commit-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        let CommitmentStatement { origin, table, hand_no, rules_hash, commitment } = self;
        vec![
            origin.as_bytes().to_vec(),
            table.bytes().to_vec(),
            hand_no.to_be_bytes().to_vec(),
            rules_hash.to_vec(),
            commitment.0.to_vec(),
        ]
    }
}

/// The table's receipt that a client's commitment stands in its log. A receipt whose position holds
/// something else is proof against the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitReceipt<'a> {
    pub context: &'a Context,
    pub dealer: &'a Commitment,
    pub seat: u8,
    pub player: PlayerId,
    pub commitment: &'a ClientCommitment,
    /// The player's key for the hand, if the commitment named one.
    pub player_key: Option<&'a [u8; 32]>,
    /// Position in the table's log.
    pub position: u64,
}

impl SignedText for CommitReceipt<'_> {
    const TAG: &'static str = "receipt-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        vec![
            self.context.0.to_vec(),
            self.dealer.0.to_vec(),
            vec![self.seat],
            self.player.bytes().to_vec(),
            self.commitment.0.to_vec(),
            self.player_key.map_or_else(Vec::new, |key| key.to_vec()),
            self.position.to_be_bytes().to_vec(),
        ]
    }
}

/// The dealer's word on which commitments a hand is made of. Two with one context and commitment
/// and different closings prove that the dealer told two clients two things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosingStatement<'a> {
    pub context: &'a Context,
    pub dealer: &'a Commitment,
    pub closing: &'a Closing,
}

impl SignedText for ClosingStatement<'_> {
    const TAG: &'static str = "closing-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        vec![self.context.0.to_vec(), self.dealer.0.to_vec(), self.closing.0.to_vec()]
    }
}

/// The table's receipt that a client's revealed number stands in its log: with a burn that names
/// the seat it is proof against the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevealReceipt<'a> {
    pub context: &'a Context,
    pub dealer: &'a Commitment,
    pub seat: u8,
    pub player: PlayerId,
    pub entropy: &'a Entropy,
    /// Position in the table's log.
    pub position: u64,
}

impl SignedText for RevealReceipt<'_> {
    const TAG: &'static str = "reveal-receipt-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        vec![
            self.context.0.to_vec(),
            self.dealer.0.to_vec(),
            vec![self.seat],
            self.player.bytes().to_vec(),
            self.entropy.0.to_vec(),
            self.position.to_be_bytes().to_vec(),
        ]
    }
}

/// A player's decision: it binds the cards and all that was decided before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionStatement<'a> {
    pub context: &'a Context,
    /// The chain with this decision's line in it.
    pub chain: &'a Chain,
    /// The line with its secret choice, if it has one, in the clear.
    pub said: &'a str,
}

impl SignedText for DecisionStatement<'_> {
    const TAG: &'static str = "decision-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        vec![self.context.0.to_vec(), self.chain.0.to_vec(), self.said.as_bytes().to_vec()]
    }
}

/// The table's receipt that a decision stands in its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionReceipt<'a> {
    pub context: &'a Context,
    /// The chain with the decision's line in it.
    pub chain: &'a Chain,
    /// Position in the table's log.
    pub position: u64,
}

impl SignedText for DecisionReceipt<'_> {
    const TAG: &'static str = "decision-receipt-sig";

    fn fields(&self) -> Vec<Vec<u8>> {
        vec![self.context.0.to_vec(), self.chain.0.to_vec(), self.position.to_be_bytes().to_vec()]
    }
}

#[cfg(test)]
mod tests;
