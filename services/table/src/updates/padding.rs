//! Messages whose size tells nothing of the cards in them.
//!
//! Codes of cards have different lengths, and so have numbers: somebody who sees how long a message is
//! and nothing else could tell cards apart. So a message that shows cards is filled up to the size it
//! would have with the longest code of the deck for every card, whichever they are. How much can be
//! missing at the most decides how the filling's own length is written, so that there is no size that
//! cannot be reached.
//!
//! The sizes are worked out and no such message is made: making them was a thirtieth of all processor
//! time under load.

use std::iter::Sum;

use prost::{Message as _, length_delimiter_len};
use proto::common::v1::{CardProof, LegalMove, Move};
use proto::table::v1 as pb;
use rules::Deck;
use wire::moves::HIDDEN;

/// The least filling whose length takes two bytes to write.
const LONG: usize = 128;
/// A card's number as a field, unless it is 0 and left out: all are below 128.
const NUMBER: usize = 2;

/// Fills a message up.
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

/// The size of something as it is, and what it would be with the shortest and with the longest codes.
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

    /// Of something that is `now` long, of which `parts` are what may differ.
    fn whole(now: usize, parts: impl IntoIterator<Item = Size>) -> Size {
        let parts: Size = parts.into_iter().sum();
        let rest = now.saturating_sub(parts.now);
        Size { now, least: rest + parts.least, most: rest + parts.most }
    }

    /// As a field, without its tag: the length before it counts too.
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

/// The codes of a deck, and the lengths of the shortest and of the longest.
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

    /// Choices among cards: in the text copies are named once, which tells of them too.
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

    /// A line with every word of it that is a card's code another.
    fn line(self, line: &str) -> Size {
        let codes = line.split(' ').filter(|word| self.is_code(word)).map(|code| self.code(code));
        Size::whole(line.len(), codes)
    }

    fn cards(self, codes: &[String]) -> impl Iterator<Item = Size> {
        codes.iter().map(move |code| self.card(code).field())
    }

    /// What stands for a card, unless it is hidden.
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
