//! Strategies of bots. A strategy sees its player's view and chooses one of the legal moves.

mod beginner;
mod odds;
mod pick;
mod random;
mod steady;

use proto::common::v1::Move;
use proto::table::v1::Turn;

pub use beginner::Beginner;
pub use odds::Odds;
pub use pick::pick;
pub use random::Random;
pub use steady::Steady;

use client::TableState;

/// Way to play.
pub trait Strategy: Send + Sync {
    /// Chooses the decision for `turn`, which is the player's own and lists the legal moves.
    fn choose(&mut self, state: &TableState, turn: &Turn) -> Move;
}

impl Strategy for Box<dyn Strategy> {
    fn choose(&mut self, state: &TableState, turn: &Turn) -> Move {
        (**self).choose(state, turn)
    }
}

/// Names that [`by_name`] accepts, sorted.
pub const NAMES: &[&str] = &["odds", "random", "steady"];

/// Returns a strategy by its name. Equal seeds give equal decisions in equal situations.
#[must_use]
pub fn by_name(name: &str, seed: u64) -> Option<Box<dyn Strategy>> {
    match name {
        "odds" => Some(Box::new(Odds::new(seed))),
        "random" => Some(Box::new(Random::new(seed))),
        "steady" => Some(Box::new(Steady::new(seed))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_strategy() {
        assert!(NAMES.is_sorted());
        for name in NAMES {
            assert!(by_name(name, 1).is_some(), "{name}");
        }
        assert!(by_name("clever", 1).is_none());
    }
}
