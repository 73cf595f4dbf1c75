//! Betting rounds, pots and layers, in the plainest game: no shift, no field, callable at once.

use crate::scene::{Scene, check, ranks};

fn plain(stacks: &[u64]) -> Scene {
    fields("shift=none,field=false,pot_building_rounds=0,bomb_out=none,sabacc_ante=0", stacks)
}

fn fields(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("dice", fields, stacks)
}

/// Deal and play round: p1 20, p2 19, p3 18.
const THREE: &str = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
/// Deal and play round: p1 20, p2 19, p3 18, p4 17.
const FOUR: &str = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; d deal p4 C8 T9;
    p1 p2 p3 p4 stand;";

fn three(stacks: &[u64], when: &str, then: &str) {
    check(&plain(stacks), &format!("{THREE}{when}"), then);
}

/// rules/SPEC.md §4.2, R-8.
#[test]
fn actions_follow_what_is_to_be_matched() {
    three(&[100, 100, 100], "", "p1: check, bet 5..95, fold, call-hand");
    three(&[100, 100, 100], "p1 check", "p2: check, bet 5..95, fold, call-hand");
    three(&[100, 100, 100], "p1 bet 7", "p2: match, raise 14..95, fold, call-hand");
    three(&[100, 100, 100], "p1 bet 7; p2 raise 20", "p3: match, raise 33..95, fold, call-hand");
    three(&[100, 100, 100], "p1 bet 4", "refused: takes an amount from 5 to 95");
    three(&[100, 100, 100], "p1 bet 96", "refused: takes an amount from 5 to 95");
    three(&[100, 100, 100], "p1 match", "refused: `match` is not legal here; legal: check, bet");
    three(&[100, 100, 100], "p1 bet 7; p2 check", "refused: `check` is not legal here");
    three(&[100, 100, 100], "p2 check", "refused: it is p1's turn");
    three(&[100, 100, 100], "p4 check", "refused: there is no p4 in this hand");
}

/// rules/SPEC.md §4.1.
#[test]
fn a_round_ends_when_everybody_has_acted_and_matched() {
    three(&[100, 100, 100], "p1 p2 p3 check", "p1: draw, trade S10|F10, stand");
    three(
        &[100, 100, 100],
        "p1 bet 5; p2 match; p3 raise 10; p1 match",
        "p2: match, raise 15..95, fold, call-hand",
    );
    three(
        &[100, 100, 100],
        "p1 bet 5; p2 match; p3 raise 10; p1 p2 match",
        "p1: draw, trade S10|F10, stand",
    );
}

/// rules/SPEC.md R-10.
#[test]
fn the_minimum_bet_is_the_hand_ante_or_1_or_what_the_rules_say() {
    let start = |rules: &'static str, then: &str| {
        check(&fields(rules, &[100, 100, 100]), THREE, then);
    };
    start("shift=none,field=false,hand_ante=0,sabacc_ante=0", "p1: check, bet 1..100, fold");
    start("shift=none,field=false,min_bet=2", "p1: check, bet 2..90, fold");
    start("shift=none,field=false,hand_ante=9,sabacc_ante=0", "p1: check, bet 9..91, fold");
}

/// rules/SPEC.md §4.3, R-11.
#[test]
fn a_short_bet_lifts_what_is_to_be_matched_and_not_the_size() {
    three(&[8, 100, 100], "", "p1: check, bet 3..3, fold, call-hand");
    three(&[8, 100, 100], "p1 bet 3", "p2: match, raise 8..95, fold, call-hand");
    three(&[100, 8, 100], "p1 check; p2 bet 3; p3 match", "p1: match, fold, call-hand");
    three(
        &[100, 8, 100],
        "p1 check; p2 bet 3; p3 raise 8",
        "p1: match, raise 13..95, fold, call-hand",
    );
}

/// rules/SPEC.md §4.3, R-11.
#[test]
fn a_short_raise_does_not_reopen() {
    three(&[100, 18, 100], "p1 bet 10; p2 raise 13", "p3: match, raise 23..95, fold, call-hand");
    three(&[100, 18, 100], "p1 bet 10; p2 raise 13; p3 match", "p1: match, fold, call-hand");
    three(
        &[100, 18, 100],
        "p1 bet 10; p2 raise 13; p3 match; p1 raise 30",
        "refused: `raise` is not legal",
    );
}

