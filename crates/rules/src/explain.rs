//! The rules of a table in words, as they are configured: for people, in a terminal or on a page.
//!
//! The text comes from the rule set, the deck and the constants of the games, and every example is
//! ranked by the code that ranks hands at a table, so it cannot describe another game than the one
//! that is played. Money and clock, which all games share, are written once. The rest belongs to
//! the modules of the games.

mod decks;
mod money;
mod section;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod twenty_three;
mod variants;

pub use section::{Example, Explanation, Item, Section};
pub use variants::{NOT_IMPLEMENTED, NotImplemented, VariantsPage};

use crate::ruleset::RuleSet;

/// Clock settings of a table. They are no rule of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Seconds for each decision.
    pub action_seconds: u32,
    /// Seconds for each player and hand, used up after those of the decision.
    pub bank_seconds: u32,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { action_seconds: 20, bank_seconds: 30 }
    }
}

/// The parts of an explanation that depend on the variant.
pub(crate) struct VariantText {
    pub(crate) course: Section,
    pub(crate) moves: Section,
    pub(crate) ranking: Section,
    /// Paragraphs after the antes and the betting.
    pub(crate) money: Vec<String>,
    /// The decisions that the clock takes.
    pub(crate) defaults: &'static str,
    /// The effect of leaving in the middle of a hand.
    pub(crate) leaving: &'static str,
}

/// Text for games in which a leaver's hand plays on.
pub(crate) const PLAYS_ON: &str = "If you leave in the middle of a hand, every decision that comes to you \
    from then on is taken like that at once. Your hand can still win; your stack is paid out when the \
    hand is over.";

/// Explains the kinds of hand under this rule set, best first; hands that cannot win come last.
#[must_use]
pub fn explain_ranks(rules: &RuleSet) -> Section {
    (rules.variant().explain)(rules).ranking
}

/// Explains the rules of a table with this rule set and this clock.
#[must_use]
pub fn explain(rules: &RuleSet, clock: Clock) -> Explanation {
    let variant = rules.variant();
    let words = (variant.explain)(rules);
    let seats = rules.player_counts();
    let seats = if seats.start() == seats.end() {
        format!("Exactly {} players.", seats.start())
    } else {
        format!("{} to {} players.", seats.start(), seats.end())
    };
    let Clock { action_seconds, bank_seconds } = clock;
    let clock = Section::new("The clock")
        .paragraph(format!(
            "Every decision has {action_seconds} seconds. Whoever needs longer uses up their time bank, \
             {bank_seconds} seconds for the whole hand."
        ))
        .paragraph(format!("When both are gone, the clock decides: {}", words.defaults))
        .paragraph("Whoever misses three decisions in a row sits out after the hand.".to_owned())
        .paragraph(words.leaving.to_owned());
    Explanation {
        variant: variant.id,
        title: variant.title.to_owned(),
        sections: vec![
            decks::section(variant).paragraph(seats),
            words.course,
            words.moves,
            words.ranking,
            money::section(rules, words.money),
            clock,
        ],
    }
}
