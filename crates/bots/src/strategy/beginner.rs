//! Strategy of a beginner: plays as [`Steady`] does when they attend, and makes any other move on a
//! whim.
//!
//! A whim never folds, calls the hand or leaves, and bets little, so a beginner gives their credits
//! away slowly, and to whoever has the better cards.

use client::TableState;
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1::Turn;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Steady, Strategy, pick};

/// Share of decisions that are made on a whim, in hundredths.
const WHIMS: u32 = 50;
/// Most that a whim bets, as a multiple of the least legal amount.
const MAX_BET: u64 = 2;

/// The strategy. See the module.
pub struct Beginner {
    generator: StdRng,
    steady: Steady,
}

impl Beginner {
    #[must_use]
    pub fn new(seed: u64) -> Beginner {
        Beginner { generator: StdRng::seed_from_u64(seed), steady: Steady::new(seed) }
    }

    /// Picks any move that ends nothing; none where there is no such move.
    fn whim(&mut self, turn: &Turn) -> Option<Move> {
        let legal: Vec<&LegalMove> =
            turn.legal.iter().filter(|legal| !ends_something(legal.kind())).collect();
        let mut below = |n: usize| self.generator.random_range(0..n);
        let chosen = legal.get(below(legal.len().max(1)))?;
        let mut decision = pick(chosen, &mut below)?;
        let most = chosen.min_credits.saturating_mul(MAX_BET).min(chosen.max_credits);
        decision.amount_credits = decision.amount_credits.min(most);
        Some(decision)
    }
}

impl Strategy for Beginner {
    fn choose(&mut self, state: &TableState, turn: &Turn) -> Move {
        if self.generator.random_range(0..100) < WHIMS
            && let Some(decision) = self.whim(turn)
        {
            return decision;
        }
        self.steady.choose(state, turn)
    }
}

/// Whether a move of this kind gives up the cards or ends the hand for everybody.
fn ends_something(kind: MoveKind) -> bool {
    match kind {
        MoveKind::Fold
        | MoveKind::Junk
        | MoveKind::CallHand
        | MoveKind::Leave
        | MoveKind::Void
        | MoveKind::Unspecified => true,
        MoveKind::Draw
        | MoveKind::Trade
        | MoveKind::Stand
        | MoveKind::Lock
        | MoveKind::Unlock
        | MoveKind::Check
        | MoveKind::Bet
        | MoveKind::Match
        | MoveKind::Raise
        | MoveKind::Align
        | MoveKind::Keep
        | MoveKind::Drop
        | MoveKind::Choose
        | MoveKind::Token
        | MoveKind::Prime
        | MoveKind::DrawFrom
        | MoveKind::Discard
        | MoveKind::Impostor
        | MoveKind::Gain
        | MoveKind::Swap
        | MoveKind::Select
        | MoveKind::Add => false,
    }
}

#[cfg(test)]
mod tests {
    use proto::common::v1::MoveArgument;

    use super::super::steady::situation::{legal, state, turn};
    use super::*;

    #[test]
    fn a_whim_ends_nothing_and_bets_little() {
        let bet = LegalMove {
            min_credits: 5,
            max_credits: 500,
            move_arguments: vec![MoveArgument::Amount.into()],
            ..legal(MoveKind::Bet, &[])
        };
        let others = [MoveKind::Fold, MoveKind::CallHand, MoveKind::Leave, MoveKind::Void];
        let others = others.map(|kind| legal(kind, &[]));
        let turn = turn([vec![bet], others.to_vec()].concat());
        let (state, mut beginner) = (state("dice", &["S15", "C12"]), Beginner::new(1));
        for _ in 0..100 {
            let chosen = beginner.whim(&turn).unwrap();
            assert_eq!(chosen.kind(), MoveKind::Bet);
            assert!((5..=10).contains(&chosen.amount_credits), "{}", chosen.amount_credits);
        }
        let only = situation_without_whims();
        assert_eq!(beginner.choose(&state, &only).kind(), MoveKind::Fold);
    }

    fn situation_without_whims() -> Turn {
        turn(vec![legal(MoveKind::Fold, &[])])
    }
}
