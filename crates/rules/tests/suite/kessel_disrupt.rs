//! Kessel: the disrupt tokens, and immunity to other players' tokens.

use rules::{K44, ShiftToken, Viewer, censor, notation};

use crate::kessel::{DRAWS, begin, deal, discards, kessel, place, table};
use crate::scene::played;

const NEXT: &str = "d: flip, deal p1, deal p2";
const HANDS: &[&str] = &["s1 b1", "s2 b2"];
const THREE: &[&str] = &["s1 b1", "s2 b2", "s3 b3"];

fn held(hand: &rules::Hand) -> String {
    let codes = |cards: &[rules::Card]| {
        cards.iter().map(|card| K44.code(*card)).collect::<Vec<_>>().join(" ")
    };
    hand.players().map(|player| codes(hand.cards_of(player))).collect::<Vec<_>>().join(", ")
}

const EMBARGO: &str = "tokens=assigned,assigned_tokens=embargo+immunity+general-audit";

/// rules/SPEC.md.
#[test]
fn embargo_makes_the_next_player_in_turn_stand_after_a_token_if_he_likes() {
    let scene = kessel(EMBARGO, 3);
    let given = (&scene, THREE);
    let laid = "p1 token embargo; p1 draw sand-discard; p1 discard s6;";
    let p2 = "p2: stand, token embargo, token immunity, token general-audit";
    table(given, laid, p2, "7+1 8+0 8+0");
    table(
        given,
        &format!("{laid} p2 draw sand"),
        "refused: `draw` is not legal here",
        "7+1 8+0 8+0",
    );
    // Immunity does not lift it.
    table(given, &format!("{laid} p2 token immunity"), "p2: stand", "7+1 8+0 8+0");
    // It ends with that turn; the player's own embargo goes on to the next player.
    let free = format!("p3: {DRAWS}, stand, token embargo, token immunity, token general-audit");
    table(given, &format!("{laid} p2 stand"), &free, "7+1 8+0 8+0");
    let own = format!("{laid} p2 token embargo; p2 stand;");
    table(
        given,
        &own,
        "p3: stand, token embargo, token immunity, token general-audit",
        "7+1 8+0 8+0",
    );
    let lifted = format!("{own} p3 stand; p1 stand;");
    let p2 = format!("p2: {DRAWS}, stand, token immunity, token general-audit");
    table(given, &lifted, &p2, "7+1 8+0 8+0");
    // A forced stand is a stand: for an audit, and for ending the round.
    table(
        given,
        &format!("{laid} p2 stand; p3 token general-audit"),
        &format!("p3: {DRAWS}, stand"),
        "7+1 6+0 8+0",
    );
    let all = "p1 token embargo; p1 p2 p3 stand";
    table(given, all, "d: flip, deal p1, deal p2, deal p3", "8+0 7+0 7+0");
}

/// rules/SPEC.md R-60.
#[test]
fn embargo_by_the_last_of_a_lap_binds_the_first_of_the_next() {
    let scene = kessel(EMBARGO, 2);
    let given = (&scene, HANDS);
    let laid = "p1 draw sand-discard; p1 discard s6; p2 token embargo; p2 stand;";
    table(given, laid, "p1: stand, token embargo, token immunity, token general-audit", "7+1 8+0");
    // It ends at the reveal: the next round has no embargo.
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2")]);
    let over = format!("p1 stand; p2 token embargo; p2 stand; {second}");
    table(
        given,
        &over,
        &format!("p2: {DRAWS}, stand, token immunity, token general-audit"),
        "8+0 7+0",
    );
}

/// rules/SPEC.md R-60.
#[test]
fn embargo_is_illegal_for_the_last_player_of_the_third_lap() {
    let scene = kessel(EMBARGO, 2);
    let lap = "p1 draw sand-discard; p1 discard s6; p2 stand;";
    let last = format!("{lap} {lap} p1 draw sand-discard; p1 discard s6;");
    let p2 = format!("p2: {DRAWS}, stand, token immunity, token general-audit");
    table((&scene, HANDS), &last, &p2, "5+3 8+0");
    table(
        (&scene, HANDS),
        &format!("{last} p2 token embargo"),
        "refused: must be one of those listed",
        "5+3 8+0",
    );
}

/// rules/SPEC.md R-60.
#[test]
fn an_embargo_on_an_immune_player_is_spent_without_effect() {
    let scene = kessel(EMBARGO, 2);
    let when =
        "p1 token immunity; p1 draw sand-discard; p1 discard s6; p2 token embargo; p2 stand;";
    let p1 = format!("p1: {DRAWS}, stand, token embargo, token general-audit");
    let hand = table((&scene, HANDS), when, &p1, "7+1 8+0");
    assert_eq!(place(&hand, "p2").played[..], [ShiftToken::Embargo]);
}

