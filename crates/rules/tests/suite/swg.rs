//! Sabacc for SWG: one betting round with draw actions in between, and its own Sudden Demise.

use rules::{Next, S76, next};

use crate::scene::{Scene, check, played, ranks};

/// 500 in the Sabacc Pot, so there is no Sabacc ante.
fn swg(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("swg", fields, stacks).sabacc(500)
}

/// Deal: p1 20, p2 19, p3 18.
const THREE: &str = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9;";
const K: [u64; 3] = [1_000, 1_000, 1_000];

/// Lines of betting actions; each player who does not fold stands afterwards.
fn turns(actions: &str) -> String {
    let turn = |action: &str| {
        let (player, what) = action.split_once(' ').expect("a player and an action");
        let then = if what == "fold" { String::new() } else { format!("; {player} stand") };
        format!("{action}{then};")
    };
    actions.split(';').map(str::trim).filter(|action| !action.is_empty()).map(turn).collect()
}

/// Checks the result of these betting actions with these stacks and three hands.
fn three(stacks: &[u64], actions: &str, then: &str) {
    check(&swg("", stacks), &format!("{THREE}{}", turns(actions)), then);
}

// Antes and turns.

/// rules/SPEC.md §10, R-15.
#[test]
fn everybody_antes_and_to_an_empty_sabacc_pot_too() {
    let empty = Scene::new("swg", "", &[1_100, 2_000]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; p1 stand; p2 stand";
    check(&empty, deal, "p1 wins main 200; stacks 200 900; sabacc 2000");
    check(&empty, "", "d: deal p1, deal p2");
    let error = Scene::new("swg", "", &[1_099, 2_000]).start().map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "p1 has 1099 and needs 1100 to be dealt in");
    let one = Scene::new("swg", "", &[100, 2_000]).sabacc(1);
    check(&one, deal, "p1 wins main 200; stacks 200 1900; sabacc 1");
}

/// rules/SPEC.md §10.1, R-39.
#[test]
fn a_turn_is_a_betting_action_then_a_draw_action() {
    three(&K, "", "p1: check, bet 100..900, fold");
    let after = |lines: &str, then: &str| {
        check(&swg("", &K), &format!("{THREE}{lines}"), then);
    };
    after("p1 bet 150", "p1: draw, trade S10|F10, stand");
    after("p1 bet 150; p1 draw", "d: deal p1");
    after("p1 bet 150; p1 draw; d deal p1 T1", "p2: match, raise 300..900, fold");
    after("p1 check; p1 trade S10; d deal p1 T1", "p2: check, bet 100..900, fold");
    after("p1 fold", "p2: check, bet 100..900, fold");
    after("p1 check; p2 check", "refused: it is p1's turn");
    after("p1 check; p1 lock S10", "refused: `lock` is not legal here; legal: draw, trade, stand");
    after("p1 stand", "refused: `stand` is not legal here; legal: check, bet, fold");
    after("p1 check; p1 stand; p2 call-hand", "refused: `call-hand` is not legal here");
}

/// rules/SPEC.md R-39.
#[test]
fn the_draw_phase_is_on_and_can_be_switched_off() {
    let off = swg("draw_phase=false", &K);
    check(&off, &format!("{THREE} p1 bet 150"), "p2: match, raise 300..900, fold");
    check(
        &off,
        &format!("{THREE} p1 p2 p3 check"),
        "p1 wins main 300; stacks 1200 900 900; sabacc 500",
    );
    // An Idiot's Array needs the third card that only the draw phase gives.
    let hand = check(
        &swg("", &[1_000, 1_000]),
        "d deal p1 IdiotA S2; d deal p2 S11 F12; p1 check; p1 draw; d deal p1 C3; p2 check; p2 stand",
        "p1 wins main 200; p1 wins sabacc 500; stacks 1600 900",
    );
    assert_eq!(ranks(&hand), "idiots-array, pure 23");
}

/// rules/SPEC.md §10.2.
#[test]
fn the_whole_hand_is_one_betting_round() {
    three(&K, "p1 bet 100; p2 raise 300", "p3: match, raise 500..900, fold");
    three(&K, "p1 bet 100; p2 raise 300; p3 match", "p1: match, raise 500..900, fold");
    three(
        &K,
        "p1 bet 100; p2 raise 300; p3 match; p1 raise 500",
        "p2: match, raise 700..900, fold",
    );
    let capped = swg("max_round_total=300", &K);
    let lines = turns("p1 bet 100; p2 raise 250; p3 match");
    check(&capped, &format!("{THREE}{lines}"), "p1: match, fold");
    let lines = turns("p1 bet 100; p2 raise 200; p3 match");
    check(&capped, &format!("{THREE}{lines}"), "p1: match, raise 300..300, fold");
}

