//! The scoring of Force sabacc: special hands, sides, ties, layers. No extra card is kept here,
//! except the third card of an Idiot's Array.

use rules::Hand;

use crate::scene::{Scene, check, ranks};

/// Lines of hands given by side and cards: two cards, or three of which the third is a kept extra.
fn table(players: &[&str]) -> String {
    let mut lines = vec![String::new(); 6];
    // Extras that are dropped, one for each player.
    let dropped = ["T13", "T14", "T15", "C13", "C14"];
    let all: Vec<String> = (1..=players.len()).map(|n| format!("p{n}")).collect();
    for ((who, hand), dropped) in all.iter().zip(players).zip(dropped) {
        let words: Vec<&str> = hand.split(' ').collect();
        lines[0] += &format!("d deal {who} {};", words[1]);
        lines[1] += &format!("{who} align {};", words[0]);
        lines[2] += &format!("d deal {who} {};", words[2]);
        lines[4] += &match words.get(3) {
            Some(extra) => format!("d deal {who} {extra}; {who} keep;"),
            None => format!("d deal {who} {dropped}; {who} drop {dropped};"),
        };
    }
    lines[3] = format!("{} stand;", all.join(" "));
    lines.concat()
}

/// Scores hands of players who have anted 10 of 100. `ties` are the lines of tie cards.
fn scored(players: &[&str], ties: &str, then: &str) -> Hand {
    let scene = Scene::new("force", "max_rounds=1", &vec![100; players.len()]);
    let table = table(players);
    let all: Vec<String> = (1..=players.len()).map(|n| format!("p{n}")).collect();
    let (cards, extras) = table.split_once("stand;").expect("an action round");
    let lines = format!("{cards}stand; {} check; {extras} {ties}", all.join(" "));
    check(&scene, &lines, then)
}

// Special hands.

/// rules/SPEC.md §11.3.
#[test]
fn a_natural_beats_everything_but_an_idiots_array() {
    let hand = scored(
        &["light S11 F12", "dark StarA QueenA", "dark EvilA QueenB"],
        "",
        "p1 wins main 30; stacks 120 90 90",
    );
    assert_eq!(ranks(&hand), "natural 23, dark -19, dark -17");
    let hand =
        scored(&["light S11 F11", "light EvilA EnduranceA"], "", "p2 wins main 20; stacks 90 110");
    assert_eq!(ranks(&hand), "light 22, natural -23");
}

/// rules/SPEC.md R-47.
#[test]
fn an_idiots_array_outranks_a_natural() {
    let hand =
        scored(&["light S11 F12", "dark IdiotA S2 C3"], "", "p2 wins main 20; stacks 90 110");
    assert_eq!(ranks(&hand), "natural 23, idiots-array");
}

const NATURALS: [&str; 3] = ["light S11 F12", "dark EvilA EnduranceA", "light S10 F10"];

