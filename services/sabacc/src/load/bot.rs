//! One bot: its stream, its seat, its decisions.
//!
//! It keeps no picture of the table, only whether a decision of its own is due and whether its stack
//! lasts for another hand: what an update costs here is taken from the services on the same machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bots::strategy::pick;
use client::{Acted, Chance, Client, Error, Heard, Play, Seen, TookPart};
use primitives::{Credits, PlayerId, TableId, UnixMicros};
use proto::common::v1::{ErrorReason, LegalMove, Move, MoveKind};
use proto::table::v1::table_update::What;
use proto::table::v1::{SeatChanged, SeatState, TableUpdate, TableView, Turn};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rules::RuleSet;
use system::clock::{Clock as _, SystemClock};
use tokio::time::Instant;

use super::think::Think;
use crate::bench::latency::Latencies;

/// Of so many decisions one may be drastic: four players then decide some forty times in a hand of the
/// dice game, as steady ones do.
const DRASTIC: usize = 3;

/// A bot that the room has no time for waits so long, where it is not told how long.
const WAIT: Duration = Duration::from_millis(500);

/// What all bots add up.
#[derive(Default)]
pub(crate) struct Tally {
    /// What happens now counts.
    measuring: AtomicBool,
    /// It is over: nobody thinks any more, so that hands in play end soon.
    hurry: AtomicBool,
    /// Acknowledged decisions since the start, for those who watch.
    acted: AtomicU64,
    /// Hands that ended while it counted.
    hands: AtomicU64,
    /// Entropy that was revealed while it counted.
    parts: AtomicU64,
    /// Hands that were burnt or voided since the start: bots keep nothing back, so that is the room's.
    burnt: AtomicU64,
    /// Decisions that the clock took from bots since the start: they think for less than it gives.
    clocks: AtomicU64,
    latencies: Mutex<Latencies>,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Tally {
    pub(crate) fn measure(&self, measuring: bool) {
        self.measuring.store(measuring, Ordering::Relaxed);
    }

    /// From now on nobody begins to think.
    pub(crate) fn hurry(&self) {
        self.hurry.store(true, Ordering::Relaxed);
    }

    pub(crate) fn acted(&self) -> u64 {
        self.acted.load(Ordering::Relaxed)
    }

    pub(crate) fn hands(&self) -> u64 {
        self.hands.load(Ordering::Relaxed)
    }

    /// How often a seat took part in chance to the end, while it counted.
    pub(crate) fn parts(&self) -> u64 {
        self.parts.load(Ordering::Relaxed)
    }

    pub(crate) fn burnt(&self) -> u64 {
        self.burnt.load(Ordering::Relaxed)
    }

    pub(crate) fn clocks(&self) -> u64 {
        self.clocks.load(Ordering::Relaxed)
    }

    /// How long decisions took that counted, since this was asked last.
    pub(crate) fn take_latencies(&self) -> Latencies {
        std::mem::take(&mut *self.latencies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was refused or not answered since the start, by reason.
    pub(crate) fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn counts(&self) -> bool {
        self.measuring.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self, error: &Error) {
        let reason = error.reason().map(|reason| wire::status::name(reason).to_owned());
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry(reason.unwrap_or_else(|| "NO_ANSWER".to_owned())).or_default() += 1;
    }
}

/// What a bot is made of.
pub(crate) struct Place {
    /// Its connection and token.
    pub(crate) client: Client,
    pub(crate) table: TableId,
    pub(crate) me: PlayerId,
    pub(crate) buy_in: Credits,
    pub(crate) seed: u64,
    /// It counts the table's hands.
    pub(crate) first: bool,
    /// Before each decision.
    pub(crate) think: Think,
}

pub(crate) struct Bot {
    place: Place,
    play: Play,
    clock: SystemClock,
    generator: StdRng,
    tally: Arc<Tally>,
    rules: Option<RuleSet>,
    seat: u32,
    stack: u64,
    /// The hand, and the decision of it that is due of this bot.
    due: Option<(u64, Turn)>,
    /// No decision is sent before: the bot thinks, or was asked to wait.
    at: Instant,
    /// The decision that was sent last, until it is answered.
    asked: Option<Asked>,
}

impl Bot {
    pub(crate) fn new(place: Place, tally: Arc<Tally>) -> Bot {
        Bot {
            play: place.client.play(place.table).with_chance(chance(&place)),
            clock: SystemClock::new(),
            generator: StdRng::seed_from_u64(place.seed),
            tally,
            rules: None,
            seat: 0,
            stack: 0,
            due: None,
            at: Instant::now(),
            asked: None,
            place,
        }
    }

    /// Sits down and plays until the table is closed.
    pub(crate) async fn play(mut self) -> Result<(), Error> {
        self.sit_down().await?;
        loop {
            let ready = self.due.is_some() && self.asked.is_none() && self.play.is_live();
            tokio::select! {
                biased;
                // Who does not think, and was not asked to wait, is not kept by a timer.
                () = until(self.at), if ready => {
                    if let Some((hand_no, turn)) = self.due.take() {
                        self.decide(hand_no, turn)?;
                    }
                }
                heard = self.play.next() => match heard {
                    Ok(Some(Heard::Seen(seen))) => self.see_any(seen).await?,
                    Ok(Some(Heard::Acted(acted))) => self.answered(acted)?,
                    Ok(Some(Heard::TookPart(part))) => self.took_part(part),
                    Ok(None) => return Ok(()),
                    Err(error @ Error::Gap { .. }) => self.tally.refused(&error),
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// A decision may be this bot's: it begins to think.
    fn due_of(&mut self, hand_no: u64, turn: Option<Turn>) {
        let mine = turn.filter(|turn| turn.seat == self.seat && self.seat != 0);
        self.due = mine.map(|turn| (hand_no, turn));
        let thinks = self.place.think.is_some() && !self.tally.hurry.load(Ordering::Relaxed);
        if self.due.is_some() && thinks {
            self.at = Instant::now() + self.place.think.draw(&mut self.generator);
        }
    }

    fn took_part(&self, part: TookPart) {
        match part.outcome {
            Ok(receipt) if self.tally.counts() => {
                self.tally.parts.fetch_add(u64::from(receipt.is_none()), Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(refusal) => self.tally.refused(&Error::Refused(refusal)),
        }
    }

    async fn see_any(&mut self, seen: Seen) -> Result<(), Error> {
        match seen {
            Seen::Snapshot(view) => self.see_table(*view).await,
            Seen::Update(update) => self.see(*update).await,
            Seen::CaughtUp => Ok(()),
        }
    }

    async fn see_table(&mut self, view: TableView) -> Result<(), Error> {
        self.rules = RuleSet::from_canonical(&view.rule_set).ok();
        let mine = view.seats.iter().find(|seat| seat.player_id == self.place.me.bytes());
        let Some(mine) = mine else { return self.sit_down().await };
        (self.seat, self.stack) = (mine.seat, mine.stack);
        self.due_of(view.hand_no, view.hand.and_then(|hand| hand.turn));
        Ok(())
    }

    async fn see(&mut self, update: TableUpdate) -> Result<(), Error> {
        match update.what {
            Some(What::Action(action)) => {
                if action.by_clock && action.seat == self.seat {
                    self.tally.clocks.fetch_add(1, Ordering::Relaxed);
                }
                self.due_of(action.hand_no, action.turn);
            }
            Some(What::HandEnded(ended)) => {
                self.due = None;
                if self.place.first && self.tally.counts() {
                    self.tally.hands.fetch_add(1, Ordering::Relaxed);
                }
                let Some(standing) = ended.standing else { return Ok(()) };
                if let Some(mine) = standing.seats.iter().find(|seat| seat.seat == self.seat) {
                    self.stack = mine.stack;
                }
                let pot = Credits::try_new(standing.sabacc_pot).unwrap_or(Credits::MAX);
                let least = self.rules.as_ref().map_or(1, |rules| rules.due(pot).get());
                if self.seat != 0 && self.stack < least {
                    let left = self.place.client.stand_up(self.place.table).await;
                    self.asked(left)?;
                }
            }
            Some(What::Voided(_)) => {
                self.due = None;
                self.tally.burnt.fetch_add(u64::from(self.place.first), Ordering::Relaxed);
            }
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

    async fn see_seat(&mut self, changed: SeatChanged) -> Result<(), Error> {
        let mine = changed.seat.filter(|seat| seat.player_id == self.place.me.bytes());
        let Some(seat) = mine else { return Ok(()) };
        if changed.vacated {
            self.seat = 0;
            return self.sit_down().await;
        }
        (self.seat, self.stack) = (seat.seat, seat.stack);
        if seat.state() == SeatState::SittingOut {
            let back = self.place.client.sit_out(self.place.table, false).await;
            return self.asked(back);
        }
        Ok(())
    }

    /// Takes any seat. Where there is none, or nothing to buy it with, the bot looks on.
    async fn sit_down(&mut self) -> Result<(), Error> {
        let seat = self.place.client.sit_down(self.place.table, 0, self.place.buy_in).await;
        if let Ok(seat) = seat {
            self.seat = seat;
        }
        self.asked(seat)
    }

    /// A refusal is counted, and nothing more; no answer at all ends the bot.
    fn asked<A>(&self, answer: Result<A, Error>) -> Result<(), Error> {
        match answer {
            Ok(_) => Ok(()),
            Err(error) if error.reason() == Some(ErrorReason::TableClosed) => Ok(()),
            // Where the room has no time for as long as the client is patient, the bot looks on.
            Err(error) if error.reason() == Some(ErrorReason::Overloaded) => {
                self.tally.refused(&error);
                Ok(())
            }
            Err(error @ Error::Refused(_)) => {
                self.tally.refused(&error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn decide(&mut self, hand_no: u64, turn: Turn) -> Result<(), Error> {
        let decision = choose(&turn.legal, turn.default_move.as_ref(), &mut self.generator);
        let sent = self.clock.now();
        let request = self.play.decide(hand_no, turn.turn, decision)?;
        self.asked = Some(Asked { request, sent, hand_no, turn });
        Ok(())
    }

    fn answered(&mut self, acted: Acted) -> Result<(), Error> {
        let Some(asked) = self.asked.take_if(|asked| asked.request == acted.request) else {
            return Ok(());
        };
        let took = self.clock.now().since(asked.sent);
        let Err(refusal) = acted.outcome else {
            self.tally.acted.fetch_add(1, Ordering::Relaxed);
            if self.tally.counts() {
                let mut all = self.tally.latencies.lock().unwrap_or_else(PoisonError::into_inner);
                all.add(took);
            }
            return Ok(());
        };
        let wait = refusal.retry_after.unwrap_or(WAIT);
        let (error, Asked { hand_no, turn, .. }) = (Error::Refused(refusal), asked);
        self.tally.refused(&error);
        match error.reason() {
            Some(ErrorReason::NotYourTurn) => Ok(()),
            // Perhaps taken, perhaps not: asked again, a decision that was taken is refused as over.
            Some(ErrorReason::Unavailable | ErrorReason::Overloaded) => {
                (self.due, self.at) = (Some((hand_no, turn)), Instant::now() + wait);
                Ok(())
            }
            // Nothing to choose from leaves the default.
            _ if !turn.legal.is_empty() => self.decide(hand_no, Turn { legal: Vec::new(), ..turn }),
            _ => Err(error),
        }
    }
}

/// Every bot takes part in chance; one at each table checks it for all.
fn chance(place: &Place) -> Chance {
    let chance = place.client.chance(place.table, Some(place.me));
    if place.first { chance } else { chance.blind() }
}

/// Waits until then; not at all where it is past.
async fn until(at: Instant) {
    if at > Instant::now() {
        tokio::time::sleep_until(at).await;
    }
}

/// A decision on its way.
struct Asked {
    request: Vec<u8>,
    sent: UnixMicros,
    hand_no: u64,
    turn: Turn,
}

/// Any legal move with the smallest amounts, and seldom one that ends the hand for the player or for
/// all, so that hands are as long as among people.
fn choose(legal: &[LegalMove], default: Option<&Move>, generator: &mut StdRng) -> Move {
    let mut below = |n: usize| generator.random_range(0..n);
    let drastic = |legal: &&LegalMove| {
        matches!(
            legal.kind(),
            MoveKind::Fold | MoveKind::Junk | MoveKind::Leave | MoveKind::CallHand
        )
    };
    let calm: Vec<&LegalMove> = legal.iter().filter(|legal| !drastic(legal)).collect();
    let from = if calm.is_empty() || below(DRASTIC) == 0 { legal.iter().collect() } else { calm };
    let picked = if from.is_empty() { None } else { Some(from[below(from.len())]) };
    let chosen = picked.and_then(|legal| {
        let mut chosen = pick(legal, &mut below)?;
        if matches!(legal.kind(), MoveKind::Bet | MoveKind::Raise) {
            chosen.amount = legal.min;
        }
        Some(chosen)
    });
    chosen.or_else(|| default.cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(kind: MoveKind) -> LegalMove {
        LegalMove { kind: kind.into(), min: 5, max: 500, ..LegalMove::default() }
    }

    #[test]
    fn bets_are_small_and_folds_are_few() {
        let options = [legal(MoveKind::Fold), legal(MoveKind::Match), legal(MoveKind::Raise)];
        let mut generator = StdRng::seed_from_u64(1);
        let mut folds = 0;
        for _ in 0..2400 {
            let chosen = choose(&options, None, &mut generator);
            folds += u32::from(chosen.kind() == MoveKind::Fold);
            assert!(chosen.kind() != MoveKind::Raise || chosen.amount == 5);
        }
        assert!((200..340).contains(&folds), "a third of a third: {folds}");
    }

    #[test]
    fn where_only_drastic_moves_are_legal_one_is_made_and_where_none_is_the_default() {
        let mut generator = StdRng::seed_from_u64(2);
        let chosen = choose(&[legal(MoveKind::Fold)], None, &mut generator);
        assert_eq!(chosen.kind(), MoveKind::Fold);
        let default = Move { kind: MoveKind::Stand.into(), ..Move::default() };
        assert_eq!(choose(&[], Some(&default), &mut generator), default);
    }
}
