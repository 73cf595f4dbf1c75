//! Suspension of a hand: the dealer is silent, and the hand stands still until it is back.
//!
//! A dealer that has not answered for 10 seconds, or whose answers do not check, suspends the hand
//! in play. Clocks stand, and nothing is decided. The dealer is asked on and on, and its answer
//! lets the hand go on where it was, from the same seed. So silence throws nothing away that the
//! dealer alone knows. A suspended hand ends early in three ways only ([`SuspendedEnd`]).
//!
//! Once the settlement is recorded there is nothing to suspend: it stands, and the seed is owed.
//!
//! Specification: fairness/SPEC.md §3.11.

use std::collections::BTreeSet;
use std::time::Duration;

use primitives::{SeatNo, UnixMicros};
use proto::common::v1::{AbortCause, Move, MoveKind};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use rules::Player;

use crate::abort;
use crate::batch::Batch;
use crate::effect_calls::Inconsistency;
use crate::effects;
use crate::entropy::Timing;
use crate::hand_in_play::HandInPlay;
use crate::table::Table;

/// Least time that a decision has when its hand goes on.
const LEAST_LEFT: Duration = Duration::from_secs(1);

/// A suspension that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspension {
    /// Time at which the dealer was asked first for what it has not answered.
    pub since: UnixMicros,
    /// Time at which the hand ends at the latest.
    pub until: UnixMicros,
    /// Seats of players who have agreed to end the hand.
    pub agreed: BTreeSet<SeatNo>,
}

impl Suspension {
    #[must_use]
    pub(crate) fn recorded(suspended: &event::HandSuspended) -> Suspension {
        let event::HandSuspended { since_micros, until_micros } = suspended;
        Suspension {
            since: UnixMicros(*since_micros),
            until: UnixMicros(*until_micros),
            agreed: BTreeSet::new(),
        }
    }

    #[must_use]
    pub(crate) fn view(&self) -> pb::Suspension {
        pb::Suspension {
            start_time: Some(wire::time::timestamp(self.since)),
            end_time: Some(wire::time::timestamp(self.until)),
            agreed: self.agreed.iter().map(|seat| u32::from(seat.get())).collect(),
        }
    }
}

/// Reason for which a suspended hand ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuspendedEnd {
    /// No ante is paid, and the player of this seat has left or sits out.
    LeftBeforeAntes(SeatNo),
    /// Every live player has agreed to it.
    Agreed,
    /// The longest time for which a hand is suspended is over.
    TimeOver,
}

/// Reason for which a suspended hand ends now; `None` where it stands on.
#[must_use]
pub(crate) fn due_end(
    table: &Table,
    play: &HandInPlay,
    suspension: &Suspension,
    now: UnixMicros,
) -> Option<SuspendedEnd> {
    if table.entropy_round().is_some()
        && let Some(seat) = who_has_gone(table, play)
    {
        return Some(SuspendedEnd::LeftBeforeAntes(seat));
    }
    let live = live_seats(table, play);
    if !live.is_empty() && live.is_subset(&suspension.agreed) {
        return Some(SuspendedEnd::Agreed);
    }
    (now >= suspension.until).then_some(SuspendedEnd::TimeOver)
}

/// First seat of the hand whose player has left or sits out.
fn who_has_gone(table: &Table, play: &HandInPlay) -> Option<SeatNo> {
    let has_gone = |number: &&SeatNo| {
        table.seats.get(number).is_none_or(|seat| seat.leaving || seat.sitting_out)
    };
    play.replay.seats.iter().find(has_gone).copied()
}

/// Seats of the live players, whose agreement ends a suspended hand: who have neither folded nor
/// been put out, nor asked to leave since the hand was sealed. Nobody else takes a vote away: neither
/// a seat that the table takes back nor a leave that was asked for before. None before the antes, and
/// none while the hand's cards are lost.
#[must_use]
pub(crate) fn live_seats(table: &Table, play: &HandInPlay) -> BTreeSet<SeatNo> {
    let mut live = play.live_seats();
    if let Some(hand) = &table.hand {
        live.retain(|seat| !hand.leavers.contains(seat));
    }
    live
}

