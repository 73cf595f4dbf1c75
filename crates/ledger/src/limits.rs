//! Limits of play: windows, measures, and credits brought to tables by the hour.
//!
//! A window rolls on hour by hour: a buy-in counts to the end of the hour in which it leaves the
//! window. So at most 721 numbers a player are kept, and within any exact window never more was
//! brought than the limit. Losses and time at tables are counted by the hour too, in
//! [`crate::PlayHistory`].
//!
//! Specification: services/wallet/README.md "Commands".

use std::fmt;
use std::time::Duration;

use primitives::{Credits, UnixMicros};

/// Delay before a looser limit holds.
pub const LOOSENING_DELAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) const HOUR_MICROS: u64 = 3_600_000_000;

/// Length of the span that a limit covers. Spans roll; they are not calendar days or months.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Window {
    Day,
    Week,
    Month,
}

impl Window {
    pub const ALL: [Window; 3] = [Window::Day, Window::Week, Window::Month];

    /// Length in hours: 24, 168 (7 days) or 720 (30 days).
    #[must_use]
    pub const fn hours(self) -> u64 {
        match self {
            Window::Day => 24,
            Window::Week => 168,
            Window::Month => 720,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Window::Day => "24 hours",
            Window::Week => "7 days",
            Window::Month => "30 days",
        })
    }
}

/// Author of a limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LimitSetter {
    Player,
    Operator,
}

/// Quantity that a limit bounds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Measure {
    /// Credits brought to tables.
    BuyIn,
    /// Net loss of hands, in credits.
    Loss,
    /// Time with credits at any table.
    Time,
}

impl Measure {
    pub const ALL: [Measure; 3] = [Measure::BuyIn, Measure::Loss, Measure::Time];
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::BuyIn => "buy-in limit",
            Measure::Loss => "loss limit",
            Measure::Time => "session time limit",
        })
    }
}

/// Seconds at tables. In a limit at most [`Seconds::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Seconds(pub u64);

impl Seconds {
    /// 30 days and an hour: more than any window can hold.
    pub const MAX: Seconds = Seconds(721 * 3600);
}

/// Largest use of one measure within each window; `None`: unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits<T = Credits> {
    pub day: Option<T>,
    pub week: Option<T>,
    pub month: Option<T>,
}

impl<T> Default for Limits<T> {
    fn default() -> Limits<T> {
        Limits { day: None, week: None, month: None }
    }
}

impl<T: Copy + Ord> Limits<T> {
    pub const NONE: Limits<T> = Limits { day: None, week: None, month: None };

    #[must_use]
    pub const fn of(&self, window: Window) -> Option<T> {
        match window {
            Window::Day => self.day,
            Window::Week => self.week,
            Window::Month => self.month,
        }
    }

    /// The stricter limit of each window.
    #[must_use]
    pub fn stricter(self, other: Limits<T>) -> Limits<T> {
        Limits {
            day: stricter_of(self.day, other.day),
            week: stricter_of(self.week, other.week),
            month: stricter_of(self.month, other.month),
        }
    }
}

pub(crate) fn stricter_of<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Limits in force, and those that will replace them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitTerms<T = Credits> {
    pub now: Limits<T>,
    /// Limits in place of `now`, and the time from which they hold.
    pub later: Option<(UnixMicros, Limits<T>)>,
}

impl<T> Default for LimitTerms<T> {
    fn default() -> LimitTerms<T> {
        LimitTerms { now: Limits::default(), later: None }
    }
}

impl<T: Copy + Ord> LimitTerms<T> {
    /// These terms at `time`: pending limits whose time has come are in force.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> LimitTerms<T> {
        match self.later {
            Some((from, limits)) if from <= time => LimitTerms { now: limits, later: None },
            Some(_) | None => self,
        }
    }

    /// These terms once `wanted` is set at `time`: stricter windows hold at once, looser ones wait
    /// for [`LOOSENING_DELAY`]. Limits that were pending are dropped.
    #[must_use]
    pub(crate) fn with_request(self, time: UnixMicros, wanted: Limits<T>) -> LimitTerms<T> {
        let now = self.at(time).now.stricter(wanted);
        let later = (now != wanted).then(|| (time.plus(LOOSENING_DELAY), wanted));
        LimitTerms { now, later }
    }
}

/// Requested limits of one measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestedLimits {
    BuyIn(Limits),
    Loss(Limits),
    Time(Limits<Seconds>),
}

/// Terms of one measure after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasureTerms {
    BuyIn(LimitTerms),
    Loss(LimitTerms),
    Time(LimitTerms<Seconds>),
}

impl MeasureTerms {
    /// Limits that were requested: the pending ones, otherwise those in force.
    #[must_use]
    pub fn requested(&self) -> RequestedLimits {
        fn of<T: Copy>(terms: &LimitTerms<T>) -> Limits<T> {
            terms.later.map_or(terms.now, |(_, limits)| limits)
        }
        match self {
            MeasureTerms::BuyIn(terms) => RequestedLimits::BuyIn(of(terms)),
            MeasureTerms::Loss(terms) => RequestedLimits::Loss(of(terms)),
            MeasureTerms::Time(terms) => RequestedLimits::Time(of(terms)),
        }
    }
}

