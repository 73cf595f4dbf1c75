//! The reveal of the games that play to 23: penalties, the Sudden Demise, the Sabacc Pot, hold'em.

use rules::Hand;

use crate::scene::{Scene, check, ranks};

fn dice(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("dice", fields, stacks)
}

fn reveal(fields: &'static str, stacks: &[u64], sabacc: u64, deal: &str, then: &str) -> Hand {
    let all: Vec<String> = (1..=stacks.len()).map(|player| format!("p{player}")).collect();
    let all = all.join(" ");
    let (ends, tie) = deal.split_once('|').unwrap_or((deal, ""));
    let when = format!("{ends}; {all} stand; p1 call-hand; {all} check; {tie}");
    check(&dice(fields, stacks).sabacc(sabacc), &when, then)
}

const QUICK: &str = "shift=none,pot_building_rounds=0";

/// rules/SPEC.md R-34.
#[test]
fn reveal_everybody_bombed() {
    let hand = reveal(
        QUICK,
        &[100, 15],
        40,
        "d deal p1 S15 F15; d deal p2 C15 T15",
        "p1 pays sabacc 10; p2 pays sabacc 5 short 5; main moves sabacc 10; stacks 80 0; sabacc 75",
    );
    assert!(hand.settlement().unwrap().winners.is_empty());
    assert_eq!(ranks(&hand), "bombed 30, bombed 30");
}

/// rules/SPEC.md §9.5, R-33.
#[test]
fn reveal_bombed_players_pay_the_pot_as_it_stood() {
    let deal = "d deal p1 S15 F15; d deal p2 C15 T14; d deal p3 S10 S11";
    reveal(
        QUICK,
        &[100, 100, 100],
        0,
        deal,
        "p1 pays sabacc 15; p2 pays sabacc 15; p3 wins main 15; stacks 75 75 105; sabacc 45",
    );
    reveal(
        "shift=none,pot_building_rounds=0,bomb_out=fixed,bomb_out_amount=33",
        &[100, 30, 100],
        0,
        deal,
        "p1 pays sabacc 33; p2 pays sabacc 20 short 13; p3 wins main 15; stacks 57 0 105; sabacc 68",
    );
    reveal(
        "shift=none,pot_building_rounds=0,bomb_out=none,rake_bps=1000",
        &[100, 100, 100],
        0,
        deal,
        "p3 wins main 14; rake 1; stacks 90 90 104; sabacc 15",
    );
    check(
        &dice("shift=none,pot_building_rounds=0,rake_bps=1000", &[100, 10, 100]),
        &format!("{deal}; p1 p2 p3 stand; p1 call-hand; p1 p3 check"),
        "p1 pays sabacc 15; p2 pays sabacc 0 short 15; p3 wins main 14; rake 1; \
         stacks 75 0 104; sabacc 30",
    );
}

/// rules/SPEC.md §9.5, R-18.
#[test]
fn pure_sabacc_and_idiots_array_take_the_sabacc_pot_with_the_penalties() {
    reveal(
        QUICK,
        &[100, 100],
        40,
        "d deal p1 S11 F12; d deal p2 C15 T14",
        "p2 pays sabacc 10; p1 wins main 10; p1 wins sabacc 60; stacks 160 80",
    );
    reveal(
        QUICK,
        &[100, 100],
        40,
        "d deal p1 StarA F1; d deal p2 EvilA EnduranceA",
        "p2 wins main 10; p2 wins sabacc 50; stacks 90 150",
    );
    let hand = check(
        &dice(QUICK, &[100, 100]).sabacc(40),
        "d deal p1 S11 F12; d deal p2 IdiotA T3; p1 stand; p2 draw; d deal p2 C2;
         p1 call-hand; p1 p2 check",
        "p2 wins main 10; p2 wins sabacc 50; stacks 90 150",
    );
    assert_eq!(ranks(&hand), "pure 23, idiots-array");
}

