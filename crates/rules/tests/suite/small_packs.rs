//! Laws of the games with small packs, in random hands: no line shows a hidden card, and the main
//! layer goes to the best rank, read from the ranks' own text.

use std::cmp::Reverse;

use proptest::prelude::*;
use rules::{Card, Event, Hand, Player, Rank, Rung, Viewer, Word, censor, play, variant};

use crate::laws::{any_setup, chooser};
use crate::scene::Scene;

const GAMES: [&str; 3] = ["coruscant", "eleven", "spike"];

/// Plays to the end and calls `law` with the hand before and after each event.
fn each_step(hand: &mut Hand, seed: u64, mut law: impl FnMut(&Hand, &Event, &Hand)) {
    let mut choose = chooser(seed);
    loop {
        let before = hand.clone();
        let mut event = None;
        let mut keep = |_: &Hand, played: &Event| event = Some(played.clone());
        if !play::step(hand, &mut choose, &mut keep).unwrap() {
            return;
        }
        law(&before, &event.unwrap(), hand);
    }
}

/// The cards that a viewer reads in the line of an event.
fn visible_cards(hand: &Hand, event: &Event, viewer: Viewer) -> Vec<Card> {
    let words = censor(hand, event, viewer).map(|seen| seen.words).unwrap_or_default();
    let card = |word: Word| match word {
        Word::Card(card) => card,
        Word::Amount(_) | Word::Number(_) | Word::Player(_) | Word::Name(_) | Word::Hidden => None,
    };
    words.into_iter().filter_map(card).collect()
}

/// Winners of the main layer by the text of the ranks, for games in which equal ranks are split.
fn best_of(ranks: &[String]) -> Vec<usize> {
    let numbers = |rank: &String| -> Vec<i64> {
        rank.split(' ').filter_map(|word| word.parse().ok()).collect()
    };
    let key = |rank: &String| match (rank.split(' ').next()?, numbers(rank).as_slice()) {
        ("folded" | "over", _) => None,
        ("off", &[off, suit, total, high]) => Some((Reverse(off), suit, total, high)),
        (_, &[total, cards]) => Some((Reverse(-total), -cards, 0, 0)),
        _ => panic!("{rank}"),
    };
    let best = ranks.iter().filter_map(key).max();
    let is_best = |at: &usize| best.is_some() && key(&ranks[*at]) == best;
    (0..ranks.len()).filter(is_best).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// rules/SPEC.md §3.5.
    #[test]
    fn lines_show_nobody_a_card_that_somebody_else_hides(seed: u64) {
        for game in GAMES {
            let setup = any_setup(variant(game).unwrap(), &mut chooser(seed));
            let mut hand = Hand::try_new(&setup).unwrap();
            each_step(&mut hand, seed, |before, event, after| {
                let viewers = after.players().map(Viewer::Player).chain([Viewer::Public]);
                for viewer in viewers {
                    let visible = visible_cards(before, event, viewer);
                    // Folded cards are in the discards and may be dealt again.
                    for holder in after.live().iter() {
                        let open = viewer == Viewer::Player(holder) || after.is_shown(holder);
                        let hidden = |card: &Card| after.cards_of(holder).contains(card);
                        hides(open || !visible.iter().any(hidden), game, viewer, holder);
                    }
                }
            });
        }
    }

    #[test]
    fn the_main_layer_goes_to_the_best_rank(seed: u64) {
        for game in ["coruscant", "eleven"] {
            let players = usize::try_from(seed % 5).unwrap() + 2;
            let scene = Scene::new(game, "", &vec![60; players]);
            let mut hand = scene.start().unwrap();
            each_step(&mut hand, seed, |_, _, _| {});
            let end = hand.settlement().unwrap();
            if end.shown.is_empty() {
                continue;
            }
            let text = |rank: &Option<Rank>| rank.unwrap().to_string();
            let ranks: Vec<String> = end.hands.iter().map(|hand| text(&hand.rank)).collect();
            let winners: Vec<usize> = end.winners.iter().map(Player::index).collect();
            prop_assert_eq!(best_of(&ranks), winners, "{:?}", ranks);
        }
    }

    /// rules/SPEC.md §14.2.
    #[test]
    fn spike_ends_after_three_rounds_of_hands_of_two_to_five(seed: u64) {
        let setup = any_setup(variant("spike").unwrap(), &mut chooser(seed));
        let mut hand = Hand::try_new(&setup).unwrap();
        let mut rolls = 0;
        each_step(&mut hand, seed, |_, event, after| {
            if let Event::Chance(rules::Outcome::Rolled(_)) = event {
                rolls += 1;
            }
            for player in after.players() {
                let in_hand = after.cards_of(player).len();
                assert!(in_hand <= 5);
            }
        });
        prop_assert!(rolls <= 3);
        let end = hand.settlement().unwrap();
        prop_assert!(end.shown.is_empty() || rolls == 3, "a reveal comes after three rolls");
        prop_assert!(end.hands.iter().all(|hand| (2..=5).contains(&hand.cards.len())));
        // Without a total of 0 nobody wins the Sabacc Pot.
        let nulrhek = |player: Player| end.hands[player.index()].rank == Some(Rank::Spike(Rung::Nulrhek));
        let taken = end.lines.iter().any(|line| line.to_string().contains("wins sabacc"));
        prop_assert!(!taken || !end.winners.iter().any(nulrhek));
    }
}

fn hides(holds: bool, game: &str, viewer: Viewer, holder: Player) {
    assert!(holds, "{game}: {viewer:?} is told a card that {holder} hides");
}
