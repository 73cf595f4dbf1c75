//! Structure of an explanation, and its plain text.

use std::fmt;

use crate::cards::Cards;
use crate::deck::Deck;
use crate::evaluator::Evaluate;
use crate::rank::Rank;

/// Rules of a table in words. `Display` is plain text with Markdown headings, wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub variant: &'static str,
    pub title: String,
    pub sections: Vec<Section>,
}

/// Section of an explanation: paragraphs, then items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub heading: &'static str,
    pub paragraphs: Vec<String>,
    /// Shown after the paragraphs.
    pub items: Vec<Item>,
}

/// Entry of a list: a move, a kind of hand, a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    pub text: String,
    pub example: Option<Example>,
}

/// An example hand with its rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub cards: Vec<&'static str>,
    /// None for cards that are no hand of the game.
    pub rank: Option<Rank>,
}

impl Example {
    /// The rank as a hand history writes it.
    #[must_use]
    pub fn rank_text(&self) -> String {
        self.rank.map_or_else(String::new, |rank| rank.to_string())
    }
}

impl Section {
    pub(crate) const fn new(heading: &'static str) -> Section {
        Section { heading, paragraphs: Vec::new(), items: Vec::new() }
    }

    pub(crate) fn paragraph(mut self, paragraph: impl Into<String>) -> Section {
        self.paragraphs.push(paragraph.into());
        self
    }

    pub(crate) fn item(mut self, name: impl Into<String>, text: impl Into<String>) -> Section {
        self.items.push(Item { name: name.into(), text: text.into(), example: None });
        self
    }

    /// Adds kinds of hand with an example each, best first. Hands that cannot win come last.
    pub(crate) fn ladder(
        mut self,
        deck: &'static Deck,
        values: &dyn Evaluate,
        kinds: &[(&str, &str, &str)],
    ) -> Section {
        let mut ranked = Vec::with_capacity(kinds.len());
        for &(name, text, codes) in kinds {
            let cards = cards(deck, codes);
            let rank = values.rank(&cards);
            let example =
                Example { cards: cards.iter().map(|&card| deck.code(card)).collect(), rank };
            let item =
                Item { name: name.to_owned(), text: text.to_owned(), example: Some(example) };
            ranked.push((values.strength(&cards), item));
        }
        ranked.sort_by(|(a, _), (b, _)| b.cmp(a));
        self.items.extend(ranked.into_iter().map(|(_, item)| item));
        self
    }
}

/// The cards with these codes; a repeated code takes the next copy.
fn cards(deck: &Deck, codes: &str) -> Cards {
    let mut cards = Cards::new();
    for code in codes.split(' ') {
        cards.extend(deck.parse(code).iter().find(|card| !cards.contains(card)));
    }
    cards
}

/// Longest line, in characters.
const WIDTH: usize = 92;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} ({})", self.title, self.variant)?;
        for section in &self.sections {
            writeln!(f, "\n## {}", section.heading)?;
            for paragraph in &section.paragraphs {
                writeln!(f)?;
                write_wrapped(f, "", paragraph)?;
            }
            if !section.items.is_empty() {
                writeln!(f)?;
            }
            for Item { name, text, example } in &section.items {
                let text = match example {
                    Some(example) => {
                        let (cards, rank) = (example.cards.join(" "), example.rank_text());
                        format!("- {name}: {text} [{cards} = {rank}]")
                    }
                    None => format!("- {name}: {text}"),
                };
                write_wrapped(f, "  ", &text)?;
            }
        }
        Ok(())
    }
}

/// Writes the text in lines of at most [`WIDTH`] characters; later lines begin with `indent`.
fn write_wrapped(f: &mut fmt::Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            write!(f, "\n{indent}{word}")?;
            width = indent.len() + length;
        } else if width > 0 {
            write!(f, " {word}")?;
            width += 1 + length;
        } else {
            f.write_str(word)?;
            width = length;
        }
    }
    writeln!(f)
}
