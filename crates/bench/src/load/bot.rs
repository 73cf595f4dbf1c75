//! One bot: its stream, its seat, its decisions.
//!
//! It keeps no state of the table except whether its own decision is due and whether its stack
//! lasts for another hand, because the bots take processor time from the services on the same
//! machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bots::strategy::pick;
use client::{
    Chance, Client, DecisionOutcome, EntropyOutcome, Error, Play, PlayMessage, WatchMessage,
};
use primitives::{Credits, PlayerId, TableId, UnixMicros};
use proto::common::v1::{ErrorReason, LegalMove, Move, MoveKind};
use proto::table::v1::table_update::What;
use proto::table::v1::{SeatChanged, SeatState, TableUpdate, TableView, Turn};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rules::RuleSet;
use system::clock::{Clock as _, SystemClock};
use tokio::time::Instant;

use super::think_time::ThinkTime;
use crate::latency::Latencies;

/// One decision of this number is chosen among all moves, the drastic ones included; the others
/// avoid them. So the length of hands resembles that of steady players.
const DRASTIC_ONE_IN: usize = 3;

/// Wait of a bot after `OVERLOADED`, if the server names none.
const OVERLOADED_WAIT: Duration = Duration::from_millis(500);

/// Totals of all bots.
#[derive(Default)]
pub(crate) struct Totals {
    /// Whether events count.
    is_measuring: AtomicBool,
    /// Whether bots stop thinking, so that hands in play end soon.
    thinking_stopped: AtomicBool,
    /// Acknowledged decisions since the start, for the progress bar.
    decisions: AtomicU64,
    /// Hands that ended while events counted.
    hands: AtomicU64,
    /// Revealed entropy while events counted.
    contributions: AtomicU64,
    /// Hands burnt or voided since the start. Bots never withhold entropy, so the room is at fault.
    burnt: AtomicU64,
    /// Decisions that the clock took from bots since the start; they think for less than it gives.
    clock_decisions: AtomicU64,
    latencies: Mutex<Latencies>,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Totals {
    pub(crate) fn set_measuring(&self, measuring: bool) {
        self.is_measuring.store(measuring, Ordering::Relaxed);
    }

    /// Makes bots stop thinking.
    pub(crate) fn stop_thinking(&self) {
        self.thinking_stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn decisions(&self) -> u64 {
        self.decisions.load(Ordering::Relaxed)
    }

    pub(crate) fn hands(&self) -> u64 {
        self.hands.load(Ordering::Relaxed)
    }

    /// Number of entropy contributions that were revealed while events counted.
    pub(crate) fn contributions(&self) -> u64 {
        self.contributions.load(Ordering::Relaxed)
    }

    pub(crate) fn burnt(&self) -> u64 {
        self.burnt.load(Ordering::Relaxed)
    }

    pub(crate) fn clock_decisions(&self) -> u64 {
        self.clock_decisions.load(Ordering::Relaxed)
    }

    /// Takes the latencies of counted decisions since the last call.
    pub(crate) fn take_latencies(&self) -> Latencies {
        std::mem::take(&mut *self.latencies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Refused and unanswered calls since the start, by reason.
    pub(crate) fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_measuring(&self) -> bool {
        self.is_measuring.load(Ordering::Relaxed)
    }

    pub(crate) fn count_refusal(&self, error: &Error) {
        let reason = error.reason().map(|reason| wire::status::reason_name(reason).to_owned());
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry(reason.unwrap_or_else(|| "NO_ANSWER".to_owned())).or_default() += 1;
    }
}

/// Dependencies of a bot.
pub(crate) struct BotDependencies {
    /// Its connection and token.
    pub(crate) client: Client,
    pub(crate) table: TableId,
    pub(crate) me: PlayerId,
    pub(crate) buy_in: Credits,
    pub(crate) seed: u64,
    /// Whether it counts the table's hands and checks their chance.
    pub(crate) is_first: bool,
    /// Thinking time before each decision.
    pub(crate) think: ThinkTime,
}

pub(crate) struct Bot {
    dependencies: BotDependencies,
    play: Play,
    clock: SystemClock,
    generator: StdRng,
    totals: Arc<Totals>,
    rules: Option<RuleSet>,
    seat: u32,
    stack: u64,
    /// The hand number and this bot's decision that is due in it.
    due: Option<(u64, Turn)>,
    /// Earliest time to send a decision: the bot thinks, or was asked to wait.
    not_before: Instant,
    /// The decision in flight.
    in_flight: Option<DecisionInFlight>,
}

impl Bot {
    pub(crate) fn new(dependencies: BotDependencies, totals: Arc<Totals>) -> Bot {
        Bot {
            play: dependencies.client.play(dependencies.table).with_chance(chance(&dependencies)),
            clock: SystemClock::new(),
            generator: StdRng::seed_from_u64(dependencies.seed),
            totals,
            rules: None,
            seat: 0,
            stack: 0,
            due: None,
            not_before: Instant::now(),
            in_flight: None,
            dependencies,
        }
    }

    /// Sits down and plays until the table is closed.
    pub(crate) async fn play(mut self) -> Result<(), Error> {
        self.sit_down().await?;
        loop {
            let ready = self.due.is_some() && self.in_flight.is_none() && self.play.is_live();
            tokio::select! {
                biased;
                // A bot that neither thinks nor waits needs no timer.
                () = wait_until(self.not_before), if ready => {
                    if let Some((hand_no, turn)) = self.due.take() {
                        self.decide(hand_no, turn)?;
                    }
                }
                received = self.play.next() => match received {
                    Ok(Some(PlayMessage::Watch(seen))) => self.apply(seen).await?,
                    Ok(Some(PlayMessage::Decision(acted))) => self.answered(acted)?,
                    Ok(Some(PlayMessage::Entropy(part))) => self.count_contribution(part),
                    Ok(Some(PlayMessage::Notice(notice))) => {
                        tracing::warn!(table = %self.dependencies.table, %notice);
                    }
                    Ok(None) => return Ok(()),
                    Err(error @ Error::Gap { .. }) => self.totals.count_refusal(&error),
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// Records a decision if it is this bot's, and starts to think.
    fn record_due(&mut self, hand_no: u64, turn: Option<Turn>) {
        let mine = turn.filter(|turn| turn.seat == self.seat && self.seat != 0);
        self.due = mine.map(|turn| (hand_no, turn));
        let thinks = self.dependencies.think.is_nonzero()
            && !self.totals.thinking_stopped.load(Ordering::Relaxed);
        if self.due.is_some() && thinks {
            self.not_before = Instant::now() + self.dependencies.think.draw(&mut self.generator);
        }
    }

    fn count_contribution(&self, part: EntropyOutcome) {
        match part.outcome {
            Ok(receipt) if self.totals.is_measuring() => {
                self.totals
                    .contributions
                    .fetch_add(u64::from(receipt.is_none()), Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(refusal) => self.totals.count_refusal(&Error::Refused(refusal)),
        }
    }

    async fn apply(&mut self, seen: WatchMessage) -> Result<(), Error> {
        match seen {
            WatchMessage::Snapshot(view) => self.apply_snapshot(*view).await,
            WatchMessage::Update(update) => self.apply_update(*update).await,
            WatchMessage::CaughtUp => Ok(()),
        }
    }

    async fn apply_snapshot(&mut self, view: TableView) -> Result<(), Error> {
        self.rules = RuleSet::from_canonical(&view.rule_set).ok();
        let mine = view
            .seats
            .iter()
            .find(|seat| wire::field::is_id(&seat.player_id, self.dependencies.me));
        let Some(mine) = mine else { return self.sit_down().await };
        (self.seat, self.stack) = (mine.seat, mine.stack_credits);
        self.record_due(view.hand_no, view.hand.and_then(|hand| hand.turn));
        Ok(())
    }

    async fn apply_update(&mut self, update: TableUpdate) -> Result<(), Error> {
        match update.what {
            Some(What::Action(action)) => {
                if action.by_clock && action.seat == self.seat {
                    self.totals.clock_decisions.fetch_add(1, Ordering::Relaxed);
                }
                self.record_due(action.hand_no, action.turn);
            }
            Some(What::HandEnded(ended)) => {
                self.due = None;
                if self.dependencies.is_first && self.totals.is_measuring() {
                    self.totals.hands.fetch_add(1, Ordering::Relaxed);
                }
                let Some(standing) = ended.standing else { return Ok(()) };
                if let Some(mine) = standing.seats.iter().find(|seat| seat.seat == self.seat) {
                    self.stack = mine.stack_credits;
                }
                let pot = Credits::try_new(standing.sabacc_pot_credits).unwrap_or(Credits::MAX);
                let least = self.rules.as_ref().map_or(1, |rules| rules.min_stack(pot).get());
                if self.seat != 0 && self.stack < least {
                    let left = self.play.stand_up().await;
                    self.count_refused(left)?;
                }
            }
            Some(What::Voided(_)) => {
                self.due = None;
                self.totals
                    .burnt
                    .fetch_add(u64::from(self.dependencies.is_first), Ordering::Relaxed);
            }
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

    async fn apply_seat(&mut self, changed: SeatChanged) -> Result<(), Error> {
        let mine =
            changed.seat.filter(|seat| wire::field::is_id(&seat.player_id, self.dependencies.me));
        let Some(seat) = mine else { return Ok(()) };
        if changed.vacated {
            self.seat = 0;
            return self.sit_down().await;
        }
        (self.seat, self.stack) = (seat.seat, seat.stack_credits);
        if seat.state() == SeatState::SittingOut {
            let back = self.dependencies.client.sit_out(self.dependencies.table, false).await;
            return self.count_refused(back);
        }
        Ok(())
    }

    /// Takes any seat. Without a free seat or enough credits the bot only watches.
    async fn sit_down(&mut self) -> Result<(), Error> {
        let seat = self
            .dependencies
            .client
            .sit_down(self.dependencies.table, 0, self.dependencies.buy_in)
            .await;
        if let Ok(seat) = seat {
            self.seat = seat;
        }
        self.count_refused(seat)
    }

    /// Counts a refusal; a missing answer ends the bot.
    fn count_refused<A>(&self, answer: Result<A, Error>) -> Result<(), Error> {
        match answer {
            Ok(_) => Ok(()),
            Err(error) if error.reason() == Some(ErrorReason::TableClosed) => Ok(()),
            // If the room stays overloaded for the client's whole retry policy, the bot only
            // watches.
            Err(error) if error.reason() == Some(ErrorReason::Overloaded) => {
                self.totals.count_refusal(&error);
                Ok(())
            }
            Err(error @ Error::Refused(_)) => {
                self.totals.count_refusal(&error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn decide(&mut self, hand_no: u64, turn: Turn) -> Result<(), Error> {
        let decision = choose(&turn.legal, turn.default_move.as_ref(), &mut self.generator);
        let sent = self.clock.now();
        let request = self.play.decide(hand_no, turn.turn, decision)?;
        self.in_flight = Some(DecisionInFlight { request, sent, hand_no, turn });
        Ok(())
    }

    fn answered(&mut self, acted: DecisionOutcome) -> Result<(), Error> {
        let Some(asked) = self.in_flight.take_if(|asked| asked.request == acted.request_id) else {
            return Ok(());
        };
        let took = self.clock.now().since(asked.sent);
        let Err(refusal) = acted.outcome else {
            self.totals.decisions.fetch_add(1, Ordering::Relaxed);
            if self.totals.is_measuring() {
                let mut all = self.totals.latencies.lock().unwrap_or_else(PoisonError::into_inner);
                all.add(took);
            }
            return Ok(());
        };
        let wait = refusal.retry_after.unwrap_or(OVERLOADED_WAIT);
        let (error, DecisionInFlight { hand_no, turn, .. }) = (Error::Refused(refusal), asked);
        self.totals.count_refusal(&error);
        match error.reason() {
            Some(ErrorReason::NotYourTurn) => Ok(()),
            // The decision may have been accepted: a repeated one is then refused as no longer due.
            Some(ErrorReason::Unavailable | ErrorReason::Overloaded) => {
                (self.due, self.not_before) = (Some((hand_no, turn)), Instant::now() + wait);
                Ok(())
            }
            // Without a legal move to choose from, the bot sends the default.
            _ if !turn.legal.is_empty() => self.decide(hand_no, Turn { legal: Vec::new(), ..turn }),
            _ => Err(error),
        }
    }
}

/// Every bot contributes entropy and signs; one at each table checks the chance, if the room's keys
/// are known.
fn chance(dependencies: &BotDependencies) -> Chance {
    let BotDependencies { client, table, me, is_first, .. } = dependencies;
    let chance = client.chance(*table, Some(*me));
    let checks = *is_first && client.check_keys().is_ok();
    if checks { chance } else { chance.without_checks() }
}

/// Waits until `at`; returns at once if it is past.
async fn wait_until(at: Instant) {
    if at > Instant::now() {
        tokio::time::sleep_until(at).await;
    }
}

/// Decision in flight.
struct DecisionInFlight {
    request: String,
    sent: UnixMicros,
    hand_no: u64,
    turn: Turn,
}

/// Chooses a legal move with the smallest amounts, and rarely one that ends the hand for the player
/// or for all, so that hands last as long as among people.
fn choose(legal: &[LegalMove], default: Option<&Move>, generator: &mut StdRng) -> Move {
    let mut below = |n: usize| generator.random_range(0..n);
    let drastic = |legal: &&LegalMove| {
        matches!(legal.kind(), MoveKind::Fold | MoveKind::Junk | MoveKind::CallHand)
    };
    let stays = || legal.iter().filter(|legal| legal.kind() != MoveKind::Leave);
    let calm: Vec<&LegalMove> = stays().filter(|legal| !drastic(legal)).collect();
    let from = if calm.is_empty() || below(DRASTIC_ONE_IN) == 0 { stays().collect() } else { calm };
    let picked = if from.is_empty() { None } else { Some(from[below(from.len())]) };
    let chosen = picked.and_then(|legal| {
        let mut chosen = pick(legal, &mut below)?;
        if matches!(legal.kind(), MoveKind::Bet | MoveKind::Raise) {
            chosen.amount_credits = legal.min_credits;
        }
        Some(chosen)
    });
    chosen.or_else(|| default.cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(kind: MoveKind) -> LegalMove {
        LegalMove { kind: kind.into(), min_credits: 5, max_credits: 500, ..LegalMove::default() }
    }

    #[test]
    fn bets_are_small_and_folds_are_few() {
        let options = [legal(MoveKind::Fold), legal(MoveKind::Match), legal(MoveKind::Raise)];
        let mut generator = StdRng::seed_from_u64(1);
        let mut folds = 0;
        for _ in 0..2400 {
            let chosen = choose(&options, None, &mut generator);
            folds += u32::from(chosen.kind() == MoveKind::Fold);
            assert!(chosen.kind() != MoveKind::Raise || chosen.amount_credits == 5);
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
