//! Exclusion of players who committed to entropy and withheld it.
//!
//! A burnt hand number costs the others the time for which the withholder was waited for, and no
//! more: the next number starts without them. They miss 1, 2, 4, 8 … numbers of the table, and at
//! least 30 s, 60 s, 2 min …; twenty numbers revealed in take one step back. So of a hundred
//! numbers one player burns eight at most, whatever they do in between. Sitting out and in, leaving, and
//! taking another seat change nothing: the steps are the player's at this table, and never
//! forgotten. When an exclusion is over the player is dealt in again by itself, unless they wanted
//! to sit out anyway.
//!
//! A number that the table cannot start for want of players is not waited for, only the time: an
//! exclusion must not close a table of two.
//!
//! Specification: fairness/SPEC.md §3.6.

use std::collections::BTreeMap;
use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::event::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::{ApiRefusal, BadField, api_refusal};

use super::Table;

/// Least time of the first step; each further step doubles it.
const FIRST_TIME: Duration = Duration::from_secs(30);
/// Numbers revealed in that take one step back.
const REVEALED_FOR_A_STEP: u32 = 20;
/// Players who are remembered for one table. Each entry has cost a hand number.
const MAX_REMEMBERED: usize = 1024;

/// Players who have withheld at a table, and have not revealed often enough since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exclusions(BTreeMap<PlayerId, Exclusion>);

/// Steps of one player, and the last exclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exclusion {
    /// At least 1.
    pub step: u32,
    /// First hand number that the player may be dealt into again.
    pub until_hand_no: u64,
    /// Time before which they may not either.
    pub until: UnixMicros,
    pub burnt_hand_no: u64,
    /// Numbers revealed in since the last step in either direction.
    revealed: u32,
}

impl Exclusion {
    /// Exclusion of a player who withheld in a number that is burnt at `at`.
    #[must_use]
    pub(crate) fn after(
        before: Option<&Exclusion>,
        burnt_hand_no: u64,
        at: UnixMicros,
    ) -> Exclusion {
        let step = before.map_or(0, |before| before.step).saturating_add(1);
        let missed = 1_u64.checked_shl(step - 1).unwrap_or(u64::MAX);
        let time = FIRST_TIME.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX));
        Exclusion {
            step,
            until_hand_no: burnt_hand_no.saturating_add(1).saturating_add(missed),
            until: at.plus(time),
            burnt_hand_no,
            revealed: 0,
        }
    }

    /// Steps after another number that the player has revealed in; `None` where none is left.
    #[must_use]
    fn after_reveal(self) -> Option<Exclusion> {
        let revealed = self.revealed + 1;
        if revealed < REVEALED_FOR_A_STEP {
            return Some(Exclusion { revealed, ..self });
        }
        let step = self.step - 1;
        (step > 0).then_some(Exclusion { step, revealed: 0, ..self })
    }

    /// Record of the exclusion.
    #[must_use]
    pub(crate) fn event(&self, seat: SeatNo, player: PlayerId) -> pb::SeatExcluded {
        pb::SeatExcluded {
            seat: u32::from(seat.get()),
            player_id: player.0.to_vec().into(),
            step: self.step,
            until_hand_no: self.until_hand_no,
            until_micros: self.until.0,
            burnt_hand_no: self.burnt_hand_no,
        }
    }
}

impl Exclusions {
    #[must_use]
    pub(crate) fn get(&self, player: PlayerId) -> Option<&Exclusion> {
        self.0.get(&player)
    }

    /// Takes over a recorded exclusion.
    pub(super) fn record(&mut self, excluded: &pb::SeatExcluded) -> Result<(), BadField> {
        let pb::SeatExcluded { seat: _, player_id, step, until_hand_no, until_micros, .. } =
            excluded;
        if *step == 0 {
            return Err(BadField::new("step", "it counts from 1"));
        }
        let exclusion = Exclusion {
            step: *step,
            until_hand_no: *until_hand_no,
            until: UnixMicros(*until_micros),
            burnt_hand_no: excluded.burnt_hand_no,
            revealed: 0,
        };
        self.0.insert(wire::field::player_id(player_id)?, exclusion);
        if self.0.len() > MAX_REMEMBERED {
            self.forget_the_least();
        }
        Ok(())
    }