// Point at which the hand is called.

/// rules/SPEC.md R-41.
#[test]
fn nobody_lifts_and_the_hand_is_called_at_p1s_place() {
    three(&K, "p1 check; p2 check", "p3: check, bet 100..900, fold");
    three(&K, "p1 check; p2 check; p3 check", "p1 wins main 300; stacks 1200 900 900; sabacc 500");
    // The round ends at p1's seat although p1 has folded.
    three(
        &K,
        "p1 fold; p2 check; p3 check",
        "p1 pays sabacc 200; p2 wins main 300; stacks 700 1200 900; sabacc 700",
    );
}

/// rules/SPEC.md R-41.
#[test]
fn the_hand_is_called_at_the_place_of_whoever_lifted_last() {
    three(
        &K,
        "p1 bet 100; p2 match; p3 match",
        "p1 wins main 600; stacks 1400 800 800; sabacc 500",
    );
    three(&K, "p1 check; p2 check; p3 bet 100", "p1: match, raise 200..900, fold");
    three(
        &K,
        "p1 check; p2 check; p3 bet 100; p1 match; p2 match",
        "p1 wins main 600; stacks 1400 800 800; sabacc 500",
    );
    three(
        &K,
        "p1 bet 100; p2 raise 200; p3 match; p1 match",
        "p1 wins main 900; stacks 1600 700 700; sabacc 500",
    );
    // p1 has matched and drawn again: the last draw action is p1's.
    let again = format!(
        "{THREE}{} p1 match; p1 trade F10; d deal p1 F2",
        turns("p1 bet 100; p2 raise 200; p3 match")
    );
    check(&swg("", &K), &again, "p2 wins main 900; stacks 700 1600 700; sabacc 500");
}

/// rules/SPEC.md R-41.
#[test]
fn a_short_raise_moves_the_place_too() {
    let stacks = [1_000, 350, 1_000];
    three(&stacks, "p1 bet 200; p2 raise 250; p3 match", "p1: match, fold");
    three(
        &stacks,
        "p1 bet 200; p2 raise 250; p3 match; p1 match",
        "p1 wins main 1050; stacks 1700 0 650; sabacc 500",
    );
}

/// rules/SPEC.md §10.1.
#[test]
fn all_in_players_take_their_draw_action_once_a_lap() {
    let scene = swg("", &[100, 1_000, 1_000]);
    check(&scene, THREE, "p1: draw, trade S10|F10, stand");
    let lap = format!("{THREE} p1 draw; d deal p1 S1; {}", turns("p2 check; p3 bet 100"));
    check(&scene, &lap, "p1: draw, trade S10|F10|S1, stand");
    check(&scene, &format!("{lap} p1 stand"), "p2: match, raise 200..900, fold");
    check(
        &scene,
        &format!("{lap} p1 stand; p2 match; p2 stand"),
        "p1 wins main 300; p2 wins side-1 200; stacks 300 1000 800; sabacc 500",
    );
    // All-in by matching: the draw action of that turn, and one in each later lap.
    let scene = swg("", &[1_000, 200, 1_000]);
    let lap = format!("{THREE}{}", turns("p1 bet 100; p2 match; p3 raise 200; p1 raise 300"));
    check(&scene, &lap, "p2: draw, trade S9|C10, stand");
    check(&scene, &format!("{lap} p2 stand"), "p3: match, raise 400..900, fold");
    check(
        &scene,
        &format!("{lap} p2 stand; p3 match; p3 stand"),
        "p1 wins main 600; p1 wins side-1 400; stacks 1600 0 600; sabacc 500",
    );
    // Without a draw phase an all-in player has no turn.
    let off = swg("draw_phase=false", &[100, 1_000, 1_000]);
    check(&off, THREE, "p2: check, bet 100..900, fold");
}

/// rules/SPEC.md §10.2.
#[test]
fn too_few_able_to_bet_leave_one_lap_of_draw_actions() {
    let scene = swg("", &[100, 1_000, 100]);
    check(&scene, THREE, "p1: draw, trade S10|F10, stand");
    check(&scene, &format!("{THREE} p1 stand"), "p2: draw, trade S9|C10, stand");
    check(
        &scene,
        &format!("{THREE} p1 p2 p3 stand"),
        "p1 wins main 300; stacks 300 900 0; sabacc 500",
    );
    let off = swg("draw_phase=false", &[100, 1_000, 100]);
    check(&off, THREE, "p1 wins main 300; stacks 300 900 0; sabacc 500");
}