/// rules/SPEC.md R-49.
#[test]
fn several_naturals_draw_one_card_each() {
    scored(&NATURALS, "", "d: deal p1, deal p2");
    // 21 and -22.
    scored(&NATURALS, "d deal p1 QueenA; d deal p2 C1", "p2 wins main 30; stacks 90 120 90");
    // 12 and -11.
    scored(&NATURALS, "d deal p1 BalanceA; d deal p2 C12", "p1 wins main 30; stacks 120 90 90");
    // 21 and -21: negative beats positive.
    scored(&NATURALS, "d deal p1 QueenA; d deal p2 C2", "p2 wins main 30; stacks 90 120 90");
    // p1 bombs.
    scored(&NATURALS, "d deal p1 C2; d deal p2 C10", "p2 wins main 30; stacks 90 120 90");
    // Equal totals are split.
    scored(
        &["light S11 F12", "dark C11 T12"],
        "d deal p1 StarA; d deal p2 StarB",
        "p1 wins main 10; p2 wins main 10; stacks 100 100",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn all_naturals_bomb_and_the_rest_scores() {
    scored(&NATURALS, "d deal p1 C2; d deal p2 QueenA", "p3 wins main 30; stacks 90 90 120");
    scored(
        &["light S11 F12", "dark C11 T12"],
        "d deal p1 C2; d deal p2 C3",
        "pot carries 20; stacks 90 90; carried 20",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn several_idiots_arrays_draw_one_card_each_and_compare_by_their_totals() {
    let hands = ["light IdiotA S2 C3", "light IdiotB F2 S3", "light S11 F12", "light S10 F10"];
    scored(&hands, "", "d: deal p1, deal p2");
    // 6 and 7.
    scored(&hands, "d deal p1 T1; d deal p2 T2", "p2 wins main 40; stacks 90 130 90 90");
    // -6 and -3.
    scored(
        &hands,
        "d deal p1 BalanceA; d deal p2 EnduranceA",
        "p1 wins main 40; stacks 130 90 90 90",
    );
}

// Sides.

/// rules/SPEC.md.
#[test]
fn the_side_with_the_higher_score_wins() {
    // Light 10 + 5, dark 13: light wins, and in it the 10.
    scored(
        &["light S4 F6", "light S2 F3", "dark BalanceA QueenA"],
        "",
        "p1 wins main 30; stacks 120 90 90",
    );
    // Negative totals count against light, positive ones against dark.
    scored(&["light StarA QueenA", "dark EvilA QueenB"], "", "p2 wins main 20; stacks 90 110");
    scored(&["light S1 F1", "dark S10 F10"], "", "p1 wins main 20; stacks 110 90");
    // Bombed hands count for no side: light 5, dark 2.
    scored(
        &["light S2 F3", "dark QueenA IdiotA", "dark StarA EvilA"],
        "",
        "p1 wins main 30; stacks 120 90 90",
    );
}

/// rules/SPEC.md R-48.
#[test]
fn a_side_with_nobody_left_loses_whatever_the_others_score() {
    scored(&["light StarA QueenA", "dark S15 F15"], "", "p1 wins main 20; stacks 110 90");
    scored(&["dark S10 F10", "dark S9 F9"], "", "p1 wins main 20; stacks 110 90");
}

/// rules/SPEC.md R-48.
#[test]
fn equal_sides_and_the_single_highest_total_decides() {
    // Light 19, dark 17 + 2.
    scored(
        &["light S9 F10", "dark EvilA QueenA", "dark EnduranceA F6"],
        "",
        "p1 wins main 30; stacks 120 90 90",
    );
    // Light 10 + 7, dark 17.
    scored(
        &["light S4 F6", "light S3 F4", "dark EvilA QueenA"],
        "",
        "p3 wins main 30; stacks 90 90 120",
    );
}

/// rules/SPEC.md R-48.
#[test]
fn equal_sides_and_highest_totals_and_dark_wins() {
    scored(&["light S9 F10", "dark StarA QueenA"], "", "p2 wins main 20; stacks 90 110");
}

/// rules/SPEC.md §11.3.
#[test]
fn inside_a_side_the_highest_total_and_then_the_negative_one_wins() {
    scored(
        &["light S10 F9", "light StarA QueenA", "light S9 C9"],
        "",
        "p2 wins main 30; stacks 90 120 90",
    );
    scored(&["dark S10 F10", "dark StarA QueenA"], "", "p1 wins main 20; stacks 110 90");
}

// Exact ties.

/// Light 20, 20 and 5, dark 17.
const TIED: [&str; 4] = ["light S10 F10", "light S9 F11", "light S2 F3", "dark EvilA QueenA"];

fn tied(cards: &str, then: &str) -> Hand {
    scored(&TIED, cards, then)
}

/// rules/SPEC.md R-49.
#[test]
fn an_exact_tie_is_broken_by_a_card_each() {
    tied("", "d: deal p1, deal p2");
    let hand = tied("d deal p1 C1; d deal p2 C2", "p2 wins main 40; stacks 90 130 90 90");
    assert_eq!(ranks(&hand), "light 20, light 20, light 5, dark -17");
    let end = hand.settlement().unwrap();
    assert!(end.hands.iter().all(|hand| hand.cards.len() == 2), "without tie cards");
    tied("d deal p1 C4; d deal p2 StarA", "p2 wins main 40; stacks 90 130 90 90");
    // A natural made by a tie card is a total like any other.
    tied("d deal p1 C2; d deal p2 C3", "p2 wins main 40; stacks 90 130 90 90");
    tied("d deal p1 C1; d deal p2 T1", "p1 wins main 20; p2 wins main 20; stacks 110 110 90 90");
    // 6 and -6: negative beats positive here too.
    scored(
        &["light S2 F3", "light C2 T3"],
        "d deal p1 S1; d deal p2 BalanceA",
        "p2 wins main 20; stacks 90 110",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn all_tied_bomb_and_the_next_best_of_the_same_side_wins() {
    // Light is left with 5 against 17: the sides are not summed again.
    tied("d deal p1 C4; d deal p2 T4", "p3 wins main 40; stacks 90 90 130 90");
}

#[test]
fn the_next_best_may_be_tied_themselves() {
    let hands =
        ["light S10 F10", "light S9 F11", "light S5 F3", "light C5 T3", "dark EvilA QueenA"];
    let bombed = "d deal p1 C4; d deal p2 T4;";
    scored(&hands, bombed, "d: deal p3, deal p4");
    scored(
        &hands,
        &format!("{bombed} d deal p3 C6; d deal p4 S4"),
        "p3 wins main 50; stacks 90 90 140 90 90",
    );
    // They bomb too: then the other side is judged.
    scored(
        &hands,
        &format!("{bombed} d deal p3 EnduranceA; d deal p4 EnduranceB"),
        "p5 wins main 50; stacks 90 90 90 90 140",
    );
}

/// rules/SPEC.md R-49.
#[test]
fn a_whole_side_bombs_and_the_other_one_wins() {
    let hands = ["light S10 F10", "light S9 F11", "dark EvilA QueenA"];
    scored(&hands, "d deal p1 C4; d deal p2 T4", "p3 wins main 30; stacks 90 90 120");
    // The other side ties as well, and all of it bombs.
    let hands = ["light S10 F10", "light S9 F11", "dark EvilA QueenA", "dark EvilB QueenB"];
    let bombed = "d deal p1 C4; d deal p2 T4;";
    scored(&hands, bombed, "d: deal p3, deal p4");
    let hand = scored(
        &hands,
        &format!("{bombed} d deal p3 StarA; d deal p4 StarB"),
        "pot carries 40; stacks 90 90 90 90; carried 40",
    );
    assert!(hand.settlement().unwrap().winners.is_empty());
}
