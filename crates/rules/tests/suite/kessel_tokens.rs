//! Kessel: effects of the sixteen tokens, and cases in which they may not be played.

use rules::{ShiftToken, Viewer, censor, notation};

use crate::kessel::{DRAWS, PLAIN, deal, default_move, kessel, place, revealed, table, tokens};
use crate::scene::{Scene, check};

const NEXT: &str = "d: flip, deal p1, deal p2";
const HANDS: &[&str] = &["s1 b1", "s2 b2"];
const THREE: &[&str] = &["s1 b1", "s2 b2", "s3 b3"];

/// rules/SPEC.md §12.3.
#[test]
fn one_token_a_turn_before_the_action_each_once_a_game() {
    let scene = kessel("tokens=assigned,assigned_tokens=general-tariff+immunity+markdown", 2);
    let given = (&scene, HANDS);
    let token = "p1 token general-tariff;";
    table(given, token, &format!("p1: {DRAWS}, stand"), "8+0 7+0");
    table(
        given,
        &format!("{token} p1 token immunity"),
        "refused: `token` is not legal here",
        "8+0 7+0",
    );
    let drawn = "p1 draw sand-discard; p1 token immunity";
    table(given, drawn, "refused: `token` is not legal here", "7+1 8+0");
    let again =
        format!("{token} p1 stand; p2 draw sand-discard; p2 discard s6; p1 token general-tariff");
    table(given, &again, "refused: must be one of those listed", "8+0 6+1");
    table(given, "p1 token refund", "refused: must be one of those listed", "8+0 8+0");
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2")]);
    let next_round = format!("{token} p1 p2 stand; {second} p2 stand; p1 token general-tariff");
    table(given, &next_round, "refused: must be one of those listed", "8+0 6+0");
    let hand = table(given, token, &format!("p1: {DRAWS}, stand"), "8+0 7+0");
    assert_eq!(place(&hand, "p1").played[..], [ShiftToken::GeneralTariff]);
    assert_eq!(place(&hand, "p1").tokens_left, 2);
}

/// rules/SPEC.md §12.2, R-53: three names for each player in turn from p1, in one flat list.
#[test]
fn each_player_has_the_tokens_that_are_assigned_to_them() {
    let scene = kessel(
        "tokens=assigned,assigned_tokens=general-tariff+immunity+markdown+refund+embargo+immunity",
        2,
    );
    let given = (&scene, HANDS);
    let legal = &format!("p1: {DRAWS}, stand");
    table(given, "p1 token general-tariff", legal, "8+0 7+0");
    let other = "refused: must be one of those listed";
    table(given, "p1 token embargo", other, "8+0 8+0");
    table(given, "p1 stand; p2 token general-tariff", other, "8+0 8+0");
    let second = "p1 token immunity; p1 stand; p2 token immunity";
    table(given, second, &format!("p2: {DRAWS}, stand"), "8+0 8+0");
}

// Stock.

/// rules/SPEC.md §12.5.
#[test]
fn free_draw_pays_no_fee_this_turn() {
    let given = (&kessel(PLAIN, 2), HANDS);
    let next = format!("p2: {DRAWS}, stand, token free-draw, token immunity");
    let free = "p1 token free-draw; p1 draw sand-discard; p1 discard s6;";
    table(given, free, &next, "8+0 8+0");
    // Spent by a stand too, and gone with the turn.
    let later = "p1 token free-draw; p1 stand; p2 draw sand-discard; p2 discard s6;
        p1 draw sand-discard";
    table(given, later, "p1: discard s1|s6", "7+1 7+1");
}

/// rules/SPEC.md R-58.
#[test]
fn refunds_come_from_ones_own_hand_pot_and_are_illegal_without() {
    let scene = kessel("tokens=assigned,assigned_tokens=refund+extra-refund+immunity", 2);
    let given = (&scene, HANDS);
    table(given, "p1 token refund", "refused: must be one of those listed", "8+0 8+0");
    table(given, "p1 token extra-refund", "refused: must be one of those listed", "8+0 8+0");
    let lap = "p1 draw sand-discard; p1 discard s6; p2 stand;";
    let after = format!("p1: {DRAWS}, stand");
    table(given, &format!("{lap} p1 token refund"), &after, "8+0 8+0");
    table(given, &format!("{lap} p1 token extra-refund"), &after, "8+0 8+0");
    table(given, &format!("{lap} {lap} p1 token refund"), &after, "8+0 8+0");
    let rich = kessel("tokens=assigned,assigned_tokens=embezzlement+refund+extra-refund", 3);
    let pots = "p1 draw sand-discard; p1 discard s6; p2 draw sand-discard; p2 discard s6;
        p3 token embezzlement; p3 draw sand-discard; p3 discard s6;
        p1 draw sand-discard; p1 discard s6; p2 draw sand-discard; p2 discard s6;";
    let p3 = format!("p3: {DRAWS}, stand, token refund, token extra-refund");
    table((&rich, THREE), pots, &p3, "6+1 6+1 7+3");
    table(
        (&rich, THREE),
        &format!("{pots} p3 token refund"),
        &format!("p3: {DRAWS}, stand"),
        "6+1 6+1 9+1",
    );
    table(
        (&rich, THREE),
        &format!("{pots} p3 token extra-refund"),
        &format!("p3: {DRAWS}, stand"),
        "6+1 6+1 10+0",
    );
}

