//! Check of the reason for which a hand came to nothing. There are three: seats withheld, all live
//! players agreed, the hand was suspended for too long.
//!
//! Whether all live players agreed is judged where the hand is replayed.
//!
//! Specification: fairness/SPEC.md §10.9.

use proto::common::v1::{AbortCause, AtFault};

use eventlog_core::Event;
use primitives::UnixMicros;
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::entropy::Contributions;
use crate::report::{CheckError, ensure, failed};

/// Checks that the recorded cause justifies the abort of the hand, if it was aborted.
pub(super) fn check(
    decoded: &DecodedRecords<'_>,
    brought: &Contributions<'_>,
) -> Result<(), CheckError> {
    if !decoded.is_aborted() {
        return Ok(());
    }
    let (at, aborted) = decoded.aborted()?;
    let fault = match aborted.cause() {
        AbortCause::Unspecified => {
            return Err(failed("the hand came to nothing, and no cause is on record"));
        }
        AbortCause::Withheld => AtFault::Seat,
        AbortCause::Agreed | AbortCause::Suspended => AtFault::Dealer,
    };
    ensure(aborted.at_fault() == fault, || {
        "the hand came to nothing, and another is named at fault than its cause has".to_owned()
    })?;
    match aborted.cause() {
        AbortCause::Unspecified => Ok(()),
        AbortCause::Withheld => check_burnt(decoded, brought, at, aborted),
        AbortCause::Agreed => {
            suspension(decoded, aborted)?;
            ensure(decoded.sealed().is_ok(), || {
                "a hand that was never sealed was ended by agreement".to_owned()
            })
        }
        AbortCause::Suspended => check_suspended(decoded, at, aborted),
    }
}

/// Checks that a burnt number names the silent seats, and not before their time to reveal was over.
fn check_burnt(
    decoded: &DecodedRecords<'_>,
    brought: &Contributions<'_>,
    at: &Event,
    aborted: &pb::HandAborted,
) -> Result<(), CheckError> {
    let (seats, silent) = (&aborted.seats, brought.withheld_seats());
    ensure(!silent.is_empty() && *seats == silent, || {
        format!(
            "the hand was burnt for seats {seats:?}, and {silent:?} are those that withheld what \
             they had committed to"
        )
    })?;
    ensure(decoded.sealed().is_err(), || {
        "the hand was burnt after everybody's entropy was bound".to_owned()
    })?;
    let (closed_at, _) = decoded.closed()?;
    let window = decoded.settings()?.reveal_window();
    let (burnt, until) = (at.recorded_at, closed_at.recorded_at.plus(window));
    ensure(burnt >= until, || {
        format!("the hand was burnt at {burnt}, and seats had until {until} to reveal")
    })
}

/// Checks that the hand was suspended until its time was over, or before the antes, and somebody of
/// it had left or sat out.
fn check_suspended(
    decoded: &DecodedRecords<'_>,
    at: &Event,
    aborted: &pb::HandAborted,
) -> Result<(), CheckError> {
    let until = suspension(decoded, aborted)?;
    let over = at.recorded_at >= until;
    ensure(over || (decoded.sealed().is_err() && has_left(decoded, at)?), || {
        let at = at.recorded_at;
        format!("the suspended hand was ended at {at}, and had until {until}")
    })
}

/// Returns until when the hand is suspended at the time of its abort.
fn suspension(
    decoded: &DecodedRecords<'_>,
    aborted: &pb::HandAborted,
) -> Result<UnixMicros, CheckError> {
    ensure(aborted.seats.is_empty(), || "the dealer is at fault, and seats are named".to_owned())?;
    let suspended = decoded.suspended();
    suspended
        .map(|(_, suspended)| UnixMicros(suspended.until_micros))
        .ok_or_else(|| failed("the hand was ended as a suspended one, and it was not suspended"))
}

/// Whether somebody of the hand had left or sat out between its opening and its abort.
fn has_left(decoded: &DecodedRecords<'_>, aborted_at: &Event) -> Result<bool, CheckError> {
    let (opened_at, opened) = decoded.opened()?;
    let during =
        |event: &Event| opened_at.position < event.position && event.position < aborted_at.position;
    let leaves = |recorded: &TableRecord| {
        if let TableRecord::LeaveAsked(asked) = recorded {
            return Some(asked.seat);
        }
        let TableRecord::SitOutChanged(changed) = recorded else { return None };
        changed.sitting_out.then_some(changed.seat)
    };
    let mut left = decoded.table.iter().filter(|read| during(read.event));
    Ok(left.any(|read| {
        let seat = leaves(&read.recorded);
        seat.is_some_and(|seat| opened.roster.iter().any(|place| place.seat == seat))
    }))
}
