//! Padding, so that the size of a message says nothing about the cards in it.
//!
//! Card codes and card ids differ in encoded length, so the length of a message alone could tell
//! cards apart. A message that shows cards is therefore padded to the size that it would have with
//! the deck's longest code for every card. The largest possible padding decides how the padding's
//! own length is encoded, so that every size can be reached.
//!
//! The sizes are computed without building such messages, which is expensive.

use std::iter::Sum;

use prost::{Message as _, length_delimiter_len};
use proto::common::v1::{CardProof, LegalMove, Move};
use proto::table::v1 as pb;
use rules::Deck;
use wire::moves::HIDDEN;

/// Least padding whose length takes two bytes to encode.
const LONG: usize = 128;
/// Bytes of a card's id as a field, unless it is 0 and left out; all ids are below 128.
const NUMBER: usize = 2;

/// Pads a message.
pub(super) fn pad(action: &mut pb::HandAction, deck: &Deck) {
    if !shows_cards(action) {
        return;
    }
    let size = Codes::of(deck).action(action);
    let filling = if size.most.saturating_sub(size.least) + 1 < LONG { 1 } else { LONG };
    action.padding = vec![0; size.most.saturating_sub(size.now) + filling];
}

fn shows_cards(action: &pb::HandAction) -> bool {
    let seen = |code: &String| code != HIDDEN;
    let decided = action.r#move.iter().flat_map(|decided| &decided.cards);
    let held = action.hands.iter().flat_map(|hand| &hand.cards);
    let legal = action.turn.iter().flat_map(|turn| &turn.legal);
    action.cards.iter().chain(decided).any(seen)
        || held.map(|held| &held.code).any(seen)
        || legal.flat_map(|legal| &legal.cards).any(seen)
}

/// Size of a value as it is, and with the shortest and the longest codes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Size {
    now: usize,
    least: usize,
    most: usize,
}

impl Size {
    const fn same(now: usize) -> Size {
        Size { now, least: now, most: now }
    }

    /// Size of a value that is `now` long and in which only `parts` may differ.
    fn whole(now: usize, parts: impl IntoIterator<Item = Size>) -> Size {
        let parts: Size = parts.into_iter().sum();
        let rest = now.saturating_sub(parts.now);
        Size { now, least: rest + parts.least, most: rest + parts.most }
    }

    /// Size as a field without its tag, which includes the encoded length.
    fn field(self) -> Size {
        let with = |size| size + length_delimiter_len(size);
        Size { now: with(self.now), least: with(self.least), most: with(self.most) }
    }
}

impl Sum for Size {
    fn sum<I: Iterator<Item = Size>>(sizes: I) -> Size {
        sizes.fold(Size::default(), |a, b| Size {
            now: a.now + b.now,
            least: a.least + b.least,
            most: a.most + b.most,
        })
    }
}

/// Codes of a deck, and the lengths of its shortest and longest code.
#[derive(Clone, Copy)]
struct Codes<'a> {
    deck: &'a Deck,
    short: usize,
    long: usize,
}

impl Codes<'_> {
    fn of(deck: &Deck) -> Codes<'_> {
        let lengths = deck.codes.iter().map(|code| code.len());
        let (short, long) = lengths
            .fold((usize::MAX, 0), |(short, long), length| (short.min(length), long.max(length)));
        Codes { deck, short, long }
    }

    fn action(self, action: &pb::HandAction) -> Size {
        let hands = action.hands.iter().map(|hand| self.hand(hand).field());
        let proofs = action.proofs.iter().map(|proof| proved(proof).field());
        let decided = action.r#move.iter().map(|decided| self.decided(decided).field());
        let turn = action.turn.iter().map(|turn| self.turn(turn).field());
        let own = [self.line(&action.line).field()].into_iter().chain(self.cards(&action.cards));
        let parts = own.chain(hands).chain(proofs).chain(decided).chain(turn);
        Size::whole(action.encoded_len(), parts)
    }

    fn hand(self, hand: &pb::HandSeat) -> Size {
        let held = hand.cards.iter().map(|held| {
            let proof = held.proof.iter().map(|proof| proved(proof).field());
            let parts = [self.card(&held.code).field()].into_iter().chain(proof);
            Size::whole(held.encoded_len(), parts).field()
        });
        Size::whole(hand.encoded_len(), held)
    }

    fn decided(self, decided: &Move) -> Size {
        Size::whole(decided.encoded_len(), self.cards(&decided.cards))
    }

    fn turn(self, turn: &pb::Turn) -> Size {
        let legal = turn.legal.iter().map(|legal| self.legal(legal).field());
        let default = turn.default_move.iter().map(|default| self.decided(default).field());
        Size::whole(turn.encoded_len(), legal.chain(default))
    }

    /// Size of a legal move. Its text names copies of a card once, which tells about cards too.
    fn legal(self, legal: &LegalMove) -> Size {
        let words = || legal.text.split([' ', '|']);
        let named = words().filter(|word| self.is_code(word)).count();
        let text = if named == 0 {
            Size::same(legal.text.len())
        } else {
            let others: usize =
                words().filter(|word| !self.is_code(word)).map(|word| word.len() + 1).sum();
            let choices = |count: usize, length: usize| {
                // Each has something between it and the next.
                (others + count * (length + 1)).saturating_sub(1)
            };
            let all = legal.cards.len();
            Size {
                now: legal.text.len(),
                least: choices(all.min(1), self.short),
                most: choices(all, self.long),
            }
        };
        let parts = [text.field()].into_iter().chain(self.cards(&legal.cards));
        Size::whole(legal.encoded_len(), parts)
    }

    /// Size of a line, with every word that is a card's code replaceable.
    fn line(self, line: &str) -> Size {
        let codes = line.split(' ').filter(|word| self.is_code(word)).map(|code| self.code(code));
        Size::whole(line.len(), codes)
    }

    fn cards(self, codes: &[String]) -> impl Iterator<Item = Size> {
        codes.iter().map(move |code| self.card(code).field())
    }

    /// Size of a card's code, unless the card is hidden.
    fn card(self, code: &str) -> Size {
        if code == HIDDEN { Size::same(code.len()) } else { self.code(code) }
    }

    const fn code(self, code: &str) -> Size {
        Size { now: code.len(), least: self.short, most: self.long }
    }

    fn is_code(self, word: &str) -> bool {
        !self.deck.parse(word).is_empty()
    }
}

fn proved(proof: &CardProof) -> Size {
    let now = if proof.card_id == 0 { 0 } else { NUMBER };
    Size::whole(proof.encoded_len(), [Size { now, least: 0, most: NUMBER }])
}

#[cfg(test)]
mod tests;
