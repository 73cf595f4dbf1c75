//! How late the room is, measured where it shows, and what follows from it.
//!
//! Measured are the delays that requests and timers really meet: how long ago a request had arrived
//! when its table judges it, how long the log took an append, and how much later than asked for a timer
//! of the process woke up. The worst of the last seconds is the room's lateness, one for all tables. What
//! requests of a single table had to wait is that table's own lateness, and the room's only where it is
//! so at several: nobody makes a room late by what they send to one table.
//!
//! - **Nobody is charged for it.** Deadlines of clocks and of entropy are honoured later by as much as
//!   the room is late, and a table judges everything that has come before it lets a deadline pass; what
//!   a player decided counts from when it arrived. So a seat has withheld, or a clock has run out, only
//!   where the room was on time.
//! - **New work waits.** A room that is behind starts no hand, opens no table and gives no seat; what
//!   is being played goes on. Once it is on time again, hands start spread over a few seconds.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::{TableId, UnixMicros};

/// A room is behind where something took this long: a quarter of the time in which seats reveal by
/// default, so that there is room for as much again before anybody's time runs short.
pub const BEHIND: Duration = Duration::from_millis(500);
/// It is on time again where the worst of a whole window was below this.
const ON_TIME: Duration = Duration::from_millis(250);
/// How long the worst is remembered: one window to two.
const WINDOW: Duration = Duration::from_secs(2);
/// Every deadline has this much for what is just on its way between two services.
const LEAST: Duration = Duration::from_millis(50);
/// More is an outage, which has a clock's time made up for in another way.
const MOST: Duration = Duration::from_secs(30);
/// A start that is held back is looked at again after this, and after its part of the spread.
const AGAIN: Duration = Duration::from_secs(1);
/// Starts that were held back are spread over this.
const SPREAD: Duration = Duration::from_secs(3);
/// At so many tables requests are late before it is the room that is.
const TABLES: usize = 4;
/// How often the process asks itself how late its timers are.
pub const PROBE: Duration = Duration::from_millis(100);
/// When to try again what a room that is behind refuses.
pub const RETRY: Duration = Duration::from_secs(2);

/// The room's lateness at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What deadlines are honoured later by.
    pub late: Duration,
    /// New work waits.
    pub behind: bool,
    /// Since when it does not wait any more, if it ever did.
    over: Option<UnixMicros>,
}

impl Standing {
    /// Until when a hand of this table is not started, if it has to wait at all.
    #[must_use]
    pub fn hold(&self, (table, hand_no): (TableId, u64), now: UnixMicros) -> Option<UnixMicros> {
        let share = share(table, hand_no);
        if self.behind {
            return Some(now.plus(AGAIN).plus(share));
        }
        self.over.map(|over| over.plus(share)).filter(|until| *until > now)
    }
}

/// A table's part of the spread: the same for the same hand, and unlike its neighbour's.
fn share(table: TableId, hand_no: u64) -> Duration {
    let mut random = [0; 8];
    random.copy_from_slice(&table.bytes()[8..]);
    let mixed = u64::from_be_bytes(random) ^ hand_no.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let spread = u64::try_from(SPREAD.as_micros()).unwrap_or(1);
    Duration::from_micros(mixed % spread)
}

/// Delays as they were measured, of a room or of one table. Pure: who measures says when.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The window that runs, by its number.
    window: u64,
    worst: Duration,
    /// Of the window before.
    before: Duration,
    /// Tables at which a request of this window came too late.
    tables: BTreeSet<TableId>,
    behind: bool,
    over: Option<UnixMicros>,
}

impl Measured {
    /// Something took this long.
    pub fn observe(&mut self, delay: Duration, at: UnixMicros) {
        self.turn(at);
        self.worst = self.worst.max(delay.min(MOST));
        self.judge(at);
    }

    /// A request had waited so long at one table. It counts where as much is so at several.
    pub fn observe_at(&mut self, table: TableId, delay: Duration, at: UnixMicros) {
        if delay < BEHIND {
            return;
        }
        self.turn(at);
        if self.tables.len() < TABLES {
            self.tables.insert(table);
        }
        if self.tables.len() == TABLES {
            self.observe(delay, at);
        }
    }

    /// Where the room stands.
    pub fn standing(&mut self, at: UnixMicros) -> Standing {
        self.turn(at);
        self.judge(at);
        let late = self.worst.max(self.before).max(LEAST);
        Standing { late, behind: self.behind, over: self.over }
    }

    fn turn(&mut self, at: UnixMicros) {
        let length = u64::try_from(WINDOW.as_micros()).unwrap_or(u64::MAX);
        let window = at.0 / length;
        if window > self.window {
            let next = window == self.window + 1;
            self.before = if next { self.worst } else { Duration::ZERO };
            self.worst = Duration::ZERO;
            self.window = window;
            self.tables.clear();
        }
    }

