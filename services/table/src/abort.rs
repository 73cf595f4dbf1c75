//! Aborted hands: who is at fault, and what follows for the table.
//!
//! Every abort ends alike. One append writes `HandAborted` with its evidence to the hand's stream,
//! and `HandFinished` with the stacks and pots of the hand's opening to the table's. Antes and bets
//! have moved only within the hand, and nothing was posted to the wallet. So nothing has to be
//! given back, and nothing can be given back twice. The hand number is used up. The seed stays
//! pending ([`crate::table::SeedOwed`]) and is asked for until it is open, while the next hand is
//! played.
//!
//! - **Seats** that committed to entropy and withheld it burn the hand number, before any ante, and
//!   sit out. The next hand starts without them. Each time they wait longer until they may come
//!   back ([`Table::may_return`]).
//! - **The dealer** that is silent for too long costs the hand. A dealer that contradicts itself or
//!   its commitment costs the table: no further hand starts, and everybody is paid out.
//! - **The operator** may void a hand, with a reason that everybody can read. A settled hand can be
//!   voided as long as its settlement cannot have been posted: its seed is never opened, or the
//!   wallet never takes it.

use primitives::{SeatNo, StreamId};
use proto::event::v1 as pb;
use wire::Recorded;

use crate::debt::{self, Debt};
use crate::entropy::{Due, Now};
use crate::pay::{Broken, Paid};
use crate::play::{Fault, Play, Stage};
use crate::proof::Faces;
use crate::stops;
use crate::table::{Closing, Table};

type Events = Vec<(StreamId, Recorded)>;

/// Burns the hand number, because seats have committed to entropy and withheld it.
pub fn burnt(table: &Table, play: &Play, now: &Now) -> Result<Paid, Broken> {
    let sealing = table.sealing().ok_or_else(|| Broken("the hand is not open".to_owned()))?;
    let due = sealing.due(table.promises_of(play.hand_no), now, table.config.entropy_time());
    let Due::Burn(silent) = due else {
        return Err(Broken("nobody has withheld anything".to_owned()));
    };
    let numbers: Vec<u32> = silent.iter().map(|seat| u32::from(seat.get())).collect();
    let words: Vec<String> = silent.iter().map(ToString::to_string).collect();
    let evidence = format!(
        "seat {} committed to entropy and revealed nothing until {}",
        words.join(", seat "),
        sealing.deadline
    );
    let mut events = Events::new();
    end(table, play, (pb::AtFault::Seat, numbers, &evidence), &mut events);
    for seat in silent {
        events.extend(sits_out(table, seat, "withheld"));
    }
    Ok(Paid { events, faces: Faces::new() })
}

/// Aborts the hand because the dealer was silent for too long, or for the fault that its recovery
/// found.
pub fn abandoned(table: &Table, play: &Play, now: &Now) -> Result<Paid, Broken> {
    match &play.fault {
        Some(Fault::Contradicted(evidence)) => return Ok(contradicted(table, play, evidence)),
        Some(Fault::Silent(evidence)) => return Ok(silent(table, play, evidence)),
        None => {}
    }
    let (what, since) = debt::of_the_dealer(table, play)
        .ok_or_else(|| Broken("nothing is owed by the dealer".to_owned()))?;
    let waited = now.at.since(since.max(now.since)).as_secs();
    let evidence =
        format!("{what} is owed since {since}, and the dealer has not given it for {waited} s");
    Ok(silent(table, play, &evidence))
}

fn silent(table: &Table, play: &Play, evidence: &str) -> Paid {
    let mut events = Events::new();
    end(table, play, (pb::AtFault::Dealer, Vec::new(), evidence), &mut events);
    Paid { events, faces: Faces::new() }
}

/// Aborts the hand and closes the table, because the dealer contradicts itself or its commitment.
pub fn contradicted(table: &Table, play: &Play, evidence: &str) -> Paid {
    let mut events = Events::new();
    by_the_dealer(table, play, evidence, &mut events);
    Paid { events, faces: Faces::new() }
}

/// Adds the events that abort the hand and close the table, because the dealer contradicts itself
/// or its commitment.
pub fn by_the_dealer(table: &Table, play: &Play, evidence: &str, events: &mut Events) {
    end(table, play, (pb::AtFault::Dealer, Vec::new(), evidence), events);
    disabled(table, events);
}

/// Whether an operator may void the hand, because no credit can have moved for it. The transfer of
/// a settled hand is not asked for while its seed is awaited, and has not moved where the wallet
/// has refused it.
#[must_use]
pub fn may_be_void(table: &Table, play: &Play) -> bool {
    let hand_no = play.hand_no;
    let refused = || table.stops.get(&Debt::Post { hand_no }).is_some_and(stops::was_judged);
    let gone_on = table.hand.as_ref().is_none_or(|hand| hand.posted || hand.finished);
    match play.stage {
        Stage::Opened | Stage::Playing => true,
        Stage::Settled => !gone_on && (debt::waits_for_seed(table, play) || refused()),
    }
}

/// Events of an operator's voiding of the hand.
pub fn void(table: &Table, play: &Play, reason: &str) -> Events {
    let mut events = Events::new();
    end(table, play, (pb::AtFault::Operator, Vec::new(), reason), &mut events);
    events
}

/// Closes the table, unless that was asked for already: no further hand starts, and everybody is
/// paid out.
pub fn disabled(table: &Table, events: &mut Events) {
    if table.closing == Closing::Open {
        events.push((table.id.into(), pb::CloseAsked {}.into()));
    }
}

/// Event after which a seat is no longer dealt in; `None` where it sits out already.
#[must_use]
pub fn sits_out(table: &Table, seat: SeatNo, why: &str) -> Option<(StreamId, Recorded)> {
    table.seats.get(&seat).filter(|seat| !seat.sitting_out)?;
    let changed =
        pb::SitOutChanged { seat: u32::from(seat.get()), sitting_out: true, why: why.to_owned() };
    Some((table.id.into(), changed.into()))
}

fn end(
    table: &Table,
    play: &Play,
    (at_fault, seats, evidence): (pb::AtFault, Vec<u32>, &str),
    events: &mut Events,
) {
    let evidence = evidence.to_owned();
    let aborted = pb::HandAborted { at_fault: at_fault.into(), seats, evidence };
    events.push((play.hand_id.into(), aborted.into()));
    let finished = pb::HandFinished {
        hand_no: play.hand_no,
        hand_id: play.hand_id.0.to_vec().into(),
        seats: play.opened.roster.clone(),
        sabacc_pot: play.opened.sabacc_pot,
        carried_pot: play.opened.carried_pot,
        sabacc_paid: vec![0; play.opened.roster.len()],
        sabacc_won: false,
        misses: table.misses(&play.opened),
        aborted: true,
    };
    events.push((table.id.into(), finished.into()));
}
