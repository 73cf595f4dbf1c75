//! Pending effects of a table, read off its state.
//!
//! There is no list of things to do. The state says what must happen next, and says the same after
//! a crash. Each effect is run under a request id that is derived from the state ([`crate::ids`]),
//! so a repeated call is carried out once. [`crate::effect_calls`] turns an effect into a call to
//! the dealer or the wallet, and the answer into events.
//!
//! A hand goes through them in this order: `Fund` for each seat, `Commit`, `Start`, `CloseEntropy`,
//! `Seal`, `Chance` as often as the rules use chance, `Settle`, `Post` and `Reveal`. Two things
//! turn it aside. Seats that do not reveal what they have committed to: `Burn` ends the hand number
//! before its antes ([`crate::abort`]). A dealer that does not answer: `Suspend` stops the clocks
//! until it is back, or `EndSuspended` gives everything back ([`crate::suspension`]).
//!
//! Specification: services/table/README.md "Effects".

use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};

use crate::entropy::{EntropyStep, Timing};
use crate::hand_in_play::{HandInPlay, HandStage};
use crate::standing;
use crate::suspension;
use crate::table::{Closing, Funding, Table};
use serde::{Deserialize, Serialize};

mod traits;

/// Seeds of earlier hands that are asked for at one time.
const MAX_EARLIER_SEEDS: usize = 8;

/// Least time that an idle seat has after a restart or an outage before it is removed.
const MIN_IDLE_NOTICE: Duration = Duration::from_secs(30);