    fn judge(&mut self, at: UnixMicros) {
        let late = self.worst.max(self.before);
        if late >= BEHIND {
            self.behind = true;
        } else if late < ON_TIME && self.behind {
            self.behind = false;
            self.over = Some(at);
        }
    }
}

/// One for all tables of a room.
#[derive(Debug, Default)]
pub struct Lateness(Mutex<Measured>);

impl Lateness {
    /// See [`Measured::observe`].
    pub fn observe(&self, delay: Duration, at: UnixMicros) {
        self.change(|measured| measured.observe(delay, at));
    }

    /// See [`Measured::observe_at`].
    pub fn observe_at(&self, table: TableId, delay: Duration, at: UnixMicros) {
        if delay >= BEHIND {
            self.change(|measured| measured.observe_at(table, delay, at));
        }
    }

    /// See [`Measured::standing`].
    pub fn standing(&self, at: UnixMicros) -> Standing {
        self.change(|measured| measured.standing(at))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Measured) -> T) -> T {
        let mut measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = measured.behind;
        let done = change(&mut measured);
        match (before, measured.behind) {
            (false, true) => {
                let late = measured.worst.max(measured.before);
                tracing::warn!(?late, "the room is behind: no hand starts and no seat is given");
            }
            (true, false) => tracing::info!("the room is on time again: hands start"),
            (true, true) | (false, false) => {}
        }
        done
    }
}

/// The longest ago that a request is believed to have arrived.
pub const BELIEVED: Duration = Duration::from_secs(5);

/// When a request arrived: what the edge says, where that can be, else `now`.
#[must_use]
pub fn arrived(said: Option<UnixMicros>, now: UnixMicros) -> UnixMicros {
    said.filter(|said| *said <= now && now.since(*said) <= BELIEVED).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: UnixMicros = UnixMicros(1_000_000_000);

    fn after(millis: u64) -> UnixMicros {
        AT.plus(Duration::from_millis(millis))
    }

    #[test]
    fn a_room_is_behind_at_half_a_second_and_on_time_a_while_later() {
        let mut measured = Measured::default();
        assert!(!measured.standing(AT).behind);
        measured.observe(BEHIND - Duration::from_millis(1), AT);
        assert!(!measured.standing(AT).behind);
        measured.observe(BEHIND, AT);
        let standing = measured.standing(AT);
        assert!(standing.behind);
        assert_eq!(standing.late, BEHIND);
        // Neither at once nor where it is only a little better.
        assert!(measured.standing(after(1900)).behind);
        measured.observe(ON_TIME, after(2100));
        assert!(measured.standing(after(5900)).behind);
        let standing = measured.standing(after(6100));
        assert!(!standing.behind);
        assert_eq!(standing.late, LEAST);
    }

    #[test]
    fn hands_that_were_held_back_start_spread() {
        let mut measured = Measured::default();
        let table = |number: u8| TableId([number.wrapping_mul(37); 16]);
        assert_eq!(measured.standing(AT).hold((table(1), 1), AT), None);
        measured.observe(BEHIND, AT);
        let standing = measured.standing(AT);
        assert!((0..100).all(|number| standing.hold((table(number), 1), AT) > Some(AT)));
        let over = after(6000);
        let standing = measured.standing(over);
        let starts = (0..100).map(|number| standing.hold((table(number), 1), over).unwrap_or(over));
        let mut starts: Vec<_> = starts.map(|at| at.since(over).as_millis() / 1000).collect();
        starts.sort_unstable();
        for second in 0..3 {
            let count = starts.iter().filter(|start| **start == second).count();
            assert!(count >= 15, "{count} of 100 in second {second}");
        }
        let late = over.plus(SPREAD);
        assert_eq!(measured.standing(late).hold((table(1), 1), late), None);
    }

    #[test]
    fn one_table_makes_no_room_late() {
        let mut measured = Measured::default();
        for _ in 0..100 {
            for table in 1..4 {
                measured.observe_at(TableId([table; 16]), BEHIND * 2, AT);
            }
        }
        assert!(!measured.standing(AT).behind);
        measured.observe_at(TableId([9; 16]), BEHIND, AT);
        assert!(measured.standing(AT).behind);
    }

    #[test]
    fn what_an_edge_says_is_believed_within_bounds() {
        let now = after(10_000);
        assert_eq!(arrived(Some(after(9_000)), now), after(9_000));
        assert_eq!(arrived(Some(after(5_000)), now), after(5_000));
        assert_eq!(arrived(Some(after(4_999)), now), now);
        assert_eq!(arrived(Some(after(10_001)), now), now);
        assert_eq!(arrived(None, now), now);
    }
}
