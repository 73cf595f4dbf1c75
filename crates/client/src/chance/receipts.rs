//! The table's receipts: for a commitment, for revealed entropy, for a decision.

use fairness::evidence::{Entry, Statement};
use fairness::{
    Chain, ClientCommitment, CommitReceipt, Commitment, Context, DecisionReceipt, Entropy,
    RevealReceipt, SignedText,
};
use primitives::{PlayerId, TableId};
use proto::table::v1 as pb;

use super::Chance;
use super::trust::{LogKind, SigningLog, TrustedKeys};
use super::violation::{Fault, ViolationKind as V};

/// Contents of the receipts that this client's evidence holds of a number, also from before a
/// restart.
#[derive(Default)]
pub(super) struct KeptReceipts {
    pub(super) commitment: Option<ClientCommitment>,
    pub(super) entropy: Option<Entropy>,
}

impl KeptReceipts {
    /// Finds the receipts of one seat and player among the texts kept of a number.
    pub(super) fn new(
        kept: &[Statement],
        binding: (Context, Commitment),
        owner: (u8, PlayerId),
    ) -> KeptReceipts {
        let mut receipts = KeptReceipts::default();
        for statement in kept {
            match statement {
                Statement::CommitReceipt { context, dealer, seat, player, commitment, .. }
                    if (*context, *dealer, *seat, *player)
                        == (binding.0, binding.1, owner.0, owner.1) =>
                {
                    receipts.commitment = Some(*commitment);
                }
                Statement::RevealReceipt { context, dealer, seat, player, entropy, .. }
                    if (*context, *dealer, *seat, *player)
                        == (binding.0, binding.1, owner.0, owner.1) =>
                {
                    receipts.entropy = Some(*entropy);
                }
                Statement::CommitReceipt { .. }
                | Statement::RevealReceipt { .. }
                | Statement::Commitment { .. }
                | Statement::Closing { .. }
                | Statement::Decision { .. }
                | Statement::DecisionReceipt { .. } => {}
            }
        }
        receipts
    }
}

impl Chance {
    /// Log that receipts of a number must be signed for.
    pub(super) fn table_signer(&self, hand_no: u64) -> TableSigner<'_> {
        let promise = self.commitments.get(&hand_no);
        let dealer = promise.map_or("", |promise| &promise.message.origin);
        TableSigner { dealer, trust: &self.trust }
    }

    /// Stores a receipt at once: a client that is started anew holds the table to it.
    pub(super) fn keep_receipt(&mut self, hand_no: u64, entry: Option<Entry>) {
        let Some(entry) = entry else { return };
        self.keep(hand_no, entry);
        if let Err(error) = self.record.store_hand(hand_no) {
            tracing::error!(table = %self.table, hand_no, %error, "a receipt cannot be stored");
        }
    }

    /// Receipts in the evidence of a number for a seat of this client.
    pub(super) fn kept_receipts(
        &mut self,
        hand_no: u64,
        seat: u8,
        player: PlayerId,
    ) -> KeptReceipts {
        let Some(promise) = self.commitments.get(&hand_no) else { return KeptReceipts::default() };
        let binding = promise.binding();
        let kept = self.record.statements(hand_no).unwrap_or_default();
        KeptReceipts::new(&kept, binding, (seat, player))
    }
}

/// Values that a receipt has to name.
pub(super) struct Claim<'a> {
    pub(super) table: TableId,
    pub(super) hand_no: u64,
    pub(super) context: Context,
    pub(super) dealer: Commitment,
    pub(super) seat: u8,
    pub(super) player: PlayerId,
    pub(super) signer: TableSigner<'a>,
}

/// Log of the table that receipts must be signed for, and the keys that are known.
#[derive(Clone, Copy)]
pub(super) struct TableSigner<'a> {
    /// Origin of the dealer's log that has promised the hand.
    pub(super) dealer: &'a str,
    pub(super) trust: &'a TrustedKeys,
}

impl Claim<'_> {
    /// Checks the receipt for a commitment. Returns what to keep of it.
    pub(super) fn commitment(
        &self,
        receipt: &pb::EntropyReceipt,
        commitment: &ClientCommitment,
        key: Option<&[u8; 32]>,
    ) -> Result<Option<Entry>, Fault> {
        let same = [
            (receipt.hand_no == self.hand_no, "another hand"),
            (wire::field::is_id(&receipt.table_id, self.table), "another table"),
            (receipt.seat == u32::from(self.seat), "another seat"),
            (wire::field::is_id(&receipt.player_id, self.player), "another player"),
            (receipt.commitment == commitment.0, "another commitment"),
            (receipt.player_key == key.map_or(&[][..], |key| key), "another key"),
            (receipt.context == self.context.0, "other rules"),
            (receipt.dealer_commitment == self.dealer.0, "another seed"),
        ];
        check_content(&same)?;
        let signed = CommitReceipt {
            context: &self.context,
            dealer: &self.dealer,
            seat: self.seat,
            player: self.player,
            commitment,
            player_key: key,
            position: receipt.position,
        };
        check_signature(self.signer, &signed, &receipt.key_id, &receipt.signature)
    }

    /// Checks the receipt for revealed entropy. Returns what to keep of it.
    pub(super) fn reveal(
        &self,
        receipt: &pb::RevealReceipt,
        entropy: &Entropy,
    ) -> Result<Option<Entry>, Fault> {
        let same = [
            (receipt.seat == u32::from(self.seat), "another seat"),
            (wire::field::is_id(&receipt.player_id, self.player), "another player"),
            (receipt.entropy == entropy.0, "other entropy"),
            (receipt.context == self.context.0, "other rules"),
            (receipt.dealer_commitment == self.dealer.0, "another seed"),
        ];
        check_content(&same)?;
        let signed = RevealReceipt {
            context: &self.context,
            dealer: &self.dealer,
            seat: self.seat,
            player: self.player,
            entropy,
            position: receipt.position,
        };
        check_signature(self.signer, &signed, &receipt.key_id, &receipt.signature)
    }
}

/// Checks the receipt for a decision. Returns what to keep of it.
pub(super) fn check_decision(
    receipt: Option<&pb::DecisionReceipt>,
    context: &Context,
    chain: &Chain,
    signer: TableSigner<'_>,
) -> Result<Option<Entry>, Fault> {
    let receipt = receipt.ok_or(V::Missing("a receipt for a decision"))?;
    check_content(&[(receipt.chain == chain.0, "another decision")])?;
    let signed = DecisionReceipt { context, chain, position: receipt.position };
    check_signature(signer, &signed, &receipt.key_id, &receipt.signature)
}

fn check_content(same: &[(bool, &'static str)]) -> Result<(), Fault> {
    match same.iter().find(|(same, _)| !same) {
        Some((_, what)) => Err(V::ReceiptContent(what).into()),
        None => Ok(()),
    }
}

/// Checks that a key of the table's log signed it; without keys nothing is known of signatures.
fn check_signature(
    TableSigner { dealer, trust }: TableSigner<'_>,
    signed: &impl SignedText,
    key_id: &[u8],
    signature: &[u8],
) -> Result<Option<Entry>, Fault> {
    if !trust.has(LogKind::Table) {
        return Ok(None);
    }
    let log = SigningLog::TableBeside { dealer };
    let entry = trust.entry_of(log, signed, key_id, signature);
    entry.map(Some).ok_or_else(|| V::ReceiptSignature.into())
}
