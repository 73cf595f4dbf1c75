//! Padding, so that the size of a message says nothing about the cards in it.
//!
//! Card codes and card ids differ in encoded length, so the length of a message alone could tell
//! cards apart. A message that shows cards is therefore padded to the size that it would have with
//! the deck's longest code for every card. The largest possible padding decides how the padding's
//! own length is encoded, so that every size can be reached. The same holds for the state of a game:
//! codes in it, and totals of hands whose cards are hidden.
//!
//! The sizes are computed without building such messages, which is expensive.

use std::iter::Sum;

use prost::{Message as _, length_delimiter_len};
use proto::common::v1::{CardProof, LegalMove, Move};
use proto::table::v1 as pb;
use proto::table::v1::game_state::State;
use rules::Deck;
use wire::moves::HIDDEN;

/// Least padding whose length takes two bytes to encode.
const TWO_BYTE_LENGTH: usize = 128;
/// Bytes of a card's id as a field, unless it is 0 and left out; all ids are below 128.
const CARD_ID_BYTES: usize = 2;
/// Bytes of the total of an opening hand as a field, if it is negative; 0 is left out.
const MAX_TOTAL_BYTES: usize = 11;

/// Pads a message.
pub(super) fn pad(action: &mut pb::HandAction, deck: &Deck) {
    let shows_cards = shows_cards(action);
    if !shows_cards && action.game_state.is_none() {
        return;
    }
    let size = CodeLengths::of(deck).action(action);
    if !shows_cards && size.min == size.max {
        return;
    }
    let filling =
        if size.max.saturating_sub(size.min) + 1 < TWO_BYTE_LENGTH { 1 } else { TWO_BYTE_LENGTH };
    action.padding = vec![0; size.max.saturating_sub(size.now) + filling];
}

fn shows_cards(action: &pb::HandAction) -> bool {
    let seen = |code: &String| code != HIDDEN;
    let decided = action.decision.iter().flat_map(|decided| &decided.cards);
    let held = action.hands.iter().flat_map(|hand| &hand.cards);
    let legal = action.turn.iter().flat_map(|turn| &turn.legal);
    action.cards.iter().chain(decided).any(seen)
        || held.map(|held| &held.code).any(seen)
        || legal.flat_map(|legal| &legal.cards).any(seen)
}

/// Size of a value as it is, and with the shortest and the longest codes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SizeRange {
    now: usize,
    min: usize,
    max: usize,
}

impl SizeRange {
    const fn fixed(now: usize) -> SizeRange {
        SizeRange { now, min: now, max: now }
    }

    /// Size of a value that is `now` long and in which only `parts` may differ.
    fn of_message(now: usize, parts: impl IntoIterator<Item = SizeRange>) -> SizeRange {
        let parts: SizeRange = parts.into_iter().sum();
        let rest = now.saturating_sub(parts.now);
        SizeRange { now, min: rest + parts.min, max: rest + parts.max }
    }

    /// Size as a field without its tag, which includes the encoded length.
    fn field(self) -> SizeRange {
        let with = |size| size + length_delimiter_len(size);
        SizeRange { now: with(self.now), min: with(self.min), max: with(self.max) }
    }
}

impl Sum for SizeRange {
    fn sum<I: Iterator<Item = SizeRange>>(sizes: I) -> SizeRange {
        sizes.fold(SizeRange::default(), |a, b| SizeRange {
            now: a.now + b.now,
            min: a.min + b.min,
            max: a.max + b.max,
        })
    }
}

/// Codes of a deck, and the lengths of its shortest and longest code.
#[derive(Clone, Copy)]
struct CodeLengths<'a> {
    deck: &'a Deck,
    shortest: usize,
    longest: usize,
}

