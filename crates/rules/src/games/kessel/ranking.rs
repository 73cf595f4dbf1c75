//! Value of a hand, under the tokens that change it.
//!
//! The ladder, best first, without and with Cook the Books. The Prime pair has no row of its own
//! until a Prime token is played.
//!
//! | plain | Cook the Books |
//! |---|---|
//! | Pure | the Prime pair |
//! | the Prime pair | pairs, higher better |
//! | pairs, lower better | Pure |
//! | hands that are no pair: smaller difference, then lower sum | no pair, in plain order |
//!
//! Markdown makes a Sylop a 0 that copies nothing: two of them are the lowest pair on either side,
//! and there is no Pure.
//!
//! Specification: rules/SPEC.md §12.4.

use crate::cards::Card;
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::rank::Rank;
use crate::ruleset::RuleSet;

/// Ids below this are Sand, from here on Blood.
pub(crate) const SAND_CARDS: u8 = 22;

/// Face of a card, alike in both families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    Number(u8),
    Impostor,
    Sylop,
}

/// Value of a card, after an Impostor has got its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u8),
    Sylop,
}

/// The fix tokens in effect in a round of Kessel sabacc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixTokens {
    /// Value of the pair that is the Prime.
    pub prime: Option<u8>,
    pub markdown: bool,
    pub cook_the_books: bool,
    pub major_fraud: bool,
}

/// Value of a hand, before it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    Pure,
    /// 0 stands for two Sylops under Markdown.
    Pair(u8),
    Apart {
        diff: u8,
        sum: u8,
    },
}

/// Index of a card's pile: 0 for Sand, 1 for Blood.
pub(crate) const fn pile_of(card: Card) -> u8 {
    card.id() / SAND_CARDS
}

pub(crate) const fn face(card: Card) -> Face {
    match card.id() % SAND_CARDS {
        number @ 0..18 => Face::Number(number / 3 + 1),
        18..21 => Face::Impostor,
        _ => Face::Sylop,
    }
}

/// Value of a card by itself: that of its number.
pub(crate) fn value(card: Card) -> Option<i16> {
    match face(card) {
        Face::Number(number) => Some(number.into()),
        Face::Impostor | Face::Sylop => None,
    }
}

/// The hand's card of Sand, then its card of Blood.
pub(crate) fn sand_then_blood(cards: &[Card]) -> [Card; 2] {
    let of = |pile| cards.iter().copied().find(|&card| pile_of(card) == pile);
    // Six players, five of whom left in the middle of a draw, hold 11 of a family's 22 cards.
    [0, 1].map(|pile| of(pile).expect("a family never runs out: everybody holds a card of each"))
}

impl Worth {
    pub(crate) fn of(hand: [Value; 2], fixes: FixTokens) -> Worth {
        match hand {
            [Value::Sylop, Value::Sylop] if fixes.markdown => Worth::Pair(0),
            [Value::Sylop, Value::Sylop] => Worth::Pure,
            [Value::Sylop, Value::Number(n)] | [Value::Number(n), Value::Sylop] => {
                if fixes.markdown { Worth::Apart { diff: n, sum: n } } else { Worth::Pair(n) }
            }
            [Value::Number(a), Value::Number(b)] if a == b => Worth::Pair(a),
            [Value::Number(a), Value::Number(b)] => {
                Worth::Apart { diff: a.abs_diff(b), sum: a.saturating_add(b) }
            }
        }
    }

    /// Sort key in the order of the ladder; higher wins.
    pub(crate) fn strength(self, fixes: FixTokens) -> (i16, i16, i16) {
        let lower = |value: u8| -i16::from(value);
        match self {
            Worth::Pure if fixes.cook_the_books => (2, 0, 0),
            Worth::Pure => (5, 0, 0),
            Worth::Pair(value) if fixes.prime == Some(value) => (4, 0, 0),
            Worth::Pair(0) => (2, 0, 0),
            Worth::Pair(value) if fixes.cook_the_books => (3, i16::from(value), 0),
            Worth::Pair(value) => (3, lower(value), 0),
            Worth::Apart { diff, sum } => (1, lower(diff), lower(sum)),
        }
    }

    /// Number of chips that losing with this hand costs.
    pub(crate) const fn chips_due(self) -> u8 {
        match self {
            Worth::Pure | Worth::Pair(_) => 1,
            Worth::Apart { diff, .. } => diff,
        }
    }

    pub(crate) fn rank(self, fixes: FixTokens) -> Rank {
        match self {
            Worth::Pure => Rank::KesselPure,
            Worth::Pair(value) if fixes.prime == Some(value) => Rank::Prime(value),
            Worth::Pair(value) => Rank::Pair(value),
            Worth::Apart { diff, sum } => Rank::Diff { diff, sum },
        }
    }
}

/// Value of an Impostor under Major Fraud.
const FRAUD_VALUE: u8 = 6;

impl FixTokens {
    /// Value of a hand; none unless it has a card of each family and every Impostor a value.
    fn worth(self, cards: &[Card]) -> Option<Worth> {
        let value = |card: Card| match face(card) {
            Face::Number(number) => Some(Value::Number(number)),
            Face::Sylop => Some(Value::Sylop),
            Face::Impostor => self.major_fraud.then_some(Value::Number(FRAUD_VALUE)),
        };
        match *cards {
            [a, b] if pile_of(a) != pile_of(b) => Some(Worth::of([value(a)?, value(b)?], self)),
            _ => None,
        }
    }
}

impl Evaluate for FixTokens {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        let (rung, value, sum) = self.worth(cards)?.strength(*self);
        Some(Strength([rung, value, sum, 0, 0, 0]))
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        Some(self.worth(cards)?.rank(*self))
    }

    fn chips_due(&self, cards: &[Card]) -> Option<u8> {
        Some(self.worth(cards)?.chips_due())
    }
}

/// Makes the evaluator of hands under the fix tokens that are in effect.
pub(crate) fn evaluator(_: &RuleSet, state: &GameState) -> Option<Evaluator> {
    let GameState::Kessel(state) = state else { return None };
    Some(Evaluator::new(state.fix_tokens))
}

#[cfg(test)]
mod tests;
