//! Delay of the room: how it is measured, and what follows from it.
//!
//! The delays are those that requests and timers meet: the time from a request's arrival until its
//! table judges it, the time of an append, and the delay of a timer of this process. The worst
//! of the last seconds is the room's delay, one for all tables. The wait of requests at a single
//! table is that table's own delay. It becomes the room's only where several tables are late, so
//! nobody delays the room by sending much to one table.
//!
//! - **No player is charged for it.** Deadlines of clocks and of entropy are extended by the delay.
//!   A table judges everything that has arrived before it lets a deadline pass. A decision counts
//!   from its arrival. So a seat has withheld, or a clock has run out, only where the room was on
//!   time.
//! - **New work waits.** A room that is behind starts no hand, creates no table and gives no seat.
//!   Hands in play go on. Once the room is on time again, hands start spread over a few seconds.
//!
//! Specification: ARCHITECTURE.md §7.7.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::{TableId, UnixMicros};

/// Delay from which on a room is behind: a quarter of the default time to reveal, so that as much
/// again fits before anybody's time runs short.
pub(crate) const BEHIND_FROM: Duration = Duration::from_millis(500);
/// Delay below which a room is on time again, for the worst of a whole window.
const ON_TIME_BELOW: Duration = Duration::from_millis(250);
/// Length of a window. The worst delay is remembered for one window to two.
const WINDOW: Duration = Duration::from_secs(2);
/// Least extension of every deadline, for messages in flight between two services.
const MIN_EXTENSION: Duration = Duration::from_millis(50);
/// Most extension of a deadline. A longer delay is an outage, after which clocks get their time
/// back in another way.
const MAX_EXTENSION: Duration = Duration::from_secs(30);
/// Pause before a start that is held back is looked at again, on top of its offset.
const RECHECK_PAUSE: Duration = Duration::from_secs(1);
/// Span over which the starts that were held back are spread.
const START_SPREAD: Duration = Duration::from_secs(3);
/// Tables with late requests from which on the room is late.
const MIN_LATE_TABLES: usize = 4;
/// Interval at which the process measures the delay of its timers.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_millis(100);
/// Pause that callers are advised to make after a refusal of a room that is behind.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// Delay of a room or of one table at some instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DelayState {
    /// Extension of deadlines.
    pub delay: Duration,
    /// Whether new work waits.
    pub is_behind: bool,
    /// Time at which the room was last found to be on time again.
    on_time_since: Option<UnixMicros>,
}

impl DelayState {
    /// Time before which a hand of this table does not start, if it has to wait.
    #[must_use]
    pub(crate) fn start_held_until(
        &self,
        table: TableId,
        hand_no: u64,
        now: UnixMicros,
    ) -> Option<UnixMicros> {
        let share = start_offset(table, hand_no);
        if self.is_behind {
            return Some(now.plus(RECHECK_PAUSE).plus(share));
        }
        self.on_time_since.map(|over| over.plus(share)).filter(|until| *until > now)
    }
}

/// Offset of a hand's start within the spread: fixed for each hand, different for its neighbours.
fn start_offset(table: TableId, hand_no: u64) -> Duration {
    let mut random = [0; 8];
    random.copy_from_slice(&table.bytes()[8..]);
    let mixed = u64::from_be_bytes(random) ^ hand_no.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let spread = u64::try_from(START_SPREAD.as_micros()).unwrap_or(1);
    Duration::from_micros(mixed % spread)
}

/// Delays of a room or of one table, folded. Pure: the caller says when.
#[derive(Debug, Clone, Default)]
pub(crate) struct DelayWindow {
    /// Number of the current window.
    window: u64,
    worst: Duration,
    /// Worst delay of the window before.
    previous_worst: Duration,
    /// Tables at which a request of this window was late.
    late_tables: BTreeSet<TableId>,
    is_behind: bool,
    on_time_since: Option<UnixMicros>,
}

impl DelayWindow {
    /// Notes a delay.
    pub(crate) fn observe(&mut self, delay: Duration, at: UnixMicros) {
        self.advance_window(at);
        self.worst = self.worst.max(delay.min(MAX_EXTENSION));
        self.update_state(at);
    }

    /// Notes the wait of a request at one table. It counts for the room once enough tables are
    /// late.
    pub(crate) fn observe_at_table(&mut self, table: TableId, delay: Duration, at: UnixMicros) {
        if delay < BEHIND_FROM {
            return;
        }
        self.advance_window(at);
        if self.late_tables.len() < MIN_LATE_TABLES {
            self.late_tables.insert(table);
        }
        if self.late_tables.len() == MIN_LATE_TABLES {
            self.observe(delay, at);
        }
    }

    /// Standing at this instant.
    pub(crate) fn state(&mut self, at: UnixMicros) -> DelayState {
        self.advance_window(at);
        self.update_state(at);
        let late = self.worst.max(self.previous_worst).max(MIN_EXTENSION);
        DelayState { delay: late, is_behind: self.is_behind, on_time_since: self.on_time_since }
    }

    fn advance_window(&mut self, at: UnixMicros) {
        let length = u64::try_from(WINDOW.as_micros()).unwrap_or(u64::MAX);
        let window = at.0 / length;
        if window > self.window {
            let next = window == self.window + 1;
            self.previous_worst = if next { self.worst } else { Duration::ZERO };
            self.worst = Duration::ZERO;
            self.window = window;
            self.late_tables.clear();
        }
    }