/// rules/SPEC.md §9.5, R-25.
#[test]
fn totals_rank_by_sign_or_without() {
    let deal = "d deal p1 StarA EvilA; d deal p2 S1 F1";
    let cards = "d deal p1 StarA QueenA; d deal p2 S1 F1";
    let hand = reveal(QUICK, &[100, 100], 0, cards, "p2 wins main 10; stacks 90 100; sabacc 10");
    assert_eq!(ranks(&hand), "total -19, total 2");
    reveal(
        "shift=none,pot_building_rounds=0,ranking=absolute",
        &[100, 100],
        0,
        cards,
        "p1 wins main 10; stacks 100 90; sabacc 10",
    );
    reveal(
        QUICK,
        &[100, 100],
        0,
        deal,
        "p1 pays sabacc 10; p2 wins main 10; stacks 80 100; sabacc 20",
    );
}

/// rules/SPEC.md R-18.
#[test]
fn only_the_main_layer_decides_about_the_sabacc_pot_and_the_winners() {
    let hand = check(
        &dice("shift=none,pot_building_rounds=0,sabacc_ante=0", &[10, 40, 40]).sabacc(25),
        "d deal p1 S11 S12; d deal p2 S9 F11; d deal p3 C9 T10; p1 p2 p3 stand;
         p1 call-hand; p1 bet 5; p2 raise 35; p3 match",
        "p1 wins main 30; p2 wins side-1 60; p1 wins sabacc 25; stacks 55 60 0",
    );
    let winners: Vec<String> =
        hand.settlement().unwrap().winners.iter().map(|p| p.to_string()).collect();
    assert_eq!(winners, ["p1"]);
}

// The Sudden Demise.

const TIED: &str = "d deal p1 S10 F10; d deal p2 S9 F11; d deal p3 S1 F1";

fn demise(cards: &str, then: &str) -> Hand {
    let deal = format!("{TIED} | {cards}");
    reveal("shift=none,pot_building_rounds=0", &[100, 100, 100], 30, &deal, then)
}

/// rules/SPEC.md §9.5, R-36.
#[test]
fn a_tie_is_broken_by_one_card_each() {
    demise("", "d: deal p1, deal p2");
    let hand = demise("d deal p1 C1; d deal p2 C2", "p2 wins main 15; stacks 90 105 90; sabacc 45");
    assert_eq!(ranks(&hand), "total 20, total 20, total 2");
    let end = hand.settlement().unwrap();
    assert!(end.hands.iter().all(|hand| hand.cards.len() == 2), "without the demise cards");
    demise("d deal p1 C1; d deal p2 C4", "p1 wins main 15; stacks 105 90 90; sabacc 45");
}

/// rules/SPEC.md R-36.
#[test]
fn demise_still_tied_is_split() {
    demise(
        "d deal p1 C1; d deal p2 T1",
        "p1 wins main 8; p2 wins main 7; stacks 98 97 90; sabacc 45",
    );
}

/// rules/SPEC.md R-36.
#[test]
fn demise_all_bomb_the_next_best_hand_wins_without_penalty() {
    demise("d deal p1 C4; d deal p2 T4", "p3 wins main 15; stacks 90 90 105; sabacc 45");
}

/// rules/SPEC.md R-36.
#[test]
fn demise_all_bomb_and_nobody_is_next_the_layer_moves() {
    let deal = "d deal p1 S10 F10; d deal p2 S9 F11 | d deal p1 C4; d deal p2 T4";
    let hand =
        reveal(QUICK, &[100, 100], 30, deal, "main moves sabacc 10; stacks 90 90; sabacc 50");
    assert!(hand.settlement().unwrap().winners.is_empty());
}

/// rules/SPEC.md R-37.
#[test]
fn eligibility_for_the_sabacc_pot_is_the_hand_at_the_reveal() {
    // 20 and 3 make 23 in the demise: not a Pure Sabacc at the reveal.
    demise("d deal p1 C3; d deal p2 C2", "p1 wins main 15; stacks 105 90 90; sabacc 45");
    // Pure at the reveal, 20 after the demise: still eligible.
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12 | d deal p1 EvilA; d deal p2 QueenA";
    reveal(QUICK, &[100, 100], 30, deal, "p2 wins main 10; p2 wins sabacc 40; stacks 90 140");
}

