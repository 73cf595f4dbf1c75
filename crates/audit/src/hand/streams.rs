//! Check that the streams are whole: version numbers, chains, and the order of events.
//!
//! Specification: fairness/SPEC.md §10.1.

use eventlog_core::Event;
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use proto::event::v1::AtFault;
use wire::records::{
    DealerRecord, HandEvent, PlayEvent, Record as _, TableEvent, TableRecord, TableSubject,
};

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::hand::hand_no;
use crate::report::{CheckError, ensure, failed, missing};

pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    if decoded.records.hand.is_empty() || decoded.records.dealer.is_empty() {
        return Err(missing("the table's or the dealer's stream of the hand was not given"));
    }
    if let Some(unreadable) = &decoded.unreadable {
        return Err(failed(unreadable.clone()));
    }
    let hand = StreamId::from(decoded.records.hand_id);
    check_whole_stream("the table's log", hand, &decoded.records.hand)?;
    check_whole_stream("the dealer's log", hand, &decoded.records.dealer)?;
    let table = StreamId::from(decoded.table_id()?);
    check_events_of_stream("the table's log", table, &decoded.records.table)?;
    check_events_of_stream("the wallet's log", table, &decoded.records.wallet)?;
    check_hand_order(decoded)?;
    check_dealer_order(decoded)?;
    check_table_events(decoded)?;
    match &decoded.unrecognized {
        None => Ok(()),
        Some(record) => Err(missing(format!("{record} holds more than this program can read"))),
    }
}

/// Checks a stream from its first event on: versions without gaps, each record with the hash of the
/// one before it.
fn check_whole_stream(log: &str, stream: StreamId, events: &[Event]) -> Result<(), CheckError> {
    check_events_of_stream(log, stream, events)?;
    let mut previous = [0; 32];
    for (version, event) in (1_u64..).zip(events) {
        let (at, found) = (event.position.0, event.version.0);
        ensure(found == version, || {
            format!("{log}, position {at}: version {found} of the stream where {version} belongs")
        })?;
        ensure(event.previous == previous, || {
            format!("{log}, position {at}: the record does not name the one before it")
        })?;
        previous = merkle::record::chain_hash(&event.record());
    }
    Ok(())
}

/// Checks some events of a stream: all belong to it and are in order, and of two neighbours the
/// later has the hash of the earlier.
fn check_events_of_stream(log: &str, stream: StreamId, events: &[Event]) -> Result<(), CheckError> {
    for event in events {
        ensure(event.stream == stream, || {
            let (at, other) = (event.position.0, event.stream);
            format!("{log}, position {at}: the record belongs to stream {other}, not to {stream}")
        })?;
    }
    for (before, event) in events.iter().zip(events.iter().skip(1)) {
        let at = event.position.0;
        let ascends = before.position < event.position
            && before.version < event.version
            && before.recorded_at <= event.recorded_at;
        ensure(ascends, || format!("{log}, position {at}: the record is out of order"))?;
        let neighbours = before.version.0.checked_add(1) == Some(event.version.0);
        let named = merkle::record::chain_hash(&before.record()) == event.previous;
        ensure(!neighbours || named, || {
            format!("{log}, position {at}: the record does not name the one before it")
        })?;
    }
    Ok(())
}

/// Phase of a hand's stream that an event belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the first event.
    Start,
    Opened,
    EntropyClosed,
    EntropyRevealed,
    Sealed,
    Played,
    Shown,
    Settled,
    Posted,
    Revealed,
    SeedRefused,
    Aborted,
}

