//! `dice` and `electronic`: play rounds, shifts, calls, the field.

use rules::{HandPhase, Viewer, play, view};

use crate::scene::{Scene, chance_comes, check, played, ranks, report, take};

fn dice(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("dice", fields, stacks)
}

fn electronic(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("electronic", fields, stacks)
}

const DEAL: &str = "d deal p1 S10 F10; d deal p2 S9 C10;";

// Order of a hand.

/// rules/SPEC.md §9.1.
#[test]
fn a_hand_starts_with_two_cards_each() {
    let hand = dice("", &[100, 100, 100]).start().unwrap();
    assert_eq!(report(&hand), "d: , deal p1, deal p2, deal p3", "a shuffle, then the deals");
    check(&dice("", &[100, 100]), DEAL, "p1: draw, trade S10|F10, stand, lock S10|F10");
}

/// rules/SPEC.md §9.2.
#[test]
fn after_a_draw_comes_its_card_and_then_the_dice() {
    check(&dice("", &[100, 100]), &format!("{DEAL} p1 draw"), "d: deal p1, roll");
    check(&dice("", &[100, 100]), &format!("{DEAL} p1 trade S10"), "d: deal p1, roll");
    check(&dice("", &[100, 100]), &format!("{DEAL} p1 stand"), "d: roll");
    check(&dice("shift=none", &[100, 100]), &format!("{DEAL} p1 draw"), "d: deal p1");
    check(&electronic("", &[100, 100]), &format!("{DEAL} p1 draw"), "d: deal p1, pulse");
    check(
        &dice("", &[100, 100]),
        &format!("{DEAL} p1 draw; d deal p1 T1; d roll 1 2"),
        "p2: draw, trade S9|C10, stand, lock S9|C10",
    );
}

/// rules/SPEC.md §6.1.
#[test]
fn cards_that_cannot_be_there_are_refused() {
    let refused = |when: &str, why: &str| {
        check(&dice("", &[100, 100]), when, &format!("refused: {why}"));
    };
    refused("d deal p1 S10 S10", "card 2 of the deal cannot be there");
    refused("d deal p1 S10", "2 cards are due, not 1");
    refused("d deal p1 S10 S11 S12", "2 cards are due, not 3");
    refused("d deal p1 S10 X1", "there is no card `X1`");
    refused("d deal p2 S10 S11", "`d deal p1` is due");
    refused("d roll 1 2", "`d deal p1` is due");
    refused("p1 stand", "the dealer is due (deal), no player");
    refused(&format!("{DEAL} d roll 1 2"), "a player's decision is due (p1)");
    refused(&format!("{DEAL} p1 stand; d roll 1 7"), "2 dice of 6 sides");
    refused(&format!("{DEAL} p1 stand; d roll 1"), "2 dice of 6 sides");
    refused(&format!("{DEAL} p1 stand; d roll 01 2"), "without leading zeros");
    refused(&format!("{DEAL} p1 stand; d pulse 1"), "`d roll` is due");
    refused(&format!("{DEAL} p1 draw; d deal p1 S9"), "card 1 of the deal cannot be there");
    refused(&format!("{DEAL} p1 trade S9"), "must be one of those listed as legal");
    refused(&format!("{DEAL} p1 draw; d deal p1 ??"), "hides something");
}

// The field.

/// rules/SPEC.md §9.2, R-28.
#[test]
fn a_turn_may_lock_one_card_and_unlock_another() {
    let field = |when: &str, then: &str| {
        check(&dice("shift=none", &[100, 100]), &format!("{DEAL} {when}"), then);
    };
    field("p1 lock S10", "p1: draw, trade F10, stand");
    let next_cycle = "p1 lock S10; p1 p2 stand; p1 p2 check;";
    field(next_cycle, "p1: draw, trade F10, stand, lock F10, unlock S10");
    field(&format!("{next_cycle} p1 unlock S10"), "p1: draw, trade S10|F10, stand, lock F10");
    field(&format!("{next_cycle} p1 lock F10"), "p1: draw, stand, unlock S10");
    field(&format!("{next_cycle} p1 lock F10; p1 unlock S10"), "p1: draw, trade S10, stand");
    field(&format!("{next_cycle} p1 unlock S10; p1 lock S10"), "refused: must be one of those");
    field("p1 lock S10; p1 unlock S10", "refused: `unlock` is not legal here");
    field("p1 lock S10; p1 trade S10", "refused: must be one of those");
    check(&dice("field=false", &[100, 100]), DEAL, "p1: draw, trade S10|F10, stand");
}

// Shifts.