/// rules/SPEC.md R-11.
#[test]
fn several_short_raises_do_not_add_up() {
    check(
        &plain(&[100, 18, 21, 100]),
        &format!("{FOUR} p1 bet 10; p2 raise 13; p3 raise 16; p4 match"),
        "p1: match, fold, call-hand",
    );
}

/// rules/SPEC.md §4.3.
#[test]
fn a_full_raise_after_a_short_one_reopens() {
    check(
        &plain(&[100, 18, 100, 100]),
        &format!("{FOUR} p1 bet 10; p2 raise 13; p3 match; p4 raise 23"),
        "p1: match, raise 33..95, fold, call-hand",
    );
}

/// rules/SPEC.md R-9.
#[test]
fn a_raise_needs_somebody_who_can_answer() {
    three(&[100, 15, 12], "p1 check; p2 bet 10; p3 match", "p1: match, fold, call-hand");
    three(&[15, 15, 100], "p1 bet 10; p2 match", "p3: match, fold, call-hand");
}

/// rules/SPEC.md R-9.
#[test]
fn one_who_is_leaving_can_still_answer() {
    three(&[15, 100, 100], "p1 bet 10; p3 leave", "p2: match, raise 20..95, fold, call-hand");
}

/// rules/SPEC.md §4.4, R-12.
#[test]
fn caps_bind_bets_raises_and_all_ins_but_not_matches() {
    let capped = |stacks: &[u64], when: &str, then: &str| {
        let rules = "shift=none,field=false,sabacc_ante=0,max_raise=8";
        check(&fields(rules, stacks), &format!("{THREE}{when}"), then);
    };
    capped(&[100, 100, 100], "", "p1: check, bet 5..8, fold");
    capped(&[100, 100, 100], "p1 bet 8", "p2: match, raise 16..16, fold");
    capped(&[100, 12, 100], "p1 check", "p2: check, bet 5..7, fold");
    capped(&[100, 20, 100], "p1 bet 8", "p2: match, raise 15..15, fold");
    capped(&[100, 100, 100], "p1 bet 5; p2 raise 13", "p3: match, raise 21..21, fold");
    let total = |stacks: &[u64], when: &str, then: &str| {
        let rules = "shift=none,field=false,sabacc_ante=0,max_round_total=20";
        check(&fields(rules, stacks), &format!("{THREE}{when}"), then);
    };
    total(&[100, 100, 100], "", "p1: check, bet 5..20, fold");
    total(&[100, 100, 100], "p1 bet 12", "p2: match, fold");
    total(&[100, 20, 100], "p1 bet 12", "p2: match, raise 15..15, fold");
    total(&[100, 30, 100], "p1 bet 12", "p2: match, fold");
    total(&[100, 100, 100], "p1 bet 10", "p2: match, raise 20..20, fold");
    total(&[100, 100, 100], "p1 bet 20; p2 match", "p3: match, fold");
}

/// rules/SPEC.md §4.4, R-13: `max_hand_total` caps a player's bets, raises and matches over the
/// whole hand, antes aside.
#[test]
fn the_hand_cap_counts_all_rounds_of_the_hand() {
    let capped = |stacks: &[u64], when: &str, then: &str| {
        let rules = "shift=none,field=false,bomb_out=none,max_hand_total=20";
        check(&fields(rules, stacks), &format!("{THREE}{when}"), then);
    };
    capped(&[100, 100, 100], "", "p1: check, bet 5..20, fold");
    capped(&[100, 100, 100], "p1 bet 20; p2 match", "p3: match, fold");
    let round = "p1 bet 12; p2 p3 match; p1 p2 p3 stand;";
    capped(&[100, 100, 100], round, "p1: check, bet 5..8, fold");
    capped(&[100, 100, 100], &format!("{round} p1 bet 9"), "refused: takes an amount from 5 to 8");
    // A cap that leaves less than the minimum makes no smaller bet legal; a used-up cap makes none
    // legal.
    let most = "p1 bet 16; p2 p3 match; p1 p2 p3 stand;";
    capped(&[100, 100, 100], most, "p1: check, fold");
    let used_up = "p1 bet 20; p2 p3 match; p1 p2 p3 stand;";
    capped(&[100, 100, 100], used_up, "p1: check, fold");
    // All-ins are bound like any other bet: p1 has 7 of the stack left, and 8 of the cap.
    capped(&[29, 100, 100], round, "p1: check, bet 5..7, fold");
    capped(&[40, 100, 100], most, "p1: check, fold");
}