#[test]
fn a_round_once_begun_asks_everybody_who_can_bet() {
    let scene = swg("", &[1_000, 1_000, 100]);
    let folded = format!("{THREE} p1 fold;");
    check(&scene, &folded, "p2: check, fold");
    check(&scene, &format!("{folded} p2 check; p2 stand"), "p3: draw, trade F9|C9, stand");
    check(
        &scene,
        &format!("{folded} p2 fold"),
        "p1 pays sabacc 200; p2 pays sabacc 200; p3 wins main 300; stacks 700 700 300; sabacc 900",
    );
}

// Folding.

/// rules/SPEC.md.
#[test]
fn folding_costs_the_penalty_up_to_the_stack() {
    three(
        &[1_000, 1_000, 250],
        "p1 bet 100; p2 match; p3 fold",
        "p3 pays sabacc 150 short 50; p1 wins main 500; stacks 1300 800 0; sabacc 650",
    );
    let free = swg("fold_penalty=0", &K);
    check(
        &free,
        &format!("{THREE}{}", turns("p1 fold; p2 check; p3 check")),
        "p2 wins main 300; stacks 900 1200 900; sabacc 500",
    );
}

/// rules/SPEC.md §4.5, R-8.
#[test]
fn the_last_fold_pays_before_the_uncalled_bet_returns() {
    three(
        &K,
        "p1 bet 300; p2 fold; p3 fold",
        "p2 pays sabacc 200; p3 pays sabacc 200; p1 returned 300; p1 wins main 300; \
         stacks 1200 700 700; sabacc 900",
    );
    // The fold is legal where a check is, and is never refunded.
    three(
        &K,
        "p1 fold; p2 fold",
        "p1 pays sabacc 200; p2 pays sabacc 200; p3 wins main 300; stacks 700 700 1200; sabacc 900",
    );
}

/// rules/SPEC.md.
#[test]
fn an_uncalled_bet_returns_before_the_penalties_are_reckoned() {
    let deal = "d deal p1 S15 F15; d deal p2 S9 C10;";
    check(
        &swg("", &[1_000, 300]),
        &format!("{deal}{}", turns("p1 bet 600; p2 match")),
        "p1 returned 400; p1 pays sabacc 600; p2 wins main 600; stacks 100 600; sabacc 1100",
    );
}

// Leaving and the clock.

/// rules/SPEC.md §6.2, R-21.
#[test]
fn the_clock_checks_folds_or_stands() {
    let default = |when: &str| {
        let (hand, refused) = played(swg("", &K).start().unwrap(), &format!("{THREE}{when}"));
        assert_eq!(refused, None);
        match next(&hand) {
            Next::Decision(decision) => decision.default.text(&S76),
            other @ (Next::Chance(_) | Next::Done(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!(default(""), "check");
    assert_eq!(default("p1 check"), "stand");
    assert_eq!(default("p1 bet 100; p1 stand"), "fold");
}

/// rules/SPEC.md R-22.
#[test]
fn a_leaver_checks_and_stands_and_can_win() {
    three(&K, "", "p1: check, bet 100..900, fold");
    let left = format!("{THREE} p3 leave; p1 leave;");
    check(&swg("", &K), &left, "p2: check, bet 100..900, fold");
    check(
        &swg("", &K),
        &format!("{left} p2 check; p2 stand"),
        "p1 wins main 300; stacks 1200 900 900; sabacc 500",
    );
    // The leaver folds to a bet, and pays the penalty.
    check(
        &swg("", &K),
        &format!("{left} p2 bet 100; p2 stand"),
        "p3 pays sabacc 200; p1 pays sabacc 200; p2 returned 100; p2 wins main 300; \
         stacks 700 1200 700; sabacc 900",
    );
    // In the draw action: the leaver has bet already.
    check(
        &swg("", &K),
        &format!("{THREE} p1 bet 100; p1 leave; p2 match; p2 stand; p3 match; p3 stand"),
        "p1 wins main 600; stacks 1400 800 800; sabacc 500",
    );
    // An all-in leaver is not asked for anything and stays in.
    check(
        &swg("", &[100, 1_000, 1_000]),
        &format!("{THREE} p2 leave; p1 leave; p3 check; p3 stand"),
        "p1 wins main 300; stacks 300 900 900; sabacc 500",
    );
}
