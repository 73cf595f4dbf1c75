//! A player who weighs his odds: he deals himself the cards he has not seen, again and again, to himself
//! and to the others, and counts how often each choice wins.
//!
//! He sees his own view and nothing else. What a hand is worth he asks the rules; a game whose hands they
//! do not compare by themselves, and whatever else he cannot judge, such as which tokens to draft, he plays
//! as a steady player does. He looks one choice ahead, and takes the others' hidden cards for any cards.
//! The work of a decision is bounded by [`LOOKS`], whatever the hand.

mod bets;
mod deal;
mod kessel;
mod lines;
mod options;
mod selection;
mod situation;

use client::TableState;
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1::Turn;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{Steady, Strategy};
use situation::Situation;

/// About so many hands are looked at for a decision: some hundred microseconds of work.
const LOOKS: usize = 4_000;

/// See the module.
pub struct Odds {
    generator: StdRng,
    steady: Steady,
}

impl Odds {
    #[must_use]
    pub fn new(seed: u64) -> Odds {
        Odds { generator: StdRng::seed_from_u64(seed), steady: Steady::new(seed) }
    }
}

impl Strategy for Odds {
    fn choose(&mut self, state: &TableState, turn: &Turn) -> Move {
        let weighed = Situation::read(state, turn).and_then(|situation| {
            let generator = &mut self.generator;
            match situation.rules.variant().id {
                "kessel" => kessel::choose(&situation, generator),
                "coruscant" => selection::choose(&situation, generator),
                _ => options::choose(&situation, generator),
            }
        });
        weighed.unwrap_or_else(|| self.steady.choose(state, turn))
    }
}

fn find(legal: &[LegalMove], kind: MoveKind) -> Option<&LegalMove> {
    legal.iter().find(|legal| legal.kind() == kind)
}

/// The move of this kind, if it is legal and names nothing.
fn plain(legal: &[LegalMove], kind: MoveKind) -> Option<Move> {
    find(legal, kind).map(|_| Move { kind: kind.into(), ..Move::default() })
}

fn naming(kind: MoveKind, cards: &[&str]) -> Move {
    let cards = cards.iter().map(|code| (*code).to_owned()).collect();
    Move { kind: kind.into(), cards, ..Move::default() }
}

#[cfg(test)]
mod tests;
