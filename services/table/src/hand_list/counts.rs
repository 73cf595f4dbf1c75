//! Counts of hand numbers: of the room, a table, a player or a seat.

use proto::audit::v1 as pb;
use proto::table::v1::ActivityKind;

use super::index::{Outcome, SeedState};
use serde::{Deserialize, Serialize};

/// Parts of a rate.
const MILLION: u128 = 1_000_000;

/// Counts of hand numbers. None of them overflows: each counts records of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Numbers that have started or were skipped.
    pub numbers: u64,
    pub played: u64,
    pub burnt: u64,
    pub agreed: u64,
    pub suspended_too_long: u64,
    pub missing: u64,
    pub were_suspended: u64,
    pub seeds_opened: u64,
    pub seeds_refused: u64,
    /// Seats that withheld entropy.
    pub withheld: u64,
    /// Those of them that opened it after the burn.
    pub withheld_opened: u64,
}

impl Counts {
    /// Counts `numbers` that came to an outcome.
    pub(super) fn end(&mut self, outcome: Outcome, numbers: u64) {
        let count = match outcome {
            Outcome::InPlay => return,
            Outcome::Played => &mut self.played,
            Outcome::Burnt => &mut self.burnt,
            Outcome::Agreed => &mut self.agreed,
            Outcome::SuspendedTooLong => &mut self.suspended_too_long,
            Outcome::Missing => &mut self.missing,
        };
        *count = count.saturating_add(numbers);
    }

    /// Counts the seed of a hand that has ended.
    pub(super) fn seed(&mut self, seed: SeedState) {
        match seed {
            SeedState::Owed => {}
            SeedState::Opened => self.seeds_opened += 1,
            SeedState::Refused => self.seeds_refused += 1,
        }
    }

    /// Differences between these counts and earlier ones.
    pub(super) fn since(&self, before: &Counts) -> [(ActivityKind, u64); 5] {
        type Count = fn(&Counts) -> u64;
        let broken_off = |it: &Counts| it.agreed.saturating_add(it.suspended_too_long);
        let kinds: [(ActivityKind, Count); 5] = [
            (ActivityKind::HandsStarted, |it| it.numbers.saturating_sub(it.missing)),
            (ActivityKind::HandsPlayed, |it| it.played),
            (ActivityKind::HandsBurnt, |it| it.burnt),
            (ActivityKind::HandsBrokenOff, broken_off),
            (ActivityKind::HandsSuspended, |it| it.were_suspended),
        ];
        kinds.map(|(kind, count)| (kind, count(self).saturating_sub(count(before))))
    }

    #[must_use]
    pub(super) fn view(&self) -> pb::HandCounts {
        let Counts {
            numbers,
            played,
            burnt,
            agreed,
            suspended_too_long,
            missing,
            were_suspended,
            seeds_opened,
            seeds_refused,
            withheld,
            withheld_opened,
        } = *self;
        let not_played = burnt + agreed + suspended_too_long;
        let ended = played + not_played;
        pb::HandCounts {
            numbers,
            played,
            burnt,
            agreed,
            suspended_too_long,
            missing,
            in_play: numbers.saturating_sub(ended.saturating_add(missing)),
            were_suspended,
            seeds_opened,
            seeds_owed: ended.saturating_sub(seeds_opened + seeds_refused),
            seeds_refused,
            withheld,
            withheld_opened,
            burnt_ppm: ppm(burnt, numbers),
            not_played_ppm: ppm(not_played, numbers),
            withheld_ppm: ppm(withheld, numbers),
        }
    }
}

/// Parts in a million, rounded down; 0 of nothing.
fn ppm(part: u64, whole: u64) -> u32 {
    let rate = (u128::from(part) * MILLION).checked_div(u128::from(whole)).unwrap_or(0);
    u32::try_from(rate).unwrap_or(u32::MAX)
}
