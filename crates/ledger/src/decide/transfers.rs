//! Decides transfers: checks that need no ledger first, then checks against the balances.

use primitives::{Credits, UnixMicros};

use super::{check_reason, check_reason_length};
use crate::{
    Account, AccountState, Amount, Event, Kind, Ledger, Leg, MAX_LEGS, MIN_LEGS, Refusal, Transfer,
};

pub(super) fn post(
    ledger: &Ledger,
    now: UnixMicros,
    transfer: Transfer,
) -> Result<Vec<Event>, Refusal> {
    check_form(&transfer)?;
    let mut events = check_legs(ledger, now, &transfer)?;
    events.push(Event::TransferPosted(transfer.into()));
    Ok(events)
}

/// Checks a transfer without the ledger.
fn check_form(transfer: &Transfer) -> Result<(), Refusal> {
    let Transfer { id: _, kind, legs, reason } = transfer;
    let moved_nothing = legs.is_empty() && matches!(kind, Kind::Settlement { .. });
    if legs.len() < MIN_LEGS && !moved_nothing {
        return Err(Refusal::TooFewLegs { legs: legs.len() });
    }
    if legs.len() > MAX_LEGS {
        return Err(Refusal::TooManyLegs { legs: legs.len() });
    }
    if legs.iter().any(|leg| leg.amount.is_zero() && !kind.admits_zero(&leg.account)) {
        return Err(Refusal::ZeroLeg);
    }
    if let Some(account) = duplicate_account(legs) {
        return Err(Refusal::DuplicateAccount { account });
    }
    // 64 legs below 2^53 stay below 2^59.
    let sum = legs.iter().fold(0_i64, |sum, leg| sum.saturating_add(leg.amount.get()));
    if sum != 0 {
        return Err(Refusal::NotBalanced { sum });
    }
    if let Some(account) = transfer.wrong_account() {
        return Err(Refusal::WrongAccount { account });
    }
    if kind.needs_reason() { check_reason(reason) } else { check_reason_length(reason) }
}

/// First account that an earlier leg names too. There are at most 64 legs and mostly two, so
/// looking back is cheaper than sorting.
fn duplicate_account(legs: &[Leg]) -> Option<Account> {
    legs.iter()
        .enumerate()
        .find(|(at, leg)| legs.iter().take(*at).any(|earlier| earlier.account == leg.account))
        .map(|(_, leg)| leg.account)
}

/// Checks the legs against the ledger. Returns the events that open accounts, or the refusal that
/// comes first in the order of precedence.
fn check_legs(
    ledger: &Ledger,
    now: UnixMicros,
    transfer: &Transfer,
) -> Result<Vec<Event>, Refusal> {
    // A transfer of two legs opens at most one account: there is room for the transfer's own event.
    let mut opened = Vec::with_capacity(2);
    let mut refusal: Option<Refusal> = None;
    for leg in &transfer.legs {
        match check_leg(ledger, transfer.kind, leg, now) {
            Ok(None) => {}
            Ok(Some(event)) => opened.push(event),
            Err(found) => {
                let earlier = refusal.filter(|kept| kept.precedence() <= found.precedence());
                refusal = Some(earlier.unwrap_or(found));
            }
        }
    }
    refusal.map_or(Ok(opened), Err)
}

fn check_leg(
    ledger: &Ledger,
    kind: Kind,
    leg: &Leg,
    now: UnixMicros,
) -> Result<Option<Event>, Refusal> {
    let account = leg.account;
    let Some(state) = ledger.account(&account) else {
        let opens = kind.opens(&account) && leg.amount.is_credit();
        let opened = opens.then_some(Event::AccountOpened(account));
        return opened.map(Some).ok_or(Refusal::AccountUnknown { account });
    };
    // An account without extra state is not closed, frozen or excluded, and has no limits.
    if state.details.is_some()
        && let Account::Player(player) = account
    {
        check_player_leg(state, kind, leg, now)?;
        if kind == Kind::BuyIn {
            ledger.check_buy_in(player, now, leg.amount.magnitude())?;
        }
    }
    check_leg_balance(state, leg)?;
    Ok(None)
}

/// Checks a leg of a player's account, except for its balance.
fn check_player_leg(
    state: &AccountState,
    kind: Kind,
    leg: &Leg,
    now: UnixMicros,
) -> Result<(), Refusal> {
    let account = leg.account;
    if state.is_closed() {
        return Err(Refusal::AccountClosed { account });
    }
    if leg.amount.is_debit() && state.is_frozen() {
        return Err(Refusal::AccountFrozen { account });
    }
    match kind {
        Kind::BuyIn | Kind::Issue => check_not_excluded(account, state, now),
        Kind::Redeem
        | Kind::CashOut
        | Kind::Settlement { .. }
        | Kind::PotRefund { .. }
        | Kind::Adjustment { .. }
        | Kind::Capture { .. } => Ok(()),
    }
}

pub(super) fn check_not_excluded(
    account: Account,
    state: &AccountState,
    now: UnixMicros,
) -> Result<(), Refusal> {
    match state.exclusion_at(now) {
        Some(exclusion) => Err(Refusal::Excluded { account, until: exclusion.end() }),
        None => Ok(()),
    }
}

/// Credits missing for a debit of `amount`; `None` if enough is available.
pub(super) fn shortfall(state: &AccountState, amount: Credits) -> Option<Credits> {
    let after = state.available().plus(Amount::debit(amount)).unwrap_or(Amount::debit(amount));
    after.is_debit().then(|| after.magnitude())
}

/// Checks a leg against the balance.
pub(super) fn check_leg_balance(state: &AccountState, leg: &Leg) -> Result<(), Refusal> {
    let account = leg.account;
    if leg.amount.is_debit()
        && !account.may_be_negative()
        && let Some(short) = shortfall(state, leg.amount.magnitude())
    {
        return Err(Refusal::InsufficientCredits { account, short });
    }
    state.balance.plus(leg.amount).map_err(|_| Refusal::BalanceOutOfRange { account })?;
    Ok(())
}
