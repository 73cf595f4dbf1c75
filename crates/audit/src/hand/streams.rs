//! Check that the streams are whole: version numbers, chains, and the order of events.

use eventlog_core::Event;
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use proto::event::v1::AtFault;
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
    hand_in_order(case)?;
    dealer_in_order(case)?;
    of_this_hand(case)?;
    match &case.strange {
        None => Ok(()),
        Some(record) => Err(missing(format!("{record} holds more than this program can read"))),
    }
}

/// Checks a stream from its first event on: versions without gaps, each record with the hash of the
/// one before it.
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

/// Checks some events of a stream: all belong to it and are in order, and of two neighbours the
/// later has the hash of the earlier.
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

/// Phase of a hand's stream that an event belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
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
fn hand_in_order(case: &Case<'_>) -> Result<(), Trouble> {
    let entropy = case.has_entropy();
    let (mut before, mut aborted) = (Stage::Start, false);
    let (mut posted, mut revealed) = (false, false);
    for Read { event, recorded } in &case.hand {
        let (at, name) = (event.position.0, recorded.name());
        let stage = stage_in_hand(recorded).ok_or_else(|| {
            failed(format!(
                "the table's stream of the hand, position {at}: {name} does not belong there"
            ))
        })?;
        let comes = match stage {
            Stage::Start => false,
            Stage::Opened => before == Stage::Start,
            Stage::EntropyClosed => before == Stage::Opened && entropy,
            Stage::EntropyRevealed => {
                matches!(before, Stage::EntropyClosed | Stage::EntropyRevealed)
            }
            Stage::Sealed if entropy => {
                matches!(before, Stage::EntropyClosed | Stage::EntropyRevealed)
            }
            Stage::Sealed => before == Stage::Opened,
            Stage::Played => matches!(before, Stage::Sealed | Stage::Played),
            Stage::Shown | Stage::Settled => {
                matches!(before, Stage::Sealed | Stage::Played | Stage::Shown)
            }
            Stage::Posted => {
                matches!(before, Stage::Settled | Stage::Revealed)
                    && !posted
                    && !case.came_to_nothing()
            }
            Stage::Revealed => {
                matches!(before, Stage::Settled | Stage::Posted | Stage::Aborted) && !revealed
            }
            Stage::SeedRefused => {
                matches!(before, Stage::Settled | Stage::Posted | Stage::Aborted) && !revealed
            }
            Stage::Aborted => {
                // A settled hand may be aborted only because the opened seed is not the committed
                // one, or by an operator before it is posted.
                let settled = matches!(before, Stage::Settled | Stage::Revealed);
                let over = before == Stage::Start || settled && !is_void(recorded);
                !over && !aborted && !posted
            }
        };
        hold(comes, || {
            format!(
                "the table's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        aborted |= stage == Stage::Aborted;
        posted |= stage == Stage::Posted;
        revealed |= stage == Stage::Revealed;
        before = stage;
    }
    Ok(())
}

/// Whether an operator makes the hand void.
fn is_void(recorded: &Recorded) -> bool {
    matches!(recorded, Recorded::HandAborted(aborted) if aborted.at_fault() == AtFault::Operator)
}

/// A phase, and the test for its events.
type Kind = (Stage, fn(&Recorded) -> bool);

fn stage_in_hand(recorded: &Recorded) -> Option<Stage> {
    let stages: [Kind; 11] = [
        (Stage::Opened, |it| matches!(it, Recorded::HandOpened(_))),
        (Stage::EntropyClosed, |it| matches!(it, Recorded::EntropyClosed(_))),
        (Stage::EntropyRevealed, |it| matches!(it, Recorded::EntropyRevealed(_))),
        (Stage::Sealed, |it| matches!(it, Recorded::HandSealed(_))),
        (Stage::Played, |it| {
            matches!(it, Recorded::ChanceUsed(_) | Recorded::CardsMoved(_))
                || matches!(it, Recorded::MoveDecided(_) | Recorded::ClockResumed(_))
        }),
        (Stage::Shown, |it| matches!(it, Recorded::CardsShown(_))),
        (Stage::Settled, |it| matches!(it, Recorded::HandSettled(_))),
        (Stage::Posted, |it| matches!(it, Recorded::SettlementPosted(_))),
        (Stage::Revealed, |it| matches!(it, Recorded::HandRevealed(_))),
        (Stage::SeedRefused, |it| matches!(it, Recorded::SeedRefused(_))),
        (Stage::Aborted, |it| matches!(it, Recorded::HandAborted(_))),
    ];
    stages.into_iter().find(|(_, is)| is(recorded)).map(|(stage, _)| stage)
}

/// Checks the order of the dealer's stream: commitment, sealing, operations and reveals, opening of
/// the seed. After that only repeated reveals for a table that lost its memory may follow. The seed
/// of a discarded hand may be opened at any time. The number of commitments is not checked here.
fn dealer_in_order(case: &Case<'_>) -> Result<(), Trouble> {
    let (mut promised, mut sealed, mut open) = (false, false, false);
    for Read { event, recorded } in &case.dealer {
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
        hold(comes, || {
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
fn of_this_hand(case: &Case<'_>) -> Result<(), Trouble> {
    let (_, opened) = case.opened()?;
    let (mut started, mut finished) = (0, 0);
    for Read { event, recorded } in &case.table {
        let (at, name) = (event.position.0, recorded.name());
        let id = &case.records.hand_id.0[..];
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
            let aborted = case.aborted().map(|(at, _)| at);
            let end = aborted.or_else(|_| case.settled().map(|(at, _)| at));
            let over = end.is_ok_and(|end| end.recorded_at <= event.recorded_at);
            (it.hand_no == opened.hand_no && it.hand_id[..] == *id, finished == 1 && over)
        } else {
            (false, true)
        };
        hold(this && placed, || {
            format!("the table's log, position {at}: {name} is not this hand's, or out of order")
        })?;
    }
    if started == 1 {
        Ok(())
    } else {
        Err(missing("the start of the hand in the table's stream is not among the records"))
    }
}