/// rules/SPEC.md §12.5, R-62.
#[test]
fn embezzlement_takes_a_chip_of_every_other_hand_pot_into_ones_own() {
    let scene = kessel("tokens=assigned,assigned_tokens=embezzlement+refund+immunity", 3);
    let given = (&scene, THREE);
    let nothing = "p1 token embezzlement";
    table(given, nothing, &format!("p1: {DRAWS}, stand"), "8+0 8+0 8+0");
    let invest = "p1 draw sand-discard; p1 discard s6; p2 draw sand-discard; p2 discard s6;";
    let hand = table(
        given,
        &format!("{invest} p3 token embezzlement"),
        &format!("p3: {DRAWS}, stand"),
        "7+0 7+0 8+2",
    );
    assert_eq!(place(&hand, "p3").tokens_left, 2);
    // Taken chips are invested: the loser of the round loses them.
    let over = format!("{invest} p3 token embezzlement; p3 stand; p1 p2 p3 stand");
    table(given, &over, "d: flip, deal p1, deal p2, deal p3", "7+0 6+0 7+0");
    let immune = "p1 token immunity; p1 draw sand-discard; p1 discard s6; p2 draw sand-discard;
        p2 discard s6; p3 token embezzlement";
    table(given, immune, &format!("p3: {DRAWS}, stand"), "7+1 7+0 8+1");
}

// Tax.

/// rules/SPEC.md §12.5, R-62.
#[test]
fn tariffs_tax_the_stocks_of_others_for_good() {
    let scene =
        kessel("chips=4,tokens=assigned,assigned_tokens=general-tariff+target-tariff+immunity", 3);
    let given = (&scene, THREE);
    let action = |player: &str| format!("{player}: {DRAWS}, stand");
    table(given, "p1 token general-tariff", &action("p1"), "4+0 3+0 3+0");
    table(given, "p1 token target-tariff p3", &action("p1"), "4+0 4+0 2+0");
    table(
        given,
        "p1 token target-tariff p1",
        "refused: must be one of those listed",
        "4+0 4+0 4+0",
    );
    table(given, "p1 token target-tariff", "refused: must be one of those listed", "4+0 4+0 4+0");
    table(
        given,
        "p1 token target-tariff p4",
        "refused: must be one of those listed",
        "4+0 4+0 4+0",
    );
    table(
        given,
        "p1 token general-tariff p2",
        "refused: must be one of those listed",
        "4+0 4+0 4+0",
    );
    // At most the stock, and spent on an empty one; hand pots are not touched.
    let twice = "p1 draw sand-discard; p1 discard s6; p2 token target-tariff p1; p2 stand;
        p3 token target-tariff p1; p3 stand;";
    let all = "p1: stand, token general-tariff, token target-tariff p2|p3, token immunity";
    table(given, twice, all, "0+1 4+0 4+0");
    let thrice = format!("{twice} p1 stand; p2 token general-tariff;");
    table(given, &thrice, &action("p2"), "0+1 4+0 3+0");
}

