//! Contributions of all sides to a hand, sealed into one hash before an ante is taken.
//!
//! There is a row for each seat dealt in, seats ascending. A client that never committed is absent,
//! which is harmless because it knew nothing. A client that committed and stayed silent has
//! withheld; such a hand is not played, but its transcript still exists, so that anybody can
//! compute the outcomes that it would have had.
//!
//! Specification: fairness/SPEC.md §5.5, §5.6.

use primitives::PlayerId;

use crate::commit::{ClientCommitment, Commitment, Entropy};
use crate::context::Context;
use crate::encoding::hash;

/// State of a seat's client. The discriminants are the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RowStatus {
    /// Committed, and revealed entropy that opens the commitment.
    Revealed = 1,
    /// Committed, then silent until the deadline.
    Withheld = 2,
    /// Never committed.
    Absent = 3,
}

/// Contribution of one seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptRow {
    pub seat: u8,
    pub player: PlayerId,
    pub status: RowStatus,
    /// Used unless the status is absent; zeros stand in its place then.
    pub commitment: ClientCommitment,
    /// Used only if the status is revealed; zeros stand in its place otherwise.
    pub entropy: Entropy,
}

/// A public random value from outside, if the operator uses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beacon {
    pub kind: u8,
    pub round: u64,
    pub value: [u8; 32],
}

/// H("transcript", context, dealer's commitment, beacon, number of rows, rows…).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transcript(pub [u8; 32]);

/// Reason why rows make no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    #[error("seat {seat} does not come after the one before it: give each seat once, ascending")]
    SeatsNotAscending { seat: u8 },
    #[error("what seat {seat} revealed does not open its commitment")]
    RevealDoesNotOpen { seat: u8 },
}

impl Transcript {
    pub fn try_new(
        context: &Context,
        dealer: &Commitment,
        beacon: Option<Beacon>,
        rows: &[TranscriptRow],
    ) -> Result<Transcript, TranscriptError> {
        for pair in rows.windows(2) {
            if let [before, row] = pair
                && before.seat >= row.seat
            {
                return Err(TranscriptError::SeatsNotAscending { seat: row.seat });
            }
        }
        for row in rows {
            let TranscriptRow { seat, player, status, commitment, entropy } = row;
            let made = ClientCommitment::new(context, dealer, *seat, *player, entropy);
            if *status == RowStatus::Revealed && !made.matches(commitment) {
                return Err(TranscriptError::RevealDoesNotOpen { seat: *seat });
            }
        }
        let beacon = beacon.map_or_else(Vec::new, |beacon| beacon.encode());
        // Seats ascend strictly: at most 256 rows, and no table has a seat for every u8.
        let count = u8::try_from(rows.len())
            .map_err(|_| TranscriptError::SeatsNotAscending { seat: u8::MAX })?;
        let rows: Vec<[u8; 82]> = rows.iter().map(TranscriptRow::encode).collect();
        let count = [count];
        let mut fields: Vec<&[u8]> = vec![&context.0, &dealer.0, &beacon, &count];
        fields.extend(rows.iter().map(|row| &row[..]));
        Ok(Transcript(hash("transcript", &fields)))
    }
}

impl TranscriptRow {
    pub(crate) fn encode(&self) -> [u8; 82] {
        let (commitment, entropy) = match self.status {
            RowStatus::Revealed => (self.commitment.0, self.entropy.0),
            RowStatus::Withheld => (self.commitment.0, [0; 32]),
            RowStatus::Absent => ([0; 32], [0; 32]),
        };
        let mut row = [0; 82];
        row[0] = self.seat;
        row[1..17].copy_from_slice(self.player.bytes());
        row[17] = self.status as u8;
        row[18..50].copy_from_slice(&commitment);
        row[50..].copy_from_slice(&entropy);
        row
    }
}

impl Beacon {
    /// Encodes u8 kind, u64 round, then the 32 bytes.
    fn encode(self) -> Vec<u8> {
        let mut bytes = vec![self.kind];
        bytes.extend_from_slice(&self.round.to_be_bytes());
        bytes.extend_from_slice(&self.value);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context = Context([1; 32]);
    const DEALER: Commitment = Commitment([2; 32]);

    fn row(seat: u8, status: RowStatus) -> TranscriptRow {
        let (player, entropy) = (PlayerId([seat; 16]), Entropy([seat; 32]));
        let commitment = ClientCommitment::new(&CONTEXT, &DEALER, seat, player, &entropy);
        TranscriptRow { seat, player, status, commitment, entropy }
    }

    fn transcript(rows: &[TranscriptRow]) -> Result<Transcript, TranscriptError> {
        Transcript::try_new(&CONTEXT, &DEALER, None, rows)
    }

    /// fairness/SPEC.md §5.5.
    #[test]
    fn seats_come_once_and_ascending() {
        let (one, two) = (row(1, RowStatus::Revealed), row(2, RowStatus::Absent));
        assert!(transcript(&[one, two]).is_ok());
        assert_eq!(transcript(&[two, one]), Err(TranscriptError::SeatsNotAscending { seat: 1 }));
        assert_eq!(transcript(&[one, one]), Err(TranscriptError::SeatsNotAscending { seat: 1 }));
    }

    /// fairness/SPEC.md §5.5.
    #[test]
    fn a_reveal_must_open_its_commitment() {
        let mut bad = row(3, RowStatus::Revealed);
        bad.entropy = Entropy([0; 32]);
        assert_eq!(transcript(&[bad]), Err(TranscriptError::RevealDoesNotOpen { seat: 3 }));
        bad.status = RowStatus::Withheld;
        assert_eq!(transcript(&[bad]), transcript(&[row(3, RowStatus::Withheld)]));
    }

    /// fairness/SPEC.md §5.5.
    #[test]
    fn what_is_missing_does_not_count() {
        let mut absent = row(3, RowStatus::Absent);
        let sealed = transcript(&[absent]);
        absent.commitment = ClientCommitment([7; 32]);
        absent.entropy = Entropy([7; 32]);
        assert_eq!(transcript(&[absent]), sealed);
        assert_ne!(transcript(&[row(3, RowStatus::Withheld)]), sealed);
        assert_ne!(transcript(&[row(3, RowStatus::Revealed)]), sealed);
    }

    /// fairness/SPEC.md §5.6.
    #[test]
    fn a_beacon_counts() {
        let beacon = Beacon { kind: 1, round: 2, value: [3; 32] };
        let with = Transcript::try_new(&CONTEXT, &DEALER, Some(beacon), &[]);
        assert_ne!(with, transcript(&[]));
        let later = Beacon { round: 3, ..beacon };
        assert_ne!(with, Transcript::try_new(&CONTEXT, &DEALER, Some(later), &[]));
    }
}
