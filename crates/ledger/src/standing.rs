//! Standing of a player: what restricts them, which limits are nearly reached, and how much of each
//! limit is used.
//!
//! A buy-in limit restricts buy-ins alone; credits already at a table may be played. A loss limit
//! and a session time limit restrict further hands. Use is counted to the hour, see
//! [`crate::PlayHistory`].
//!
//! **A loss limit bounds what is at stake.** All credits at tables may be lost, at all tables at
//! once. So no more may be there than the limit plus the net result within its window. A buy-in
//! beyond that is refused; held credits of the player's account count too. A player with more than
//! that at tables is dealt into no further hand. So no number of tables can lose more than the
//! limit, except in hands that were in play when it was set.

use std::collections::BTreeSet;

use primitives::{Credits, PlayerId, UnixMicros};

use crate::limits::{HOUR_MICROS, LimitSetter, Measure, Window, saturating_sum, stricter_of};
use crate::{Account, AccountState, Exclusion, Ledger, PlayHistory, Refusal};

/// Percentage of a limit from which it is nearly reached.
const NOTICE_PERCENT: u64 = 80;
/// Seconds left from which a session time limit is nearly reached.
const NOTICE_SECONDS: u64 = 600;

/// Reason why a player is dealt into no further hand, the weightiest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restriction {
    /// The account is closed, or was never opened.
    Closed,
    Excluded(Exclusion),
    Frozen,
    Limit(ReachedLimit),
}

/// A limit that is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReachedLimit {
    pub measure: Measure,
    pub window: Window,
    /// In credits or seconds.
    pub limit: u64,
    /// Time at which play fits again if the player does not play until then; `None` if not before
    /// the limit is changed.
    pub until: Option<UnixMicros>,
}

/// A limit that is nearly used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitNotice {
    pub measure: Measure,
    pub window: Window,
    /// In credits or seconds.
    pub limit: u64,
    /// At least 1.
    pub left: u64,
}

/// Standing of a player at one time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// `None`: the player may play.
    pub restriction: Option<Restriction>,
    /// In the order of measures and windows; empty under a restriction.
    pub notices: Vec<LimitNotice>,
}

/// A limit and how much of it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitUsage {
    pub measure: Measure,
    pub window: Window,
    /// The stricter of the player's and the operator's limit; `None` if neither set one.
    pub limit: Option<u64>,
    /// In credits or seconds.
    pub used: u64,
}

impl LimitUsage {
    /// Rest of the limit; 0 if it is exceeded.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }
}

/// Facts that a player's limits are checked against.
struct LimitCheck<'a> {
    state: &'a AccountState,
    played: &'a PlayHistory,
    /// Credits at all tables.
    at_tables: u64,
    now: UnixMicros,
}

/// A limit that a request exceeds.
struct ExceededLimit {
    window: Window,
    limit: u64,
    /// Largest amount that would fit.
    fits: u64,
}

