//! The dealer's signed commitments: one for each hand, bound to the table and its rules.

use fairness::{Commitment, CommitmentStatement, Context, Seed};
use proto::dealer::v1 as dealer;

use super::hand::to_array;
use super::violation::{FairnessViolation, Fault, PartyAtFault, ViolationKind};
use super::{Chance, TrustedKeys};

/// The dealer's commitment to the seed of one hand.
pub(super) struct DealerCommitment {
    pub(super) message: dealer::Commitment,
    pub(super) context: Context,
    pub(super) commitment: Commitment,
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
    /// Records a commitment, new or repeated.
    pub(super) fn record_commitment(
        &mut self,
        hand_no: u64,
        told: &dealer::Commitment,
    ) -> Result<(), Box<FairnessViolation>> {
        if self.commitments.get(&hand_no).is_some_and(|before| before.message == *told) {
            return Ok(());
        }
        let promise = self.check_commitment(hand_no, told);
        let promise = promise.map_err(|fault| self.violation(hand_no, fault))?;
        self.commitments.insert(hand_no, promise);
        Ok(())
    }

    fn check_commitment(
        &self,
        hand_no: u64,
        told: &dealer::Commitment,
    ) -> Result<DealerCommitment, Fault> {
        let commitment = Commitment(to_array("the dealer's commitment", &told.commitment)?);
        let context = Context::new(&told.origin, self.table, hand_no, &self.rules);
        if !self.trust.is_empty() && !self.unchecked {
            let signed = CommitmentStatement {
                table: self.table,
                hand_no,
                ruleset_hash: &self.rules,
                commitment: &commitment,
                key_id: &told.key_id,
            };
            if !is_signed(&self.trust, &signed, told) {
                return Err(ViolationKind::CommitmentSignature.into());
            }
        }
        match self.commitments.get(&hand_no) {
            Some(before) if before.binding() != (context, commitment) => {
                Err(self.second_commitment(Box::new(told.clone())))
            }
            _ => Ok(DealerCommitment { message: told.clone(), context, commitment }),
        }
    }

    /// Checks that a starting hand names the commitment recorded before.
    pub(super) fn check_repeated(
        &self,
        hand_no: u64,
        told: &[u8],
    ) -> Result<(), Box<FairnessViolation>> {
        let before = self.commitments.get(&hand_no);
        if self.unchecked || before.is_none_or(|before| before.commitment.0 == told) {
            return Ok(());
        }
        let second = dealer::Commitment { commitment: told.to_vec(), ..Default::default() };
        let what = ViolationKind::SecondCommitment { second: Box::new(second) };
        Err(self.violation(hand_no, what.into()))
    }

    /// Attributes a second commitment: two signed ones prove the dealer's fault; with an unsigned
    /// one only the table is known to have sent it.
    fn second_commitment(&self, second: Box<dealer::Commitment>) -> Fault {
        let checked = !self.trust.is_empty();
        let what = ViolationKind::SecondCommitment { second };
        what.attributed_to(if checked { PartyAtFault::Dealer } else { PartyAtFault::Table })
    }
}

/// Whether a trusted key of the log named in the commitment signed it.
fn is_signed(
    trust: &TrustedKeys,
    signed: &CommitmentStatement<'_>,
    told: &dealer::Commitment,
) -> bool {
    let Ok(signature) = <[u8; 64]>::try_from(&*told.signature) else { return false };
    let mut keys = trust.by_id(&told.key_id);
    keys.any(|(origin, key)| origin == told.origin && signed.verify(key, &signature).is_ok())
}