/// rules/SPEC.md.
#[test]
fn immunity_keeps_stock_tax_and_disrupt_tokens_away_until_the_reveal() {
    let taxes = "tokens=assigned,assigned_tokens=immunity+general-tariff+target-tariff";
    let given = (&kessel(taxes, 3), THREE);
    let immune = "p1 token immunity; p1 stand;";
    let p2 =
        format!("p2: {DRAWS}, stand, token immunity, token general-tariff, token target-tariff p3");
    table(given, immune, &p2, "8+0 8+0 8+0");
    table(
        given,
        &format!("{immune} p2 token target-tariff p1"),
        "refused: must be one of those listed",
        "8+0 8+0 8+0",
    );
    table(
        given,
        &format!("{immune} p2 token general-tariff"),
        &format!("p2: {DRAWS}, stand"),
        "8+0 8+0 7+0",
    );
    // A player's own tokens still work, and immunity ends at the reveal.
    let second = deal(&[("p1", "s1 b1"), ("p2", "s2 b2"), ("p3", "s3 b3")]);
    let next = format!("{immune} p2 p3 stand; {second} p2 token target-tariff p1; p2 stand");
    let p3 = format!(
        "p3: {DRAWS}, stand, token immunity, token general-tariff, token target-tariff p1|p2"
    );
    table(given, &next, &p3, "6+0 7+0 7+0");
    let audits = "tokens=assigned,assigned_tokens=immunity+general-audit+target-audit";
    let given = (&kessel(audits, 2), HANDS);
    let p2 = format!("p2: {DRAWS}, stand, token immunity, token general-audit");
    table(given, immune, &p2, "8+0 8+0");
    table(
        given,
        &format!("{immune} p2 token general-audit"),
        &format!("p2: {DRAWS}, stand"),
        "8+0 8+0",
    );
    let swaps = "tokens=assigned,assigned_tokens=immunity+exhaustion+direct-transaction";
    table(
        (&kessel(swaps, 2), HANDS),
        immune,
        &format!("p2: {DRAWS}, stand, token immunity"),
        "8+0 8+0",
    );
}

/// rules/SPEC.md R-61.
#[test]
fn fixes_touch_the_immune_too() {
    let scene = kessel("tokens=assigned,assigned_tokens=cook-the-books+markdown+immunity", 2);
    let when = "p1 token immunity; p1 stand; p2 token cook-the-books; p2 stand";
    table((&scene, HANDS), when, NEXT, "7+0 8+0");
}

/// rules/SPEC.md §12.5.
#[test]
fn exhaustion_puts_a_hand_on_its_piles_and_deals_another() {
    let scene = kessel("tokens=assigned,assigned_tokens=exhaustion+direct-transaction+immunity", 2);
    let given = (&scene, ["s1 b1", "s2 bI"].as_slice());
    table(given, "p1 token exhaustion p1", "refused: must be one of those listed", "8+0 8+0");
    let hand = table(given, "p1 token exhaustion p2", "d: deal p2", "8+0 8+0");
    assert_eq!(held(&hand), "s1 b1, ");
    assert_eq!(discards(&hand)[0], Some("s2"));
    assert_eq!(discards(&hand)[1], Some("bI"));
    table(
        given,
        "p1 token exhaustion p2; d deal p2 b5 s4",
        "refused: card 1 of the deal",
        "8+0 8+0",
    );
    let dealt = "p1 token exhaustion p2; d deal p2 s4 b5;";
    let hand = table(given, dealt, &format!("p1: {DRAWS}, stand"), "8+0 8+0");
    assert_eq!(held(&hand), "s1 b1, s4 b5");
    let hand =
        table(given, &format!("{dealt} p1 draw sand-discard"), "p1: discard s1|s2", "7+1 8+0");
    assert_eq!(held(&hand), "s1 b1 s2, s4 b5");
    // Only the target sees the new cards.
    let (hand, _) =
        played(scene.start().unwrap(), &format!("{} p1 token exhaustion p2", begin(given.1)));
    let event = notation::read(&hand, "d deal p2 s4 b5").unwrap();
    assert_eq!(censor(&hand, &event, Viewer::Public).unwrap().to_string(), "d deal p2 ?? ??");
}

/// rules/SPEC.md §12.5.
#[test]
fn direct_transaction_swaps_hands_and_nothing_else() {
    let scene = kessel("tokens=assigned,assigned_tokens=exhaustion+direct-transaction+immunity", 2);
    let given = (&scene, ["s1 b1", "s2 b4"].as_slice());
    let when = "p1 draw sand-discard; p1 discard s6; p2 token direct-transaction p1;";
    let hand = table(given, when, &format!("p2: {DRAWS}, stand"), "7+1 8+0");
    assert_eq!(held(&hand), "s2 b4, s1 b1");
    let over = format!("{when} p2 stand; p1 p2 stand");
    table(given, &over, NEXT, "5+0 8+0");
}
