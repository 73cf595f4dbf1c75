//! Adjustments: what one operator proposes to set right and another one approves.

use primitives::{AdjustmentId, UnixMicros};

use crate::{Account, Amount, Leg};

/// A proposal. As a value it may be unlawful: [`crate::decide`] judges it. Inside an event it is
/// lawful.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjustment {
    pub id: AdjustmentId,
    /// A player's, `house/rake` or `house/suspense`; `house/issuance` has the other leg.
    pub account: Account,
    /// What it does to the account; not zero.
    pub amount: Amount,
    /// 1 to [`crate::MAX_REASON_CHARS`] characters.
    pub reason: String,
    /// An operator's name.
    pub proposed_by: String,
}

impl Adjustment {
    /// The debit first, then the credit.
    #[must_use]
    pub fn legs(&self) -> Vec<Leg> {
        let leg = Leg { account: self.account, amount: self.amount };
        let other = Leg { account: Account::Issuance, amount: self.amount.negated() };
        if self.amount.is_debit() { vec![leg, other] } else { vec![other, leg] }
    }
}

/// A proposal that is neither approved nor rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposed {
    pub adjustment: Adjustment,
    pub at: UnixMicros,
}
