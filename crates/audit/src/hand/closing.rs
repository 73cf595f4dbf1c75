//! Check of the closing: what the seats had committed to, all of it, signed by the dealer before
//! anybody revealed, and not before its time.
//!
//! A seat commits in the table's stream, once for a player in a hand. The dealer signs what all
//! seats of the roster have committed to, and the table notes the same. Windows are judged by the
//! times of the table's log alone.
//!
//! Specification: fairness/SPEC.md §10.7.

use std::collections::{BTreeMap, BTreeSet};

use eventlog_core::Event;
use fairness::{
    ClientCommitment, Closing, ClosingRow, ClosingStatement, Commitment, Context, SignedText as _,
};
use primitives::{PlayerId, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord};

use crate::hand::CLOCK_SKEW;
use crate::hand::commitments::{BYTES_OF_A_ROW, array, dealer_key, parse_commitment};
use crate::hand::decoded_records::DecodedRecords;
use crate::report::{CheckError, ensure, failed};

/// Commitments of the players dealt in, each in their own seat, with their records.
pub(super) type CountedCommitments<'a> = BTreeMap<u32, (&'a Event, &'a pb::EntropyCommitted)>;

pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    check_once(decoded)?;
    let counted = counted_commitments(decoded);
    let Ok((closed_at, closed)) = decoded.closed() else {
        // A number that was burnt before its closing.
        return if decoded.is_aborted() { Ok(()) } else { decoded.closed().map(|_| ()) };
    };
    let (signed_at, closing) = dealer_closing(decoded)?;
    ensure(closed.closing.as_ref() == Some(closing), || {
        "the table recorded another closing than the dealer signed".to_owned()
    })?;
    check_rows(opened, closing, &counted)?;
    check_signature(decoded, signed_at, closing)?;
    check_order(decoded, closed_at, signed_at, &counted)?;
    check_window(decoded, opened, closed_at, &counted)
}

/// Returns the commitments of the roster's players, of each the first.
pub(super) fn counted_commitments<'a>(decoded: &'a DecodedRecords<'_>) -> CountedCommitments<'a> {
    let mut counted = BTreeMap::new();
    let Ok((_, opened)) = decoded.opened() else { return counted };
    for (event, given) in commitments(decoded, opened.hand_no) {
        let dealt_in =
            |it: &pb::RosterSeat| it.seat == given.seat && it.player_id == given.player_id;
        if opened.roster.iter().any(dealt_in) {
            counted.entry(given.seat).or_insert((event, given));
        }
    }
    counted
}

/// Returns every commitment to this hand number, in order.
fn commitments<'a>(
    decoded: &'a DecodedRecords<'_>,
    hand_no: u64,
) -> impl Iterator<Item = (&'a Event, &'a pb::EntropyCommitted)> {
    decoded.table.iter().filter_map(move |read| {
        let TableRecord::EntropyCommitted(given) = &read.recorded else { return None };
        (given.hand_no == hand_no).then_some((read.event, given))
    })
}

/// Checks that no player has committed twice in one seat.
fn check_once(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let mut seen = BTreeSet::new();
    for (_, given) in commitments(decoded, decoded.hand_no()?) {
        ensure(seen.insert((given.seat, &given.player_id)), || {
            format!("seat {} committed to entropy twice", given.seat)
        })?;
    }
    Ok(())
}

/// Returns the dealer's closing, the only one.
pub(super) fn dealer_closing<'a>(
    decoded: &'a DecodedRecords<'_>,
) -> Result<(&'a Event, &'a dealer::Closing), CheckError> {
    let closings = || {
        let is = |read: &&_| matches!(record(read), DealerRecord::CommitmentsClosed(_));
        decoded.dealer.iter().filter(is)
    };
    ensure(closings().count() <= 1, || "the dealer signed a second closing".to_owned())?;
    let (at, closed) = decoded.dealer_closed().map_err(|_| {
        failed("the closing that the table recorded is not in the dealer's log".to_owned())
    })?;
    let closing = closed.closing.as_ref();
    Ok((at, closing.ok_or_else(|| failed("the dealer's closing has no content"))?))
}

fn record<'a>(
    read: &'a crate::hand::decoded_records::DecodedEvent<'_, DealerRecord>,
) -> &'a DealerRecord {
    &read.recorded
}

/// Checks that the rows are the roster's seats, each with what its player had committed to.
fn check_rows(
    opened: &pb::HandOpened,
    closing: &dealer::Closing,
    counted: &CountedCommitments<'_>,
) -> Result<(), CheckError> {
    let mut roster: Vec<(u32, &[u8])> =
        opened.roster.iter().map(|seat| (seat.seat, &seat.player_id[..])).collect();
    roster.sort_unstable();
    let rows = closing.rows.iter().map(|row| (row.seat, &row.player_id[..]));
    ensure(rows.eq(roster), || {
        "the closing does not have one row for each player dealt in, by seat".to_owned()
    })?;
    for row in &closing.rows {
        let given = counted.get(&row.seat).map(|(_, given)| &given.commitment[..]);
        ensure(row.commitment == given.unwrap_or_default(), || {
            let seat = row.seat;
            match (given, row.commitment.is_empty()) {
                (Some(_), true) => format!("the closing leaves out what seat {seat} committed to"),
                (Some(_), false) => {
                    format!("the closing has something else than what seat {seat} committed to")
                }
                (None, _) => format!("the closing has a commitment that seat {seat} never made"),
            }
        })?;
    }
    Ok(())
}

