//! Rate limiter by key: the generic cell rate algorithm (GCRA), which stores one instant per key.
//!
//! A key may take a fixed number of units in a span, mostly a second, and after a pause up to one
//! span's worth at once. Time is monotonic, so a jump of the wall clock neither frees nor blocks a key. Memory is
//! bounded for any sequence of keys: a key that was quiet for two bursts is as a new one and is
//! forgotten; beyond `MAX_KEYS`, new keys share their limit with others, chosen by a hash that
//! callers cannot predict. Crate `governor` bounds no memory, and cannot charge for work already
//! done.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::mem;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Keys with a limit of their own, in each of two generations.
const MAX_KEYS: usize = 65_536;
/// Limits shared by the keys beyond `MAX_KEYS`.
const SHARED_LIMITS: usize = 1024;
/// Rate limits of all keys.
#[derive(Debug)]
pub struct RateLimiter<K> {
    /// Time between two units at the full rate.
    gap: Duration,
    /// Credit saved up after a pause, and the highest cost of a single call. Charges put off the
    /// next unit of a key by twice that; a key that was quiet for so long is new.
    burst: Duration,
    hasher: RandomState,
    state: Mutex<State<K>>,
}

/// Instant per key from which its whole burst is free.
#[derive(Debug)]
struct State<K> {
    young: BTreeMap<K, Instant>,
    old: BTreeMap<K, Instant>,
    /// Start of the generation `young`.
    since: Option<Instant>,
    shared: Vec<Instant>,
}

