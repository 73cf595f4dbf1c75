//! The dealer's signed commitments: one for each hand, bound to the table and its rules.

use fairness::evidence::{Entry, Opening, Statement};
use fairness::{Commitment, CommitmentStatement, Context, Seed};
use proto::common::v1 as common;

use super::Chance;
use super::hand::to_array;
use super::trust::{LogKind, SigningLog};
use super::violation::{FairnessViolation, Fault, PartyAtFault, ViolationKind};

/// The dealer's commitment to the seed of one hand.
pub(super) struct DealerCommitment {
    pub(super) message: common::Commitment,
    pub(super) context: Context,
    pub(super) commitment: Commitment,
    /// Whether a trusted key of the dealer's signed it.
    pub(super) is_signed: bool,
}

impl DealerCommitment {
    pub(super) fn binding(&self) -> (Context, Commitment) {
        (self.context, self.commitment)
    }

    pub(super) fn opened_by(&self, seed: &Seed) -> bool {
        self.commitment.opens(&self.context, seed)
    }
}

impl Chance {
    /// Records a commitment, new or repeated; it must be there.
    pub(super) fn record_commitment(
        &mut self,
        hand_no: u64,
        message: Option<&common::Commitment>,
    ) -> Result<(), Box<FairnessViolation>> {
        let Some(message) = message else {
            return Err(self.violation(hand_no, ViolationKind::Missing("a commitment").into()));
        };
        if self.commitments.get(&hand_no).is_some_and(|before| before.message == *message) {
            return Ok(());
        }
        let promise = self.check_commitment(hand_no, message);
        let promise = promise.map_err(|fault| self.violation(hand_no, fault))?;
        self.commitments.insert(hand_no, promise);
        Ok(())
    }

    fn check_commitment(
        &mut self,
        hand_no: u64,
        message: &common::Commitment,
    ) -> Result<DealerCommitment, Fault> {
        let commitment = Commitment(to_array("the dealer's commitment", &message.commitment)?);
        let rules_hash = self.agreed.as_ref().map_or([0; 32], |agreed| agreed.hash);
        let context = Context::new(&message.origin, self.table, hand_no, &rules_hash);
        let signed = CommitmentStatement {
            origin: &message.origin,
            table: self.table,
            hand_no,
            rules_hash: &rules_hash,
            commitment: &commitment,
        };
        let log = SigningLog::Dealer { origin: &message.origin };
        let entry = self.trust.entry_of(log, &signed, &message.key_id, &message.signature);
        let is_signed = entry.is_some();
        if self.trust.has(LogKind::Dealer) && !is_signed && !self.unchecked {
            return Err(ViolationKind::CommitmentSignature.into());
        }
        let is_second = self.is_second_commitment(hand_no, &context, &commitment);
        let (origin, table) = (message.origin.clone(), self.table);
        let opening = Opening::Context { origin, table, hand_no, rules_hash }.entry();
        [Some(opening), entry].into_iter().flatten().for_each(|entry| self.keep(hand_no, entry));
        if is_second {
            return Err(self.second_commitment(Box::new(message.clone())));
        }
        Ok(DealerCommitment { message: message.clone(), context, commitment, is_signed })
    }

    /// Whether another commitment to this number was received before, by this process or an earlier one.
    fn is_second_commitment(
        &mut self,
        hand_no: u64,
        context: &Context,
        commitment: &Commitment,
    ) -> bool {
        let differs = |statement: &Statement| match statement {
            Statement::Commitment { commitment: before, .. } => {
                (statement.context(), before) != (*context, commitment)
            }
            Statement::CommitReceipt { .. }
            | Statement::Closing { .. }
            | Statement::RevealReceipt { .. }
            | Statement::Decision { .. }
            | Statement::DecisionReceipt { .. } => false,
        };
        let known = self.commitments.get(&hand_no);
        known.is_some_and(|before| before.binding() != (*context, *commitment))
            || self.record.statements(hand_no).unwrap_or_default().iter().any(differs)
    }

    /// Checks that a starting hand names the commitment recorded before.
    pub(super) fn check_repeated(
        &mut self,
        hand_no: u64,
        commitment: &[u8],
    ) -> Result<(), Box<FairnessViolation>> {
        let what = match self.commitments.get(&hand_no) {
            Some(before) if before.commitment.0 == commitment => return Ok(()),
            Some(_) => {
                let second =
                    common::Commitment { commitment: commitment.to_vec(), ..Default::default() };
                ViolationKind::SecondCommitment { second: Box::new(second) }
            }
            None => ViolationKind::Missing("a commitment"),
        };
        Err(self.violation(hand_no, what.into()))
    }

    /// Attributes a second commitment: two signed ones prove the dealer's fault; with an unsigned
    /// one only the table is known to have sent it.
    fn second_commitment(&self, second: Box<common::Commitment>) -> Fault {
        let checked = self.trust.has(LogKind::Dealer);
        let what = ViolationKind::SecondCommitment { second };
        what.attributed_to(if checked { PartyAtFault::Dealer } else { PartyAtFault::Table })
    }

    /// Adds an entry to what is kept of a hand number.
    pub(super) fn keep(&mut self, hand_no: u64, entry: Entry) {
        self.record.add(hand_no, entry);
    }
}
