//! Check of the times of a suspended hand: the part of the check of clocks that needs no replay.
//!
//! Specification: fairness/SPEC.md §10.10.

use std::time::Duration;

use primitives::UnixMicros;
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::hand::CLOCK_SKEW;
use crate::hand::decoded_records::DecodedRecords;
use crate::report::{CheckError, ensure};

/// Silence of the dealer after which a hand is suspended.
const SILENCE: Duration = Duration::from_secs(10);

/// Checks that each suspension began after a silence and ends in time, and that before the seal no
/// decision is due when the hand goes on.
pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let sealed = decoded.sealed().ok().map(|(at, _)| at.position);
    for read in &decoded.hand {
        let at = read.event;
        if let TableRecord::HandSuspended(suspended) = &read.recorded {
            check_suspended(decoded, suspended, at.recorded_at)?;
        } else if let TableRecord::HandContinued(continued) = &read.recorded {
            let is_sealed = sealed.is_some_and(|sealed| sealed <= at.position);
            ensure(is_sealed || continued.deadline_micros == 0, || {
                "the hand goes on before its antes with a deadline for a decision".to_owned()
            })?;
        }
    }
    Ok(())
}

fn check_suspended(
    decoded: &DecodedRecords<'_>,
    suspended: &pb::HandSuspended,
    at: UnixMicros,
) -> Result<(), CheckError> {
    let pb::HandSuspended { since_micros, until_micros } = suspended;
    let (since, until) = (UnixMicros(*since_micros), UnixMicros(*until_micros));
    ensure(since.plus(SILENCE) <= at, || {
        format!("the hand was suspended at {at}, and the dealer was asked at {since} only")
    })?;
    let settings = decoded.settings()?;
    let (hours, span) = (settings.suspend_hours, settings.suspension_limit());
    ensure(since.plus(span) <= until && until <= at.plus(span).plus(CLOCK_SKEW), || {
        format!("the hand is suspended at {at} until {until}, and not for {hours} hours")
    })
}
