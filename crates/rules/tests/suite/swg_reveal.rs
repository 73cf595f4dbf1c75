//! The reveal of Sabacc for SWG: penalties, the Sudden Demise and the Sabacc Pot. Nobody draws
//! here.

use rules::Hand;

use crate::scene::{Scene, check, ranks};

/// Plays players with 1,000 each and 500 in the Sabacc Pot. After `|` come demise cards.
fn reveal(deal: &str, then: &str) -> Hand {
    let (deal, demise) = deal.split_once('|').unwrap_or((deal, ""));
    let players = deal.split(';').count();
    let checks: String = (1..=players).map(|player| format!("p{player} check;")).collect();
    let scene = Scene::new("swg", "draw_phase=false", &vec![1_000; players]).sabacc(500);
    check(&scene, &format!("{deal}; {checks} {demise}"), then)
}

/// rules/SPEC.md R-25.
#[test]
fn totals_rank_without_their_sign() {
    let hand = reveal(
        "d deal p1 S10 F10; d deal p2 StarA EnduranceA; d deal p3 EvilA QueenA",
        "p2 pays sabacc 300; p1 wins main 300; stacks 1200 600 900; sabacc 800",
    );
    assert_eq!(ranks(&hand), "total 20, bombed -25, total -17");
    reveal(
        "d deal p1 S10 F8; d deal p2 StarA QueenA",
        "p2 wins main 200; stacks 900 1100; sabacc 500",
    );
    let tied = "d deal p1 S10 F9; d deal p2 StarA QueenA";
    reveal(tied, "d: deal p1, deal p2");
    check(
        &Scene::new("swg", "draw_phase=false,ranking=signed", &[1_000, 1_000]).sabacc(500),
        &format!("{tied}; p1 p2 check"),
        "p1 wins main 200; stacks 1100 900; sabacc 500",
    );
}

/// rules/SPEC.md R-33.
#[test]
fn bombed_hands_match_the_pot() {
    reveal(
        "d deal p1 S15 F15; d deal p2 StarA EvilA; d deal p3 S1 F1; d deal p4 S2 QueenA",
        "p1 pays sabacc 400; p2 pays sabacc 400; p4 pays sabacc 400; p3 wins main 400; \
         stacks 500 500 1300 500; sabacc 1700",
    );
    check(
        &Scene::new("swg", "draw_phase=false,bomb_out=fixed,bomb_out_amount=950", &[1_000, 1_000])
            .sabacc(500),
        "d deal p1 S15 F15; d deal p2 S1 F1; p1 p2 check",
        "p1 pays sabacc 900 short 50; p2 wins main 200; stacks 0 1100; sabacc 1400",
    );
}

/// rules/SPEC.md R-34.
#[test]
fn everybody_bombed_and_the_hand_pot_moves() {
    let hand = reveal(
        "d deal p1 S15 F15; d deal p2 C15 T15",
        "p1 pays sabacc 200; p2 pays sabacc 200; main moves sabacc 200; stacks 700 700; sabacc 1100",
    );
    assert!(hand.settlement().unwrap().winners.is_empty());
}

/// rules/SPEC.md §10.3.
#[test]
fn special_hands_take_the_sabacc_pot() {
    reveal(
        "d deal p1 S11 F12; d deal p2 S15 F15",
        "p2 pays sabacc 200; p1 wins main 200; p1 wins sabacc 700; stacks 1800 700",
    );
    // Pure beats 22, although -23 is only a low total elsewhere.
    reveal(
        "d deal p1 S11 F11; d deal p2 EvilA EnduranceA",
        "p2 wins main 200; p2 wins sabacc 500; stacks 900 1600",
    );
}

// The Sudden Demise.

const TWENTY: &str = "d deal p1 S10 F10; d deal p2 S9 F11; d deal p3 S1 F1";
const PURE: &str = "d deal p1 S11 F12; d deal p2 C11 T12; d deal p3 S1 F1";

/// rules/SPEC.md R-37.
#[test]
fn the_best_modified_hand_wins() {
    reveal(TWENTY, "d: deal p1, deal p2");
    reveal(
        &format!("{TWENTY} | d deal p1 C1; d deal p2 C2"),
        "p2 wins main 300; stacks 900 1200 900; sabacc 500",
    );
    // A Pure Sabacc of the demise wins the Hand Pot and not the Sabacc Pot.
    reveal(
        &format!("{TWENTY} | d deal p1 C3; d deal p2 C2"),
        "p1 wins main 300; stacks 1200 900 900; sabacc 500",
    );
    // Without its sign: 3 against -14.
    reveal(
        "d deal p1 S10 F9; d deal p2 StarA QueenA | d deal p1 StarB; d deal p2 S5",
        "p2 wins main 200; stacks 900 1100; sabacc 500",
    );
}

