//! Parts of the felt, marks at seats and words of a hand that only one game has.
//!
//! A game that is not here is drawn by its cards, pots and moves.

mod kessel;

use client::TableState;
use proto::table::v1 as pb;
use proto::table::v1::game_state::State;

use crate::cards::Deck;
use crate::colour::Tone;
use crate::text::{listed, signed, with_sign};

/// Thing in the middle of the felt, with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// A pile, face down.
    Pile(String),
    Card {
        label: String,
        code: String,
    },
    /// A place that nothing was laid on yet.
    Empty(String),
    Dice {
        label: String,
        values: Vec<u32>,
        /// They have done something.
        is_hot: bool,
    },
    Words {
        label: String,
        text: String,
        tone: Tone,
    },
}

/// Mark of a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    pub text: String,
    pub tone: Tone,
}

/// Last dice or pulse of the hand in play.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastChance {
    pub dice: Vec<u32>,
    /// Whether the cards shifted; none: no pulse yet.
    pub pulse: Option<bool>,
}

/// Returns the deck of a game; none for one of a later version.
#[must_use]
pub fn deck(variant: &str) -> Option<Deck> {
    match variant {
        "dice" | "electronic" | "force" | "swg" => Some(Deck::S76),
        "kessel" => Some(Deck::K44),
        "coruscant" | "spike" => Some(Deck::C62),
        "eleven" => Some(Deck::P42),
        _ => None,
    }
}

/// Returns the title of a game; its id for one of a later version.
#[must_use]
pub fn title(variant: &str) -> &str {
    match variant {
        "coruscant" => "Coruscant Shift",
        "dice" => "Sabacc with dice",
        "electronic" => "Casino sabacc",
        "eleven" => "Eleven",
        "force" => "Force sabacc",
        "kessel" => "Kessel sabacc",
        "spike" => "Corellian Spike",
        "swg" => "Sabacc for SWG",
        other => other,
    }
}

fn badge(text: impl Into<String>, tone: Tone) -> Badge {
    Badge { text: text.into(), tone }
}

fn pile(label: &str) -> Thing {
    Thing::Pile(label.to_owned())
}

fn card_or_place(label: &str, code: &str) -> Thing {
    let label = label.to_owned();
    if code.is_empty() { Thing::Empty(label) } else { Thing::Card { label, code: code.to_owned() } }
}

fn game_state(state: &TableState) -> Option<&State> {
    state.hand()?.game_state.as_ref()?.state.as_ref()
}

/// Things in the middle of the felt.
#[must_use]
pub fn centre(state: &TableState, last: &LastChance, name: &dyn Fn(u32) -> String) -> Vec<Thing> {
    let draw = pile("Draw pile");
    let dice = |label: &str, is_hot| Thing::Dice {
        label: label.to_owned(),
        values: last.dice.clone(),
        is_hot,
    };
    let words =
        |label: &str, text: String, tone| Thing::Words { label: label.to_owned(), text, tone };
    let has_dice = !last.dice.is_empty();
    let mut things = vec![draw];
    match game_state(state) {
        Some(State::Kessel(kessel)) => return kessel::centre(kessel),
        Some(State::Dice(_)) if has_dice => {
            let is_shift = is_shift(state, &last.dice);
            things.push(dice(if is_shift { "Sabacc Shift" } else { "No shift" }, is_shift));
        }
        Some(State::Electronic(_)) => {
            let (text, tone) = match last.pulse {
                Some(true) => ("◉◉◉", Tone::Bad),
                Some(false) => ("○○○", Tone::Soft),
                None => ("○○○", Tone::Faint),
            };
            let label = match last.pulse {
                Some(true) => "Cards shifted",
                Some(false) => "No pulse",
                None => "Droid dealer",
            };
            things.push(words(label, text.to_owned(), tone));
        }
        Some(State::Eleven(pb::ElevenState { wild, clone, .. })) if !wild.is_empty() => {
            things.push(card_or_place("Wild: 1 to 6", wild));
            things.push(card_or_place("Clone: copies", clone));
        }
        Some(State::Coruscant(pb::CoruscantState { target: Some(target), .. })) => {
            let (sign, name) = suit(target.suit());
            let text = format!("{} {sign}", with_sign(i64::from(target.total)));
            things.push(words(&format!("Target, then {name}s"), text, Tone::Warn));
        }
        Some(State::Force(pb::ForceState { alignments })) if !alignments.is_empty() => {
            let count = |side| alignments.iter().filter(|it| it.side() == side).count();
            let (light, dark) = (count(pb::ForceSide::Light), count(pb::ForceSide::Dark));
            things.push(words("Sides", format!("{light} light · {dark} dark"), Tone::Cold));
        }
        Some(State::Spike(pb::SpikeState { top_discard })) => {
            things.push(card_or_place("Discard", top_discard));
            if has_dice {
                let is_pair = is_pair(&last.dice);
                things.push(dice(if is_pair { "A pair: redraw" } else { "No pair" }, is_pair));
            }
        }
        Some(State::Swg(pb::SwgState { ends_at_seat })) if *ends_at_seat != 0 => {
            things.push(words("Called when back at", name(*ends_at_seat), Tone::Warn));
        }
        Some(
            State::Dice(_)
            | State::Eleven(_)
            | State::Coruscant(_)
            | State::Force(_)
            | State::Swg(_),
        )
        | None => {}
    }
    things
}

