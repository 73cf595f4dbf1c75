//! Invariants: no credit is made or lost, and held credits exist.

use std::collections::BTreeMap;

use primitives::{AdjustmentId, Credits, HoldId};

use crate::{Account, Ledger, Pending, Proposed, State};

/// A state that no lawful history leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// `sum`: total of all balances in credits, instead of zero.
    #[error("all balances sum to {sum} credits, not to zero")]
    Sum { sum: i128 },
    #[error("{account} owes {owed} credits and may not")]
    Negative { account: Account, owed: Credits },
    #[error("of {account} {held} credits are held, more than there are")]
    Overheld { account: Account, held: Credits },
    /// `held`: what the account's state says is held; `sum`: what its holds sum to.
    #[error("{account} says that {held} credits are held of it, its holds sum to {sum}")]
    Held { account: Account, held: Credits, sum: u128 },
    #[error("the hold {hold} holds nothing, more than it was placed for, or stands there twice")]
    Hold { hold: HoldId },
    #[error("the adjustment {adjustment} is for no account, or stands there twice")]
    Adjustment { adjustment: AdjustmentId },
    #[error("{account} stands there twice")]
    Twice { account: Account },
    /// Numbers count from 0 without a gap; the house has the first two.
    #[error("{account} cannot have the number {number}")]
    Number { account: Account, number: u32 },
    #[error("{account} is missing: it is always there")]
    Missing { account: Account },
}

/// Checks that all balances sum to zero, that only `house/issuance` is negative, and that no
/// account has more held than its balance.
///
/// # Errors
/// The first account in order that violates this, otherwise the sum.
pub fn conserved(ledger: &Ledger) -> Result<(), Unsound> {
    let mut sum = 0_i128;
    for (account, state) in ledger.accounts() {
        let (account, balance) = (*account, state.balance);
        if balance.is_debit() && !account.may_be_negative() {
            return Err(Unsound::Negative { account, owed: balance.magnitude() });
        }
        if state.available().is_debit() && !account.may_be_negative() {
            return Err(Unsound::Overheld { account, held: state.held() });
        }
        sum = sum.saturating_add(i128::from(balance.get()));
    }
    if sum == 0 { Ok(()) } else { Err(Unsound::Sum { sum }) }
}

impl Ledger {
    /// Restores a ledger from the accounts, pending holds and pending adjustments of a snapshot,
    /// each in any order.
    ///
    /// # Errors
    /// [`Unsound`] if no lawful history leads to this state.
    pub fn restore(
        accounts: impl IntoIterator<Item = (Account, State)>,
        holds: impl IntoIterator<Item = Pending>,
        adjustments: impl IntoIterator<Item = Proposed>,
    ) -> Result<Ledger, Unsound> {
        let mut ledger = Ledger::empty();
        let mut accounts: Vec<(Account, State)> = accounts.into_iter().collect();
        accounts.sort_by_key(|(account, _)| *account);
        if let Some(&[(account, _), _]) =
            accounts.array_windows().find(|[(one, _), (next, _)]| one == next)
        {
            return Err(Unsound::Twice { account });
        }
        for (account, state) in &mut accounts {
            state.change(|_| {});
            ledger.mark(*account, state.balance);
        }
        ledger.accounts = accounts.into_iter().collect();
        ledger.numbered()?;
        ledger.hold_all(holds)?;
        for proposed in adjustments {
            let adjustment = proposed.adjustment.id;
            let known = ledger.account(&proposed.adjustment.account).is_some();
            if ledger.adjustments.insert(adjustment, proposed).is_some() || !known {
                return Err(Unsound::Adjustment { adjustment });
            }
        }
        conserved(&ledger)?;
        Ok(ledger)
    }

    /// Checks that accounts are numbered from 0 without a gap, and that the house has 0 and 1.
    fn numbered(&self) -> Result<(), Unsound> {
        for (account, number) in [(Account::Issuance, 0), (Account::Rake, 1)] {
            let state = self.account(&account).ok_or(Unsound::Missing { account })?;
            if state.number != number {
                return Err(Unsound::Number { account, number: state.number });
            }
        }
        let mut taken = vec![false; self.accounts.len()];
        for (account, state) in &self.accounts {
            let slot = usize::try_from(state.number).ok().and_then(|at| taken.get_mut(at));
            if slot.is_none_or(|slot| std::mem::replace(slot, true)) {
                return Err(Unsound::Number { account: *account, number: state.number });
            }
        }
        Ok(())
    }

    /// Adds the pending holds, and checks that they sum to what the accounts' states say is held.
    fn hold_all(&mut self, holds: impl IntoIterator<Item = Pending>) -> Result<(), Unsound> {
        let mut sums: BTreeMap<Account, u128> = BTreeMap::new();
        for pending in holds {
            let hold = pending.hold.id;
            let sound = !pending.left.is_zero() && pending.left <= pending.hold.amount;
            if !sound || pending.hold.misfit().is_some() || self.hold(hold).is_some() {
                return Err(Unsound::Hold { hold });
            }
            let sum = sums.entry(pending.hold.from).or_default();
            *sum = sum.saturating_add(u128::from(pending.left.get()));
            self.put_hold(hold, Some(pending));
        }
        for (account, state) in &self.accounts {
            let (held, sum) = (state.held(), sums.remove(account).unwrap_or_default());
            if u128::from(held.get()) != sum {
                return Err(Unsound::Held { account: *account, held, sum });
            }
        }
        // Holds of accounts that do not exist.
        match sums.first_key_value() {
            None => Ok(()),
            Some((account, sum)) => {
                Err(Unsound::Held { account: *account, held: Credits::ZERO, sum: *sum })
            }
        }
    }
}
