//! Cards as numbers: a physical card is its index in its deck's canonical list, whatever its face.
//!
//! Two cards with the same face are two cards. Sets are bit sets: no deck has more than 128 cards.
//! `Debug` never shows which card it is, so that no log line can.
//!
//! Specification: rules/SPEC.md §3.3.

use std::fmt;

use smallvec::SmallVec;

/// One physical card of the deck in play.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(u8);

/// Cards in an order that matters. Up to sixteen need no allocation.
pub type Cards = SmallVec<[Card; 16]>;

/// A set of cards of one deck.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct CardSet(u128);

impl Card {
    /// Makes a card of an `id` below 128; [`crate::Deck::card`] checks an id against a deck.
    pub(crate) const fn of(id: u8) -> Card {
        Card(id)
    }

    /// Index of the card in the canonical deck list.
    #[must_use]
    pub const fn id(self) -> u8 {
        self.0
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Card(..)")
    }
}

impl CardSet {
    pub const EMPTY: CardSet = CardSet(0);

    /// Set of the cards with the ids from `first` up to, not including, `end`.
    pub(crate) const fn range(first: u8, end: u8) -> CardSet {
        CardSet(((1 << end) - 1) & !((1 << first) - 1))
    }

    #[must_use]
    pub const fn contains(self, card: Card) -> bool {
        self.0 & (1 << card.0) != 0
    }

    #[must_use]
    pub const fn with(self, card: Card) -> CardSet {
        CardSet(self.0 | 1 << card.0)
    }

    #[must_use]
    pub const fn without(self, card: Card) -> CardSet {
        CardSet(self.0 & !(1 << card.0))
    }

    #[must_use]
    pub(crate) const fn union(self, other: CardSet) -> CardSet {
        CardSet(self.0 | other.0)
    }

    #[must_use]
    pub const fn minus(self, other: CardSet) -> CardSet {
        CardSet(self.0 & !other.0)
    }

    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates in ascending order of ids.
    pub fn iter(self) -> impl Iterator<Item = Card> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let id = u8::try_from(rest.trailing_zeros()).ok().filter(|&id| id < 128)?;
            rest &= rest - 1;
            Some(Card(id))
        })
    }

    /// The card with `n` smaller ones before it.
    #[must_use]
    pub fn nth(self, n: usize) -> Option<Card> {
        let low = CardSet(self.0 & u128::from(u64::MAX));
        match n.checked_sub(low.len()) {
            None => low.iter().nth(n),
            Some(n) => self.minus(low).iter().nth(n),
        }
    }
}

impl fmt::Debug for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CardSet({} cards)", self.len())
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> CardSet {
        cards.into_iter().fold(CardSet::EMPTY, CardSet::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_iterate_in_order_and_count() {
        let set: CardSet = [5, 127, 0, 64].into_iter().map(Card::of).collect();
        assert_eq!(set.iter().map(Card::id).collect::<Vec<_>>(), [0, 5, 64, 127]);
        assert_eq!(set.len(), 4);
        assert_eq!(set.nth(2), Some(Card::of(64)));
        assert_eq!(set.nth(4), None);
        assert!(!set.without(Card::of(5)).contains(Card::of(5)));
    }

    #[test]
    fn debug_does_not_show_the_card() {
        assert_eq!(format!("{:?}", Card::of(7)), format!("{:?}", Card::of(8)));
    }
}
