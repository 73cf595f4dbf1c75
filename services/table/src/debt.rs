//! Pending effects of a table, read off its state.
//!
//! There is no list of things to do. The state says what must happen next, and says the same after
//! a crash. Each effect is run under a request id that is derived from the state ([`crate::ids`]),
//! so running it twice has the effect of running it once.

use std::time::Duration;

use primitives::{PlayerId, SeatNo, UnixMicros};
use rules::Next;

use crate::entropy::{Due, Now};
use crate::play::{Play, Stage};
use crate::standing;
use crate::table::{Closing, Funding, Table};

/// Seeds of earlier hands that are asked for at one time.
const SEEDS: usize = 8;

/// Least time that an idle seat has after a restart or an outage before it is removed.
const HEARD: Duration = Duration::from_secs(30);

/// Effect outside the table, or at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Debt {
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
    /// The table stops taking commitments to entropy.
    CloseEntropy { hand_no: u64 },
    /// Seats have withheld their entropy, and the hand number is burnt.
    Burn { hand_no: u64 },
    /// The dealer binds the seats' entropy.
    Seal { hand_no: u64 },
    /// The dealer performs the chance that is due. `version` tells one such request from the next.
    Chance { hand_no: u64, version: u64 },
    /// A player who is leaving the table leaves the hand.
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
pub fn debts(table: &Table, play: Option<&Play>, now: &Now) -> (Vec<Debt>, Option<UnixMicros>) {
    let mut owed = Owed { debts: Vec::new(), later: None, now: *now };
    let closing = table.closing != Closing::Open;
    for (&number, seat) in &table.seats {
        match seat.funding {
            Funding::BuyingIn { .. } => owed.now(Debt::Fund { seat: number }),
            Funding::CashingOut { .. } => owed.now(Debt::CashOut { seat: number }),
            Funding::AtTable => {
                let refunded = table.closing == Closing::Refunded;
                let free = play.is_none_or(|play| !play.replay.seats.contains(&number));
                // The stack may still grow while the pot is being shared.
                let sharing = matches!(table.closing, Closing::Refunding { .. });
                if free && !sharing && (seat.leaving || refunded) {
                    owed.now(Debt::PayOut { seat: number });
                }
                if let Some(since) = table.idle_since(number).filter(|_| free && !closing) {
                    // The time in which the player could not be heard does not count.
                    let due = since.plus(table.config.idle).max(now.since.plus(HEARD));
                    owed.at(due, Debt::RemoveIdle { seat: number });
                }
            }
        }
    }
    let next_hand = table.hand_no + 1;
    if !table.committed.contains_key(&next_hand) && !closing {
        owed.now(Debt::Commit { hand_no: next_hand });
    }
    seed_debts(table, &mut owed);
    match play {
        Some(play) => hand_debts(table, play, closing, &mut owed),
        None if closing => closing_debts(table, &mut owed.debts),
        None => {
            let pause = Duration::from_millis(u64::from(table.config.pause_ms));
            let start = table.finished_at.map_or(now.at, |at| at.plus(pause));
            let start = table.paused_until.map_or(start, |until| start.max(until));
            let start = now.hold.map_or(start, |until| start.max(until));
            if table.committed.contains_key(&next_hand) && table.enough_are_ready() {
                owed.at(start, Debt::Start);
            }
        }
    }
    if standing::is_owed(table, play) && !owed.debts.contains(&Debt::Start) {
        owed.at(now.checked.plus(standing::EVERY), Debt::CheckStanding);
    }
    // Stopped effects wait for an operator.
    owed.debts.retain(|debt| !table.stops.contains_key(debt));
    (owed.debts, owed.later)
}

/// Adds the seeds to be opened: that of the hand in play, whose settlement may wait for it, and a
/// few of the earlier ones, since there may be thousands after an outage.
fn seed_debts(table: &Table, owed: &mut Owed) {
    let now = owed.now.at;
    let current = table.hand_no;
    let in_play = table.seeds.get(current).and_then(|seed| seed.due).filter(|due| *due <= now);
    owed.debts.extend(in_play.map(|_| Debt::Reveal { hand_no: current }));
    let others = table.seeds.due_by(now).filter(|hand_no| *hand_no != current);
    owed.debts.extend(others.take(SEEDS).map(|hand_no| Debt::Reveal { hand_no }));
    if let Some(next) = table.seeds.next_after(now) {
        owed.wake(next);
    }
}

/// Collector of pending effects.
struct Owed {
    debts: Vec<Debt>,
    later: Option<UnixMicros>,
    now: Now,
}

impl Owed {
    fn now(&mut self, debt: Debt) {
        self.debts.push(debt);
    }