/// rules/SPEC.md §9.3.
#[test]
fn a_shift_takes_unlocked_cards_of_live_hands_and_deals_as_many() {
    let shifted = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 C1 C2;
        p1 lock S10; p1 draw; d deal p1 F1; d roll 3 3";
    let hand = check(&dice("", &[100, 100, 100]), shifted, "d: deal p1, deal p2, deal p3");
    let (hand, refused) = played(hand, "d deal p1 T1 F10; d deal p2 F1 C1; d deal p3 T5 T6");
    assert_eq!(refused, None, "cards that went back can come again");
    let codes = |player: usize| -> Vec<&str> {
        let player = hand.players().nth(player).unwrap();
        hand.cards_of(player).iter().map(|&card| rules::S76.code(card)).collect()
    };
    assert_eq!((codes(0), codes(1)), (vec!["S10", "T1", "F10"], vec!["F1", "C1"]));
    check(
        &dice("", &[100, 100, 100]),
        &format!("{shifted}; d deal p1 T1 S10"),
        "refused: card 2 of the deal cannot be there",
    );
}

/// rules/SPEC.md §9.3.
#[test]
fn a_shift_leaves_folded_hands_and_discards_alone() {
    let given = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 C1 C2;
        p1 trade S10; d deal p1 S1; d roll 1 2; p2 stand; d roll 1 2; p3 stand; d roll 1 2;
        p1 bet 5; p2 fold; p3 match; d roll 6 6;";
    check(&dice("", &[100, 100, 100]), given, "d: deal p1, deal p3");
    for gone in ["S10", "S9", "C10"] {
        let when = format!("{given} d deal p1 T1 {gone}");
        check(&dice("", &[100, 100, 100]), &when, "refused: card 2 of the deal cannot be there");
    }
}

#[test]
fn who_has_nothing_unlocked_gets_no_line_in_a_shift() {
    let quiet = "d roll 1 2; p2 stand; d roll 1 2; p1 p2 check; d roll 1 2;";
    check(
        &dice("", &[100, 100]),
        &format!("{DEAL} p1 lock S10; p1 stand; {quiet} p1 lock F10; p1 stand; d roll 4 4"),
        "d: deal p2",
    );
}

/// rules/SPEC.md §9.3.
#[test]
fn two_dice_shift_with_a_pair_and_one_with_its_number() {
    let shifts = |fields: &'static str, roll: &str, then: &str| {
        check(&dice(fields, &[100, 100]), &format!("{DEAL} p1 stand; d roll {roll}"), then);
    };
    let (shift, turn) = ("d: deal p1, deal p2", "p2: draw, trade S9|C10, stand, lock S9|C10");
    shifts("", "5 5", shift);
    shifts("", "5 6", turn);
    shifts("shift=2d10", "10 10", shift);
    shifts("shift=2d12", "12 11", turn);
    shifts("shift=1d6", "1", shift);
    shifts("shift=1d6", "2", turn);
    shifts("shift=1d12,shift_number=12", "12", shift);
    shifts("shift=1d12,shift_number=12", "1", turn);
    shifts("shift=1d10", "11", "refused: 1 dice of 10 sides");
}

/// Expected number of shifts: rolls until the reveal of a four-player hand that is called in round
/// 4, times the share of rolls that shift. Both are found by playing.
fn expected_shifts(fields: &'static str, sides: u8) -> f64 {
    let mut hand = dice(fields, &[100, 100, 100, 100]).start().unwrap();
    let (mut rolls, mut shifts) = (0_u32, 0_u32);
    play::apply_due_shuffles(&mut hand);
    for _ in 0..4 {
        chance_comes(&mut hand);
    }
    let mut round = 0;
    while hand.settlement().is_none() {
        if hand.due().is_some_and(|due| due.kind() == "roll") {
            rolls += 1;
            if rolls == 1 {
                for (a, b) in (1..=sides).flat_map(|a| (1..=sides).map(move |b| (a, b))) {
                    let (after, refused) = played(hand.clone(), &format!("d roll {a} {b}"));
                    assert_eq!(refused, None);
                    shifts += u32::from(after.due().is_some());
                }
            }
            hand = played(hand, "d roll 1 2").0;
        } else if let Some(player) = hand.to_act() {
            let seen = view(&hand, Viewer::Public);
            if seen.phase == HandPhase::Play {
                hand = played(hand, &format!("{player} stand")).0;
            } else {
                if seen.round == 4 && round != 4 {
                    hand = played(hand, &format!("{player} call-hand")).0;
                }
                round = seen.round;
                take(&mut hand, "check");
            }
        } else {
            chance_comes(&mut hand);
        }
    }
    f64::from(rolls) * f64::from(shifts) / f64::from(u32::from(sides).pow(2))
}