fn check_signature(
    decoded: &DecodedRecords<'_>,
    signed_at: &Event,
    closing: &dealer::Closing,
) -> Result<(), CheckError> {
    let (_, committed) = decoded.committed()?;
    let parsed = parse_commitment(committed)?;
    decoded.work.hashed(BYTES_OF_A_ROW * (1 + closing.rows.len()));
    let made = made_closing(&parsed.context, &parsed.commitment, &closing.rows)?;
    ensure(made.0[..] == closing.closing[..], || {
        "the hash of the closing is not that of its rows".to_owned()
    })?;
    let key = dealer_key(decoded, &closing.key_id, signed_at.position.0)?;
    let signed =
        ClosingStatement { context: &parsed.context, dealer: &parsed.commitment, closing: &made };
    let signature = array("the signature of the closing", &closing.signature)?;
    decoded.work.signed(BYTES_OF_A_ROW);
    signed.verify(&key, &signature).map_err(|error| failed(format!("the closing: {error}")))
}

fn made_closing(
    context: &Context,
    commitment: &Commitment,
    rows: &[dealer::ClosingRow],
) -> Result<Closing, CheckError> {
    let rows = rows.iter().map(parse_row).collect::<Result<Vec<_>, _>>()?;
    Closing::try_new(context, commitment, &rows).map_err(|error| failed(error.to_string()))
}

fn parse_row(row: &dealer::ClosingRow) -> Result<ClosingRow, CheckError> {
    let dealer::ClosingRow { seat, player_id, commitment } = row;
    let number = u8::try_from(*seat).map_err(|_| failed(format!("there is no seat {seat}")))?;
    let given = if commitment.is_empty() {
        None
    } else {
        Some(ClientCommitment(array("a seat's commitment", commitment)?))
    };
    let player = PlayerId(array("a player's id", player_id)?);
    Ok(ClosingRow { seat: number, player, commitment: given })
}

/// Checks that all commitments of the hand stand before the closing in the table's log, and that
/// the dealer signed after them and before the table's record.
fn check_order(
    decoded: &DecodedRecords<'_>,
    closed_at: &Event,
    signed_at: &Event,
    counted: &CountedCommitments<'_>,
) -> Result<(), CheckError> {
    for (event, given) in commitments(decoded, decoded.hand_no()?) {
        ensure(event.position < closed_at.position, || {
            format!("seat {} committed after the commitments were closed", given.seat)
        })?;
    }
    let (signed, closed) = (signed_at.recorded_at, closed_at.recorded_at);
    ensure(signed <= closed.plus(CLOCK_SKEW), || {
        format!("the dealer signed the closing at {signed}, the table had closed at {closed}")
    })?;
    let last = counted.values().map(|(at, _)| at.recorded_at).max().unwrap_or_default();
    ensure(last <= signed.plus(CLOCK_SKEW), || {
        format!("the dealer signed the closing at {signed}, a seat committed at {last} only")
    })
}

/// Checks that the seats had their time to commit, and that enough of them did.
fn check_window(
    decoded: &DecodedRecords<'_>,
    opened: &pb::HandOpened,
    closed_at: &Event,
    counted: &CountedCommitments<'_>,
) -> Result<(), CheckError> {
    let settings = decoded.settings()?;
    let needed = usize::try_from(settings.contributors_min).unwrap_or(usize::MAX);
    ensure(counted.len() >= needed, || {
        let had = counted.len();
        format!("commitments were closed with {had} of at least {needed} numbers")
    })?;
    if counted.len() == opened.roster.len() {
        return Ok(());
    }
    let since = window_start(decoded, opened)?;
    let until = since.plus(settings.commit_window());
    ensure(closed_at.recorded_at >= until, || {
        let at = closed_at.recorded_at;
        format!("the commitments were closed at {at}, and seats had until {until}")
    })
}

/// Returns the time from which seats could commit: that of the dealer's commitment on the table's
/// record, or of the last seat taken by a player of the roster.
fn window_start(
    decoded: &DecodedRecords<'_>,
    opened: &pb::HandOpened,
) -> Result<UnixMicros, CheckError> {
    let (noted_at, _) = decoded.noted()?;
    let taken = decoded.table.iter().filter_map(|read| {
        let TableRecord::SeatTaken(taken) = &read.recorded else { return None };
        let sits = |it: &pb::RosterSeat| it.seat == taken.seat && it.player_id == taken.player_id;
        opened.roster.iter().any(sits).then_some(read.event.recorded_at)
    });
    Ok(taken.chain([noted_at.recorded_at]).max().unwrap_or(noted_at.recorded_at))
}
