//! Value of a selection against the target of the dice.
//!
//! Specification: rules/SPEC.md §15.2.

use std::cmp::Reverse;

use crate::c62::{Suit, suit, total, value};
use crate::cards::Card;
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::games::coruscant::CoruscantState;
use crate::rank::Rank;
use crate::ruleset::RuleSet;

/// Target totals of the faces of the gold die.
pub(crate) const GOLD: [i16; 6] = [0, 0, 5, -5, 10, -10];
/// Target suits of the faces of the silver die.
const SILVER: [Suit; 6] =
    [Suit::Circle, Suit::Circle, Suit::Triangle, Suit::Triangle, Suit::Square, Suit::Square];

/// Target of a hand of Coruscant Shift, as the dice name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub total: i16,
    pub suit: Suit,
}

impl Target {
    /// Reads the faces of both dice, from 1. None if they are not two faces from 1 to 6.
    pub(crate) fn of(faces: &[u8]) -> Option<Target> {
        let &[gold, silver] = faces else { return None };
        let at = |face: u8| usize::from(face).checked_sub(1);
        Some(Target { total: *GOLD.get(at(gold)?)?, suit: *SILVER.get(at(silver)?)? })
    }
}

/// Value of a selection against a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worth {
    /// Distance from the target.
    distance: u16,
    /// Number of cards of the target's suit; a Sylop is of every suit.
    suited: u8,
    total: i16,
    high: i16,
}

impl Worth {
    pub(crate) fn of(cards: &[Card], target: Target) -> Worth {
        let of_suit = |card: &&Card| suit(**card).is_none_or(|suit| suit == target.suit);
        let total = total(cards);
        Worth {
            distance: total.abs_diff(target.total),
            suited: u8::try_from(cards.iter().filter(of_suit).count()).unwrap_or(u8::MAX),
            total,
            high: cards.iter().map(|&card| value(card)).max().unwrap_or(0),
        }
    }

    /// Sort key; higher is better.
    pub(crate) const fn strength(self) -> (Reverse<u16>, u8, i16, i16) {
        (Reverse(self.distance), self.suited, self.total, self.high)
    }
}

impl From<Worth> for Rank {
    fn from(worth: Worth) -> Rank {
        let Worth { distance: off, suited, total, high } = worth;
        Rank::Coruscant { off, suit: suited, total, high }
    }
}

impl Evaluate for Target {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        let (Reverse(distance), suited, total, high) = Worth::of(cards, *self).strength();
        Some(Strength([-i16::try_from(distance).ok()?, i16::from(suited), total, high, 0, 0]))
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        Some(Worth::of(cards, *self).into())
    }
}

/// Makes the evaluator of selections against the target that the dice named.
pub(crate) fn evaluator(_: &RuleSet, state: &GameState) -> Option<Evaluator> {
    let GameState::Coruscant(CoruscantState { target, selections: _ }) = state else { return None };
    target.map(Evaluator::new)
}

#[cfg(test)]
mod tests;
