//! Commitments to entropy that were withheld, so that their owners may still open them: what a burnt
//! number would have been follows from its seed and all of its entropy.
//!
//! Opening changes nothing else: the number stays burnt, and the exclusion stands.
//!
//! Specification: fairness/SPEC.md §3.6.

use std::collections::BTreeMap;

use fairness::ClientCommitment;
use primitives::{HandId, PlayerId, SeatNo, StreamId};
use proto::event::v1 as pb;

use super::{Corrupt, Table, seat_no};
use crate::entropy::BoundCommitment;
use serde::{Deserialize, Serialize};

/// Burnt numbers of a table whose entropy may still be opened; older ones are forgotten.
const MAX_NUMBERS: usize = 64;

/// Burnt number with its withheld commitments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WithheldNumber {
    pub id: HandId,
    pub bound: BoundCommitment,
    /// Withheld commitments.
    pub seats: BTreeMap<SeatNo, WithheldCommitment>,
}

/// Commitment whose player was silent.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct WithheldCommitment {
    pub player: PlayerId,
    #[serde(with = "crate::stored::fixed")]
    pub commitment: ClientCommitment,
    /// Whether it was opened after the burn.
    pub is_opened: bool,
}

impl Table {
    /// Seat and commitment that a player has withheld in a burnt number.
    #[must_use]
    pub(crate) fn withheld_by(
        &self,
        hand_no: u64,
        player: PlayerId,
    ) -> Option<(&WithheldNumber, SeatNo, WithheldCommitment)> {
        let number = self.withheld.get(&hand_no)?;
        let (seat, withheld) = number.seats.iter().find(|(_, row)| row.player == player)?;
        Some((number, *seat, *withheld))
    }

    /// Whether a stream is that of a burnt number whose entropy may still be opened.
    #[must_use]
    pub(crate) fn may_be_opened(&self, stream: StreamId) -> bool {
        self.withheld.values().any(|number| StreamId::from(number.id) == stream)
    }

    /// Remembers the commitments of the seats for which a number is burnt.
    pub(super) fn note_withheld(&mut self, aborted: &pb::HandAborted) -> Result<(), Corrupt> {
        let (Some(hand), Some(round)) = (&self.hand, self.entropy_round()) else { return Ok(()) };
        let commitments = self.seat_commitments_of(self.hand_no);
        let mut seats = BTreeMap::new();
        for number in &aborted.seats {
            let seat = seat_no(*number)?;
            let of_seat = |(other, _): &&(SeatNo, PlayerId)| *other == seat;
            let Some((_, player)) = round.roster.iter().find(of_seat) else { continue };
            if let Some(made) = commitments.get(&(seat, *player)) {
                let commitment = made.commitment;
                let withheld = WithheldCommitment { player: *player, commitment, is_opened: false };
                seats.insert(seat, withheld);
            }
        }
        if seats.is_empty() {
            return Ok(());
        }
        let hash = &self.config.rules_hash;
        let bound = BoundCommitment::try_new(&round.commitment, self.id, self.hand_no, hash)?;
        self.withheld.insert(self.hand_no, WithheldNumber { id: hand.id, bound, seats });
        while self.withheld.len() > MAX_NUMBERS {
            self.withheld.pop_first();
        }
        Ok(())
    }

    /// Notes that the withheld entropy of a burnt number was opened. False where the stream is not
    /// that of such a number.
    pub(super) fn note_opened(&mut self, id: HandId, seat: SeatNo) -> Result<bool, Corrupt> {
        let number = self.withheld.values_mut().find(|number| number.id == id);
        let Some(number) = number else { return Ok(false) };
        let unknown = || Corrupt("an opening of entropy that was not withheld".to_owned());
        number.seats.get_mut(&seat).ok_or_else(unknown)?.is_opened = true;
        Ok(true)
    }
}
