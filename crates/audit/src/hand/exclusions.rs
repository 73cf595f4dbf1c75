//! Check of the records of players who are not dealt in for a while, having withheld a number.
//!
//! An exclusion stands right behind the end of the number that it is for. Its k-th step lasts until
//! number h + 1 + 2^(k-1) and 30 s · 2^(k-1) after the burnt number h. Steps go up by one; twenty
//! numbers revealed in take one back.
//!
//! Specification: fairness/SPEC.md §3.6, §10.11.

use std::collections::BTreeMap;
use std::time::Duration;

use eventlog_core::Event;
use primitives::UnixMicros;
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::hand::CLOCK_SKEW;
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::table_stream::EXCLUDED;
use crate::report::{CheckError, ensure, failed};

/// Least time of the first step.
const FIRST_TIME: Duration = Duration::from_secs(30);
/// Longest time from the burn of a number to the record.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);
/// Largest step: its time is two thousand years.
const MAX_STEP: u32 = 32;
/// Numbers revealed in that take one step back.
const REVEALED_FOR_A_STEP: u64 = 20;

/// Checks every exclusion in the table's stream, and that nobody is dealt in before its time.
pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (at, opened) = decoded.opened()?;
    let mut seen = Seen::default();
    let mut readable = decoded.table.iter().peekable();
    for event in &decoded.records.table {
        match readable.next_if(|read| read.event.position == event.position) {
            Some(read) => seen.take(read.event, &read.recorded)?,
            None => seen.ended = None,
        }
    }
    seen.check_dealt_in(&opened.roster, at.recorded_at)
}

/// State of the stream so far.
#[derive(Default)]
struct Seen<'a> {
    started_at: Option<UnixMicros>,
    /// The end that the next record may exclude seats for.
    ended: Option<&'a pb::HandFinished>,
    /// The last exclusion of each player.
    last: BTreeMap<&'a [u8], &'a pb::SeatExcluded>,
}

impl<'a> Seen<'a> {
    fn take(&mut self, event: &Event, recorded: &'a TableRecord) -> Result<(), CheckError> {
        if let TableRecord::SeatExcluded(excluded) = recorded {
            return self.take_exclusion(event, excluded);
        }
        if let TableRecord::HandFinished(finished) = recorded {
            if let (true, Some(started_at)) = (finished.aborted, self.started_at) {
                self.check_dealt_in(&finished.seats, started_at)?;
            }
            (self.started_at, self.ended) = (None, Some(finished).filter(|it| it.aborted));
            return Ok(());
        }
        if let TableRecord::HandStarted(_) = recorded {
            self.started_at = Some(event.recorded_at);
        }
        let follows = matches!(recorded, TableRecord::SitOutChanged(it) if it.why == EXCLUDED);
        self.ended = self.ended.filter(|_| follows);
        Ok(())
    }

    /// Checks that exclusions of the players dealt in were over.
    fn check_dealt_in(&self, roster: &[pb::RosterSeat], at: UnixMicros) -> Result<(), CheckError> {
        roster.iter().try_for_each(|place| {
            let before = self.last.get(&place.player_id[..]);
            ensure(before.is_none_or(|before| at.0 >= before.until_micros), || {
                format!("seat {} is dealt in before its exclusion was over", place.seat)
            })
        })
    }

    fn take_exclusion(
        &mut self,
        event: &Event,
        excluded: &'a pb::SeatExcluded,
    ) -> Result<(), CheckError> {
        let checked = self.check_number(excluded).and_then(|()| {
            check_extent(event.recorded_at, excluded)?;
            self.check_step(excluded)
        });
        checked.map_err(|why| {
            let (at, seat) = (event.position.0, excluded.seat);
            failed(format!("the table's log, position {at}: the exclusion of seat {seat} {why}"))
        })?;
        self.last.insert(&excluded.player_id, excluded);
        Ok(())
    }

    /// Checks that it is for the number that has just come to nothing, and for a player of it.
    fn check_number(&self, excluded: &pb::SeatExcluded) -> Result<(), String> {
        let ended = self.ended.filter(|it| it.hand_no == excluded.burnt_hand_no);
        let ended = ended.ok_or("does not stand behind the number that it is for")?;
        let who = (excluded.seat, &excluded.player_id);
        let is_there = ended.seats.iter().any(|place| (place.seat, &place.player_id) == who);
        if is_there { Ok(()) } else { Err("is for a number that its player was not in".to_owned()) }
    }

    /// Checks that the step follows the one before.
    fn check_step(&self, excluded: &pb::SeatExcluded) -> Result<(), String> {
        let Some(before) = self.last.get(&excluded.player_id[..]) else { return Ok(()) };
        let passed = excluded.burnt_hand_no.checked_sub(before.burnt_hand_no);
        let between = passed.and_then(|passed| passed.checked_sub(1));
        let between = between.ok_or("is the second for one number")?;
        let back = u64::from(before.step).saturating_sub(between / REVEALED_FOR_A_STEP);
        let (step, most) = (u64::from(excluded.step), u64::from(before.step) + 1);
        if back < step && step <= most { Ok(()) } else { Err(format!("is of step {step}")) }
    }
}

/// Checks the number and the time until which an exclusion lasts.
fn check_extent(at: UnixMicros, excluded: &pb::SeatExcluded) -> Result<(), String> {
    let pb::SeatExcluded { step, until_hand_no, until_micros, burnt_hand_no, .. } = excluded;
    if !(1..=MAX_STEP).contains(step) {
        return Err(format!("is of step {step}"));
    }
    let missed = 1_u32 << (step - 1);
    let until_no = burnt_hand_no.checked_add(1 + u64::from(missed));
    if until_no != Some(*until_hand_no) {
        return Err("is for another number of hands than its step".to_owned());
    }
    let (until, span) = (UnixMicros(*until_micros), FIRST_TIME * missed);
    let in_time =
        until.plus(WRITTEN_WITHIN) >= at.plus(span) && until <= at.plus(span).plus(CLOCK_SKEW);
    if in_time { Ok(()) } else { Err("is for another time than its step".to_owned()) }
}
