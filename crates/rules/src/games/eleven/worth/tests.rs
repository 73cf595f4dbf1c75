//! Checks the best total by trying every choice of every card.

use super::*;
use crate::deck::P42;

fn cards(codes: &str) -> Vec<Card> {
    let mut held = Vec::new();
    for code in codes.split(' ') {
        let card = P42.parse(code).iter().find(|card| !held.contains(card)).expect(code);
        held.push(card);
    }
    held
}

fn face_of(code: &str) -> u8 {
    u8::try_from(P42.faces().position(|face| face == code).expect(code)).unwrap()
}

/// With these announced faces the hand makes this total, or none if it is over.
fn check(wild: &str, clone: &str, hand: &str, total: Option<u8>) {
    let announced = Announced { wild: face_of(wild), clone: face_of(clone) };
    assert_eq!(best_total(&cards(hand), announced), total, "{hand}");
}

#[test]
fn plain_cards_count_their_rank() {
    check("6S", "1S", "5H 4D", Some(9));
    check("1S", "1H", "6S 5H", Some(11));
    check("1S", "1H", "6S 6S", None);
    check("1S", "1H", "5H 5H 1C", Some(11));
    check("1S", "1H", "5H 5H 2C", None);
}

/// rules/SPEC.md R-71.
#[test]
fn a_wild_is_1_to_6_as_serves_best() {
    check("3H", "1S", "5H 3H", Some(11));
    check("3H", "1S", "2H 3H", Some(8));
    check("3H", "1S", "5H 5S 3H", Some(11));
    check("3H", "1S", "5H 5S 1D 3H", None);
    check("3H", "1S", "3H 3H", Some(11));
    check("3H", "1S", "3H", Some(6));
    check("6S", "1S", "5H 4D 6S", Some(11));
}

/// rules/SPEC.md R-71.
#[test]
fn a_clone_takes_the_value_of_another_card() {
    check("1S", "4H", "5H 4H", Some(10));
    check("1S", "4H", "2S 3S 4H", Some(8));
    check("1S", "4H", "5H 1H 4H", Some(11));
    check("1S", "4H", "5H 3H 4H", Some(11));
    check("1S", "4H", "5H 5S 4H", None);
}

/// rules/SPEC.md R-71.
#[test]
fn a_clone_may_take_a_wilds_chosen_value() {
    check("1S", "4H", "1S 4H", Some(10));
    check("1S", "4H", "1S 4H 4H", Some(9));
    check("1S", "4H", "1S 3C 4H", Some(11));
    check("1S", "4H", "1S 1S 4H", Some(11));
}

/// rules/SPEC.md R-71.
#[test]
fn clones_choose_each_for_itself() {
    check("1S", "4H", "5C 1C 4H 4H", Some(8));
    check("1S", "4H", "4C 1C 4H 4H", Some(10));
    check("1S", "4H", "5C 2C 4H 4H", Some(11));
    check("1S", "4H", "3C 2C 4H 4H", Some(11));
}

/// rules/SPEC.md R-71.
#[test]
fn a_clone_alone_or_among_clones_is_0() {
    check("1S", "4H", "4H", Some(0));
    check("1S", "4H", "4H 4H", Some(0));
}

/// rules/SPEC.md R-68.
#[test]
fn both_copies_of_a_face_are_wild_or_clone() {
    let both = |code: &str| P42.parse(code).iter().map(face).collect::<Vec<_>>();
    for code in P42.faces() {
        assert_eq!(both(code), [face_of(code); 2], "{code}");
    }
    assert_eq!(P42.faces().count(), usize::from(FACES));
}

/// Best of all assignments: a wild takes 1 to 6, a clone the index of any other card.
fn by_trying(hand: &[Card], announced: Announced) -> Option<u8> {
    let is_wild = |card: Card| P42.code(card) == P42.faces().nth(announced.wild.into()).unwrap();
    let is_clone = |card: Card| P42.code(card) == P42.faces().nth(announced.clone.into()).unwrap();
    let own = |card: Card| P42.code(card)[..1].parse::<u8>().unwrap();
    let ways = 6_usize.pow(u32::try_from(hand.len()).unwrap());
    let mut best = None;
    for way in 0..ways {
        let pick = |at: usize| way / 6_usize.pow(u32::try_from(at).unwrap()) % 6;
        let valued = |at: usize| {
            let card = hand[at];
            if is_wild(card) { u8::try_from(pick(at)).unwrap() + 1 } else { own(card) }
        };
        let models: Vec<usize> = (0..hand.len()).filter(|&at| !is_clone(hand[at])).collect();
        let total: u8 = (0..hand.len())
            .map(|at| match (is_clone(hand[at]), models.is_empty()) {
                (false, _) => valued(at),
                (true, true) => 0,
                (true, false) => valued(models[pick(at) % models.len()]),
            })
            .sum();
        if total <= 11 {
            best = best.max(Some(total));
        }
    }
    best
}

/// rules/SPEC.md R-71.
#[test]
fn the_best_choice_is_found_in_every_kind_of_hand() {
    let all: Vec<Card> = P42.cards().collect();
    let mut state = 1_usize;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..500 {
        // Half of the hands are drawn from few faces, so that wilds and clones are among them.
        let (wild, clone) = (random(21), random(21));
        if wild == clone {
            continue;
        }
        let mut deck: Vec<Card> = all.clone();
        if round % 2 == 0 {
            let others = [random(21), random(21)];
            deck.retain(|&card| {
                let face = usize::from(face(card));
                [wild, clone].contains(&face) || others.contains(&face)
            });
        }
        let size = (2 + random(5)).min(deck.len());
        let hand: Vec<Card> = (0..size).map(|_| deck.swap_remove(random(deck.len()))).collect();
        let announced =
            Announced { wild: u8::try_from(wild).unwrap(), clone: u8::try_from(clone).unwrap() };
        let codes: Vec<&str> = hand.iter().map(|&card| P42.code(card)).collect();
        assert_eq!(best_total(&hand, announced), by_trying(&hand, announced), "{codes:?}");
    }
}
