//! Values and suits of the 62-card pack.
//!
//! Specification: rules/SPEC.md §3.3.

use crate::cards::Card;

/// Number of cards in a suit: +1 to +10, then -1 to -10.
const CARDS_PER_SUIT: u8 = 20;

/// A suit of the 62-card pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suit {
    Circle,
    Triangle,
    Square,
}

impl Suit {
    pub const ALL: [Suit; 3] = [Suit::Circle, Suit::Triangle, Suit::Square];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Suit::Circle => "circle",
            Suit::Triangle => "triangle",
            Suit::Square => "square",
        }
    }
}

/// Suit of a card; none for a Sylop.
pub(crate) const fn suit(card: Card) -> Option<Suit> {
    match card.id() / CARDS_PER_SUIT {
        0 => Some(Suit::Circle),
        1 => Some(Suit::Triangle),
        2 => Some(Suit::Square),
        _ => None,
    }
}

/// Value of a card, -10 to +10; 0 for a Sylop.
pub(crate) fn value(card: Card) -> i16 {
    let rank = i16::from(card.id() % CARDS_PER_SUIT) + 1;
    match suit(card) {
        None => 0,
        Some(_) if rank <= 10 => rank,
        Some(_) => 10 - rank,
    }
}

pub(crate) fn total(cards: &[Card]) -> i16 {
    cards.iter().map(|&card| value(card)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::C62;

    #[test]
    fn codes_say_suit_and_value() {
        for card in C62.cards() {
            let code = C62.code(card);
            let (face, number) = (&code[..1], &code[1..]);
            let name = suit(card).map_or("Y", |suit| &suit.name()[..1]);
            assert_eq!(face, name, "{code}");
            assert_eq!(value(card), number.parse().unwrap_or(0), "{code}");
        }
        assert_eq!(total(&C62.cards().collect::<Vec<_>>()), 0);
    }
}
