//! Applies events to the ledger and undoes them.

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, UnixMicros};

use crate::limits::{record_buy_in, saturating_sum};
use crate::{
    Account, AccountState, Adjustment, Amount, EndedHold, Event, Kind, Ledger, PendingAdjustment,
    PendingHold, PlayHistory, Transfer,
};

/// Pending hold or adjustment that an event has changed or ended, as it was before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replaced {
    Nothing,
    Hold(PendingHold),
    Adjustment(PendingAdjustment),
}

/// Applies an event that was recorded at `at`; returns what its transfer captured or carried out,
/// or what it ended. Cannot fail, because the event was decided on this very ledger. Given events of
/// another history, balances stay inside their range and [`crate::check_conservation`] finds the
/// error.
pub fn evolve(ledger: &mut Ledger, at: UnixMicros, event: &Event) -> Replaced {
    match event {
        Event::AccountOpened(account) => {
            ledger.open(*account);
        }
        Event::TransferPosted(posted) => return post(ledger, at, &posted.transfer),
        Event::AccountFrozen { player, reason: _ } => {
            ledger.open(Account::Player(*player)).update_details(|extra| extra.frozen = true);
        }
        Event::AccountUnfrozen { player, reason: _ } => {
            ledger.open(Account::Player(*player)).update_details(|extra| extra.frozen = false);
        }
        Event::AccountClosed { player, reason: _ } => {
            ledger.open(Account::Player(*player)).update_details(|extra| extra.closed = true);
        }
        Event::HoldPlaced(hold) => {
            end_hold(ledger, hold.id);
            ledger
                .open(hold.from)
                .update_details(|extra| extra.held = saturating_sum(extra.held, hold.amount));
            ledger.put_hold(hold.id, Some(PendingHold { hold: *hold, left: hold.amount }));
        }
        Event::HoldReleased(EndedHold { hold, .. })
        | Event::HoldExpired(EndedHold { hold, .. }) => return end_hold(ledger, *hold),
        Event::LimitsSet { player, by, terms } => {
            ledger.open(Account::Player(*player)).update_details(|extra| {
                extra.limit_terms_mut(*by).get_or_insert_default().put(*terms)
            });
        }
        Event::PlayerExcluded { player, until } => {
            let exclusion = (*until).into();
            ledger
                .open(Account::Player(*player))
                .update_details(|extra| extra.exclusion = Some(exclusion));
        }
        Event::AdjustmentProposed(adjustment) => {
            let proposed = PendingAdjustment { adjustment: adjustment.clone(), proposed_at: at };
            ledger.adjustments.insert(adjustment.id, proposed);
        }
        Event::AdjustmentRejected { adjustment, .. } => {
            return end_adjustment(ledger, *adjustment);
        }
        Event::SnapshotTaken { digest: _ } => ledger.forget(at),
    }
    Replaced::Nothing
}

fn post(ledger: &mut Ledger, at: UnixMicros, transfer: &Transfer) -> Replaced {
    let (brings, replaced) = match transfer.kind {
        Kind::BuyIn => (true, Replaced::Nothing),
        Kind::Capture { hold, keep_rest } => (true, capture(ledger, transfer, hold, keep_rest)),
        Kind::Adjustment { adjustment } => (false, end_adjustment(ledger, adjustment)),
        Kind::Issue
        | Kind::Redeem
        | Kind::CashOut
        | Kind::Settlement { .. }
        | Kind::PotRefund { .. } => (false, Replaced::Nothing),
    };
    let results = is_result(transfer);
    for leg in &transfer.legs {
        let state = ledger.open(leg.account);
        let before = state.balance;
        let after = before.saturating_plus(leg.amount);
        state.balance = after;
        if brings && leg.amount.is_debit() && matches!(leg.account, Account::Player(_)) {
            state.update_details(|extra| {
                record_buy_in(&mut extra.buy_ins, at, leg.amount.magnitude())
            });
        }
        let zero_changed = before.is_zero() != after.is_zero();
        if zero_changed {
            ledger.update_balance_index(leg.account, after);
        }
        if let Account::Seat(_, player) = leg.account
            && (zero_changed || (results && !leg.amount.is_zero()))
        {
            let result = if results { leg.amount } else { Amount::ZERO };
            record_play(ledger, at, player, result);
        }
    }
    replaced
}

/// Whether the transfer's legs on seats are won or lost credits.
fn is_result(transfer: &Transfer) -> bool {
    match transfer.kind {
        Kind::Settlement { .. } | Kind::PotRefund { .. } => true,
        // A hold of a seat is a stake; a hold of a player's account is a buy-in.
        Kind::Capture { .. } => {
            let of_seat = |leg: &&crate::Leg| matches!(leg.account, Account::Seat(..));
            transfer.legs.iter().filter(of_seat).any(|leg| leg.amount.is_debit())
        }
        Kind::Issue | Kind::Redeem | Kind::BuyIn | Kind::CashOut | Kind::Adjustment { .. } => false,
    }
}

/// Records a result, and whether the player has credits at any table.
fn record_play(ledger: &mut Ledger, at: UnixMicros, player: PlayerId, result: Amount) {
    let seated = ledger.in_play(player).next().is_some();
    let played = ledger.play_histories.entry(player).or_default();
    if !result.is_zero() {
        played.add_net(at, result.get());
    }
    if seated {
        played.sit(at);
    } else {
        played.stand(at);
    }
}

