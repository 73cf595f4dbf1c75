//! `dice` and `electronic`: play rounds, shifts, calls, the field, reveals, the Sudden Demise.

use rules::{Hand, Viewer, notation, play, view};

use crate::scene::{Scene, chance_comes, check, played, ranks, report, take};

fn dice(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("dice", fields, stacks)
}

fn electronic(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("electronic", fields, stacks)
}

const DEAL: &str = "d deal p1 S10 F10; d deal p2 S9 C10;";

// The order of things.

#[test]
fn a_hand_starts_with_two_cards_each() {
    let hand = dice("", &[100, 100, 100]).start().unwrap();
    assert_eq!(report(&hand), "d: , deal p1, deal p2, deal p3", "a shuffle, then the deals");
    check(&dice("", &[100, 100]), DEAL, "p1: draw, trade S10|F10, stand, lock S10|F10");
}

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

/// Rolls until the reveal of a four-player hand called in round 4, and the share of outcomes of a roll
/// that shift, both by playing.
fn expected_shifts(fields: &'static str, sides: u8) -> f64 {
    let mut hand = dice(fields, &[100, 100, 100, 100]).start().unwrap();
    let (mut rolls, mut shifts) = (0_u32, 0_u32);
    play::shuffle(&mut hand);
    for _ in 0..4 {
        chance_comes(&mut hand);
    }
    let mut round = 0;
    while hand.settlement().is_none() {
        if hand.due().is_some_and(|due| due.name() == "roll") {
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
            if seen.phase == "play" {
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

#[test]
fn expected_shifts_of_a_four_player_hand_called_in_round_4() {
    for (fields, sides, expected) in
        [("", 6, 3.33), ("shift=2d10", 10, 2.0), ("shift=2d12", 12, 1.67)]
    {
        let shifts = expected_shifts(fields, sides);
        assert!((shifts - expected).abs() < 0.005, "{sides}: {shifts}");
    }
}

#[test]
fn rules_2_the_final_betting_round_is_followed_by_one_roll() {
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

#[test]
fn rules_2_without_a_betting_round_there_is_no_roll_after_it() {
    // p1 is all-in from the antes: turns and their rolls go on, without betting.
    check(
        &dice("", &[10, 100]),
        &format!("{DEAL} p1 stand; d roll 1 2; p2 stand; d roll 1 2"),
        "p1: draw, trade S10|F10, stand, lock S10|F10",
    );
}

#[test]
fn rules_2_where_no_betting_round_can_be_held_after_the_building_the_hand_is_called() {
    let cycle = "p1 stand; d roll 1 2; p2 stand; d roll 1 2;";
    check(
        &dice("pot_building_rounds=1", &[10, 100]),
        &format!("{DEAL} {cycle} {cycle}"),
        "p1 wins main 10; stacks 10 90; sabacc 10",
    );
}

#[test]
fn rules_2_a_hand_ends_after_max_rounds() {
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

#[test]
fn rules_2_the_default_pulse_expects_one_shift_in_the_shortest_hand() {
    // (4 + 1) rounds of (2 + 1) chances.
    assert_eq!(pulse_of(&electronic("", &[100, 100])), "Pulse { ppm: 66666 }");
    assert_eq!(
        pulse_of(&electronic("pot_building_rounds=0", &[100, 100])),
        "Pulse { ppm: 333333 }"
    );
    assert_eq!(pulse_of(&electronic("pulse_ppm=7", &[100, 100])), "Pulse { ppm: 7 }");
    let rare = electronic("pot_building_rounds=9007199254740991", &[100, 100]);
    assert_eq!(pulse_of(&rare), "Pulse { ppm: 0 }", "drawn even where it cannot come");
    check(&rare, &format!("{DEAL} p1 stand; d pulse 1"), "refused: cannot come out so");
    check(
        &electronic("pulse_ppm=1000000", &[100, 100]),
        &format!("{DEAL} p1 stand; d pulse 0"),
        "refused: cannot come out so",
    );
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

#[test]
fn in_dice_the_called_round_goes_on_as_usual() {
    let scene = dice("shift=none,pot_building_rounds=0,field=false", &[100, 100, 100]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
    let called = format!("{deal} p1 check; p2 call-hand;");
    check(&scene, &called, "p2: check, bet 5..90, fold");
    check(&scene, &format!("{called} p2 check"), "p3: check, bet 5..90, fold");
    check(&scene, &format!("{called} p2 p3 check"), "p1 wins main 15; stacks 105 90 90; sabacc 15");
}

#[test]
fn in_electronic_everybody_acts_again_after_a_call() {
    let scene = electronic("shift=none,pot_building_rounds=0,field=false", &[100, 100, 100]);
    let deal = "d deal p1 S10 F10; d deal p2 S9 C10; d deal p3 F9 C9; p1 p2 p3 stand;";
    let called = format!("{deal} p1 bet 20; p2 match; p3 call-hand;");
    check(&scene, &called, "p3: match, raise 40..90, fold");
    // p1 has nothing to match: he may check or bet, by the size that stands.
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

// The reveal.

fn reveal(fields: &'static str, stacks: &[u64], sabacc: u64, deal: &str, then: &str) -> Hand {
    let all: Vec<String> = (1..=stacks.len()).map(|player| format!("p{player}")).collect();
    let all = all.join(" ");
    let (ends, tie) = deal.split_once('|').unwrap_or((deal, ""));
    let when = format!("{ends}; {all} stand; p1 call-hand; {all} check; {tie}");
    check(&dice(fields, stacks).sabacc(sabacc), &when, then)
}

const QUICK: &str = "shift=none,pot_building_rounds=0";

#[test]
fn rules_2_reveal_everybody_bombed() {
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

#[test]
fn rules_2_reveal_bombed_players_pay_the_pot_as_it_stood() {
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

#[test]
fn rules_1_totals_rank_by_sign_or_without() {
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

// The Sudden Demise.

const TIED: &str = "d deal p1 S10 F10; d deal p2 S9 F11; d deal p3 S1 F1";

fn demise(cards: &str, then: &str) -> Hand {
    let deal = format!("{TIED} | {cards}");
    reveal("shift=none,pot_building_rounds=0", &[100, 100, 100], 30, &deal, then)
}

#[test]
fn a_tie_is_broken_by_one_card_each() {
    demise("", "d: deal p1, deal p2");
    let hand = demise("d deal p1 C1; d deal p2 C2", "p2 wins main 15; stacks 90 105 90; sabacc 45");
    assert_eq!(ranks(&hand), "total 20, total 20, total 2");
    let end = hand.settlement().unwrap();
    assert!(end.hands.iter().all(|hand| hand.cards.len() == 2), "without the demise cards");
    demise("d deal p1 C1; d deal p2 C4", "p1 wins main 15; stacks 105 90 90; sabacc 45");
}

#[test]
fn rules_2_demise_still_tied_is_split() {
    demise(
        "d deal p1 C1; d deal p2 T1",
        "p1 wins main 8; p2 wins main 7; stacks 98 97 90; sabacc 45",
    );
}

#[test]
fn rules_2_demise_all_bomb_the_next_best_hand_wins_without_penalty() {
    demise("d deal p1 C4; d deal p2 T4", "p3 wins main 15; stacks 90 90 105; sabacc 45");
}

#[test]
fn rules_2_demise_all_bomb_and_nobody_is_next_the_layer_moves() {
    let deal = "d deal p1 S10 F10; d deal p2 S9 F11 | d deal p1 C4; d deal p2 T4";
    let hand =
        reveal(QUICK, &[100, 100], 30, deal, "main moves sabacc 10; stacks 90 90; sabacc 50");
    assert!(hand.settlement().unwrap().winners.is_empty());
}

#[test]
fn rules_2_eligibility_for_the_sabacc_pot_is_the_hand_at_the_reveal() {
    // 20 and 3 make 23 in the demise: not a Pure Sabacc at the reveal.
    demise("d deal p1 C3; d deal p2 C2", "p1 wins main 15; stacks 105 90 90; sabacc 45");
    // Pure at the reveal, 20 after the demise: still eligible.
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12 | d deal p1 EvilA; d deal p2 QueenA";
    reveal(QUICK, &[100, 100], 30, deal, "p2 wins main 10; p2 wins sabacc 40; stacks 90 140");
}

#[test]
fn rules_2_demise_split_shares_the_sabacc_pot_too() {
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12 | d deal p1 StarA; d deal p2 StarB";
    reveal(
        QUICK,
        &[100, 100],
        31,
        deal,
        "p1 wins main 5; p2 wins main 5; p1 wins sabacc 21; p2 wins sabacc 20; stacks 116 115",
    );
}

#[test]
fn rules_2_demise_the_next_best_takes_no_sabacc_pot() {
    let deal = "d deal p1 S11 F12; d deal p2 C11 T12; d deal p3 S1 F1 | d deal p1 S2; d deal p2 F2";
    reveal(QUICK, &[100, 100, 100], 30, deal, "p3 wins main 15; stacks 90 90 105; sabacc 45");
}

#[test]
fn a_later_layer_uses_the_demise_card_already_dealt() {
    // p1 (10 in) ties p2 and p3 in the main layer; p2 and p3 tie in the side layer with the same cards.
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

#[test]
fn holdem_lets_everybody_use_the_field_of_the_live() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    // p3 locks a 3: it makes p1's 20 Pure, serves p3 himself, and p2's 15 + 3.
    let when = "d deal p1 S10 F10; d deal p2 S5 C10; d deal p3 F3 F6;
        p1 p2 stand; p3 lock F3; p3 stand; p1 call-hand; p1 p2 p3 check";
    let hand = check(&scene, when, "p1 wins main 15; p1 wins sabacc 15; stacks 120 90 90");
    assert_eq!(ranks(&hand), "pure 23, total 18, total 9");
}

#[test]
fn a_folded_players_field_is_gone() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    let when = "d deal p1 S10 F10; d deal p2 S5 C10; d deal p3 F3 F6;
        p1 p2 stand; p3 lock F3; p3 stand; p1 call-hand; p1 p2 check; p3 fold";
    let hand = check(&scene, when, "p1 wins main 15; stacks 105 90 90; sabacc 15");
    assert_eq!(ranks(&hand), "total 20, total 15, folded");
}

#[test]
fn rules_2_holdem_picks_the_subset_anew_with_a_demise_card() {
    let scene = dice("shift=none,pot_building_rounds=0,holdem=true", &[100, 100, 100]);
    // With p3's Queen (-2) p1 has 22 and p2 22. The demise gives p1 a 2: 24 with it in the field left out
    // bombs, taken in it is 24 + 2 - 2; p2's 1 makes 23 without the Queen.
    let when = "d deal p1 S10 F12; d deal p2 S11 C11; d deal p3 QueenA F6;
        p1 p2 stand; p3 lock QueenA; p3 stand; p1 call-hand; p1 p2 p3 check;
        d deal p1 S2; d deal p2 S1";
    let hand = check(&scene, when, "p2 wins main 15; stacks 90 105 90; sabacc 15");
    assert_eq!(ranks(&hand), "total 22, total 22, total 4");
    let when = when.replace("S2; d deal p2 S1", "S2; d deal p2 S4");
    // p1: 22 + 2 - 2 = 22; p2: 22 + 4 - 2 = 24 bombs.
    check(&scene, &when, "p1 wins main 15; stacks 105 90 90; sabacc 15");
}

// Discards and the end of the pack.

/// Eight players; p1 and p2 stand on 21, the others draw whatever there is.
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

#[test]
fn rules_1_without_cards_drawing_and_trading_are_illegal() {
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    assert_eq!(report(&hand), "p1: stand");
}

#[test]
fn rules_1_a_demise_without_a_card_for_each_is_split_at_once() {
    let hand = everything_drawn("shift=none,field=false,bomb_out=none");
    let all = "p1 p2 p3 p4 p5 p6 p7 p8";
    let (hand, refused) = played(hand, &format!("{all} stand; p1 call-hand; {all} check"));
    assert_eq!(refused, None);
    let end = hand.settlement().expect("no demise card is due");
    assert_eq!(end.lines.len(), 2, "{:?}", end.lines);
    assert_eq!(end.winners.len(), 2);
}

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

#[test]
fn rules_1_a_leaver_takes_the_default_of_every_decision_and_can_win() {
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
    // He checks for nothing, and wins.
    check(
        &scene,
        &format!("{deal} p1 leave; p2 p3 stand; p2 call-hand; p2 p3 check"),
        "p1 wins main 15; stacks 105 90 90; sabacc 15",
    );
    // He folds to a bet, out of turn.
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

#[test]
fn a_leavers_turns_are_still_followed_by_the_dice() {
    check(&dice("", &[100, 100]), &format!("{DEAL} p1 leave"), "d: roll");
}

#[test]
fn rules_1_the_clock_stands_checks_or_folds() {
    let default = |when: &str| {
        let scene = dice("shift=none,field=false,pot_building_rounds=0", &[100, 100]);
        let (hand, refused) = played(scene.start().unwrap(), &format!("{DEAL} {when}"));
        assert_eq!(refused, None);
        match rules::next(&hand) {
            rules::Next::Decision(decision) => decision.default.text(&rules::S76),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(default(""), "stand");
    assert_eq!(default("p1 p2 stand"), "check");
    assert_eq!(default("p1 p2 stand; p1 bet 5"), "fold");
    let scene = dice("shift=none", &[100, 100]);
    let (hand, _) = played(scene.start().unwrap(), DEAL);
    let event = notation::read(&hand, "p1 stand # clock").unwrap();
    assert_eq!(rules::line(&hand, &event), "p1 stand # clock");
}