/// rules/SPEC.md R-36.
#[test]
fn still_tied_after_demise_split() {
    reveal(
        &format!("{TWENTY} | d deal p1 C1; d deal p2 T1"),
        "p1 wins main 150; p2 wins main 150; stacks 1050 1050 900; sabacc 500",
    );
    reveal(
        &format!("{PURE} | d deal p1 StarA; d deal p2 StarB"),
        "p1 wins main 150; p2 wins main 150; p1 wins sabacc 250; p2 wins sabacc 250; \
         stacks 1300 1300 900",
    );
}

/// rules/SPEC.md R-36.
#[test]
fn some_bomb_in_the_demise_and_are_out() {
    reveal(
        &format!("{TWENTY} | d deal p1 C15; d deal p2 StarA"),
        "p2 wins main 300; stacks 900 1200 900; sabacc 500",
    );
    reveal(
        &format!("{PURE} | d deal p1 C1; d deal p2 QueenA"),
        "p2 wins main 300; p2 wins sabacc 500; stacks 900 1700 900",
    );
}

/// rules/SPEC.md R-42.
#[test]
fn all_bomb_in_the_demise_and_the_closest_to_23_wins() {
    reveal(
        &format!("{TWENTY} | d deal p1 C7; d deal p2 C5"),
        "p2 wins main 300; stacks 900 1200 900; sabacc 500",
    );
    // With the Sabacc Pot, if the hand was special at the reveal.
    reveal(
        &format!("{PURE} | d deal p1 C2; d deal p2 C3"),
        "p1 wins main 300; p1 wins sabacc 500; stacks 1700 900 900",
    );
    // 34 and -34 are equally far away.
    reveal(
        "d deal p1 S10 F9; d deal p2 StarA QueenA; d deal p3 S1 F1 | d deal p1 C15; d deal p2 EvilA",
        "p1 wins main 150; p2 wins main 150; stacks 1050 1050 900; sabacc 500",
    );
    // A total of 0 is 23 away.
    reveal(
        "d deal p1 S10 F4; d deal p2 C10 T4; d deal p3 S1 F1 | d deal p1 ModerationA; d deal p2 C15",
        "p2 wins main 300; stacks 900 1200 900; sabacc 500",
    );
}

/// rules/SPEC.md R-42.
#[test]
fn all_bomb_in_the_demise_equally_close_and_they_split() {
    reveal(
        &format!("{TWENTY} | d deal p1 C5; d deal p2 T5"),
        "p1 wins main 150; p2 wins main 150; stacks 1050 1050 900; sabacc 500",
    );
    reveal(
        &format!("{PURE} | d deal p1 C5; d deal p2 T5"),
        "p1 wins main 150; p2 wins main 150; p1 wins sabacc 250; p2 wins sabacc 250; \
         stacks 1300 1300 900",
    );
}

#[test]
fn idiots_arrays_tie_among_themselves() {
    let scene = Scene::new("swg", "", &[1_000, 1_000, 1_000]).sabacc(500);
    let deal = "d deal p1 IdiotA S2; d deal p2 IdiotB F2; d deal p3 S11 F12;
        p1 check; p1 draw; d deal p1 S3; p2 check; p2 draw; d deal p2 F3; p3 check; p3 stand;";
    check(&scene, deal, "d: deal p1, deal p2");
    check(
        &scene,
        &format!("{deal} d deal p1 S15; d deal p2 F14"),
        "p1 wins main 300; p1 wins sabacc 500; stacks 1700 900 900",
    );
}

/// rules/SPEC.md R-35.
#[test]
fn a_side_layer_uses_the_demise_card_of_the_main_one() {
    let scene = Scene::new("swg", "draw_phase=false", &[200, 1_000, 1_000]).sabacc(500);
    let deal =
        "d deal p1 S10 F10; d deal p2 S9 F11; d deal p3 C9 T11; p1 check; p2 bet 400; p3 match;";
    check(&scene, &format!("{deal} p1 match"), "d: deal p1, deal p2, deal p3");
    check(
        &scene,
        &format!("{deal} p1 match; d deal p1 C3; d deal p2 C1; d deal p3 C2"),
        "p1 wins main 600; p3 wins side-1 600; stacks 600 500 1100; sabacc 500",
    );
    // Only p2 and p3 tie, in the side layer; p1 has the main layer, and the Sabacc Pot.
    let pure = deal.replace("S10 F10", "S11 F12");
    check(
        &scene,
        &format!("{pure} p1 match; d deal p2 C1; d deal p3 C2"),
        "p1 wins main 600; p3 wins side-1 600; p1 wins sabacc 500; stacks 1100 500 1100",
    );
}
