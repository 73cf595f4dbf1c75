//! Conversion of what is to be said of the games: variants, fields, decks, moves, rules in words.

use proto::common::v1::{MoveArgument, RuleSetField};
use proto::table::v1 as pb;
use proto::table::v1::RuleSetFieldType;
use rules::explain::{Example, Explanation, Item, Section, explain_ranks};
use rules::{Bounds, Deck, Field, FieldValue, MoveKind, PileSpec, RuleSet, Shape, Variant};

use crate::moves::number_of_kind;
use crate::ranks;
use crate::ruleset::write_field;

/// Converts a game's entry in the list.
#[must_use]
pub fn write_summary(variant: &Variant) -> pb::VariantSummary {
    let deck = variant.deck;
    pb::VariantSummary {
        variant: variant.id.to_owned(),
        title: variant.title.to_owned(),
        source: variant.source.to_owned(),
        min_players: (*variant.player_counts.start()).into(),
        max_players: (*variant.player_counts.end()).into(),
        deck: deck.name.to_owned(),
        deck_cards: deck.len().into(),
        has_betting: variant.has_betting(),
        has_sabacc_pot: variant.has_sabacc_pot,
        has_carried_pot: variant.has_carried_pot,
    }
}

/// Converts all of a game.
#[must_use]
pub fn write_variant(variant: &'static Variant) -> pb::GetVariantResponse {
    let ranks = explain_ranks(&RuleSet::defaults(variant));
    pb::GetVariantResponse {
        summary: Some(write_summary(variant)),
        fields: variant.fields.iter().map(describe_field).collect(),
        cards: deck_cards(variant.deck),
        piles: variant.piles.iter().map(pile).collect(),
        ranks: ranks.items.iter().map(item).collect(),
    }
}

/// Converts the moves of all games.
#[must_use]
pub fn write_moves() -> Vec<pb::MoveDescription> {
    let describe = |&kind: &MoveKind| pb::MoveDescription {
        kind: number_of_kind(kind),
        verb: kind.verb().to_owned(),
        move_arguments: arguments(kind.shape()).iter().map(|&argument| argument.into()).collect(),
    };
    MoveKind::ALL.iter().map(describe).collect()
}

/// Arguments that a move of this shape takes, in order.
const fn arguments(shape: Shape) -> &'static [MoveArgument] {
    match shape {
        Shape::Nothing => &[],
        Shape::Card | Shape::OptionalCard | Shape::Cards | Shape::AnyCards => {
            &[MoveArgument::Cards]
        }
        Shape::Amount => &[MoveArgument::Amount],
        Shape::Side => &[MoveArgument::Side],
        Shape::Pile => &[MoveArgument::Pile],
        Shape::Tokens => &[MoveArgument::Tokens],
        Shape::Token => &[MoveArgument::Tokens, MoveArgument::Seat],
        Shape::Die => &[MoveArgument::Value],
        Shape::CardAndDie => &[MoveArgument::Cards, MoveArgument::Value],
    }
}

/// Converts rules in words.
#[must_use]
pub fn write_explanation(explanation: &Explanation) -> pb::ExplainRulesResponse {
    let Explanation { variant, title, sections } = explanation;
    pb::ExplainRulesResponse {
        variant: (*variant).to_owned(),
        title: title.clone(),
        sections: sections.iter().map(section).collect(),
        text: explanation.to_string(),
    }
}

fn section(section: &Section) -> pb::RulesSection {
    let Section { heading, paragraphs, items } = section;
    pb::RulesSection {
        heading: (*heading).to_owned(),
        paragraphs: paragraphs.clone(),
        items: items.iter().map(item).collect(),
    }
}

fn item(item: &Item) -> pb::RulesItem {
    let Item { name, text, example } = item;
    let (example_cards, example_rank) = match example {
        Some(Example { cards, rank }) => {
            (cards.iter().map(|code| (*code).to_owned()).collect(), rank.map(ranks::write))
        }
        None => (Vec::new(), None),
    };
    pb::RulesItem { name: name.clone(), text: text.clone(), example_cards, example_rank }
}

fn describe_field(field: &Field) -> pb::RuleSetFieldDescription {
    let default = field.default_value();
    let (kind, min, max) = match (field.bounds(), &default) {
        (Some(Bounds::Number(bounds)), _) => {
            (RuleSetFieldType::Number, *bounds.start(), *bounds.end())
        }
        (Some(Bounds::Credits), _) => {
            (RuleSetFieldType::Credits, 0, primitives::Credits::MAX.get())
        }
        (None, FieldValue::Text(_)) => (RuleSetFieldType::Text, 0, 0),
        (None, FieldValue::Flag(_)) => (RuleSetFieldType::Flag, 0, 0),
        (None, FieldValue::List(_)) => (RuleSetFieldType::List, 0, 0),
        // A number without bounds.
        (None, FieldValue::Number(_)) => (RuleSetFieldType::Number, 0, u64::MAX),
    };
    let default_field: RuleSetField = write_field(field.name(), &default);
    pb::RuleSetFieldDescription {
        name: field.name().to_owned(),
        text: field.doc().to_owned(),
        value_type: kind.into(),
        min,
        max,
        choices: field.words().iter().map(|word| (*word).to_owned()).collect(),
        default_field: Some(default_field),
    }
}

