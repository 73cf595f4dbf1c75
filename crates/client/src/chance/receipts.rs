//! The table's receipts: for a commitment, for revealed entropy, for a decision.

use fairness::evidence::Entry;
use fairness::{
    Chain, ClientCommitment, CommitReceipt, Commitment, Context, DecisionReceipt, Entropy,
    RevealReceipt, SignedText,
};
use primitives::{PlayerId, TableId};
use proto::table::v1 as pb;

use super::trust::{LogKind, SigningLog, TrustedKeys};
use super::violation::{Fault, ViolationKind as V};

/// Values that a receipt has to name.
pub(super) struct Claim<'a> {
    pub(super) table: TableId,
    pub(super) hand_no: u64,
    pub(super) context: Context,
    pub(super) dealer: Commitment,
    pub(super) seat: u8,
    pub(super) player: PlayerId,
    pub(super) trust: &'a TrustedKeys,
}

impl Claim<'_> {
    /// Checks the receipt for a commitment. Returns what to keep of it.
    pub(super) fn commitment(
        &self,
        told: &pb::EntropyReceipt,
        commitment: &ClientCommitment,
        key: Option<&[u8; 32]>,
    ) -> Result<Option<Entry>, Fault> {
        let same = [
            (told.hand_no == self.hand_no, "another hand"),
            (told.table_id == self.table.bytes(), "another table"),
            (told.seat == u32::from(self.seat), "another seat"),
            (told.player_id == self.player.bytes(), "another player"),
            (told.commitment == commitment.0, "another commitment"),
            (told.player_key == key.map_or(&[][..], |key| key), "another key"),
            (told.context == self.context.0, "other rules"),
            (told.dealer_commitment == self.dealer.0, "another seed"),
        ];
        check_content(&same)?;
        let signed = CommitReceipt {
            context: &self.context,
            dealer: &self.dealer,
            seat: self.seat,
            player: self.player,
            commitment,
            player_key: key,
            position: told.position,
        };
        check_signature(self.trust, &signed, &told.key_id, &told.signature)
    }

    /// Checks the receipt for revealed entropy. Returns what to keep of it.
    pub(super) fn reveal(
        &self,
        told: &pb::RevealReceipt,
        entropy: &Entropy,
    ) -> Result<Option<Entry>, Fault> {
        let same = [
            (told.seat == u32::from(self.seat), "another seat"),
            (told.player_id == self.player.bytes(), "another player"),
            (told.entropy == entropy.0, "other entropy"),
            (told.context == self.context.0, "other rules"),
            (told.dealer_commitment == self.dealer.0, "another seed"),
        ];
        check_content(&same)?;
        let signed = RevealReceipt {
            context: &self.context,
            dealer: &self.dealer,
            seat: self.seat,
            player: self.player,
            entropy,
            position: told.position,
        };
        check_signature(self.trust, &signed, &told.key_id, &told.signature)
    }
}

/// Checks the receipt for a decision. Returns what to keep of it.
pub(super) fn check_decision(
    told: Option<&pb::DecisionReceipt>,
    context: &Context,
    chain: &Chain,
    trust: &TrustedKeys,
) -> Result<Option<Entry>, Fault> {
    let told = told.ok_or(V::Missing("a receipt for a decision"))?;
    check_content(&[(told.chain == chain.0, "another decision")])?;
    let signed = DecisionReceipt { context, chain, position: told.position };
    check_signature(trust, &signed, &told.key_id, &told.signature)
}

fn check_content(same: &[(bool, &'static str)]) -> Result<(), Fault> {
    match same.iter().find(|(same, _)| !same) {
        Some((_, what)) => Err(V::ReceiptContent(what).into()),
        None => Ok(()),
    }
}

/// Checks that a key of the table's log signed it; without keys nothing is known of signatures.
fn check_signature(
    trust: &TrustedKeys,
    signed: &impl SignedText,
    key_id: &[u8],
    signature: &[u8],
) -> Result<Option<Entry>, Fault> {
    if !trust.has(LogKind::Table) {
        return Ok(None);
    }
    let entry = trust.entry_of(SigningLog::Table, signed, key_id, signature);
    entry.map(Some).ok_or_else(|| V::ReceiptSignature.into())
}