/// rules/SPEC.md §16.
#[test]
fn expected_shifts_of_a_four_player_hand_called_in_round_4() {
    for (fields, sides, expected) in
        [("", 6, 3.33), ("shift=2d10", 10, 2.0), ("shift=2d12", 12, 1.67)]
    {
        let shifts = expected_shifts(fields, sides);
        assert!((shifts - expected).abs() < 0.005, "{sides}: {shifts}");
    }
}

/// rules/SPEC.md R-30.
#[test]
fn the_final_betting_round_is_followed_by_one_roll() {
    let round = "p1 stand; d roll 1 2; p2 stand; d roll 1 2;";
    check(
        &dice("pot_building_rounds=0", &[100, 100]),
        &format!("{DEAL} {round} p1 call-hand; p1 p2 check"),
        "d: roll",
    );
    check(
        &dice("pot_building_rounds=0", &[100, 100]),
        &format!("{DEAL} {round} p1 call-hand; p1 p2 check; d roll 1 2"),
        "p1 wins main 10; stacks 100 90; sabacc 10",
    );
    check(
        &dice("pot_building_rounds=0", &[100, 100]),
        &format!(
            "{DEAL} {round} p1 call-hand; p1 p2 check; d roll 1 1; d deal p1 S1 S2; d deal p2 F1 F3"
        ),
        "p2 wins main 10; stacks 90 100; sabacc 10",
    );
}

/// rules/SPEC.md.
#[test]
fn without_a_betting_round_there_is_no_roll_after_it() {
    // p1 is all-in from the antes: turns and their rolls go on, without betting.
    check(
        &dice("", &[10, 100]),
        &format!("{DEAL} p1 stand; d roll 1 2; p2 stand; d roll 1 2"),
        "p1: draw, trade S10|F10, stand, lock S10|F10",
    );
}

/// rules/SPEC.md R-32.
#[test]
fn where_no_betting_round_can_be_held_after_the_building_the_hand_is_called() {
    let cycle = "p1 stand; d roll 1 2; p2 stand; d roll 1 2;";
    check(
        &dice("pot_building_rounds=1", &[10, 100]),
        &format!("{DEAL} {cycle} {cycle}"),
        "p1 wins main 10; stacks 10 90; sabacc 10",
    );
}

/// rules/SPEC.md R-27.
#[test]
fn a_hand_ends_after_max_rounds() {
    let cycle = "p1 stand; d roll 1 2; p2 stand; d roll 1 2; p1 p2 check; d roll 1 2;";
    check(
        &dice("max_rounds=2", &[100, 100]),
        &format!("{DEAL} {cycle} {cycle}"),
        "p1 wins main 10; stacks 100 90; sabacc 10",
    );
    let without_bets = "p1 stand; d roll 1 2; p2 stand; d roll 1 2;";
    check(
        &dice("max_rounds=2", &[10, 100]),
        &format!("{DEAL} {without_bets} {without_bets}"),
        "p1 wins main 10; stacks 10 90; sabacc 10",
    );
}

/// rules/SPEC.md R-23.
#[test]
fn a_hand_ended_by_folds_has_no_roll() {
    check(
        &dice("", &[100, 100]),
        &format!("{DEAL} p1 stand; d roll 1 2; p2 stand; d roll 1 2; p1 fold"),
        "p2 wins main 10; stacks 90 100; sabacc 10",
    );
}

// The pulse.

fn pulse_of(scene: &Scene) -> String {
    let (hand, refused) = played(scene.start().unwrap(), &format!("{DEAL} p1 stand"));
    assert_eq!(refused, None);
    format!("{:?}", hand.due().unwrap())
}

/// rules/SPEC.md R-29.
#[test]
fn the_default_pulse_expects_one_shift_in_the_shortest_hand() {
    // (4 + 1) rounds of (2 + 1) chances.
    assert_eq!(pulse_of(&electronic("", &[100, 100])), "Pulse { ppm: 66666 }");
    assert_eq!(
        pulse_of(&electronic("pot_building_rounds=0", &[100, 100])),
        "Pulse { ppm: 333333 }"
    );
    assert_eq!(pulse_of(&electronic("pulse_ppm=7", &[100, 100])), "Pulse { ppm: 7 }");
    let rare = electronic("pot_building_rounds=1000", &[100, 100]);
    assert_eq!(pulse_of(&rare), "Pulse { ppm: 333 }", "never 0");
    check(
        &electronic("pulse_ppm=1000000", &[100, 100]),
        &format!("{DEAL} p1 stand; d pulse 0"),
        "refused: cannot come out so",
    );
}

