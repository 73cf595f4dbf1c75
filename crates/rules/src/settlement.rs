//! Settlement lines: every movement of credits that a decision or chance caused, in order.
//!
//! Specification: rules/SPEC.md §5.3, §7.

use std::fmt;

use primitives::Credits;

use crate::cards::Cards;
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;

/// One movement of credits. `Display` is its text in a hand history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettlementItem {
    /// The part of a contribution that nobody matched.
    Returned {
        player: Player,
        amount: Credits,
    },
    /// A penalty; `short` is the amount that the stack could not cover.
    PaysSabacc {
        player: Player,
        amount: Credits,
        short: Credits,
    },
    Eliminated {
        player: Player,
    },
    Wins {
        player: Player,
        pot: Pot,
        amount: Credits,
    },
    /// A layer that nobody could win goes to the Sabacc Pot.
    MovesToSabacc {
        pot: Pot,
        amount: Credits,
    },
    /// The amount that goes to the main layer of the next hand.
    Carries {
        amount: Credits,
    },
    Rake {
        amount: Credits,
    },
}

/// A pot, or a layer of one, that can be won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pot {
    Main,
    /// Side layers count from 1.
    Side(u8),
    /// The credits pot of Kessel.
    Credits,
    Sabacc,
}

impl Pot {
    /// Name of the layer with this index, the lowest first.
    pub(crate) fn layer(index: usize) -> Pot {
        match u8::try_from(index) {
            Ok(0) => Pot::Main,
            Ok(side) => Pot::Side(side),
            Err(_) => Pot::Side(u8::MAX),
        }
    }
}

impl fmt::Display for Pot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pot::Main => f.write_str("main"),
            Pot::Side(side) => write!(f, "side-{side}"),
            Pot::Credits => f.write_str("credits"),
            Pot::Sabacc => f.write_str("sabacc"),
        }
    }
}

impl fmt::Display for SettlementItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettlementItem::Returned { player, amount } => write!(f, "{player} returned {amount}"),
            SettlementItem::PaysSabacc { player, amount, short } if short.is_zero() => {
                write!(f, "{player} pays sabacc {amount}")
            }
            SettlementItem::PaysSabacc { player, amount, short } => {
                write!(f, "{player} pays sabacc {amount} short {short}")
            }
            SettlementItem::Eliminated { player } => write!(f, "{player} eliminated"),
            SettlementItem::Wins { player, pot, amount } => {
                write!(f, "{player} wins {pot} {amount}")
            }
            SettlementItem::MovesToSabacc { pot, amount } => {
                write!(f, "{pot} moves sabacc {amount}")
            }
            SettlementItem::Carries { amount } => write!(f, "pot carries {amount}"),
            SettlementItem::Rake { amount } => write!(f, "rake {amount}"),
        }
    }
}

/// End of a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    pub lines: Vec<SettlementItem>,
    /// Stacks, p1 first.
    pub finishing_stacks: Vec<Credits>,
    pub finishing_sabacc_pot: Credits,
    pub finishing_carried_pot: Credits,
    pub rake: Credits,
    /// Winners of the main layer (in Kessel: of the credits pot); empty if it moved or carries
    /// over.
    pub winners: PlayerSet,
    /// Final hands, p1 first.
    pub hands: Vec<FinalHand>,
    /// Players whose hands were shown at the reveal; empty if folds ended the hand.
    pub shown: PlayerSet,
}

/// A hand as it was held at the reveal, or when its player folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalHand {
    /// Newest last; without demise, tie and blind cards.
    pub cards: Cards,
    /// None for a hand that was never shown.
    pub rank: Option<Rank>,
}
