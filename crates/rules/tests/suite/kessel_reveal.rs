//! Kessel: reveal, payments, elimination, the end of the game.

use rules::{Viewer, censor, notation};

use crate::kessel::{PLAIN, begin, chips, deal, default_move, kessel, revealed, state, table};
use crate::scene::{Scene, check, played, ranks, report};

const NEXT: &str = "d: flip, deal p1, deal p2";

// Payments.

/// rules/SPEC.md §12.7, R-56.
#[test]
fn losers_pay_one_for_a_pair_and_the_difference_for_anything_else() {
    let pay = |hands: &[&str], left: &str| {
        table((&kessel(PLAIN, 2), hands), "p1 p2 stand", NEXT, left);
    };
    pay(&["s1 b1", "s6 b6"], "8+0 7+0");
    pay(&["s1 b1", "s6 bY"], "8+0 7+0");
    pay(&["s1 b1", "s6 b1"], "8+0 3+0");
    pay(&["s5 b6", "s1 b3"], "8+0 6+0");
    // Equal differences: the lower sum wins.
    pay(&["s5 b6", "s1 b2"], "7+0 8+0");
    pay(&["sY bY", "s1 b1"], "8+0 7+0");
}

/// rules/SPEC.md R-64.
#[test]
fn equally_ranked_best_hands_win_together_and_none_pays() {
    let pay = |hands: &[&str], left: &str| {
        let scene = kessel(PLAIN, 3);
        let hands = [hands[0], hands[1], "s6 b1"];
        table((&scene, &hands), "p1 p2 p3 stand", "d: flip, deal p1, deal p2, deal p3", left);
    };
    pay(&["s3 b3", "s3 b3"], "8+0 8+0 3+0");
    pay(&["s3 bY", "s3 b3"], "8+0 8+0 3+0");
    pay(&["s1 b3", "s3 b1"], "8+0 8+0 3+0");
}

/// rules/SPEC.md §12.7.
#[test]
fn winners_take_their_hand_pot_back_and_others_lose_it() {
    let draws = "p1 draw sand-discard; p1 discard s6; p2 draw blood-discard; p2 discard b6;
        p1 p2 stand";
    table((&kessel(PLAIN, 2), &["s1 b1", "s2 b4"]), draws, NEXT, "8+0 5+0");
    let four = kessel("chips=4,tokens=assigned,assigned_tokens=free-draw+refund+immunity", 3);
    // At most the stock: 3 chips for a difference of 5.
    let when = "p1 stand; p2 stand; p3 draw blood-discard; p3 discard b6; p1 p2 p3 stand";
    let hand = table((&four, &["s1 b1", "s2 b2", "s6 b1"]), when, NEXT, "4+0 3+0 0+0");
    assert_eq!(lines(&hand), "p3 eliminated");
}