/// All limits of one player by one author.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AllLimitTerms {
    pub buy_in: LimitTerms,
    pub loss: LimitTerms,
    pub time: LimitTerms<Seconds>,
}

impl AllLimitTerms {
    /// These terms at `time`.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> AllLimitTerms {
        let AllLimitTerms { buy_in, loss, time: seated } = self;
        AllLimitTerms { buy_in: buy_in.at(time), loss: loss.at(time), time: seated.at(time) }
    }

    /// Terms of one measure once `wanted` is set at `time`.
    pub(crate) fn requested_terms(
        &self,
        time: UnixMicros,
        wanted: RequestedLimits,
    ) -> MeasureTerms {
        match wanted {
            RequestedLimits::BuyIn(limits) => {
                MeasureTerms::BuyIn(self.buy_in.with_request(time, limits))
            }
            RequestedLimits::Loss(limits) => {
                MeasureTerms::Loss(self.loss.with_request(time, limits))
            }
            RequestedLimits::Time(limits) => {
                MeasureTerms::Time(self.time.with_request(time, limits))
            }
        }
    }

    /// Whether the same limits were requested before. Setting them again would only delay the
    /// pending ones.
    pub(crate) fn is_requested(&self, terms: &MeasureTerms) -> bool {
        let own = match terms {
            MeasureTerms::BuyIn(_) => MeasureTerms::BuyIn(self.buy_in),
            MeasureTerms::Loss(_) => MeasureTerms::Loss(self.loss),
            MeasureTerms::Time(_) => MeasureTerms::Time(self.time),
        };
        own.requested() == terms.requested()
    }

    pub(crate) const fn put(&mut self, terms: MeasureTerms) {
        match terms {
            MeasureTerms::BuyIn(terms) => self.buy_in = terms,
            MeasureTerms::Loss(terms) => self.loss = terms,
            MeasureTerms::Time(terms) => self.time = terms,
        }
    }

    /// Limit in force at `time`, in credits or seconds.
    pub(crate) fn limit(&self, measure: Measure, window: Window, time: UnixMicros) -> Option<u64> {
        let AllLimitTerms { buy_in, loss, time: seated } = self.at(time);
        match measure {
            Measure::BuyIn => buy_in.now.of(window).map(Credits::get),
            Measure::Loss => loss.now.of(window).map(Credits::get),
            Measure::Time => seated.now.of(window).map(|Seconds(seconds)| seconds),
        }
    }

    /// Time at which a looser limit of the measure begins to hold, if one is pending.
    pub(crate) fn loosens_at(&self, measure: Measure) -> Option<UnixMicros> {
        match measure {
            Measure::BuyIn => self.buy_in.later.map(|(from, _)| from),
            Measure::Loss => self.loss.later.map(|(from, _)| from),
            Measure::Time => self.time.later.map(|(from, _)| from),
        }
    }
}

/// Credits that a player brought to tables within one hour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HourlyBuyIn {
    /// Whole hours since 1970-01-01T00:00:00Z.
    pub hour: u64,
    /// Clamped to [`Credits::MAX`], which no limit exceeds.
    pub amount: Credits,
}

/// First hour that counts within `window` at `now`.
pub(crate) fn first_hour(window: Window, now: UnixMicros) -> u64 {
    now.0.div_euclid(HOUR_MICROS).saturating_sub(window.hours())
}

/// Credits of `brought`, in the order of hours, that count within `window` at `now`.
pub(crate) fn bought_in_within(
    brought: &[HourlyBuyIn],
    window: Window,
    now: UnixMicros,
) -> Credits {
    let counts = |it: &&HourlyBuyIn| !is_over(it, window, now);
    brought
        .iter()
        .rev()
        .take_while(counts)
        .fold(Credits::ZERO, |sum, it| saturating_sum(sum, it.amount))
}

/// Records `amount` at `at`, and drops entries older than the longest window.
pub(crate) fn record_buy_in(brought: &mut Vec<HourlyBuyIn>, at: UnixMicros, amount: Credits) {
    let hour = at.0.div_euclid(HOUR_MICROS);
    match brought.last_mut() {
        // Clocks do not go back; if one did, the credits would count for longer.
        Some(last) if last.hour >= hour => last.amount = saturating_sum(last.amount, amount),
        Some(_) | None => {
            forget(brought, at);
            brought.push(HourlyBuyIn { hour, amount });
        }
    }
}

/// Drops entries older than the longest window.
pub(crate) fn forget(brought: &mut Vec<HourlyBuyIn>, now: UnixMicros) {
    let over = brought.partition_point(|it| is_over(it, Window::Month, now));
    brought.drain(..over);
}

/// Sum, clamped to [`Credits::MAX`].
pub(crate) fn saturating_sum(one: Credits, other: Credits) -> Credits {
    one.plus(other).unwrap_or(Credits::MAX)
}

fn is_over(brought: &HourlyBuyIn, window: Window, now: UnixMicros) -> bool {
    brought.hour.saturating_add(window.hours()) < now.0.div_euclid(HOUR_MICROS)
}
