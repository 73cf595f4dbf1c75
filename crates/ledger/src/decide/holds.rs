//! Holds: placed, captured, released.
//!
//! A hold of a player's account reserves credits for a table. So it is refused to players who
//! cannot bring credits there: frozen, excluded or at their limit. Held credits count against the
//! limits until the hold ends; captured ones count as brought. A capture is not refused for an
//! exclusion or a limit, since the hold was placed within them, but for a frozen account.

use primitives::{Credits, HoldId, RequestId, UnixMicros};

use super::transfers::{check_not_excluded, shortfall};
use super::usable_account;
use crate::{Account, Amount, Event, Hold, Kind, Ledger, Leg, PendingHold, Refusal, Transfer};

pub(super) struct Capture {
    pub(super) hold: HoldId,
    pub(super) amount: Credits,
    pub(super) keep_rest: bool,
}

pub(super) fn place(ledger: &Ledger, now: UnixMicros, hold: Hold) -> Result<Vec<Event>, Refusal> {
    if hold.amount.is_zero() {
        return Err(Refusal::ZeroLeg);
    }
    if hold.from == hold.to {
        return Err(Refusal::DuplicateAccount { account: hold.from });
    }
    if let Some(account) = hold.wrong_account() {
        return Err(Refusal::WrongAccount { account });
    }
    if hold.expires_at <= now {
        return Err(Refusal::TimePassed);
    }
    let account = hold.from;
    if !hold.may_open() && ledger.account(&account).is_some() && ledger.account(&hold.to).is_none()
    {
        return Err(Refusal::AccountUnknown { account: hold.to });
    }
    let state = usable_account(ledger, account)?;
    if state.is_frozen() {
        return Err(Refusal::AccountFrozen { account });
    }
    if let Account::Player(player) = account {
        check_not_excluded(account, state, now)?;
        ledger.check_buy_in(player, now, hold.amount)?;
    }
    if let Some(short) = shortfall(state, hold.amount) {
        return Err(Refusal::InsufficientCredits { account, short });
    }
    Ok(vec![Event::HoldPlaced(hold)])
}

pub(super) fn capture(
    ledger: &Ledger,
    now: UnixMicros,
    id: RequestId,
    command: &Capture,
) -> Result<Vec<Event>, Refusal> {
    let Capture { hold, amount, keep_rest } = *command;
    if amount.is_zero() {
        return Err(Refusal::ZeroLeg);
    }
    let PendingHold { hold: Hold { from, to, .. }, left } = pending_hold(ledger, now, hold)?;
    if ledger.account(from).is_some_and(crate::AccountState::is_frozen) {
        return Err(Refusal::AccountFrozen { account: *from });
    }
    if amount > *left {
        return Err(Refusal::HoldTooSmall { left: *left });
    }
    let credit = Amount::credit(amount);
    let balance = ledger.balance(to);
    if balance.is_some_and(|balance| balance.plus(credit).is_err()) {
        return Err(Refusal::BalanceOutOfRange { account: *to });
    }
    let mut events = Vec::with_capacity(2);
    if balance.is_none() {
        events.push(Event::AccountOpened(*to));
    }
    let legs = vec![
        Leg { account: *from, amount: Amount::debit(amount) },
        Leg { account: *to, amount: credit },
    ];
    let kind = Kind::Capture { hold, keep_rest };
    events.push(Event::TransferPosted(Transfer { id, kind, legs, reason: String::new() }.into()));
    Ok(events)
}

pub(super) fn release(
    ledger: &Ledger,
    now: UnixMicros,
    hold: HoldId,
) -> Result<Vec<Event>, Refusal> {
    let ended = pending_hold(ledger, now, hold)?.ended();
    Ok(vec![Event::HoldReleased(ended)])
}

/// The hold, if it is pending and has not expired at `now`.
fn pending_hold(ledger: &Ledger, now: UnixMicros, hold: HoldId) -> Result<&PendingHold, Refusal> {
    let pending = ledger.hold(hold).filter(|pending| pending.hold.expires_at > now);
    pending.ok_or(Refusal::HoldNotPending { hold })
}