/// rules/SPEC.md.
#[test]
fn audits_tax_those_whose_latest_action_of_this_round_is_a_stand() {
    let scene = kessel("tokens=assigned,assigned_tokens=general-audit+target-audit+immunity", 3);
    let given = (&scene, THREE);
    // Before the first action no player counts as standing.
    let start = format!("p1: {DRAWS}, stand, token general-audit, token immunity");
    table(given, "", &start, "8+0 8+0 8+0");
    table(given, "p1 token general-audit", &format!("p1: {DRAWS}, stand"), "8+0 8+0 8+0");
    let stood = "p1 stand; p2 stand;";
    let action = |player: &str| format!("{player}: {DRAWS}, stand");
    let p3 =
        format!("{}, token general-audit, token target-audit p1|p2, token immunity", action("p3"));
    table(given, stood, &p3, "8+0 8+0 8+0");
    table(given, &format!("{stood} p3 token general-audit"), &action("p3"), "6+0 6+0 8+0");
    table(given, &format!("{stood} p3 token target-audit p2"), &action("p3"), "8+0 5+0 8+0");
    // A player who draws later no longer counts as standing, and a standing player is not taxed by
    // their own audit.
    let moved = "p1 stand; p2 stand; p3 draw sand-discard; p3 discard s6;
        p1 draw sand-discard; p1 discard s6;";
    table(given, &format!("{moved} p2 token general-audit"), &action("p2"), "7+1 8+0 7+1");
    table(
        given,
        &format!("{moved} p2 token target-audit p1"),
        "refused: must be one of those listed",
        "7+1 8+0 7+1",
    );
    // A new round begins with no player standing.
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2"), ("p3", "s3 b3")]);
    let next = format!("p1 p2 p3 stand; {second}");
    table(given, &next, &start.replace("p1:", "p2:"), "8+0 7+0 7+0");
}

// Fix.

fn fix(tokens: &'static str) -> Scene {
    kessel(tokens, 2)
}

/// rules/SPEC.md §12.5.
#[test]
fn prime_sabacc_rolls_two_dice_and_takes_one_of_them() {
    let scene = fix("tokens=assigned,assigned_tokens=prime-sabacc+markdown+major-fraud");
    let given = (&scene, ["s1 b1", "s2 b2"].as_slice());
    let rolled = "p1 token prime-sabacc; d roll 2 5;";
    table(given, "p1 token prime-sabacc", "d: roll", "8+0 8+0");
    let hand = table(given, rolled, "p1: prime 2|5", "8+0 8+0");
    assert_eq!(default_move(&hand), "prime 2", "the first die");
    table(given, "p1 token prime-sabacc; d roll 2 7", "refused: 2 dice of 6 sides", "8+0 8+0");
    table(
        given,
        &format!("{rolled} p1 prime 3"),
        "refused: must be one of those listed",
        "8+0 8+0",
    );
    table(given, &format!("{rolled} p1 stand"), "refused: `stand` is not legal here", "8+0 8+0");
    table(given, &format!("{rolled} p1 prime 2"), &format!("p1: {DRAWS}, stand"), "8+0 8+0");
    // It holds for every holder.
    table(given, &format!("{rolled} p1 prime 2; p1 p2 stand"), NEXT, "7+0 8+0");
    // A later Prime replaces it.
    let later = format!("{rolled} p1 prime 2; p1 stand; p2 token prime-sabacc; d roll 4 4;");
    table(given, &later, "p2: prime 4", "8+0 8+0");
    table(given, &format!("{later} p2 prime 4; p2 stand"), NEXT, "8+0 7+0");
    let pure = (&scene, ["sY bY", "s2 b2"].as_slice());
    let hand = table(pure, &format!("{rolled} p1 prime 2; p1 p2 stand"), NEXT, "8+0 7+0");
    assert_eq!(revealed(&hand, "p2"), Some("s2 b2: prime 2".into()));
}

/// rules/SPEC.md §12.5.
#[test]
fn fixes_end_with_the_round() {
    let scene = fix("tokens=assigned,assigned_tokens=prime-sabacc+cook-the-books+major-fraud");
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2")]);
    let when = format!(
        "p1 token prime-sabacc; d roll 2 5; p1 prime 2; p1 stand; p2 token cook-the-books; p2 stand; {second} p2 p1 stand"
    );
    table((&scene, HANDS), &when, NEXT, "7+0 7+0");
}

/// rules/SPEC.md §12.4, R-59.
#[test]
fn cook_the_books_inverts_pairs_and_is_illegal_twice_in_a_round() {
    let scene = fix("tokens=assigned,assigned_tokens=cook-the-books+markdown+immunity");
    let cook = "p1 token cook-the-books;";
    let pays = |hands: &[&str], left: &str| {
        table((&scene, hands), &format!("{cook} p1 p2 stand"), NEXT, left);
    };
    pays(&["s1 b1", "s2 b2"], "7+0 8+0");
    pays(&["s6 b6", "s2 b2"], "8+0 7+0");
    pays(&["sY bY", "s2 b2"], "7+0 8+0");
    pays(&["sY bY", "s2 b3"], "8+0 7+0");
    pays(&["s1 b2", "s2 b4"], "8+0 6+0");
    let twice = format!("{cook} p1 stand; p2 token cook-the-books");
    table((&scene, HANDS), &twice, "refused: must be one of those listed", "8+0 8+0");
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2")]);
    let again = format!("{cook} p1 p2 stand; {second} p2 token cook-the-books; p2 p1 stand");
    table((&scene, HANDS), &again, NEXT, "6+0 8+0");
}

