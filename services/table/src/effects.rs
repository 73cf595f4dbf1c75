//! Pending effects of a table, read off its state.
//!
//! There is no list of things to do. The state says what must happen next, and says the same after
//! a crash. Each effect is run under a request id that is derived from the state ([`crate::ids`]),
//! so a repeated call is carried out once. [`crate::effect_calls`] turns an effect into a call to
//! the dealer or the wallet, and the answer into events.
//!
//! A hand goes through them in this order: `Fund` for each seat, `Commit`, `Start`, `CloseEntropy`,
//! `Seal`, `Chance` as often as the rules use chance, `Settle`, `Post`, and `Reveal`: before `Post`
//! where the reveal delay is 0, else later.
//!
//! Specification: services/table/README.md "Effects".

use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};
use rules::SeedOpening;

use crate::entropy::{EntropyStep, Timing};
use crate::hand_in_play::{HandInPlay, HandStage};
use crate::standing;
use crate::table::{Closing, Funding, Table};

mod traits;

/// Seeds of earlier hands that are asked for at one time.
const MAX_EARLIER_SEEDS: usize = 8;

/// Least time that an idle seat has after a restart or an outage before it is removed.
const MIN_IDLE_NOTICE: Duration = Duration::from_secs(30);

/// Effect outside the table, or at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// The dealer commits to a coming hand.
    Commit { hand_no: u64 },
    /// The wallet moves a buy-in to a seat.
    Fund { seat: SeatNo },
    /// The wallet pays a seat's credits out.
    CashOut { seat: SeatNo },
    /// A hand starts, after the wallet has said who may be dealt in.
    Start,
    /// The wallet reports the standing of idle players.
    CheckStanding,
    /// The dealer signs what the seats have committed to; nothing is committed any more.
    CloseEntropy { hand_no: u64 },
    /// Seats have withheld their entropy, and the hand number is burnt.
    Burn { hand_no: u64 },
    /// The dealer binds the seats' entropy.
    Seal { hand_no: u64 },
    /// The dealer performs the chance that is due. `version` tells one such request from the next.
    Chance { hand_no: u64, version: u64 },
    /// The rules take the leave that a player asked for.
    Leave { seat: SeatNo },
    /// The dealer opens the hands that are shown, and the settlement is recorded.
    Settle { hand_no: u64 },
    /// The dealer was silent for too long, and the hand is aborted.
    Abandon { hand_no: u64 },
    /// The wallet posts the settlement.
    Post { hand_no: u64 },
    /// The dealer opens the seed of a hand, which may have ended long ago.
    Reveal { hand_no: u64 },
    /// A seat without a hand in play is paid out, because its player leaves or the table closes.
    PayOut { seat: SeatNo },
    /// The table computes the shares of the Sabacc Pot.
    Share,
    /// The wallet moves the shares.
    Refund,
    /// The wallet pays the share of a player who has left.
    PayAbsent { player: PlayerId },
    /// The table closes.
    Close,
    /// A seat that was not dealt in for too long is asked to leave.
    RemoveIdle { seat: SeatNo },
}

/// Pending effects, and the time at which the next one becomes pending by itself.
pub(crate) fn pending_effects(
    table: &Table,
    play: Option<&HandInPlay>,
    now: &Timing,
) -> (Vec<Effect>, Option<UnixMicros>) {
    let mut pending = EffectCollector { effects: Vec::new(), next_at: None, timing: *now };
    let closing = table.closing != Closing::Open;
    for (&number, seat) in &table.seats {
        match seat.funding {
            Funding::BuyingIn { .. } => pending.add(Effect::Fund { seat: number }),
            Funding::CashingOut { .. } => pending.add(Effect::CashOut { seat: number }),
            Funding::AtTable => {
                let refunded = table.closing == Closing::Refunded;
                let free = play.is_none_or(|play| !play.replay.seats.contains(&number));
                // The stack may still grow while the pot is being shared.
                let sharing = matches!(table.closing, Closing::Refunding { .. });
                if free && !sharing && (seat.leaving || refunded) {
                    pending.add(Effect::PayOut { seat: number });
                }
                if let Some(since) = table.idle_since(number).filter(|_| free && !closing) {
                    // The time in which no command could be taken does not count.
                    let due = since
                        .plus(table.config.idle)
                        .max(now.listening_since.plus(MIN_IDLE_NOTICE));
                    pending.add_at(due, Effect::RemoveIdle { seat: number });
                }
            }
        }
    }
    let next_hand = table.hand_no + 1;
    if !table.dealer_commitments.contains_key(&next_hand) && !closing {
        pending.add(Effect::Commit { hand_no: next_hand });
    }
    add_seed_effects(table, &mut pending);
    match play {
        Some(play) => add_hand_effects(table, play, closing, &mut pending),
        None if closing => add_closing_effects(table, &mut pending.effects),
        None => {
            let pause = Duration::from_millis(u64::from(table.config.pause_ms));
            let start = table.finished_at.map_or(now.at, |at| at.plus(pause));
            let start = now.starts_held_until.map_or(start, |until| start.max(until));
            if table.dealer_commitments.contains_key(&next_hand) && table.has_enough_ready_seats() {
                pending.add_at(start, Effect::Start);
            }
        }
    }
    if standing::is_check_due(table, play) && !pending.effects.contains(&Effect::Start) {
        pending
            .add_at(now.standing_checked_at.plus(standing::CHECK_INTERVAL), Effect::CheckStanding);
    }
    // Stopped effects wait for an operator.
    pending.effects.retain(|effect| !table.stops.contains_key(effect));
    (pending.effects, pending.next_at)
}

