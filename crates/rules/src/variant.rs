//! Variants: the games as data, and the registry of all of them.
//!
//! Specification: rules/SPEC.md §2.1.

use std::fmt;
use std::ops::RangeInclusive;

use crate::cards::{Card, CardSet};
use crate::deck::Deck;
use crate::evaluator::Evaluator;
use crate::explain::VariantText;
use crate::game::Game;
use crate::games::GameState;
use crate::ruleset::{Field, Key, RuleSet};
use crate::state::Core;

/// A game as data. Its own state machine is behind `open`.
pub struct Variant {
    pub id: &'static str,
    pub title: &'static str,
    /// Text that the rules follow; rules/SPEC.md §17 decides where it is silent or contradicts itself.
    pub source: &'static str,
    /// Numbers of players that a hand takes.
    pub player_counts: RangeInclusive<u8>,
    pub deck: &'static Deck,
    pub piles: &'static [PileSpec],
    /// Sorted by name.
    pub fields: &'static [Field],
    pub has_sabacc_pot: bool,
    pub has_carried_pot: bool,
    /// Whether a call of the hand opens the betting round again for the others.
    pub(crate) call_reopens_betting: bool,
    pub(crate) rake_base: RakeBase,
    pub(crate) evaluator: MakeEvaluator,
    /// Called once at the start of a hand; takes the antes.
    pub(crate) open: fn(&mut Core) -> Box<dyn Game>,
    /// The parts of an explanation that only this game has.
    pub(crate) explain: fn(&RuleSet) -> VariantText,
}

impl Variant {
    /// Whether players bet, and may therefore fold.
    #[must_use]
    pub fn has_betting(&self) -> bool {
        self.fields.iter().any(|field| field.key == Key::MinBet)
    }
}

/// Credits of which the house takes its rake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RakeBase {
    /// Each layer of the Hand Pot that two players or more showed their hands for.
    ContestedLayers,
    /// The credits pot of a game that is played until one player is left.
    CreditsPot,
}

/// Makes the evaluator of a game's hands from the game's state. None if the state lacks what it
/// needs, or the game has no evaluator.
pub(crate) type MakeEvaluator = fn(&RuleSet, &GameState) -> Option<Evaluator>;

/// A draw pile with its discards.
#[derive(Debug)]
pub struct PileSpec {
    pub name: &'static str,
    /// The pile has the cards with the ids from `first` up to, not including, `end`.
    pub first: u8,
    pub end: u8,
    /// Whether the top discard lies face up: it stays there when the discards are shuffled into the
    /// draw pile, and whole hands go under it.
    pub open_discards: bool,
}

impl PileSpec {
    /// The cards of the pile in canonical order, as the first shuffle takes them.
    pub fn cards(&self) -> impl Iterator<Item = Card> {
        CardSet::range(self.first, self.end).iter()
    }
}

pub use crate::games::ALL;

/// The variant with this id.
#[must_use]
pub fn variant(id: &str) -> Option<&'static Variant> {
    ALL.iter().copied().find(|variant| variant.id == id)
}

impl PartialEq for Variant {
    fn eq(&self, other: &Variant) -> bool {
        self.id == other.id
    }
}

impl Eq for Variant {}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_sorted_and_so_are_the_fields() {
        assert!(ALL.is_sorted_by_key(|variant| variant.id));
        for variant in ALL {
            assert!(variant.fields.is_sorted_by_key(|field| field.name()), "{}", variant.id);
            assert!(
                *variant.player_counts.start() >= 2 && *variant.player_counts.end() <= 8,
                "{}",
                variant.id
            );
        }
    }

    #[test]
    fn the_piles_hold_the_whole_deck_once() {
        for variant in ALL {
            let cards: Vec<u8> =
                variant.piles.iter().flat_map(|pile| pile.cards().map(Card::id)).collect();
            let deck: Vec<u8> = variant.deck.cards().map(Card::id).collect();
            assert_eq!(cards, deck, "{}", variant.id);
        }
    }
}
