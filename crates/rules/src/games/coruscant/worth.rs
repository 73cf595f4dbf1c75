//! What a selection is worth against the dice.

use std::cmp::Reverse;

use crate::c62::{Suit, suit, total, value};
use crate::cards::Card;
use crate::rank::Rank;

/// What the faces of the gold die ask for.
pub(crate) const GOLD: [i16; 6] = [0, 0, 5, -5, 10, -10];
/// What the faces of the silver die ask for.
const SILVER: [Suit; 6] =
    [Suit::Circle, Suit::Circle, Suit::Triangle, Suit::Triangle, Suit::Square, Suit::Square];

/// What the dice ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) total: i16,
    pub(crate) suit: Suit,
}

impl Target {
    pub(crate) fn of(faces: &[u8]) -> Option<Target> {
        let &[gold, silver] = faces else { return None };
        let at = |face: u8| usize::from(face).checked_sub(1);
        Some(Target { total: *GOLD.get(at(gold)?)?, suit: *SILVER.get(at(silver)?)? })
    }
}

/// What a selection is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worth {
    /// How far from the target.
    off: u16,
    /// Cards of the suit; a Sylop is of every suit.
    suited: u8,
    total: i16,
    high: i16,
}

impl Worth {
    pub(crate) fn of(cards: &[Card], target: Target) -> Worth {
        let of_suit = |card: &&Card| suit(**card).is_none_or(|suit| suit == target.suit);
        let total = total(cards);
        Worth {
            off: total.abs_diff(target.total),
            suited: u8::try_from(cards.iter().filter(of_suit).count()).unwrap_or(u8::MAX),
            total,
            high: cards.iter().map(|&card| value(card)).max().unwrap_or(0),
        }
    }

    /// Higher is better.
    pub(crate) const fn strength(self) -> (Reverse<u16>, u8, i16, i16) {
        (Reverse(self.off), self.suited, self.total, self.high)
    }
}

impl From<Worth> for Rank {
    fn from(worth: Worth) -> Rank {
        let Worth { off, suited, total, high } = worth;
        Rank::Coruscant { off, suit: suited, total, high }
    }
}

#[cfg(test)]
mod tests;
