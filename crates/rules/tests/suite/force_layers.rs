//! Layers of Force sabacc: each judged by itself, tie cards used again, carries, rake.

use rules::Hand;

use crate::scene::{Scene, chance_comes, check, played, take};

/// p1 is all-in with 20, p2 and p3 have 60 each in: main 60, side-1 80. Each of `hands` is a side
/// and two cards.
fn layers(fields: &'static str, hands: [&str; 3], ties: &str, then: &str) -> Hand {
    let words = hands.map(|hand| hand.split(' ').collect::<Vec<_>>());
    let all = |line: &dyn Fn(usize, &[&str]) -> String| -> String {
        words.iter().enumerate().map(|(n, words)| line(n + 1, words)).collect()
    };
    let lines = [
        all(&|n, words| format!("d deal p{n} {};", words[1])),
        all(&|n, words| format!("p{n} align {};", words[0])),
        all(&|n, words| format!("d deal p{n} {};", words[2])),
        "p1 p2 p3 stand; p1 bet 10; p2 raise 50; p3 match;".to_owned(),
        all(&|n, _| format!("d deal p{n} T1{n}; p{n} drop T1{n};")),
        ties.to_owned(),
    ];
    check(&Scene::new("force", fields, &[20, 100, 100]).carried(7), &lines.concat(), then)
}

const ONE: &str = "max_rounds=1";

