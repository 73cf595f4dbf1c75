//! Limits of play: windows, measures, and what a player has brought to tables, by the hour.
//!
//! A window rolls on from hour to hour: what was brought counts to the end of the hour in which it
//! leaves the window. So at most 721 numbers a player say all there is to say, and within any exact
//! window never more was brought than its limit. What was lost and the time at tables are counted
//! likewise, in [`crate::Played`].

use std::fmt;
use std::time::Duration;

use primitives::{Credits, UnixMicros};

/// How long a looser limit waits.
pub const LOOSER_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) const HOUR_MICROS: u64 = 3_600_000_000;

/// A span that limits speak of; any such span, not one of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Window {
    Day,
    Week,
    Month,
}

impl Window {
    pub const ALL: [Window; 3] = [Window::Day, Window::Week, Window::Month];

    /// 24 hours, 7 days, 30 days.
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

/// Whose limits they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Setter {
    Player,
    Operator,
}

/// What limits bound.
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

/// Seconds at tables. As a limit at most [`Seconds::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Seconds(pub u64);

impl Seconds {
    /// 30 days and an hour: more than any window can hold.
    pub const MAX: Seconds = Seconds(721 * 3600);
}

/// The most that may be used of one measure within each window; none: as much as one likes.
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

    /// Window by window the tighter one.
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

/// Limits that hold, and those that will.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms<T = Credits> {
    pub now: Limits<T>,
    /// From then on, in place of `now`.
    pub later: Option<(UnixMicros, Limits<T>)>,
}

impl<T> Default for Terms<T> {
    fn default() -> Terms<T> {
        Terms { now: Limits::default(), later: None }
    }
}

impl<T: Copy + Ord> Terms<T> {
    /// As they stand at `time`: what has waited long enough holds.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> Terms<T> {
        match self.later {
            Some((from, limits)) if from <= time => Terms { now: limits, later: None },
            Some(_) | None => self,
        }
    }

    /// These terms once `wanted` is set at `time`: the tighter windows hold at once, the looser ones
    /// wait. What waited until now is forgotten.
    #[must_use]
    pub(crate) fn set(self, time: UnixMicros, wanted: Limits<T>) -> Terms<T> {
        let now = self.at(time).now.stricter(wanted);
        let later = (now != wanted).then(|| (time.plus(LOOSER_AFTER), wanted));
        Terms { now, later }
    }
}

/// The limits of one measure, as they are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    BuyIn(Limits),
    Loss(Limits),
    Time(Limits<Seconds>),
}

/// The terms of one measure, as they were set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetTerms {
    BuyIn(Terms),
    Loss(Terms),
    Time(Terms<Seconds>),
}

impl SetTerms {
    /// What was wanted, where these were set: what waits, else what holds.
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

/// All limits that one setter has set of one player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AllTerms {
    pub buy_in: Terms,
    pub loss: Terms,
    pub time: Terms<Seconds>,
}

impl AllTerms {
    /// As they stand at `time`.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> AllTerms {
        let AllTerms { buy_in, loss, time: seated } = self;
        AllTerms { buy_in: buy_in.at(time), loss: loss.at(time), time: seated.at(time) }
    }

    /// What one measure's terms become once `wanted` is set at `time`.
    pub(crate) fn set(&self, time: UnixMicros, wanted: Wanted) -> SetTerms {
        match wanted {
            Wanted::BuyIn(limits) => SetTerms::BuyIn(self.buy_in.set(time, limits)),
            Wanted::Loss(limits) => SetTerms::Loss(self.loss.set(time, limits)),
            Wanted::Time(limits) => SetTerms::Time(self.time.set(time, limits)),
        }
    }

    /// Whether these are wanted already: setting them again would only put off what waits.
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

    /// The limit that holds at `time`, in credits or seconds.
    pub(crate) fn limit(&self, measure: Measure, window: Window, time: UnixMicros) -> Option<u64> {
        let AllTerms { buy_in, loss, time: seated } = self.at(time);
        match measure {
            Measure::BuyIn => buy_in.now.of(window).map(Credits::get),
            Measure::Loss => loss.now.of(window).map(Credits::get),
            Measure::Time => seated.now.of(window).map(|Seconds(seconds)| seconds),
        }
    }

    /// When a looser limit of the measure holds, where one waits.
    pub(crate) fn loosens(&self, measure: Measure) -> Option<UnixMicros> {
        match measure {
            Measure::BuyIn => self.buy_in.later.map(|(from, _)| from),
            Measure::Loss => self.loss.later.map(|(from, _)| from),
            Measure::Time => self.time.later.map(|(from, _)| from),
        }
    }
}

/// What a player brought to tables within one hour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brought {
    /// Whole hours since 1970-01-01T00:00:00Z.
    pub hour: u64,
    /// More than [`Credits::MAX`] is told as that: no limit is above it either.
    pub amount: Credits,
}

/// The first hour that counts within `window` at `now`.
pub(crate) fn first_hour(window: Window, now: UnixMicros) -> u64 {
    now.0.div_euclid(HOUR_MICROS).saturating_sub(window.hours())
}

/// Of `brought`, in order of hours, what counts within `window` at `now`.
pub(crate) fn within(brought: &[Brought], window: Window, now: UnixMicros) -> Credits {
    let counts = |it: &&Brought| !is_over(it, window, now);
    brought.iter().rev().take_while(counts).fold(Credits::ZERO, |sum, it| sum_of(sum, it.amount))
}

/// Writes `amount` down, and forgets what counts no more.
pub(crate) fn bring(brought: &mut Vec<Brought>, at: UnixMicros, amount: Credits) {
    let hour = at.0.div_euclid(HOUR_MICROS);
    match brought.last_mut() {
        // Clocks do not go back; where one did, what was brought counts for longer.
        Some(last) if last.hour >= hour => last.amount = sum_of(last.amount, amount),
        Some(_) | None => {
            forget(brought, at);
            brought.push(Brought { hour, amount });
        }
    }
}

/// Forgets what counts no more.
pub(crate) fn forget(brought: &mut Vec<Brought>, now: UnixMicros) {
    let over = brought.partition_point(|it| is_over(it, Window::Month, now));
    brought.drain(..over);
}

/// The sum, or the most there can be of credits.
pub(crate) fn sum_of(one: Credits, other: Credits) -> Credits {
    one.plus(other).unwrap_or(Credits::MAX)
}

fn is_over(brought: &Brought, window: Window, now: UnixMicros) -> bool {
    brought.hour.saturating_add(window.hours()) < now.0.div_euclid(HOUR_MICROS)
}
