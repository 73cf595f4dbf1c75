//! One honest player: contributes entropy, decides after a short time to think, buys in again when
//! the stack is gone, and counts events.

use std::sync::Arc;
use std::time::Duration;

use bots::strategy::pick;
use client::{DecisionOutcome, Error, Play, PlayMessage, WatchMessage};
use primitives::{Credits, TableId};
use proto::common::v1::{AtFault, ErrorReason, LegalMove, Move, MoveKind};
use proto::table::v1::table_update::What;
use proto::table::v1::{
    HandEnded, HandVoided, SeatChanged, SeatState, TableUpdate, TableView, Turn,
};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rules::RuleSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Totals;
use crate::room::Guest;

/// Dependencies of a player.
pub(crate) struct PlayerDependencies {
    pub(crate) guest: Guest,
    pub(crate) table: TableId,
    pub(crate) buy_in: Credits,
    pub(crate) think_time: (Duration, Duration),
    /// Whether they count the table's hands.
    pub(crate) counts_hands: bool,
    /// Whether they count what is charged to them: clocks and burnt numbers.
    pub(crate) counts_charges: bool,
    pub(crate) totals: Arc<Totals>,
    pub(crate) stop: CancellationToken,
}

/// Decision that is due.
struct DueDecision {
    hand_no: u64,
    turn: Turn,
    not_before: Instant,
}

pub(crate) struct Player {
    dependencies: PlayerDependencies,
    play: Play,
    generator: StdRng,
    rules: Option<RuleSet>,
    seat: u32,
    stack: u64,
    due: Option<DueDecision>,
    /// Request id of the decision in flight, and the time it was sent.
    in_flight: Option<(String, Instant)>,
}

impl Player {
    pub(crate) fn new(place: PlayerDependencies) -> Player {
        let seed = place
            .guest
            .id
            .bytes()
            .iter()
            .fold(0, |seed: u64, byte| seed.rotate_left(8) ^ u64::from(*byte));
        Player {
            play: place.guest.client.play(place.table).contributing_entropy(place.guest.id),
            generator: StdRng::seed_from_u64(seed),
            rules: None,
            seat: 0,
            stack: 0,
            due: None,
            in_flight: None,
            dependencies: place,
        }
    }

