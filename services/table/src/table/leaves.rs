//! Players who leave the hand in play: those who asked for it once the hand was sealed. The house
//! takes nobody out of a hand; for all others who leave the table the clock plays.

use primitives::SeatNo;
use proto::common::v1::MoveKind;
use proto::event::v1 as pb;

use super::{Corrupt, Table, TableHand, seat_no};
use serde::{Deserialize, Serialize};

/// Leave that was asked for and that the rules have not taken yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingLeave {
    pub seat: SeatNo,
    /// The player's signature of their leave; empty if they have no key for the hand.
    #[serde(with = "crate::stored::bytes")]
    pub signature: Vec<u8>,
}

impl Table {
    /// Leaves that the rules have not taken yet, in the order in which they were asked for.
    #[must_use]
    pub(crate) fn pending_leaves(&self) -> &[PendingLeave] {
        self.hand.as_ref().map_or(&[], |hand| &hand.pending_leaves)
    }

    /// Notes a leave that its player asked for.
    pub(super) fn leave_asked(&mut self, leave: &pb::LeaveAsked) -> Result<(), Corrupt> {
        let seat = seat_no(leave.seat)?;
        let Some(hand) = self.hand.as_mut().filter(|hand| hand.is_in_play_of(seat)) else {
            return Ok(());
        };
        if hand.pending_leaves.iter().any(|leave| leave.seat == seat) {
            return Err(Corrupt(format!("seat {seat} leaves the hand twice")));
        }
        let signature = leave.signature.to_vec();
        hand.pending_leaves.push(PendingLeave { seat, signature });
        hand.leavers.insert(seat);
        Ok(())
    }

    /// Follows a decision: a leave that the rules have taken, or a void, after which no pending
    /// leave can be taken by the signature that it has. Whoever is left in the hand by that may
    /// leave it by another.
    pub(super) fn note_decided(&mut self, decided: &pb::MoveDecided) {
        let Some(hand) = &mut self.hand else { return };
        let kind = decided.r#move.as_ref().map_or(MoveKind::Unspecified, |mv| mv.kind());
        if kind == MoveKind::Leave {
            hand.pending_leaves.retain(|leave| u32::from(leave.seat.get()) != decided.seat);
        } else if kind == MoveKind::Void {
            hand.pending_leaves.retain(|leave| leave.signature.is_empty());
        }
    }
}

impl TableHand {
    /// Whether the hand is sealed and not settled, and the seat is in it.
    fn is_in_play_of(&self, seat: SeatNo) -> bool {
        let is_sealed = !self.roster.is_empty() && self.entropy_round.is_none();
        is_sealed && self.settled.is_none() && self.roster.iter().any(|(other, _)| *other == seat)
    }
}
