//! Check that the streams are whole: version numbers, chains, and the order of events.
//!
//! Specification: fairness/SPEC.md §10.1.

use merkle::record::RECORD_LEN;
use primitives::StreamId;
use proto::dealer::v1::OpeningReason;
use proto::event::v1::EventType;
use wire::records::{DealerRecord, HandEvent, PlayEvent, Record as _, TableRecord, TableSubject};

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::{YEAR_10000, quota, table_order};
use crate::log_event::{
    LogEvent, is_always_withheld, may_be_secret_at_dealer, may_be_secret_at_table,
};
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
    check_neighbours("the table's log", table, &decoded.records.table)?;
    check_events_of_stream("the wallet's log", table, &decoded.records.wallet)?;
    check_times(decoded)?;
    check_withheld(decoded)?;
    check_hand_order(decoded)?;
    check_dealer_order(decoded)?;
    table_order::check(decoded)?;
    quota::check(decoded)?;
    match &decoded.unrecognized {
        None => Ok(()),
        Some(record) => Err(missing(format!("{record} holds more than this program can read"))),
    }
}

/// Checks a stream from its first event on.
fn check_whole_stream(log: &str, stream: StreamId, events: &[LogEvent]) -> Result<(), CheckError> {
    let first = events.first().map_or(1, |first| first.version.0);
    ensure(first == 1, || format!("{log}: the stream begins with its version {first}"))?;
    check_neighbours(log, stream, events)
}

/// Checks a stretch of a stream without gaps: versions count up, each record names the one before
/// it, and the stream's first names none.
fn check_neighbours(log: &str, stream: StreamId, events: &[LogEvent]) -> Result<(), CheckError> {
    check_events_of_stream(log, stream, events)?;
    let mut last: Option<&LogEvent> = None;
    for event in events {
        let (at, found) = (event.position.0, event.version.0);
        let due = last.map_or(found, |last| last.version.0.saturating_add(1));
        ensure(found == due && found > 0, || {
            format!("{log}, position {at}: version {found} of the stream where {due} belongs")
        })?;
        let previous = match last {
            Some(last) => Some(merkle::record::chain_hash(&last.record())),
            None => (found == 1).then_some([0; 32]),
        };
        ensure(previous.is_none_or(|previous| event.previous == previous), || {
            format!("{log}, position {at}: the record does not name the one before it")
        })?;
        last = Some(event);
    }
    Ok(())
}

/// Checks some events of a stream: all belong to it and are in order.
fn check_events_of_stream(
    log: &str,
    stream: StreamId,
    events: &[LogEvent],
) -> Result<(), CheckError> {
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
    }
    Ok(())
}

/// Checks that every record is of a time before the year 10000: so no sum of a recorded time and a
/// span of the settings saturates, and no window is cut short.
fn check_times(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    for (log, events) in lists(decoded) {
        for event in events {
            // The chain, which is checked above, hashes each record once.
            decoded.work.hashed(RECORD_LEN + event.payload.len());
            ensure(event.recorded_at < YEAR_10000, || {
                let at = event.position.0;
                format!("{log}, position {at}: recorded in the year 10000 or later")
            })?;
        }
    }
    Ok(())
}

/// Returns the lists of records, each with the name of its log.
fn lists<'a>(decoded: &DecodedRecords<'a>) -> [(&'static str, &'a [LogEvent]); 4] {
    let records = decoded.records;
    [
        ("the table's log", &records.hand),
        ("the table's log", &records.table),
        ("the dealer's log", &records.dealer),
        ("the wallet's log", &records.wallet),
    ]
}

/// Checks that nothing is sealed, since no type of these streams is, and that no payload is withheld
/// but in the table's stream of events that concern one player and the operators alone, and, until
/// the seed is open, of those that may hold a secret of the hand. So each other event is decoded.
fn check_withheld(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let is_open = decoded.seed().is_ok() || decoded.revealed().is_ok();
    let secret = |service: fn(u16) -> bool| move |kind: u16| !is_open && service(kind);
    let [hand, table, dealer, wallet] = lists(decoded);
    check_withheld_in(hand.0, hand.1, secret(may_be_secret_at_table))?;
    check_withheld_in(table.0, table.1, is_always_withheld)?;
    check_withheld_in(dealer.0, dealer.1, secret(may_be_secret_at_dealer))?;
    check_withheld_in(wallet.0, wallet.1, |_| false)
}

