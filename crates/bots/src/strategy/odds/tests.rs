use client::WatchMessage;
use proto::table::v1 as pb;

use super::super::steady::situation::{self, legal, turn};
use super::*;

/// State with two opponents, each with two hidden cards.
fn state(variant: &str, codes: &[&str]) -> TableState {
    let mut state = situation::state(variant, codes);
    let mut view = state.view().clone();
    let hidden = pb::HeldCard { code: "??".to_owned(), locked: false, proof: None };
    let place = |seat| pb::HandSeat {
        seat,
        cards: vec![hidden.clone(), hidden.clone()],
        ..pb::HandSeat::default()
    };
    view.hand.as_mut().unwrap().seats.extend([place(2), place(3)]);
    state.apply(&WatchMessage::Snapshot(Box::new(view)));
    state
}

fn choose(variant: &str, codes: &[&str], legal: Vec<LegalMove>) -> Move {
    Odds::new(1).choose(&state(variant, codes), &turn(legal))
}

/// Draw, trade or stand, with these cards.
fn action(codes: &[&str]) -> Vec<LegalMove> {
    let trade = legal(MoveKind::Trade, codes);
    vec![legal(MoveKind::Draw, &[]), trade, legal(MoveKind::Stand, &[])]
}

#[test]
fn good_hands_stand_and_bad_ones_are_mended() {
    let good = ["S12", "C9"];
    assert_eq!(choose("dice", &good, action(&good)).kind(), MoveKind::Stand);
    let bombed = ["S15", "C12"];
    assert_eq!(choose("dice", &bombed, action(&bombed)).kind(), MoveKind::Trade);
    let low = ["S2", "C3"];
    assert_ne!(choose("dice", &low, action(&low)).kind(), MoveKind::Stand);
}

#[test]
fn what_cannot_be_judged_is_played_steadily() {
    // Without an announcement nobody knows what the cards count.
    let options = || vec![legal(MoveKind::Draw, &[]), legal(MoveKind::Stand, &[])];
    assert_eq!(choose("eleven", &["5S", "4H"], options()).kind(), MoveKind::Stand);
    assert_eq!(choose("eleven", &["3S", "2H"], options()).kind(), MoveKind::Draw);
}

#[test]
fn kessel_keeps_pairs_and_replaces_what_costs_most() {
    let draw =
        |name: &str| LegalMove { names: vec![name.to_owned()], ..legal(MoveKind::DrawFrom, &[]) };
    let turn = || vec![draw("sand"), draw("blood"), legal(MoveKind::Stand, &[])];
    assert_eq!(choose("kessel", &["s2", "b2"], turn()).kind(), MoveKind::Stand);
    let codes = ["s1", "b6", "b2"];
    let discard = vec![legal(MoveKind::Discard, &codes[1..])];
    assert_eq!(choose("kessel", &codes, discard), card_move(MoveKind::Discard, &["b6"]));
    let impostor = LegalMove { values: vec![1, 5], ..legal(MoveKind::Impostor, &["bI"]) };
    assert_eq!(choose("kessel", &["s5", "bI"], vec![impostor]).value, 5);
}

#[test]
fn the_same_seed_decides_the_same() {
    let codes = ["S5", "C6", "QueenA"];
    let decide = |seed| Odds::new(seed).choose(&state("swg", &codes), &turn(action(&codes)));
    assert_eq!(decide(4), decide(4));
}
