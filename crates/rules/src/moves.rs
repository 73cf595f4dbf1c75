//! Moves: a player's decisions, in every game. Each game says which of them are legal.
//!
//! Specification: rules/SPEC.md §6.

use std::fmt;

use primitives::Credits;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::player::Player;
use crate::token::ShiftToken;

/// One decision of one player.
#[derive(Clone, PartialEq, Eq)]
pub enum Move {
    /// Take a card from the only draw pile.
    Draw,
    Trade(Card),
    Stand,
    Lock(Card),
    Unlock(Card),
    Check,
    /// The size of the bet.
    Bet(Credits),
    Match,
    /// The total in this betting round, not the increase.
    Raise(Credits),
    Fold,
    CallHand,
    /// Legal out of turn too; see [`crate::decide`].
    Leave,
    Align(Side),
    Keep,
    Drop(Card),
    Choose([ShiftToken; 3]),
    Token(ShiftToken, Option<Player>),
    /// The value of the die that becomes the Prime.
    Prime(u8),
    DrawFrom(DrawSource),
    Discard(Card),
    Impostor {
        card: Card,
        value: u8,
    },
    Gain(Option<Card>),
    Swap(Card),
    Junk,
    Select(Cards),
    Add(Cards),
}

/// The sides of Force sabacc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Light,
    Dark,
}

/// A pile that a Kessel player draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DrawSource {
    Sand,
    Blood,
    SandDiscard,
    BloodDiscard,
}

impl Side {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Side::Light => "light",
            Side::Dark => "dark",
        }
    }
}

impl DrawSource {
    pub const ALL: [DrawSource; 4] =
        [DrawSource::Sand, DrawSource::Blood, DrawSource::SandDiscard, DrawSource::BloodDiscard];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DrawSource::Sand => "sand",
            DrawSource::Blood => "blood",
            DrawSource::SandDiscard => "sand-discard",
            DrawSource::BloodDiscard => "blood-discard",
        }
    }
}

impl Move {
    /// The first word of the move's history line.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Move::Draw | Move::DrawFrom(_) => "draw",
            Move::Trade(_) => "trade",
            Move::Stand => "stand",
            Move::Lock(_) => "lock",
            Move::Unlock(_) => "unlock",
            Move::Check => "check",
            Move::Bet(_) => "bet",
            Move::Match => "match",
            Move::Raise(_) => "raise",
            Move::Fold => "fold",
            Move::CallHand => "call-hand",
            Move::Leave => "leave",
            Move::Align(_) => "align",
            Move::Keep => "keep",
            Move::Drop(_) => "drop",
            Move::Choose(_) => "choose",
            Move::Token(..) => "token",
            Move::Prime(_) => "prime",
            Move::Discard(_) => "discard",
            Move::Impostor { .. } => "impostor",
            Move::Gain(_) => "gain",
            Move::Swap(_) => "swap",
            Move::Junk => "junk",
            Move::Select(_) => "select",
            Move::Add(_) => "add",
        }
    }

    /// The move as a history has it, without the player: `trade C11`, `raise 40`.
    #[must_use]
    pub fn text(&self, deck: &Deck) -> String {
        let mut text = self.verb().to_owned();
        for word in crate::event_view::words_of_move(self) {
            text.push(' ');
            text.push_str(&word.text(deck));
        }
        text
    }
}

/// Shows the verb alone: cards and secret choices stay out of logs.
impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb())
    }
}
