//! Moves that the table treats apart from all others: leaving the hand.

use proto::common::v1::{self as pb, MoveKind};
use rules::Move;

/// Whether a player leaves the hand by this move. It costs no time bank, and is made by standing up
/// from the table.
pub(crate) const fn is_leave(mv: &Move) -> bool {
    match mv {
        Move::Leave => true,
        Move::Draw
        | Move::Trade(_)
        | Move::Stand
        | Move::Lock(_)
        | Move::Unlock(_)
        | Move::Check
        | Move::Bet(_)
        | Move::Match
        | Move::Raise(_)
        | Move::Fold
        | Move::CallHand
        | Move::Align(_)
        | Move::Keep
        | Move::Drop(_)
        | Move::Choose(_)
        | Move::Token(..)
        | Move::Prime(_)
        | Move::DrawFrom(_)
        | Move::Discard(_)
        | Move::Impostor { .. }
        | Move::Gain(_)
        | Move::Swap(_)
        | Move::Junk
        | Move::Select(_)
        | Move::Add(_) => false,
    }
}

/// Whether a player leaves the hand by this recorded move.
pub(crate) fn is_recorded_leave(mv: &pb::Move) -> bool {
    match mv.kind() {
        MoveKind::Leave => true,
        MoveKind::Unspecified
        | MoveKind::Draw
        | MoveKind::Trade
        | MoveKind::Stand
        | MoveKind::Lock
        | MoveKind::Unlock
        | MoveKind::Check
        | MoveKind::Bet
        | MoveKind::Match
        | MoveKind::Raise
        | MoveKind::Fold
        | MoveKind::CallHand
        | MoveKind::Align
        | MoveKind::Keep
        | MoveKind::Drop
        | MoveKind::Choose
        | MoveKind::Token
        | MoveKind::Prime
        | MoveKind::DrawFrom
        | MoveKind::Discard
        | MoveKind::Impostor
        | MoveKind::Gain
        | MoveKind::Swap
        | MoveKind::Junk
        | MoveKind::Select
        | MoveKind::Add => false,
    }
}
