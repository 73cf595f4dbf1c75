//! A naive second implementation of holds, limits and play, computed from the list of all events.

use std::collections::BTreeMap;

use ledger::{
    Account, EndedHold, Event, Hold, Kind, Ledger, LimitSetter, LimitTerms as Set, Limits, Measure,
    MeasureTerms, Window,
};
use primitives::{Credits, HoldId, PlayerId, UnixMicros};
use proptest::prelude::*;

use crate::HOUR_MICROS;

/// Limits by player and setter: those in force, and the pending ones with their time.
type Terms = BTreeMap<(PlayerId, LimitSetter), (Limits, Option<(UnixMicros, Limits)>)>;

#[derive(Default)]
pub(crate) struct NaiveLedger {
    /// Credits brought to tables: player, time, amount.
    brought: Vec<(PlayerId, UnixMicros, u64)>,
    terms: Terms,
    holds: BTreeMap<HoldId, (Hold, u64)>,
    /// Number of times that holds of an id were placed, and ended.
    placed: BTreeMap<HoldId, u32>,
    ended: BTreeMap<HoldId, u32>,
    /// Balance of each seat.
    seats: BTreeMap<Account, i64>,
    /// Results of seats: player, time, credits.
    results: Vec<(PlayerId, UnixMicros, i64)>,
    /// Times at which a player's first credits came to the tables, or their last left.
    seated_changes: Vec<(PlayerId, UnixMicros)>,
}

