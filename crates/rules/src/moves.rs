//! Moves: a player's decisions, in every game. Each game says which of them are legal.
//!
//! One row of the table below declares a move. Verbs, history lines, legal moves and the protocol's
//! messages follow from its kind and the shape of its arguments.
//!
//! Specification: rules/SPEC.md §6.

use std::fmt;

use primitives::Credits;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::player::Player;
use crate::token::ShiftToken;

/// Declares the moves: name, arguments, first word of the history line, shape of the arguments.
macro_rules! moves {
    ($($(#[$doc:meta])* $name:ident $(($($argument:ident: $of:ty),+))? = $verb:literal $shape:ident;)*) => {
        /// One decision of one player.
        #[derive(Clone, PartialEq, Eq)]
        pub enum Move {
            $($(#[$doc])* $name $(($($of),+))?,)*
        }

        /// Kind of a move. The protocol's numbers are in this order, from 1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MoveKind {
            $($name,)*
        }

        impl MoveKind {
            pub const ALL: &[MoveKind] = &[$(MoveKind::$name),*];

            /// The first word of the move's history line.
            #[must_use]
            pub const fn verb(self) -> &'static str {
                match self { $(MoveKind::$name => $verb,)* }
            }

            #[must_use]
            pub const fn shape(self) -> Shape {
                match self { $(MoveKind::$name => Shape::$shape,)* }
            }

            /// The move of this kind with these arguments; none if they have another shape.
            #[must_use]
            pub fn with(self, arguments: Arguments) -> Option<Move> {
                match self {
                    $(MoveKind::$name => {
                        if let Arguments::$shape $(($($argument),+))? = arguments {
                            Some(Move::$name $(($($argument),+))?)
                        } else {
                            None
                        }
                    })*
                }
            }
        }

        impl Move {
            #[must_use]
            pub const fn kind(&self) -> MoveKind {
                match self { $(Move::$name { .. } => MoveKind::$name,)* }
            }

            #[must_use]
            pub fn arguments(&self) -> Arguments {
                match self.clone() {
                    $(Move::$name $(($($argument),+))? => Arguments::$shape $(($($argument),+))?,)*
                }
            }
        }
    };
}

moves! {
    /// Take a card from the only draw pile.
    Draw = "draw" Nothing;
    Trade(card: Card) = "trade" Card;
    Stand = "stand" Nothing;
    Lock(card: Card) = "lock" Card;
    Unlock(card: Card) = "unlock" Card;
    Check = "check" Nothing;
    /// The size of the bet.
    Bet(amount: Credits) = "bet" Amount;
    Match = "match" Nothing;
    /// The total in this betting round, not the increase.
    Raise(amount: Credits) = "raise" Amount;
    Fold = "fold" Nothing;
    CallHand = "call-hand" Nothing;
    /// Legal out of turn too; see [`crate::decide`].
    Leave = "leave" Nothing;
    Align(side: Side) = "align" Side;
    Keep = "keep" Nothing;
    Drop(card: Card) = "drop" Card;
    Choose(tokens: [ShiftToken; 3]) = "choose" Tokens;
    Token(token: ShiftToken, target: Option<Player>) = "token" Token;
    /// The value of the die that becomes the Prime.
    Prime(value: u8) = "prime" Die;
    DrawFrom(source: DrawSource) = "draw" Pile;
    Discard(card: Card) = "discard" Card;
    /// An Impostor and its value.
    Impostor(card: Card, value: u8) = "impostor" CardAndDie;
    /// The card that is discarded first.
    Gain(card: Option<Card>) = "gain" OptionalCard;
    Swap(card: Card) = "swap" Card;
    Junk = "junk" Nothing;
    Select(cards: Cards) = "select" Cards;
    Add(cards: Cards) = "add" AnyCards;
}

/// Declares the moves of one decision as an enum, so that a match over them needs no default arm.
macro_rules! actions {
    ($(#[$doc:meta])* $name:ident { $($kind:ident $(($($argument:ident: $of:ty),+))?),+ }) => {
        $(#[$doc])*
        enum $name {
            $($kind $(($($of),+))?,)+
        }

        impl $name {
            /// The action that a legal move stands for.
            fn of(mv: &Move) -> $name {
                let mv = mv.clone();
                $(if let Move::$kind $(($($argument),+))? = mv {
                    return $name::$kind $(($($argument),+))?;
                })+
                unreachable!("{mv:?} was refused before")
            }
        }
    };
}

pub(crate) use actions;

/// Arguments of a move.
#[derive(Clone, PartialEq, Eq)]
pub enum Arguments {
    Nothing,
    Card(Card),
    OptionalCard(Option<Card>),
    Cards(Cards),
    AnyCards(Cards),
    Amount(Credits),
    Side(Side),
    Pile(DrawSource),
    Tokens([ShiftToken; 3]),
    /// A token, and the player who is its target.
    Token(ShiftToken, Option<Player>),
    Die(u8),
    CardAndDie(Card, u8),
}

/// Shape of the arguments of a kind of move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Nothing,
    Card,
    OptionalCard,
    /// One card or more.
    Cards,
    /// Any number of cards, none too.
    AnyCards,
    Amount,
    Side,
    Pile,
    Tokens,
    Token,
    Die,
    CardAndDie,
}

impl Arguments {
    /// Cards that are named, in order.
    #[must_use]
    pub fn cards(&self) -> &[Card] {
        match self {
            Arguments::Card(card) | Arguments::CardAndDie(card, _) => std::slice::from_ref(card),
            Arguments::OptionalCard(card) => card.as_slice(),
            Arguments::Cards(cards) | Arguments::AnyCards(cards) => cards,
            Arguments::Nothing
            | Arguments::Amount(_)
            | Arguments::Side(_)
            | Arguments::Pile(_)
            | Arguments::Tokens(_)
            | Arguments::Token(..)
            | Arguments::Die(_) => &[],
        }
    }
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
    pub const ALL: [Side; 2] = [Side::Light, Side::Dark];

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
        self.kind().verb()
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
