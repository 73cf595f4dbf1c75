//! Check of the table's stream around a hand: where it begins and ends, and that every number since
//! the last hand that was played is in it, once started and once ended.
//!
//! Specification: fairness/SPEC.md §10.1.

use wire::records::{Record as _, TableRecord, TableSubject};

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::hand::hand_id;
use crate::report::{CheckError, ensure, failed, missing};

/// Numbers of hands in the table's stream so far.
#[derive(Default)]
struct Numbers {
    /// The hand that ended last, and whether it was played.
    ended: Option<(u64, bool)>,
    /// A hand that was played to its end is among the records.
    has_played: bool,
    /// The hand in play.
    started: Option<u64>,
}

pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    let Some(first) = decoded.records.table.first() else {
        return Err(missing("the table's stream was not given"));
    };
    let whole = first.version.0 == 1;
    let mut numbers = Numbers::default();
    if whole {
        numbers.ended = Some((0, false));
    }
    for read in &decoded.table {
        check_subject(read)?;
        check_placed(decoded, read)?;
        numbers.take(read, opened.hand_no)?;
    }
    check_beginning(decoded, whole, numbers.has_played)?;
    let over = numbers.ended.is_some_and(|(number, _)| number == opened.hand_no);
    let read = decoded.table.last().map(|read| read.event.position);
    let behind = decoded.records.table.iter().rev().find(|event| Some(event.position) > read);
    ensure(!over || behind.is_none(), || {
        let at = behind.map_or(0, |event| event.position.0);
        format!("the table's log, position {at}: a record behind the end of the hand")
    })?;
    ensure(over || numbers.started == Some(opened.hand_no), || {
        format!("the start of hand {} is not in the table's stream", opened.hand_no)
    })
}

impl Numbers {
    /// Takes the next record. Hands come one after the other without a gap, and this one last.
    fn take(&mut self, read: &DecodedEvent<'_, TableRecord>, last: u64) -> Result<(), CheckError> {
        let at = read.event.position.0;
        let wrong = |number: u64, what: &str| {
            failed(format!("the table's log, position {at}: hand {number} {what} out of order"))
        };
        ensure(self.ended.is_none_or(|(ended, _)| ended != last), || {
            format!("the table's log, position {at}: a record behind the end of the hand")
        })?;
        if let TableRecord::HandStarted(it) = &read.recorded {
            let follows =
                self.ended.is_some_and(|(ended, _)| ended.checked_add(1) == Some(it.hand_no));
            if self.started.is_some() || !follows || it.hand_no > last {
                return Err(wrong(it.hand_no, "starts"));
            }
            self.started = Some(it.hand_no);
        } else if let TableRecord::HandFinished(it) = &read.recorded {
            // The first end may be that of a hand that had started before these records.
            let first = self.ended.is_none() && self.started.is_none();
            if self.started != Some(it.hand_no) && !(first && it.hand_no < last) {
                return Err(wrong(it.hand_no, "ends"));
            }
            self.started = None;
            self.has_played |= !it.aborted && it.hand_no < last;
            self.ended = Some((it.hand_no, !it.aborted));
        }
        Ok(())
    }
}

/// Checks that the records begin where nothing can have been left out before them.
fn check_beginning(
    decoded: &DecodedRecords<'_>,
    whole: bool,
    has_played: bool,
) -> Result<(), CheckError> {
    if whole {
        return Ok(());
    }
    let (_, opened) = decoded.opened()?;
    let begins = decoded.table.first().is_some_and(|first| {
        let place = decoded.records.table.first().map(|event| event.position);
        let committed = matches!(&first.recorded, TableRecord::HandCommitted(it) if it.hand_no == opened.hand_no);
        let ended = matches!(&first.recorded, TableRecord::HandFinished(it) if !it.aborted && it.hand_no < opened.hand_no);
        place == Some(first.event.position) && (committed || ended)
    });
    ensure(begins && has_played, || {
        "the table's stream does not begin with the end of the last hand that was played, nor with \
         the commitment to this one before it"
            .to_owned()
    })
}

/// Checks that the record is one of a table or a seat.
fn check_subject(read: &DecodedEvent<'_, TableRecord>) -> Result<(), CheckError> {
    match read.recorded.subject() {
        TableSubject::Table(_) | TableSubject::Seat(_) => Ok(()),
        TableSubject::Hand(_)
        | TableSubject::Play(_)
        | TableSubject::Person(_)
        | TableSubject::Room(_)
        | TableSubject::Clock(_) => Err(failed(format!(
            "the table's log, position {}: {} does not belong in a table's stream",
            read.event.position.0,
            read.recorded.name()
        ))),
    }
}

/// Checks that the start and the end of hands name their ids, and that this hand's stand around its
/// own stream.
fn check_placed(
    decoded: &DecodedRecords<'_>,
    read: &DecodedEvent<'_, TableRecord>,
) -> Result<(), CheckError> {
    let (opened_at, opened) = decoded.opened()?;
    let at = read.event.position;
    let (number, id, placed) = if let TableRecord::HandStarted(it) = &read.recorded {
        (it.hand_no, &it.hand_id, it.hand_no != opened.hand_no || at < opened_at.position)
    } else if let TableRecord::HandFinished(it) = &read.recorded {
        // It is written in one batch with the hand's end, before it or after it.
        let settled = decoded.settled().map(|(at, _)| at);
        let end = settled.or_else(|_| decoded.aborted().map(|(at, _)| at));
        let over = end.is_ok_and(|end| end.recorded_at <= read.event.recorded_at);
        (it.hand_no, &it.hand_id, it.hand_no != opened.hand_no || over)
    } else {
        return Ok(());
    };
    let named = hand_id(decoded.table_id()?, number).0[..] == id[..];
    ensure(named && placed, || {
        format!("the table's log, position {}: hand {number} has another id or place", at.0)
    })
}