fn deck_cards(deck: &Deck) -> Vec<pb::DeckCard> {
    let card = |card| pb::DeckCard {
        card_id: rules::Card::id(card).into(),
        code: deck.code(card).to_owned(),
        value: deck.value(card).map(i32::from),
    };
    deck.cards().map(card).collect()
}

fn pile(pile: &PileSpec) -> pb::CardPile {
    pb::CardPile {
        name: pile.name.to_owned(),
        first_card: pile.first.into(),
        cards: (pile.end - pile.first).into(),
        open_discards: pile.open_discards,
    }
}

#[cfg(test)]
mod tests {
    use rules::explain::{Clock, explain};
    use rules::{ALL, variant};

    use super::*;

    #[test]
    fn every_field_takes_its_bounds_and_its_choices_and_nothing_beside() {
        for variant in ALL {
            for described in write_variant(variant).fields {
                let name = described.name.clone();
                let take = |value| RuleSet::parse(variant.id, &[(name.clone(), value)]);
                match described.value_type() {
                    RuleSetFieldType::Number | RuleSetFieldType::Credits => {
                        let (min, max) = (described.min, described.max);
                        take(FieldValue::Number(min))
                            .unwrap_or_else(|error| panic!("{name} {error}"));
                        assert!(take(FieldValue::Number(max.saturating_add(1))).is_err(), "{name}");
                        assert!(take(FieldValue::Flag(true)).is_err(), "{name}");
                    }
                    RuleSetFieldType::Text => {
                        assert!(take(FieldValue::Text("no word".to_owned())).is_err(), "{name}");
                        assert!(!described.choices.is_empty(), "{name}");
                    }
                    RuleSetFieldType::Flag => {
                        take(FieldValue::Flag(true))
                            .unwrap_or_else(|error| panic!("{name} {error}"));
                    }
                    RuleSetFieldType::List => {
                        assert_eq!(described.choices.len(), 16, "{name}");
                    }
                    RuleSetFieldType::Unspecified => panic!("{name} has no type"),
                }
                assert!(!described.text.is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn every_card_stands_under_its_id_with_its_value() {
        let value = |id: &str, code: &str| {
            let cards = write_variant(variant(id).unwrap()).cards;
            assert!((0..).zip(&cards).all(|(at, card)| card.card_id == at));
            cards.into_iter().find(|card| card.code == code).unwrap().value
        };
        assert_eq!(value("dice", "S15"), Some(15));
        assert_eq!(value("dice", "StarA"), Some(-17));
        assert_eq!(value("dice", "IdiotB"), Some(0));
        assert_eq!(value("kessel", "b6"), Some(6));
        assert_eq!(value("kessel", "sI"), None);
        assert_eq!(value("kessel", "sY"), None);
        assert_eq!(value("eleven", "6S"), Some(6));
        assert_eq!(value("spike", "t-4"), Some(-4));
        assert_eq!(value("coruscant", "Y"), Some(0));
    }

    #[test]
    fn every_rank_of_every_game_has_an_example_that_is_ranked() {
        for variant in ALL {
            let ranks = write_variant(variant).ranks;
            assert!(ranks.len() >= 3, "{}", variant.id);
            for rank in ranks {
                assert!(!rank.example_cards.is_empty(), "{} {}", variant.id, rank.name);
                let ranked = rank.example_rank.map(|rank| rank.text);
                assert!(
                    ranked.is_some_and(|text| !text.is_empty()),
                    "{} {}",
                    variant.id,
                    rank.name
                );
            }
        }
    }

    #[test]
    fn moves_are_numbered_as_in_messages() {
        let moves = write_moves();
        assert!((1..).zip(&moves).all(|(number, described)| described.kind == number));
        let token = moves.iter().find(|described| described.verb == "token").unwrap();
        let arguments: Vec<MoveArgument> = token.move_arguments().collect();
        assert_eq!(arguments, [MoveArgument::Tokens, MoveArgument::Seat]);
    }

    #[test]
    fn the_text_says_what_the_sections_say() {
        for variant in ALL {
            let said = write_explanation(&explain(&RuleSet::defaults(variant), Clock::default()));
            for section in said.sections {
                assert!(said.text.contains(&format!("## {}", section.heading)), "{}", variant.id);
            }
        }
    }
}
