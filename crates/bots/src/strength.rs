//! Strengths of bots: names for people, each with the strategy behind it.
//!
//! Each plays all games from its own view and the legal moves alone. That an expert wins from a
//! regular, and a regular from a beginner, in every game, is tested in `tests/play/strengths.rs`.

use crate::strategy::{Beginner, Odds, Steady, Strategy};

/// Strength of a bot, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Plays cautiously when they attend, and on a whim as often: [`Beginner`].
    Beginner,
    /// Knows what a hand is worth, and bets by that: [`Steady`].
    Regular,
    /// Counts what each choice wins over many deals of the unseen cards: [`Odds`].
    Expert,
}

impl Strength {
    /// All strengths, the weakest first.
    pub const ALL: [Strength; 3] = [Strength::Beginner, Strength::Regular, Strength::Expert];

    /// Returns the name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Strength::Beginner => "beginner",
            Strength::Regular => "regular",
            Strength::Expert => "expert",
        }
    }

    /// Returns the strategy. Equal seeds give equal decisions in equal situations.
    #[must_use]
    pub fn strategy(self, seed: u64) -> Box<dyn Strategy> {
        match self {
            Strength::Beginner => Box::new(Beginner::new(seed)),
            Strength::Regular => Box::new(Steady::new(seed)),
            Strength::Expert => Box::new(Odds::new(seed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_ascend_and_have_names_of_their_own() {
        assert!(Strength::ALL.is_sorted());
        let names: std::collections::BTreeSet<_> = Strength::ALL.map(Strength::name).into();
        assert_eq!(names.len(), Strength::ALL.len());
    }
}
