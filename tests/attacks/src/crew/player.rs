//! One honest player: contributes entropy, decides after a short time to think, buys in again when
//! the stack is gone, and counts events.

use std::sync::Arc;
use std::time::Duration;

use bots::strategy::pick;
use client::{Acted, Error, Heard, Play, Seen};
use primitives::{Credits, TableId};
use proto::common::v1::{ErrorReason, LegalMove, Move, MoveKind};
use proto::event::v1::AtFault;
use proto::table::v1::table_update::What;
use proto::table::v1::{
    HandEnded, HandVoided, SeatChanged, SeatState, TableUpdate, TableView, Turn,
};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rules::RuleSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Tally;
use crate::room::Guest;

/// Dependencies of a player.
pub(crate) struct Place {
    pub(crate) guest: Guest,
    pub(crate) table: TableId,
    pub(crate) buy_in: Credits,
    pub(crate) thinking: (Duration, Duration),
    /// Whether they count the table's hands.
    pub(crate) counts_hands: bool,
    pub(crate) tally: Arc<Tally>,
    pub(crate) stop: CancellationToken,
}

/// Decision that is due.
struct Due {
    hand_no: u64,
    turn: Turn,
    at: Instant,
}

pub(crate) struct Player {
    place: Place,
    play: Play,
    generator: StdRng,
    rules: Option<RuleSet>,
    seat: u32,
    stack: u64,
    due: Option<Due>,
    /// Request id of the decision in flight, and the time it was sent.
    sent: Option<(Vec<u8>, Instant)>,
}

impl Player {
    pub(crate) fn new(place: Place) -> Player {
        let seed = place
            .guest
            .id
            .bytes()
            .iter()
            .fold(0, |seed: u64, byte| seed.rotate_left(8) ^ u64::from(*byte));
        Player {
            play: place.guest.client.play(place.table).taking_part(place.guest.id),
            generator: StdRng::seed_from_u64(seed),
            rules: None,
            seat: 0,
            stack: 0,
            due: None,
            sent: None,
            place,
        }
    }

