//! What a player may bring to tables: windows, limits, and what he has brought, by the hour.
//!
//! A window rolls on from hour to hour: what was brought counts to the end of the hour in which it
//! leaves the window. So at most 721 numbers a player say all there is to say, and within any exact
//! window never more was brought than its limit.

use std::fmt;
use std::time::Duration;

use primitives::{Credits, UnixMicros};

/// How long a looser limit waits.
pub const LOOSER_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

const HOUR_MICROS: u64 = 3_600_000_000;

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

/// The most that may be brought to tables within each window; none: as much as one likes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    pub day: Option<Credits>,
    pub week: Option<Credits>,
    pub month: Option<Credits>,
}

impl Limits {
    pub const NONE: Limits = Limits { day: None, week: None, month: None };

    #[must_use]
    pub const fn of(&self, window: Window) -> Option<Credits> {
        match window {
            Window::Day => self.day,
            Window::Week => self.week,
            Window::Month => self.month,
        }
    }

    /// Window by window the tighter one.
    #[must_use]
    pub fn stricter(self, other: Limits) -> Limits {
        Limits {
            day: tighter(self.day, other.day),
            week: tighter(self.week, other.week),
            month: tighter(self.month, other.month),
        }
    }
}

fn tighter(one: Option<Credits>, other: Option<Credits>) -> Option<Credits> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Limits that hold, and those that will.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Terms {
    pub now: Limits,
    /// From then on, in place of `now`.
    pub later: Option<(UnixMicros, Limits)>,
}

impl Terms {
    /// As they stand at `time`: what has waited long enough holds.
    #[must_use]
    pub fn at(self, time: UnixMicros) -> Terms {
        match self.later {
            Some((from, limits)) if from <= time => Terms { now: limits, later: None },
            Some(_) | None => self,
        }
    }

    /// These terms once `wanted` is set at `time`: the tighter windows hold at once, the looser ones
    /// wait. What waited until now is forgotten.
    #[must_use]
    pub(crate) fn set(self, time: UnixMicros, wanted: Limits) -> Terms {
        let now = self.at(time).now.stricter(wanted);
        let later = (now != wanted).then(|| (time.plus(LOOSER_AFTER), wanted));
        Terms { now, later }
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