    /// Drops the player with the fewest steps, and of those the one whose exclusion ended first, so
    /// that newcomers do not push out players who withhold often.
    fn forget_the_least(&mut self) {
        let least = self.0.iter().min_by_key(|(player, it)| (it.step, it.until, **player));
        if let Some(least) = least.map(|(player, _)| *player) {
            self.0.remove(&least);
        }
    }

    /// Notes that a player has revealed in another number.
    pub(super) fn note_revealed(&mut self, player: PlayerId) {
        let Some(before) = self.0.remove(&player) else { return };
        self.0.extend(before.after_reveal().map(|after| (player, after)));
    }
}

impl Table {
    /// Exclusion of a player that is not over at `now`.
    #[must_use]
    pub(crate) fn exclusion_at(&self, player: PlayerId, now: UnixMicros) -> Option<&Exclusion> {
        let exclusion = self.exclusions.get(player)?;
        let is_over = self.exclusion_end(exclusion).is_some_and(|end| now >= end);
        (!is_over).then_some(exclusion)
    }

    /// Time at which the player of a seat that sits out for an exclusion alone is dealt in again,
    /// where no further number has to be missed.
    #[must_use]
    pub(crate) fn returns_at(&self, number: SeatNo) -> Option<UnixMicros> {
        let seat = self.seats.get(&number).filter(|seat| seat.is_excluded && !seat.leaving)?;
        match self.exclusions.get(seat.player) {
            Some(exclusion) => self.exclusion_end(exclusion),
            // Its player was pushed out by a thousand others.
            None => Some(UnixMicros(0)),
        }
    }

    /// Time at which an exclusion ends; `None` while a number has to be missed that can come without
    /// the player.
    fn exclusion_end(&self, exclusion: &Exclusion) -> Option<UnixMicros> {
        if self.hand_no.saturating_add(1) >= exclusion.until_hand_no {
            return Some(exclusion.until);
        }
        self.cannot_start_since().map(|since| exclusion.until.max(since))
    }

    /// Time since which the next number cannot come with those who are ready: they are too few, or
    /// too few of them have committed in the time that they have to. `None` where it can.
    fn cannot_start_since(&self) -> Option<UnixMicros> {
        if self.hand.is_some() || self.has_enough_ready_seats() {
            return None;
        }
        let ended = self.finished_at.unwrap_or_default();
        let is_short = self.is_short_of_players();
        Some(if is_short { ended } else { ended.plus(self.config.commit_time()) })
    }

    /// Exclusion that viewers are shown of a seat: that of a seat which sits out, until the records
    /// say that it is over.
    #[must_use]
    pub(crate) fn shown_exclusion(&self, number: SeatNo) -> Option<&Exclusion> {
        let seat = self.seats.get(&number).filter(|seat| seat.sitting_out)?;
        let exclusion = self.exclusions.get(seat.player)?;
        let last = self.finished_at.unwrap_or_default();
        self.exclusion_at(seat.player, last).map(|_| exclusion)
    }

