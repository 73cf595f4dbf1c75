//! Adjustments: proposed by one operator, approved by another, or rejected.
//!
//! A freeze or an exclusion does not prevent an adjustment.

use primitives::{AdjustmentId, RequestId};

use super::transfers::one_leg_in_range;
use super::{because, living};
use crate::{Account, Adjustment, Event, Kind, Ledger, Posted, Proposed, Refusal, Transfer};

pub(super) fn propose(ledger: &Ledger, adjustment: Adjustment) -> Result<Vec<Event>, Refusal> {
    if adjustment.amount.is_zero() {
        return Err(Refusal::ZeroLeg);
    }
    may_be_adjusted(adjustment.account)?;
    because(&adjustment.reason)?;
    living(ledger, adjustment.account)?;
    Ok(vec![Event::AdjustmentProposed(adjustment)])
}

pub(super) fn approve(
    ledger: &Ledger,
    id: RequestId,
    adjustment: AdjustmentId,
    by: String,
) -> Result<Vec<Event>, Refusal> {
    let Proposed { adjustment: proposed, at: _ } = waiting(ledger, adjustment)?;
    may_be_adjusted(proposed.account)?;
    if proposed.proposed_by == by {
        return Err(Refusal::SameOperator);
    }
    let legs = proposed.legs();
    let kind = Kind::Adjustment { adjustment };
    let refusals = legs.iter().filter_map(|leg| {
        let account = leg.account;
        match living(ledger, account) {
            Ok(state) => one_leg_in_range(state, leg).err(),
            Err(refusal) => Some(refusal),
        }
    });
    if let Some(refusal) = refusals.min_by_key(Refusal::precedence) {
        return Err(refusal);
    }
    let transfer = Transfer { id, kind, legs, reason: proposed.reason.clone() };
    Ok(vec![Event::Posted(Posted { transfer, approved_by: Some(by.into()) })])
}

pub(super) fn reject(
    ledger: &Ledger,
    adjustment: AdjustmentId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    because(&reason)?;
    let account = waiting(ledger, adjustment)?.adjustment.account;
    Ok(vec![Event::AdjustmentRejected { adjustment, account, reason }])
}

fn may_be_adjusted(account: Account) -> Result<(), Refusal> {
    if account.may_be_adjusted() { Ok(()) } else { Err(Refusal::WrongAccount { account }) }
}

fn waiting(ledger: &Ledger, adjustment: AdjustmentId) -> Result<&Proposed, Refusal> {
    ledger.adjustment(adjustment).ok_or(Refusal::AdjustmentNotPending { adjustment })
}