/// rules/SPEC.md R-57.
#[test]
fn markdown_two_sylops_lowest_pair() {
    let scene = fix("tokens=assigned,assigned_tokens=cook-the-books+markdown+immunity");
    let pays = |hands: &[&str], left: &str| {
        table((&scene, hands), "p1 token markdown; p1 p2 stand", NEXT, left)
    };
    let hand = pays(&["sY bY", "s6 b6"], "7+0 8+0");
    assert_eq!(revealed(&hand, "p1"), Some("sY bY: pair 0".into()));
    pays(&["sY bY", "s1 b2"], "8+0 7+0");
    let hand = pays(&["sY b4", "s1 b2"], "4+0 8+0");
    assert_eq!(revealed(&hand, "p1"), Some("sY b4: diff 4 sum 4".into()));
    pays(&["sY b1", "s1 b2"], "8+0 7+0");
    let cook = "p1 token markdown; p1 stand; p2 token cook-the-books; p2 stand";
    table((&scene, &["sY bY", "s1 b1"]), cook, NEXT, "7+0 8+0");
    table((&scene, &["sY bY", "s1 b2"]), cook, NEXT, "8+0 7+0");
    // An Impostor with a Sylop still rolls, and the Sylop does not copy it.
    let rolls = "p1 token markdown; p1 p2 stand; d roll p1 bI 3 5; p1 impostor bI 3";
    table((&scene, &["sY bI", "s1 b1"]), rolls, NEXT, "5+0 8+0");
}

/// rules/SPEC.md R-63.
#[test]
fn major_fraud_makes_impostors_sixes_without_dice_also_those_drawn_later() {
    let scene = fix("tokens=assigned,assigned_tokens=major-fraud+markdown+immunity");
    let fraud = "p1 token major-fraud; p1 p2 stand";
    let shows = |hands: &[&str], when: &str, left: &str, rank: &str| {
        let hand = table((&scene, hands), when, NEXT, left);
        assert_eq!(revealed(&hand, "p1"), Some(rank.into()));
    };
    shows(&["sI bI", "s1 b1"], fraud, "7+0 8+0", "sI bI: pair 6");
    shows(&["sI bY", "s1 b1"], fraud, "7+0 8+0", "sI bY: pair 6");
    shows(&["sI b2", "s1 b1"], fraud, "4+0 8+0", "sI b2: diff 4 sum 8");
    let drawn =
        "p1 token major-fraud; p1 draw blood; d deal p1 bI; p1 discard b2; p2 stand; p1 p2 stand";
    shows(&["s6 b2", "s1 b1"], drawn, "6+0 8+0", "s6 bI: pair 6");
    let both = "p1 token major-fraud; p1 stand; p2 token markdown; p2 stand";
    shows(&["sI bY", "s1 b1"], both, "2+0 8+0", "sI bY: diff 6 sum 6");
}

/// rules/SPEC.md §3.5.
#[test]
fn drafts_and_dealt_tokens_are_hidden_and_their_counts_are_not() {
    let player = |name: &str| Viewer::Player(rules::Player::parse(name).unwrap());
    let seen = |scene: &Scene, line: &str, viewer| {
        let hand = scene.start().unwrap();
        let event = notation::read(&hand, line).unwrap();
        censor(&hand, &event, viewer).unwrap().to_string()
    };
    let draft = kessel("tokens=chosen", 2);
    let line = "p1 choose refund embargo immunity";
    assert_eq!(seen(&draft, line, Viewer::Public), "p1 choose ?? ?? ??");
    assert_eq!(seen(&draft, line, player("p2")), "p1 choose ?? ?? ??");
    assert_eq!(seen(&draft, line, player("p1")), line);
    let random = kessel("", 2);
    let line = "d tokens p1 refund embargo immunity";
    assert_eq!(seen(&random, line, Viewer::Public), "d tokens p1 ?? ?? ??");
    assert_eq!(seen(&random, line, player("p1")), line);
    let hand = check(&random, line, "d: tokens p2, starter, , , flip, deal p1, deal p2");
    assert_eq!(place(&hand, "p1").tokens_left, 3);
    assert_eq!(tokens(&hand, Viewer::Public, "p1"), "");
    assert_eq!(tokens(&hand, player("p2"), "p1"), "");
    assert_eq!(tokens(&hand, player("p1"), "p1"), "refund embargo immunity");
}
