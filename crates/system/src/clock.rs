//! Clocks, given to services as a dependency.
//!
//! A clock tells wall-clock time in microseconds, the unit of logs. Deadlines are instants of that
//! clock, so a deadline written by one owner of a table holds for the next owner. A wall clock can
//! jump; [`SystemClock`] says how that is handled.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use primitives::UnixMicros;
use tokio::sync::{oneshot, watch};

/// Sleep in progress. Dropping it cancels it.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Source of time for a service. It never goes backwards except for a step, and steps are counted.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> UnixMicros;

    /// Ends at the instant `at`, immediately if that has passed. It may end earlier if the clock is
    /// stepped meanwhile, so a caller that waits for a deadline checks the clock again.
    fn sleep_until(&self, at: UnixMicros) -> Sleep<'_>;

    /// Ends after `span`, or earlier if the clock is stepped.
    fn sleep(&self, span: Duration) -> Sleep<'_> {
        self.sleep_until(self.now().plus(span))
    }

    /// Count and sum of the clock's steps since it was made.
    fn steps(&self) -> Steps {
        Steps::default()
    }

    /// Sum of all steps of the clock since it was made, in microseconds: how much later an instant
    /// is reported than if the clock had run on. A holder of instants moves them by what is added.
    fn total_step_micros(&self) -> i64 {
        self.steps().micros
    }
}

/// Count and sum of a clock's steps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// Number of steps.
    pub count: u64,
    /// Their sum, in microseconds.
    pub micros: i64,
}

impl Steps {
    /// Adds one step of so many microseconds.
    const fn and(self, micros: i64) -> Steps {
        Steps { count: self.count.saturating_add(1), micros: self.micros.saturating_add(micros) }
    }
}

/// The machine's wall clock, without its jumps.
///
/// Time runs by the monotonic clock and follows the small corrections of the wall clock. A jump of
/// the wall clock is not believed at once: it is taken as a step, and counted, only if the clock
/// stays there. So a clock that is an hour ahead for a second moves nothing, and timers, which run
/// by the monotonic clock alone, neither fire nor freeze.
///
/// All values of this type in a process share one clock.
#[derive(Debug, Default)]
pub struct SystemClock(());

/// Clock shared by the whole process.
static PROCESS_CLOCK: LazyLock<ProcessClock> = LazyLock::new(ProcessClock::start);

struct ProcessClock {
    latest: AtomicU64,
    started: Instant,
    wall: Mutex<WallClock>,
    steps: watch::Sender<Steps>,
}

/// Wall clock as far as it is believed.
#[derive(Debug)]
struct WallClock {
    /// Microseconds added to the monotonic microseconds since the start.
    offset: i64,
    /// Offset after a jump that is not believed yet, and the monotonic time of the jump.
    jumped: Option<(i64, Duration)>,
}

/// Largest correction that is followed at once, in microseconds. A larger one is a jump.
const MAX_CORRECTION_MICROS: i64 = 500_000;
/// Time that a jump back must last to be taken as a step.
const BACKWARD_STEP_AFTER: Duration = Duration::from_secs(10);
/// Time that a jump ahead must last to be taken as a step. It is longer than for a jump back:
/// records written under a time that is ahead cannot be taken back, so everything would wait until
/// that time has come.
const FORWARD_STEP_AFTER: Duration = Duration::from_mins(1);

impl SystemClock {
    #[must_use]
    pub const fn new() -> SystemClock {
        SystemClock(())
    }
}

impl ProcessClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn start() -> ProcessClock {
        ProcessClock {
            latest: AtomicU64::new(0),
            started: Instant::now(),
            wall: Mutex::new(WallClock { offset: signed(wall_micros()), jumped: None }),
            steps: watch::Sender::new(Steps::default()),
        }
    }
}