/// Checks the records of one stream. What is sealed or withheld says its own type, and no more.
fn check_withheld_in(
    log: &str,
    events: &[LogEvent],
    may_be_withheld: impl Fn(u16) -> bool,
) -> Result<(), CheckError> {
    for event in events {
        let at = event.position.0;
        ensure(!event.sealed, || {
            format!("{log}, position {at}: the record is sealed, as none of this stream is")
        })?;
        ensure(event.withheld.is_none() || may_be_withheld(event.kind), || {
            format!("{log}, position {at}: the payload is withheld, and it holds no secret")
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
    Decided,
    Suspended,
    Continued,
    Shown,
    Settled,
    Posted,
    SeedOpened,
    Aborted,
}

/// Progress of a hand's stream.
#[derive(Clone, Copy)]
struct Progress {
    /// Phase of the last event other than suspensions and their ends.
    phase: Phase,
    is_suspended: bool,
    settled: bool,
    aborted: bool,
    posted: bool,
    seed_opened: bool,
}

impl Progress {
    /// Whether an event may follow. After its settlement a hand is posted and its seed is opened,
    /// in either order. While it is suspended, players decide to leave or to end it.
    fn admits(&self, next: Phase) -> bool {
        let over = self.settled || self.aborted;
        let revealing =
            !over && matches!(self.phase, Phase::EntropyClosed | Phase::EntropyRevealed);
        let playing = matches!(self.phase, Phase::Sealed | Phase::Played | Phase::Decided);
        match next {
            Phase::Start => false,
            Phase::Opened => self.phase == Phase::Start,
            Phase::EntropyClosed => self.phase == Phase::Opened && !self.is_suspended,
            // Whoever was silent may still open their number of a hand that came to nothing.
            Phase::EntropyRevealed => revealing || self.aborted,
            Phase::Sealed => revealing && !self.is_suspended,
            Phase::Played => playing && !self.is_suspended,
            Phase::Decided => playing,
            Phase::Shown | Phase::Settled => {
                (playing || self.phase == Phase::Shown) && !self.is_suspended
            }
            Phase::Suspended => self.phase != Phase::Start && !over && !self.is_suspended,
            Phase::Continued => !over && self.is_suspended,
            Phase::Aborted => self.phase != Phase::Start && !over,
            Phase::Posted => self.settled && !self.posted,
            Phase::SeedOpened => over && !self.seed_opened,
        }
    }

    fn advance(&mut self, next: Phase) {
        match next {
            Phase::Suspended => self.is_suspended = true,
            Phase::Continued => self.is_suspended = false,
            Phase::Settled => self.settled = true,
            Phase::Aborted => self.aborted = true,
            Phase::Posted => self.posted = true,
            Phase::SeedOpened => self.seed_opened = true,
            Phase::Start
            | Phase::Opened
            | Phase::EntropyClosed
            | Phase::EntropyRevealed
            | Phase::Sealed
            | Phase::Played
            | Phase::Decided
            | Phase::Shown => {}
        }
        if !matches!(next, Phase::Suspended | Phase::Continued) {
            self.phase = next;
        }
    }
}

/// Checks that each event of the hand's stream may follow the one before it. Of a withheld event its
/// type says where it belongs.
fn check_hand_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let mut progress = Progress {
        phase: Phase::Start,
        is_suspended: false,
        settled: false,
        aborted: false,
        posted: false,
        seed_opened: false,
    };
    let mut readable = decoded.hand.iter().peekable();
    for event in &decoded.records.hand {
        let at = event.position.0;
        let read = readable.next_if(|read| read.event.position == event.position);
        let name = read.map_or("a withheld record", |read| read.recorded.name());
        let phase = match read {
            Some(read) => phase_of(&read.recorded),
            None => withheld_phase_of(event.kind),
        };
        let phase = phase.ok_or_else(|| {
            failed(format!(
                "the table's stream of the hand, position {at}: {name} does not belong there"
            ))
        })?;
        ensure(progress.admits(phase), || {
            format!(
                "the table's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        progress.advance(phase);
    }
    Ok(())
}

/// Returns the phase of an event; `None` for an event of another stream than a hand's.
fn phase_of(recorded: &TableRecord) -> Option<Phase> {
    match recorded.subject() {
        TableSubject::Hand(event) => Some(match event {
            HandEvent::HandOpened(_) => Phase::Opened,
            HandEvent::EntropyClosed(_) => Phase::EntropyClosed,
            HandEvent::EntropyRevealed(_) => Phase::EntropyRevealed,
            HandEvent::HandRevealed(_) | HandEvent::SeedRefused(_) => Phase::SeedOpened,
            HandEvent::HandAborted(_) => Phase::Aborted,
            HandEvent::HandSuspended(_) => Phase::Suspended,
            HandEvent::HandContinued(_) => Phase::Continued,
        }),
        TableSubject::Play(event) => Some(match event {
            PlayEvent::HandSealed(_) => Phase::Sealed,
            PlayEvent::ChanceUsed(_) | PlayEvent::CardsMoved(_) => Phase::Played,
            PlayEvent::MoveDecided(_) | PlayEvent::ClockResumed(_) => Phase::Decided,
            PlayEvent::CardsShown(_) => Phase::Shown,
            PlayEvent::HandSettled(_) => Phase::Settled,
            PlayEvent::SettlementPosted(_) => Phase::Posted,
        }),
        TableSubject::Seat(_)
        | TableSubject::Table(_)
        | TableSubject::Person(_)
        | TableSubject::Room(_)
        | TableSubject::Clock(_) => None,
    }
}

/// Returns the phase of an event whose payload is withheld for its secret.
fn withheld_phase_of(kind: u16) -> Option<Phase> {
    let is = |known: EventType| i32::from(kind) == i32::from(known);
    let played = is(EventType::ChanceUsed).then_some(Phase::Played);
    played.or_else(|| is(EventType::MoveDecided).then_some(Phase::Decided))
}

/// Progress of the dealer's stream of a hand.
#[derive(Default)]
struct DealerProgress {
    promised: bool,
    closed: bool,
    sealed: bool,
    open: bool,
}

impl DealerProgress {
    fn admits(&self, recorded: &DealerRecord) -> bool {
        let DealerProgress { promised, closed, sealed, open } = *self;
        match recorded {
            DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_)
            | DealerRecord::PromisesLost(_) => false,
            DealerRecord::SeedCommitted(_) => !closed && !sealed && !open,
            DealerRecord::CommitmentsClosed(_) => promised && !sealed && !open,
            DealerRecord::SeedSealed(_) => closed && !sealed && !open,
            DealerRecord::OperationPerformed(_) => sealed && !open,
            DealerRecord::CardsOpened(opened) => {
                let reason = opened.opening.as_ref().map(|opening| opening.reason());
                sealed && (!open || reason == Some(OpeningReason::Recovery))
            }
            DealerRecord::SeedOpened(seed) => (sealed || (promised && seed.discarded)) && !open,
        }
    }

    const fn advance(&mut self, recorded: &DealerRecord) {
        match recorded {
            DealerRecord::SeedCommitted(_) => self.promised = true,
            DealerRecord::CommitmentsClosed(_) => self.closed = true,
            DealerRecord::SeedSealed(_) => self.sealed = true,
            DealerRecord::SeedOpened(_) => self.open = true,
            DealerRecord::OperationPerformed(_)
            | DealerRecord::CardsOpened(_)
            | DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_)
            | DealerRecord::PromisesLost(_) => {}
        }
    }
}

/// Checks the order of the dealer's stream: commitment, closing, sealing, operations and reveals,
/// opening of the seed. After that only repeated reveals for a table that lost its memory may
/// follow. The seed of a discarded hand may be opened at any time. The numbers of commitments and
/// closings are not checked here.
fn check_dealer_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let mut progress = DealerProgress::default();
    let mut readable = decoded.dealer.iter().peekable();
    for event in &decoded.records.dealer {
        let read = readable.next_if(|read| read.event.position == event.position);
        // What is withheld is an operation.
        let admitted =
            read.map_or(progress.sealed && !progress.open, |read| progress.admits(&read.recorded));
        ensure(admitted, || {
            let at = event.position.0;
            let name = read.map_or("a withheld record", |read| read.recorded.name());
            format!(
                "the dealer's stream of the hand, position {at}: {name} comes too early or too late"
            )
        })?;
        if let Some(read) = read {
            progress.advance(&read.recorded);
        }
    }
    Ok(())
}
