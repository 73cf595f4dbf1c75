//! Phases of a hand.

use std::fmt;

/// Phase of a hand. Each game has some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandPhase {
    /// Chance gives what the hand begins with.
    Deal,
    /// Tokens are chosen.
    Draft,
    /// Sides are found out or declared.
    Alignment,
    /// Players act on their cards, one turn each.
    Play,
    /// Players act on their cards, or call the hand.
    Action,
    /// A player who has bet may draw.
    Draw,
    /// Laps of turns with tokens and draws.
    Turns,
    /// Cards are selected.
    Select,
    /// Dice decide whether hands are redrawn.
    Dice,
    Betting,
    /// Cards are exchanged.
    Redraw,
    /// New cards may be added to a selection.
    Add,
    /// Hands are shown one after the other.
    Showdown,
    /// Layers are settled, with further cards where they are tied.
    Scoring,
    /// Hands are shown and compared.
    Reveal,
    /// The hand is settled.
    Over,
}

impl HandPhase {
    pub const ALL: [HandPhase; 16] = [
        HandPhase::Deal,
        HandPhase::Draft,
        HandPhase::Alignment,
        HandPhase::Play,
        HandPhase::Action,
        HandPhase::Draw,
        HandPhase::Turns,
        HandPhase::Select,
        HandPhase::Dice,
        HandPhase::Betting,
        HandPhase::Redraw,
        HandPhase::Add,
        HandPhase::Showdown,
        HandPhase::Scoring,
        HandPhase::Reveal,
        HandPhase::Over,
    ];

    /// The phase in a word, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HandPhase::Deal => "deal",
            HandPhase::Draft => "draft",
            HandPhase::Alignment => "alignment",
            HandPhase::Play => "play",
            HandPhase::Action => "action",
            HandPhase::Draw => "draw",
            HandPhase::Turns => "turns",
            HandPhase::Select => "select",
            HandPhase::Dice => "dice",
            HandPhase::Betting => "betting",
            HandPhase::Redraw => "redraw",
            HandPhase::Add => "add",
            HandPhase::Showdown => "showdown",
            HandPhase::Scoring => "scoring",
            HandPhase::Reveal => "reveal",
            HandPhase::Over => "over",
        }
    }
}

impl fmt::Display for HandPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
