//! Aborted hands: why, and what follows for the table.
//!
//! Every abort ends alike. One append writes `HandAborted` with its evidence to the hand's stream,
//! and `HandFinished` with the stacks and pots of the hand's opening to the table's. Antes and bets
//! have moved only within the hand, and nothing was posted to the wallet. So nothing has to be
//! given back, and nothing can be given back twice. The hand number is used up, and the seed is
//! asked for until it is open, while the next hand is played.
//!
//! There are three reasons and no other. **Withheld**: seats that committed to entropy stay silent,
//! which burns the number before any ante, and excludes them for a while. **Agreed** and
//! **suspended**: the end of a hand that the dealer's silence has suspended ([`crate::suspension`]).
//! Nobody else ends a hand: no operator, no contradiction of the dealer, no seed.
//!
//! Specification: fairness/SPEC.md §3.11.

use primitives::{PlayerId, SeatNo, StreamId};
use proto::common::v1::{AbortCause, AtFault};
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::batch::Batch;
use crate::effect_calls::Inconsistency;
use crate::entropy::{EntropyRound, EntropyStep, Timing};
use crate::hand_in_play::HandInPlay;
use crate::reasons::SitOutReason;
use crate::table::{Exclusion, Table};

type Events = Vec<(StreamId, TableRecord)>;

/// Burns the hand number, because seats have committed to entropy and withheld it, and excludes
/// them.
pub(crate) fn burn_hand(
    table: &Table,
    play: &HandInPlay,
    now: &Timing,
) -> Result<Batch, Inconsistency> {
    let round =
        table.entropy_round().ok_or_else(|| Inconsistency("the hand is not open".to_owned()))?;
    let due =
        round.next_step(table.seat_commitments_of(play.hand_no), now, table.config.reveal_time());
    let EntropyStep::Burn(silent) = due else {
        return Err(Inconsistency("nobody has withheld anything".to_owned()));
    };
    let words: Vec<String> = silent.iter().map(ToString::to_string).collect();
    let evidence = format!(
        "seat {} committed to entropy and revealed nothing until {}",
        words.join(", seat "),
        round.deadline
    );
    let mut events = Events::new();
    let aborted = pb::HandAborted {
        at_fault: AtFault::Seat.into(),
        seats: silent.iter().map(|seat| u32::from(seat.get())).collect(),
        evidence,
        cause: AbortCause::Withheld.into(),
    };
    push_abort(table, play, aborted, &mut events);
    for (seat, player) in players_of(round, &silent) {
        let exclusion = Exclusion::after(table.exclusions.get(player), play.hand_no, now.at);
        events.push((table.id.into(), exclusion.event(seat, player).into()));
        events.extend(sit_out_event(table, seat, SitOutReason::Excluded));
    }
    Ok(events.into())
}

/// Seats of a roster with their players, in ascending order.
fn players_of(round: &EntropyRound, seats: &[SeatNo]) -> Vec<(SeatNo, PlayerId)> {
    let mut players: Vec<_> =
        round.roster.iter().filter(|(seat, _)| seats.contains(seat)).copied().collect();
    players.sort_unstable();
    players
}

/// Ends a suspended hand.
pub(crate) fn end_suspended(
    table: &Table,
    play: &HandInPlay,
    cause: AbortCause,
    evidence: String,
) -> Batch {
    let at_fault = AtFault::Dealer.into();
    let aborted = pb::HandAborted { at_fault, seats: Vec::new(), evidence, cause: cause.into() };
    let mut events = Events::new();
    push_abort(table, play, aborted, &mut events);
    events.into()
}

/// Event after which a seat is no longer dealt in; `None` where it sits out already. A seat that is
/// out for an exclusion alone is not dealt in by itself any more once there is another reason.
#[must_use]
pub(crate) fn sit_out_event(
    table: &Table,
    seat: SeatNo,
    reason: SitOutReason,
) -> Option<(StreamId, TableRecord)> {
    let more = reason != SitOutReason::Excluded;
    table.seats.get(&seat).filter(|seat| !seat.sitting_out || (seat.is_excluded && more))?;
    Some((table.id.into(), reason.event(seat, true).into()))
}

fn push_abort(table: &Table, play: &HandInPlay, aborted: pb::HandAborted, events: &mut Events) {
    events.push((play.hand_id.into(), aborted.into()));
    let finished = pb::HandFinished {
        hand_no: play.hand_no,
        hand_id: play.hand_id.0.to_vec().into(),
        seats: play.opened.roster.clone(),
        sabacc_pot: play.opened.sabacc_pot,
        carried_pot: play.opened.carried_pot,
        sabacc_paid: vec![0; play.opened.roster.len()],
        sabacc_won: false,
        misses: table.missed_clocks(&play.opened),
        aborted: true,
    };
    events.push((table.id.into(), finished.into()));
}
