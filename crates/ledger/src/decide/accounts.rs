//! Commands about one account: open, freeze, unfreeze, close, set limits, exclude.

use primitives::{PlayerId, UnixMicros};

use super::{check_reason, usable_account};
use crate::{Account, Event, Exclusion, Ledger, LimitSetter, Refusal, RequestedLimits};

pub(super) fn open(ledger: &Ledger, player: PlayerId) -> Result<Vec<Event>, Refusal> {
    let account = Account::Player(player);
    if ledger.account(&account).is_some() {
        return Err(Refusal::AccountExists { account });
    }
    Ok(vec![Event::AccountOpened(account)])
}

pub(super) fn freeze(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    check_reason(&reason)?;
    let account = Account::Player(player);
    if usable_account(ledger, account)?.is_frozen() {
        return Err(Refusal::AccountFrozen { account });
    }
    Ok(vec![Event::AccountFrozen { player, reason }])
}

pub(super) fn unfreeze(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    check_reason(&reason)?;
    let account = Account::Player(player);
    if !usable_account(ledger, account)?.is_frozen() {
        return Err(Refusal::AccountNotFrozen { account });
    }
    Ok(vec![Event::AccountUnfrozen { player, reason }])
}

/// Closes an account that is empty, which rules out holds, as held credits are part of the balance.
/// Players who ever sat at a table whose pots are not empty may have a share in them that only
/// their account can take.
pub(super) fn close(
    ledger: &Ledger,
    player: PlayerId,
    reason: String,
) -> Result<Vec<Event>, Refusal> {
    check_reason(&reason)?;
    let account = Account::Player(player);
    let empty = usable_account(ledger, account)?.balance.is_zero();
    let at_a_table = ledger.in_play(player).next().is_some();
    let about_him = |account: Account| account.player() == Some(player);
    let waited_for = ledger.adjustments().any(|it| about_him(it.adjustment.account));
    if !empty || at_a_table || waited_for {
        return Err(Refusal::AccountNotEmpty { account });
    }
    if let Some(table) = ledger.pot_share_table(player) {
        return Err(Refusal::ShareInPot { account, table });
    }
    Ok(vec![Event::AccountClosed { player, reason }])
}

pub(super) fn set_limits(
    ledger: &Ledger,
    now: UnixMicros,
    player: PlayerId,
    by: LimitSetter,
    limits: RequestedLimits,
) -> Result<Vec<Event>, Refusal> {
    let state = usable_account(ledger, Account::Player(player))?;
    let terms = state.terms_set_by(by).requested_terms(now, limits);
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
    let state = usable_account(ledger, Account::Player(player))?;
    match state.exclusion_at(now).filter(|standing| *standing > Exclusion::from(until)) {
        Some(standing) => Err(Refusal::ExclusionShorter { until: standing.end() }),
        None => Ok(vec![Event::PlayerExcluded { player, until }]),
    }
}
