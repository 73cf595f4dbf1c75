//! Check that the streams are whole: version numbers, chains, and the order of events.
//!
//! Specification: fairness/SPEC.md §10.1.

use eventlog_core::Event;
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use proto::event::v1::AtFault;
use wire::Recorded;

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
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
fn is_made_void(recorded: &Recorded) -> bool {
    matches!(recorded, Recorded::HandAborted(aborted) if aborted.at_fault() == AtFault::Operator)
}

/// A phase, and the test for its events.
type PhaseTest = (Phase, fn(&Recorded) -> bool);

fn phase_of(recorded: &Recorded) -> Option<Phase> {
    let stages: [PhaseTest; 11] = [
        (Phase::Opened, |it| matches!(it, Recorded::HandOpened(_))),
        (Phase::EntropyClosed, |it| matches!(it, Recorded::EntropyClosed(_))),
        (Phase::EntropyRevealed, |it| matches!(it, Recorded::EntropyRevealed(_))),
        (Phase::Sealed, |it| matches!(it, Recorded::HandSealed(_))),
        (Phase::Played, |it| {
            matches!(it, Recorded::ChanceUsed(_) | Recorded::CardsMoved(_))
                || matches!(it, Recorded::MoveDecided(_) | Recorded::ClockResumed(_))
        }),
        (Phase::Shown, |it| matches!(it, Recorded::CardsShown(_))),
        (Phase::Settled, |it| matches!(it, Recorded::HandSettled(_))),
        (Phase::Posted, |it| matches!(it, Recorded::SettlementPosted(_))),
        (Phase::Revealed, |it| matches!(it, Recorded::HandRevealed(_))),
        (Phase::SeedRefused, |it| matches!(it, Recorded::SeedRefused(_))),
        (Phase::Aborted, |it| matches!(it, Recorded::HandAborted(_))),
    ];
    stages.into_iter().find(|(_, is)| is(recorded)).map(|(stage, _)| stage)
}

/// Checks the order of the dealer's stream: commitment, sealing, operations and reveals, opening of
/// the seed. After that only repeated reveals for a table that lost its memory may follow. The seed
/// of a discarded hand may be opened at any time. The number of commitments is not checked here.
fn check_dealer_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (mut promised, mut sealed, mut open) = (false, false, false);
    for DecodedEvent { event, recorded } in &decoded.dealer {
        let (at, name) = (event.position.0, recorded.name());
        let comes = if let Recorded::SeedCommitted(_) = recorded {
            !sealed && !open
        } else if let Recorded::SeedSealed(_) = recorded {
            promised && !sealed && !open
        } else if let Recorded::OperationPerformed(_) = recorded {
            sealed && !open
        } else if let Recorded::CardsOpened(opened) = recorded {
            let reason = opened.opening.as_ref().map(|opening| opening.reason());
            sealed && (!open || reason == Some(OpeningReason::Recovery))
        } else if let Recorded::SeedOpened(seed) = recorded {
            (sealed || (promised && seed.discarded)) && !open
        } else {
            return Err(failed(format!(
                "the dealer's stream of the hand, position {at}: {name} does not belong there"
            )));
        };
        ensure(comes, || {
            format!(
                "the dealer's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        promised |= matches!(recorded, Recorded::SeedCommitted(_));
        sealed |= matches!(recorded, Recorded::SeedSealed(_));
        open |= matches!(recorded, Recorded::SeedOpened(_));
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
        let (this, placed) = if let Recorded::HandCommitted(noted) = recorded {
            (noted.hand_no == opened.hand_no, true)
        } else if let Recorded::EntropyCommitted(given) = recorded {
            (given.hand_no == opened.hand_no, true)
        } else if let Recorded::HandStarted(it) = recorded {
            started += 1;
            (it.hand_no == opened.hand_no && it.hand_id[..] == *id, started == 1)
        } else if let Recorded::HandFinished(it) = recorded {
            finished += 1;
            // It is written in one batch with the hand's end, before it or after it.
            let aborted = decoded.aborted().map(|(at, _)| at);
            let end = aborted.or_else(|_| decoded.settled().map(|(at, _)| at));
            let over = end.is_ok_and(|end| end.recorded_at <= event.recorded_at);
            (it.hand_no == opened.hand_no && it.hand_id[..] == *id, finished == 1 && over)
        } else {
            (false, true)
        };
        ensure(this && placed, || {
            format!("the table's log, position {at}: {name} is not this hand's, or out of order")
        })?;
    }
    if started == 1 {
        Ok(())
    } else {
        Err(missing("the start of the hand in the table's stream is not among the records"))
    }
}