/// rules/SPEC.md R-12: a match is never capped, and it counts towards the cap of the hand.
#[test]
fn a_match_may_go_over_the_hand_cap_of_whoever_matches() {
    // In the round of a call all players may bet once more, each up to their own cap.
    let rules = "shift=none,field=false,pot_building_rounds=0,max_hand_total=30";
    check(
        &Scene::new("electronic", rules, &[100, 100]),
        "d deal p1 S10 F10; d deal p2 S9 C10; p1 p2 stand; p1 bet 10; p2 raise 30; p1 match;
         p1 p2 stand; p1 check",
        "p2: check, fold, call-hand",
    );
}

/// rules/SPEC.md §4.4, R-13: `max_pot` caps the Hand Pot after a bet or raise, antes included.
#[test]
fn the_pot_cap_counts_antes_and_every_bet() {
    let capped = |stacks: &[u64], when: &str, then: &str| {
        let rules = "shift=none,field=false,bomb_out=none,max_pot=50";
        check(&fields(rules, stacks), &format!("{THREE}{when}"), then);
    };
    // The antes are 15.
    capped(&[100, 100, 100], "", "p1: check, bet 5..35, fold");
    capped(&[100, 100, 100], "p1 bet 36", "refused: takes an amount from 5 to 35");
    capped(&[100, 100, 100], "p1 bet 10", "p2: match, raise 20..25, fold");
    capped(&[100, 100, 100], "p1 bet 10; p2 raise 25", "p3: match, fold");
    // A player's bets in the round are not paid again: 50 less 15, 10 and 20 is 5 on top of 10.
    capped(&[100, 100, 100], "p1 bet 5; p2 match; p3 raise 10", "p1: match, raise 15..20, fold");
    // 23 + 12 + 15 = 50; an all-in is bound too.
    capped(&[22, 100, 100], "p1 bet 12", "p2: match, fold");
    capped(&[100, 17, 100], "p1 check", "p2: check, bet 5..7, fold");
    // Matches are not bound: they bring the pot above its cap.
    capped(&[100, 100, 100], "p1 bet 35; p2 match; p3 match", "p1: draw, trade S10|F10, stand");
}

/// rules/SPEC.md R-13: the antes of more than two players may fill the pot; the round is then held
/// with checks.
#[test]
fn a_pot_that_the_antes_fill_leaves_checks() {
    let rules = "shift=none,field=false,max_pot=15";
    check(
        &fields(rules, &[100, 100]),
        "d deal p1 S10 F10; d deal p2 S9 C10; p1 p2 stand",
        "p1: check, bet 5..5, fold",
    );
    check(&fields(rules, &[100, 100, 100]), THREE, "p1: check, fold");
    check(
        &fields(rules, &[100, 100, 100]),
        &format!("{THREE} p1 p2 p3 check"),
        "p1: draw, trade S10|F10, stand",
    );
}

/// rules/SPEC.md §4.4: a carried pot counts towards `max_pot`.
#[test]
fn the_pot_cap_counts_a_carried_pot() {
    let deal = "d announce wild 3S clone 4S; d deal p1 1S 2S; d deal p2 1H 2H; p1 p2 stand";
    let scene = Scene::new("eleven", "max_pot=60", &[100, 100]);
    check(&scene, deal, "p1: check, bet 10..40, fold");
    check(&scene.clone().carried(25), deal, "p1: check, bet 10..15, fold");
    check(&scene.carried(31), deal, "p1: check, fold");
}

/// rules/SPEC.md §4.5, R-14.
#[test]
fn what_nobody_matched_goes_back() {
    three(
        &[100, 30, 20],
        "p1 call-hand; p1 bet 80; p2 p3 match",
        "p1 returned 55; p1 wins main 60; p1 wins side-1 20; stacks 150 0 0",
    );
}

/// rules/SPEC.md R-14.
#[test]
fn what_nobody_matched_goes_back_after_folds_too() {
    three(
        &[100, 100, 100],
        "p1 bet 50; p2 p3 fold",
        "p1 returned 50; p1 wins main 15; stacks 110 95 95",
    );
    check(
        &plain(&[100, 100, 20]),
        &format!("{THREE} p1 bet 10; p2 raise 60; p3 match; p1 fold; p2 p3 stand"),
        "p2 returned 45; p2 wins main 55; stacks 85 135 0",
    );
}

