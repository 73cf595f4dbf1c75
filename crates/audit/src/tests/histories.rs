//! Histories of hands for each viewer, from the golden bundles.

use std::collections::BTreeSet;
use std::path::Path;

use rules::{Deck, Event, Hand, Player, Viewer};

use crate::bundle::{Bundle, TrustedKeys};
use crate::hand::{self, HandRecords, ViewerHistory};

const ENGINE: &str = "sabacc 0";

fn records(name: &str) -> HandRecords {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/bundles");
    let keys = std::fs::read_to_string(folder.join("keys.txt")).unwrap();
    let bytes = std::fs::read(folder.join(format!("{name}.sabacc"))).unwrap();
    Bundle::parse(&bytes).unwrap().records(&TrustedKeys::parse(&keys).unwrap())
}

/// Codes of cards in a text, by its words.
fn codes(deck: &Deck, text: &str) -> BTreeSet<String> {
    let faces: BTreeSet<&str> = deck.faces().collect();
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "+-".contains(letter)));
    words.filter(|word| faces.contains(word)).map(str::to_owned).collect()
}

/// Codes of all cards that a viewer was shown in any view of a hand.
fn shown(start: &Hand, inputs: &[Event], viewer: Viewer) -> BTreeSet<String> {
    let (mut hand, mut shown) = (start.clone(), BTreeSet::new());
    let deck = hand.rules().variant().deck;
    let seats: Vec<_> = rules::view(&hand, viewer).players.iter().map(|it| it.seat).collect();
    for step in 0..=inputs.len() {
        let view = rules::view(&hand, viewer);
        let held = view.players.iter().flat_map(|player| {
            let held = player.cards.iter().filter_map(|card| card.card);
            held.chain(player.extra.iter().copied())
        });
        shown.extend(held.map(|card| deck.code(card).to_owned()));
        let state = format!("{:?}", wire::game_state::write(&view.game, deck, &seats));
        shown.extend(codes(deck, &state));
        if let Some(input) = inputs.get(step) {
            rules::evolve(&mut hand, input);
        }
    }
    shown
}

fn history_codes(deck: &Deck, viewed: &ViewerHistory) -> BTreeSet<String> {
    let history = &viewed.history;
    let lines = history.actions.iter().chain(history.settlement.iter().flatten());
    lines.flat_map(|line| codes(deck, line)).collect()
}

/// No history names a card that its viewer was never shown while the hand was played, and cards are
/// hidden from somebody in each game.
#[test]
fn a_history_names_no_card_that_its_viewer_was_not_shown() {
    for variant in rules::ALL {
        let mut hidden = 0;
        for length in ["short", "long"] {
            let records = records(&format!("{}-{length}", variant.id));
            let (opened, inputs) = hand::inputs(&records).unwrap();
            let setup = wire::replay::setup(&opened).unwrap();
            let start = Hand::try_new(&setup).unwrap();
            let deck = variant.deck;
            let histories = hand::histories(&records, ENGINE).unwrap();
            assert_eq!(histories.len(), opened.roster.len() + 1);
            let all = history_codes(
                deck,
                &ViewerHistory {
                    viewer: None,
                    history: hand::history(&records, Viewer::Auditor, ENGINE).unwrap(),
                },
            );
            for (viewed, number) in histories.iter().zip(0_u8..) {
                let player = number.checked_sub(1).and_then(Player::try_new);
                let viewer = player.map_or(Viewer::Public, Viewer::Player);
                let seat = viewed.viewer.map(|viewer| viewer.seat);
                let of_roster = player.map(|player| opened.roster[player.index()].seat);
                assert_eq!(seat, of_roster);
                let (named, shown) = (history_codes(deck, viewed), shown(&start, &inputs, viewer));
                let leaked: Vec<_> = named.difference(&shown).collect();
                assert!(leaked.is_empty(), "{}-{length}, {viewer:?}: {leaked:?}", variant.id);
                hidden += all.difference(&named).count();
                assert_eq!(viewed.history, hand::history(&records, viewer, ENGINE).unwrap());
            }
        }
        assert!(hidden > 0, "{}: nothing is hidden from anybody", variant.id);
    }
}

/// A line that hides something from everybody is shown in full to the player whose it is, and to
/// nobody who is not named in it.
#[test]
fn a_hidden_line_is_shown_to_its_player_alone() {
    for variant in rules::ALL {
        let records = records(&format!("{}-long", variant.id));
        let histories = hand::histories(&records, ENGINE).unwrap();
        let auditor = hand::history(&records, Viewer::Auditor, ENGINE).unwrap();
        let mut hidden = 0;
        for (at, line) in auditor.actions.iter().enumerate() {
            if histories[0].history.actions[at] == *line {
                continue;
            }
            let of_player = |word: &str| word.strip_prefix('p').and_then(|it| it.parse().ok());
            let named: Vec<usize> = line.split(' ').filter_map(of_player).collect();
            let sees_all = |number: &usize| histories[*number].history.actions[at] == *line;
            let readers: Vec<usize> = (1..histories.len()).filter(sees_all).collect();
            assert!(readers.contains(&named[0]), "{}: {line} to {readers:?}", variant.id);
            assert!(readers.iter().all(|it| named.contains(it)), "{line} to {readers:?}");
            hidden += 1;
        }
        assert!(hidden > 0, "{}", variant.id);
    }
}

#[test]
fn a_hand_that_came_to_nothing_has_no_settlement_and_one_without_a_seed_no_history() {
    for (name, lines) in [("agreed", true), ("burnt-by-all", false), ("delayed-reveal", true)] {
        let histories = hand::histories(&records(name), ENGINE).unwrap();
        let history = &histories[0].history;
        assert_eq!(history.settlement.is_some(), name == "delayed-reveal", "{name}");
        assert_eq!(!history.actions.is_empty(), lines, "{name}");
    }
    for name in ["seed-owed", "suspended-with-secrets", "suspended-before-antes"] {
        assert!(hand::histories(&records(name), ENGINE).is_err(), "{name}");
    }
}