/// Suspends the hand, because the dealer was silent for too long.
pub(crate) fn suspend(
    table: &Table,
    play: &HandInPlay,
    now: &Timing,
) -> Result<Batch, Inconsistency> {
    let awaited = effects::awaited_from_dealer(table, play, now)
        .ok_or_else(|| Inconsistency("nothing is owed by the dealer".to_owned()))?;
    let until = now.at.plus(table.config.settings.suspension_limit());
    let suspended = event::HandSuspended { since_micros: awaited.since.0, until_micros: until.0 };
    Ok(Batch::single(play.hand_id, suspended))
}

/// Ends the suspended hand, for the reason that there is.
pub(crate) fn end(table: &Table, play: &HandInPlay, now: &Timing) -> Result<Batch, Inconsistency> {
    let not_due = || Inconsistency("the hand is not to be ended".to_owned());
    let suspension = play.suspension.as_ref().ok_or_else(not_due)?;
    let end = due_end(table, play, suspension, now.at).ok_or_else(not_due)?;
    let what = effects::awaited_from_dealer(table, play, now)
        .map_or_else(|| "an answer".to_owned(), |awaited| awaited.what);
    let silent = format!("{what} is owed by the dealer since {}", suspension.since);
    let (cause, evidence) = match end {
        SuspendedEnd::LeftBeforeAntes(seat) => (
            AbortCause::Suspended,
            format!("{silent}; no ante was paid, and seat {seat} has left or sits out"),
        ),
        SuspendedEnd::Agreed => {
            (AbortCause::Agreed, format!("{silent}; every live player has agreed to end it"))
        }
        SuspendedEnd::TimeOver => {
            (AbortCause::Suspended, format!("{silent}; it was given until {}", suspension.until))
        }
    };
    Ok(abort::end_suspended(table, play, cause, evidence))
}

/// Record of a live player's agreement to end the hand, with their checked signature.
#[must_use]
pub(crate) fn agreed(play: &HandInPlay, player: Player, signature: &[u8]) -> Batch {
    let void = Move { kind: MoveKind::Void.into(), ..Move::default() };
    let decided = event::MoveDecided {
        seat: u32::from(play.seat(player).get()),
        r#move: Some(void),
        turn: play.turn,
        signature: signature.to_vec().into(),
        ..event::MoveDecided::default()
    };
    Batch::single(play.hand_id, decided)
}

/// Lets a suspended hand go on, before the events that the dealer's answer gives.
#[must_use]
pub(crate) fn continued(play: Option<&HandInPlay>, mut batch: Batch) -> Batch {
    if let Some(play) = play.filter(|play| play.suspension.is_some()) {
        // Only chance is asked for while a hand is played, and no decision is due meanwhile.
        let continued = event::HandContinued { deadline_micros: 0 };
        batch.events.insert(0, (play.hand_id.into(), continued.into()));
    }
    batch
}

/// Lets a suspended hand go on whose cards the dealer has opened again after a restart of the table,
/// with what was left of the clock of the decision that is due.
#[must_use]
pub(crate) fn continue_after_recovery(table: &Table, play: &HandInPlay, now: UnixMicros) -> Batch {
    let deadline = resumed_deadline(table, play, now);
    let deadline_micros = deadline.map_or(0, |deadline| deadline.0);
    Batch::single(play.hand_id, event::HandContinued { deadline_micros })
}

/// New deadline of the decision that is due. Its clock has stood since the dealer was asked first,
/// and never has more left than a whole clock.
fn resumed_deadline(table: &Table, play: &HandInPlay, now: UnixMicros) -> Option<UnixMicros> {
    let since = play.suspension.as_ref()?.since.max(play.due_at);
    let (deadline, bank) = play.deadline_without_suspension(&table.config)?;
    let action = table.config.settings.action_time();
    let most = action.saturating_add(bank);
    let left = deadline.since(since).clamp(LEAST_LEFT.min(most), most);
    Some(now.plus(left))
}
