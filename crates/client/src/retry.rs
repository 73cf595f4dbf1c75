//! Retry policy of calls.
//!
//! A call is repeated after an error that says nothing about the request: the server is away,
//! overloaded or too slow, or the connection broke. A mutating call is repeated under the same
//! request id, so it takes effect once even if the first attempt was accepted.
//!
//! The crate `backon` decides only the waits, and its future would own the call: here the server's
//! `RetryInfo` lengthens a wait, and a watched table counts its attempts over many calls.

use std::time::Duration;

use primitives::UnixMicros;
use system::entropy::{self, SystemEntropy};
use tonic::Status;
use tonic_types::StatusExt;

/// Limits of the retries of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Total time from the first attempt; zero: one attempt.
    pub total_time: Duration,
    /// Wait after the first attempt; it doubles with each attempt.
    pub first_wait: Duration,
    /// Longest wait, unless the server asks for a longer one.
    pub max_wait: Duration,
}

impl Default for RetryPolicy {
    /// One minute in total; the first wait is a tenth of a second.
    fn default() -> RetryPolicy {
        RetryPolicy {
            total_time: Duration::from_secs(60),
            first_wait: Duration::from_millis(100),
            max_wait: Duration::from_secs(5),
        }
    }
}

impl RetryPolicy {
    /// Creates a policy with this total time and the default waits.
    #[must_use]
    pub fn with_total_time(total: Duration) -> RetryPolicy {
        RetryPolicy { total_time: total, ..RetryPolicy::default() }
    }
}

/// Attempts made so far.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    since: Option<UnixMicros>,
    failed: u32,
}

impl Attempts {
    /// Returns the time of the next attempt after a failure, or none if the policy ends before it.
    pub(crate) fn next_attempt(
        &mut self,
        policy: &RetryPolicy,
        status: &Status,
        now: UnixMicros,
    ) -> Option<UnixMicros> {
        let since = *self.since.get_or_insert(now);
        let doubled = policy.first_wait.saturating_mul(1 << self.failed.min(16));
        let backoff = doubled.min(policy.max_wait);
        let asked = status.get_details_retry_info().and_then(|info| info.retry_delay);
        let wait = backoff.max(asked.unwrap_or(Duration::ZERO));
        self.failed = self.failed.saturating_add(1);
        let at = now.plus(wait.saturating_add(jitter(wait / 2)));
        (at <= since.plus(policy.total_time)).then_some(at)
    }

    /// Starts the policy's time now.
    pub(crate) fn begin(&mut self, now: UnixMicros) {
        *self = Attempts { since: Some(now), failed: 0 };
    }

    /// Records a success: the next failure counts as the first.
    pub(crate) fn reset(&mut self) {
        *self = Attempts::default();
    }
}

/// Random duration up to `most`, so that clients that failed together do not return together.
fn jitter(most: Duration) -> Duration {
    let share = u16::from_be_bytes(entropy::bytes(&SystemEntropy));
    most.saturating_mul(u32::from(share)) / u32::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proto::common::v1::ErrorReason;
    use wire::api_refusal;

    use super::*;

    const START: UnixMicros = UnixMicros(1_000_000_000);

    fn status(reason: ErrorReason) -> Status {
        api_refusal(reason, "no").into()
    }

    #[test]
    fn waits_double_and_never_fall_below_what_the_server_asks() {
        let policy =
            RetryPolicy { first_wait: Duration::from_millis(10), ..RetryPolicy::default() };
        let mut attempts = Attempts::default();
        let broken = Status::from_error("connection reset".into());
        for base in [10, 20, 40] {
            let wait = attempts.next_attempt(&policy, &broken, START).unwrap().since(START);
            let base = Duration::from_millis(base);
            assert!(wait >= base && wait <= base * 3 / 2, "{wait:?} for {base:?}");
        }
        let away = status(ErrorReason::Unavailable);
        let wait = attempts.next_attempt(&policy, &away, START).unwrap().since(START);
        assert!(wait >= Duration::from_millis(500), "{wait:?}");
    }

    #[test]
    fn the_total_time_ends() {
        let policy = RetryPolicy::with_total_time(Duration::from_secs(10));
        let mut attempts = Attempts::default();
        attempts.begin(START);
        let late = START.plus(Duration::from_secs(10));
        assert_eq!(attempts.next_attempt(&policy, &status(ErrorReason::Unavailable), late), None);
        attempts.reset();
        assert!(attempts.next_attempt(&policy, &status(ErrorReason::Unavailable), late).is_some());
    }
}
