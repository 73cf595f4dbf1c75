//! Entropy that the seats contributed to chance, and the seats that withheld what they had
//! committed to.
//!
//! A seat commits in the table's stream, once for a hand. The hand's stream closes the commitments
//! and names the seats that have made one; those reveal. All of it is in one log, so that order is
//! the order of positions, and a deadline is compared with the times of that log's own clock.
//!
//! Specification: fairness/SPEC.md §10.3.

use std::collections::{BTreeMap, BTreeSet};

use eventlog_core::Event;
use fairness::{ClientCommitment, Commitment, Context, Entropy};
use primitives::{PlayerId, UnixMicros};
use proto::dealer::v1::{EntropyRow, EntropyStatus};
use proto::event::v1::{self as pb, AtFault};
use wire::TableRecord;

use crate::hand::commitments::array;
use crate::hand::decoded_records::DecodedRecords;
use crate::report::{CheckError, ensure, failed};

/// Recorded contributions of the seats, before they are bound to the seed.
pub(super) struct Contributions<'a> {
    /// Commitments in time, by seat of the roster.
    committed: BTreeMap<u32, &'a pb::EntropyCommitted>,
    /// Revealed entropy, by seat.
    revealed: BTreeMap<u32, &'a pb::EntropyRevealed>,
    closed: Option<(&'a Event, &'a pb::EntropyClosed)>,
}

/// Returns the contributions in the table's log, and checks the order and time of each step.
pub(super) fn contributions<'a>(
    case: &'a DecodedRecords<'_>,
    context: &Context,
    promised: &Commitment,
) -> Result<Contributions<'a>, CheckError> {
    let (_, opened) = case.opened()?;
    let mut brought =
        Contributions { committed: BTreeMap::new(), revealed: BTreeMap::new(), closed: None };
    let all = commitments(case)?;
    if !case.has_entropy() {
        return Err(failed("the table gave the seats no part in the chance of this hand"));
    }
    let Ok(closed) = case.closed() else { return Ok(brought) };
    brought.closed = Some(closed);
    let (closed_at, closed) = closed;
    for (seat, (at, given)) in &all {
        let player = opened.roster.iter().find(|place| place.seat == *seat);
        ensure(at.position < closed_at.position, || {
            format!("seat {seat} committed after the commitments were closed")
        })?;
        if player.is_some_and(|place| place.player_id == given.player_id) {
            brought.committed.insert(*seat, given);
        }
    }
    ensure(closed.seats.iter().eq(brought.committed.keys()), || {
        let seats: Vec<u32> = brought.committed.keys().copied().collect();
        format!("the table closed with the commitments of seats {:?}, not {seats:?}", closed.seats)
    })?;
    let deadline = UnixMicros(opened.entropy_deadline_micros);
    let everybody = brought.committed.len() == opened.roster.len();
    ensure(everybody || closed_at.recorded_at >= deadline, || {
        let at = closed_at.recorded_at;
        format!("the commitments were closed at {at}, and seats had until {deadline}")
    })?;
    for read in &case.hand {
        if let TableRecord::EntropyRevealed(revealed) = &read.recorded {
            let seat = revealed.seat;
            let given = brought.committed.get(&seat);
            let given = given.ok_or_else(|| {
                failed(format!("seat {seat} revealed entropy that it had not committed to"))
            })?;
            check_opens(given, revealed, context, promised)?;
            ensure(brought.revealed.insert(seat, revealed).is_none(), || {
                format!("seat {seat} revealed its entropy twice")
            })?;
        }
    }
    Ok(brought)
}

/// Returns every commitment made for this hand with its event, by seat. Each seat has at most one.
fn commitments<'a>(
    case: &'a DecodedRecords<'_>,
) -> Result<BTreeMap<u32, (&'a Event, &'a pb::EntropyCommitted)>, CheckError> {
    let mut all = BTreeMap::new();
    for read in &case.table {
        if let TableRecord::EntropyCommitted(given) = &read.recorded {
            let seat = given.seat;
            ensure(all.insert(seat, (read.event, given)).is_none(), || {
                format!("seat {seat} committed to entropy twice")
            })?;
        }
    }
    Ok(all)
}

