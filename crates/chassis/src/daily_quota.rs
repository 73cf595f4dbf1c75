//! Daily quota of recorded commands, by player or another key.
//!
//! Records are kept for years, so their number per key and day is bounded. Only recorded
//! commands count, not those that were refused, repeated or changed nothing. The counts are kept in
//! memory. They begin anew with the process and with each UTC day; crate `governor` knows rates and
//! no days.
//!
//! Specification: ARCHITECTURE.md §7.5.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::{PlayerId, UnixMicros};

const DAY: Duration = Duration::from_hours(24);

/// Counts each key's records of the current day.
#[derive(Debug)]
pub struct DailyQuota<K = PlayerId> {
    max_records: u32,
    today: Mutex<Today<K>>,
}

#[derive(Debug)]
struct Today<K> {
    /// Days since 1970-01-01 UTC.
    day: u64,
    records: BTreeMap<K, u32>,
}

impl<K: Ord + Copy> DailyQuota<K> {
    /// Quota of `most` records per key and day.
    #[must_use]
    pub fn new(most: u32) -> DailyQuota<K> {
        let today = Mutex::new(Today { day: 0, records: BTreeMap::new() });
        DailyQuota { max_records: most, today }
    }

    /// Checks whether the key may have another record.
    ///
    /// # Errors
    /// The quota is used up; the error is the time until the next day.
    pub fn check(&self, key: K, now: UnixMicros) -> Result<(), Duration> {
        let records = self.with_records(now, |today| today.get(&key).copied()).unwrap_or(0);
        if records < self.max_records { Ok(()) } else { Err(rest_of_the_day(now)) }
    }

    /// Counts a record of the key.
    pub fn count(&self, key: K, now: UnixMicros) {
        self.with_records(now, |today| {
            let records = today.entry(key).or_default();
            *records = records.saturating_add(1);
        });
    }

    fn with_records<T>(&self, now: UnixMicros, f: impl FnOnce(&mut BTreeMap<K, u32>) -> T) -> T {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        let day = day(now);
        // A clock that is set back must not reset the counts.
        if day > today.day {
            *today = Today { day, records: BTreeMap::new() };
        }
        f(&mut today.records)
    }
}

fn day(now: UnixMicros) -> u64 {
    now.0 / micros(DAY)
}

fn rest_of_the_day(now: UnixMicros) -> Duration {
    Duration::from_micros(micros(DAY) - now.0 % micros(DAY))
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ARCHITECTURE.md §7.5.
    #[test]
    fn a_day_takes_so_many_of_each_and_the_next_begins_anew() {
        let quota = DailyQuota::new(2);
        let (one, two) = (PlayerId([1; 16]), PlayerId([2; 16]));
        let noon = UnixMicros(20_000 * micros(DAY) + micros(DAY) / 2);
        for _ in 0..2 {
            assert_eq!(quota.check(one, noon), Ok(()));
            quota.count(one, noon);
        }
        assert_eq!(quota.check(one, noon), Err(DAY / 2));
        assert_eq!(quota.check(two, noon), Ok(()));
        let before_midnight = noon.plus(DAY / 2 - Duration::from_secs(1));
        assert!(quota.check(one, before_midnight).is_err());
        assert_eq!(quota.check(one, noon.plus(DAY / 2)), Ok(()));
        quota.count(one, noon.plus(DAY / 2));
        quota.count(one, noon.plus(DAY / 2));
        assert!(quota.check(one, noon).is_err(), "a clock that is set back frees nobody");
    }
}
