//! Cards of the four decks by their codes: value, sign, short name and colour.
//!
//! S76 is the deck of the games to 23, K44 that of Kessel, C62 that of Corellian Spike and Coruscant
//! Shift, P42 that of eleven.

use crate::colour::Tone;
use crate::text::{signed, with_sign};

/// Deck that a game is played with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deck {
    S76,
    K44,
    C62,
    P42,
}

/// Card as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Face {
    /// Value, such as `15` or `−11`, at most three characters.
    pub value: String,
    /// Sign of the suit, one character; a space: none.
    pub sign: char,
    /// Name, at most five characters; empty for a plain number.
    pub word: &'static str,
    pub tone: Tone,
    /// Value in sums; none where the card has none by itself.
    pub number: Option<i64>,
}

impl Face {
    /// Writes value and sign, such as `15†`.
    #[must_use]
    pub fn short(&self) -> String {
        let Face { value, sign, word, .. } = self;
        if value.is_empty() {
            return format!("{sign}{word}");
        }
        if *sign == ' ' { value.clone() } else { format!("{value}{sign}") }
    }
}

/// The face cards of S76: code, name, value.
const FACES: [(&str, &str, i64); 8] = [
    ("Star", "Star", -17),
    ("Evil", "Evil", -15),
    ("Moderation", "Moder", -14),
    ("Demise", "Demis", -13),
    ("Balance", "Balan", -11),
    ("Endurance", "Endur", -8),
    ("Queen", "Queen", -2),
    ("Idiot", "Idiot", 0),
];

impl Deck {
    /// Reads a card's code; none where the deck has no such card, as for `??`.
    #[must_use]
    pub fn read(self, code: &str) -> Option<Face> {
        match self {
            Deck::S76 => s76(code),
            Deck::K44 => k44(code),
            Deck::C62 => c62(code),
            Deck::P42 => p42(code),
        }
    }

    /// Adds the values of cards; none where one is hidden or has no value.
    #[must_use]
    pub fn sum(self, codes: &[&str]) -> Option<i64> {
        codes.iter().map(|code| self.read(code)?.number).sum()
    }
}

fn s76(code: &str) -> Option<Face> {
    for (name, word, value) in FACES {
        let Some(shade) = code.strip_prefix(name) else { continue };
        let sign = match shade {
            "A" => '☆',
            "B" => '★',
            _ => return None,
        };
        let value = signed(value);
        let number = FACES.iter().find(|face| face.0 == name).map(|face| face.2);
        return Some(Face { value, sign, word, tone: Tone::Dark, number });
    }
    let (sign, tone) = match code.chars().next()? {
        'S' => ('†', Tone::Cold),
        'F' => ('▽', Tone::Good),
        'C' => ('●', Tone::Warn),
        'T' => ('‖', Tone::Bad),
        _ => return None,
    };
    let number: i64 = code.get(1..)?.parse().ok()?;
    let word = match number {
        12 => "Comm.",
        13 => "Mistr",
        14 => "Mastr",
        15 => "Ace",
        1..=11 => "",
        _ => return None,
    };
    Some(Face { value: number.to_string(), sign, word, tone, number: Some(number) })
}

fn k44(code: &str) -> Option<Face> {
    let (sign, tone) = match code.chars().next()? {
        's' => ('◇', Tone::Warn),
        'b' => ('◆', Tone::Bad),
        _ => return None,
    };
    let (value, word, number) = match code.get(1..)? {
        "I" => ("I".to_owned(), "Impos", None),
        "Y" => ("Y".to_owned(), "Sylop", None),
        rank => {
            let number: i64 = rank.parse().ok().filter(|number| (1..=6).contains(number))?;
            (number.to_string(), "", Some(number))
        }
    };
    Some(Face { value, sign, word, tone, number })
}

fn c62(code: &str) -> Option<Face> {
    if code == "Y" {
        let value = "0".to_owned();
        return Some(Face { value, sign: '◎', word: "Sylop", tone: Tone::Dark, number: Some(0) });
    }
    let sign = match code.chars().next()? {
        'c' => '●',
        't' => '▲',
        's' => '■',
        _ => return None,
    };
    let rest = code.get(1..)?;
    let number: i64 = rest.parse().ok().filter(|number: &i64| number.unsigned_abs() <= 10)?;
    if !rest.starts_with(['+', '-']) || number == 0 {
        return None;
    }
    let tone = if number > 0 { Tone::Good } else { Tone::Bad };
    Some(Face { value: with_sign(number), sign, word: "", tone, number: Some(number) })
}

fn p42(code: &str) -> Option<Face> {
    let mut letters = code.chars();
    let number = letters.next()?.to_digit(10).filter(|number| (1..=6).contains(number))?;
    let (sign, tone) = match letters.as_str() {
        "S" => ('♠', Tone::Plain),
        "H" => ('♥', Tone::Bad),
        "D" => ('♦', Tone::Bad),
        "C" => ('♣', Tone::Plain),
        _ => return None,
    };
    let value = number.to_string();
    Some(Face { value, sign, word: "", tone, number: Some(i64::from(number)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deck(name: &str) -> (Deck, &'static rules::Deck) {
        let deck = match name {
            "kessel" => Deck::K44,
            "spike" | "coruscant" => Deck::C62,
            "eleven" => Deck::P42,
            _ => Deck::S76,
        };
        (deck, rules::variant(name).unwrap().deck)
    }

    /// Every card of every game is drawn as itself, within the width that a card has.
    #[test]
    fn every_card_of_every_game_has_a_face() {
        for variant in rules::ALL {
            let (deck, cards) = deck(variant.id);
            for card in cards.cards() {
                let code = cards.code(card);
                let face = deck.read(code).unwrap_or_else(|| panic!("{code} of {}", variant.id));
                assert!(
                    face.value.chars().count() <= 3 && face.word.chars().count() <= 5,
                    "{code}"
                );
                // A Sylop of Spike is a 0, and one of Kessel what the other card is.
                assert_eq!(face.number, cards.value(card).map(i64::from), "{code}");
            }
            assert_eq!(deck.read("??"), None);
        }
    }

    #[test]
    fn cards_are_read_with_their_values() {
        assert_eq!(Deck::S76.read("S15").unwrap().short(), "15†");
        assert_eq!(Deck::S76.read("StarB").unwrap().number, Some(-17));
        assert_eq!(Deck::C62.read("t-10").unwrap().short(), "−10▲");
        assert_eq!(Deck::C62.sum(&["t-10", "s+7", "Y"]), Some(-3));
        assert_eq!(Deck::K44.read("sI").unwrap().number, None);
        assert_eq!(Deck::S76.sum(&["S15", "??"]), None);
    }
}