fn is_pair(dice: &[u32]) -> bool {
    matches!(dice, [one, other] if one == other)
}

/// Whether these dice shift the cards, by the rule set.
fn is_shift(state: &TableState, dice: &[u32]) -> bool {
    let number = field(state, "shift_number").and_then(|number| number.parse().ok()).unwrap_or(1);
    match dice {
        [one] => *one == number,
        dice => is_pair(dice),
    }
}

/// Returns a field of the hand's or the table's rule set and settings.
#[must_use]
pub fn field(state: &TableState, name: &str) -> Option<String> {
    let view = state.view();
    let rules = state.hand().map(|hand| &*hand.rule_set).filter(|text| !text.is_empty());
    let lines = rules.unwrap_or(&view.rule_set).lines().chain(view.settings.lines());
    lines
        .filter_map(|line| line.split_once(" = "))
        .find(|row| row.0 == name)
        .map(|row| row.1.trim_matches('"').to_owned())
}

const fn suit(suit: pb::CoruscantSuit) -> (char, &'static str) {
    match suit {
        pb::CoruscantSuit::Circle => ('●', "circle"),
        pb::CoruscantSuit::Triangle => ('▲', "triangle"),
        pb::CoruscantSuit::Square => ('■', "square"),
        pb::CoruscantSuit::Unspecified => ('?', "suit"),
    }
}

/// Marks of a seat.
#[must_use]
pub fn badges(state: &TableState, seat: u32) -> Vec<Badge> {
    let declared = |totals: &[pb::DeclaredTotal]| {
        let found = totals.iter().find(|it| it.seat == seat);
        let text = |it: &pb::DeclaredTotal| format!("opened {}", signed(i64::from(it.total)));
        found.map(|it| badge(text(it), Tone::Soft))
    };
    let one = match game_state(state) {
        None => None,
        Some(State::Kessel(kessel)) => return kessel::badges(kessel, seat),
        Some(State::Dice(dice)) => declared(&dice.declared_totals),
        Some(State::Electronic(electronic)) => declared(&electronic.declared_totals),
        Some(State::Eleven(eleven)) => {
            eleven.stood_seats.contains(&seat).then(|| badge("stands", Tone::Good))
        }
        Some(State::Coruscant(coruscant)) => {
            let found = coruscant.selections.iter().find(|it| it.seat == seat);
            found.map(|it| badge(format!("{} selected", it.count), Tone::Accent))
        }
        Some(State::Force(force)) => {
            let found = force.alignments.iter().find(|it| it.seat == seat);
            found.and_then(|it| match it.side() {
                pb::ForceSide::Light => Some(badge("light", Tone::Cold)),
                pb::ForceSide::Dark => Some(badge("dark", Tone::Dark)),
                pb::ForceSide::Unspecified => None,
            })
        }
        Some(State::Swg(swg)) => {
            (swg.ends_at_seat == seat).then(|| badge("ends here", Tone::Accent))
        }
        Some(State::Spike(_)) => None,
    };
    one.into_iter().collect()
}

/// Says what one's own hand is worth.
#[must_use]
pub fn hint(state: &TableState) -> String {
    let cards = state.my_cards();
    let codes: Vec<&str> = cards.iter().map(|card| &*card.code).collect();
    if codes.is_empty() || codes.contains(&wire::moves::HIDDEN) {
        return String::new();
    }
    match game_state(state) {
        None => String::new(),
        Some(State::Kessel(kessel)) => kessel::hint(kessel, &codes),
        Some(State::Dice(_) | State::Electronic(_) | State::Swg(_)) => total23(&codes),
        Some(State::Force(_)) => total23(&codes).replace("Pure Sabacc", "Natural"),
        Some(State::Spike(_)) => spike_hint(&codes),
        Some(State::Eleven(eleven)) => eleven_hint(eleven, &codes),
        Some(State::Coruscant(coruscant)) => coruscant_hint(state, coruscant, &codes),
    }
}