/// rules/SPEC.md.
#[test]
fn demise_split_shares_the_sabacc_pot_too() {
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12 | d deal p1 StarA; d deal p2 StarB";
    reveal(
        QUICK,
        &[100, 100],
        31,
        deal,
        "p1 wins main 5; p2 wins main 5; p1 wins sabacc 21; p2 wins sabacc 20; stacks 116 115",
    );
}

/// rules/SPEC.md R-37.
#[test]
fn demise_the_next_best_takes_no_sabacc_pot() {
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12; d deal p3 S1 F1 | d deal p1 S2; d deal p2 F2";
    reveal(QUICK, &[100, 100, 100], 30, deal, "p3 wins main 15; stacks 90 90 105; sabacc 45");
}

/// rules/SPEC.md R-35.
#[test]
fn a_later_layer_uses_the_demise_card_already_dealt() {
    // p1 (10 in) ties p2 and p3 in the main layer; p2 and p3 tie in the side layer with their
    // demise cards.
    let scene = dice("shift=none,field=false,pot_building_rounds=0,sabacc_ante=0", &[10, 40, 40]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 F11; d deal p3 C9 T11; p1 p2 p3 stand;
        p1 call-hand; p1 bet 5; p2 raise 35; p3 match;";
    check(&scene, deal, "d: deal p1, deal p2, deal p3");
    check(
        &scene,
        &format!("{deal} d deal p1 C3; d deal p2 C1; d deal p3 C2"),
        "p1 wins main 30; p3 wins side-1 60; stacks 30 0 60",
    );
    // Only the side layer ties: two cards are dealt.
    let deal = "d deal p1 S11 F11; d deal p2 S9 F11; d deal p3 C9 T11";
    let deal = deal.replace("F11; d deal p2 S9 F11", "F10; d deal p2 S9 C11");
    check(
        &scene,
        &format!(
            "{deal}; p1 p2 p3 stand; p1 call-hand; p1 bet 5; p2 raise 35; p3 match;
             d deal p2 C1; d deal p3 C2"
        ),
        "p1 wins main 30; p3 wins side-1 60; stacks 30 0 60",
    );
}

// Hold'em.

/// rules/SPEC.md §9.6, R-38.
#[test]
fn holdem_lets_everybody_use_the_field_of_the_live() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    // p3 locks a 3: it makes p1's 20 Pure, and counts for p3, and for p2's 15 + 3.
    let when = "d deal p1 S10 F10; d deal p2 S5 C10; d deal p3 F3 F6;
        p1 p2 stand; p3 lock F3; p3 stand; p1 call-hand; p1 p2 p3 check";
    let hand = check(&scene, when, "p1 wins main 15; p1 wins sabacc 15; stacks 120 90 90");
    assert_eq!(ranks(&hand), "pure 23, total 18, total 9");
}

/// rules/SPEC.md R-38.
#[test]
fn a_folded_players_field_is_gone() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    let when = "d deal p1 S10 F10; d deal p2 S5 C10; d deal p3 F3 F6;
        p1 p2 stand; p3 lock F3; p3 stand; p1 call-hand; p1 p2 check; p3 fold";
    let hand = check(&scene, when, "p1 wins main 15; stacks 105 90 90; sabacc 15");
    assert_eq!(ranks(&hand), "total 20, total 15, folded");
}

/// rules/SPEC.md R-38.
#[test]
fn holdem_picks_the_subset_anew_with_a_demise_card() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    // With p3's Queen (-2) p1 has 22 and p2 22. The demise gives p1 a 2: 24 bombs without the
    // Queen, and is 22 with it. p2's 1 makes 23 without the Queen.
    let when = "d deal p1 S10 F12; d deal p2 S11 C11; d deal p3 QueenA F6;
        p1 p2 stand; p3 lock QueenA; p3 stand; p1 call-hand; p1 p2 p3 check;
        d deal p1 S2; d deal p2 S1";
    let hand = check(&scene, when, "p2 wins main 15; stacks 90 105 90; sabacc 15");
    assert_eq!(ranks(&hand), "total 22, total 22, total 4");
    let when = when.replace("S2; d deal p2 S1", "S2; d deal p2 S4");
    // p1: 22 + 2 - 2 = 22; p2: 22 + 4 - 2 = 24 bombs.
    check(&scene, &when, "p1 wins main 15; stacks 105 90 90; sabacc 15");
}