fn check_opens(
    given: &pb::EntropyCommitted,
    revealed: &pb::EntropyRevealed,
    context: &Context,
    promised: &Commitment,
) -> Result<(), CheckError> {
    let seat = given.seat;
    let number = u8::try_from(seat).map_err(|_| failed(format!("there is no seat {seat}")))?;
    let player = PlayerId(array("a player's id", &given.player_id)?);
    let entropy = Entropy(array("a seat's entropy", &revealed.entropy)?);
    let commitment = ClientCommitment(array("a seat's commitment", &given.commitment)?);
    let made = ClientCommitment::new(context, promised, number, player, &entropy);
    ensure(made.matches(&commitment), || {
        format!("what seat {seat} revealed does not open what it had committed to")
    })
}

impl Contributions<'_> {
    /// Returns the seats that committed and have not revealed, ascending.
    fn withheld_seats(&self) -> Vec<u32> {
        let mut seats = self.committed.keys().copied().collect::<BTreeSet<_>>();
        seats.retain(|seat| !self.revealed.contains_key(seat));
        seats.into_iter().collect()
    }

    /// Returns a seat's row of the transcript. A seat that has committed and not revealed has
    /// withheld.
    pub(super) fn row(&self, place: &pb::RosterSeat) -> EntropyRow {
        let (given, revealed) = (self.committed.get(&place.seat), self.revealed.get(&place.seat));
        let status = match (given, revealed) {
            (Some(_), Some(_)) => EntropyStatus::Revealed,
            (Some(_), None) => EntropyStatus::Withheld,
            (None, _) => EntropyStatus::Absent,
        };
        EntropyRow {
            seat: place.seat,
            player_id: place.player_id.to_vec(),
            status: status.into(),
            commitment: given.map(|it| it.commitment.to_vec()).unwrap_or_default(),
            entropy: revealed.map(|it| it.entropy.to_vec()).unwrap_or_default(),
        }
    }

    /// Checks that a row of a sealed hand is what its seat contributed. No seat of a sealed hand
    /// has withheld.
    pub(super) fn check_row(&self, row: &EntropyRow) -> Result<(), CheckError> {
        let EntropyRow { seat, player_id: _, status: _, commitment, entropy } = row;
        let same = match (self.committed.get(seat), self.revealed.get(seat)) {
            (Some(given), Some(revealed)) => {
                row.status() == EntropyStatus::Revealed
                    && given.commitment == commitment[..]
                    && revealed.entropy == entropy[..]
            }
            (Some(_), None) => {
                return Err(failed(format!(
                    "the hand was sealed, and seat {seat} had not revealed what it had committed to"
                )));
            }
            (None, _) => row.status() == EntropyStatus::Absent,
        };
        ensure(same, || {
            format!("the hand was sealed with another part of seat {seat} than it brought")
        })
    }

    /// Checks that the recorded reason justifies the abort of the hand.
    pub(super) fn check_abort_reason(
        &self,
        decoded: &DecodedRecords<'_>,
    ) -> Result<(), CheckError> {
        let Ok((at, aborted)) = decoded.aborted() else { return Ok(()) };
        let pb::HandAborted { at_fault: _, seats, evidence: _ } = aborted;
        match aborted.at_fault() {
            AtFault::Unspecified => Err(failed("the hand was aborted, and nobody is at fault")),
            AtFault::Dealer | AtFault::Operator => ensure(seats.is_empty(), || {
                "the hand was aborted for two faults at once".to_owned()
            }),
            AtFault::Seat => {
                let silent = self.withheld_seats();
                ensure(!silent.is_empty() && *seats == silent, || {
                    format!(
                        "the hand was burnt for seats {seats:?}, and {silent:?} are those that \
                         withheld what they had committed to"
                    )
                })?;
                ensure(decoded.sealed().is_err(), || {
                    "the hand was burnt after everybody's entropy was bound".to_owned()
                })?;
                let until = self.closed.map(|(_, closed)| UnixMicros(closed.deadline_micros));
                let until = until.unwrap_or(UnixMicros(u64::MAX));
                ensure(at.recorded_at >= until, || {
                    let at = at.recorded_at;
                    format!("the hand was burnt at {at}, and seats had until {until} to reveal")
                })
            }
        }
    }
}