impl LimitCheck<'_> {
    /// Limit and use at `at`, if nothing more is used from now on.
    fn usage(&self, measure: Measure, window: Window, at: UnixMicros) -> LimitUsage {
        let by = |setter| self.state.terms_set_by(setter).limit(measure, window, at);
        let used = match measure {
            Measure::BuyIn => {
                saturating_sum(self.state.bought_in(window, at), self.state.held()).get()
            }
            Measure::Loss => self.played.net_loss(window, at),
            Measure::Time => self.played.seated_seconds(window, at, self.now),
        };
        let limit = stricter_of(by(LimitSetter::Player), by(LimitSetter::Operator));
        LimitUsage { measure, window, limit, used }
    }

    /// Largest amount that fits at `at`: credits to bring or seconds; for losses, credits at stake.
    fn largest_fit(&self, measure: Measure, window: Window, at: UnixMicros) -> Option<u64> {
        let used = self.usage(measure, window, at);
        match measure {
            Measure::BuyIn | Measure::Time => used.left(),
            Measure::Loss => {
                let net = self.played.net(window, at);
                used.limit.map(|limit| limit.saturating_add_signed(net))
            }
        }
    }

    /// Credits at stake once `amount` more is brought: credits at tables, and held credits.
    fn at_stake(&self, amount: Credits) -> u64 {
        let held = self.state.held().get();
        self.at_tables.saturating_add(held).saturating_add(amount.get())
    }

    /// First time from now on at which `more` fits within every window of the measure: when an hour
    /// that counts leaves a window, or a looser limit begins to hold.
    fn fits_again_at(&self, measure: Measure, more: u64) -> Option<UnixMicros> {
        let fits = |at: &UnixMicros| {
            let mut fit = Window::ALL.iter().map(|window| self.largest_fit(measure, *window, *at));
            fit.all(|fits| fits.is_none_or(|fits| fits >= more))
        };
        let hours = self.state.buy_in_hours().chain(self.played.counted_hours(self.now));
        let hours: BTreeSet<u64> = hours.collect();
        let ends = hours.into_iter().flat_map(|hour| {
            Window::ALL.map(|window| {
                let after = hour.saturating_add(window.hours()).saturating_add(1);
                UnixMicros(after.saturating_mul(HOUR_MICROS))
            })
        });
        let looser = [LimitSetter::Player, LimitSetter::Operator];
        let looser =
            looser.into_iter().filter_map(|by| self.state.terms_set_by(by).loosens_at(measure));
        let mut times: Vec<UnixMicros> = ends.chain(looser).filter(|at| *at > self.now).collect();
        times.sort_unstable();
        times.dedup();
        times.into_iter().find(fits)
    }

    /// First window in which `more` does not fit.
    fn first_exceeded(&self, measure: Measure, more: u64) -> Option<ExceededLimit> {
        Window::ALL.iter().find_map(|window| {
            let fits = self.largest_fit(measure, *window, self.now).filter(|fits| *fits < more)?;
            let limit = self.usage(measure, *window, self.now).limit?;
            Some(ExceededLimit { window: *window, limit, fits })
        })
    }

    fn notices(&self) -> Vec<LimitNotice> {
        let all = [Measure::Loss, Measure::Time].into_iter();
        let all = all.flat_map(|measure| Window::ALL.map(|window| (measure, window)));
        all.filter_map(|(measure, window)| {
            let used = self.usage(measure, window, self.now);
            let (limit, left) = (used.limit?, used.left()?);
            let percent = used.used.saturating_mul(100) >= limit.saturating_mul(NOTICE_PERCENT);
            let soon = measure == Measure::Time && left <= NOTICE_SECONDS;
            (percent || soon).then_some(LimitNotice { measure, window, limit, left })
        })
        .collect()
    }
}

impl Ledger {
    /// Standing of a player at `now`.
    #[must_use]
    pub fn standing(&self, player: PlayerId, now: UnixMicros) -> Standing {
        let bar = |bar| Standing { restriction: Some(bar), notices: Vec::new() };
        let Some(check) = self.limit_check(player, now).filter(|check| !check.state.is_closed())
        else {
            return bar(Restriction::Closed);
        };
        if let Some(exclusion) = check.state.exclusion_at(now) {
            return bar(Restriction::Excluded(exclusion));
        }
        if check.state.is_frozen() {
            return bar(Restriction::Frozen);
        }
        let at_stake = check.at_tables.max(1);
        let reached = [(Measure::Loss, at_stake), (Measure::Time, 1)];
        let reached = reached.into_iter().find_map(|(measure, more)| {
            let ExceededLimit { window, limit, fits: _ } = check.first_exceeded(measure, more)?;
            let until = check.fits_again_at(measure, more);
            Some(ReachedLimit { measure, window, limit, until })
        });
        match reached {
            Some(reached) => bar(Restriction::Limit(reached)),
            None => Standing { restriction: None, notices: check.notices() },
        }
    }

    /// All limits of a player at `now` with their use, in the order of measures and windows; `None`
    /// if the account was never opened.
    #[must_use]
    pub fn limit_usage(&self, player: PlayerId, now: UnixMicros) -> Option<Vec<LimitUsage>> {
        let check = self.limit_check(player, now)?;
        let all = Measure::ALL.into_iter();
        let all = all.flat_map(|measure| Window::ALL.map(|window| (measure, window)));
        Some(all.map(|(measure, window)| check.usage(measure, window, now)).collect())
    }

