//! The law: no credit is made or lost.

use primitives::Credits;

use crate::{Account, Ledger};

/// Balances that no lawful history leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// What all balances sum to instead of zero, in credits.
    #[error("all balances sum to {sum} credits, not to zero")]
    Sum { sum: i128 },
    #[error("{account} owes {owed} credits and may not")]
    Negative { account: Account, owed: Credits },
}

/// All balances sum to zero, and nobody but `house/issuance` owes.
///
/// # Errors
/// The first account that owes, else the sum.
pub fn conserved(ledger: &Ledger) -> Result<(), Unsound> {
    let mut sum = 0_i128;
    for (account, balance) in ledger.accounts() {
        if balance.is_debit() && !account.may_be_negative() {
            return Err(Unsound::Negative { account: *account, owed: balance.magnitude() });
        }
        sum = sum.saturating_add(i128::from(balance.get()));
    }
    if sum == 0 { Ok(()) } else { Err(Unsound::Sum { sum }) }
}