    /// Plays until `stop` is cancelled, or the table is closed.
    pub(crate) async fn play(mut self) -> Result<(), Error> {
        let stop = self.place.stop.clone();
        self.sit_down().await?;
        loop {
            let at = self.due.as_ref().filter(|_| self.sent.is_none()).map(|due| due.at);
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                heard = self.play.next() => match heard {
                    Ok(Some(heard)) => self.hear(heard).await?,
                    Ok(None) => return Ok(()),
                    Err(Error::Gap { .. }) => self.count("GAP"),
                    Err(error) => return Err(error),
                },
                () = tokio::time::sleep_until(at.unwrap_or_else(Instant::now)), if at.is_some() => {
                    self.decide()?;
                }
            }
        }
    }

    async fn hear(&mut self, heard: Heard) -> Result<(), Error> {
        match heard {
            Heard::Seen(Seen::Snapshot(view)) => self.see_table(*view).await,
            Heard::Seen(Seen::Update(update)) => self.see(*update).await,
            Heard::Seen(Seen::CaughtUp) => Ok(()),
            Heard::Acted(acted) => {
                self.answered(&acted);
                Ok(())
            }
            Heard::TookPart(part) => {
                if let Err(refusal) = part.outcome {
                    self.refused(&Error::Refused(refusal));
                }
                Ok(())
            }
        }
    }

    async fn see_table(&mut self, view: TableView) -> Result<(), Error> {
        self.rules = RuleSet::from_canonical(&view.rule_set).ok();
        let me = self.place.guest.id;
        let Some(mine) = view.seats.iter().find(|seat| seat.player_id == me.bytes()) else {
            return self.sit_down().await;
        };
        (self.seat, self.stack) = (mine.seat, mine.stack);
        self.due_of(view.hand_no, view.hand.and_then(|hand| hand.turn));
        Ok(())
    }

    fn due_of(&mut self, hand_no: u64, turn: Option<Turn>) {
        let (least, most) = self.place.thinking;
        let spread = u64::try_from(most.saturating_sub(least).as_micros()).unwrap_or(0);
        let thought = least + Duration::from_micros(self.generator.random_range(0..=spread));
        let mine = turn.filter(|turn| turn.seat == self.seat && self.seat > 0);
        self.due = mine.map(|turn| Due { hand_no, turn, at: Instant::now() + thought });
    }

    async fn see(&mut self, update: TableUpdate) -> Result<(), Error> {
        match update.what {
            Some(What::Action(action)) => {
                if action.by_clock && action.seat == self.seat {
                    self.place.tally.add(|counts| counts.clocks += 1);
                }
                self.due_of(action.hand_no, action.turn);
            }
            Some(What::HandEnded(ended)) => return self.see_end(ended).await,
            Some(What::Voided(voided)) => self.see_voided(&voided),
            Some(What::Seat(changed)) => return self.see_seat(changed).await,
            Some(
                What::HandStarted(_)
                | What::Closed(_)
                | What::NextHand(_)
                | What::Entropy(_)
                | What::Seed(_)
                | What::Paused(_)
                | What::Stopped(_),
            )
            | None => {}
        }
        Ok(())
    }

    async fn see_end(&mut self, ended: HandEnded) -> Result<(), Error> {
        self.due = None;
        if self.place.counts_hands {
            self.place.tally.add(|counts| counts.hands += 1);
        }
        let Some(standing) = ended.standing else { return Ok(()) };
        if let Some(mine) = standing.seats.iter().find(|seat| seat.seat == self.seat) {
            self.stack = mine.stack;
        }
        let pot = Credits::try_new(standing.sabacc_pot).unwrap_or(Credits::MAX);
        let least = self.rules.as_ref().map_or(1, |rules| rules.due(pot).get());
        if self.seat != 0 && self.stack < least {
            let left = self.place.guest.client.stand_up(self.place.table).await;
            return self.settled(left.map(drop));
        }
        Ok(())
    }

    fn see_voided(&mut self, voided: &HandVoided) {
        self.due = None;
        if self.place.counts_hands {
            self.place.tally.add(|counts| counts.voided += 1);
        }
        if voided.at_fault() == AtFault::Seat && voided.seats.contains(&self.seat) {
            self.place.tally.add(|counts| counts.blamed += 1);
        }
    }

    async fn see_seat(&mut self, changed: SeatChanged) -> Result<(), Error> {
        let me = self.place.guest.id;
        let Some(seat) = changed.seat.filter(|seat| seat.player_id == me.bytes()) else {
            return Ok(());
        };
        if changed.vacated {
            self.seat = 0;
            return self.sit_down().await;
        }
        (self.seat, self.stack) = (seat.seat, seat.stack);
        if seat.state() == SeatState::SittingOut {
            let back = self.place.guest.client.sit_out(self.place.table, false).await;
            return self.settled(back);
        }
        Ok(())
    }

    async fn sit_down(&mut self) -> Result<(), Error> {
        let Place { guest, table, buy_in, .. } = &self.place;
        let seat = guest.client.sit_down(*table, 0, *buy_in).await;
        if let Ok(seat) = &seat {
            self.seat = *seat;
        }
        self.settled(seat.map(drop))
    }

    /// Counts a refusal; a missing answer ends the player.
    fn settled(&self, answer: Result<(), Error>) -> Result<(), Error> {
        match answer {
            Err(error @ Error::Refused(_)) => {
                if error.reason() != Some(ErrorReason::TableClosed) {
                    self.refused(&error);
                }
                Ok(())
            }
            other => other,
        }
    }

    fn decide(&mut self) -> Result<(), Error> {
        let Some(Due { hand_no, turn, .. }) = self.due.take() else { return Ok(()) };
        if !self.play.is_live() {
            return Ok(());
        }
        let decision = choose(&turn, &mut self.generator);
        let request = self.play.decide(hand_no, turn.turn, decision)?;
        self.sent = Some((request, Instant::now()));
        Ok(())
    }

    fn answered(&mut self, acted: &Acted) {
        let Some((_, sent)) = self.sent.take_if(|(request, _)| *request == acted.request) else {
            return;
        };
        match &acted.outcome {
            Ok(_) => self.place.tally.add(|counts| counts.took.push(sent.elapsed())),
            Err(refusal) => self.refused(&Error::Refused(refusal.clone())),
        }
    }

    fn refused(&self, error: &Error) {
        let reason = error.reason().map(|reason| wire::status::name(reason).to_owned());
        self.count(&reason.unwrap_or_else(|| "NO_ANSWER".to_owned()));
    }

    fn count(&self, reason: &str) {
        self.place.tally.add(|counts| *counts.refused.entry(reason.to_owned()).or_default() += 1);
    }
}

/// Chooses a legal move with the smallest amounts; a drastic one only without another.
fn choose(turn: &Turn, generator: &mut StdRng) -> Move {
    let drastic = |legal: &&LegalMove| {
        matches!(
            legal.kind(),
            MoveKind::Fold | MoveKind::Junk | MoveKind::Leave | MoveKind::Bet | MoveKind::Raise
        )
    };
    let calm: Vec<&LegalMove> = turn.legal.iter().filter(|legal| !drastic(legal)).collect();
    let from = if calm.is_empty() { turn.legal.iter().collect() } else { calm };
    let mut below = |n: usize| generator.random_range(0..n);
    let picked = if from.is_empty() { None } else { Some(from[below(from.len())]) };
    let chosen = picked.and_then(|legal| pick(legal, &mut below));
    chosen.or_else(|| turn.default_move.clone()).unwrap_or_default()
}
