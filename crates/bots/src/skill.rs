//! Skills of bots: names for people, each with the strategy behind it.
//!
//! Each plays all games from its own view and the legal moves alone. That an expert wins from a
//! regular, and a regular from a beginner, in every game, is tested in `tests/play/skills.rs`.

use crate::strategy::{Beginner, Odds, Steady, Strategy};

/// Skill of a bot, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skill {
    /// Plays cautiously when they attend, and on a whim as often: [`Beginner`].
    Beginner,
    /// Knows what a hand is worth, and bets by that: [`Steady`].
    Regular,
    /// Counts what each choice wins over many deals of the unseen cards: [`Odds`].
    Expert,
}

impl Skill {
    /// All skills, the weakest first.
    pub const ALL: [Skill; 3] = [Skill::Beginner, Skill::Regular, Skill::Expert];

    /// Returns the name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Skill::Beginner => "beginner",
            Skill::Regular => "regular",
            Skill::Expert => "expert",
        }
    }

    /// Returns the strategy. Equal seeds give equal decisions in equal situations.
    #[must_use]
    pub fn strategy(self, seed: u64) -> Box<dyn Strategy> {
        match self {
            Skill::Beginner => Box::new(Beginner::new(seed)),
            Skill::Regular => Box::new(Steady::new(seed)),
            Skill::Expert => Box::new(Odds::new(seed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_ascend_and_have_names_of_their_own() {
        assert!(Skill::ALL.is_sorted());
        let names: std::collections::BTreeSet<_> = Skill::ALL.map(Skill::name).into();
        assert_eq!(names.len(), Skill::ALL.len());
    }
}
