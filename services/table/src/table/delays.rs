//! Delays of players who were removed from a seat that they did not use.
//!
//! An idle seat costs nobody a hand, but a place at the table. The first time costs nothing, since
//! a connection may break. A player who is removed again, before an hour has passed in which they
//! could have played, waits a minute, then twice as long each time, up to an hour. The delay is the
//! player's, not the seat's.
//!
//! Specification: services/table/README.md "Commands".

use std::collections::BTreeMap;
use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};
use proto::common::v1::ErrorReason;
use serde::{Deserialize, Serialize};
use wire::{ApiRefusal, api_refusal};

use super::Table;

/// Delay of the second time; each further time doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(60);
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Time after the end of a delay until it is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);
/// Players who are remembered for one table: 128 full tables of eight in an hour.
const MAX_REMEMBERED: usize = 1024;

/// Players with a delay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReturnDelays(BTreeMap<PlayerId, Record>);

/// Delay of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Record {
    /// At least one.
    times: u32,
    /// Time at which they may come back.
    until: UnixMicros,
}

impl Record {
    fn is_forgotten(&self, now: UnixMicros) -> bool {
        now >= self.until.plus(FORGOTTEN_AFTER)
    }
}

impl ReturnDelays {
    /// Number of times and end of a player's delay, while it runs.
    fn delay(&self, player: PlayerId, now: UnixMicros) -> Option<(u32, UnixMicros)> {
        let Record { times, until } = self.0.get(&player)?;
        (now < *until).then_some((*times, *until))
    }

    /// Notes another time.
    fn add(&mut self, player: PlayerId, at: UnixMicros) {
        self.0.retain(|_, record| !record.is_forgotten(at));
        let times = self.0.get(&player).map_or(0, |record| record.times).saturating_add(1);
        self.0.insert(player, Record { times, until: at.plus(wait_after(times)) });
        if self.0.len() > MAX_REMEMBERED {
            // The shortest delay is dropped, so that newcomers do not push out players with long
            // ones.
            let least = self.0.iter().min_by_key(|(player, record)| (**record, **player));
            if let Some(least) = least.map(|(player, _)| *player) {
                self.0.remove(&least);
            }
        }
    }
}

/// Delay after so many times.
fn wait_after(times: u32) -> Duration {
    match times.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => {
            let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
            FIRST_WAIT.saturating_mul(factor).min(MAX_WAIT)
        }
    }
}

impl Table {
    /// Notes that the player of a seat is removed because they did not use it.
    pub(super) fn note_idled(&mut self, seat: SeatNo, at: UnixMicros) {
        let player = self.seats.get(&seat).map(|seat| seat.player);
        if let Some(player) = player {
            self.idle_delays.add(player, at);
        }
    }

    /// Checks that a player who was removed from idle seats may sit down again.
    pub(crate) fn check_may_sit_down(
        &self,
        player: PlayerId,
        now: UnixMicros,
    ) -> Result<(), ApiRefusal> {
        let Some((times, until)) = self.idle_delays.delay(player, now) else { return Ok(()) };
        let left = until.since(now);
        let message = format!(
            "{times} times lately you were removed from a seat of this table that you did not use: you \
             may sit down again in {} s",
            left.as_secs() + 1
        );
        Err(api_refusal(ErrorReason::SatIdle, message)
            .with("times", times.to_string())
            .with("until", wire::time::rfc3339(until))
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

    #[test]
    fn each_time_costs_more_and_none_more_than_an_hour() {
        let waits = [0, 1, 2, 3, 4, 7, 8, 9, 40, u32::MAX].map(|times| wait_after(times).as_secs());
        assert_eq!(waits, [0, 0, 60, 120, 240, 1920, 3600, 3600, 3600, 3600]);
    }

    #[test]
    fn an_hour_of_play_is_forgiveness() {
        let mut delays = ReturnDelays::default();
        let mut at = UnixMicros(1_000_000);
        for times in [1, 2, 3] {
            delays.add(player(1), at);
            assert_eq!(delays.0[&player(1)].times, times);
            at = at.plus(wait_after(times)).plus(FORGOTTEN_AFTER - Duration::from_micros(1));
        }
        delays.add(player(1), at.plus(Duration::from_micros(1)));
        assert_eq!(delays.0[&player(1)].times, 1);
    }

    #[test]
    fn whoever_is_removed_often_is_not_pushed_out_by_many_others() {
        let mut delays = ReturnDelays::default();
        let at = UnixMicros(1_000_000);
        for _ in 0..5 {
            delays.add(player(7), at);
        }
        for number in 100..5_000 {
            delays.add(player(number), at);
        }
        assert_eq!(delays.0.len(), MAX_REMEMBERED);
        assert_eq!(delays.0[&player(7)].times, 5);
    }
}