/// Worth of a hand in the games to 23.
fn total23(codes: &[&str]) -> String {
    let Some(total) = Deck::S76.sum(codes) else { return String::new() };
    let has = |value| {
        codes.iter().any(|code| Deck::S76.read(code).is_some_and(|face| face.number == Some(value)))
    };
    let has_idiot = codes.iter().any(|code| code.starts_with("Idiot"));
    if codes.len() == 3 && has_idiot && has(2) && has(3) {
        return "Idiot's Array: the best hand there is".to_owned();
    }
    match total.abs() {
        23 => format!("Pure Sabacc: {}", signed(total)),
        24.. => format!("Total {}: over 23, bombed out unless it changes", signed(total)),
        0 => "Total 0: bombed out unless it changes".to_owned(),
        _ => format!("Total {}", signed(total)),
    }
}

fn spike_hint(codes: &[&str]) -> String {
    match Deck::C62.sum(codes) {
        None => String::new(),
        Some(0) if codes == ["Y", "Y"] => "Pure Sabacc: the best hand there is".to_owned(),
        Some(0) => "Sum 0: sabacc".to_owned(),
        Some(sum) => format!("Sum {}: {} from 0", signed(sum), sum.abs()),
    }
}

fn eleven_hint(eleven: &pb::ElevenState, codes: &[&str]) -> String {
    let is_plain = |code: &&&str| **code != eleven.wild && **code != eleven.clone;
    let plain: Vec<&str> = codes.iter().filter(is_plain).copied().collect();
    let Some(sum) = Deck::P42.sum(&plain) else { return String::new() };
    let more = match codes.len() - plain.len() {
        0 => String::new(),
        1 => " and a wild or clone".to_owned(),
        others => format!(" and {others} wilds or clones"),
    };
    if sum > 11 { format!("{sum}{more}: over eleven") } else { format!("{sum}{more}, of eleven") }
}

fn coruscant_hint(state: &TableState, game: &pb::CoruscantState, codes: &[&str]) -> String {
    let seat = state.my_seat().map_or(0, |seat| seat.seat);
    let selected = game.selections.iter().find(|it| it.seat == seat);
    let selected: Vec<&str> =
        selected.map_or_else(Vec::new, |it| it.cards.iter().map(|code| &**code).collect());
    let (what, of) =
        if selected.is_empty() { ("All cards", codes) } else { ("Selection", &*selected) };
    let Some(sum) = Deck::C62.sum(of) else { return String::new() };
    let Some(target) = &game.target else { return format!("{what}: {}", signed(sum)) };
    let off = (sum - i64::from(target.total)).abs();
    let (sign, _) = suit(target.suit());
    let is_suited =
        |code: &&&str| **code == "Y" || Deck::C62.read(code).is_some_and(|face| face.sign == sign);
    let suited = of.iter().filter(is_suited).count();
    format!("{what}: {}, {off} from the target; {suited} of its suit", signed(sum))
}

/// Shift tokens of one's own, by their titles.
#[must_use]
pub fn tokens(state: &TableState) -> Vec<String> {
    let seat = state.my_seat().map_or(0, |seat| seat.seat);
    match game_state(state) {
        Some(State::Kessel(kessel)) => kessel::tokens(kessel, seat),
        Some(
            State::Dice(_)
            | State::Electronic(_)
            | State::Eleven(_)
            | State::Coruscant(_)
            | State::Force(_)
            | State::Spike(_)
            | State::Swg(_),
        )
        | None => Vec::new(),
    }
}

fn dice_text(values: &[u32]) -> String {
    listed(&values.iter().map(u32::to_string).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_to_23_says_what_it_is() {
        assert_eq!(total23(&["S15", "F8"]), "Pure Sabacc: 23");
        assert_eq!(total23(&["S15", "F9"]), "Total 24: over 23, bombed out unless it changes");
        assert_eq!(total23(&["IdiotA", "S2", "F3"]), "Idiot's Array: the best hand there is");
        assert_eq!(total23(&["StarA", "S2"]), "Total −15");
        assert_eq!(total23(&["IdiotA"]), "Total 0: bombed out unless it changes");
    }

    #[test]
    fn a_hand_of_spike_says_how_far_from_nothing() {
        assert_eq!(spike_hint(&["c+3", "t-5"]), "Sum −2: 2 from 0");
        assert_eq!(spike_hint(&["Y", "Y"]), "Pure Sabacc: the best hand there is");
        assert_eq!(spike_hint(&["c+3", "t-3"]), "Sum 0: sabacc");
    }

    #[test]
    fn wild_cards_of_eleven_are_counted_apart() {
        let game = pb::ElevenState {
            wild: "2S".to_owned(),
            clone: "3H".to_owned(),
            stood_seats: Vec::new(),
        };
        assert_eq!(eleven_hint(&game, &["5C", "2S"]), "5 and a wild or clone, of eleven");
        assert_eq!(eleven_hint(&game, &["6C", "6H"]), "12: over eleven");
    }

    #[test]
    fn every_game_of_the_rules_has_a_deck_and_a_title() {
        for variant in rules::ALL {
            assert!(deck(variant.id).is_some(), "{}", variant.id);
            assert_ne!(title(variant.id), variant.id);
        }
    }
}
