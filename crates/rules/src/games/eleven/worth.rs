//! Value of a hand of eleven: the best total that its wilds and clones can make.
//!
//! Specification: rules/SPEC.md §13.2, R-71.

use crate::cards::Card;
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::games::eleven::ElevenState;
use crate::rank::Rank;
use crate::ruleset::RuleSet;

/// Number of different faces in the pack, two cards each.
pub(crate) const FACES: u8 = 21;
/// Total that the game is played to.
pub(crate) const TARGET: u8 = 11;

/// Wild and clone face of a hand of eleven, as indices among the different codes of the pack; never
/// equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    pub wild: u8,
    pub clone: u8,
}

impl Announced {
    /// Reads a sample: the wild face, then the clone face.
    pub(crate) fn of(faces: &[u32]) -> Option<Announced> {
        let &[wild, clone] = faces else { return None };
        Some(Announced { wild: u8::try_from(wild).ok()?, clone: u8::try_from(clone).ok()? })
    }
}

const fn face(card: Card) -> u8 {
    card.id() / 2
}

/// Rank of a card, 1 to 6: each rank but the six has four faces.
const fn rank(card: Card) -> u8 {
    card.id() / 8 + 1
}

/// Value of a card that is neither wild nor a clone: its rank.
pub(crate) fn value(card: Card) -> i16 {
    rank(card).into()
}

/// Highest total that is not over eleven; none if every choice is over.
///
/// A wild is 1 to 6. A clone takes the value of a card in the hand that is no clone, each clone its
/// own; if there is no such card, a clone is 0. The search tries every choice of the wilds with
/// every sum that clones can add.
pub(crate) fn best_total(cards: &[Card], announced: Announced) -> Option<u8> {
    let is_clone = |card: &&Card| face(**card) == announced.clone;
    let clones = cards.iter().filter(is_clone).count();
    let hand = Hand { wild: announced.wild, clones };
    let others: Vec<Card> = cards.iter().copied().filter(|card| !is_clone(&card)).collect();
    hand.best(&others, 0, 0)
}

struct Hand {
    wild: u8,
    clones: usize,
}

impl Hand {
    /// Tries every value of each of `cards`, none of them a clone, after cards that sum to `sum`
    /// and have the values in `values`, one bit each. Returns the best total.
    fn best(&self, cards: &[Card], sum: u8, values: u8) -> Option<u8> {
        let Some((&card, rest)) = cards.split_first() else {
            return highest_up_to_target(sums_with_clones(sum, values, self.clones));
        };
        let choices = if face(card) == self.wild { 1..=6 } else { rank(card)..=rank(card) };
        choices.filter_map(|value| self.best(rest, sum + value, values | 1 << value)).max()
    }
}

/// Every sum that this number of clones of these values can make, one bit each.
fn sums_with_clones(sum: u8, values: u8, clones: usize) -> u64 {
    let mut sums = 1_u64 << sum;
    if values == 0 {
        return sums;
    }
    for _ in 0..clones {
        let added = (1..=6).filter(|value| values & 1 << value != 0).map(|value| sums << value);
        sums = added.fold(0, |all, some| all | some);
    }
    sums
}

fn highest_up_to_target(sums: u64) -> Option<u8> {
    (0..=TARGET).rev().find(|total| sums & 1 << total != 0)
}

impl Evaluate for Announced {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        let total = best_total(cards, *self)?;
        Some(Strength([i16::from(total), -i16::try_from(cards.len()).ok()?, 0, 0, 0, 0]))
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        let count = u8::try_from(cards.len()).ok()?;
        Some(
            best_total(cards, *self)
                .map_or(Rank::Over { cards: count }, |total| Rank::Eleven { total, cards: count }),
        )
    }
}

/// Makes the evaluator of hands with the announced faces.
pub(crate) fn evaluator(_: &RuleSet, state: &GameState) -> Option<Evaluator> {
    let GameState::Eleven(ElevenState { announced, stood: _ }) = state else { return None };
    announced.map(Evaluator::new)
}

#[cfg(test)]
mod tests;
