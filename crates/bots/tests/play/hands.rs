//! Strategies in whole hands of every game.

use bots::strategy::{Odds, Random, Steady};
use primitives::Credits;
use rules::RuleSet;

use crate::table::{PlayerState, play};

#[test]
fn every_game_is_played_to_its_end_by_legal_moves() {
    for variant in rules::ALL {
        let mut places = [
            PlayerState::of(Random::new(1)),
            PlayerState::of(Steady::new(2)),
            PlayerState::of(Steady::new(3)),
        ];
        for hand_no in 1..=30 {
            play(variant, hand_no, &mut places);
        }
    }
}

#[test]
fn steady_players_take_from_random_ones() {
    for id in ["dice", "electronic"] {
        let variant = rules::variant(id).unwrap();
        let mut places = [
            PlayerState::of(Random::new(1)),
            PlayerState::of(Steady::new(2)),
            PlayerState::of(Random::new(3)),
        ];
        let mut gained = 0;
        for hand_no in 1..=200 {
            let [first, steady, third] = play(variant, hand_no, &mut places);
            gained += 2 * steady - first - third;
        }
        // A stack is 200: the gain per hand is far more than luck.
        assert!(gained / 200 > 60, "{id}: {gained}");
    }
}

#[test]
fn players_who_weigh_their_odds_take_from_random_ones_in_every_game() {
    const HANDS: u64 = 80;
    for variant in rules::ALL {
        let mut places = [
            PlayerState::of(Random::new(1)),
            PlayerState::of(Odds::new(2)),
            PlayerState::of(Random::new(3)),
        ];
        let mut gained = 0;
        for hand_no in 1..=HANDS {
            let [first, odds, third] = play(variant, hand_no, &mut places);
            gained += 2 * odds - first - third;
        }
        let due = i64::try_from(RuleSet::defaults(variant).min_stack(Credits::ZERO).get()).unwrap();
        // Gain per hand over each opponent, as a share of the cost of being dealt in.
        let ahead = gained * 100 / (2 * due * i64::try_from(HANDS).unwrap());
        assert!(ahead > 40, "{}: {ahead} % of that ahead", variant.id);
    }
}
