//! Aborted hands: who is at fault, and what follows for the table.
//!
//! Every abort ends alike. One append writes `HandAborted` with its evidence to the hand's stream,
//! and `HandFinished` with the stacks and pots of the hand's opening to the table's. Antes and bets
//! have moved only within the hand, and nothing was posted to the wallet. So nothing has to be
//! given back, and nothing can be given back twice. The hand number is used up. The seed stays
//! pending and is asked for until it is open, while the next hand is played.
//!
//! - **Seats** that committed to entropy and withheld it burn the hand number, before any ante, and
//!   sit out. The next hand starts without them. Each time they wait longer until they may come
//!   back ([`Table::check_may_return`]).
//! - **The dealer** that is silent for too long costs the hand. A dealer that contradicts itself or
//!   its commitment costs the table: no further hand starts, and everybody is paid out.
//! - **The operator** may void a hand, with a reason that everybody can read. A settled hand can be
//!   voided as long as its settlement cannot have been posted: its seed is never opened, or the
//!   wallet never takes it.
//!
//! Specification: fairness/SPEC.md §3.11.

use primitives::{SeatNo, StreamId};
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::batch::Batch;
use crate::effect_calls::Inconsistency;
use crate::effects;
use crate::entropy::{EntropyStep, Timing};
use crate::hand_in_play::{DealerFault, HandInPlay};
use crate::reasons::SitOutReason;
use crate::table::{Closing, Table};

type Events = Vec<(StreamId, TableRecord)>;

/// Burns the hand number, because seats have committed to entropy and withheld it.
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
    let numbers: Vec<u32> = silent.iter().map(|seat| u32::from(seat.get())).collect();
    let words: Vec<String> = silent.iter().map(ToString::to_string).collect();
    let evidence = format!(
        "seat {} committed to entropy and revealed nothing until {}",
        words.join(", seat "),
        round.deadline
    );
    let mut events = Events::new();
    let withheld = fault_of(pb::AbortCause::Withheld, pb::AtFault::Seat, &evidence);
    let aborted = pb::HandAborted { seats: numbers, ..withheld };
    push_abort(table, play, aborted, &mut events);
    for seat in silent {
        events.extend(sit_out_event(table, seat, SitOutReason::Withheld));
    }
    Ok(events.into())
}

/// Aborts the hand because the dealer was silent for too long, or for the fault that its recovery
/// found.
pub(crate) fn abandon_hand(
    table: &Table,
    play: &HandInPlay,
    now: &Timing,
) -> Result<Batch, Inconsistency> {
    match &play.dealer_fault {
        Some(DealerFault::Contradicted(evidence)) => {
            return Ok(dealer_contradicted(table, play, evidence));
        }
        Some(DealerFault::Silent(evidence)) => return Ok(dealer_silent(table, play, evidence)),
        None => {}
    }
    let (what, since) = effects::awaited_from_dealer(table, play)
        .ok_or_else(|| Inconsistency("nothing is owed by the dealer".to_owned()))?;
    let waited = now.at.since(since.max(now.listening_since)).as_secs();
    let evidence =
        format!("{what} is owed since {since}, and the dealer has not given it for {waited} s");
    Ok(dealer_silent(table, play, &evidence))
}

fn dealer_silent(table: &Table, play: &HandInPlay, evidence: &str) -> Batch {
    let mut events = Events::new();
    push_abort(
        table,
        play,
        fault_of(pb::AbortCause::Suspended, pb::AtFault::Dealer, evidence),
        &mut events,
    );
    events.into()
}

/// Aborts the hand and closes the table, because the dealer contradicts itself or its commitment.
pub(crate) fn dealer_contradicted(table: &Table, play: &HandInPlay, evidence: &str) -> Batch {
    let mut events = Events::new();
    push_dealer_contradiction(table, play, evidence, &mut events);
    events.into()
}

/// Adds the events that abort the hand and close the table, because the dealer contradicts itself
/// or its commitment.
pub(crate) fn push_dealer_contradiction(
    table: &Table,
    play: &HandInPlay,
    evidence: &str,
    events: &mut Events,
) {
    push_abort(
        table,
        play,
        fault_of(pb::AbortCause::Suspended, pb::AtFault::Dealer, evidence),
        events,
    );
    push_close(table, events);
}

/// Closes the table, unless that was asked for already: no further hand starts, and everybody is
/// paid out.
pub(crate) fn push_close(table: &Table, events: &mut Events) {
    if table.closing == Closing::Open {
        events.push((table.id.into(), pb::CloseAsked {}.into()));
    }
}

/// Event after which a seat is no longer dealt in; `None` where it sits out already.
#[must_use]
pub(crate) fn sit_out_event(
    table: &Table,
    seat: SeatNo,
    reason: SitOutReason,
) -> Option<(StreamId, TableRecord)> {
    table.seats.get(&seat).filter(|seat| !seat.sitting_out)?;
    Some((table.id.into(), reason.event(seat, true).into()))
}

/// Record of an abort that no seat is at fault for.
fn fault_of(cause: pb::AbortCause, at_fault: pb::AtFault, evidence: &str) -> pb::HandAborted {
    let evidence = evidence.to_owned();
    let (cause, at_fault) = (cause.into(), at_fault.into());
    pb::HandAborted { at_fault, seats: Vec::new(), evidence, cause }
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
