//! The end of the pack, leaving, the clock.

use rules::{Hand, notation};

use crate::scene::{Scene, chance_comes, check, played, report, take};

const DEAL: &str = "d deal p1 S10 F10; d deal p2 S9 C10;";

fn dice(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("dice", fields, stacks)
}

// Discards and the end of the pack.

/// Eight players; p1 and p2 stand on 21, the others draw as long as they can.
fn everything_drawn(fields: &'static str) -> Hand {
    let hand = dice(fields, &[1_000; 8]).start().unwrap();
    let deal = "d deal p1 S10 S11; d deal p2 F10 F11; d deal p3 C1 C2; d deal p4 C3 C4;
        d deal p5 C5 C6; d deal p6 C7 C8; d deal p7 C9 C10; d deal p8 C11 C12";
    let (mut hand, refused) = played(hand, deal);
    assert_eq!(refused, None);
    for _ in 0..10 {
        hand = played(hand, "p1 p2 stand").0;
        for _ in 0..6 {
            take(&mut hand, "draw");
            chance_comes(&mut hand);
        }
        hand = played(hand, "p1 p2 p3 p4 p5 p6 p7 p8 check").0;
    }
    hand
}

/// rules/SPEC.md R-7.
#[test]
fn without_cards_drawing_and_trading_are_illegal() {
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    assert_eq!(report(&hand), "p1: stand");
}

/// rules/SPEC.md R-7.
#[test]
fn a_demise_without_a_card_for_each_is_split_at_once() {
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    let all = "p1 p2 p3 p4 p5 p6 p7 p8";
    let (hand, refused) = played(hand, &format!("{all} stand; p1 call-hand; {all} check"));
    assert_eq!(refused, None);
    let end = hand.settlement().expect("no demise card is due");
    assert_eq!(end.lines.len(), 2, "{:?}", end.lines);
    assert_eq!(end.winners.len(), 2);
}

/// rules/SPEC.md §3.4, R-6.
#[test]
fn discards_are_shuffled_in_when_the_pile_is_empty() {
    // p8 folds twelve cards: they are all there is to draw.
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    let (hand, refused) =
        played(hand, "p1 p2 p3 p4 p5 p6 p7 p8 stand; p1 p2 p3 p4 p5 p6 p7 check; p8 fold; p1 draw");
    assert_eq!(refused, None);
    let folded = hand.players().last().unwrap();
    let restock = match hand.due() {
        Some(rules::Chance::Deal(deal)) => deal.parts[0].restock.clone().expect("a restock"),
        due => panic!("{due:?}"),
    };
    assert_eq!((restock.after, restock.cards.len()), (0, 12));
    assert_eq!(restock.cards.to_vec(), hand.cards_of(folded));
    let (hand, refused) = played(hand, "d deal p1 C11; p2 trade F10");
    assert_eq!(refused, None);
    match hand.due() {
        Some(rules::Chance::Deal(deal)) => assert!(deal.parts[0].restock.is_none()),
        due => panic!("{due:?}"),
    }
    assert_eq!(
        played(hand.clone(), "d deal p2 F10").1.expect("the discard is not in the draw pile"),
        "d deal p2 F10: card 1 of the deal cannot be there: it is not in the draw pile"
    );
}

/// rules/SPEC.md R-6.
#[test]
fn a_traded_card_is_among_the_discards_it_may_come_back_from() {
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    let all = "p1 p2 p3 p4 p5 p6 p7 p8";
    let fold = format!("{all} stand; p1 p2 p3 p4 p5 p6 p7 check; p8 fold; p1 trade S10");
    let (hand, refused) = played(hand, &fold);
    assert_eq!(refused, None);
    assert_eq!(played(hand, "d deal p1 S10").1, None);
}

// Leaving and the clock.

/// rules/SPEC.md §6.3, R-22.
#[test]
fn a_leaver_takes_the_default_of_every_decision_and_can_win() {
    let scene = dice("shift=none,field=false,pot_building_rounds=0", &[100, 100, 100]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9;";
    check(&scene, &format!("{deal} p1 leave"), "p2: draw, trade S9|C10, stand");
    check(&scene, &format!("{deal} p1 leave; p1 stand"), "refused: p1 has already left");
    check(&scene, &format!("{deal} p1 leave; p1 leave"), "refused: p1 has already left");
    check(&scene, "p1 leave", "refused: the dealer is due");
    check(
        &scene,
        &format!("{deal} p1 leave; p2 call-hand"),
        "refused: `call-hand` is not legal here; legal: draw, trade, stand",
    );
    // The leaver checks for nothing, and wins.
    check(
        &scene,
        &format!("{deal} p1 leave; p2 p3 stand; p2 call-hand; p2 p3 check"),
        "p1 wins main 15; stacks 105 90 90; sabacc 15",
    );
    // The leaver folds to a bet, out of turn.
    check(
        &scene,
        &format!("{deal} p1 p2 p3 stand; p3 leave; p1 bet 5; p2 match"),
        "p1: draw, trade S10|F10, stand",
    );
    // Everybody leaves: the hand plays itself out.
    check(
        &scene,
        &format!("{deal} p3 leave; p2 leave; p1 leave"),
        "p1 wins main 15; stacks 105 90 90; sabacc 15",
    );
    // Leaving after folding changes nothing.
    check(
        &scene,
        &format!("{deal} p1 p2 p3 stand; p1 fold; p1 leave; p2 check; p3 check"),
        "p2: draw, trade S9|C10, stand",
    );
}

/// rules/SPEC.md R-22.
#[test]
fn a_leavers_turns_are_still_followed_by_the_dice() {
    check(&dice("", &[100, 100]), &format!("{DEAL} p1 leave"), "d: roll");
}

/// rules/SPEC.md §6.2, R-21.
#[test]
fn the_clock_stands_checks_or_folds() {
    let default = |when: &str| {
        let scene = dice("shift=none,field=false,pot_building_rounds=0", &[100, 100]);
        let (hand, refused) = played(scene.start().unwrap(), &format!("{DEAL} {when}"));
        assert_eq!(refused, None);
        match rules::next(&hand) {
            rules::Next::Decision(decision) => decision.default.text(&rules::S76),
            other @ (rules::Next::Chance(_) | rules::Next::Done(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!(default(""), "stand");
    assert_eq!(default("p1 p2 stand"), "check");
    assert_eq!(default("p1 p2 stand; p1 bet 5"), "fold");
    let scene = dice("shift=none", &[100, 100]);
    let (hand, _) = played(scene.start().unwrap(), DEAL);
    let event = notation::read(&hand, "p1 stand # clock").unwrap();
    assert_eq!(rules::history_line(&hand, &event), "p1 stand # clock");
}
