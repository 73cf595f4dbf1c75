//! `spike`: the reveal, blind cards, the Sabacc Pot.

use rules::Hand;

use crate::scene::{Scene, check, ranks};

fn spike(stacks: &[u64]) -> Scene {
    Scene::new("spike", "", stacks)
}

const ROUND: &str = "p1 p2 stand; d roll 1 2; p1 p2 check;";

/// Plays two players who only stand and check; the flipped card is s+9.
fn reveal(sabacc: u64, deal: &str, blind: &str, then: &str, ranked: &str) -> Hand {
    let when = format!("{deal}; d flip s+9; {} {blind}", ROUND.repeat(3));
    let hand = check(&spike(&[100, 100]).sabacc(sabacc), &when, then);
    assert_eq!(ranks(&hand), ranked);
    hand
}

/// rules/SPEC.md §14.5, R-75.
#[test]
fn the_highest_hand_wins_and_with_a_total_of_0_the_sabacc_pot_too() {
    reveal(
        30,
        "d deal p1 c+5 c-5; d deal p2 t+1 t+2",
        "",
        "p1 wins main 4; p1 wins sabacc 34; stacks 134 96",
        "sabacc-pair, nulrhek",
    );
}

/// rules/SPEC.md R-75.
#[test]
fn nobody_bombs_out_and_another_total_takes_no_sabacc_pot() {
    reveal(
        30,
        "d deal p1 c+10 t+10; d deal p2 t+1 t+2",
        "",
        "p2 wins main 4; stacks 96 100; sabacc 34",
        "nulrhek, nulrhek",
    );
}

const TIED: &str = "d deal p1 c+5 c-5; d deal p2 t+5 t-5";

/// rules/SPEC.md R-74.
#[test]
fn equal_hands_draw_one_blind_card_each() {
    let due = format!("{TIED}; d flip s+9; {}", ROUND.repeat(3));
    check(&spike(&[100, 100]), &due, "d: deal p1, deal p2");
    let wins = |blind, then| {
        reveal(0, TIED, blind, then, "sabacc-pair, sabacc-pair");
    };
    let p1 = "p1 wins main 4; p1 wins sabacc 4; stacks 104 96";
    let p2 = "p2 wins main 4; p2 wins sabacc 4; stacks 96 104";
    // Closer to 0, then positive.
    wins("d deal p1 s-1; d deal p2 s+2", p1);
    wins("d deal p1 s-2; d deal p2 s+2", p2);
    wins("d deal p1 s+2; d deal p2 c-2", p1);
    wins("d deal p1 c+1; d deal p2 Y", p2);
}

/// rules/SPEC.md R-74.
#[test]
fn still_equal_ones_draw_again_up_to_three_times() {
    let once = "d deal p1 s+1; d deal p2 c+1;";
    let twice = "d deal p1 s+1; d deal p2 c+1; d deal p1 Y; d deal p2 Y;";
    let due = |blind: &str| {
        let when = format!("{TIED}; d flip s+9; {} {blind}", ROUND.repeat(3));
        check(&spike(&[100, 100]), &when, "d: deal p1, deal p2");
    };
    due(once);
    due(twice);
    reveal(
        0,
        TIED,
        &format!("{twice} d deal p1 s-7; d deal p2 c+7"),
        "p2 wins main 4; p2 wins sabacc 4; stacks 96 104",
        "sabacc-pair, sabacc-pair",
    );
    let hand = reveal(
        1,
        TIED,
        &format!("{twice} d deal p1 s-7; d deal p2 c-7"),
        "p1 wins main 2; p2 wins main 2; p1 wins sabacc 3; p2 wins sabacc 2; stacks 101 100",
        "sabacc-pair, sabacc-pair",
    );
    let end = hand.settlement().unwrap();
    assert!(end.hands.iter().all(|hand| hand.cards.len() == 2), "without the blind cards");
    assert_eq!(end.winners.len(), 2);
}

/// rules/SPEC.md §14.4, R-74.
#[test]
fn gee_whiz_is_broken_by_blind_cards_alone() {
    let gee = "d deal p1 c+1 c+2; d deal p2 t-1 t-2; d flip s+9;
        p1 gain; d deal p1 c+3; p2 gain; d deal p2 t-3; d roll 1 2; p1 p2 check;
        p1 gain; d deal p1 c+4; p2 gain; d deal p2 t-4; d roll 1 2; p1 p2 check;
        p1 gain; d deal p1 c-10; p2 gain; d deal p2 t+10; d roll 1 2; p1 p2 check;";
    check(&spike(&[100, 100]), gee, "d: deal p1, deal p2");
    let hand = check(
        &spike(&[100, 100]),
        &format!("{gee} d deal p1 s+6; d deal p2 s+5"),
        "p2 wins main 4; p2 wins sabacc 4; stacks 96 104",
    );
    assert_eq!(ranks(&hand), "gee-whiz, gee-whiz");
}