    /// Checks that a player who has withheld entropy may be dealt in again.
    pub(crate) fn check_may_return(
        &self,
        player: PlayerId,
        now: UnixMicros,
    ) -> Result<(), ApiRefusal> {
        let Some(exclusion) = self.exclusion_at(player, now) else { return Ok(()) };
        let Exclusion { step, until_hand_no, until, burnt_hand_no, revealed: _ } = exclusion;
        let left = until.since(now);
        let message = format!(
            "you withheld entropy here that you had committed to, and hand number {burnt_hand_no} was burnt: \
             you are not dealt in before hand {until_hand_no}, nor for another {} s",
            left.as_secs() + u64::from(left.subsec_nanos() > 0)
        );
        Err(api_refusal(ErrorReason::Withheld, message)
            .with("step", step.to_string())
            .with("until_hand_no", until_hand_no.to_string())
            .with("until", wire::time::rfc3339(*until))
            .retry_after(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn player(number: u16) -> PlayerId {
        let [high, low] = number.to_be_bytes();
        PlayerId([high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    fn seat() -> SeatNo {
        SeatNo::try_new(1).unwrap()
    }

    const AT: UnixMicros = UnixMicros(1_000_000);

    #[test]
    fn each_step_doubles_the_numbers_and_the_time() {
        let mut before = None;
        let mut steps = Vec::new();
        for _ in 0..80 {
            let next = Exclusion::after(before.as_ref(), 10, AT);
            steps.push((next.step, next.until_hand_no - 11, next.until.since(AT).as_secs()));
            before = Some(next);
        }
        assert_eq!(steps[..4], [(1, 1, 30), (2, 2, 60), (3, 4, 120), (4, 8, 240)]);
        assert_eq!(steps[19].1, 1 << 19);
        assert!(steps[79].1 > 1 << 62 && steps[79].2 > 1 << 35);
    }

    #[test]
    fn twenty_numbers_revealed_in_take_one_step_back() {
        let mut exclusions = Exclusions::default();
        let second = Exclusion::after(Some(&Exclusion::after(None, 1, AT)), 3, AT);
        exclusions.record(&second.event(seat(), player(1))).unwrap();
        for revealed in 1..=40 {
            exclusions.note_revealed(player(1));
            exclusions.note_revealed(player(2));
            let step = exclusions.get(player(1)).map(|it| it.step);
            let expected = if revealed < 20 { Some(2) } else { Some(1) };
            assert_eq!(step, expected.filter(|_| revealed < 40), "{revealed}");
        }
        assert_eq!(exclusions, Exclusions::default());
    }

    #[test]
    fn a_step_in_between_begins_the_twenty_anew() {
        let mut exclusions = Exclusions::default();
        for (burnt, step) in [(1, 1), (30, 2)] {
            let next = Exclusion::after(exclusions.get(player(1)), burnt, AT);
            assert_eq!(next.step, step);
            exclusions.record(&next.event(seat(), player(1))).unwrap();
            for _ in 0..19 {
                exclusions.note_revealed(player(1));
            }
        }
        assert_eq!(exclusions.get(player(1)).unwrap().step, 2);
    }

    /// Most numbers that a player burns from `hand_no` to `last`, with these steps behind them.
    fn most_burnt(
        before: Option<Exclusion>,
        hand_no: u64,
        last: u64,
        known: &mut BTreeMap<(u64, u32, u32), u32>,
    ) -> u32 {
        if hand_no > last {
            return 0;
        }
        let key = (hand_no, before.map_or(0, |it| it.step), before.map_or(0, |it| it.revealed));
        if let Some(most) = known.get(&key) {
            return *most;
        }
        let burns = Exclusion::after(before.as_ref(), hand_no, AT);
        let burnt = 1 + most_burnt(Some(burns), burns.until_hand_no, last, known);
        let reveals = before.and_then(Exclusion::after_reveal);
        let most = burnt.max(most_burnt(reveals, hand_no + 1, last, known));
        known.insert(key, most);
        most
    }

    /// fairness/SPEC.md §3.6.
    #[test]
    fn no_player_burns_more_than_eight_of_a_hundred_numbers() {
        assert_eq!(most_burnt(None, 1, 100, &mut BTreeMap::new()), 8);
        assert_eq!(most_burnt(None, 1, 1000, &mut BTreeMap::new()), 49);
    }

    #[test]
    fn whoever_withholds_often_is_not_pushed_out_by_many_others() {
        let mut exclusions = Exclusions::default();
        for burnt in 1..=5 {
            let next = Exclusion::after(exclusions.get(player(7)), burnt, AT);
            exclusions.record(&next.event(seat(), player(7))).unwrap();
        }
        for number in 100..5_000 {
            let next = Exclusion::after(None, u64::from(number), AT);
            exclusions.record(&next.event(seat(), player(number))).unwrap();
        }
        assert_eq!(exclusions.0.len(), MAX_REMEMBERED);
        assert_eq!(exclusions.get(player(7)).unwrap().step, 5);
    }

    #[test]
    fn a_step_of_zero_is_damage() {
        let event =
            pb::SeatExcluded { step: 0, ..Exclusion::after(None, 1, AT).event(seat(), player(1)) };
        assert!(Exclusions::default().record(&event).is_err());
    }
}