impl<K: Ord> RateLimiter<K> {
    /// Limiter of units a second.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> RateLimiter<K> {
        RateLimiter::per(per_second, Duration::from_secs(1))
    }

    /// Limiter of units in a span.
    #[must_use]
    pub fn per(units: NonZeroU32, span: Duration) -> RateLimiter<K> {
        let (young, old) = (BTreeMap::new(), BTreeMap::new());
        let state = State { young, old, since: None, shared: Vec::new() };
        let gap = span / units.get();
        RateLimiter { gap, burst: span, hasher: RandomState::new(), state: Mutex::new(state) }
    }

    /// Takes `units` for `key`, at most one span's worth.
    ///
    /// # Errors
    /// Time to wait until the units are available. Nothing was taken.
    pub fn take<Q>(&self, key: &Q, units: u32, now: Instant) -> Result<(), Duration>
    where
        K: Borrow<Q>,
        Q: Ord + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.with_key(key, now, |free_at| {
            *free_at = self.after(*free_at, units, now)?;
            Ok(())
        })
    }

    /// Checks whether `units` are free for `key`, and takes none.
    ///
    /// # Errors
    /// Time to wait until the units are available.
    pub fn check<Q>(&self, key: &Q, units: u32, now: Instant) -> Result<(), Duration>
    where
        K: Borrow<Q>,
        Q: Ord + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.with_key(key, now, |free_at| self.after(*free_at, units, now).map(|_| ()))
    }

    /// Instant from which the whole burst is free again after units were taken.
    fn after(&self, free_at: Instant, units: u32, now: Instant) -> Result<Instant, Duration> {
        let next = free_at.max(now) + self.cost(units);
        let ahead = next.saturating_duration_since(now);
        if ahead > self.burst { Err(ahead.saturating_sub(self.burst)) } else { Ok(next) }
    }

    fn cost(&self, units: u32) -> Duration {
        self.gap.saturating_mul(units).min(self.burst)
    }

    /// Charges `units` to `key` for work already done, even if none are free.
    pub fn charge<Q>(&self, key: &Q, units: u32, now: Instant)
    where
        K: Borrow<Q>,
        Q: Ord + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.with_key(key, now, |free_at| {
            *free_at = ((*free_at).max(now) + self.cost(units)).min(now + self.max_ahead());
        });
    }

    fn max_ahead(&self) -> Duration {
        self.burst.saturating_mul(2)
    }

    fn with_key<Q, T>(&self, key: &Q, now: Instant, change: impl FnOnce(&mut Instant) -> T) -> T
    where
        K: Borrow<Q>,
        Q: Ord + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut state = self.locked();
        state.turn(self.max_ahead(), now);
        state.with_key(key, now, &self.hasher, change)
    }

    fn locked(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord> State<K> {
    /// Begins another generation of keys where the present one is older than `max_age`.
    fn turn(&mut self, max_age: Duration, now: Instant) {
        let since = *self.since.get_or_insert(now);
        if now.saturating_duration_since(since) >= max_age {
            self.old = mem::take(&mut self.young);
            self.since = Some(now);
        }
    }

    fn with_key<Q, T>(
        &mut self,
        key: &Q,
        now: Instant,
        hasher: &RandomState,
        change: impl FnOnce(&mut Instant) -> T,
    ) -> T
    where
        K: Borrow<Q>,
        Q: Ord + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(free_at) = self.young.get_mut(key) {
            return change(free_at);
        }
        let known = self.old.remove(key);
        if self.young.len() >= MAX_KEYS {
            self.shared.resize(SHARED_LIMITS, now);
            let slot = hasher.hash_one(key) % SHARED_LIMITS as u64;
            let slot = usize::try_from(slot).expect("below the number of slots");
            return change(&mut self.shared[slot]);
        }
        let mut free_at = known.unwrap_or(now);
        let changed = change(&mut free_at);
        self.young.insert(key.to_owned(), free_at);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(per_second: u32) -> RateLimiter<String> {
        RateLimiter::new(NonZeroU32::new(per_second).unwrap())
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// ARCHITECTURE.md §7.2.
    #[test]
    fn twenty_at_once_then_one_every_fifty_milliseconds() {
        let (limiter, now) = (limiter(20), Instant::now());
        for _ in 0..20 {
            assert_eq!(limiter.take("one", 1, now), Ok(()));
        }
        assert_eq!(limiter.take("one", 1, now), Err(millis(50)));
        assert_eq!(limiter.take("two", 1, now), Ok(()), "another's limit is their own");
        assert_eq!(limiter.take("one", 1, now + millis(49)), Err(millis(1)));
        assert_eq!(limiter.take("one", 1, now + millis(50)), Ok(()));
        assert_eq!(limiter.take("one", 1, now + millis(50)), Err(millis(50)));
        let later = now + millis(5_000);
        for _ in 0..20 {
            assert_eq!(limiter.take("one", 1, later), Ok(()));
        }
        assert!(limiter.take("one", 1, later).is_err(), "a long pause saves up one second");
    }

    #[test]
    fn what_costs_more_waits_longer() {
        let (limiter, now) = (limiter(20), Instant::now());
        assert_eq!(limiter.take("one", 15, now), Ok(()));
        assert_eq!(limiter.take("one", 10, now), Err(millis(250)));
        assert_eq!(limiter.take("one", 5, now), Ok(()));
        assert_eq!(limiter.take("two", 1_000, now), Ok(()), "never more than a second's worth");
    }

    #[test]
    fn a_span_may_be_longer_than_a_second() {
        let five = NonZeroU32::new(5).unwrap();
        let limiter: RateLimiter<String> = RateLimiter::per(five, Duration::from_secs(60));
        let start = Instant::now();
        for second in 0..5 {
            let now = start + millis(1_000 * second);
            assert_eq!(limiter.check("one", 1, now), Ok(()));
            limiter.charge("one", 1, now);
        }
        let now = start + millis(5_000);
        assert_eq!(limiter.check("one", 1, now), Err(millis(7_000)));
        assert_eq!(limiter.check("one", 1, now), Err(millis(7_000)), "looking takes nothing");
        assert_eq!(limiter.check("one", 1, start + millis(12_000)), Ok(()));
        assert_eq!(limiter.check("two", 1, now), Ok(()));
    }

    #[test]
    fn charges_are_waited_for_first_and_have_an_end() {
        let (limiter, now) = (limiter(10), Instant::now());
        for _ in 0..100 {
            limiter.charge("one", 10, now);
        }
        assert_eq!(limiter.take("one", 1, now), Err(millis(1_100)));
        assert_eq!(limiter.take("one", 1, now + millis(1_100)), Ok(()));
    }

    #[test]
    fn the_quiet_are_forgotten_and_the_busy_are_not() {
        let (limiter, start) = (limiter(10), Instant::now());
        for key in 0..1_000 {
            limiter.charge(&*key.to_string(), 10, start);
        }
        for step in 1..=60 {
            let now = start + millis(100 * step);
            limiter.charge("busy", 2, now);
        }
        let state = limiter.locked();
        assert_eq!(state.young.len() + state.old.len(), 1);
        drop(state);
        assert!(limiter.take("busy", 1, start + millis(6_000)).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_limit_holds_beyond() {
        let limiter: RateLimiter<u64> = RateLimiter::new(NonZeroU32::MIN);
        let now = Instant::now();
        let most = MAX_KEYS as u64;
        for key in 0..most {
            assert_eq!(limiter.take(&key, 1, now), Ok(()));
        }
        let beyond = (most..most + 10_000).filter(|key| limiter.take(key, 1, now).is_ok()).count();
        assert!(beyond <= SHARED_LIMITS, "{beyond} taken by those beyond");
        let state = limiter.locked();
        assert!(state.young.len() <= MAX_KEYS && state.shared.len() == SHARED_LIMITS);
    }
}
