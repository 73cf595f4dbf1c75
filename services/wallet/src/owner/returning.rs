//! Callers who were just answered, and when they are waited for.
//!
//! **Two crowds or one.** 64 callers who wait for each answer fall into two crowds or three that take
//! turns. On a disk that takes milliseconds that is a fifth of the rate; on one that takes a tenth of that
//! it is processor time. So those who were just answered are waited for, no longer than their commit
//! took: with 2.3 ms for a commit 9,400 transfers a second, where a quarter of that was waited for 7,700;
//! with 0.15 ms 16,500 instead of 17,700 (14,800 to 18,500; 17,100 to 18,100), each for a tenth to a fifth
//! less of processor time. Who does not come is seldom waited for; and after a commit that took very long,
//! as where the database was away, nobody is made to wait as long again (`RETURN`).

use std::time::Duration;

use tokio::time::Instant;

/// Groups after which callers are waited for again who never came.
const SELDOM: u32 = 256;
/// The longest that callers who were just answered are waited for: twice what a disk that turns takes.
const RETURN: Duration = Duration::from_millis(20);

/// Callers who wait for an answer before they ask again come back together. Who closes the next group
/// without them splits them into two crowds for good, each with commits of its own.
#[derive(Clone, Copy)]
pub(super) struct Returning {
    /// So many asks: those that waited already, and as many as were answered.
    pub(super) asks: usize,
    /// No longer than this: as long again as the commit took, within bounds.
    pub(super) until: Instant,
}

/// How often returning callers are waited for: after each group, or after many.
pub(super) struct Waits {
    /// Groups until then.
    left: u32,
    every: u32,
}

impl Returning {
    /// So many, whose commit took so long.
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
    /// Whether those who are answered now are to be waited for.
    pub(super) const fn due(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    /// They were waited for, `vain` or not: the next half as often, or twice as often.
    pub(super) fn end(&mut self, vain: bool) {
        let every = if vain { self.every * 2 } else { self.every / 2 };
        self.every = every.clamp(1, SELDOM);
        self.left = self.every;
    }
}

/// How long those are waited for whose commit took so long.
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
