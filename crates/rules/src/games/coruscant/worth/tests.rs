//! Checks selections against a slow reading of the rules.

use std::cmp::Ordering;

use super::*;
use crate::deck::C62;

fn cards(codes: &str) -> Vec<Card> {
    let mut held = Vec::new();
    for code in codes.split(' ') {
        held.push(C62.parse(code).iter().find(|card| !held.contains(card)).expect(code));
    }
    held
}

const CIRCLE_5: Target = Target { total: 5, suit: Suit::Circle };

/// Value for a target of 5 in circles.
fn worth(codes: &str) -> Worth {
    Worth::of(&cards(codes), CIRCLE_5)
}

fn beats(better: &str, worse: &str) {
    assert!(worth(better).strength() > worth(worse).strength(), "{better} {worse}");
}

/// rules/SPEC.md §15.1.
#[test]
fn the_faces_of_the_dice() {
    let target = |faces| Target::of(faces).map(|target| (target.total, target.suit));
    assert_eq!(target(&[1, 1]), Some((0, Suit::Circle)));
    assert_eq!(target(&[2, 2]), Some((0, Suit::Circle)));
    assert_eq!(target(&[3, 3]), Some((5, Suit::Triangle)));
    assert_eq!(target(&[4, 4]), Some((-5, Suit::Triangle)));
    assert_eq!(target(&[5, 5]), Some((10, Suit::Square)));
    assert_eq!(target(&[6, 6]), Some((-10, Suit::Square)));
    assert_eq!(target(&[7, 1]), None);
}

/// rules/SPEC.md §15.2.
#[test]
fn closest_to_the_target_wins() {
    beats("t+5", "c+4");
    beats("t+6", "c+3");
    beats("s-2", "c-10 c+2");
}

#[test]
fn then_most_cards_of_the_suit() {
    beats("c+5", "t+5");
    beats("c+1 c+2 t+2", "c+10 t-5");
    beats("c+4 Y", "c+6");
}

/// rules/SPEC.md §15.2.
#[test]
fn a_sylop_counts_as_every_suit() {
    for silver in SILVER {
        let target = Target { total: 0, suit: silver };
        assert_eq!(Worth::of(&cards("Y Y"), target).suited, 2);
    }
    beats("t+5 Y", "t+5");
    assert_eq!(worth("t+5 Y").strength(), worth("c+5").strength());
}

#[test]
fn then_the_higher_total_with_its_sign() {
    beats("c+6", "c+4");
    beats("c+4 c+2", "c+3 c+1");
}

#[test]
fn then_the_higher_single_card_with_its_sign() {
    beats("c+6 t-1", "c+5");
    beats("c+10 t-5", "c+9 t-4");
}

#[test]
fn ranks_as_they_are_written() {
    let rank = |codes, target| Rank::from(Worth::of(&cards(codes), target)).to_string();
    assert_eq!(rank("c+6 t-1 Y", CIRCLE_5), "off 0 suit 2 total 5 high 6");
    let low = Target { total: -10, suit: Suit::Square };
    assert_eq!(rank("c-6 t-1", low), "off 3 suit 0 total -7 high -1");
    assert_eq!(rank("s+10", low), "off 20 suit 1 total 10 high 10");
}

/// Compares step by step, from codes and not from cards.
fn slow(a: &str, b: &str, target: i16, suit: &str) -> Ordering {
    let values = |codes: &str| -> Vec<i16> {
        codes.split(' ').map(|code| code[1..].parse().unwrap_or(0)).collect()
    };
    let off = |codes| (values(codes).iter().sum::<i16>() - target).abs();
    let suited = |codes: &str| {
        codes.split(' ').filter(|code| code.starts_with(suit) || *code == "Y").count()
    };
    let total = |codes| values(codes).iter().sum::<i16>();
    let high = |codes| values(codes).into_iter().max();
    (off(b).cmp(&off(a)))
        .then(suited(a).cmp(&suited(b)))
        .then(total(a).cmp(&total(b)))
        .then(high(a).cmp(&high(b)))
}

/// rules/SPEC.md R-77.
#[test]
fn selections_compare_as_a_slow_reading_compares_them() {
    let mut state = 7_usize;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut equal = 0;
    for _ in 0..60_000 {
        let mut deck: Vec<Card> = C62.cards().collect();
        let mut hand = || -> Vec<Card> {
            let size = 1 + random(5);
            (0..size).map(|_| deck.swap_remove(random(deck.len()))).collect()
        };
        let (a, b) = (hand(), hand());
        let faces = [1 + random(6), 1 + random(6)].map(|face| u8::try_from(face).unwrap());
        let target = Target::of(&faces).unwrap();
        let text =
            |hand: &[Card]| hand.iter().map(|&card| C62.code(card)).collect::<Vec<_>>().join(" ");
        let fast = Worth::of(&a, target).strength().cmp(&Worth::of(&b, target).strength());
        let slow = slow(&text(&a), &text(&b), target.total, &target.suit.name()[..1]);
        assert_eq!(fast, slow, "{} / {} for {target:?}", text(&a), text(&b));
        equal += usize::from(fast.is_eq());
    }
    assert!(equal > 0, "equal selections are among them");
}
