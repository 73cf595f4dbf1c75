//! The reveal: every Impostor rolls its own dice, p1's Sand one first, and then gets one of their
//! values.
//!
//! All dice are rolled before anybody chooses. Choices become public when all are made.
//!
//! Specification: rules/SPEC.md §12.6.

use smallvec::SmallVec;

use crate::cards::Card;
use crate::chance::{Chance, RollPurpose};
use crate::moves::Move;
use crate::player::Player;
use crate::state::Core;

use super::ranking::{Face, FixTokens, Value, Worth, face, sand_then_blood};
use super::{Kessel, Phase};

/// Value of an Impostor under Major Fraud.
const FRAUD_VALUE: u8 = 6;

/// An Impostor that rolls for its value.
#[derive(Clone, Copy)]
pub(super) struct Impostor {
    pub(super) player: Player,
    pub(super) card: Card,
    pub(super) dice: [u8; 2],
    pub(super) value: Option<u8>,
}

impl Kessel {
    pub(super) fn reveal(&mut self, core: &mut Core) {
        core.shown = core.live;
        let mut impostors = SmallVec::new();
        for player in core.live.iter().filter(|_| !self.fix_tokens.major_fraud) {
            for card in sand_then_blood(&core[player].cards) {
                if face(card) == Face::Impostor {
                    impostors.push(Impostor { player, card, dice: [0, 0], value: None });
                    let sides = SmallVec::from_slice(&[6, 6]);
                    core.request(Chance::Roll {
                        sides,
                        purpose: RollPurpose::Impostor(player, card),
                    });
                }
            }
        }
        self.phase = Phase::Reveal(impostors);
    }

    /// Value of a player's hand. Every Impostor must have its own value.
    pub(super) fn worth_of(&self, core: &Core, player: Player) -> Worth {
        let impostors: &[Impostor] = match &self.phase {
            Phase::Reveal(impostors) => impostors,
            Phase::Draft | Phase::Dealing | Phase::Turn(_) => &[],
        };
        let chosen = |card| impostors.iter().find(|one| one.card == card)?.value;
        worth(&core[player].cards, &chosen, self.fix_tokens)
    }
}

/// Impostors without a value yet, in the order of choice.
pub(super) fn undecided(impostors: &[Impostor]) -> impl Iterator<Item = &Impostor> {
    impostors.iter().filter(|impostor| impostor.value.is_none())
}

/// Value of the next Impostor that serves its hand best. Another Impostor of the hand counts with
/// its value, or with the value that serves best together.
pub(super) fn best_choice(impostors: &[Impostor], hand: &[Card], fixes: FixTokens) -> Option<Move> {
    let next = undecided(impostors).next()?;
    let other = impostors.iter().find(|one| one.player == next.player && one.card != next.card);
    let others = match other {
        None => [None, None],
        Some(Impostor { value: Some(value), .. }) => [Some(*value), None],
        Some(Impostor { value: None, dice, .. }) => dice.map(Some),
    };
    let best_with = |value: u8| {
        let with = |other: Option<u8>| {
            let chosen = |card| if card == next.card { Some(value) } else { other };
            worth(hand, &chosen, fixes).strength(fixes)
        };
        others.into_iter().filter(|value| other.is_none() || value.is_some()).map(with).max()
    };
    let [first, second] = next.dice;
    let value = if best_with(second) > best_with(first) { second } else { first };
    Some(Move::Impostor(next.card, value))
}

fn worth(hand: &[Card], chosen: &dyn Fn(Card) -> Option<u8>, fixes: FixTokens) -> Worth {
    let value = |card: Card| match face(card) {
        Face::Number(number) => Value::Number(number),
        Face::Sylop => Value::Sylop,
        Face::Impostor => Value::Number(chosen(card).unwrap_or(FRAUD_VALUE)),
    };
    Worth::of(sand_then_blood(hand).map(value), fixes)
}