    /// Plays until `stop` is cancelled, or the table is closed.
    pub(crate) async fn play(mut self) -> Result<(), Error> {
        let stop = self.dependencies.stop.clone();
        self.sit_down().await?;
        loop {
            let at =
                self.due.as_ref().filter(|_| self.in_flight.is_none()).map(|due| due.not_before);
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                received = self.play.next() => match received {
                    Ok(Some(message)) => self.receive(message).await?,
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

    async fn receive(&mut self, message: PlayMessage) -> Result<(), Error> {
        match message {
            PlayMessage::Watch(WatchMessage::Snapshot(view)) => self.apply_snapshot(*view).await,
            PlayMessage::Watch(WatchMessage::Update(update)) => self.apply_update(*update).await,
            PlayMessage::Watch(WatchMessage::CaughtUp) => Ok(()),
            PlayMessage::Decision(acted) => {
                self.answered(&acted);
                Ok(())
            }
            PlayMessage::Notice(_) => Ok(()),
            PlayMessage::Entropy(part) => {
                if let Err(refusal) = part.outcome {
                    self.refused(&Error::Refused(refusal));
                }
                Ok(())
            }
        }
    }

    async fn apply_snapshot(&mut self, view: TableView) -> Result<(), Error> {
        self.rules = RuleSet::from_canonical(&view.rule_set).ok();
        let me = self.dependencies.guest.id;
        let Some(mine) = view.seats.iter().find(|seat| wire::field::is_id(&seat.player_id, me))
        else {
            return self.sit_down().await;
        };
        (self.seat, self.stack) = (mine.seat, mine.stack_credits);
        self.record_due(view.hand_no, view.hand.and_then(|hand| hand.turn));
        Ok(())
    }

    fn record_due(&mut self, hand_no: u64, turn: Option<Turn>) {
        let (least, most) = self.dependencies.think_time;
        let spread = u64::try_from(most.saturating_sub(least).as_micros()).unwrap_or(0);
        let thought = least + Duration::from_micros(self.generator.random_range(0..=spread));
        let mine = turn.filter(|turn| turn.seat == self.seat && self.seat > 0);
        self.due =
            mine.map(|turn| DueDecision { hand_no, turn, not_before: Instant::now() + thought });
    }

    async fn apply_update(&mut self, update: TableUpdate) -> Result<(), Error> {
        match update.what {
            Some(What::Action(action)) => {
                if self.dependencies.counts_charges && action.by_clock && action.seat == self.seat {
                    self.dependencies.totals.add(|counts| counts.clock_decisions += 1);
                }
                self.record_due(action.hand_no, action.turn);
            }
            Some(What::HandEnded(ended)) => return self.apply_end(ended).await,
            Some(What::Voided(voided)) => self.apply_voided(&voided),
            Some(What::Seat(changed)) => return self.apply_seat(changed).await,
            Some(
                What::HandStarted(_)
                | What::Closed(_)
                | What::NextHand(_)
                | What::Entropy(_)
                | What::Seed(_)
                | What::Suspension(_)
                | What::Stopped(_)
                | What::Disabled(_),
            )
            | None => {}
        }
        Ok(())
    }

    async fn apply_end(&mut self, ended: HandEnded) -> Result<(), Error> {
        self.due = None;
        if self.dependencies.counts_hands {
            self.dependencies.totals.add(|counts| counts.hands += 1);
        }
        let Some(standing) = ended.standing else { return Ok(()) };
        if let Some(mine) = standing.seats.iter().find(|seat| seat.seat == self.seat) {
            self.stack = mine.stack_credits;
        }
        let pot = Credits::try_new(standing.sabacc_pot_credits).unwrap_or(Credits::MAX);
        let least = self.rules.as_ref().map_or(1, |rules| rules.min_stack(pot).get());
        if self.seat != 0 && self.stack < least {
            let left = self.play.stand_up().await;
            return self.count_refused(left.map(drop));
        }
        Ok(())
    }

    fn apply_voided(&mut self, voided: &HandVoided) {
        self.due = None;
        if self.dependencies.counts_hands {
            self.dependencies.totals.add(|counts| counts.voided += 1);
        }
        let is_blamed = voided.at_fault() == AtFault::Seat && voided.seats.contains(&self.seat);
        if is_blamed && self.dependencies.counts_charges {
            self.dependencies.totals.add(|counts| counts.blamed += 1);
        }
    }

    async fn apply_seat(&mut self, changed: SeatChanged) -> Result<(), Error> {
        let me = self.dependencies.guest.id;
        let Some(seat) = changed.seat.filter(|seat| wire::field::is_id(&seat.player_id, me)) else {
            return Ok(());
        };
        if changed.vacated {
            self.seat = 0;
            return self.sit_down().await;
        }
        (self.seat, self.stack) = (seat.seat, seat.stack_credits);
        if seat.state() == SeatState::SittingOut {
            let back = self.dependencies.guest.client.sit_out(self.dependencies.table, false).await;
            return self.count_refused(back);
        }
        Ok(())
    }

    async fn sit_down(&mut self) -> Result<(), Error> {
        let PlayerDependencies { guest, table, buy_in, .. } = &self.dependencies;
        let seat = guest.client.sit_down(*table, 0, *buy_in).await;
        if let Ok(seat) = &seat {
            self.seat = *seat;
        }
        self.count_refused(seat.map(drop))
    }

    /// Counts a refusal; a missing answer ends the player.
    fn count_refused(&self, answer: Result<(), Error>) -> Result<(), Error> {
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
        let Some(DueDecision { hand_no, turn, .. }) = self.due.take() else { return Ok(()) };
        if !self.play.is_live() {
            return Ok(());
        }
        let decision = choose(&turn, &mut self.generator);
        let request = self.play.decide(hand_no, turn.turn, decision)?;
        self.in_flight = Some((request, Instant::now()));
        Ok(())
    }

    fn answered(&mut self, acted: &DecisionOutcome) {
        let Some((_, sent)) = self.in_flight.take_if(|(request, _)| *request == acted.request_id)
        else {
            return;
        };
        match &acted.outcome {
            Ok(_) => self.dependencies.totals.add(|counts| counts.latencies.push(sent.elapsed())),
            Err(refusal) => self.refused(&Error::Refused(refusal.clone())),
        }
    }

    fn refused(&self, error: &Error) {
        let reason = error.reason().map(|reason| wire::status::reason_name(reason).to_owned());
        self.count(&reason.unwrap_or_else(|| "NO_ANSWER".to_owned()));
    }

    fn count(&self, reason: &str) {
        self.dependencies
            .totals
            .add(|counts| *counts.refused.entry(reason.to_owned()).or_default() += 1);
    }
}

/// Chooses a legal move with the smallest amounts; a drastic one only without another.
fn choose(turn: &Turn, generator: &mut StdRng) -> Move {
    let drastic = |legal: &&LegalMove| {
        matches!(legal.kind(), MoveKind::Fold | MoveKind::Junk | MoveKind::Bet | MoveKind::Raise)
    };
    let stays = || turn.legal.iter().filter(|legal| legal.kind() != MoveKind::Leave);
    let calm: Vec<&LegalMove> = stays().filter(|legal| !drastic(legal)).collect();
    let from = if calm.is_empty() { stays().collect() } else { calm };
    let mut below = |n: usize| generator.random_range(0..n);
    let picked = if from.is_empty() { None } else { Some(from[below(from.len())]) };
    let chosen = picked.and_then(|legal| pick(legal, &mut below));
    chosen.or_else(|| turn.default_move.clone()).unwrap_or_default()
}
