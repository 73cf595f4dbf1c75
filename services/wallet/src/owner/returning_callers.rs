//! Waits for callers that were just answered before the next group is closed.
//!
//! Callers that wait for an answer before they send their next command come back together. A group
//! that is closed without them splits them into groups that take turns, each with a commit of its
//! own: that costs throughput on a slow disk and processor time on a fast one. So they are waited
//! for, at most as long as their commit took. That wait is bounded: after a very long commit, as
//! when the database was away, nobody waits that long again. Callers that never come back are
//! waited for less and less often.
//!
//! Specification: services/wallet/README.md "Tasks".

use std::time::Duration;

use tokio::time::Instant;

/// Longest interval, in groups, between two waits for callers that did not come back.
const MAX_INTERVAL: u32 = 256;
/// Longest wait for callers that were just answered; long enough for the commit of a rotating disk.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Callers to wait for before the next group is closed.
#[derive(Clone, Copy)]
pub(super) struct ReturningCallers {
    /// Number of requests to wait for: those that waited already, and as many as were answered.
    pub(super) batches: usize,
    /// End of the wait: as long as the commit took, within bounds.
    pub(super) until: Instant,
}

/// Interval between waits for returning callers, in groups.
pub(super) struct WaitBackoff {
    /// Groups until the next wait.
    groups_left: u32,
    interval: u32,
}

impl ReturningCallers {
    /// A wait for `asks` requests after a commit of this length.
    pub(super) fn of(asks: usize, commit: Duration) -> ReturningCallers {
        ReturningCallers { batches: asks, until: Instant::now() + wait_after(commit) }
    }
}

impl Default for WaitBackoff {
    fn default() -> WaitBackoff {
        WaitBackoff { groups_left: 0, interval: 1 }
    }
}

impl WaitBackoff {
    /// Whether the callers answered now are to be waited for.
    pub(super) const fn due(&mut self) -> bool {
        self.groups_left = self.groups_left.saturating_sub(1);
        self.groups_left == 0
    }

    /// Records a wait: halves the interval, or doubles it if the wait was in vain.
    pub(super) fn record_wait(&mut self, vain: bool) {
        let every = if vain { self.interval * 2 } else { self.interval / 2 };
        self.interval = every.clamp(1, MAX_INTERVAL);
        self.groups_left = self.interval;
    }
}

/// Length of the wait after a commit of this length.
fn wait_after(commit: Duration) -> Duration {
    commit.min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_comes_is_seldom_waited_for_and_who_comes_again_after_every_group() {
        let mut waits = WaitBackoff::default();
        let mut until = |vain| {
            let groups = (1..).take_while(|_| !waits.due()).count() + 1;
            waits.record_wait(vain);
            groups
        };
        assert_eq!([true; 10].map(&mut until), [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
        assert_eq!([false; 10].map(&mut until), [256, 128, 64, 32, 16, 8, 4, 2, 1, 1]);
    }

    #[test]
    fn after_a_minute_without_the_database_nobody_waits_for_another() {
        let commits = [1, 2_300, 60_000_000].map(Duration::from_micros);
        assert_eq!(commits.map(wait_after), [commits[0], commits[1], MAX_WAIT]);
    }
}