    fn update_state(&mut self, at: UnixMicros) {
        let late = self.worst.max(self.previous_worst);
        if late >= BEHIND_FROM {
            self.is_behind = true;
        } else if late < ON_TIME_BELOW && self.is_behind {
            self.is_behind = false;
            self.on_time_since = Some(at);
        }
    }
}

/// Delay of the room, shared by all its tables.
#[derive(Debug, Default)]
pub(crate) struct RoomDelay(Mutex<DelayWindow>);

impl RoomDelay {
    /// Notes a delay; see [`DelayWindow::observe`].
    pub(crate) fn observe(&self, delay: Duration, at: UnixMicros) {
        self.with_window(|measured| measured.observe(delay, at));
    }

    /// Notes the wait of a request at one table; see [`DelayWindow::observe_at_table`].
    pub(crate) fn observe_at_table(&self, table: TableId, delay: Duration, at: UnixMicros) {
        if delay >= BEHIND_FROM {
            self.with_window(|measured| measured.observe_at_table(table, delay, at));
        }
    }

    /// Standing at this instant; see [`DelayWindow::state`].
    pub(crate) fn state(&self, at: UnixMicros) -> DelayState {
        self.with_window(|measured| measured.state(at))
    }

    fn with_window<T>(&self, change: impl FnOnce(&mut DelayWindow) -> T) -> T {
        let mut measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = measured.is_behind;
        let done = change(&mut measured);
        match (before, measured.is_behind) {
            (false, true) => {
                let late = measured.worst.max(measured.previous_worst);
                tracing::warn!(?late, "the room is behind: no hand starts and no seat is given");
            }
            (true, false) => tracing::info!("the room is on time again: hands start"),
            (true, true) | (false, false) => {}
        }
        done
    }
}

/// Longest time since an arrival that is believed.
pub(crate) const MAX_ARRIVAL_AGE: Duration = Duration::from_secs(5);

/// Arrival of a request: the edge's word where it is possible, otherwise `now`.
#[must_use]
pub(crate) fn arrival_time(reported: Option<UnixMicros>, now: UnixMicros) -> UnixMicros {
    reported
        .filter(|reported| *reported <= now && now.since(*reported) <= MAX_ARRIVAL_AGE)
        .unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: UnixMicros = UnixMicros(1_000_000_000);

    fn after(millis: u64) -> UnixMicros {
        AT.plus(Duration::from_millis(millis))
    }

    /// ARCHITECTURE.md §7.7.
    #[test]
    fn a_room_is_behind_at_half_a_second_and_on_time_a_while_later() {
        let mut measured = DelayWindow::default();
        assert!(!measured.state(AT).is_behind);
        measured.observe(BEHIND_FROM - Duration::from_millis(1), AT);
        assert!(!measured.state(AT).is_behind);
        measured.observe(BEHIND_FROM, AT);
        let standing = measured.state(AT);
        assert!(standing.is_behind);
        assert_eq!(standing.delay, BEHIND_FROM);
        // Neither at once nor where it is only a little better.
        assert!(measured.state(after(1900)).is_behind);
        measured.observe(ON_TIME_BELOW, after(2100));
        assert!(measured.state(after(5900)).is_behind);
        let standing = measured.state(after(6100));
        assert!(!standing.is_behind);
        assert_eq!(standing.delay, MIN_EXTENSION);
    }

    #[test]
    fn hands_that_were_held_back_start_spread() {
        let mut measured = DelayWindow::default();
        let table = |number: u8| TableId([number.wrapping_mul(37); 16]);
        assert_eq!(measured.state(AT).start_held_until(table(1), 1, AT), None);
        measured.observe(BEHIND_FROM, AT);
        let standing = measured.state(AT);
        assert!((0..100).all(|number| standing.start_held_until(table(number), 1, AT) > Some(AT)));
        let over = after(6000);
        let standing = measured.state(over);
        let starts = (0..100)
            .map(|number| standing.start_held_until(table(number), 1, over).unwrap_or(over));
        let mut starts: Vec<_> = starts.map(|at| at.since(over).as_millis() / 1000).collect();
        starts.sort_unstable();
        for second in 0..3 {
            let count = starts.iter().filter(|start| **start == second).count();
            assert!(count >= 15, "{count} of 100 in second {second}");
        }
        let late = over.plus(START_SPREAD);
        assert_eq!(measured.state(late).start_held_until(table(1), 1, late), None);
    }

    #[test]
    fn one_table_makes_no_room_late() {
        let mut measured = DelayWindow::default();
        for _ in 0..100 {
            for table in 1..4 {
                measured.observe_at_table(TableId([table; 16]), BEHIND_FROM * 2, AT);
            }
        }
        assert!(!measured.state(AT).is_behind);
        measured.observe_at_table(TableId([9; 16]), BEHIND_FROM, AT);
        assert!(measured.state(AT).is_behind);
    }

    #[test]
    fn what_an_edge_says_is_believed_within_bounds() {
        let now = after(10_000);
        assert_eq!(arrival_time(Some(after(9_000)), now), after(9_000));
        assert_eq!(arrival_time(Some(after(5_000)), now), after(5_000));
        assert_eq!(arrival_time(Some(after(4_999)), now), now);
        assert_eq!(arrival_time(Some(after(10_001)), now), now);
        assert_eq!(arrival_time(None, now), now);
    }
}
