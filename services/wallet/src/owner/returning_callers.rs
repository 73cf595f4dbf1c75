//! Waits for callers that were just answered before the next group is closed.
//!
//! Callers that wait for an answer before they send their next command come back together. A group
//! that is closed without them splits them into groups that take turns, each with a commit of its
//! own: that costs throughput on a slow disk and processor time on a fast one. So they are waited
//! for, at most as long as their commit took. If they do not come back, whoever waits loses no more
//! than the time of one commit. After a very long commit, as when the database was away, nobody
//! waits that long again.
//!
//! Specification: services/wallet/README.md "Tasks".

use std::time::Duration;

use tokio::time::Instant;

/// Longest wait for callers that were just answered; long enough for the commit of a rotating disk.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Callers to wait for before the next group is closed.
#[derive(Clone, Copy)]
pub(super) struct ReturningCallers {
    /// Number of requests to wait for: those that waited already, and as many as were answered.
    pub(super) batches: usize,
    /// End of the wait.
    pub(super) until: Instant,
}

impl ReturningCallers {
    /// A wait for `batches` requests after a commit of this length.
    pub(super) fn of(batches: usize, commit: Duration) -> ReturningCallers {
        ReturningCallers { batches, until: Instant::now() + wait_after(commit) }
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
    fn after_a_minute_without_the_database_nobody_waits_for_another() {
        let commits = [1, 2_300, 60_000_000].map(Duration::from_micros);
        assert_eq!(commits.map(wait_after), [commits[0], commits[1], MAX_WAIT]);
    }
}