/// rules/SPEC.md R-14.
#[test]
fn what_nobody_matched_goes_back_to_one_who_folded_since() {
    // The call makes p1, whose bet is the highest, act again.
    let rules = "shift=none,field=false,pot_building_rounds=0,sabacc_ante=0";
    check(
        &Scene::new("electronic", rules, &[100, 25, 100]),
        &format!("{THREE} p1 bet 50; p2 call-hand; p2 match; p3 fold; p1 fold"),
        "p1 returned 30; p2 wins main 55; stacks 75 55 95",
    );
}

/// rules/SPEC.md §7, R-23.
#[test]
fn one_live_player_left_takes_everything_at_once() {
    let hand = check(
        &plain(&[100, 100, 10]).sabacc(30),
        &format!(
            "{THREE} p1 bet 20; p2 match; p3 match; p1 stand; p2 stand; p3 stand; p1 check; p2 check"
        ),
        "p1: draw, trade S10|F10, stand",
    );
    assert!(hand.settlement().is_none());
    let hand = check(
        &plain(&[100, 100, 100]).sabacc(30),
        &format!("{THREE} p1 fold; p2 fold"),
        "p3 wins main 15; stacks 95 95 110; sabacc 30",
    );
    assert_eq!(ranks(&hand), "folded, folded, -");
    assert!(hand.settlement().unwrap().shown.is_empty());
    assert_eq!(hand.settlement().unwrap().winners.len(), 1);
}

/// rules/SPEC.md §5.2, R-16.
#[test]
fn layers_go_to_the_best_hand_that_paid_into_them() {
    // p1 is best with 10, p2 next with 25, p3 and p4 cover both.
    check(
        &plain(&[10, 25, 60, 60]),
        &format!("{FOUR} p1 call-hand; p1 bet 5; p2 raise 20; p3 raise 55; p4 match"),
        "p1 wins main 40; p2 wins side-1 45; p3 wins side-2 70; stacks 40 45 70 0",
    );
}

/// rules/SPEC.md §5.2, R-16.
#[test]
fn what_folded_players_paid_fills_the_layers_from_below() {
    // p2 folds after paying 35: 10 of it is in the main layer, the rest in the highest.
    check(
        &plain(&[10, 100, 25, 100]),
        &format!(
            "{FOUR} p1 bet 5; p2 raise 30; p3 match; p4 match; p1 p2 p3 p4 stand;
             p2 check; p4 bet 10; p2 fold; p1 p3 p4 stand"
        ),
        "p4 returned 10; p1 wins main 40; p3 wins side-1 45; p4 wins side-2 20; stacks 40 65 45 85",
    );
}

/// rules/SPEC.md §5.2.
#[test]
fn what_folded_players_paid_above_the_live_belongs_to_the_highest_layer() {
    check(
        &plain(&[10, 50, 50, 10]),
        &format!(
            "{FOUR} p1 bet 5; p2 raise 40; p3 match; p4 match; p1 p2 p3 p4 stand; p2 p3 fold;
             p1 p4 stand"
        ),
        "p1 wins main 110; stacks 110 5 5 0",
    );
}

#[test]
fn a_layer_with_one_live_player_is_his_unless_he_bombed() {
    let deal = "d deal p1 S10 F10; d deal p2 S15 C15; p1 p2 stand;";
    check(
        &fields(
            "shift=none,field=false,pot_building_rounds=0,bomb_out=none,sabacc_ante=0",
            &[10, 30],
        ),
        &format!("{deal} p1 call-hand; p1 bet 5; p2 match"),
        "p1 wins main 20; stacks 20 20",
    );
}

/// rules/SPEC.md R-34.
#[test]
fn a_layer_whose_players_all_bombed_moves_to_the_sabacc_pot() {
    let deal = "d deal p1 S10 F10; d deal p2 S15 C15; d deal p3 F15 T15; p1 p2 p3 stand;";
    let hand = check(
        &plain(&[10, 30, 30]).sabacc(7),
        &format!("{deal} p1 call-hand; p1 bet 5; p2 raise 25; p3 match"),
        "p1 wins main 30; side-1 moves sabacc 40; stacks 30 0 0; sabacc 47",
    );
    assert_eq!(ranks(&hand), "total 20, bombed 30, bombed 30");
}