impl NaiveLedger {
    pub(crate) fn next(&mut self, at: UnixMicros, event: &Event) -> Result<(), TestCaseError> {
        // A hold whose time is over ends before any other event.
        if !matches!(event, Event::HoldExpired(_)) {
            let over = self.holds.values().find(|(hold, _)| hold.expires_at <= at);
            prop_assert!(over.is_none(), "{over:?} at {at:?}");
        }
        match event {
            Event::TransferPosted(posted) => {
                let transfer = &posted.transfer;
                let Some(leg) = transfer.legs.first() else { return Ok(()) };
                let amount = leg.amount.magnitude().get();
                if let Kind::Capture { hold, keep_rest } = transfer.kind {
                    self.captured(hold, amount, keep_rest)?;
                }
                let brings = matches!(transfer.kind, Kind::BuyIn | Kind::Capture { .. });
                self.play(at, transfer);
                if let Account::Player(player) = leg.account
                    && brings
                {
                    self.brought.push((player, at, amount));
                    // A capture of a hold that was within the limits is allowed when they are
                    // stricter.
                    if transfer.kind == Kind::BuyIn {
                        self.within_limits(player, at)?;
                    }
                }
            }
            Event::HoldPlaced(hold) => {
                let amount = hold.amount.get();
                prop_assert!(hold.expires_at > at);
                *self.placed.entry(hold.id).or_default() += 1;
                if let Some(_earlier) = self.holds.insert(hold.id, (*hold, amount)) {
                    *self.ended.entry(hold.id).or_default() += 1;
                }
            }
            Event::HoldReleased(ended) => {
                self.end_hold(ended)?;
            }
            Event::HoldExpired(ended) => {
                let hold = self.end_hold(ended)?;
                prop_assert!(hold.expires_at <= at, "{hold:?} at {at:?}");
            }
            Event::LimitsSet { player, by, terms: MeasureTerms::BuyIn(Set { now, later }) } => {
                self.set(at, (*player, *by), *now, *later)?;
            }
            Event::LimitsSet { .. }
            | Event::SnapshotTaken { .. }
            | Event::AccountOpened(_)
            | Event::AccountFrozen { .. }
            | Event::AccountUnfrozen { .. }
            | Event::AccountClosed { .. }
            | Event::PlayerExcluded { .. }
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. } => {}
        }
        Ok(())
    }

    /// Compares pending holds and held sums; each hold ends at most once.
    pub(crate) fn compare(&self, ledger: &Ledger) -> Result<(), TestCaseError> {
        let pending: Vec<_> =
            ledger.holds().map(|it| (it.hold.id, (it.hold, it.left.get()))).collect();
        prop_assert_eq!(pending, self.holds.clone().into_iter().collect::<Vec<_>>());
        for (id, placed) in &self.placed {
            let ended = self.ended.get(id).copied().unwrap_or_default();
            prop_assert_eq!(*placed, ended + u32::from(self.holds.contains_key(id)));
        }
        let mut held: BTreeMap<Account, u64> = BTreeMap::new();
        for (hold, left) in self.holds.values() {
            *held.entry(hold.from).or_default() += left;
        }
        for (account, state) in ledger.accounts() {
            let held = held.get(account).copied().unwrap_or_default();
            prop_assert_eq!(state.held().get(), held, "{}", account);
        }
        Ok(())
    }

    fn play(&mut self, at: UnixMicros, transfer: &ledger::Transfer) {
        let seat = |account: Account| matches!(account, Account::Seat(..));
        let counts = match transfer.kind {
            Kind::Settlement { .. } | Kind::PotRefund { .. } => true,
            Kind::Capture { .. } => transfer.legs.first().is_some_and(|leg| seat(leg.account)),
            Kind::Issue | Kind::Redeem | Kind::BuyIn | Kind::CashOut | Kind::Adjustment { .. } => {
                false
            }
        };
        for leg in transfer.legs.iter().filter(|leg| seat(leg.account)) {
            let Some(player) = leg.account.player() else { continue };
            let before = self.has_credits(player);
            *self.seats.entry(leg.account).or_default() += leg.amount.get();
            if before != self.has_credits(player) {
                self.seated_changes.push((player, at));
            }
            if counts {
                self.results.push((player, at, leg.amount.get()));
            }
        }
    }

    fn has_credits(&self, player: PlayerId) -> bool {
        self.seats.iter().any(|(seat, credits)| seat.player() == Some(player) && *credits != 0)
    }

    /// Compares the use of loss and time limits at `now`.
    pub(crate) fn compare_play(
        &self,
        ledger: &Ledger,
        now: UnixMicros,
    ) -> Result<(), TestCaseError> {
        for n in 0..4 {
            let player = PlayerId([n; 16]);
            for used in ledger.limit_usage(player, now).unwrap_or_default() {
                let hour = (now.0 / HOUR_MICROS).saturating_sub(used.window.hours());
                let from = hour * HOUR_MICROS;
                let expected = match used.measure {
                    Measure::BuyIn => continue,
                    Measure::Loss => {
                        let of = self.results.iter().filter(|it| it.0 == player && it.1.0 >= from);
                        u64::try_from(-of.map(|it| it.2).sum::<i64>()).unwrap_or(0)
                    }
                    Measure::Time => {
                        let turns =
                            self.seated_changes.iter().filter(|it| it.0 == player).map(|it| it.1.0);
                        let mut times: Vec<u64> = turns.collect();
                        if times.len() % 2 == 1 {
                            times.push(now.0);
                        }
                        let spans = times.chunks(2);
                        let micros: u64 =
                            spans.map(|it| it[1].max(from).saturating_sub(it[0].max(from))).sum();
                        micros / 1_000_000
                    }
                };
                prop_assert_eq!(used.used, expected, "{:?} {:?}", used.measure, used.window);
            }
        }
        Ok(())
    }

    fn captured(&mut self, id: HoldId, amount: u64, keep: bool) -> Result<(), TestCaseError> {
        let Some((hold, left)) = self.holds.remove(&id) else {
            return Err(TestCaseError::fail("captured, and was not pending"));
        };
        prop_assert!(amount <= left);
        if keep && amount < left {
            self.holds.insert(id, (hold, left - amount));
        } else {
            *self.ended.entry(id).or_default() += 1;
        }
        Ok(())
    }

    fn end_hold(&mut self, ended: &EndedHold) -> Result<Hold, TestCaseError> {
        let Some((hold, left)) = self.holds.remove(&ended.hold) else {
            return Err(TestCaseError::fail("ended, and was not pending"));
        };
        prop_assert_eq!((hold.from, hold.to, left), (ended.from, ended.to, ended.amount.get()));
        *self.ended.entry(ended.hold).or_default() += 1;
        Ok(hold)
    }

    /// Limits in force of one setter: pending ones hold once their time has come.
    fn limits_in_force(&self, whose: (PlayerId, LimitSetter), at: UnixMicros) -> Limits {
        match self.terms.get(&whose) {
            None => Limits::NONE,
            Some((_, Some((from, limits)))) if *from <= at => *limits,
            Some((now, _)) => *now,
        }
    }

    /// Checks that no exact window that ends now exceeds its limit.
    fn within_limits(&self, player: PlayerId, at: UnixMicros) -> Result<(), TestCaseError> {
        for setter in [LimitSetter::Player, LimitSetter::Operator] {
            let limits = self.limits_in_force((player, setter), at);
            for window in Window::ALL {
                let Some(limit) = limits.of(window) else { continue };
                let from = at.0 - window.hours() * HOUR_MICROS;
                let counts = |(who, when, _): &&(PlayerId, UnixMicros, u64)| {
                    *who == player && when.0 >= from
                };
                let sum: u128 =
                    self.brought.iter().filter(counts).map(|(_, _, n)| u128::from(*n)).sum();
                prop_assert!(sum <= u128::from(limit.get()), "{sum} within {window}: {limits:?}");
            }
        }
        Ok(())
    }

    /// Checks that stricter limits hold at once, and looser ones exactly a day later.
    fn set(
        &mut self,
        at: UnixMicros,
        whose: (PlayerId, LimitSetter),
        now: Limits,
        later: Option<(UnixMicros, Limits)>,
    ) -> Result<(), TestCaseError> {
        let loose = |limit: Option<Credits>| limit.map_or(u64::MAX, Credits::get);
        let before = self.limits_in_force(whose, at);
        for window in Window::ALL {
            prop_assert!(loose(now.of(window)) <= loose(before.of(window)));
        }
        if let Some((from, limits)) = later {
            prop_assert_eq!(from.0, at.0 + 24 * HOUR_MICROS);
            for window in Window::ALL {
                prop_assert!(loose(now.of(window)) <= loose(limits.of(window)));
            }
        }
        self.terms.insert(whose, (now, later));
        Ok(())
    }
}
