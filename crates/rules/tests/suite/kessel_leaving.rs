//! Kessel: a player who leaves is out at once.

use rules::Viewer;

use crate::kessel::{
    DRAWS, PLAIN, begin, deal, default_move, discards, kessel, revealed, state, table,
};
use crate::scene::{check, played, ranks, report};

const THREE: &[&str] = &["s1 b1", "s2 b2", "s3 b4"];

/// rules/SPEC.md §12.8, R-67.
#[test]
fn leaving_forfeits_at_once_and_without_a_line() {
    let given = (&kessel(PLAIN, 3), THREE);
    let p2 = format!("p2: {DRAWS}, stand, token free-draw, token immunity");
    let hand = table(given, "p1 leave", &p2, "0+0 8+0 8+0");
    assert!(hand.lines().is_empty());
    assert_eq!(revealed(&hand, "p1"), None);
    // Out of turn: the turn stays, with fewer targets.
    let taxes = kessel("tokens=assigned,assigned_tokens=target-tariff+refund+immunity", 3);
    let p1 = format!("p1: {DRAWS}, stand, token target-tariff p3, token immunity");
    table((&taxes, THREE), "p2 leave", &p1, "8+0 0+0 8+0");
    table(given, "p1 leave; p1 leave", "refused: p1 has already left", "0+0 8+0 8+0");
    check(given.0, "p1 leave", "refused: the dealer is due");
    // The leaver has no part in the reveal and pays nothing.
    let over = "p3 leave; p1 p2 stand";
    let hand = table(given, over, "d: flip, deal p1, deal p2", "8+0 7+0 0+0");
    assert!(!hand.is_shown(hand.players().nth(2).unwrap()));
}

/// rules/SPEC.md §12.8.
#[test]
fn one_player_left_wins_the_pot_at_once_even_with_stock_0() {
    let scene =
        kessel("chips=4,tokens=assigned,assigned_tokens=target-audit+target-tariff+refund", 2);
    let when = "p1 stand; p2 token target-audit p1; p2 draw sand-discard; p2 discard s6; p1 stand;
        p2 token target-tariff p1;";
    let end = "p1 wins credits 120; stacks 1060 940";
    let hand = table((&scene, &["s1 b1", "s2 b2"]), &format!("{when} p2 leave"), end, "0+0 0+0");
    assert_eq!(ranks(&hand), "-, left");
    assert!(hand.players().all(|player| !hand.is_shown(player)));
    let finals = &hand.settlement().unwrap().hands;
    assert!(finals.iter().all(|hand| hand.cards.len() == 2));
    let all = "p1 leave; p3 leave";
    table(
        (&kessel(PLAIN, 3), THREE),
        all,
        "p2 wins credits 360; stacks 880 1240 880",
        "0+0 8+0 0+0",
    );
}

/// rules/SPEC.md R-67.
#[test]
fn leaving_changes_nothing_for_the_eliminated() {
    let scene = kessel("chips=4,tokens=assigned,assigned_tokens=free-draw+refund+immunity", 3);
    let second = deal(&[("p2", "s1 b1"), ("p3", "s2 b2")]);
    let gone = format!("p1 p2 p3 stand; {second} p1 leave;");
    let p2 = format!("p2: {DRAWS}, stand, token free-draw, token immunity");
    table((&scene, &["s1 b6", "s2 b2", "s3 b3"]), &gone, &p2, "0+0 4+0 3+0");
    let end = "p1 eliminated; p2 wins credits 180; stacks 940 1120 940";
    let over = format!("{gone} p3 leave");
    let hand = table((&scene, &["s1 b6", "s2 b2", "s3 b3"]), &over, end, "0+0 4+0 0+0");
    assert_eq!(ranks(&hand), "diff 5 sum 7, -, left");
}

/// rules/SPEC.md R-67.
#[test]
fn the_lap_goes_on_from_the_leavers_place() {
    let given = (&kessel(PLAIN, 4), ["s1 b1", "s2 b2", "s3 b3", "s4 b4"].as_slice());
    let of = |player: &str| format!("{player}: {DRAWS}, stand, token free-draw, token immunity");
    let draw = |player: &str| format!("{player} draw sand-discard; {player} discard s6;");
    // The starter leaves after their turn: the next lap starts with the next live player.
    let when = format!("{} p1 leave; p2 stand; p3 stand; p4 stand;", draw("p1"));
    let over = "d: flip, deal p2, deal p3, deal p4";
    table(given, &when, over, "0+0 8+0 7+0 7+0");
    let when = format!("{} p1 leave; {} p3 stand; p4 stand;", draw("p1"), draw("p2"));
    let next =
        of("p2").replace("free-draw, token immunity", "free-draw, token refund, token immunity");
    let hand = table(given, &when, &next, "0+0 7+1 8+0 8+0");
    assert_eq!(state(&hand, Viewer::Public).lap, 2);
    // The last player of a lap leaves in their turn: all live players have stood.
    table(
        given,
        "p1 p2 p3 stand; p4 leave",
        "d: flip, deal p1, deal p2, deal p3",
        "8+0 7+0 7+0 0+0",
    );
    // In the middle of a draw.
    table(
        given,
        "p1 p2 p3 stand; p4 draw sand; d deal p4 s1; p4 leave",
        "d: flip, deal p1, deal p2, deal p3",
        "8+0 7+0 7+0 0+0",
    );
    // The next round starts clockwise from the player who left.
    let second = deal(&[("p2", "s2 b2"), ("p3", "s3 b3"), ("p4", "s4 b4")]);
    table(given, &format!("p1 leave; p2 p3 p4 stand; {second}"), &of("p2"), "0+0 8+0 7+0 7+0");
}