/// rules/SPEC.md §11.3, R-48.
#[test]
fn each_layer_is_judged_afresh_among_its_own_players() {
    // Main: light 20 + 2 against dark 17. Side: light 2 against dark 17.
    layers(
        ONE,
        ["light S10 F10", "light S1 F1", "dark EvilA QueenA"],
        "",
        "p1 wins main 67; p3 wins side-1 80; stacks 67 40 120",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn a_later_layer_uses_the_tie_card_again() {
    let hands = ["light S10 F10", "light S9 F11", "light C9 C11"];
    layers(ONE, hands, "", "d: deal p1, deal p2, deal p3");
    layers(
        ONE,
        hands,
        "d deal p1 C3; d deal p2 C1; d deal p3 C2",
        "p1 wins main 67; p3 wins side-1 80; stacks 67 40 120",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn a_tie_card_counts_in_ties_alone() {
    let hands = ["light S10 F10", "light S9 F11", "light C9 C10"];
    // p2 falls to 18 in the main layer, and beats 19 with 20 in the side layer.
    layers(
        ONE,
        hands,
        "d deal p1 C2; d deal p2 QueenA",
        "p1 wins main 67; p2 wins side-1 80; stacks 67 120 40",
    );
    // The player bombs in the main layer, and plays for the next with the hand as it was shown.
    layers(
        ONE,
        hands,
        "d deal p1 C2; d deal p2 C4",
        "p1 wins main 67; p2 wins side-1 80; stacks 67 120 40",
    );
    // Both bomb: p3 wins the main layer, p2 the side layer.
    layers(
        ONE,
        hands,
        "d deal p1 F4; d deal p2 C4",
        "p3 wins main 67; p2 wins side-1 80; stacks 0 120 107",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn a_second_tie_deals_to_those_without_a_card() {
    // Main: p1 and p2 are naturals. Side: p2 is the only natural.
    layers(
        ONE,
        ["light S11 F12", "light C11 C12", "light S10 F10"],
        "d deal p1 QueenA; d deal p2 EnduranceA",
        "p1 wins main 67; p2 wins side-1 80; stacks 67 120 40",
    );
    // Main: dark 19 and 19, and p1's natural alone. Side: a tie.
    let hands = ["light S11 F12", "dark StarA QueenA", "dark StarB QueenB"];
    layers(ONE, hands, "", "d: deal p2, deal p3");
    layers(
        ONE,
        hands,
        "d deal p2 S2; d deal p3 F3",
        "p1 wins main 67; p2 wins side-1 80; stacks 67 120 40",
    );
}

/// rules/SPEC.md R-50.
#[test]
fn a_layer_whose_players_are_all_out_carries_over() {
    layers(
        ONE,
        ["light S10 F10", "light S15 F15", "dark C15 F14"],
        "",
        "p1 wins main 67; pot carries 80; stacks 67 40 40; carried 80",
    );
}

/// rules/SPEC.md R-50.
#[test]
fn carried_credits_belong_to_the_main_layer_and_carry_on() {
    let hand = layers(
        ONE,
        ["light S15 F15", "light C15 F14", "dark F13 S14"],
        "",
        "pot carries 147; stacks 0 40 40; carried 147",
    );
    assert!(hand.settlement().unwrap().winners.is_empty());
    // The last player left takes the carried credits too.
    check(
        &Scene::new("force", "", &[100, 100]).carried(7),
        "d deal p1 S1; d deal p2 S2; p1 p2 align light; d deal p1 F1; d deal p2 F2; p1 p2 stand; p1 fold",
        "p2 wins main 27; stacks 90 117",
    );
}

#[test]
fn rake_is_taken_of_what_is_won_alone() {
    layers(
        "max_rounds=1,rake_bps=1000",
        ["light S10 F10", "light S1 F1", "dark EvilA QueenA"],
        "",
        "p1 wins main 61; p3 wins side-1 72; rake 14; stacks 61 40 112",
    );
    layers(
        "max_rounds=1,rake_bps=1000",
        ["light S10 F10", "light S15 F15", "dark C15 F14"],
        "",
        "p1 wins main 61; pot carries 80; rake 6; stacks 61 40 40; carried 80",
    );
}

#[test]
fn a_layer_of_one_is_his_unless_he_bombed() {
    // p3 folds in the second cycle the credits paid in the first.
    let lines = |p2: &str| {
        format!(
            "d deal p1 S10; d deal p2 {p2}; d deal p3 F9; p1 p2 p3 align light; d deal p1 F10;
             d deal p2 C15; d deal p3 C9; p1 p2 p3 stand; p1 bet 10; p2 raise 50; p3 match;
             p1 p2 p3 stand; p2 check; p3 fold; d deal p1 T1; p1 drop T1; d deal p2 T2; p2 drop T2"
        )
    };
    let scene = Scene::new("force", "max_rounds=2,rake_bps=1000", &[20, 100, 100]);
    check(&scene, &lines("S1"), "p1 wins main 54; p2 wins side-1 80; rake 6; stacks 54 120 40");
    check(
        &scene,
        &lines("S14"),
        "p1 wins main 54; pot carries 80; rake 6; stacks 54 40 40; carried 80",
    );
}

#[test]
fn with_nothing_in_the_pot_there_is_still_a_main_layer() {
    let scene = Scene::new("force", "max_rounds=1,hand_ante=0", &[100, 100]).carried(9);
    let lines = "d deal p1 S10; d deal p2 S9; p1 p2 align light; d deal p1 F10; d deal p2 F11;
        p1 p2 stand; p1 p2 check; d deal p1 T1; p1 drop T1; d deal p2 T2; p2 drop T2;";
    check(&scene, lines, "d: deal p1, deal p2");
    let lines = format!("{lines} d deal p1 C1; d deal p2 C2");
    check(&scene, &lines, "p2 wins main 9; stacks 100 109");
    let hand = check(&scene.carried(0), &lines, "stacks 100 100");
    assert_eq!(hand.settlement().unwrap().winners.len(), 1);
}

/// rules/SPEC.md R-7.
#[test]
fn a_tie_without_a_card_for_each_is_split_at_once() {
    // p1 and p2 hold 21 each; the others draw the whole pack and bomb.
    let all = "p1 p2 p3 p4 p5 p6 p7 p8";
    let deal = "d deal p1 S10; d deal p2 F10; d deal p3 C1; d deal p4 C3; d deal p5 C5;
        d deal p6 C7; d deal p7 C9; d deal p8 C11;";
    let second = "d deal p1 S11; d deal p2 F11; d deal p3 C2; d deal p4 C4; d deal p5 C6;
        d deal p6 C8; d deal p7 C10; d deal p8 C12;";
    let scene = Scene::new("force", "max_rounds=11", &[100; 8]);
    let start = format!("{deal} {all} align light; {second}");
    let (mut hand, refused) = played(scene.start().unwrap(), &start);
    assert_eq!(refused, None);
    for _ in 0..10 {
        hand = played(hand, "p1 p2 stand").0;
        for _ in 0..6 {
            take(&mut hand, "draw");
            chance_comes(&mut hand);
        }
        hand = played(hand, &format!("{all} check")).0;
    }
    let (hand, refused) = played(hand, "p1 call-hand");
    assert_eq!(refused, None);
    let end = hand.settlement().expect("there is no card for a tie");
    let lines: Vec<String> = end.lines.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["p1 wins main 40", "p2 wins main 40"]);
}
