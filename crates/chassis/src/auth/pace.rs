//! How often one player may call, so that nobody's program keeps the room busy for itself.
//!
//! A player may begin so many calls a second, and that many at once after a pause: the generic cell
//! rate algorithm, which keeps one time a player and nothing else. Other roles are not counted: they
//! are the house.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;

/// Players remembered before those who have been quiet for a second are forgotten.
const REMEMBERED: usize = 10_000;

/// The paces of all players, by whatever name they are known here.
#[derive(Debug)]
pub struct Pace {
    /// Between two calls of a player who calls all the time.
    gap: Duration,
    /// Player → when he would be owed nothing any more.
    even_at: Mutex<BTreeMap<String, UnixMicros>>,
}

impl Pace {
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Pace {
        Pace { gap: Duration::from_secs(1) / per_second.get(), even_at: Mutex::default() }
    }

    /// Counts a call, or says how long the player has to wait for the next.
    ///
    /// # Errors
    /// The time to wait; the call is not counted.
    pub fn step(&self, player: &str, now: UnixMicros) -> Result<(), Duration> {
        let mut even_at = self.even_at.lock().unwrap_or_else(PoisonError::into_inner);
        let even = even_at.get(player).copied().unwrap_or(now).max(now);
        let next = even.plus(self.gap);
        let ahead = next.since(now);
        if ahead > Duration::from_secs(1) {
            return Err(ahead.saturating_sub(Duration::from_secs(1)));
        }
        if let Some(known) = even_at.get_mut(player) {
            *known = next;
            return Ok(());
        }
        if even_at.len() >= REMEMBERED {
            even_at.retain(|_, even| now < *even);
        }
        even_at.insert(player.to_owned(), next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMicros = UnixMicros(1_800_000_000_000_000);

    fn after(millis: u64) -> UnixMicros {
        NOW.plus(Duration::from_millis(millis))
    }

    #[test]
    fn twenty_at_once_then_one_every_fifty_milliseconds() {
        let pace = Pace::new(NonZeroU32::new(20).unwrap());
        for _ in 0..20 {
            assert_eq!(pace.step("one", NOW), Ok(()));
        }
        assert_eq!(pace.step("one", NOW), Err(Duration::from_millis(50)));
        assert_eq!(pace.step("two", NOW), Ok(()), "another's pace is his own");
        assert_eq!(pace.step("one", after(49)), Err(Duration::from_millis(1)));
        assert_eq!(pace.step("one", after(50)), Ok(()));
        assert_eq!(pace.step("one", after(50)), Err(Duration::from_millis(50)));
        for _ in 0..20 {
            assert_eq!(pace.step("one", after(5_000)), Ok(()));
        }
        assert!(pace.step("one", after(5_000)).is_err(), "a long pause saves up one second");
    }

    #[test]
    fn the_quiet_are_forgotten() {
        let pace = Pace::new(NonZeroU32::new(20).unwrap());
        for player in 0..REMEMBERED {
            assert_eq!(pace.step(&player.to_string(), NOW), Ok(()));
        }
        assert_eq!(pace.step("late", after(10_000)), Ok(()));
        assert_eq!(pace.even_at.lock().unwrap().len(), 1);
    }
}
