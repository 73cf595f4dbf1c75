//! Adjustments: corrections that one operator proposes and another approves.

use primitives::{AdjustmentId, UnixMicros};

use crate::{Account, Amount, Leg};

/// A proposed correction of a balance. As a value it may be unlawful: [`crate::decide`] judges it.
/// Inside an event it is lawful.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjustment {
    pub id: AdjustmentId,
    /// A player's account, `house/rake` or `house/suspense`; the other leg is `house/issuance`.
    pub account: Account,
    /// Amount to add to the account; not zero.
    pub amount: Amount,
    /// 1 to [`crate::MAX_REASON_CHARS`] characters.
    pub reason: String,
    /// Name of an operator.
    pub proposed_by: String,
}

impl Adjustment {
    /// Legs of the transfer: the debit first, then the credit.
    #[must_use]
    pub fn legs(&self) -> Vec<Leg> {
        let leg = Leg { account: self.account, amount: self.amount };
        let other = Leg { account: Account::Issuance, amount: self.amount.negated() };
        if self.amount.is_debit() { vec![leg, other] } else { vec![other, leg] }
    }
}

/// An adjustment that is neither approved nor rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PendingAdjustment {
    pub adjustment: Adjustment,
    pub proposed_at: UnixMicros,
}
