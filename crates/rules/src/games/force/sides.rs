//! The two sides, and the rules that put a player on one of them.
//!
//! Specification: rules/SPEC.md.

use crate::cards::Card;
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::moves::Side;
use crate::player::Player;
use crate::rank::Rank;
use crate::ruleset::{Alignment, RuleSet};
use crate::s76::{FACE_CARDS, Worth, value};

/// Side of each player, once it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides([Option<Side>; 8]);

impl Sides {
    pub(super) const fn of(&self, player: Player) -> Option<Side> {
        self.0[player.index()]
    }

    /// p1 first.
    pub(super) const fn all(&self) -> [Option<Side>; 8] {
        self.0
    }

    pub(super) const fn set(&mut self, player: Player, side: Option<Side>) {
        self.0[player.index()] = side;
    }
}

pub(super) const fn opposite(side: Side) -> Side {
    match side {
        Side::Light => Side::Dark,
        Side::Dark => Side::Light,
    }
}

/// Shade of a face card: copy A is white, copy B black. Other cards have none.
pub(super) fn shade(card: Card) -> Option<Side> {
    // The copies of a face are neighbours in the deck, A first.
    let white = card.id().is_multiple_of(2);
    FACE_CARDS.contains(card).then_some(if white { Side::Light } else { Side::Dark })
}

/// Whether a kept extra card is upside down and turns a player of this side to the other. `before`
/// is the total of the hand without it. 0 has no sign.
pub(super) fn flips(alignment: Alignment, side: Side, extra: Card, before: i16) -> bool {
    match alignment {
        Alignment::Naboo => shade(extra).is_some_and(|shade| shade != side),
        Alignment::Choose => value(extra).signum() * before.signum() < 0,
    }
}

impl Evaluate for Side {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        match Worth::of(cards) {
            Worth::IdiotsArray => Some(Strength::of(1000)),
            Worth::Pure(total) => Some(Strength([500, i16::from(total < 0), 0, 0, 0, 0])),
            Worth::Total(total) => Some(Strength([total.abs(), i16::from(total < 0), 0, 0, 0, 0])),
            Worth::Bombed(_) => None,
        }
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        Some(match (Worth::of(cards), self) {
            (Worth::IdiotsArray, _) => Rank::IdiotsArray,
            (Worth::Pure(total), _) => Rank::Natural(total),
            (Worth::Bombed(total), _) => Rank::Bombed(total),
            (Worth::Total(total), Side::Light) => Rank::Light(total),
            (Worth::Total(total), Side::Dark) => Rank::Dark(total),
        })
    }
}

/// Makes the evaluator of hands of one side.
pub(crate) fn evaluator(_: &RuleSet, _: &GameState) -> Option<Evaluator> {
    Some(Evaluator::new(Side::Light))
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::S76;

    /// rules/SPEC.md R-43.
    #[test]
    fn every_face_is_white_or_black_by_its_copy() {
        for card in S76.cards() {
            let want = match (S76.code(card), card.id()) {
                (code, 60..) if code.ends_with('A') => Some(Side::Light),
                (code, 60..) if code.ends_with('B') => Some(Side::Dark),
                (_, _) => None,
            };
            assert_eq!(shade(card), want, "{}", S76.code(card));
        }
    }
}