    /// Checks that `amount` more may be brought to tables: within the buy-in limit, with no more at
    /// stake than may still be lost, and with time left to play. Held credits count as brought.
    pub(crate) fn check_buy_in(
        &self,
        player: PlayerId,
        now: UnixMicros,
        amount: Credits,
    ) -> Result<(), Refusal> {
        let Some(check) = self.limit_check(player, now) else { return Ok(()) };
        let brought = amount.get();
        let at_stake = check.at_stake(amount);
        for (measure, more, there) in [
            (Measure::BuyIn, brought, 0),
            (Measure::Loss, at_stake, at_stake.saturating_sub(brought)),
            (Measure::Time, 1, 0),
        ] {
            if let Some(ExceededLimit { window, limit, fits }) = check.first_exceeded(measure, more)
            {
                let (left, until) =
                    (fits.saturating_sub(there), check.fits_again_at(measure, more));
                return Err(Refusal::LimitReached { measure, window, limit, left, until });
            }
        }
        Ok(())
    }

    fn limit_check(&self, player: PlayerId, now: UnixMicros) -> Option<LimitCheck<'_>> {
        static NONE: PlayHistory = PlayHistory::NONE;
        let state = self.account(&Account::Player(player))?;
        let seats = self.in_play(player).map(|(_, credits)| credits.magnitude().get());
        let at_tables = seats.fold(0_u64, u64::saturating_add);
        Some(LimitCheck {
            state,
            played: self.play_history(player).unwrap_or(&NONE),
            at_tables,
            now,
        })
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a test that overflows has failed")]
mod tests {
    use super::*;
    use crate::limits::{AllLimitTerms, HourlyBuyIn, LimitTerms, Limits, Seconds};
    use crate::play_history::HourlyPlay;

    const HOUR_NOW: u64 = 500_000;

    /// First hour at which `more` fits, found by trying every hour at which the longest window can
    /// end.
    fn every_hour(check: &LimitCheck<'_>, measure: Measure, more: u64) -> Option<UnixMicros> {
        (HOUR_NOW + 1..=HOUR_NOW + 722).map(|hour| UnixMicros(hour * HOUR_MICROS)).find(|at| {
            let fits = |window| check.largest_fit(measure, window, *at);
            Window::ALL.into_iter().all(|window| fits(window).is_none_or(|fits| fits >= more))
        })
    }

    /// The hours in which something counts are enough to find the time at which a limit fits again.
    #[test]
    fn a_limit_lets_again_at_the_hour_at_which_every_hour_says_so() {
        let now = UnixMicros(HOUR_NOW * HOUR_MICROS + 1_234);
        fn limits<T>(of: impl Fn(u32) -> T) -> Limits<T> {
            let [day, week, month] = [100, 300, 500].map(|most| Some(of(most)));
            Limits { day, week, month }
        }
        let credits = limits(Credits::of);
        let seconds = limits(|most| Seconds(most.into()));
        let terms = AllLimitTerms {
            buy_in: LimitTerms { now: credits, later: None },
            loss: LimitTerms { now: credits, later: None },
            time: LimitTerms { now: seconds, later: None },
        };
        let mut found = 0;
        for case in 0_u64..60 {
            // Arbitrary numbers that differ from case to case.
            let any = |n: u64| (case * 7_919 + n * 104_729) % 1_009;
            let hours: BTreeSet<u64> =
                (0..case % 9).map(|n| HOUR_NOW - any(n) % 740).chain([HOUR_NOW - case]).collect();
            let mut state = AccountState::new(7);
            let brought = |hour: &u64| HourlyBuyIn { hour: *hour, amount: Credits::of(60) };
            state.update_details(|extra| {
                extra.own_limits = Some(Box::new(terms));
                extra.buy_ins = hours.iter().map(brought).collect();
            });
            let hour = |hour: &u64| {
                let net = if any(*hour).is_multiple_of(3) { 40 } else { -70 };
                (*hour, HourlyPlay { net, seated_micros: 90_000_000 })
            };
            let seated =
                case.is_multiple_of(4).then(|| UnixMicros((HOUR_NOW - case) * HOUR_MICROS));
            let played =
                PlayHistory { seated_since: seated, hours: hours.iter().map(hour).collect() };
            let check = LimitCheck { state: &state, played: &played, at_tables: 0, now };
            for measure in [Measure::BuyIn, Measure::Loss, Measure::Time] {
                for more in [1, 30, 99] {
                    if check.first_exceeded(measure, more).is_none() {
                        continue;
                    }
                    let at = check.fits_again_at(measure, more);
                    assert_eq!(at, every_hour(&check, measure, more), "{case} {measure:?} {more}");
                    found += u32::from(at.is_some());
                }
            }
        }
        assert!(found > 100, "{found} cases say something");
    }
}
