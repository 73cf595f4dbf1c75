//! Strategy that makes any legal move but leaving. Seeded, so that a run can be repeated.

use client::TableState;
use proto::common::v1::{Move, MoveKind};
use proto::table::v1::Turn;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Strategy, pick};

/// Strategy in which every kind of legal move is equally likely, but leaving, which ends the play.
pub struct Random {
    generator: StdRng,
}

impl Random {
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random { generator: StdRng::seed_from_u64(seed) }
    }
}

impl Strategy for Random {
    fn choose(&mut self, _: &TableState, turn: &Turn) -> Move {
        let mut below = |n: usize| self.generator.random_range(0..n);
        let stays = turn.legal.iter().filter(|legal| legal.kind() != MoveKind::Leave);
        let known: Vec<_> = stays.filter(|legal| pick(legal, &mut |_| 0).is_some()).collect();
        let picked =
            if known.is_empty() { None } else { pick(known[below(known.len())], &mut below) };
        picked.or_else(|| turn.default_move.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proto::common::v1::LegalMove;

    use super::*;

    fn turn(kinds: &[MoveKind]) -> Turn {
        let legal = |kind: &MoveKind| LegalMove { kind: (*kind).into(), ..LegalMove::default() };
        let default = Move { kind: MoveKind::Stand.into(), ..Move::default() };
        Turn {
            legal: kinds.iter().map(legal).collect(),
            default_move: Some(default),
            ..Turn::default()
        }
    }

    #[test]
    fn every_kind_comes_about_as_often() {
        let turn = turn(&[MoveKind::Draw, MoveKind::Stand, MoveKind::Fold]);
        let mut random = Random::new(3);
        let mut counts = [0; 27];
        for _ in 0..3000 {
            let chosen = random.choose(&TableState::new(None), &turn);
            counts[usize::try_from(chosen.kind).unwrap()] += 1;
        }
        for kind in [MoveKind::Draw, MoveKind::Stand, MoveKind::Fold] {
            let count = counts[usize::try_from(i32::from(kind)).unwrap()];
            assert!((850..1150).contains(&count), "{kind:?}: {count}");
        }
    }

    #[test]
    fn the_same_seed_plays_the_same() {
        let turn = turn(&[MoveKind::Draw, MoveKind::Stand, MoveKind::Fold]);
        let play = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| random.choose(&TableState::new(None), &turn).kind).collect::<Vec<_>>()
        };
        assert_eq!(play(5), play(5));
        assert_ne!(play(5), play(6));
    }

    #[test]
    fn nothing_known_is_the_default() {
        let chosen = Random::new(1).choose(&TableState::new(None), &turn(&[]));
        assert_eq!(chosen.kind(), MoveKind::Stand);
    }
}
