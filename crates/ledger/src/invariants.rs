//! Invariants: no credit is made or lost, and held credits exist.

use std::collections::BTreeMap;

use primitives::{AdjustmentId, Credits, HoldId};

use crate::{Account, AccountState, Ledger, PendingAdjustment, PendingHold};

/// A state that no lawful history leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvariantViolation {
    /// `sum`: total of all balances in credits, instead of zero.
    #[error("all balances sum to {sum} credits, not to zero")]
    NonZeroSum { sum: i128 },
    #[error("{account} owes {owed} credits and may not")]
    NegativeBalance { account: Account, owed: Credits },
    #[error("of {account} {held} credits are held, more than there are")]
    Overheld { account: Account, held: Credits },
    /// `held`: what the account's state says is held; `sum`: what its holds sum to.
    #[error("{account} says that {held} credits are held of it, its holds sum to {sum}")]
    HeldMismatch { account: Account, held: Credits, sum: u128 },
    #[error("the hold {hold} holds nothing, more than it was placed for, or stands there twice")]
    InvalidHold { hold: HoldId },
    #[error("the adjustment {adjustment} is for no account, or stands there twice")]
    InvalidAdjustment { adjustment: AdjustmentId },
    #[error("{account} stands there twice")]
    DuplicateAccount { account: Account },
    /// Numbers count from 0 without a gap; the house has the first two.
    #[error("{account} cannot have the number {number}")]
    InvalidNumber { account: Account, number: u32 },
    #[error("{account} is missing: it is always there")]
    MissingAccount { account: Account },
}

/// Checks that all balances sum to zero, that only `house/issuance` is negative, and that no
/// account has more held than its balance.
///
/// # Errors
/// The first account in order that violates this, otherwise the sum.
pub fn check_conservation(ledger: &Ledger) -> Result<(), InvariantViolation> {
    let mut sum = 0_i128;
    for (account, state) in ledger.accounts() {
        let (account, balance) = (*account, state.balance);
        if balance.is_debit() && !account.may_be_negative() {
            return Err(InvariantViolation::NegativeBalance { account, owed: balance.magnitude() });
        }
        if state.available().is_debit() && !account.may_be_negative() {
            return Err(InvariantViolation::Overheld { account, held: state.held() });
        }
        sum = sum.saturating_add(i128::from(balance.get()));
    }
    if sum == 0 { Ok(()) } else { Err(InvariantViolation::NonZeroSum { sum }) }
}

impl Ledger {
    /// Restores a ledger from the accounts, pending holds and pending adjustments of a snapshot,
    /// each in any order.
    ///
    /// # Errors
    /// [`InvariantViolation`] if no lawful history leads to this state.
    pub fn restore(
        accounts: impl IntoIterator<Item = (Account, AccountState)>,
        holds: impl IntoIterator<Item = PendingHold>,
        adjustments: impl IntoIterator<Item = PendingAdjustment>,
    ) -> Result<Ledger, InvariantViolation> {
        let mut ledger = Ledger::empty();
        let mut accounts: Vec<(Account, AccountState)> = accounts.into_iter().collect();
        accounts.sort_by_key(|(account, _)| *account);
        if let Some(&[(account, _), _]) =
            accounts.array_windows().find(|[(one, _), (next, _)]| one == next)
        {
            return Err(InvariantViolation::DuplicateAccount { account });
        }
        for (account, state) in &mut accounts {
            state.update_details(|_| {});
            ledger.update_balance_index(*account, state.balance);
        }
        ledger.accounts = accounts.into_iter().collect();
        ledger.check_numbers()?;
        ledger.add_holds(holds)?;
        for proposed in adjustments {
            let adjustment = proposed.adjustment.id;
            let known = ledger.account(&proposed.adjustment.account).is_some();
            if ledger.adjustments.insert(adjustment, proposed).is_some() || !known {
                return Err(InvariantViolation::InvalidAdjustment { adjustment });
            }
        }
        check_conservation(&ledger)?;
        Ok(ledger)
    }

    /// Checks that accounts are numbered from 0 without a gap, and that the house has 0 and 1.
    fn check_numbers(&self) -> Result<(), InvariantViolation> {
        for (account, number) in [(Account::Issuance, 0), (Account::Rake, 1)] {
            let state =
                self.account(&account).ok_or(InvariantViolation::MissingAccount { account })?;
            if state.number != number {
                return Err(InvariantViolation::InvalidNumber { account, number: state.number });
            }
        }
        let mut taken = vec![false; self.accounts.len()];
        for (account, state) in &self.accounts {
            let slot = usize::try_from(state.number).ok().and_then(|at| taken.get_mut(at));
            if slot.is_none_or(|slot| std::mem::replace(slot, true)) {
                return Err(InvariantViolation::InvalidNumber {
                    account: *account,
                    number: state.number,
                });
            }
        }
        Ok(())
    }

    /// Adds the pending holds, and checks that they sum to what the accounts' states say is held.
    fn add_holds(
        &mut self,
        holds: impl IntoIterator<Item = PendingHold>,
    ) -> Result<(), InvariantViolation> {
        let mut sums: BTreeMap<Account, u128> = BTreeMap::new();
        for pending in holds {
            let hold = pending.hold.id;
            let sound = !pending.left.is_zero() && pending.left <= pending.hold.amount;
            if !sound || pending.hold.wrong_account().is_some() || self.hold(hold).is_some() {
                return Err(InvariantViolation::InvalidHold { hold });
            }
            let sum = sums.entry(pending.hold.from).or_default();
            *sum = sum.saturating_add(u128::from(pending.left.get()));
            self.put_hold(hold, Some(pending));
        }
        for (account, state) in &self.accounts {
            let (held, sum) = (state.held(), sums.remove(account).unwrap_or_default());
            if u128::from(held.get()) != sum {
                return Err(InvariantViolation::HeldMismatch { account: *account, held, sum });
            }
        }
        // Holds of accounts that do not exist.
        match sums.first_key_value() {
            None => Ok(()),
            Some((account, sum)) => Err(InvariantViolation::HeldMismatch {
                account: *account,
                held: Credits::ZERO,
                sum: *sum,
            }),
        }
    }
}
