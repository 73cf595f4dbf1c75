//! The variants page: every game that is played, and every game that a source names and that is not
//! played.

use std::fmt;

use crate::explain::text::number;
use crate::variant::{ALL, Variant};

/// Game that a source names and that is not played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotImplemented {
    pub title: &'static str,
    pub reason: &'static str,
}

/// Games that "Star Wars Universe Overview" names without their rules (rules/SPEC.md §2.2).
pub static NOT_IMPLEMENTED: &[NotImplemented] = &[
    NotImplemented {
        title: "Centran Sabac",
        reason: "the overview names Ian Cooper's rules, for a French Tarot deck, without giving their text",
    },
    NotImplemented {
        title: "Contract Sabacc",
        reason: "the overview names Ian Cooper's rules, a simplified French Tarot, without giving their text",
    },
    NotImplemented {
        title: "West End Games rules",
        reason: "the overview names the reconstructions by M. Brent Sleeper and Marc J.S, for 76 cards, \
              without giving their text",
    },
];

/// Text of all games, those that are played first.
#[derive(Debug, Clone, Copy, Default)]
pub struct VariantsPage;

impl fmt::Display for VariantsPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for variant in ALL {
            let Variant { id, title, source, .. } = variant;
            let (least, most) = (variant.player_counts.start(), variant.player_counts.end());
            let (deck, cards) = (variant.deck.name, variant.deck.len());
            writeln!(f, "{id:<12}{title}")?;
            writeln!(f, "            {deck}, {cards} cards; {least} to {most} players")?;
            writeln!(f, "            after {source}")?;
        }
        writeln!(f)?;
        let count = number(u64::try_from(NOT_IMPLEMENTED.len()).unwrap_or_default());
        writeln!(f, "Not implemented are {count} games:")?;
        for NotImplemented { title, reason: why } in NOT_IMPLEMENTED {
            writeln!(f, "  {title}: {why}.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_stands_there_with_its_source_deck_and_seats() {
        let page = VariantsPage.to_string();
        for variant in ALL {
            let seats = format!(
                "{} to {} players",
                variant.player_counts.start(),
                variant.player_counts.end()
            );
            let at = page.find(&format!("{:<12}{}\n", variant.id, variant.title)).unwrap();
            let entry: Vec<&str> = page[at..].lines().take(3).collect();
            assert!(entry[1].contains(variant.deck.name) && entry[1].contains(&seats), "{entry:?}");
            assert!(!variant.source.is_empty() && entry[2].contains(variant.source), "{entry:?}");
        }
    }

    /// rules/SPEC.md §2.2.
    #[test]
    fn games_without_a_text_are_named_with_the_reason() {
        let page = VariantsPage.to_string();
        let (_, rest) = page.split_once("Not implemented are three games:").unwrap();
        for game in ["Centran Sabac", "Contract Sabacc", "West End Games rules"] {
            let line = rest.lines().find(|line| line.contains(game)).unwrap();
            assert!(line.contains("without giving their text"), "{line}");
        }
    }
}
