//! Tests of everything that a variant gets from the shared code.

use primitives::{Credits, SeatNo};

use crate::{
    Event, Hand, Next, Player, RuleSet, Setup, Viewer, censor, evolve, explain, history_line, next,
    notation, play, variant, view,
};

fn start(rules: RuleSet) -> Hand {
    let seats = [2, 4, 7].map(|seat| SeatNo::try_new(seat).unwrap()).to_vec();
    Hand::try_new(Setup {
        rules,
        seats,
        stacks: vec![Credits::of(50); 3],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    })
    .unwrap()
}

fn defaults() -> RuleSet {
    RuleSet::defaults(variant("highest").unwrap())
}

fn play_lines(hand: &mut Hand, lines: &[&str]) {
    for text in lines {
        play::apply_due_shuffles(hand);
        let event = notation::read(hand, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(history_line(hand, &event), *text);
        evolve(hand, &event);
    }
}

#[test]
fn it_is_played_from_history_lines_and_settled() {
    let mut hand = start(defaults());
    play_lines(&mut hand, &["d deal p1 S4", "d deal p2 StarA", "d deal p3 C9", "p1 stand"]);
    play_lines(&mut hand, &["p2 trade StarA", "d deal p2 F12", "p3 stand"]);
    play_lines(&mut hand, &["p1 bet 10", "p2 match", "p3 fold"]);
    let Next::Done(end) = next(&hand) else { panic!("the hand is over") };
    let lines: Vec<String> = end.lines.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["p2 wins main 29"]);
    let ranks: Vec<String> = end.hands.iter().map(|hand| hand.rank.unwrap().to_string()).collect();
    assert_eq!(ranks, ["total 4", "total 12", "folded"]);
}

#[test]
fn its_rule_sets_are_read_checked_and_explained() {
    let canonical = defaults().canonical();
    assert_eq!(RuleSet::from_canonical(&canonical), Ok(defaults()));
    let richer = canonical.replace("hand_ante = 3", "hand_ante = 8");
    let richer = RuleSet::from_canonical(&richer).unwrap();
    assert!(explain(&richer, explain::Clock::default()).to_string().contains("8 credits"));
    assert!(RuleSet::from_canonical(&canonical.replace("min_bet", "fold_penalty")).is_err());
}

#[test]
fn others_see_neither_its_hands_nor_its_trades() {
    let mut hand = start(defaults());
    play_lines(&mut hand, &["d deal p1 S4", "d deal p2 StarA", "d deal p3 C9"]);
    let p1 = Player::try_new(0).unwrap();
    let event = notation::read(&hand, "p1 trade S4").unwrap();
    let seen = |viewer| censor(&hand, &event, viewer).unwrap().to_string();
    assert_eq!(seen(Viewer::Player(p1)), "p1 trade S4");
    assert_eq!(seen(Viewer::Public), "p1 trade ??");
    let cards = |viewer| -> Vec<bool> {
        let places = view(&hand, viewer).players;
        places.iter().map(|place| place.cards[0].card.is_some()).collect()
    };
    assert_eq!(cards(Viewer::Player(p1)), [true, false, false]);
    assert_eq!(cards(Viewer::Public), [false; 3]);
}

#[test]
fn any_hand_of_it_ends_with_every_credit_there_and_replays_from_its_lines() {
    let mut state = 1_u64;
    let mut choose = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..500 {
        let (mut hand, mut again) = (start(defaults()), start(defaults()));
        let total = hand.total();
        let mut lines = Vec::new();
        play::to_the_end(&mut hand, &mut choose, &mut |hand, event: &Event| {
            assert_eq!(hand.total(), total);
            lines.push(history_line(hand, event));
        })
        .unwrap();
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|l| !l.is_empty()).collect();
        play_lines(&mut again, &lines);
        assert_eq!(again.settlement(), hand.settlement());
        assert!(hand.settlement().is_some() && hand.total() == total);
    }
}