/// Adds the seeds to be opened: that of the hand in play, whose settlement may wait for it, and a
/// few of the earlier ones, since there may be thousands after an outage.
fn add_seed_effects(table: &Table, pending: &mut EffectCollector) {
    let now = pending.timing.at;
    let current = table.hand_no;
    let in_play = table.seeds.get(current).and_then(|seed| seed.due).filter(|due| *due <= now);
    pending.effects.extend(in_play.map(|_| Effect::Reveal { hand_no: current }));
    let others = table.seeds.due_by(now).filter(|hand_no| *hand_no != current);
    pending
        .effects
        .extend(others.take(MAX_EARLIER_SEEDS).map(|hand_no| Effect::Reveal { hand_no }));
    if let Some(next) = table.seeds.next_due_after(now) {
        pending.wake_at(next);
    }
}

/// Collector of pending effects.
struct EffectCollector {
    effects: Vec<Effect>,
    next_at: Option<UnixMicros>,
    timing: Timing,
}

impl EffectCollector {
    fn add(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Adds an effect that is not pending before `due`.
    fn add_at(&mut self, due: UnixMicros, effect: Effect) {
        if due <= self.timing.at {
            self.effects.push(effect);
        } else {
            self.wake_at(due);
        }
    }

    fn wake_at(&mut self, at: UnixMicros) {
        self.next_at = Some(self.next_at.map_or(at, |later| later.min(at)));
    }
}

fn add_hand_effects(
    table: &Table,
    play: &HandInPlay,
    closing: bool,
    pending: &mut EffectCollector,
) {
    let hand_no = play.hand_no;
    if play.dealer_fault.is_some() {
        return pending.add(Effect::Abandon { hand_no });
    }
    match play.stage {
        HandStage::Opened => add_entropy_effects(table, hand_no, pending),
        HandStage::Playing if play.replay.hand.due().is_some() => {
            pending.add(Effect::Chance { hand_no, version: play.version });
        }
        HandStage::Playing if play.to_act().is_some() => {
            let leaver = table.pending_leaves().first();
            pending.effects.extend(leaver.map(|leave| Effect::Leave { seat: leave.seat }));
        }
        // The commitment to the next hand is recorded before this hand is settled.
        HandStage::Playing => {
            if closing || table.dealer_commitments.contains_key(&(hand_no + 1)) {
                pending.add(Effect::Settle { hand_no });
            }
        }
        HandStage::Settled => {
            if !waits_for_seed(table, play) {
                pending.add(Effect::Post { hand_no });
            }
        }
    }
    if let Some((_, since)) = awaited_from_dealer(table, play) {
        let timeout = pending.timing.dealer_timeout;
        pending.add_at(
            since.max(pending.timing.listening_since).plus(timeout),
            Effect::Abandon { hand_no },
        );
    }
}

/// Whether a settled hand is not posted before its seed is open. Where seeds are opened at once,
/// the seed is checked against its commitment first.
#[must_use]
pub(crate) fn waits_for_seed(table: &Table, play: &HandInPlay) -> bool {
    play.stage == HandStage::Settled
        && table.config.settings.reveal == SeedOpening::AtOnce
        && table.seeds.get(play.hand_no).is_some()
}

fn add_entropy_effects(table: &Table, hand_no: u64, pending: &mut EffectCollector) {
    let Some(round) = table.entropy_round() else { return };
    match round.next_step(
        table.seat_commitments_of(hand_no),
        &pending.timing,
        table.config.reveal_time(),
    ) {
        EntropyStep::Wait(until) => pending.add_at(until, Effect::CloseEntropy { hand_no }),
        EntropyStep::Close => pending.add(Effect::CloseEntropy { hand_no }),
        EntropyStep::Burn(_) => pending.add(Effect::Burn { hand_no }),
        EntropyStep::Seal => pending.add(Effect::Seal { hand_no }),
    }
}

/// Description of what the hand waits for from the dealer, and the time since which it waits.
/// `None` where it waits for nothing from the dealer. A settled hand waits for its seed until an
/// operator voids it: time alone never revokes a settlement.
#[must_use]
pub(crate) fn awaited_from_dealer(
    table: &Table,
    play: &HandInPlay,
) -> Option<(String, UnixMicros)> {
    match play.stage {
        HandStage::Opened => {
            let round = table.entropy_round()?;
            let closed = round.revealing()?;
            let sealed = closed.iter().all(|seat| round.revealed.contains_key(seat));
            sealed.then(|| ("the seal of the hand".to_owned(), round.step_at))
        }
        HandStage::Playing if play.replay.hand.due().is_some() => {
            let next = play.replay.positions.next_op();
            let what = match next.checked_sub(1) {
                Some(last) => format!("what follows operation {last}"),
                None => "operation 0".to_owned(),
            };
            Some((what, play.due_at))
        }
        HandStage::Playing if play.to_act().is_none() => {
            let what = "the cards shown at the end, or the commitment to the next hand";
            Some((what.to_owned(), play.due_at))
        }
        HandStage::Playing | HandStage::Settled => None,
    }
}

fn add_closing_effects(table: &Table, effects: &mut Vec<Effect>) {
    let moving = table.seats.values().any(|seat| seat.funding != Funding::AtTable);
    match &table.closing {
        Closing::Open | Closing::Closed => {}
        // Players who are just leaving go first, so that they get their shares as absent players.
        Closing::Asked if moving || table.seats.values().any(|seat| seat.leaving) => {}
        Closing::Asked => effects.push(Effect::Share),
        Closing::Refunding { .. } => effects.push(Effect::Refund),
        Closing::Refunded => {
            effects.extend(table.absent_shares.keys().map(|&player| Effect::PayAbsent { player }));
            if table.seats.is_empty() && table.absent_shares.is_empty() {
                effects.push(Effect::Close);
            }
        }
    }
}
