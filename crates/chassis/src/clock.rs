//! Time, as a thing a service is given.
//!
//! Logs record wall-clock microseconds, so that is what a clock tells. Deadlines are instants on
//! the same line: a deadline written by one owner of a table is kept by the next.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use primitives::UnixMicros;
use tokio::sync::oneshot;

/// The longest single sleep: after the wall clock is set, a deadline is late by no more than this.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A sleep in progress. Dropping it cancels it.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Where a service takes the time from. Never goes backwards.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> UnixMicros;

    /// Ends at the instant `at`, at once where it has passed.
    fn sleep_until(&self, at: UnixMicros) -> Sleep<'_>;

    /// Ends after `span`.
    fn sleep(&self, span: Duration) -> Sleep<'_> {
        self.sleep_until(self.now().plus(span))
    }
}

/// The machine's wall clock, held where it would step back.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest: AtomicU64,
}

impl SystemClock {
    #[must_use]
    pub const fn new() -> SystemClock {
        SystemClock { latest: AtomicU64::new(0) }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> UnixMicros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        UnixMicros(self.latest.fetch_max(micros, Ordering::Relaxed).max(micros))
    }

    fn sleep_until(&self, at: UnixMicros) -> Sleep<'_> {
        Box::pin(async move {
            loop {
                let left = at.since(self.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(LONGEST_SLEEP)).await;
            }
        })
    }
}

/// A clock that stands still until it is told: for tests and the simulator.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<Manual>,
}

#[derive(Debug)]
struct Manual {
    now: UnixMicros,
    /// Ordered by instant, then by who slept first, so that equal runs wake alike.
    sleepers: BTreeMap<(UnixMicros, u64), oneshot::Sender<()>>,
    next: u64,
}

impl ManualClock {
    #[must_use]
    pub const fn new(now: UnixMicros) -> ManualClock {
        ManualClock { state: Mutex::new(Manual { now, sleepers: BTreeMap::new(), next: 0 }) }
    }

    /// Moves on by `span` and wakes, in order, everybody whose instant has come.
    pub fn advance(&self, span: Duration) {
        let mut state = self.locked();
        state.now = state.now.plus(span);
        let now = state.now;
        while let Some(first) = state.sleepers.first_entry() {
            if first.key().0 > now {
                break;
            }
            // Whoever gave the sleep up does not listen any more.
            let _ = first.remove().send(());
        }
    }

    /// The next instant somebody waits for: where a simulation may jump to.
    #[must_use]
    pub fn next_alarm(&self) -> Option<UnixMicros> {
        let mut state = self.locked();
        state.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        state.sleepers.keys().next().map(|(at, _)| *at)
    }

    fn locked(&self) -> MutexGuard<'_, Manual> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMicros {
        self.locked().now
    }

    fn sleep_until(&self, at: UnixMicros) -> Sleep<'_> {
        let mut state = self.locked();
        if at <= state.now {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        let number = state.next;
        state.next = number.saturating_add(1);
        state.sleepers.insert((at, number), wake);
        Box::pin(async move {
            if woken.await.is_err() {
                // The clock is gone: its time never comes.
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_wakes_those_whose_time_has_come() {
        let clock = ManualClock::new(UnixMicros(1_000_000));
        let early = clock.sleep(Duration::from_secs(1));
        let mut late = tokio_test_pending(clock.sleep(Duration::from_secs(3)));
        assert_eq!(clock.next_alarm(), Some(UnixMicros(2_000_000)));
        clock.advance(Duration::from_secs(1));
        early.await;
        assert!(late.still_pending());
        assert_eq!(clock.next_alarm(), Some(UnixMicros(4_000_000)));
        clock.advance(Duration::from_secs(2));
        late.0.await;
        clock.sleep_until(UnixMicros(0)).await;
    }

    #[tokio::test]
    async fn an_abandoned_sleep_is_no_alarm() {
        let clock = ManualClock::new(UnixMicros(0));
        drop(clock.sleep(Duration::from_secs(1)));
        assert_eq!(clock.next_alarm(), None);
    }

    #[tokio::test]
    async fn the_system_clock_sleeps_as_long_as_it_says() {
        let clock = SystemClock::new();
        let before = clock.now();
        assert!(before > UnixMicros(1_700_000_000_000_000));
        clock.sleep(Duration::from_millis(20)).await;
        assert!(clock.now().since(before) >= Duration::from_millis(20));
    }

    struct Pending<'a>(Sleep<'a>);

    fn tokio_test_pending(sleep: Sleep<'_>) -> Pending<'_> {
        Pending(sleep)
    }

    impl Pending<'_> {
        fn still_pending(&mut self) -> bool {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            self.0.as_mut().poll(&mut context).is_pending()
        }
    }
}
