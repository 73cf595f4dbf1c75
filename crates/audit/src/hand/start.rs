//! Check of what a hand began with: what the last one that was played had left, but for what the
//! table's stream says in between.
//!
//! Specification: fairness/SPEC.md §10.11.

use eventlog_core::Position;
use proto::event::v1 as pb;
use rules::TableSettings;
use wire::TableRecord;

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::exclusions;
use crate::hand::table_stream::{TableState, state_before};
use crate::report::{CheckError, ensure, failed, missing};

pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (at, opened) = decoded.opened()?;
    check_settings(decoded, opened)?;
    exclusions::check(decoded)?;
    check_counts_of_misses(decoded, at.position)?;
    let state = state_before(decoded, at.position)?;
    let pots = state.pots.ok_or_else(|| {
        missing("the end of the last hand that was played is not among the records")
    })?;
    ensure(pots == (opened.sabacc_pot, opened.carried_pot), || {
        format!(
            "the hand began with pots of {} and {}, the last one had left {} and {}",
            opened.sabacc_pot, opened.carried_pot, pots.0, pots.1
        )
    })?;
    opened.roster.iter().try_for_each(|seated| check_seat(&state, seated))?;
    check_button(&state, &opened.roster)?;
    check_misses(decoded, &state, opened)
}

/// Checks that rule set and settings are the table's own, where its first record is there, and
/// that the settings are within their bounds.
fn check_settings(decoded: &DecodedRecords<'_>, opened: &pb::HandOpened) -> Result<(), CheckError> {
    TableSettings::from_canonical(&opened.settings)
        .map_err(|error| failed(format!("the settings: {error}")))?;
    let created = decoded.table.iter().find_map(|read| {
        if let TableRecord::TableCreated(created) = &read.recorded { Some(created) } else { None }
    });
    let Some(created) = created else { return Ok(()) };
    let same = created.rule_set == opened.rule_set && created.settings == opened.settings;
    ensure(same, || "the hand has other rules or settings than its table".to_owned())
}

fn check_seat(state: &TableState, seated: &pb::RosterSeat) -> Result<(), CheckError> {
    let number = seated.seat;
    let Some(seat) = state.seats.get(&number) else {
        // Who sat out the last hand had taken the seat before the first of these records.
        return ensure(!state.is_complete, || format!("seat {number} is dealt in, and is free"));
    };
    ensure(seat.player[..] == seated.player_id[..], || {
        format!("seat {number} is dealt in with another player than sits there")
    })?;
    ensure(seat.house == seated.house, || {
        format!("seat {number} is the house's own or not, and is dealt in as the other")
    })?;
    ensure(seat.funded, || format!("seat {number} is dealt in, and its credits are not there"))?;
    ensure(seat.stack == seated.stack, || {
        let (left, began) = (seat.stack, seated.stack);
        format!("seat {number} began with {began} credits, and had {left}")
    })
}

/// Checks the order of the roster: the last has the button, which goes from seat to seat of those
/// dealt in; the first sits after it.
fn check_button(state: &TableState, roster: &[pb::RosterSeat]) -> Result<(), CheckError> {
    let mut seats: Vec<u32> = roster.iter().map(|seated| seated.seat).collect();
    let dealt = seats.clone();
    seats.sort_unstable();
    let next = |last: u32| seats.iter().copied().find(|seat| *seat > last);
    let button = state.button.and_then(next).or(seats.first().copied()).unwrap_or_default();
    let first = seats.iter().position(|seat| *seat > button).unwrap_or_default();
    seats.rotate_left(first);
    ensure(seats == dealt, || {
        format!("the seats are dealt in as {dealt:?}, and the button makes it {seats:?}")
    })
}

/// Checks that each end of a hand before this one has one number of missed clocks for each seat.
fn check_counts_of_misses(
    decoded: &DecodedRecords<'_>,
    before: Position,
) -> Result<(), CheckError> {
    for read in decoded.table.iter().take_while(|read| read.event.position < before) {
        let TableRecord::HandFinished(finished) = &read.recorded else { continue };
        ensure(finished.misses.len() == finished.seats.len(), || {
            format!("the end of hand {} has not one number of misses a seat", finished.hand_no)
        })?;
    }
    Ok(())
}

/// Checks that a hand which came to nothing leaves the count of missed clocks as it was.
fn check_misses(
    decoded: &DecodedRecords<'_>,
    state: &TableState,
    opened: &pb::HandOpened,
) -> Result<(), CheckError> {
    let Ok((_, finished)) = decoded.finished() else { return Ok(()) };
    if !decoded.is_aborted() {
        return Ok(());
    }
    let before = state.misses(&opened.roster);
    let same = before.len() == finished.misses.len()
        && before
            .iter()
            .zip(&finished.misses)
            .all(|(before, after)| before.is_none_or(|before| before == *after));
    ensure(same, || "the hand came to nothing, and clocks are counted as missed in it".to_owned())
}