/// p1 is in for 4, p2 and p3 for 12: a main layer of 12 and a side layer of 16.
fn layered(deal: &str, blind: &str, then: &str) {
    let when = format!(
        "{deal}; d flip s+9; p1 p2 p3 stand; d roll 1 2; p1 bet 2; p2 raise 10; p3 match;
         p1 p2 p3 stand; d roll 1 2; p2 p3 check; p1 p2 p3 stand; d roll 1 2; p2 p3 check; {blind}"
    );
    check(&spike(&[6, 100, 100]), &when, then);
}

const ALL_TIED: &str = "d deal p1 c+5 c-5; d deal p2 t+5 t-5; d deal p3 s+5 s-5";

/// rules/SPEC.md R-74.
#[test]
fn a_later_layer_uses_the_blind_cards_already_dealt() {
    layered(ALL_TIED, "", "d: deal p1, deal p2, deal p3");
    layered(
        ALL_TIED,
        "d deal p1 c+1; d deal p2 c+3; d deal p3 c+2",
        "p1 wins main 12; p3 wins side-1 16; p1 wins sabacc 6; stacks 18 86 102",
    );
    // p1 and p2 draw again for the main layer; p2's first card decides the side layer.
    layered(
        ALL_TIED,
        "d deal p1 c+1; d deal p2 t+1; d deal p3 c+2; d deal p1 c+4; d deal p2 t-3",
        "p2 wins main 12; p2 wins side-1 16; p2 wins sabacc 6; stacks 0 120 86",
    );
}

/// rules/SPEC.md R-74.
#[test]
fn a_later_layer_draws_on_where_its_own_are_still_equal() {
    let first = "d deal p1 c+1; d deal p2 c+2; d deal p3 t+2;";
    layered(ALL_TIED, first, "d: deal p2, deal p3");
    layered(
        ALL_TIED,
        &format!("{first} d deal p2 c+7; d deal p3 t-6"),
        "p1 wins main 12; p3 wins side-1 16; p1 wins sabacc 6; stacks 18 86 102",
    );
}

#[test]
fn a_layer_may_need_cards_for_some_of_its_players_only() {
    // p1 and p2 tie for the main layer; p3 ties with nobody.
    let deal = "d deal p1 c+5 c-5; d deal p2 t+5 t-5; d deal p3 s+6 s-6";
    layered(deal, "", "d: deal p1, deal p2");
    layered(
        deal,
        "d deal p1 c+1; d deal p2 c+2",
        "p1 wins main 12; p2 wins side-1 16; p1 wins sabacc 6; stacks 18 102 86",
    );
    // Only the side layer ties.
    let deal = "d deal p1 Y Y; d deal p2 t+5 t-5; d deal p3 s+5 s-5";
    layered(deal, "", "d: deal p2, deal p3");
    layered(
        deal,
        "d deal p2 c+1; d deal p3 c+2",
        "p1 wins main 12; p2 wins side-1 16; p1 wins sabacc 6; stacks 18 102 86",
    );
}

/// rules/SPEC.md.
#[test]
fn without_any_contribution_there_is_one_main_layer() {
    let scene = Scene::new("spike", "preset=black-spire", &[1, 1]).sabacc(9);
    let round = "p1 p2 stand; d roll 1 2;".repeat(3);
    check(
        &scene,
        &format!("d deal p1 c+5 c-5; d deal p2 t+1 t+2; d flip s+9; {round}"),
        "p1 wins sabacc 9; stacks 10 1",
    );
    check(
        &scene,
        &format!("d deal p1 c+5 c-4; d deal p2 t+1 t+2; d flip s+9; {round}"),
        "stacks 1 1; sabacc 9",
    );
    check(&scene, &format!("{TIED}; d flip s+9; {round}"), "d: deal p1, deal p2");
}

/// rules/SPEC.md R-20.
#[test]
fn rake_is_never_taken_from_the_sabacc_pot() {
    let scene = Scene::new("spike", "hand_ante=20,rake_bps=1000", &[100, 100]).sabacc(100);
    check(
        &scene,
        &format!("d deal p1 c+5 c-5; d deal p2 t+1 t+2; d flip s+9; {}", ROUND.repeat(3)),
        "p1 wins main 36; p1 wins sabacc 104; rake 4; stacks 218 78",
    );
}

/// rules/SPEC.md R-15.
#[test]
fn the_sabacc_ante_may_be_due_only_when_that_pot_is_empty() {
    let scene = |sabacc| {
        Scene::new("spike", "sabacc_ante_when=when_empty,sabacc_ante=50", &[60, 60]).sabacc(sabacc)
    };
    let junk = "d deal p1 c+5 c-5; d deal p2 t+1 t+2; d flip s+9; p1 junk";
    check(&scene(0), junk, "p2 wins main 4; stacks 8 12; sabacc 100");
    check(&scene(1), junk, "p2 wins main 4; stacks 58 62; sabacc 1");
}