/// rules/SPEC.md R-29.
#[test]
fn the_default_pulse_counts_everybody_who_was_dealt_in() {
    let three = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 C1 C2; p1 stand; d pulse 0;
        p2 stand; d pulse 0; p3 stand; d pulse 0; p1 fold; p2 p3 check";
    let (hand, refused) = played(electronic("", &[100, 100, 100]).start().unwrap(), three);
    assert_eq!(refused, None);
    assert_eq!(format!("{:?}", hand.due().unwrap()), "Pulse { ppm: 50000 }");
}

#[test]
fn a_pulse_of_1_shifts() {
    let scene = electronic("", &[100, 100]);
    check(&scene, &format!("{DEAL} p1 stand; d pulse 1"), "d: deal p1, deal p2");
    check(
        &scene,
        &format!("{DEAL} p1 stand; d pulse 0"),
        "p2: draw, trade S9|C10, stand, lock S9|C10",
    );
    check(&scene, &format!("{DEAL} p1 stand; d pulse 2"), "refused: `d pulse` is due");
}

// Calling.

/// rules/SPEC.md §9.4, R-32.
#[test]
fn the_hand_can_be_called_after_the_pot_building() {
    let cycle = "p1 p2 stand; p1 p2 check;";
    check(
        &dice("shift=none", &[100, 100]),
        &format!("{DEAL} {cycle} {cycle} {cycle} p1 p2 stand"),
        "p1: check, bet 5..90, fold, call-hand",
    );
    check(
        &dice("shift=none", &[100, 100]),
        &format!("{DEAL} {cycle} {cycle} p1 p2 stand; p1 call-hand"),
        "refused: `call-hand` is not legal here; legal: check, bet, fold",
    );
}

/// rules/SPEC.md R-31.
#[test]
fn in_dice_the_called_round_goes_on_as_usual() {
    let scene = dice("shift=none,pot_building_rounds=0,field=false", &[100, 100, 100]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
    let called = format!("{deal} p1 check; p2 call-hand;");
    check(&scene, &called, "p2: check, bet 5..90, fold");
    check(&scene, &format!("{called} p2 check"), "p3: check, bet 5..90, fold");
    check(&scene, &format!("{called} p2 p3 check"), "p1 wins main 15; stacks 105 90 90; sabacc 15");
}

/// rules/SPEC.md R-31.
#[test]
fn in_electronic_everybody_acts_again_after_a_call() {
    let scene = electronic("shift=none,pot_building_rounds=0,field=false", &[100, 100, 100]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
    let called = format!("{deal} p1 bet 20; p2 match; p3 call-hand;");
    check(&scene, &called, "p3: match, raise 40..90, fold");
    // p1 has nothing to match and may check or bet; the minimum size stands.
    check(&scene, &format!("{called} p3 match"), "p1: check, bet 20..70, fold");
    check(&scene, &format!("{called} p3 match; p1 bet 20"), "p2: match, raise 60..90, fold");
    check(
        &scene,
        &format!("{called} p3 match; p1 check; p2 check"),
        "p1 wins main 75; stacks 145 70 70; sabacc 15",
    );
    check(
        &scene,
        &format!("{called} p3 match; p1 bet 20; p2 match; p3 fold"),
        "p1 wins main 115; stacks 165 50 70; sabacc 15",
    );
}

/// rules/SPEC.md R-31.
#[test]
fn in_electronic_who_called_first_checks_where_nothing_is_to_be_matched() {
    let scene = electronic("shift=none,pot_building_rounds=0,field=false", &[100, 100, 15]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
    check(&scene, &format!("{deal} p1 check; p2 call-hand; p2 check"), "p3: check, bet 5..5, fold");
    check(
        &scene,
        &format!("{deal} p1 check; p2 call-hand; p2 p3 check"),
        "p1: check, bet 5..90, fold",
    );
}

/// As many cycles as a rule set allows pass at once if nobody decides anything in them.
/// rules/SPEC.md §6.3.
#[test]
fn everybody_has_left_the_longest_hand() {
    for variant in ["dice", "electronic"] {
        let given = Scene::new(variant, "shift=none,max_rounds=1000", &[100, 100]);
        let hand = check(
            &given,
            "d deal p1 S1 S2; d deal p2 F4 F5; p1 leave; p2 leave",
            "p2 wins main 10; stacks 90 100; sabacc 10",
        );
        assert_eq!(ranks(&hand), "total 3, total 9");
    }
}
