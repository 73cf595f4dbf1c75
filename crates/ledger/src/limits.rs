//! Limits of play: windows, measures, and credits brought to tables by the hour.
//!
//! A window rolls on hour by hour: a buy-in counts to the end of the hour in which it leaves the
//! window. So at most 721 numbers a player are kept, and within any exact window never more was
//! brought than the limit. Losses and time at tables are counted by the hour too, in
//! [`crate::Played`].

use std::fmt;
use std::time::Duration;

use primitives::{Credits, UnixMicros};

/// Delay before a looser limit holds.
pub const LOOSER_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

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
pub enum Setter {
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
            day: tighter(self.day, other.day),
            week: tighter(self.week, other.week),
            month: tighter(self.month, other.month),
        }
    }
}

pub(crate) fn tighter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Limits in force, and those that will replace them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms<T = Credits> {
    pub now: Limits<T>,
    /// Limits in place of `now`, and the time from which they hold.
    pub later: Option<(UnixMicros, Limits<T>)>,
}

impl<T> Default for Terms<T> {
    fn default() -> Terms<T> {
        Terms { now: Limits::default(), later: None }
    }
}

impl<T: Copy + Ord> Terms<T> {
    /// These terms at `time`: pending limits whose time has come are in force.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> Terms<T> {
        match self.later {
            Some((from, limits)) if from <= time => Terms { now: limits, later: None },
            Some(_) | None => self,
        }
    }

    /// These terms once `wanted` is set at `time`: stricter windows hold at once, looser ones wait
    /// for [`LOOSER_AFTER`]. Limits that were pending are dropped.
    #[must_use]
    pub(crate) fn set(self, time: UnixMicros, wanted: Limits<T>) -> Terms<T> {
        let now = self.at(time).now.stricter(wanted);
        let later = (now != wanted).then(|| (time.plus(LOOSER_AFTER), wanted));
        Terms { now, later }
    }
}

/// Requested limits of one measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    BuyIn(Limits),
    Loss(Limits),
    Time(Limits<Seconds>),
}

/// Terms of one measure after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetTerms {
    BuyIn(Terms),
    Loss(Terms),
    Time(Terms<Seconds>),
}

impl SetTerms {
    /// Limits that were requested: the pending ones, otherwise those in force.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        fn of<T: Copy>(terms: &Terms<T>) -> Limits<T> {
            terms.later.map_or(terms.now, |(_, limits)| limits)
        }
        match self {
            SetTerms::BuyIn(terms) => Wanted::BuyIn(of(terms)),
            SetTerms::Loss(terms) => Wanted::Loss(of(terms)),
            SetTerms::Time(terms) => Wanted::Time(of(terms)),
        }
    }
}

/// All limits of one player by one author.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AllTerms {
    pub buy_in: Terms,
    pub loss: Terms,
    pub time: Terms<Seconds>,
}

impl AllTerms {
    /// These terms at `time`.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> AllTerms {
        let AllTerms { buy_in, loss, time: seated } = self;
        AllTerms { buy_in: buy_in.at(time), loss: loss.at(time), time: seated.at(time) }
    }

    /// Terms of one measure once `wanted` is set at `time`.
    pub(crate) fn set(&self, time: UnixMicros, wanted: Wanted) -> SetTerms {
        match wanted {
            Wanted::BuyIn(limits) => SetTerms::BuyIn(self.buy_in.set(time, limits)),
            Wanted::Loss(limits) => SetTerms::Loss(self.loss.set(time, limits)),
            Wanted::Time(limits) => SetTerms::Time(self.time.set(time, limits)),
        }
    }

    /// Whether the same limits were requested before. Setting them again would only delay the
    /// pending ones.
    pub(crate) fn wants(&self, terms: &SetTerms) -> bool {
        let own = match terms {
            SetTerms::BuyIn(_) => SetTerms::BuyIn(self.buy_in),
            SetTerms::Loss(_) => SetTerms::Loss(self.loss),
            SetTerms::Time(_) => SetTerms::Time(self.time),
        };
        own.wanted() == terms.wanted()
    }

    pub(crate) const fn put(&mut self, terms: SetTerms) {
        match terms {
            SetTerms::BuyIn(terms) => self.buy_in = terms,
            SetTerms::Loss(terms) => self.loss = terms,
            SetTerms::Time(terms) => self.time = terms,
        }
    }

    /// Limit in force at `time`, in credits or seconds.
    pub(crate) fn limit(&self, measure: Measure, window: Window, time: UnixMicros) -> Option<u64> {
        let AllTerms { buy_in, loss, time: seated } = self.at(time);
        match measure {
            Measure::BuyIn => buy_in.now.of(window).map(Credits::get),
            Measure::Loss => loss.now.of(window).map(Credits::get),
            Measure::Time => seated.now.of(window).map(|Seconds(seconds)| seconds),
        }
    }

    /// Time at which a looser limit of the measure begins to hold, if one is pending.
    pub(crate) fn loosens(&self, measure: Measure) -> Option<UnixMicros> {
        match measure {
            Measure::BuyIn => self.buy_in.later.map(|(from, _)| from),
            Measure::Loss => self.loss.later.map(|(from, _)| from),
            Measure::Time => self.time.later.map(|(from, _)| from),
        }
    }
}

/// Credits that a player brought to tables within one hour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brought {
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
pub(crate) fn within(brought: &[Brought], window: Window, now: UnixMicros) -> Credits {
    let counts = |it: &&Brought| !is_over(it, window, now);
    brought.iter().rev().take_while(counts).fold(Credits::ZERO, |sum, it| sum_of(sum, it.amount))
}

/// Records `amount` at `at`, and drops entries older than the longest window.
pub(crate) fn bring(brought: &mut Vec<Brought>, at: UnixMicros, amount: Credits) {
    let hour = at.0.div_euclid(HOUR_MICROS);
    match brought.last_mut() {
        // Clocks do not go back; if one did, the credits would count for longer.
        Some(last) if last.hour >= hour => last.amount = sum_of(last.amount, amount),
        Some(_) | None => {
            forget(brought, at);
            brought.push(Brought { hour, amount });
        }
    }
}

/// Drops entries older than the longest window.
pub(crate) fn forget(brought: &mut Vec<Brought>, now: UnixMicros) {
    let over = brought.partition_point(|it| is_over(it, Window::Month, now));
    brought.drain(..over);
}

/// Sum, clamped to [`Credits::MAX`].
pub(crate) fn sum_of(one: Credits, other: Credits) -> Credits {
    one.plus(other).unwrap_or(Credits::MAX)
}

fn is_over(brought: &Brought, window: Window, now: UnixMicros) -> bool {
    brought.hour.saturating_add(window.hours()) < now.0.div_euclid(HOUR_MICROS)
}
