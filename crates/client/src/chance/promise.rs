//! The dealer's signed commitments: one for each hand, bound to the table and its rules.

use fairness::{Commitment, Context, Seed, SeedCommitted};
use proto::dealer::v1 as dealer;

use super::distrust::{Culprit, Distrust, Fault, Violation};
use super::hand::exactly;
use super::{Chance, Trust};

/// The dealer's commitment to the seed of one hand.
pub(super) struct Promise {
    pub(super) told: dealer::Commitment,
    pub(super) context: Context,
    pub(super) commitment: Commitment,
}

impl Promise {
    pub(super) fn bound(&self) -> (Context, Commitment) {
        (self.context, self.commitment)
    }

    pub(super) fn opened_by(&self, seed: &Seed) -> bool {
        self.commitment.opens(&self.context, seed)
    }
}

impl Chance {
    /// Records a commitment, new or repeated.
    pub(super) fn promised(
        &mut self,
        hand_no: u64,
        told: &dealer::Commitment,
    ) -> Result<(), Box<Distrust>> {
        if self.promises.get(&hand_no).is_some_and(|before| before.told == *told) {
            return Ok(());
        }
        let promise = self.judge_promise(hand_no, told);
        let promise = promise.map_err(|fault| self.distrust(hand_no, fault))?;
        self.promises.insert(hand_no, promise);
        Ok(())
    }

    fn judge_promise(&self, hand_no: u64, told: &dealer::Commitment) -> Result<Promise, Fault> {
        let commitment = Commitment(exactly("the dealer's commitment", &told.commitment)?);
        let context = Context::new(&told.origin, self.table, hand_no, &self.rules);
        if !self.trust.is_empty() && !self.blind {
            let signed = SeedCommitted {
                table: self.table,
                hand_no,
                ruleset_hash: &self.rules,
                commitment: &commitment,
                key_id: &told.key_id,
            };
            if !is_signed(&self.trust, &signed, told) {
                return Err(Violation::PromiseSignature.into());
            }
        }
        match self.promises.get(&hand_no) {
            Some(before) if before.bound() != (context, commitment) => {
                Err(self.second(Box::new(told.clone())))
            }
            _ => Ok(Promise { told: told.clone(), context, commitment }),
        }
    }

    /// Checks that a starting hand names the commitment recorded before.
    pub(super) fn repeated(&self, hand_no: u64, told: &[u8]) -> Result<(), Box<Distrust>> {
        let before = self.promises.get(&hand_no);
        if self.blind || before.is_none_or(|before| before.commitment.0 == told) {
            return Ok(());
        }
        let second = dealer::Commitment { commitment: told.to_vec(), ..Default::default() };
        let what = Violation::SecondPromise { second: Box::new(second) };
        Err(self.distrust(hand_no, what.into()))
    }

    /// Attributes a second commitment: two signed ones prove the dealer's fault; with an unsigned
    /// one only the table is known to have sent it.
    fn second(&self, second: Box<dealer::Commitment>) -> Fault {
        let checked = !self.trust.is_empty();
        let what = Violation::SecondPromise { second };
        what.by(if checked { Culprit::Dealer } else { Culprit::Table })
    }
}

/// Whether a trusted key of the log named in the commitment signed it.
fn is_signed(trust: &Trust, signed: &SeedCommitted<'_>, told: &dealer::Commitment) -> bool {
    let Ok(signature) = <[u8; 64]>::try_from(&*told.signature) else { return false };
    let mut keys = trust.by_id(&told.key_id);
    keys.any(|(origin, key)| origin == told.origin && signed.verify(key, &signature).is_ok())
}