/// Effect outside the table, or at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// The dealer opens the cards of the hand again, which a restart of the table has lost.
    RecoverCards { hand_no: u64 },
    /// The dealer was silent for too long, and the hand is suspended.
    Suspend { hand_no: u64 },
    /// The suspended hand ends.
    EndSuspended { hand_no: u64 },
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
    /// The table is to close, since its stream takes no records any more that a hand needs.
    CloseSpent,
    /// The table records that its game was disabled, or enabled again.
    FollowGame,
    /// A seat that was not dealt in for too long is asked to leave.
    RemoveIdle { seat: SeatNo },
    /// A seat whose exclusion is over is dealt in again.
    Return { seat: SeatNo },
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
                        .plus(table.config.idle_time())
                        .max(now.listening_since.plus(MIN_IDLE_NOTICE));
                    pending.add_at(due, Effect::RemoveIdle { seat: number });
                }
                if let Some(due) = table.returns_at(number).filter(|_| !closing) {
                    pending.add_at(due, Effect::Return { seat: number });
                }
            }
        }
    }
    let next_hand = table.hand_no + 1;
    if !table.dealer_commitments.contains_key(&next_hand) && !closing {
        pending.add(Effect::Commit { hand_no: next_hand });
    }
    if table.pending_game_record().is_some() && !closing {
        pending.add(Effect::FollowGame);
    }
    add_seed_effects(table, &mut pending);
    match play {
        Some(play) => add_hand_effects(table, play, closing, &mut pending),
        None if closing => add_closing_effects(table, &mut pending.effects),
        None => {
            let pause = table.config.pause();
            let start = table.finished_at.map_or(now.at, |at| at.plus(pause));
            let start = now.starts_held_until.map_or(start, |until| start.max(until));
            let is_promised = table.dealer_commitments.contains_key(&next_hand);
            if is_promised && table.starts_hands() && table.has_enough_ready_seats() {
                pending.add_at(start, Effect::Start);
            } else if table.is_spent() {
                pending.add(Effect::CloseSpent);
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

/// Adds the seeds to be opened: that of the newest hand, and a few of the earlier ones, since there
/// may be thousands after an outage.
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
    add_suspension_effects(table, play, pending);
    if play.lost_cards.is_some() {
        return pending.add(Effect::RecoverCards { hand_no });
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
        HandStage::Settled => pending.add(Effect::Post { hand_no }),
    }
}

/// Adds the suspension of a hand that the dealer is silent about, or the end of a suspended one.
fn add_suspension_effects(table: &Table, play: &HandInPlay, pending: &mut EffectCollector) {
    let hand_no = play.hand_no;
    let timing = pending.timing;
    if let Some(suspended) = &play.suspension {
        match suspension::due_end(table, play, suspended, timing.at) {
            Some(_) => pending.add(Effect::EndSuspended { hand_no }),
            None => pending.wake_at(suspended.until),
        }
    } else if let Some(AwaitedAnswer { what: _, since }) = awaited_from_dealer(table, play, &timing)
    {
        // The table's own absence and delay are not the dealer's silence.
        let since = since.max(timing.listening_since).plus(timing.room_delay);
        pending.add_at(since.plus(timing.dealer_timeout), Effect::Suspend { hand_no });
    }
}

fn add_entropy_effects(table: &Table, hand_no: u64, pending: &mut EffectCollector) {
    match entropy_step(table, hand_no, &pending.timing) {
        Some(EntropyStep::Wait(until)) => pending.add_at(until, Effect::CloseEntropy { hand_no }),
        Some(EntropyStep::Close) => pending.add(Effect::CloseEntropy { hand_no }),
        Some(EntropyStep::Burn(_)) => pending.add(Effect::Burn { hand_no }),
        Some(EntropyStep::Seal) => pending.add(Effect::Seal { hand_no }),
        None => {}
    }
}

/// Answer that a hand waits for.
pub(crate) struct AwaitedAnswer {
    /// Description in words.
    pub what: String,
    /// Time at which the dealer was asked for it first.
    pub since: UnixMicros,
}

/// Answer that the hand waits for from the dealer; `None` where it waits for nothing. After the
/// settlement it does not: the seed is owed, but the hand is over.
#[must_use]
pub(crate) fn awaited_from_dealer(
    table: &Table,
    play: &HandInPlay,
    now: &Timing,
) -> Option<AwaitedAnswer> {
    let awaited = |what: &str, since: UnixMicros| {
        Some(AwaitedAnswer { what: what.to_owned(), since: since.max(play.continued_at) })
    };
    if let Some(lost) = &play.lost_cards {
        return awaited("the cards that the table had lost", lost.since);
    }
    match play.stage {
        HandStage::Opened => match entropy_step(table, play.hand_no, now)? {
            EntropyStep::Close => awaited("the closing of the commitments", close_due_at(table)?),
            EntropyStep::Seal => awaited("the seal of the hand", table.entropy_round()?.step_at),
            EntropyStep::Wait(_) | EntropyStep::Burn(_) => None,
        },
        HandStage::Playing if play.replay.hand.due().is_some() => {
            let what = match play.replay.positions.next_op().checked_sub(1) {
                Some(last) => format!("what follows operation {last}"),
                None => "operation 0".to_owned(),
            };
            awaited(&what, play.due_at)
        }
        HandStage::Playing if play.replay.hand.to_act().is_none() => {
            let what = "the cards shown at the end, or the commitment to the next hand";
            awaited(what, play.due_at)
        }
        HandStage::Playing | HandStage::Settled => None,
    }
}

/// Time at which the commitments of the open hand could be closed.
fn close_due_at(table: &Table) -> Option<UnixMicros> {
    let last_committed_at = table.hand.as_ref()?.last_committed_at;
    let round = table.entropy_round()?;
    let commitments = table.seat_commitments_of(table.hand_no);
    // Before its deadline a round closes with the last commitment of its roster.
    let whole = round.can_be_closed(commitments, UnixMicros(0));
    Some(if whole { last_committed_at } else { round.deadline })
}

fn entropy_step(table: &Table, hand_no: u64, now: &Timing) -> Option<EntropyStep> {
    let commitments = table.seat_commitments_of(hand_no);
    Some(table.entropy_round()?.next_step(commitments, now, table.config.reveal_time()))
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
