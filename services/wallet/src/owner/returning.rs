//! Waits for callers that were just answered before the next group is closed.
//!
//! Callers that wait for an answer before they send their next command come back together. A group
//! that is closed without them splits them into groups that take turns, each with a commit of its
//! own: that costs throughput on a slow disk and processor time on a fast one. So they are waited
//! for, at most as long as their commit took. That wait is bounded: after a very long commit, as
//! when the database was away, nobody waits that long again. Callers that never come back are
//! waited for less and less often.

use std::time::Duration;

use tokio::time::Instant;

/// Longest interval, in groups, between two waits for callers that did not come back.
const SELDOM: u32 = 256;
/// Longest wait for callers that were just answered; long enough for the commit of a rotating disk.
const RETURN: Duration = Duration::from_millis(20);

/// Callers to wait for before the next group is closed.
#[derive(Clone, Copy)]
pub(super) struct Returning {
    /// Number of requests to wait for: those that waited already, and as many as were answered.
    pub(super) asks: usize,
    /// End of the wait: as long as the commit took, within bounds.
    pub(super) until: Instant,
}

/// Interval between waits for returning callers, in groups.
pub(super) struct Waits {
    /// Groups until the next wait.
    left: u32,
    every: u32,
}

impl Returning {
    /// A wait for `asks` requests after a commit of this length.
    pub(super) fn of(asks: usize, commit: Duration) -> Returning {
        Returning { asks, until: Instant::now() + back_within(commit) }
    }
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { left: 0, every: 1 }
    }
}

impl Waits {
    /// Whether the callers answered now are to be waited for.
    pub(super) const fn due(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    /// Records a wait: halves the interval, or doubles it if the wait was in vain.
    pub(super) fn end(&mut self, vain: bool) {
        let every = if vain { self.every * 2 } else { self.every / 2 };
        self.every = every.clamp(1, SELDOM);
        self.left = self.every;
    }
}

/// Length of the wait after a commit of this length.
fn back_within(commit: Duration) -> Duration {
    commit.min(RETURN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_comes_is_seldom_waited_for_and_who_comes_again_after_every_group() {
        let mut waits = Waits::default();
        let mut until = |vain| {
            let groups = (1..).take_while(|_| !waits.due()).count() + 1;
            waits.end(vain);
            groups
        };
        assert_eq!([true; 10].map(&mut until), [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
        assert_eq!([false; 10].map(&mut until), [256, 128, 64, 32, 16, 8, 4, 2, 1, 1]);
    }

    #[test]
    fn after_a_minute_without_the_database_nobody_waits_for_another() {
        let commits = [1, 2_300, 60_000_000].map(Duration::from_micros);
        assert_eq!(commits.map(back_within), [commits[0], commits[1], RETURN]);
    }
}