fn lines(hand: &rules::Hand) -> String {
    hand.lines().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

// The end.

#[test]
fn the_last_one_in_wins_the_credits_pot() {
    let given = (&kessel(TAXES, 2), ["s1 b1", "s6 b1"].as_slice());
    let end = "p2 eliminated; p1 wins credits 120; stacks 1060 940";
    let hand = table(given, "p1 p2 stand", end, "4+0 0+0");
    assert_eq!(ranks(&hand), "pair 1, diff 5 sum 7");
    assert!(hand.players().all(|player| hand.is_shown(player)));
}

const TAXES: &str = "chips=4,tokens=assigned,assigned_tokens=target-audit+target-tariff+refund";

/// rules/SPEC.md §12.7, R-65.
#[test]
fn the_last_one_in_wins_even_if_he_lost_that_round() {
    // p1 has the best hand and is taxed to nothing; p2 pays for a pair and stays in.
    let when = "p1 stand; p2 token target-audit p1; p2 draw sand-discard; p2 discard s6; p1 stand;
        p2 token target-tariff p1; p2 stand";
    let end = "p1 eliminated; p2 wins credits 120; stacks 940 1060";
    let hand = table((&kessel(TAXES, 2), &["s1 b1", "s2 b2"]), when, end, "0+0 2+0");
    assert_eq!(ranks(&hand), "pair 1, pair 2");
}

#[test]
fn a_winner_whose_hand_pot_comes_back_is_not_eliminated() {
    let when = "p1 draw sand-discard; p1 discard s6; p2 token target-tariff p1; p2 stand; p1 stand;
        p2 token target-audit p1; p2 stand";
    table((&kessel(TAXES, 2), &["s1 b1", "s2 b2"]), when, NEXT, "1+0 3+0");
}

/// rules/SPEC.md R-65.
#[test]
fn a_winner_without_stock_is_eliminated_too() {
    let scene =
        kessel("chips=4,tokens=assigned,assigned_tokens=target-audit+target-tariff+refund", 3);
    let when = "p1 stand; p2 token target-audit p1; p2 stand; p3 token target-tariff p1; p3 stand";
    let hand = table(
        (&scene, &["s1 b1", "s2 b2", "s3 b3"]),
        when,
        "d: flip, deal p2, deal p3",
        "0+0 3+0 3+0",
    );
    assert_eq!(lines(&hand), "p1 eliminated");
    assert_eq!(revealed(&hand, "p1"), Some("s1 b1: pair 1".into()));
}

/// rules/SPEC.md R-65.
#[test]
fn with_nobody_left_the_pot_goes_to_that_rounds_winners() {
    let scene = Scene::new(
        "kessel",
        "chips=5,stakes=pro,tokens=assigned,assigned_tokens=general-audit+target-audit+general-tariff",
        &[500, 500, 500],
    );
    // p1 and p2 tie; all three have no chips in the end.
    let when = "p1 stand; p2 stand; p3 token general-audit; p3 draw sand-discard; p3 discard s6;
        p1 token target-audit p2; p1 stand; p2 token target-audit p1; p2 stand; p3 stand";
    let hand = table(
        (&scene, &["s1 b1", "s1 b1", "s6 b2"]),
        when,
        "p1 eliminated; p2 eliminated; p3 eliminated; p1 wins credits 188; p2 wins credits 187; \
         stacks 563 562 375",
        "0+0 0+0 0+0",
    );
    assert_eq!(ranks(&hand), "pair 1, pair 1, diff 4 sum 8");
}

/// rules/SPEC.md R-66.
#[test]
fn after_the_last_round_the_pot_goes_to_those_with_most_chips() {
    let scene = kessel("max_rounds=1,tokens=assigned,assigned_tokens=free-draw+refund+immunity", 3);
    table(
        (&scene, &["s1 b1", "s2 b2", "s3 b4"]),
        "p1 p2 p3 stand",
        "p1 wins credits 360; stacks 1240 880 880",
        "8+0 7+0 7+0",
    );
    let tie = "p1 wins credits 180; p2 wins credits 180; stacks 1060 1060 880";
    table((&scene, &["s1 b1", "s1 b1", "s3 b4"]), "p1 p2 p3 stand", tie, "8+0 8+0 7+0");
    // The winner of the round has no advantage.
    let taxed =
        kessel("max_rounds=1,tokens=assigned,assigned_tokens=target-tariff+refund+immunity", 2);
    let when = "p1 stand; p2 token target-tariff p1; p2 stand";
    table((&taxed, &["s1 b1", "s2 b2"]), when, "p2 wins credits 240; stacks 880 1120", "6+0 7+0");
}

/// rules/SPEC.md §12.7, R-20.
#[test]
fn the_pot_is_raked_as_one_contested_layer() {
    let scene = kessel("rake_bps=1000,max_rounds=1", 2);
    let tokens = "d tokens p1 refund embargo immunity; d tokens p2 refund embargo immunity;";
    let all = format!("{tokens} {} p1 p2 stand", begin(&["s1 b1", "s2 b2"]));
    check(&scene, &all, "p1 wins credits 216; rake 24; stacks 1096 880");
    let capped = kessel("rake_bps=1000,rake_cap=5,max_rounds=1", 2);
    check(&capped, &all, "p1 wins credits 235; rake 5; stacks 1115 880");
    let left = format!("{tokens} {} p2 leave", begin(&["s1 b1", "s2 b2"]));
    check(&scene, &left, "p1 wins credits 240; stacks 1120 880");
}

// Impostors.

/// rules/SPEC.md §12.6, R-63.
#[test]
fn all_impostors_roll_before_anybody_chooses() {
    let given = (&kessel(PLAIN, 3), ["sI bI", "s1 b2", "s4 bI"].as_slice());
    let rolls = "p1 p2 p3 stand; d roll p1 sI 3 4; d roll p1 bI 4 5;";
    table(given, "p1 p2 p3 stand", "d: roll p1 sI, roll p1 bI, roll p3 bI", "8+0 8+0 8+0");
    table(
        given,
        "p1 p2 p3 stand; d roll p1 bI 3 4",
        "refused: `d roll p1 sI` is due",
        "8+0 8+0 8+0",
    );
    table(given, rolls, "d: roll p3 bI", "8+0 8+0 8+0");
    let rolled = format!("{rolls} d roll p3 bI 4 6;");
    table(given, &rolled, "p1: impostor sI 3|4", "8+0 8+0 8+0");
    table(
        given,
        &format!("{rolled} p1 impostor sI 5"),
        "refused: must be one of those",
        "8+0 8+0 8+0",
    );
    table(
        given,
        &format!("{rolled} p1 impostor bI 4"),
        "refused: must be one of those",
        "8+0 8+0 8+0",
    );
    table(given, &format!("{rolled} p1 impostor sI 3"), "p1: impostor bI 4|5", "8+0 8+0 8+0");
    let chosen = format!("{rolled} p1 impostor sI 4; p1 impostor bI 4;");
    table(given, &chosen, "p3: impostor bI 4|6", "8+0 8+0 8+0");
    let over = format!("{chosen} p3 impostor bI 4");
    // Impostor pairs equal natural ones: p1 and p3 win together.
    let hand = table(given, &over, "d: flip, deal p1, deal p2, deal p3", "8+0 7+0 8+0");
    assert_eq!(revealed(&hand, "p1"), Some("sI bI: pair 4".into()));
}

#[test]
fn a_sylop_copies_the_value_of_an_impostor() {
    let given = (&kessel(PLAIN, 2), ["sI bY", "s1 b1"].as_slice());
    let hand = table(given, "p1 p2 stand; d roll p1 sI 1 2; p1 impostor sI 2", NEXT, "7+0 8+0");
    assert_eq!(revealed(&hand, "p1"), Some("sI bY: pair 2".into()));
    table(given, "p1 p2 stand; d roll p1 sI 1 2; p1 impostor sI 1", NEXT, "8+0 8+0");
}

/// rules/SPEC.md §6.2.
#[test]
fn the_clock_takes_the_die_that_serves_the_hand_best() {
    let fixes = "tokens=assigned,assigned_tokens=cook-the-books+markdown+prime-sabacc";
    let best = |hands: [&str; 2], when: &str, die: &str| {
        let (hand, refused) =
            played(kessel(fixes, 2).start().unwrap(), &format!("{} {when}", begin(&hands)));
        assert_eq!(refused, None);
        assert_eq!(default_move(&hand), die, "{}", report(&hand));
    };
    best(["sI b4", "s1 b1"], "p1 p2 stand; d roll p1 sI 1 3", "impostor sI 3");
    best(["sI b4", "s1 b1"], "p1 p2 stand; d roll p1 sI 5 3", "impostor sI 3");
    best(["sI b4", "s1 b1"], "p1 p2 stand; d roll p1 sI 2 2", "impostor sI 2");
    best(["sI bY", "s1 b1"], "p1 p2 stand; d roll p1 sI 6 2", "impostor sI 2");
    let cook = "p1 token cook-the-books; p1 p2 stand;";
    best(["sI bY", "s1 b1"], &format!("{cook} d roll p1 sI 6 2"), "impostor sI 6");
    let prime = "p1 token prime-sabacc; d roll 5 1; p1 prime 5; p1 p2 stand;";
    best(["sI bY", "s1 b1"], &format!("{prime} d roll p1 sI 2 5"), "impostor sI 5");
    let down = "p1 token markdown; p1 p2 stand;";
    best(["sI bY", "s1 b1"], &format!("{down} d roll p1 sI 6 2"), "impostor sI 2");
    // The values of two Impostors of one hand are chosen together, as long as both are open.
    let both = "p1 p2 stand; d roll p1 sI 1 5; d roll p1 bI 3 5;";
    best(["sI bI", "s1 b1"], both, "impostor sI 5");
    best(["sI bI", "s1 b1"], &format!("{both} p1 impostor sI 5"), "impostor bI 5");
    best(["sI bI", "s1 b1"], &format!("{both} p1 impostor sI 1"), "impostor bI 3");
}

// Hidden choices.

/// rules/SPEC.md §3.5, R-63.
#[test]
fn choices_are_secret_until_all_have_chosen() {
    let when =
        format!("{} p1 p2 stand; d roll p1 sI 3 4; d roll p2 bI 4 5;", begin(&["sI b1", "s3 bI"]));
    let (hand, refused) = played(kessel(PLAIN, 2).start().unwrap(), &when);
    assert_eq!(refused, None);
    let of = |name: &str| Viewer::Player(rules::Player::parse(name).unwrap());
    let seen = |hand: &rules::Hand, line: &str, viewer| {
        let event = notation::read(hand, line).unwrap();
        censor(hand, &event, viewer).unwrap().to_string()
    };
    let line = "p1 impostor sI 3";
    assert_eq!(seen(&hand, line, Viewer::Public), "p1 impostor sI ??");
    assert_eq!(seen(&hand, line, of("p2")), "p1 impostor sI ??");
    assert_eq!(seen(&hand, line, of("p1")), line);
    assert_eq!(seen(&hand, line, Viewer::Auditor), line);
    let (hand, _) = played(hand, line);
    let value = |viewer| state(&hand, viewer).players[0].impostors[0].value;
    assert_eq!([value(Viewer::Public), value(of("p2"))], [None, None]);
    assert_eq!(value(of("p1")), Some(3));
    assert_eq!(state(&hand, Viewer::Public).players[1].impostors[0].dice, [4, 5]);
    assert_eq!(seen(&hand, "p2 impostor bI 4", Viewer::Public), "p2 impostor bI 4");
    let (hand, _) = played(hand, "p2 impostor bI 4");
    assert_eq!(revealed(&hand, "p1"), Some("sI b1: diff 2 sum 4".into()));
    assert_eq!(chips(&hand), "6+0 8+0");
}

#[test]
fn hands_are_shown_from_the_reveal_to_the_next_shuffle() {
    let (hand, _) = played(
        kessel(PLAIN, 2).start().unwrap(),
        &format!("{} p1 stand", begin(&["s1 b1", "s3 b4"])),
    );
    assert!(hand.players().all(|player| !hand.is_shown(player)));
    let mut hand = hand;
    let event = notation::read(&hand, "p2 stand").unwrap();
    rules::evolve(&mut hand, &event);
    assert!(matches!(hand.due(), Some(rules::Chance::Shuffle { .. })));
    for player in hand.players() {
        assert!(hand.is_shown(player));
        assert_eq!(hand.cards_of(player).len(), 2);
    }
    rules::play::apply_due_shuffles(&mut hand);
    for player in hand.players() {
        assert!(!hand.is_shown(player));
        assert!(hand.cards_of(player).is_empty());
    }
}

#[test]
fn the_final_hand_of_the_eliminated_is_the_one_they_went_out_with() {
    let scene = kessel("chips=4,tokens=assigned,assigned_tokens=free-draw+refund+immunity", 3);
    let second = deal(&[("p1", "s6 b1"), ("p2", "s2 b2")]);
    let when = format!("p1 p2 p3 stand; d roll p3 sI 1 1; p3 impostor sI 1; {second} p2 p1 stand");
    let end = "p3 eliminated; p1 eliminated; p2 wins credits 180; stacks 940 1120 940";
    let hand = table((&scene, &["s1 b1", "s2 b2", "sI b5"]), &when, end, "0+0 3+0 0+0");
    assert_eq!(ranks(&hand), "diff 5 sum 7, pair 2, diff 4 sum 6");
    let finals = &hand.settlement().unwrap().hands;
    let codes: Vec<&str> = finals[2].cards.iter().map(|card| rules::K44.code(*card)).collect();
    assert_eq!(codes, ["sI", "b5"]);
    // The hand is not among those shown at the end: its cards were dealt again.
    let third = hand.players().nth(2).unwrap();
    assert!(!hand.is_shown(third));
    assert!(hand.cards_of(third).is_empty());
}