    /// Adds an effect that is not pending before `due`.
    fn at(&mut self, due: UnixMicros, debt: Debt) {
        if due <= self.now.at {
            self.debts.push(debt);
        } else {
            self.wake(due);
        }
    }

    fn wake(&mut self, at: UnixMicros) {
        self.later = Some(self.later.map_or(at, |later| later.min(at)));
    }
}

fn hand_debts(table: &Table, play: &Play, closing: bool, owed: &mut Owed) {
    let hand_no = play.hand_no;
    if play.fault.is_some() {
        return owed.now(Debt::Abandon { hand_no });
    }
    match play.stage {
        Stage::Opened => open_debts(table, hand_no, owed),
        Stage::Playing => match rules::next(&play.replay.hand) {
            Next::Chance(_) => owed.now(Debt::Chance { hand_no, version: play.version }),
            Next::Decision(_) => owed.debts.extend(leaver(table, play)),
            // The commitment to the next hand is recorded before this hand is settled.
            Next::Done(_) if closing || table.committed.contains_key(&(hand_no + 1)) => {
                owed.now(Debt::Settle { hand_no });
            }
            Next::Done(_) => {}
        },
        Stage::Settled => {
            if !waits_for_seed(table, play) {
                owed.now(Debt::Post { hand_no });
            }
        }
    }
    if let Some((_, since)) = of_the_dealer(table, play) {
        let patience = owed.now.patience;
        owed.at(since.max(owed.now.since).plus(patience), Debt::Abandon { hand_no });
    }
}

/// Whether a settled hand is not posted before its seed is open. Where seeds are opened at once,
/// the seed is checked against its commitment first.
#[must_use]
pub fn waits_for_seed(table: &Table, play: &Play) -> bool {
    play.stage == Stage::Settled
        && table.config.reveal_delay_seconds == 0
        && table.seeds.get(play.hand_no).is_some()
}

fn open_debts(table: &Table, hand_no: u64, owed: &mut Owed) {
    let Some(sealing) = table.sealing() else { return };
    match sealing.due(table.promises_of(hand_no), &owed.now, table.config.entropy_time()) {
        Due::Wait(until) => owed.at(until, Debt::CloseEntropy { hand_no }),
        Due::Close => owed.now(Debt::CloseEntropy { hand_no }),
        Due::Burn(_) => owed.now(Debt::Burn { hand_no }),
        Due::Seal => owed.now(Debt::Seal { hand_no }),
    }
}

/// Description of what the hand waits for from the dealer, and the time since which it waits.
/// `None` where it waits for nothing from the dealer. A settled hand waits for its seed until an
/// operator voids it: time alone never revokes a settlement.
#[must_use]
pub fn of_the_dealer(table: &Table, play: &Play) -> Option<(String, UnixMicros)> {
    match play.stage {
        Stage::Opened => {
            let sealing = table.sealing()?;
            let closed = sealing.closed.as_ref()?;
            let sealed = closed.iter().all(|seat| sealing.revealed.contains_key(seat));
            sealed.then(|| ("the seal of the hand".to_owned(), sealing.since))
        }
        Stage::Playing => match rules::next(&play.replay.hand) {
            Next::Chance(_) => {
                let next = play.replay.places.next_op();
                let what = match next.checked_sub(1) {
                    Some(last) => format!("what follows operation {last}"),
                    None => "operation 0".to_owned(),
                };
                Some((what, play.due_at))
            }
            Next::Decision(_) => None,
            Next::Done(_) => {
                let what = "the cards shown at the end, or the commitment to the next hand";
                Some((what.to_owned(), play.due_at))
            }
        },
        Stage::Settled => None,
    }
}

/// First player who is leaving the table and is still in the hand.
fn leaver(table: &Table, play: &Play) -> Option<Debt> {
    play.replay.seats.iter().enumerate().find_map(|(index, number)| {
        let leaving = table.seats.get(number).is_some_and(|seat| seat.leaving);
        (leaving && !play.left[index]).then_some(Debt::Leave { seat: *number })
    })
}

fn closing_debts(table: &Table, debts: &mut Vec<Debt>) {
    let moving = table.seats.values().any(|seat| seat.funding != Funding::AtTable);
    match &table.closing {
        Closing::Open | Closing::Closed => {}
        // Players who are just leaving go first, so that they get their shares as absent players.
        Closing::Asked if moving || table.seats.values().any(|seat| seat.leaving) => {}
        Closing::Asked => debts.push(Debt::Share),
        Closing::Refunding { .. } => debts.push(Debt::Refund),
        Closing::Refunded => {
            debts.extend(table.absent.keys().map(|&player| Debt::PayAbsent { player }));
            if table.seats.is_empty() && table.absent.is_empty() {
                debts.push(Debt::Close);
            }
        }
    }
}
