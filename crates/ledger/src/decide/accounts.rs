//! Commands about one account: open, freeze, unfreeze, close, set limits, exclude.

use primitives::{PlayerId, UnixMicros};

use super::{because, living};
use crate::{Account, Event, Exclusion, Ledger, Refusal, Setter, Wanted};

pub(super) fn open(ledger: &Ledger, player: PlayerId) -> Result<Vec<Event>, Refusal> {
    let account = Account::Player(player);
    if ledger.account(&account).is_some() {
        return Err(Refusal::AccountExists { account });
    }
    Ok(vec![Event::Opened(account)])
}

pub(super) fn freeze(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    because(&reason)?;
    let account = Account::Player(player);
    if living(ledger, account)?.frozen() {
        return Err(Refusal::AccountFrozen { account });
    }
    Ok(vec![Event::Frozen { player, reason }])
}

pub(super) fn unfreeze(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    because(&reason)?;
    let account = Account::Player(player);
    if !living(ledger, account)?.frozen() {
        return Err(Refusal::AccountNotFrozen { account });
    }
    Ok(vec![Event::Unfrozen { player, reason }])
}

/// Closes an account that is empty, which rules out holds, as held credits are part of the balance.
/// Players who ever sat at a table whose pots are not empty may have a share in them that only
/// their account can take.
pub(super) fn close(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    because(&reason)?;
    let account = Account::Player(player);
    let empty = living(ledger, account)?.balance.is_zero();
    let at_a_table = ledger.in_play(player).next().is_some();
    let about_him = |account: Account| account.player() == Some(player);
    let waited_for = ledger.adjustments().any(|it| about_him(it.adjustment.account));
    if !empty || at_a_table || waited_for {
        return Err(Refusal::AccountNotEmpty { account });
    }
    if let Some(table) = ledger.may_have_share(player) {
        return Err(Refusal::ShareInPot { account, table });
    }
    Ok(vec![Event::Closed { player, reason }])
}

pub(super) fn set_limits(
    ledger: &Ledger,
    now: UnixMicros,
    (player, by): (PlayerId, Setter),
    limits: Wanted,
) -> Result<Vec<Event>, Refusal> {
    let state = living(ledger, Account::Player(player))?;
    let terms = state.set_by(by).set(now, limits);
    Ok(vec![Event::LimitsSet { player, by, terms }])
}

pub(super) fn exclude(
    ledger: &Ledger,
    now: UnixMicros,
    player: PlayerId,
    until: Option<UnixMicros>,
) -> Result<Vec<Event>, Refusal> {
    if until.is_some_and(|until| until <= now) {
        return Err(Refusal::TimePassed);
    }
    let state = living(ledger, Account::Player(player))?;
    match state.excluded(now).filter(|standing| *standing > Exclusion::from(until)) {
        Some(standing) => Err(Refusal::ExclusionShorter { until: standing.end() }),
        None => Ok(vec![Event::Excluded { player, until }]),
    }
}