/// rules/SPEC.md §12.8.
#[test]
fn a_leavers_cards_are_out_of_play_till_the_next_shuffle() {
    let scene = kessel(PLAIN, 3);
    let hands = ["s1 b1", "sY b2", "s3 b4"];
    let when = format!("{} p2 leave; p1 draw sand;", begin(&hands));
    check(&scene, &format!("{when} d deal p1 sY"), "refused: card 1 of the deal cannot be there");
    let second = deal(&[("p1", "sY b1"), ("p3", "s2 b2")]);
    let next = format!("{} p2 leave; p1 p3 stand; {second}", begin(&hands));
    check(&scene, &next, &format!("p3: {DRAWS}, stand, token free-draw, token immunity"));
    // A top discard that the leaver took is gone with the leaver: the pile is empty.
    let taken = format!("{} p1 draw sand-discard; p1 leave", begin(&hands));
    let no_sand = DRAWS.replace(", draw sand-discard", "");
    let hand =
        check(&scene, &taken, &format!("p2: {no_sand}, stand, token free-draw, token immunity"));
    assert_eq!(discards(&hand)[0], None);
}

/// rules/SPEC.md R-60.
#[test]
fn an_embargo_on_a_leaver_lapses() {
    let scene = kessel("tokens=assigned,assigned_tokens=embargo+refund+immunity", 3);
    let p3 = format!("p3: {DRAWS}, stand, token embargo, token immunity");
    table((&scene, THREE), "p1 token embargo; p1 stand; p2 leave", &p3, "8+0 0+0 8+0");
    table((&scene, THREE), "p1 token embargo; p2 leave; p1 stand", &p3, "8+0 0+0 8+0");
    // An embargo that a leaver played stays.
    let p2 = "p2: stand, token embargo, token immunity";
    table((&scene, THREE), "p1 token embargo; p1 leave", p2, "0+0 8+0 8+0");
    // After the last player leaves, nobody follows p2 in the third lap.
    let lap = "p1 draw sand-discard; p1 discard s6; p2 stand; p3 stand;";
    let last = format!("{lap} {lap} p1 stand; p3 leave; p2 token embargo");
    table((&scene, THREE), &last, "refused: must be one of those listed", "6+2 8+0 0+0");
}

/// rules/SPEC.md.
#[test]
fn leaving_in_the_draft_or_between_dice_and_choice() {
    let scene = kessel("tokens=chosen", 3);
    let choose = "choose refund embargo prime-sabacc";
    let hand = check(
        &scene,
        &format!("p1 leave; p2 {choose}; p3 {choose}"),
        "d: starter, , , flip, deal p2, deal p3",
    );
    // The starter is one of the live players.
    let (_, refused) = played(hand.clone(), "d starter p1");
    assert_eq!(refused.as_deref(), Some("d starter p1: `d starter` is due"));
    let (hand, refused) = played(hand, "d starter p3");
    assert_eq!(refused, None);
    let event = rules::notation::read(&played(hand, "").0, "d flip s1 b1");
    assert!(event.is_ok());
    let started = format!(
        "p1 leave; p2 {choose}; p3 {choose}; d starter p3; {}",
        deal(&[("p2", "s1 b1"), ("p3", "s2 b2")])
    );
    let hand =
        check(&scene, &started, &format!("p3: {DRAWS}, stand, token embargo, token prime-sabacc"));
    assert_eq!(default_move(&hand), "stand");
    check(&scene, "p2 leave; p3 leave", "p1 wins credits 360; stacks 1240 880 880");
    check(
        &scene,
        &format!("p2 leave; p1 {choose}; p3 {choose}"),
        "d: starter, , , flip, deal p1, deal p3",
    );
    // A Prime that was rolled and not chosen has no effect.
    let prime = format!("{started} p3 token prime-sabacc; d roll 1 2;");
    let hand =
        check(&scene, &format!("{prime} p3 leave"), "p2 wins credits 360; stacks 880 1240 880");
    assert_eq!(ranks(&hand), "left, -, left");
}

/// rules/SPEC.md R-67.
#[test]
fn leaving_among_the_choices_of_impostors() {
    let given = (&kessel(PLAIN, 3), ["sI b1", "s2 bI", "sI bI"].as_slice());
    let rolled =
        "p1 p2 p3 stand; d roll p1 sI 1 2; d roll p2 bI 2 3; d roll p3 sI 1 2; d roll p3 bI 1 1;";
    table(given, &format!("{rolled} p1 leave"), "p2: impostor bI 2|3", "0+0 8+0 8+0");
    table(given, &format!("{rolled} p3 leave"), "p1: impostor sI 1|2", "8+0 8+0 0+0");
    let next = "d: flip, deal p1, deal p2";
    table(
        given,
        &format!("{rolled} p3 leave; p1 impostor sI 1; p2 impostor bI 2"),
        next,
        "8+0 7+0 0+0",
    );
    // Open choices go with their player.
    table(
        given,
        &format!("{rolled} p1 impostor sI 2; p2 impostor bI 2; p3 leave"),
        next,
        "7+0 8+0 0+0",
    );
    let alone = format!("{rolled} p1 leave; p3 leave");
    let hand = table(given, &alone, "p2 wins credits 360; stacks 880 1240 880", "0+0 8+0 0+0");
    assert_eq!(ranks(&hand), "left, -, left");
    assert!(report(&hand).ends_with("880"));
}