/// Checks that each event of the hand's stream may follow the one before it. After its settlement a
/// hand is posted and its seed is opened, in either order.
fn check_hand_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let entropy = decoded.has_entropy();
    let (mut before, mut aborted) = (Phase::Start, false);
    let (mut posted, mut revealed) = (false, false);
    for DecodedEvent { event, recorded } in &decoded.hand {
        let (at, name) = (event.position.0, recorded.name());
        let stage = phase_of(recorded).ok_or_else(|| {
            failed(format!(
                "the table's stream of the hand, position {at}: {name} does not belong there"
            ))
        })?;
        let comes = match stage {
            Phase::Start => false,
            Phase::Opened => before == Phase::Start,
            Phase::EntropyClosed => before == Phase::Opened && entropy,
            Phase::EntropyRevealed => {
                matches!(before, Phase::EntropyClosed | Phase::EntropyRevealed)
            }
            Phase::Sealed if entropy => {
                matches!(before, Phase::EntropyClosed | Phase::EntropyRevealed)
            }
            Phase::Sealed => before == Phase::Opened,
            Phase::Played => matches!(before, Phase::Sealed | Phase::Played),
            Phase::Shown | Phase::Settled => {
                matches!(before, Phase::Sealed | Phase::Played | Phase::Shown)
            }
            Phase::Posted => {
                matches!(before, Phase::Settled | Phase::Revealed)
                    && !posted
                    && !decoded.is_aborted()
            }
            Phase::Revealed => {
                matches!(before, Phase::Settled | Phase::Posted | Phase::Aborted) && !revealed
            }
            Phase::SeedRefused => {
                matches!(before, Phase::Settled | Phase::Posted | Phase::Aborted) && !revealed
            }
            Phase::Aborted => {
                // A settled hand may be aborted only because the opened seed is not the committed
                // one, or by an operator before it is posted.
                let settled = matches!(before, Phase::Settled | Phase::Revealed);
                let over = before == Phase::Start || settled && !is_made_void(recorded);
                !over && !aborted && !posted
            }
        };
        ensure(comes, || {
            format!(
                "the table's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        aborted |= stage == Phase::Aborted;
        posted |= stage == Phase::Posted;
        revealed |= stage == Phase::Revealed;
        before = stage;
    }
    Ok(())
}

/// Whether an operator makes the hand void.
fn is_made_void(recorded: &TableRecord) -> bool {
    matches!(recorded, TableRecord::HandAborted(aborted) if aborted.at_fault() == AtFault::Operator)
}

/// Returns the phase of an event; `None` for an event of another stream than a hand's.
fn phase_of(recorded: &TableRecord) -> Option<Phase> {
    match recorded.subject() {
        TableSubject::Hand(event) => Some(match event {
            HandEvent::HandOpened(_) => Phase::Opened,
            HandEvent::EntropyClosed(_) => Phase::EntropyClosed,
            HandEvent::EntropyRevealed(_) => Phase::EntropyRevealed,
            HandEvent::HandRevealed(_) => Phase::Revealed,
            HandEvent::SeedRefused(_) => Phase::SeedRefused,
            HandEvent::HandAborted(_) => Phase::Aborted,
        }),
        TableSubject::Play(event) => Some(match event {
            PlayEvent::HandSealed(_) => Phase::Sealed,
            PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::MoveDecided(_)
            | PlayEvent::ClockResumed(_) => Phase::Played,
            PlayEvent::CardsShown(_) => Phase::Shown,
            PlayEvent::HandSettled(_) => Phase::Settled,
            PlayEvent::SettlementPosted(_) => Phase::Posted,
        }),
        TableSubject::Seat(_)
        | TableSubject::Table(_)
        | TableSubject::Person(_)
        | TableSubject::Clock(_) => None,
    }
}

/// Checks the order of the dealer's stream: commitment, sealing, operations and reveals, opening of
/// the seed. After that only repeated reveals for a table that lost its memory may follow. The seed
/// of a discarded hand may be opened at any time. The number of commitments is not checked here.
fn check_dealer_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (mut promised, mut sealed, mut open) = (false, false, false);
    for DecodedEvent { event, recorded } in &decoded.dealer {
        let (at, name) = (event.position.0, recorded.name());
        let comes = match recorded {
            DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_) => {
                return Err(failed(format!(
                    "the dealer's stream of the hand, position {at}: {name} does not belong there"
                )));
            }
            DealerRecord::SeedCommitted(_) => !sealed && !open,
            DealerRecord::SeedSealed(_) => promised && !sealed && !open,
            DealerRecord::OperationPerformed(_) => sealed && !open,
            DealerRecord::CardsOpened(opened) => {
                let reason = opened.opening.as_ref().map(|opening| opening.reason());
                sealed && (!open || reason == Some(OpeningReason::Recovery))
            }
            DealerRecord::SeedOpened(seed) => (sealed || (promised && seed.discarded)) && !open,
        };
        ensure(comes, || {
            format!(
                "the dealer's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        match recorded {
            DealerRecord::SeedCommitted(_) => promised = true,
            DealerRecord::SeedSealed(_) => sealed = true,
            DealerRecord::SeedOpened(_) => open = true,
            DealerRecord::OperationPerformed(_)
            | DealerRecord::CardsOpened(_)
            | DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_) => {}
        }
    }
    Ok(())
}

/// Checks the events of the table's stream: they are of this hand, each occurs once, around those
/// of the hand's stream. The number of recorded commitments, of the dealer and of the seats, is not
/// checked here.
fn check_table_events(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    let (mut started, mut finished) = (0, 0);
    for DecodedEvent { event, recorded } in &decoded.table {
        let (at, name) = (event.position.0, recorded.name());
        let id = &decoded.records.hand_id.0[..];
        let this = hand_no(recorded) == Some(opened.hand_no);
        let (names_id, placed) = match recorded.subject() {
            TableSubject::Table(TableEvent::HandStarted(it)) => {
                started += 1;
                (it.hand_id[..] == *id, started == 1)
            }
            TableSubject::Table(TableEvent::HandFinished(it)) => {
                finished += 1;
                // It is written in one batch with the hand's end, before it or after it.
                let aborted = decoded.aborted().map(|(at, _)| at);
                let end = aborted.or_else(|_| decoded.settled().map(|(at, _)| at));
                let over = end.is_ok_and(|end| end.recorded_at <= event.recorded_at);
                (it.hand_id[..] == *id, finished == 1 && over)
            }
            TableSubject::Table(_)
            | TableSubject::Seat(_)
            | TableSubject::Hand(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Clock(_) => (true, true),
        };
        ensure(this && names_id && placed, || {
            format!("the table's log, position {at}: {name} is not this hand's, or out of order")
        })?;
    }
    if started == 1 {
        Ok(())
    } else {
        Err(missing("the start of the hand in the table's stream is not among the records"))
    }
}
