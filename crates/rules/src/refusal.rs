//! Refusals: reasons why an input is not taken. The hand is unchanged.
//!
//! Specification: rules/SPEC.md §6.1.

use primitives::Credits;

use crate::legal::{Choices, Legal};
use crate::moves::Move;
use crate::player::Player;

/// Reason why a decision or an outcome of chance was refused. Names no hidden card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the hand is over")]
    HandOver,
    #[error("the dealer is due ({due}), no player")]
    ChanceDue { due: &'static str },
    #[error("it is {to_act}'s turn")]
    NotYourTurn { to_act: Player },
    #[error("there is no {player} in this hand")]
    NoSuchPlayer { player: Player },
    #[error("{player} has already left")]
    AlreadyLeft { player: Player },
    #[error("`{verb}` is not legal here; legal: {legal}")]
    NotLegal { verb: &'static str, legal: String },
    #[error("`{verb}` takes an amount from {min} to {max} here")]
    Amount { verb: &'static str, min: Credits, max: Credits },
    #[error("`{verb}` is not legal with that choice; it must be one of those listed as legal")]
    Choice { verb: &'static str },
    #[error("a player's decision is due ({to_act}), not chance")]
    DecisionDue { to_act: Player },
    #[error("{due} is due, not {got}")]
    WrongChance { due: &'static str, got: &'static str },
    #[error("{want} cards are due, not {got}")]
    CardCount { want: usize, got: usize },
    #[error("card {position} of the deal cannot be there: it is not in the draw pile")]
    CardNotThere { position: usize },
    #[error("the deal ends with the first card that decides, and here it does not")]
    WrongEnd,
    #[error("the dice cannot show that: {dice} dice of {sides} sides are due")]
    Dice { dice: usize, sides: u8 },
    #[error("a pulse with this probability cannot come out so")]
    Pulse,
    #[error("the pick must be below {n}")]
    Pick { n: u32 },
    #[error("the sample must be {k} different numbers below {n}")]
    Sample { n: u32, k: u32 },
}

impl Refusal {
    /// Reason why `mv` is none of the legal moves.
    pub(crate) fn of(mv: &Move, legal: &[Legal]) -> Refusal {
        let verb = mv.verb();
        for legal in legal.iter().filter(|legal| legal.verb() == verb) {
            if let Choices::Amount { min, max } = legal.choices {
                return Refusal::Amount { verb, min, max };
            }
        }
        if legal.iter().any(|legal| legal.verb() == verb) {
            return Refusal::Choice { verb };
        }
        let mut verbs: Vec<&str> = legal.iter().map(Legal::verb).collect();
        verbs.dedup();
        Refusal::NotLegal { verb, legal: verbs.join(", ") }
    }
}
