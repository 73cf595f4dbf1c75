//! Events: the validated inputs of a hand. Everything else follows from them and the rules.

use crate::chance::Outcome;
use crate::moves::Move;
use crate::player::Player;

/// One input of a hand. Antes, penalties and pots are consequences, computed again on replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Decided { player: Player, mv: Move, author: DecisionAuthor },
    Chance(Outcome),
}

/// Author of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionAuthor {
    Player,
    Clock,
}
