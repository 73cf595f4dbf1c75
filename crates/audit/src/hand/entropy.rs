//! Entropy that the seats revealed, and the seats that withheld what the closing says they had
//! committed to.
//!
//! Specification: fairness/SPEC.md §10.3.

use proto::common::v1::EntropyStatus;
use std::collections::BTreeMap;

use fairness::{ClientCommitment, Commitment, Context, Entropy};
use primitives::PlayerId;
use proto::dealer::v1::{ClosingRow, EntropyRow};
use proto::event::v1 as pb;
use wire::TableRecord;

use crate::hand::commitments::{BYTES_OF_A_ROW, array};
use crate::hand::decoded_records::DecodedRecords;
use crate::report::{CheckError, ensure, failed};

/// Recorded contributions of the seats, before they are bound to the seed.
pub(super) struct Contributions<'a> {
    /// Rows of the closing that the table recorded, by seat.
    closed: BTreeMap<u32, &'a ClosingRow>,
    /// Revealed entropy, by seat.
    revealed: BTreeMap<u32, &'a pb::EntropyRevealed>,
    /// Entropy that was opened after the hand had come to nothing, by seat.
    opened_late: BTreeMap<u32, &'a pb::EntropyRevealed>,
}

/// Returns the contributions in the table's log, and checks what was revealed.
pub(super) fn contributions<'a>(
    decoded: &'a DecodedRecords<'_>,
    context: &Context,
    promised: &Commitment,
) -> Result<Contributions<'a>, CheckError> {
    let rows = decoded.closed().ok().and_then(|(_, closed)| closed.closing.as_ref());
    let rows = rows.map(|closing| &closing.rows[..]).unwrap_or_default();
    let closed = rows.iter().map(|row| (row.seat, row)).collect();
    let mut brought =
        Contributions { closed, revealed: BTreeMap::new(), opened_late: BTreeMap::new() };
    let aborted = decoded.aborted().ok().map(|(at, _)| at.position);
    for read in &decoded.hand {
        if let TableRecord::EntropyRevealed(revealed) = &read.recorded {
            decoded.work.hashed(BYTES_OF_A_ROW);
            brought.check_reveal(revealed, context, promised)?;
            let is_late = aborted.is_some_and(|aborted| aborted < read.event.position);
            let list = if is_late { &mut brought.opened_late } else { &mut brought.revealed };
            list.insert(revealed.seat, revealed);
        }
    }
    Ok(brought)
}

fn check_opens(
    row: &ClosingRow,
    revealed: &pb::EntropyRevealed,
    context: &Context,
    promised: &Commitment,
) -> Result<(), CheckError> {
    let seat = row.seat;
    let number = u8::try_from(seat).map_err(|_| failed(format!("there is no seat {seat}")))?;
    let player = PlayerId(array("a player's id", &row.player_id)?);
    let entropy = Entropy(array("a seat's entropy", &revealed.entropy)?);
    let commitment = ClientCommitment(array("a seat's commitment", &row.commitment)?);
    let made = ClientCommitment::new(context, promised, number, player, &entropy);
    ensure(made.matches(&commitment), || {
        format!("what seat {seat} revealed does not open what it had committed to")
    })
}

impl Contributions<'_> {
    /// Checks that a reveal is its seat's only one, and opens what the closing has of it.
    fn check_reveal(
        &self,
        revealed: &pb::EntropyRevealed,
        context: &Context,
        promised: &Commitment,
    ) -> Result<(), CheckError> {
        let seat = revealed.seat;
        let row = self.closed.get(&seat).filter(|row| !row.commitment.is_empty());
        let row = row.ok_or_else(|| {
            failed(format!("seat {seat} revealed entropy that it had not committed to"))
        })?;
        check_opens(row, revealed, context, promised)?;
        let again = self.revealed.contains_key(&seat) || self.opened_late.contains_key(&seat);
        ensure(!again, || format!("seat {seat} revealed its entropy twice"))
    }

    /// Returns the seats whose numbers nobody has opened, ascending.
    pub(super) fn unopened_seats(&self) -> Vec<u32> {
        let mut seats = self.withheld_seats();
        seats.retain(|seat| !self.opened_late.contains_key(seat));
        seats
    }

    /// Returns the seats that committed and have not revealed, ascending.
    pub(super) fn withheld_seats(&self) -> Vec<u32> {
        let silent = |row: &&&ClosingRow| {
            !row.commitment.is_empty() && !self.revealed.contains_key(&row.seat)
        };
        self.closed.values().filter(silent).map(|row| row.seat).collect()
    }

    /// Returns a seat's row of the transcript that a hand which was never sealed would have had. A
    /// number that nobody has opened is withheld.
    pub(super) fn row(&self, seated: &pb::RosterSeat) -> EntropyRow {
        let given = self.closed.get(&seated.seat).filter(|row| !row.commitment.is_empty());
        let revealed = self.revealed.get(&seated.seat);
        let revealed = revealed.or_else(|| self.opened_late.get(&seated.seat));
        let status = match (given, revealed) {
            (Some(_), Some(_)) => EntropyStatus::Revealed,
            (Some(_), None) => EntropyStatus::Withheld,
            (None, _) => EntropyStatus::Absent,
        };
        EntropyRow {
            seat: seated.seat,
            player_id: seated.player_id.to_vec(),
            status: status.into(),
            commitment: given.map(|row| row.commitment.clone()).unwrap_or_default(),
            entropy: revealed.map(|it| it.entropy.to_vec()).unwrap_or_default(),
        }
    }

    /// Checks that the rows of a sealed hand are the closing's, each with what its seat revealed. No
    /// seat of a sealed hand has withheld.
    pub(super) fn check_rows(&self, rows: &[EntropyRow]) -> Result<(), CheckError> {
        let bound = rows.iter().map(|row| (row.seat, &row.player_id[..]));
        let closed = self.closed.values().map(|row| (row.seat, &row.player_id[..]));
        ensure(bound.eq(closed), || {
            "the contributions are not one of each seat of the closing".to_owned()
        })?;
        if let Some(seat) = self.withheld_seats().first() {
            return Err(failed(format!(
                "the hand was sealed, and seat {seat} had not revealed what it had committed to"
            )));
        }
        rows.iter().try_for_each(|row| self.check_row(row))
    }

    fn check_row(&self, row: &EntropyRow) -> Result<(), CheckError> {
        let EntropyRow { seat, player_id: _, status: _, commitment, entropy } = row;
        let closed = self.closed.get(seat).map(|row| &row.commitment[..]).unwrap_or_default();
        let same = match self.revealed.get(seat) {
            Some(revealed) => {
                row.status() == EntropyStatus::Revealed
                    && closed == &commitment[..]
                    && revealed.entropy == entropy[..]
            }
            None => row.status() == EntropyStatus::Absent,
        };
        ensure(same, || {
            format!("the hand was sealed with another part of seat {seat} than it brought")
        })
    }
}
