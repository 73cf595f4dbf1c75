//! The action of games without a field: `draw`, `trade` or `stand`.
//!
//! Specification: rules/SPEC.md §10.1, §11.1.

use crate::cards::Card;
use crate::chance::{DealReason, Destination};
use crate::legal::{Legal, LegalMoves};
use crate::moves::{Move, MoveKind, actions};
use crate::player::Player;
use crate::state::Core;

actions! {
    /// The action of a turn.
    Action { Draw, Trade(card: Card), Stand }
}

/// Adds the legal actions of `player`.
pub(crate) fn push_legal(core: &Core, player: Player, moves: &mut LegalMoves) {
    if core.piles[0].available() > 0 {
        moves.push(Legal::plain(MoveKind::Draw));
        moves.push(Legal::card(MoveKind::Trade, core[player].cards.clone()));
    }
    moves.push(Legal::plain(MoveKind::Stand));
}

/// Applies a legal action. Makes a deal due if the action takes a card.
pub(crate) fn apply(core: &mut Core, player: Player, mv: &Move) {
    match Action::of(mv) {
        Action::Draw => {
            core.deal(Destination::Player(player), 0, 1, DealReason::Draw);
        }
        Action::Trade(card) => {
            discard_from_hand(core, player, card);
            core.deal(Destination::Player(player), 0, 1, DealReason::Trade);
        }
        Action::Stand => {}
    }
}

/// Moves a card from the hand face down to the discards.
pub(crate) fn discard_from_hand(core: &mut Core, player: Player, card: Card) {
    let place = &mut core[player];
    place.cards.retain(|held| *held != card);
    place.face_up = place.face_up.without(card);
    core.discard(0, card);
}
