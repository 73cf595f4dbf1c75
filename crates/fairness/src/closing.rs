//! The commitments that a hand is made of, fixed by the dealer's signature before anybody reveals.
//!
//! There is a row for each seat dealt in, ascending, whether it committed or not: nobody can be
//! added, left out or changed after any client has revealed.
//!
//! Specification: fairness/SPEC.md §5.8.

use primitives::PlayerId;

use crate::commit::{ClientCommitment, Commitment};
use crate::context::Context;
use crate::encoding::hash;

/// Commitment of one seat of the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosingRow {
    pub seat: u8,
    pub player: PlayerId,
    /// Absent if the seat never committed: 0 and 32 zeros stand in its place then.
    pub commitment: Option<ClientCommitment>,
}

/// H("closing", context, dealer's commitment, number of rows, rows…).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closing(pub [u8; 32]);

/// Reason why rows make no closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClosingError {
    #[error("a closing has at least one row")]
    Empty,
    #[error("seat {seat} does not come after the one before it: give each seat once, ascending")]
    SeatsNotAscending { seat: u8 },
    #[error("the player in seat {seat} has another seat of the same hand")]
    PlayerTwice { seat: u8 },
}

impl Closing {
    /// Makes the closing of `rows`, one for each seat of the roster.
    pub fn try_new(
        context: &Context,
        dealer: &Commitment,
        rows: &[ClosingRow],
    ) -> Result<Closing, ClosingError> {
        check_rows(rows)?;
        let count = [u8::try_from(rows.len()).expect("seats ascend strictly from 0 to 255")];
        let rows: Vec<[u8; 50]> = rows.iter().map(ClosingRow::encode).collect();
        let mut fields: Vec<&[u8]> = vec![&context.0, &dealer.0, &count];
        fields.extend(rows.iter().map(|row| &row[..]));
        Ok(Closing(hash("closing", &fields)))
    }
}

/// Checks that `rows` are one for each seat, ascending, each of another player.
fn check_rows(rows: &[ClosingRow]) -> Result<(), ClosingError> {
    if rows.is_empty() {
        return Err(ClosingError::Empty);
    }
    for (index, row) in rows.iter().enumerate() {
        let before = rows.get(..index).unwrap_or_default();
        if before.last().is_some_and(|last| last.seat >= row.seat) || row.seat == u8::MAX {
            return Err(ClosingError::SeatsNotAscending { seat: row.seat });
        }
        if before.iter().any(|other| other.player == row.player) {
            return Err(ClosingError::PlayerTwice { seat: row.seat });
        }
    }
    Ok(())
}

impl ClosingRow {
    /// Encodes u8 seat, player, u8 1 if the seat committed, then the commitment.
    pub(crate) fn encode(&self) -> [u8; 50] {
        let mut row = [0; 50];
        row[0] = self.seat;
        row[1..17].copy_from_slice(self.player.bytes());
        if let Some(commitment) = &self.commitment {
            row[17] = 1;
            row[18..].copy_from_slice(&commitment.0);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seat: u8, player: u8) -> ClosingRow {
        let commitment = Some(ClientCommitment([seat; 32]));
        ClosingRow { seat, player: PlayerId([player; 16]), commitment }
    }

    fn closing(rows: &[ClosingRow]) -> Result<Closing, ClosingError> {
        Closing::try_new(&Context([1; 32]), &Commitment([2; 32]), rows)
    }

    /// fairness/SPEC.md §5.8.
    #[test]
    fn seats_and_players_come_once() {
        assert!(closing(&[row(1, 1), row(2, 2)]).is_ok());
        assert_eq!(closing(&[]), Err(ClosingError::Empty));
        let seats = [[row(2, 2), row(1, 1)], [row(1, 1), row(1, 2)]];
        for rows in seats {
            assert_eq!(closing(&rows), Err(ClosingError::SeatsNotAscending { seat: 1 }));
        }
        assert_eq!(closing(&[row(1, 1), row(2, 1)]), Err(ClosingError::PlayerTwice { seat: 2 }));
        let last = closing(&[row(255, 1)]);
        assert_eq!(last, Err(ClosingError::SeatsNotAscending { seat: 255 }));
    }

    /// fairness/SPEC.md §5.8.
    #[test]
    fn every_part_of_a_row_counts() {
        let base = closing(&[row(1, 1), row(2, 2)]);
        let absent = ClosingRow { commitment: None, ..row(2, 2) };
        let zeros = ClosingRow { commitment: Some(ClientCommitment([0; 32])), ..row(2, 2) };
        let others = [row(3, 2), row(2, 3), absent, zeros];
        let mut made: Vec<_> = others.iter().map(|other| closing(&[row(1, 1), *other])).collect();
        made.push(base);
        made.push(closing(&[row(1, 1)]));
        for (index, one) in made.iter().enumerate() {
            assert!(one.is_ok() && !made[..index].contains(one));
        }
    }
}