impl CodeLengths<'_> {
    fn of(deck: &Deck) -> CodeLengths<'_> {
        let lengths = deck.codes.iter().map(|code| code.len());
        let (short, long) = lengths
            .fold((usize::MAX, 0), |(short, long), length| (short.min(length), long.max(length)));
        CodeLengths { deck, shortest: short, longest: long }
    }

    fn action(self, action: &pb::HandAction) -> SizeRange {
        let hands = action.hands.iter().map(|hand| self.hand(hand).field());
        let proofs = action.proofs.iter().map(|proof| proof_size(proof).field());
        let decided = action.decision.iter().map(|decided| self.decided(decided).field());
        let turn = action.turn.iter().map(|turn| self.turn(turn).field());
        let own = [self.line(&action.line).field()].into_iter().chain(self.cards(&action.cards));
        let state = action.game_state.iter().map(|state| self.game_state(state).field());
        let parts = own.chain(hands).chain(proofs).chain(decided).chain(turn).chain(state);
        SizeRange::of_message(action.encoded_len(), parts)
    }

    fn hand(self, hand: &pb::HandSeat) -> SizeRange {
        let held = hand.cards.iter().map(|held| {
            let proof = held.proof.iter().map(|proof| proof_size(proof).field());
            let parts = [self.card(&held.code).field()].into_iter().chain(proof);
            SizeRange::of_message(held.encoded_len(), parts).field()
        });
        SizeRange::of_message(hand.encoded_len(), held)
    }

    /// Size of the state that only this game has: its cards, and what is shown of hidden ones.
    fn game_state(self, state: &pb::GameState) -> SizeRange {
        let game = state.state.iter().map(|game| {
            match game {
                State::Coruscant(state) => self.coruscant(state),
                State::Dice(state) => {
                    SizeRange::of_message(state.encoded_len(), totals(&state.declared_totals))
                }
                State::Electronic(state) => {
                    SizeRange::of_message(state.encoded_len(), totals(&state.declared_totals))
                }
                // Codes of the same length, and nothing hidden.
                State::Eleven(state) => SizeRange::fixed(state.encoded_len()),
                State::Force(state) => SizeRange::fixed(state.encoded_len()),
                State::Swg(state) => SizeRange::fixed(state.encoded_len()),
                State::Kessel(state) => self.kessel(state),
                State::Spike(state) => {
                    let top = self.cards(std::slice::from_ref(&state.top_discard));
                    SizeRange::of_message(state.encoded_len(), top)
                }
            }
            .field()
        });
        SizeRange::of_message(state.encoded_len(), game)
    }

    fn coruscant(self, state: &pb::CoruscantState) -> SizeRange {
        let selections = state.selections.iter().map(|selection| {
            let cards = self.cards(&selection.cards);
            SizeRange::of_message(selection.encoded_len(), cards).field()
        });
        SizeRange::of_message(state.encoded_len(), selections)
    }

    fn kessel(self, state: &pb::KesselState) -> SizeRange {
        let discards = [&state.sand_discard, &state.blood_discard].into_iter();
        let discards = discards.filter(|code| !code.is_empty()).map(|code| self.card(code).field());
        SizeRange::of_message(state.encoded_len(), discards)
    }

    fn decided(self, decided: &Move) -> SizeRange {
        SizeRange::of_message(decided.encoded_len(), self.cards(&decided.cards))
    }

    fn turn(self, turn: &pb::Turn) -> SizeRange {
        let legal = turn.legal.iter().map(|legal| self.legal(legal).field());
        let default = turn.default_move.iter().map(|default| self.decided(default).field());
        SizeRange::of_message(turn.encoded_len(), legal.chain(default))
    }

    /// Size of a legal move. Its text names copies of a card once, which tells about cards too.
    fn legal(self, legal: &LegalMove) -> SizeRange {
        let words = || legal.text.split([' ', '|']);
        let named = words().filter(|word| self.is_code(word)).count();
        let text = if named == 0 {
            SizeRange::fixed(legal.text.len())
        } else {
            let others: usize =
                words().filter(|word| !self.is_code(word)).map(|word| word.len() + 1).sum();
            let choices = |count: usize, length: usize| {
                // Each has something between it and the next.
                (others + count * (length + 1)).saturating_sub(1)
            };
            let all = legal.cards.len();
            SizeRange {
                now: legal.text.len(),
                min: choices(all.min(1), self.shortest),
                max: choices(all, self.longest),
            }
        };
        let parts = [text.field()].into_iter().chain(self.cards(&legal.cards));
        SizeRange::of_message(legal.encoded_len(), parts)
    }

    /// Size of a line, with every word that is a card's code replaceable.
    fn line(self, line: &str) -> SizeRange {
        let codes = line.split(' ').filter(|word| self.is_code(word)).map(|code| self.code(code));
        SizeRange::of_message(line.len(), codes)
    }

    fn cards(self, codes: &[String]) -> impl Iterator<Item = SizeRange> {
        codes.iter().map(move |code| self.card(code).field())
    }

    /// Size of a card's code, unless the card is hidden.
    fn card(self, code: &str) -> SizeRange {
        if code == HIDDEN { SizeRange::fixed(code.len()) } else { self.code(code) }
    }

    const fn code(self, code: &str) -> SizeRange {
        SizeRange { now: code.len(), min: self.shortest, max: self.longest }
    }

    fn is_code(self, word: &str) -> bool {
        !self.deck.parse(word).is_empty()
    }
}

/// Sizes of the totals of opening hands, as fields.
fn totals(declared: &[pb::DeclaredTotal]) -> impl Iterator<Item = SizeRange> {
    declared.iter().map(|declared| {
        let now = pb::DeclaredTotal { seat: 0, total: declared.total }.encoded_len();
        let total = SizeRange { now, min: 0, max: MAX_TOTAL_BYTES };
        SizeRange::of_message(declared.encoded_len(), [total]).field()
    })
}

fn proof_size(proof: &CardProof) -> SizeRange {
    let now = if proof.card_id == 0 { 0 } else { CARD_ID_BYTES };
    SizeRange::of_message(proof.encoded_len(), [SizeRange { now, min: 0, max: CARD_ID_BYTES }])
}

#[cfg(test)]
mod tests;
