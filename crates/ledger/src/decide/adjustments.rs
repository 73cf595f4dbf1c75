//! Adjustments: proposed by one operator, approved by another, or rejected.
//!
//! A freeze or an exclusion does not prevent an adjustment.

use primitives::{AdjustmentId, RequestId};

use super::transfers::check_leg_balance;
use super::{check_reason, usable_account};
use crate::{
    Account, Adjustment, Event, Kind, Ledger, PendingAdjustment, PostedTransfer, Refusal, Transfer,
};

pub(super) fn propose(ledger: &Ledger, adjustment: Adjustment) -> Result<Vec<Event>, Refusal> {
    if adjustment.amount.is_zero() {
        return Err(Refusal::ZeroLeg);
    }
    check_adjustable(adjustment.account)?;
    check_reason(&adjustment.reason)?;
    usable_account(ledger, adjustment.account)?;
    Ok(vec![Event::AdjustmentProposed(adjustment)])
}

pub(super) fn approve(
    ledger: &Ledger,
    id: RequestId,
    adjustment: AdjustmentId,
    by: String,
) -> Result<Vec<Event>, Refusal> {
    let PendingAdjustment { adjustment: proposed, proposed_at: _ } =
        pending_adjustment(ledger, adjustment)?;
    check_adjustable(proposed.account)?;
    if proposed.proposed_by == by {
        return Err(Refusal::SameOperator);
    }
    let legs = proposed.legs();
    let kind = Kind::Adjustment { adjustment };
    let refusals = legs.iter().filter_map(|leg| {
        let account = leg.account;
        match usable_account(ledger, account) {
            Ok(state) => check_leg_balance(state, leg).err(),
            Err(refusal) => Some(refusal),
        }
    });
    if let Some(refusal) = refusals.min_by_key(Refusal::precedence) {
        return Err(refusal);
    }
    let transfer = Transfer { id, kind, legs, reason: proposed.reason.clone() };
    Ok(vec![Event::TransferPosted(PostedTransfer { transfer, approved_by: Some(by.into()) })])
}

pub(super) fn reject(
    ledger: &Ledger,
    adjustment: AdjustmentId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    check_reason(&reason)?;
    let account = pending_adjustment(ledger, adjustment)?.adjustment.account;
    Ok(vec![Event::AdjustmentRejected { adjustment, account, reason }])
}

fn check_adjustable(account: Account) -> Result<(), Refusal> {
    if account.may_be_adjusted() { Ok(()) } else { Err(Refusal::WrongAccount { account }) }
}

fn pending_adjustment(
    ledger: &Ledger,
    adjustment: AdjustmentId,
) -> Result<&PendingAdjustment, Refusal> {
    ledger.adjustment(adjustment).ok_or(Refusal::AdjustmentNotPending { adjustment })
}
