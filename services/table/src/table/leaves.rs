//! Players who leave the hand in play: those who asked for it once the hand was sealed. The house
//! takes nobody out of a hand; for all others who leave the table the clock plays.

use primitives::SeatNo;
use proto::common::v1::MoveKind;
use proto::event::v1 as pb;

use super::{Corrupt, Table, TableHand, seat_no};

/// Leave that was asked for and that the rules have not taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingLeave {
    pub seat: SeatNo,
    /// The player's signature of their leave; empty if they have no key for the hand.
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
        Ok(())
    }

    /// Notes that the rules have taken a leave.
    pub(super) fn leave_taken(&mut self, decided: &pb::MoveDecided) {
        let is_leave = decided.r#move.as_ref().is_some_and(|mv| mv.kind() == MoveKind::Leave);
        if let Some(hand) = self.hand.as_mut().filter(|_| is_leave) {
            hand.pending_leaves.retain(|leave| u32::from(leave.seat.get()) != decided.seat);
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
