//! Counts and latencies of the last minute, hour and day.
//!
//! Whoever counts adds to an atomic number and waits for nobody. Once a second the sums are copied
//! into rings: one copy for each second of the last minute, and one for each minute of the last day.
//! A window's count is the difference between now and the copy at its beginning, so memory and work
//! do not depend on how much is counted. Nothing from before the process started is known, and a
//! window says how much of it is covered.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;
use tokio::time::Instant;

/// Windows that are counted.
pub const WINDOWS: [Duration; 3] =
    [MINUTE, Duration::from_secs(60 * 60), Duration::from_secs(24 * 60 * 60)];

const MINUTE: Duration = Duration::from_secs(60);
/// Time between two copies.
const SECOND: Duration = Duration::from_secs(1);
/// Copies that reach back for a minute.
const SECONDS: usize = 61;
/// Copies that reach back for a day.
const MINUTES: usize = 24 * 60 + 1;

/// Upper bounds of the latencies' buckets, in microseconds. What takes longer has a bucket of its
/// own.
const BOUNDS: [u64; 16] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000,
];
/// Numbers of a step: its buckets, and the sum of its times.
const STEP_NUMBERS: usize = BOUNDS.len() + 2;

/// Counts of kinds `K` and latencies of steps `S`, since its making.
pub struct Activity<K: 'static, S: 'static> {
    kinds: &'static [K],
    steps: &'static [S],
    since: UnixMicros,
    started: Instant,
    /// One number of each kind, then those of each step.
    sums: Box<[AtomicU64]>,
    copies: Mutex<Copies>,
}

/// Copies of the sums, the oldest first.
#[derive(Default)]
struct Copies {
    seconds: VecDeque<Sums>,
    minutes: VecDeque<Sums>,
}

/// Sums at a time after the start.
#[derive(Clone)]
struct Sums {
    at: Duration,
    sums: Box<[u64]>,
}

/// Counts and latencies of a stretch of time that ends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<K, S> {
    pub length: Duration,
    /// Length that the counts are of.
    pub covered: Duration,
    pub counts: Vec<(K, u64)>,
    pub steps: Vec<(S, Latency)>,
}

/// Times that a step took. Percentiles are upper bounds of buckets: 1, 2 or 5 times a power of ten,
/// from 100 microseconds to 10 seconds. Longer times count as 10 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latency {
    pub count: u64,
    pub mean_micros: u64,
    pub p50_micros: u64,
    pub p95_micros: u64,
    pub p99_micros: u64,
}

impl<K: Clone + PartialEq, S: Clone + PartialEq> Activity<K, S> {
    /// Begins to count now, which is `since`. A kind or a step that is not listed is not counted.
    #[must_use]
    pub fn new(kinds: &'static [K], steps: &'static [S], since: UnixMicros) -> Activity<K, S> {
        let numbers = kinds.len() + steps.len() * STEP_NUMBERS;
        let sums = (0..numbers).map(|_| AtomicU64::new(0)).collect();
        let (started, copies) = (Instant::now(), Mutex::default());
        Activity { kinds, steps, since, started, sums, copies }
    }

    /// Time since which is counted.
    #[must_use]
    pub const fn since(&self) -> UnixMicros {
        self.since
    }

    /// Counts `more` of a kind.
    pub fn count(&self, kind: &K, more: u64) {
        if let Some(index) = self.kinds.iter().position(|known| known == kind) {
            self.add(index, more);
        }
    }

    /// Notes the time that a step took.
    pub fn observe(&self, step: &S, took: Duration) {
        let Some(index) = self.steps.iter().position(|known| known == step) else { return };
        let first = self.kinds.len() + index * STEP_NUMBERS;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.add(first + BOUNDS.partition_point(|bound| *bound < micros), 1);
        self.add(first + BOUNDS.len() + 1, micros.min(u64::from(u32::MAX)));
    }

