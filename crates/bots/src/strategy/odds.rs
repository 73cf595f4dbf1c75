//! Strategy that weighs odds: it deals the unseen cards many times, to itself and to its opponents,
//! and counts how often each choice wins.
//!
//! It uses only its own view. The rules say what a hand is worth. In games whose hands the rules do
//! not compare by themselves, and in other choices that it cannot judge, such as drafting tokens,
//! it plays as [`Steady`] does. It looks one choice ahead, and takes hidden cards for random ones.
//! The work of a decision is bounded by [`MAX_EVALUATIONS`].

mod bets;
mod deal;
mod kessel;
mod options;
mod selection;
mod situation;

use client::TableState;
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1::Turn;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rules::GameState;

use super::{Steady, Strategy};
use situation::Situation;

/// Approximate number of hands evaluated for one decision.
const MAX_EVALUATIONS: usize = 4_000;

/// The strategy. See the module.
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
            match &situation.game {
                GameState::Kessel(kessel) => kessel::choose(&situation, kessel, generator),
                GameState::Coruscant(coruscant) => {
                    selection::choose(&situation, coruscant, generator)
                }
                GameState::Dice(_)
                | GameState::Electronic(_)
                | GameState::Eleven(_)
                | GameState::Force(_)
                | GameState::Spike(_)
                | GameState::Swg(_) => options::choose(&situation, generator),
            }
        });
        weighed.unwrap_or_else(|| self.steady.choose(state, turn))
    }
}

fn find_legal(legal: &[LegalMove], kind: MoveKind) -> Option<&LegalMove> {
    legal.iter().find(|legal| legal.kind() == kind)
}

/// Returns the move of this kind, if it is legal; for kinds that name nothing.
fn plain_move(legal: &[LegalMove], kind: MoveKind) -> Option<Move> {
    find_legal(legal, kind).map(|_| Move { kind: kind.into(), ..Move::default() })
}

fn card_move(kind: MoveKind, cards: &[&str]) -> Move {
    let cards = cards.iter().map(|code| (*code).to_owned()).collect();
    Move { kind: kind.into(), cards, ..Move::default() }
}

#[cfg(test)]
mod tests;
