//! Messages whose size tells nothing of the cards in them.
//!
//! Codes of cards have different lengths, and so have numbers: somebody who sees how long a message is
//! and nothing else could tell cards apart. So a message that shows cards is filled up to the size it
//! would have with the longest code of the deck for every card, whichever they are. How much can be
//! missing at the most decides how the filling's own length is written, so that there is no size that
//! cannot be reached.

use prost::Message as _;
use proto::common::v1::LegalMove;
use proto::table::v1 as pb;
use rules::Deck;
use wire::moves::HIDDEN;

/// The least filling whose length takes two bytes to write.
const LONG: usize = 128;

/// Fills a message up.
pub(super) fn pad(action: &mut pb::HandAction, deck: &Deck) {
    if !shows_cards(action) {
        return;
    }
    let lengths = deck.faces().map(str::len);
    let (short, long) = lengths
        .fold((usize::MAX, 0), |(short, long), length| (short.min(length), long.max(length)));
    let least = with_codes(action, Same { deck, length: short, id: 0, once: true }).encoded_len();
    let most = with_codes(action, Same { deck, length: long, id: 127, once: false }).encoded_len();
    let missing = most.saturating_sub(action.encoded_len());
    let filling = if most.saturating_sub(least) + 1 < LONG { 1 } else { LONG };
    action.padding = vec![0; missing + filling];
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

/// What every card is written as.
#[derive(Clone, Copy)]
struct Same<'a> {
    deck: &'a Deck,
    /// Letters of its code.
    length: usize,
    /// Its number.
    id: u32,
    /// As if all of them were copies of one card, where copies are named once.
    once: bool,
}

/// The message with every card written alike.
fn with_codes(action: &pb::HandAction, same: Same<'_>) -> pb::HandAction {
    let mut like = action.clone();
    like.line = same.line(&action.line);
    same.codes(&mut like.cards);
    if let Some(decided) = &mut like.r#move {
        same.codes(&mut decided.cards);
    }
    for held in like.hands.iter_mut().flat_map(|hand| &mut hand.cards) {
        same.codes(std::slice::from_mut(&mut held.code));
        held.proof.iter_mut().for_each(|proof| proof.card_id = same.id);
    }
    like.proofs.iter_mut().for_each(|proof| proof.card_id = same.id);
    if let Some(turn) = &mut like.turn {
        turn.legal.iter_mut().for_each(|legal| same.choices(legal));
        if let Some(default) = &mut turn.default_move {
            same.codes(&mut default.cards);
        }
    }
    like
}

impl Same<'_> {
    fn code(&self) -> String {
        "x".repeat(self.length)
    }

    fn is_code(&self, word: &str) -> bool {
        !self.deck.parse(word).is_empty()
    }

    fn codes(&self, codes: &mut [String]) {
        for code in codes.iter_mut().filter(|code| self.is_code(code)) {
            *code = self.code();
        }
    }

    /// A line with every word of it that is a card's code replaced.
    fn line(&self, line: &str) -> String {
        let word = |word: &str| if self.is_code(word) { self.code() } else { word.to_owned() };
        line.split(' ').map(word).collect::<Vec<String>>().join(" ")
    }

    /// Choices among cards: in the text copies are named once, which tells of them too.
    fn choices(&self, legal: &mut LegalMove) {
        let count = if self.once { legal.cards.len().min(1) } else { legal.cards.len() };
        let named = legal.text.split([' ', '|']).any(|word| self.is_code(word));
        self.codes(&mut legal.cards);
        if named {
            let others = legal.text.split([' ', '|']).filter(|word| !self.is_code(word));
            let mut words: Vec<String> = others.map(str::to_owned).collect();
            words.extend((0..count).map(|_| self.code()));
            legal.text = words.join(" ");
        }
    }
}

#[cfg(test)]
mod tests;
