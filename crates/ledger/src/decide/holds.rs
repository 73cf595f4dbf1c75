//! Holds: placed, captured, released.
//!
//! A hold of a player's account reserves credits for a table. So it is refused to players who
//! cannot bring credits there: frozen, excluded or at their limit. Held credits count against the
//! limits until the hold ends; captured ones count as brought. A capture is not refused for an
//! exclusion or a limit, since the hold was placed within them, but for a frozen account.

use primitives::{Credits, HoldId, RequestId, UnixMicros};

use super::living;
use super::transfers::{not_kept_from_play, short_by};
use crate::{Account, Amount, Event, Hold, Kind, Ledger, Leg, Pending, Refusal, Transfer};

pub(super) struct Wish {
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
    if let Some(account) = hold.misfit() {
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
    let state = living(ledger, account)?;
    if state.frozen() {
        return Err(Refusal::AccountFrozen { account });
    }
    if let Account::Player(player) = account {
        not_kept_from_play(account, state, now)?;
        ledger.may_bring(player, now, hold.amount)?;
    }
    if let Some(short) = short_by(state, hold.amount) {
        return Err(Refusal::InsufficientCredits { account, short });
    }
    Ok(vec![Event::HoldPlaced(hold)])
}

pub(super) fn capture(
    ledger: &Ledger,
    now: UnixMicros,
    id: RequestId,
    wish: &Wish,
) -> Result<Vec<Event>, Refusal> {
    let Wish { hold, amount, keep_rest } = *wish;
    if amount.is_zero() {
        return Err(Refusal::ZeroLeg);
    }
    let Pending { hold: Hold { from, to, .. }, left } = pending(ledger, now, hold)?;
    if ledger.account(from).is_some_and(crate::State::frozen) {
        return Err(Refusal::AccountFrozen { account: *from });
    }
    if amount > *left {
        return Err(Refusal::HoldTooSmall { left: *left });
    }
    let credit = Amount::credit(amount);
    let there = ledger.balance(to);
    if there.is_some_and(|balance| balance.plus(credit).is_err()) {
        return Err(Refusal::BalanceOutOfRange { account: *to });
    }
    let mut events = Vec::with_capacity(2);
    if there.is_none() {
        events.push(Event::Opened(*to));
    }
    let legs = vec![
        Leg { account: *from, amount: Amount::debit(amount) },
        Leg { account: *to, amount: credit },
    ];
    let kind = Kind::Capture { hold, keep_rest };
    events.push(Event::Posted(Transfer { id, kind, legs, reason: String::new() }.into()));
    Ok(events)
}

pub(super) fn release(
    ledger: &Ledger,
    now: UnixMicros,
    hold: HoldId,
) -> Result<Vec<Event>, Refusal> {
    let ended = pending(ledger, now, hold)?.ended();
    Ok(vec![Event::HoldReleased(ended)])
}

/// The hold, if it is pending and has not expired at `now`.
fn pending(ledger: &Ledger, now: UnixMicros, hold: HoldId) -> Result<&Pending, Refusal> {
    let pending = ledger.hold(hold).filter(|pending| pending.hold.expires_at > now);
    pending.ok_or(Refusal::HoldNotPending { hold })
}
