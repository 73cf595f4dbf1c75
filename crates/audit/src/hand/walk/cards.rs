//! Cards on record against the cards that the seed put there.

use std::collections::{BTreeMap, BTreeSet};

use fairness::Handle;
use proto::common::v1::CardRef;
use proto::event::v1 as pb;
use rules::Card;

use super::{Walker, place};
use crate::hand::Check;

impl Walker {
    /// The cards a decision names are written down as the rules let everybody see them.
    pub(super) fn named_cards(&mut self, input: Option<&rules::Event>, decided: &pb::MoveDecided) {
        let expected = input.and_then(|event| self.replay.record_move(event).ok().flatten());
        let seen = |card: &CardRef| (card.op, card.position, card.card.clone());
        let same = expected.is_some_and(|it| {
            it.cards.iter().map(seen).eq(decided.cards.iter().map(seen))
                && it.r#move == decided.r#move
        });
        decided.cards.iter().for_each(|card| self.salted(card));
        if !same {
            let turn = decided.turn;
            self.out.trouble(Check::Cards, || {
                format!(
                    "turn {turn}: the cards of the decision are not written as they lie, or one \
                         that is hidden is written down"
                )
            });
        }
    }

    /// Of these seats, who shows, shows all of his hand and nothing else; nobody else shows. Where a
    /// hand came to nothing these are the seats that have shown: the table may not have come to it.
    pub(super) fn shows(&mut self, seats: &BTreeSet<u32>) {
        let Some(end) = &self.out.end else { return };
        let Some(deck) = self.out.deck else { return };
        let mut expected = BTreeMap::new();
        for player in end.settlement.shown.iter() {
            let Some(hand) = end.settlement.hands.get(player.index()) else { continue };
            let cards = hand.cards.iter().filter_map(|card| {
                let place = self.replay.places.of(*card).ok()?;
                Some((place, deck.code(*card).to_owned()))
            });
            let mut cards: Vec<_> = cards.collect();
            cards.sort();
            expected.insert(wire::moves::seat_of(player, &self.out.seats), cards);
        }
        self.shown.values_mut().for_each(|cards| cards.sort());
        let wrong = seats.iter().copied().find(|seat| expected.get(seat) != self.shown.get(seat));
        if let Some(seat) = wrong {
            self.out.trouble(Check::Cards, || {
                format!("what seat {seat} shows at the end is not what the rules show of it")
            });
        }
    }

    /// A card on record: its face, where everybody sees it, is the seed's.
    pub(super) fn compare(&mut self, card: &CardRef, open: bool) {
        let Some(deck) = self.out.deck else { return };
        let face = place(card).and_then(|place| self.face(place)).map(|face| deck.code(face));
        let expected = if open { face.unwrap_or("?") } else { "" };
        if card.card != expected {
            let CardRef { op, position, card: _, salt: _ } = *card;
            self.out.trouble(Check::Cards, || {
                let problem = if open {
                    "is not the one the seed put there"
                } else {
                    "is hidden, and written"
                };
                format!("the card at position {position} of shuffle {op} {problem}")
            });
        }
    }

    /// The salt of a card whose face is on record is the seed's, and no other card's is there.
    pub(super) fn salted(&mut self, card: &CardRef) {
        let salt = place(card)
            .filter(|_| !card.card.is_empty())
            .map(|place| fairness::deck::salt(&self.keys, place.op, place.position));
        let expected: &[u8] = salt.as_ref().map_or(&[], |salt| &salt[..]);
        let unproved = card.salt.is_empty() && !self.proved_cards;
        if card.salt != expected && !unproved {
            let CardRef { op, position, .. } = *card;
            self.out.trouble(Check::Cards, || {
                format!(
                    "the salt of position {position} of shuffle {op} is not what the seed gives"
                )
            });
        }
    }

    pub(super) fn face(&self, place: Handle) -> Option<Card> {
        let id = self.shoe.reopen(place).ok()?;
        self.out.deck.and_then(|deck| deck.card(id))
    }
}