impl WallClock {
    /// Follows the wall clock, which shows `wall` while the monotonic clock shows `run`. Returns
    /// the step in microseconds; 0 if there is none.
    fn follow(&mut self, wall: i64, run: Duration) -> i64 {
        let offset = wall.saturating_sub(micros(run));
        let off = offset.saturating_sub(self.offset);
        if off.saturating_abs() <= MAX_CORRECTION_MICROS {
            (self.offset, self.jumped) = (offset, None);
            return 0;
        }
        match self.jumped {
            Some((there, since))
                if offset.saturating_sub(there).saturating_abs() <= MAX_CORRECTION_MICROS =>
            {
                if run.saturating_sub(since)
                    < if off > 0 { FORWARD_STEP_AFTER } else { BACKWARD_STEP_AFTER }
                {
                    return 0;
                }
                (self.offset, self.jumped) = (offset, None);
                off
            }
            Some(_) | None => {
                self.jumped = Some((offset, run));
                tracing::warn!(
                    seconds = off / 1_000_000,
                    "the machine's clock has jumped: it is followed if it stays there"
                );
                0
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
fn wall_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

impl Clock for SystemClock {
    fn now(&self) -> UnixMicros {
        let mut wall = PROCESS_CLOCK.wall.lock().unwrap_or_else(PoisonError::into_inner);
        let run = PROCESS_CLOCK.started.elapsed();
        let stepped = wall.follow(signed(wall_micros()), run);
        let now = u64::try_from(wall.offset.saturating_add(micros(run))).unwrap_or(0);
        if stepped != 0 {
            tracing::warn!(seconds = stepped / 1_000_000, "the machine's clock was set: followed");
            PROCESS_CLOCK.steps.send_modify(|steps| *steps = steps.and(stepped));
            PROCESS_CLOCK.latest.store(now, Ordering::Relaxed);
        }
        UnixMicros(PROCESS_CLOCK.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    fn sleep_until(&self, at: UnixMicros) -> Sleep<'_> {
        self.sleep(at.since(self.now()))
    }

    fn sleep(&self, span: Duration) -> Sleep<'_> {
        let (ends, mut stepped) =
            (tokio::time::Instant::now() + span, PROCESS_CLOCK.steps.subscribe());
        Box::pin(async move {
            tokio::select! {
                () = tokio::time::sleep_until(ends) => {}
                // The caller checks again whether its instant has come.
                _ = stepped.changed() => {}
            }
        })
    }

    fn steps(&self) -> Steps {
        *PROCESS_CLOCK.steps.borrow()
    }
}

/// Clock that stands still until it is advanced: for tests and the simulator.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<ManualState>,
}

#[derive(Debug)]
struct ManualState {
    now: UnixMicros,
    steps: Steps,
    /// Sleepers ordered by instant, then by order of arrival, so that equal runs wake them in the
    /// same order.
    sleepers: BTreeMap<(UnixMicros, u64), oneshot::Sender<()>>,
    next: u64,
}

impl ManualClock {
    #[must_use]
    pub const fn new(now: UnixMicros) -> ManualClock {
        ManualClock {
            state: Mutex::new(ManualState {
                now,
                steps: Steps { count: 0, micros: 0 },
                sleepers: BTreeMap::new(),
                next: 0,
            }),
        }
    }

    /// Advances by `span` and wakes, in order, all sleepers whose instant has come.
    pub fn advance(&self, span: Duration) {
        let mut state = self.locked();
        state.now = state.now.plus(span);
        let now = state.now;
        while let Some(first) = state.sleepers.first_entry() {
            if first.key().0 > now {
                break;
            }
            // A cancelled sleep has no receiver.
            let _ = first.remove().send(());
        }
    }

    /// Steps the clock by `by` microseconds and wakes every sleeper, none of whose instants has
    /// come.
    pub fn step(&self, by: i64) {
        let mut state = self.locked();
        state.now = UnixMicros(state.now.0.saturating_add_signed(by));
        state.steps = state.steps.and(by);
        for (_, sleeper) in std::mem::take(&mut state.sleepers) {
            let _ = sleeper.send(());
        }
    }

    /// Earliest instant that a sleeper waits for.
    #[cfg(test)]
    fn next_alarm(&self) -> Option<UnixMicros> {
        let mut state = self.locked();
        state.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        state.sleepers.keys().next().map(|(at, _)| *at)
    }

    fn locked(&self) -> MutexGuard<'_, ManualState> {
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
                // The clock is gone, so its time never comes.
                std::future::pending::<()>().await;
            }
        })
    }

    fn steps(&self) -> Steps {
        self.locked().steps
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

    const SECOND: i64 = 1_000_000;

    /// Follows readings of the wall clock, one a second. Returns for each second the offset that is
    /// believed and the step.
    fn followed(wall: impl Iterator<Item = i64>) -> Vec<(i64, i64)> {
        let mut at = WallClock { offset: 0, jumped: None };
        let mut follow = |second: i64, off: i64| {
            let run = Duration::from_secs(u64::try_from(second).unwrap_or(0));
            let stepped = at.follow(second * SECOND + off, run);
            (at.offset, stepped)
        };
        (0_i64..).zip(wall).map(|(second, off)| follow(second, off)).collect()
    }

    #[test]
    fn an_hour_ahead_or_back_for_a_second_moves_nothing() {
        for hour in [3600 * SECOND, -3600 * SECOND] {
            let wall = [0, 0, hour, 0, 0].into_iter();
            assert_eq!(followed(wall), [(0, 0); 5]);
        }
    }

    #[test]
    fn a_clock_that_was_set_for_good_is_followed_and_the_step_is_counted() {
        for (hour, seconds) in [(3600 * SECOND, 60), (-3600 * SECOND, 10)] {
            let steps = followed([0].into_iter().chain([hour; 65]));
            assert_eq!(steps[..=seconds], vec![(0, 0); seconds + 1], "not yet");
            assert_eq!(steps[seconds + 1], (hour, hour), "once");
            assert!(steps[seconds + 2..].iter().all(|step| *step == (hour, 0)));
        }
    }

    #[test]
    fn a_clock_that_drifts_is_followed() {
        let drift = followed((0..20).map(|second| second * 1000));
        assert_eq!(drift[19], (19_000, 0));
        // Many small corrections come to much, and are no step.
        let slewed = followed((0..10_000).map(|second| second * 400_000));
        assert_eq!(slewed[9_999], (9_999 * 400_000, 0));
        assert!(slewed.iter().all(|(_, stepped)| *stepped == 0));
    }

    #[tokio::test]
    async fn a_step_of_a_manual_clock_wakes_whoever_waits_and_is_counted() {
        let clock = ManualClock::new(UnixMicros(10_000_000));
        let waits = clock.sleep(Duration::from_secs(1));
        clock.step(-5_000_000);
        waits.await;
        assert_eq!((clock.now(), clock.total_step_micros()), (UnixMicros(5_000_000), -5_000_000));
        clock.step(5_000_000);
        assert_eq!(clock.steps(), Steps { count: 2, micros: 0 });
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
