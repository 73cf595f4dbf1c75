//! The four packs, each a canonical list of codes. A card's id is its index in the list. The lists
//! are published and never change, since shuffles of finished hands are checked against them.
//!
//! Copies that are alike (Kessel's, those of the 42-card pack, the Sylops of the 62-card pack)
//! share a code and are neighbours in the list.
//!
//! Specification: rules/SPEC.md §3.3.

use crate::c62;
use crate::cards::{Card, CardSet};
use crate::games::eleven::worth as eleven;
use crate::games::kessel::ranking as kessel;
use crate::s76;

/// A pack of cards.
#[derive(Debug)]
pub struct Deck {
    pub name: &'static str,
    /// Code of every card, by id.
    pub codes: &'static [&'static str],
    /// Value of a card by itself.
    pub(crate) value: fn(Card) -> Option<i16>,
}

impl Deck {
    /// Code of a card; `"??"` for a card of another deck.
    #[must_use]
    pub fn code(&self, card: Card) -> &'static str {
        self.codes.get(card.index()).copied().unwrap_or("??")
    }

    /// Value of a card by itself; none where it has none, as an Impostor.
    #[must_use]
    pub fn value(&self, card: Card) -> Option<i16> {
        self.card(card.id()).and_then(self.value)
    }

    /// The card with this id, if the deck has it.
    #[must_use]
    pub fn card(&self, id: u8) -> Option<Card> {
        (usize::from(id) < self.codes.len()).then(|| Card::of(id))
    }

    /// Set of the cards that this code may mean; empty if the deck has none.
    #[must_use]
    pub fn parse(&self, code: &str) -> CardSet {
        // Codes differ most in their last letter, so it is compared first.
        let last = code.as_bytes().last();
        let same = |other: &str| other.as_bytes().last() == last && other == code;
        let first = self.codes.iter().position(|other| same(other));
        let Some(first) = first else { return CardSet::EMPTY };
        let copies = self.codes[first..].iter().take_while(|other| same(other)).count();
        let id = |at: usize| u8::try_from(at).unwrap_or(u8::MAX);
        CardSet::range(id(first), id(first + copies))
    }

    /// Whether both cards have the same code: copies that cannot be distinguished.
    pub(crate) fn are_copies(&self, a: Card, b: Card) -> bool {
        a == b || self.code(a) == self.code(b)
    }

    /// Whether another card has the same code. Copies are neighbours in the list.
    pub(crate) fn has_copies(&self, card: Card) -> bool {
        let at = card.index();
        let beside = [at.checked_sub(1), at.checked_add(1)];
        let codes = beside.into_iter().flatten().filter_map(|at| self.codes.get(at));
        codes.into_iter().any(|&code| code == self.code(card))
    }

    /// All cards, by id.
    pub fn cards(&self) -> impl Iterator<Item = Card> {
        (0..self.len()).map(Card::of)
    }

    /// The different codes, in the order of the list.
    pub fn faces(&self) -> impl Iterator<Item = &'static str> {
        let codes = self.codes;
        (0..codes.len()).filter(|&at| at == 0 || codes[at] != codes[at - 1]).map(|at| codes[at])
    }

    #[must_use]
    pub fn len(&self) -> u8 {
        u8::try_from(self.codes.len()).expect("no pack has more than 128 cards")
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

/// The 76-card pack: four suits of 1 to 15, then eight faces in two copies each.
pub static S76: Deck = Deck {
    name: "S76",
    codes: &[
        "S1",
        "S2",
        "S3",
        "S4",
        "S5",
        "S6",
        "S7",
        "S8",
        "S9",
        "S10",
        "S11",
        "S12",
        "S13",
        "S14",
        "S15",
        "F1",
        "F2",
        "F3",
        "F4",
        "F5",
        "F6",
        "F7",
        "F8",
        "F9",
        "F10",
        "F11",
        "F12",
        "F13",
        "F14",
        "F15",
        "C1",
        "C2",
        "C3",
        "C4",
        "C5",
        "C6",
        "C7",
        "C8",
        "C9",
        "C10",
        "C11",
        "C12",
        "C13",
        "C14",
        "C15",
        "T1",
        "T2",
        "T3",
        "T4",
        "T5",
        "T6",
        "T7",
        "T8",
        "T9",
        "T10",
        "T11",
        "T12",
        "T13",
        "T14",
        "T15",
        "StarA",
        "StarB",
        "EvilA",
        "EvilB",
        "ModerationA",
        "ModerationB",
        "DemiseA",
        "DemiseB",
        "BalanceA",
        "BalanceB",
        "EnduranceA",
        "EnduranceB",
        "QueenA",
        "QueenB",
        "IdiotA",
        "IdiotB",
    ],
    value: |card| Some(s76::value(card)),
};

/// Kessel's 44 cards: the 22 of Sand, then the 22 of Blood.
pub static K44: Deck = Deck {
    name: "K44",
    codes: &[
        "s1", "s1", "s1", "s2", "s2", "s2", "s3", "s3", "s3", "s4", "s4", "s4", "s5", "s5", "s5",
        "s6", "s6", "s6", "sI", "sI", "sI", "sY", "b1", "b1", "b1", "b2", "b2", "b2", "b3", "b3",
        "b3", "b4", "b4", "b4", "b5", "b5", "b5", "b6", "b6", "b6", "bI", "bI", "bI", "bY",
    ],
    value: kessel::value,
};

/// The 42-card pack: twice 1 to 5 in four suits, and twice the six of spades.
pub static P42: Deck = Deck {
    name: "P42",
    codes: &[
        "1S", "1S", "1H", "1H", "1D", "1D", "1C", "1C", "2S", "2S", "2H", "2H", "2D", "2D", "2C",
        "2C", "3S", "3S", "3H", "3H", "3D", "3D", "3C", "3C", "4S", "4S", "4H", "4H", "4D", "4D",
        "4C", "4C", "5S", "5S", "5H", "5H", "5D", "5D", "5C", "5C", "6S", "6S",
    ],
    value: |card| Some(eleven::value(card)),
};

/// The 62-card pack: circles, triangles and squares, each +1 to +10 and -1 to -10, then two Sylops.
pub static C62: Deck = Deck {
    name: "C62",
    codes: &[
        "c+1", "c+2", "c+3", "c+4", "c+5", "c+6", "c+7", "c+8", "c+9", "c+10", "c-1", "c-2", "c-3",
        "c-4", "c-5", "c-6", "c-7", "c-8", "c-9", "c-10", "t+1", "t+2", "t+3", "t+4", "t+5", "t+6",
        "t+7", "t+8", "t+9", "t+10", "t-1", "t-2", "t-3", "t-4", "t-5", "t-6", "t-7", "t-8", "t-9",
        "t-10", "s+1", "s+2", "s+3", "s+4", "s+5", "s+6", "s+7", "s+8", "s+9", "s+10", "s-1",
        "s-2", "s-3", "s-4", "s-5", "s-6", "s-7", "s-8", "s-9", "s-10", "Y", "Y",
    ],
    value: |card| Some(c62::value(card)),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the size, the number of different codes, and how many cards the given code means.
    fn check(deck: &Deck, size: u8, faces: usize, code: &str, copies: usize) {
        assert_eq!(deck.len(), size, "{}", deck.name);
        let mut codes = deck.codes.to_vec();
        codes.dedup();
        assert_eq!(codes.len(), faces, "{}: alike cards stand together", deck.name);
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), faces, "{}", deck.name);
        assert_eq!(deck.parse(code).len(), copies, "{} {code}", deck.name);
        assert!(deck.parse("nonsense").is_empty());
    }

    /// rules/SPEC.md §3.3, R-4.
    #[test]
    fn every_pack_is_whole() {
        check(&S76, 76, 76, "QueenB", 1);
        check(&K44, 44, 16, "sI", 3);
        check(&P42, 42, 21, "6S", 2);
        check(&C62, 62, 61, "Y", 2);
    }
}