/// Reduces the hold by what was paid, and ends it unless the rest is kept.
fn capture(ledger: &mut Ledger, transfer: &Transfer, id: HoldId, keep_rest: bool) -> Replaced {
    let Some(pending) = ledger.hold(id).copied() else { return Replaced::Nothing };
    let from = pending.hold.from;
    let leg = transfer.legs.iter().find(|leg| leg.account == from);
    let paid = leg.map_or(Credits::ZERO, |leg| leg.amount.magnitude());
    let rest = pending.left.saturating_minus(paid);
    let left = if keep_rest { rest } else { Credits::ZERO };
    let freed = pending.left.saturating_minus(left);
    ledger.open(from).update_details(|extra| extra.held = extra.held.saturating_minus(freed));
    ledger.put_hold(id, (!left.is_zero()).then_some(PendingHold { left, ..pending }));
    Replaced::Hold(pending)
}

fn end_hold(ledger: &mut Ledger, id: HoldId) -> Replaced {
    let Some(pending) = ledger.hold(id).copied() else { return Replaced::Nothing };
    ledger
        .open(pending.hold.from)
        .update_details(|extra| extra.held = extra.held.saturating_minus(pending.left));
    ledger.put_hold(id, None);
    Replaced::Hold(pending)
}

fn end_adjustment(ledger: &mut Ledger, id: AdjustmentId) -> Replaced {
    ledger.adjustments.remove(&id).map_or(Replaced::Nothing, Replaced::Adjustment)
}

/// State that an event replaces; see [`Ledger::undo`].
#[derive(Debug)]
pub struct Undo {
    accounts: Vec<(Account, Option<AccountState>)>,
    hold: Option<(HoldId, Option<PendingHold>)>,
    adjustment: Option<(AdjustmentId, Option<PendingAdjustment>)>,
    play_histories: Vec<(PlayerId, Option<PlayHistory>)>,
}

impl Ledger {
    /// Undoes an event. Events must be undone in reverse order; then the ledger equals the one
    /// before them. Costs as much as applying the event.
    pub fn undo(&mut self, undo: Undo) {
        let Undo { accounts, hold, adjustment, play_histories: played } = undo;
        for (player, before) in played {
            match before {
                Some(before) => self.play_histories.insert(player, before),
                None => self.play_histories.remove(&player),
            };
        }
        for (account, before) in accounts {
            let balance = before.as_ref().map_or(Amount::ZERO, |state| state.balance);
            match before {
                Some(state) => self.accounts.insert(account, state),
                None => self.accounts.remove(&account),
            };
            self.update_balance_index(account, balance);
        }
        if let Some((id, before)) = hold {
            self.put_hold(id, before);
        }
        if let Some((id, before)) = adjustment {
            match before {
                Some(proposed) => self.adjustments.insert(id, proposed),
                None => self.adjustments.remove(&id),
            };
        }
    }

    /// State to undo an event with, before the event is applied.
    #[must_use]
    pub fn undo_for(&self, event: &Event) -> Undo {
        let mut undo =
            Undo { accounts: Vec::new(), hold: None, adjustment: None, play_histories: Vec::new() };
        let mut account = |account| {
            undo.accounts.push((account, self.account(&account).cloned()));
        };
        let adjustment = |id| Some((id, self.adjustment(id).cloned()));
        match event {
            Event::AccountOpened(opened) => account(*opened),
            Event::TransferPosted(posted) => {
                for leg in &posted.transfer.legs {
                    account(leg.account);
                    if let Account::Seat(_, player) = leg.account {
                        undo.play_histories
                            .push((player, self.play_histories.get(&player).cloned()));
                    }
                }
                match posted.transfer.kind {
                    Kind::Capture { hold, .. } => {
                        undo.hold = Some((hold, self.hold(hold).copied()));
                    }
                    Kind::Adjustment { adjustment: id } => undo.adjustment = adjustment(id),
                    Kind::Issue
                    | Kind::Redeem
                    | Kind::BuyIn
                    | Kind::CashOut
                    | Kind::Settlement { .. }
                    | Kind::PotRefund { .. } => {}
                }
            }
            Event::AccountFrozen { player, .. }
            | Event::AccountUnfrozen { player, .. }
            | Event::AccountClosed { player, .. }
            | Event::LimitsSet { player, .. }
            | Event::PlayerExcluded { player, .. } => account(Account::Player(*player)),
            Event::HoldPlaced(hold) => {
                let before = self.hold(hold.id).copied();
                account(hold.from);
                // A pending hold with the same id, if the caller used the id twice, is ended first.
                before.iter().for_each(|before| account(before.hold.from));
                undo.hold = Some((hold.id, before));
            }
            Event::HoldReleased(EndedHold { hold, from, .. })
            | Event::HoldExpired(EndedHold { hold, from, .. }) => {
                account(*from);
                undo.hold = Some((*hold, self.hold(*hold).copied()));
            }
            Event::AdjustmentProposed(Adjustment { id, .. })
            | Event::AdjustmentRejected { adjustment: id, .. } => undo.adjustment = adjustment(*id),
            // Forgotten entries are older than every window: they need not be restored.
            Event::SnapshotTaken { digest: _ } => {}
        }
        undo
    }
}
