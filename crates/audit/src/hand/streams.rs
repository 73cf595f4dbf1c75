//! Whether the streams are whole: numbers, chains, and which event may follow which.

use eventlog::Event;
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use wire::Recorded;

use crate::hand::case::{Case, Read};
use crate::report::{Trouble, failed, hold, missing};

pub(super) fn check(case: &Case<'_>) -> Result<(), Trouble> {
    if case.records.hand.is_empty() || case.records.dealer.is_empty() {
        return Err(missing("the table's or the dealer's stream of the hand was not given"));
    }
    if let Some(unreadable) = &case.unreadable {
        return Err(failed(unreadable.clone()));
    }
    let hand = StreamId::from(case.records.hand_id);
    whole("the table's log", hand, &case.records.hand)?;
    whole("the dealer's log", hand, &case.records.dealer)?;
    let table = StreamId::from(case.table_id()?);
    part("the table's log", table, &case.records.table)?;
    part("the wallet's log", table, &case.records.wallet)?;
    in_order(&HAND, &case.hand)?;
    in_order(&DEALER, &case.dealer)?;
    of_this_hand(case)?;
    match &case.strange {
        None => Ok(()),
        Some(record) => Err(missing(format!("{record} holds more than this program can read"))),
    }
}

/// A stream from its first event on: dense versions, each record naming the one before it.
fn whole(log: &str, stream: StreamId, events: &[Event]) -> Result<(), Trouble> {
    part(log, stream, events)?;
    let mut previous = [0; 32];
    for (version, event) in (1_u64..).zip(events) {
        let (at, found) = (event.position.0, event.version.0);
        hold(found == version, || {
            format!("{log}, position {at}: version {found} of the stream where {version} belongs")
        })?;
        hold(event.previous == previous, || {
            format!("{log}, position {at}: the record does not name the one before it")
        })?;
        previous = merkle::record::chain_hash(&event.record());
    }
    Ok(())
}

/// Some events of a stream: all of it, in order; where two are neighbours the one names the other.
fn part(log: &str, stream: StreamId, events: &[Event]) -> Result<(), Trouble> {
    for event in events {
        hold(event.stream == stream, || {
            let (at, other) = (event.position.0, event.stream);
            format!("{log}, position {at}: the record belongs to stream {other}, not to {stream}")
        })?;
    }
    for (before, event) in events.iter().zip(events.iter().skip(1)) {
        let at = event.position.0;
        let ascends = before.position < event.position
            && before.version < event.version
            && before.recorded_at <= event.recorded_at;
        hold(ascends, || format!("{log}, position {at}: the record is out of order"))?;
        let neighbours = before.version.0.checked_add(1) == Some(event.version.0);
        let named = merkle::record::chain_hash(&before.record()) == event.previous;
        hold(!neighbours || named, || {
            format!("{log}, position {at}: the record does not name the one before it")
        })?;
    }
    Ok(())
}

/// The stages of a stream, in order.
struct Stages {
    what: &'static str,
    /// Those that may be left out, and may have any number of events; the others have one.
    free: &'static [u8],
    /// The stage of an event, where it belongs to the stream at all. `next` is the first stage that
    /// is still open.
    of: fn(&Recorded, next: u8) -> Option<u8>,
}

/// A stage and the events that belong to it.
type Stage = (u8, fn(&Recorded) -> bool);

const HAND: Stages =
    Stages { what: "the table's stream of the hand", free: &[2, 3], of: stage_in_hand };
const DEALER: Stages =
    Stages { what: "the dealer's stream of the hand", free: &[2, 4], of: stage_at_dealer };

fn in_order(stages: &Stages, stream: &[Read<'_>]) -> Result<(), Trouble> {
    let Stages { what, free, of } = stages;
    let mut next = 0;
    for Read { event, recorded } in stream {
        let (at, name) = (event.position.0, recorded.name());
        let stage = of(recorded, next).ok_or_else(|| {
            failed(format!("{what}, position {at}: {name} does not belong there"))
        })?;
        let comes = stage >= next && (next..stage).all(|left_out| free.contains(&left_out));
        hold(comes, || format!("{what}, position {at}: {name} comes too early or too late"))?;
        next = if free.contains(&stage) { stage } else { stage + 1 };
    }
    Ok(())
}

fn stage_in_hand(recorded: &Recorded, _next: u8) -> Option<u8> {
    let stages: [Stage; 7] = [
        (0, |it| matches!(it, Recorded::HandOpened(_))),
        (1, |it| matches!(it, Recorded::HandSealed(_))),
        (2, |it| {
            matches!(it, Recorded::ChanceUsed(_) | Recorded::CardsMoved(_))
                || matches!(it, Recorded::MoveDecided(_) | Recorded::ClockResumed(_))
        }),
        (3, |it| matches!(it, Recorded::CardsShown(_))),
        (4, |it| matches!(it, Recorded::HandSettled(_))),
        (5, |it| matches!(it, Recorded::SettlementPosted(_))),
        (6, |it| matches!(it, Recorded::HandRevealed(_))),
    ];
    stages.into_iter().find(|(_, is)| is(recorded)).map(|(stage, _)| stage)
}

/// After the seed is open there is nothing to use or to open, but who lost his memory may ask again.
fn stage_at_dealer(recorded: &Recorded, next: u8) -> Option<u8> {
    if let Recorded::CardsOpened(opened) = recorded {
        let reason = opened.opening.as_ref().map(|opening| opening.reason());
        return Some(if reason == Some(OpeningReason::Recovery) && next > 3 { 4 } else { 2 });
    }
    let stages: [Stage; 4] = [
        (0, |it| matches!(it, Recorded::SeedCommitted(_))),
        (1, |it| matches!(it, Recorded::SeedSealed(_))),
        (2, |it| matches!(it, Recorded::OperationPerformed(_))),
        (3, |it| matches!(it, Recorded::SeedOpened(_))),
    ];
    stages.into_iter().find(|(_, is)| is(recorded)).map(|(stage, _)| stage)
}

/// The events of the table's stream: of this hand, each once, around the hand's own.
fn of_this_hand(case: &Case<'_>) -> Result<(), Trouble> {
    let (_, opened) = case.opened()?;
    let mut names: Vec<&str> = Vec::new();
    for Read { event, recorded } in &case.table {
        let (at, name) = (event.position.0, recorded.name());
        let id = &case.records.hand_id.0[..];
        let (this, placed) = if let Recorded::HandCommitted(noted) = recorded {
            (noted.hand_no == opened.hand_no, true)
        } else if let Recorded::HandStarted(started) = recorded {
            (started.hand_no == opened.hand_no && started.hand_id[..] == *id, true)
        } else if let Recorded::HandFinished(finished) = recorded {
            // Written together with the settlement, on either side of it.
            let settled = case.settled().is_ok_and(|(at, _)| at.recorded_at <= event.recorded_at);
            (finished.hand_no == opened.hand_no && finished.hand_id[..] == *id, settled)
        } else {
            (false, true)
        };
        hold(this && placed && !names.contains(&name), || {
            format!("the table's log, position {at}: {name} is not this hand's, or out of order")
        })?;
        names.push(name);
    }
    if names.contains(&"HandStarted") {
        Ok(())
    } else {
        Err(missing("the start of the hand in the table's stream is not among the records"))
    }
}
