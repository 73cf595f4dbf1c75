//! Comparison of recorded cards with the cards that the seed gives.

use std::collections::{BTreeMap, BTreeSet};

use fairness::Handle;
use proto::common::v1::CardRef;
use proto::event::v1 as pb;
use rules::Card;

use super::{Replayer, parse_handle};
use crate::hand::Check;

impl Replayer {
    /// Checks that the cards which a decision names are recorded as the rules let everybody see
    /// them.
    pub(super) fn check_named_cards(
        &mut self,
        input: Option<&rules::Event>,
        decided: &pb::MoveDecided,
    ) {
        let expected = input.and_then(|event| self.replay.record_move(event).ok().flatten());
        let seen = |card: &CardRef| (card.op, card.position, card.card.clone());
        let same = expected.is_some_and(|it| {
            it.cards.iter().map(seen).eq(decided.cards.iter().map(seen))
                && it.r#move == decided.r#move
        });
        decided.cards.iter().for_each(|card| self.check_salt(card));
        if !same {
            let turn = decided.turn;
            self.findings.add_failure(Check::Cards, || {
                format!(
                    "turn {turn}: the cards of the decision are not written as they lie, or one \
                         that is hidden is written down"
                )
            });
        }
    }

    /// Checks for each of these seats that it shows its whole hand if the rules show it, and
    /// nothing otherwise. If the hand came to nothing, these are the seats that have shown, since
    /// the table may have stopped before the rest.
    pub(super) fn check_shown_hands(&mut self, seats: &BTreeSet<u32>) {
        let Some(end) = &self.findings.end else { return };
        let Some(deck) = self.findings.deck else { return };
        let mut expected = BTreeMap::new();
        for player in end.settlement.shown.iter() {
            let Some(hand) = end.settlement.hands.get(player.index()) else { continue };
            let cards = hand.cards.iter().filter_map(|card| {
                let handle = self.replay.positions.position_of(*card).ok()?;
                Some((handle, deck.code(*card).to_owned()))
            });
            let mut cards: Vec<_> = cards.collect();
            cards.sort();
            expected.insert(wire::moves::seat_of(player, &self.findings.seats), cards);
        }
        self.shown.values_mut().for_each(|cards| cards.sort());
        let wrong = seats.iter().copied().find(|seat| expected.get(seat) != self.shown.get(seat));
        if let Some(seat) = wrong {
            self.findings.add_failure(Check::Cards, || {
                format!("what seat {seat} shows at the end is not what the rules show of it")
            });
        }
    }

    /// Checks a recorded card: its face is the seed's if everybody sees it, and absent otherwise.
    pub(super) fn check_card(&mut self, card: &CardRef, open: bool) {
        let Some(deck) = self.findings.deck else { return };
        let face =
            parse_handle(card).and_then(|handle| self.face(handle)).map(|face| deck.code(face));
        let expected = if open { face.unwrap_or("?") } else { "" };
        if card.card != expected {
            let CardRef { op, position, card: _, salt: _ } = *card;
            self.findings.add_failure(Check::Cards, || {
                let problem = if open {
                    "is not the one the seed put there"
                } else {
                    "is hidden, and written"
                };
                format!("the card at position {position} of shuffle {op} {problem}")
            });
        }
    }

    /// Checks a recorded salt: it is the seed's if the face is recorded, and absent otherwise.
    pub(super) fn check_salt(&mut self, card: &CardRef) {
        let salt = parse_handle(card)
            .filter(|_| !card.card.is_empty())
            .map(|handle| fairness::deck::salt(&self.keys, handle.op, handle.position));
        let expected: &[u8] = salt.as_ref().map_or(&[], |salt| &salt[..]);
        if card.salt != expected {
            let CardRef { op, position, .. } = *card;
            self.findings.add_failure(Check::Cards, || {
                format!(
                    "the salt of position {position} of shuffle {op} is not what the seed gives"
                )
            });
        }
    }

    pub(super) fn face(&self, handle: Handle) -> Option<Card> {
        let id = self.shoe.card_at_any(handle).ok()?;
        self.findings.deck.and_then(|deck| deck.card(id))
    }
}