/// rules/SPEC.md R-17.
#[test]
fn without_any_contribution_there_is_one_main_layer() {
    // Nobody pays anything: the winner still takes the Sabacc Pot with a Pure Sabacc.
    let hand = check(
        &fields(
            "shift=none,field=false,pot_building_rounds=0,hand_ante=0,sabacc_ante=0",
            &[10, 10],
        )
        .sabacc(99),
        "d deal p1 S11 S12; d deal p2 F1 F2; p1 p2 stand; p1 call-hand; p1 p2 check",
        "p1 wins sabacc 99; stacks 109 10",
    );
    assert_eq!(hand.settlement().unwrap().winners.len(), 1);
}

/// rules/SPEC.md §5.4, R-19.
#[test]
fn odd_credits_go_in_the_order_of_players() {
    // Three players tie at 20 and again at 21 for 16 credits.
    check(
        &plain(&[100, 100, 100, 100]),
        "d deal p1 S10 F10; d deal p2 C10 T10; d deal p3 S9 F11; d deal p4 S15 F15;
         p1 p2 p3 p4 stand; p1 call-hand; p1 p2 p3 p4 check; d deal p1 S1; d deal p2 F1; d deal p3 C1",
        "p1 wins main 7; p2 wins main 7; p3 wins main 6; stacks 102 102 101 95",
    );
}

/// rules/SPEC.md §5.4, R-20.
#[test]
fn rake_takes_its_share_of_contested_layers_up_to_the_cap() {
    let raked = |rules: &'static str, then: &str| {
        check(
            &fields(rules, &[10, 25, 60, 60]),
            &format!("{FOUR} p1 call-hand; p1 bet 5; p2 raise 20; p3 raise 55; p4 match"),
            then,
        );
    };
    raked(
        "shift=none,field=false,pot_building_rounds=0,sabacc_ante=0,rake_bps=500",
        "p1 wins main 38; p2 wins side-1 43; p3 wins side-2 67; rake 7; stacks 38 43 67 0",
    );
    raked(
        "shift=none,field=false,pot_building_rounds=0,sabacc_ante=0,rake_bps=500,rake_cap=3",
        "p1 wins main 38; p2 wins side-1 44; p3 wins side-2 70; rake 3; stacks 38 44 70 0",
    );
    let raked = "shift=none,field=false,sabacc_ante=0,rake_bps=5000";
    check(
        &fields(raked, &[50, 50]),
        "d deal p1 S1 S2; d deal p2 F1 F2; p1 p2 stand; p1 fold",
        "p2 wins main 10; stacks 45 55",
    );
}

/// rules/SPEC.md R-20.
#[test]
fn a_layer_that_one_player_reached_the_reveal_with_is_not_raked() {
    // The last layer has credits of p4 and of p2, who folded.
    check(
        &fields(
            "shift=none,field=false,pot_building_rounds=0,sabacc_ante=0,rake_bps=1000",
            &[10, 100, 25, 100],
        ),
        &format!(
            "{FOUR} p1 bet 5; p2 raise 30; p3 match; p4 match; p1 p2 p3 p4 stand;
             p2 check; p4 bet 10; p2 fold; p1 p3 p4 stand"
        ),
        "p4 returned 10; p1 wins main 36; p3 wins side-1 41; p4 wins side-2 20; rake 8; \
         stacks 36 65 41 85",
    );
}

/// rules/SPEC.md §4.2, R-1.
#[test]
fn penalties_beyond_the_stack_are_short() {
    let scene = Scene::new("dice", "shift=none,field=false,fold_penalty=40", &[30, 100, 100]);
    check(
        &scene,
        &format!("{THREE} p1 bet 20; p2 p3 fold"),
        "p2 pays sabacc 40; p3 pays sabacc 40; p1 returned 20; p1 wins main 15; stacks 35 50 50; sabacc 95",
    );
    let scene = Scene::new("dice", "shift=none,field=false,fold_penalty=40", &[100, 35, 100]);
    check(
        &scene,
        &format!("{THREE} p1 bet 20; p2 p3 fold"),
        "p2 pays sabacc 25 short 15; p3 pays sabacc 40; p1 returned 20; p1 wins main 15; \
         stacks 105 0 50; sabacc 80",
    );
}