    fn add(&self, index: usize, more: u64) {
        if let Some(sum) = self.sums.get(index) {
            sum.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn copy(&self) -> Sums {
        let sums = self.sums.iter().map(|sum| sum.load(Ordering::Relaxed)).collect();
        Sums { at: self.started.elapsed(), sums }
    }

    /// Copies the sums each second, for ever.
    pub async fn keep(&self) {
        loop {
            tokio::time::sleep(SECOND).await;
            self.locked().push(self.copy());
        }
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The windows, in the order of [`WINDOWS`].
    #[must_use]
    pub fn windows(&self) -> [Window<K, S>; 3] {
        let now = self.copy();
        let zero = Sums { at: Duration::ZERO, sums: vec![0; now.sums.len()].into() };
        let begins = {
            let copies = self.locked();
            WINDOWS.map(|length| copies.at(now.at, length).unwrap_or(&zero).clone())
        };
        let mut lengths = WINDOWS.into_iter();
        begins.map(|begin| self.window(lengths.next().unwrap_or_default(), &begin, &now))
    }

    fn window(&self, length: Duration, begin: &Sums, now: &Sums) -> Window<K, S> {
        let pairs = now.sums.iter().zip(&begin.sums);
        let sums: Vec<u64> = pairs.map(|(now, then)| now.saturating_sub(*then)).collect();
        let (counts, steps) = sums.split_at(self.kinds.len());
        let latencies = steps.chunks(STEP_NUMBERS).map(Latency::of);
        Window {
            length,
            covered: now.at.saturating_sub(begin.at),
            counts: self.kinds.iter().cloned().zip(counts.iter().copied()).collect(),
            steps: self.steps.iter().cloned().zip(latencies).collect(),
        }
    }
}

impl Copies {
    fn push(&mut self, copy: Sums) {
        let is_due = |last: &Sums| copy.at.saturating_sub(last.at) >= MINUTE;
        if self.minutes.back().is_none_or(is_due) {
            self.minutes.push_back(copy.clone());
        }
        self.seconds.push_back(copy);
        while self.seconds.len() > SECONDS {
            self.seconds.pop_front();
        }
        while self.minutes.len() > MINUTES {
            self.minutes.pop_front();
        }
    }

    /// The newest copy at the beginning of a window or before; `None` where the window begins before
    /// the first copy.
    fn at(&self, now: Duration, length: Duration) -> Option<&Sums> {
        let begin = now.checked_sub(length)?;
        let copies = if length <= MINUTE { &self.seconds } else { &self.minutes };
        let older = copies.partition_point(|copy| copy.at <= begin);
        copies.get(older.checked_sub(1)?)
    }
}

impl Latency {
    /// Reads the numbers of a step.
    fn of(numbers: &[u64]) -> Latency {
        let (buckets, sum) = numbers.split_at(BOUNDS.len() + 1);
        let count: u64 = buckets.iter().sum();
        let percentile = |percent: u64| {
            let rank = count.saturating_mul(percent).div_ceil(100);
            let mut seen = 0_u64;
            let reached = buckets.iter().position(|bucket| {
                seen = seen.saturating_add(*bucket);
                seen >= rank
            });
            let last = BOUNDS.len() - 1;
            if count == 0 { 0 } else { BOUNDS[reached.unwrap_or(last).min(last)] }
        };
        Latency {
            count,
            mean_micros: sum.first().and_then(|sum| sum.checked_div(count)).unwrap_or(0),
            p50_micros: percentile(50),
            p95_micros: percentile(95),
            p99_micros: percentile(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    type Tested = Activity<char, &'static str>;

    fn activity() -> Arc<Tested> {
        let made = Arc::new(Activity::new(&['a', 'b'], &["step"], UnixMicros(7)));
        let kept = Arc::clone(&made);
        tokio::spawn(async move { kept.keep().await });
        made
    }

    /// Lets seconds pass one by one, as they do for the task that copies.
    async fn pass(seconds: u64) {
        for _ in 0..seconds {
            tokio::time::sleep(SECOND).await;
        }
    }

    fn counts(activity: &Tested, kind: char) -> [u64; 3] {
        activity.windows().map(|window| {
            window.counts.iter().find(|(found, _)| *found == kind).map_or(0, |(_, count)| *count)
        })
    }

    fn covered(activity: &Tested) -> [u64; 3] {
        activity.windows().map(|window| window.covered.as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn each_window_counts_what_was_in_it_and_says_what_it_covers() {
        let activity = activity();
        assert_eq!((counts(&activity, 'a'), covered(&activity)), ([0; 3], [0; 3]));
        activity.count(&'a', 2);
        activity.count(&'z', 9);
        pass(30).await;
        activity.count(&'a', 1);
        assert_eq!((counts(&activity, 'a'), covered(&activity)), ([3; 3], [30; 3]));
        assert_eq!(counts(&activity, 'b'), [0; 3]);
        pass(32).await;
        assert_eq!(counts(&activity, 'a'), [1, 3, 3]);
        pass(31).await;
        assert_eq!(counts(&activity, 'a'), [0, 3, 3]);
        pass(3_600).await;
        assert_eq!(counts(&activity, 'a'), [0, 0, 3]);
        let [minute, hour, day] = covered(&activity);
        assert!((60..=61).contains(&minute) && (3_600..=3_660).contains(&hour), "{minute} {hour}");
        assert_eq!(day, 30 + 32 + 31 + 3_600);
        pass(24 * 3_600).await;
        assert_eq!(counts(&activity, 'a'), [0; 3]);
        let copies = activity.locked();
        assert_eq!((copies.seconds.len(), copies.minutes.len()), (SECONDS, MINUTES));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_was_held_up_covers_more_and_loses_nothing() {
        let activity = activity();
        pass(10).await;
        tokio::time::sleep(SECOND / 2).await;
        activity.count(&'a', 1);
        tokio::time::advance(Duration::from_secs(100)).await;
        activity.count(&'a', 1);
        pass(1).await;
        assert_eq!(counts(&activity, 'a')[0], 2);
        assert_eq!(covered(&activity)[0], 101);
    }

    #[tokio::test(start_paused = true)]
    async fn percentiles_are_bounds_that_so_many_did_not_exceed() {
        let activity = activity();
        let latency = || activity.windows()[0].steps[0].1;
        assert_eq!(latency(), Latency::default());
        let observe = |micros| activity.observe(&"step", Duration::from_micros(micros));
        (0..94).for_each(|_| observe(100));
        (0..5).for_each(|_| observe(101));
        observe(60_000_000);
        activity.observe(&"no such step", MINUTE);
        let (p50_micros, p95_micros, p99_micros) = (100, 200, 200);
        let mean_micros = (94 * 100 + 5 * 101 + 60_000_000) / 100;
        let expected = Latency { count: 100, mean_micros, p50_micros, p95_micros, p99_micros };
        assert_eq!(latency(), expected);
        (0..9).for_each(|_| observe(90_000_000));
        assert_eq!(latency().p95_micros, 10_000_000);
    }
}
