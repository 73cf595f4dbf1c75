//! Text about the cards of a pack.

use crate::cards::Card;
use crate::deck::{C62, Deck, K44, P42, S76};
use crate::explain::section::Section;
use crate::explain::text::{number, signed};
use crate::s76;
use crate::variant::Variant;

pub(super) fn section(variant: &Variant) -> Section {
    let deck = variant.deck;
    let section = Section::new("The deck");
    let section = match deck.name {
        name if name == S76.name => s76(section, deck),
        name if name == K44.name => k44(section, variant),
        name if name == P42.name => p42(section, deck),
        name if name == C62.name => c62(section, deck),
        _ => section.paragraph(format!(
            "{} cards: {}.",
            deck.len(),
            deck.faces().collect::<Vec<_>>().join(" ")
        )),
    };
    let top_stays = variant.piles.iter().any(|pile| pile.open_discards);
    section.paragraph(if top_stays {
        "When a draw pile is empty, its discards are shuffled into it, but for the top one, which lies \
         face up."
    } else {
        "When the draw pile is empty, the discards are shuffled into it."
    })
}

fn s76(section: Section, deck: &Deck) -> Section {
    let value = |code: &str| deck.parse(code).nth(0).map_or(0, s76::value);
    let named = [("Commander", "S12"), ("Mistress", "S13"), ("Master", "S14"), ("Ace", "S15")];
    let named = named.map(|(name, code)| format!("{name} {}", value(code)));
    let face = |card: Card| {
        let code = deck.code(card);
        format!("{} {}", code.trim_end_matches('A'), s76::value(card))
    };
    let faces: Vec<String> = s76::FACE_CARDS.iter().step_by(2).map(face).collect();
    section
        .paragraph(format!(
            "{} cards. Four suits, Sabers (S), Flasks (F), Coins (C) and sTaves (T), have the cards 1 to \
             11 and {}. Then there are eight faces, two copies (A and B) of each: {}.",
            deck.len(),
            named.join(", "),
            faces.join(", ")
        ))
        .paragraph("A hand's total is the sum of its cards.")
}

fn k44(section: Section, variant: &Variant) -> Section {
    let deck = variant.deck;
    let copies = |code: &str| number(u64::try_from(deck.parse(code).len()).unwrap_or(0));
    let family = variant.piles.first().map_or(0, |pile| pile.cards().count());
    section.paragraph(format!(
        "{} cards in two families, Sand (s) and Blood (b), of {family} each: the numbers 1 to 6 {} \
         times, {} Impostors (I) and {} Sylop (Y). Each family has its draw pile and its discard pile.",
        deck.len(),
        copies("s1"),
        copies("sI"),
        copies("sY"),
    ))
}

fn p42(section: Section, deck: &Deck) -> Section {
    section.paragraph(format!(
        "{} cards: two packs of the 1 to 5 in spades, hearts, diamonds and clubs and the six of spades, \
         which makes {} different faces. A card counts its number.",
        deck.len(),
        deck.faces().count()
    ))
}

fn c62(section: Section, deck: &Deck) -> Section {
    let value = |code: &str| deck.parse(code).nth(0).map_or(0, crate::c62::value);
    section.paragraph(format!(
        "{} cards. Three suits, circles (c), triangles (t) and squares (s), have the cards {} to {} and \
         {} to {}; then there are {} Sylops (Y), which count 0.",
        deck.len(),
        signed(value("c+1")),
        signed(value("c+10")),
        signed(value("c-1")),
        signed(value("c-10")),
        number(u64::try_from(deck.parse("Y").len()).unwrap_or(0)),
    ))
}
