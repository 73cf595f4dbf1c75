//! `eleven`: the announcement, laps, the reveal, what carries over.

use rules::{GameState, Hand, P42, Player, Viewer, notation, view};

use crate::scene::{Scene, check, played, ranks};

fn eleven(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("eleven", fields, stacks)
}

fn p(name: &str) -> Player {
    Player::parse(name).unwrap()
}

/// p1 9, p2 7; neither face is among the cards that the scenes deal.
const DEAL: &str = "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 5H 2H;";

fn two(when: &str, then: &str) -> Hand {
    check(&eleven("", &[100, 100]), &format!("{DEAL} {when}"), then)
}

// Order of a hand.

/// rules/SPEC.md §13.1, R-68.
#[test]
fn the_faces_are_announced_before_the_deal() {
    let scene = eleven("", &[100, 100]);
    check(&scene, "", "d: announce, , deal p1, deal p2");
    check(&scene, "d deal p1 5S 4S", "refused: `d announce` is due");
    check(&scene, "d announce wild 6S clone 1H", "d: deal p1, deal p2");
    check(&scene, "d announce wild 6S clone 6S", "refused: 2 different numbers below 21");
    check(&scene, "d announce wild 7S clone 6S", "refused: no card `7S`");
    check(&scene, "d announce wild 6S", "refused: `d announce` is due");
    check(&scene, DEAL, "p1: draw, stand");
}

/// rules/SPEC.md R-68.
#[test]
fn the_announced_cards_stay_in_the_deck() {
    let scene = eleven("", &[100, 100]);
    check(
        &scene,
        "d announce wild 6S clone 1H; d deal p1 6S 6S; d deal p2 1H 1H",
        "p1: draw, stand",
    );
    check(
        &scene,
        "d announce wild 6S clone 1H; d deal p1 6S 6S; d deal p2 6S 1H",
        "refused: card 1 of the deal cannot be there",
    );
}

/// rules/SPEC.md R-69.
#[test]
fn laps_go_on_until_everybody_stands() {
    two("p1 draw", "d: deal p1");
    two("p1 draw; d deal p1 1S", "p2: draw, stand");
    two("p1 stand; p2 draw; d deal p2 1S", "p2: draw, stand");
    two("p1 draw; d deal p1 1S; p2 stand", "p1: draw, stand");
    two("p1 stand; p2 stand", "p1: check, bet 10..90, fold");
    two("p1 draw; d deal p1 1S; p2 stand; p2 draw", "refused: it is p1's turn");
    two("p1 draw; d deal p1 5S; p2 draw; d deal p2 5C", "p1: draw, stand");
}

/// rules/SPEC.md R-69.
#[test]
fn who_holds_six_cards_has_no_turn() {
    let six = "p1 stand; p2 draw; d deal p2 1S; p2 draw; d deal p2 1S; p2 draw; d deal p2 1D;";
    two(six, "p2: draw, stand");
    two(&format!("{six} p2 draw; d deal p2 1D"), "p1: check, bet 10..90, fold");
}

/// rules/SPEC.md R-69: seven full hands are the whole deck.
#[test]
fn there_is_room_for_seven_players_and_no_more() {
    let start = |players: usize| eleven("", &vec![100; players]).start().map(|_| ());
    assert_eq!(start(7), Ok(()));
    assert_eq!(start(8).unwrap_err().to_string(), "eleven is for 2 to 7 players, not 8");
}

#[test]
fn laps_pass_over_those_who_stand() {
    let hand = check(
        &eleven("", &[100, 100, 100]),
        "d announce wild 6S clone 1H; d deal p1 1S 1S; d deal p2 5H 2H; d deal p3 2S 2S;
         p1 draw; d deal p1 1D; p2 stand; p3 draw; d deal p3 1D; p1 draw; d deal p1 1C",
        "p3: draw, stand",
    );
    assert_eq!(view(&hand, Viewer::Public).round, 2);
}

/// rules/SPEC.md R-69.
#[test]
fn there_is_one_betting_round() {
    two("p1 p2 stand; p1 bet 20; p2 match", "p1 wins main 60; stacks 130 70");
    two(
        "p1 p2 stand; p1 check; p2 bet 20; p1 fold",
        "p2 returned 20; p2 wins main 20; stacks 90 110",
    );
}

#[test]
fn all_in_players_draw_and_stand_too() {
    let scene = eleven("", &[10, 10, 100]);
    let deal = "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 5H 2H; d deal p3 5D 1D;";
    check(&scene, deal, "p1: draw, stand");
    check(
        &scene,
        &format!("{deal} p1 stand; p2 draw; d deal p2 3S; p3 stand; p2 stand"),
        "p2 wins main 30; stacks 0 30 90",
    );
}

/// rules/SPEC.md R-22.
#[test]
fn a_leaver_stands_checks_and_can_win() {
    two("p1 leave", "p2: draw, stand");
    two("p1 leave; p2 stand; p2 check", "p1 wins main 20; stacks 110 90");
    two("p2 leave; p1 stand; p1 bet 10", "p1 returned 10; p1 wins main 20; stacks 110 90");
}

// The reveal.

/// Checks the end and the ranks for these opening hands and draws.
fn reveal(faces: &str, deal: &str, then: &str, ranked: &str) -> Hand {
    let hand = check(&eleven("", &[100, 100]), &format!("{faces}; {deal}; p1 p2 check"), then);
    assert_eq!(ranks(&hand), ranked);
    hand
}

const PLAIN: &str = "d announce wild 6S clone 1H";

/// rules/SPEC.md §13.2.
#[test]
fn closest_to_11_without_going_over_wins() {
    reveal(
        PLAIN,
        "d deal p1 5S 4S; d deal p2 5H 3H; p1 p2 stand",
        "p1 wins main 20; stacks 110 90",
        "9 in 2, 8 in 2",
    );
    reveal(
        PLAIN,
        "d deal p1 5S 5S; d deal p2 1S 2S; p1 draw; d deal p1 2D; p2 stand; p1 stand",
        "p2 wins main 20; stacks 90 110",
        "over in 3, 3 in 2",
    );
}

/// rules/SPEC.md R-71.
#[test]
fn wilds_and_clones_serve_their_holder_best() {
    reveal(
        "d announce wild 3H clone 2S",
        "d deal p1 5S 3H; d deal p2 5H 2S; p1 p2 stand",
        "p1 wins main 20; stacks 110 90",
        "11 in 2, 10 in 2",
    );
}

/// rules/SPEC.md R-70.
#[test]
fn ties_go_to_fewer_cards() {
    reveal(
        PLAIN,
        "d deal p1 5S 3S; d deal p2 5H 4H; p1 draw; d deal p1 1S; p2 stand; p1 stand",
        "p2 wins main 20; stacks 90 110",
        "9 in 3, 9 in 2",
    );
}

/// rules/SPEC.md R-70.
#[test]
fn ties_with_as_many_cards_are_split() {
    let hand = check(
        &eleven("", &[100, 100]).carried(1),
        "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 4H 5H; p1 p2 stand; p1 p2 check",
        "p1 wins main 11; p2 wins main 10; stacks 101 100",
    );
    assert_eq!(hand.settlement().unwrap().winners.len(), 2);
}

/// rules/SPEC.md R-71.
#[test]
fn a_hand_of_clones_is_0_and_not_over() {
    reveal(
        PLAIN,
        "d deal p1 1H 1H; d deal p2 5H 5S; p1 stand; p2 draw; d deal p2 2H; p2 stand",
        "p1 wins main 20; stacks 110 90",
        "0 in 2, over in 3",
    );
}

// Carried pots.

const BOTH_OVER: &str = "d announce wild 6S clone 1H; d deal p1 5S 5S; d deal p2 5H 5H;
    p1 draw; d deal p1 2S; p2 draw; d deal p2 2H; p1 p2 stand; p1 p2 check";

/// rules/SPEC.md R-50.
#[test]
fn a_layer_whose_players_are_all_over_carries_over() {
    let hand = check(
        &eleven("rake_bps=1000", &[100, 100]).carried(7),
        BOTH_OVER,
        "pot carries 27; stacks 90 90; carried 27",
    );
    assert!(hand.settlement().unwrap().winners.is_empty());
    assert_eq!(ranks(&hand), "over in 3, over in 3");
}

/// rules/SPEC.md R-50.
#[test]
fn layers_carry_over_one_by_one() {
    // p1 has 9 for 15, p2 and p3 are over for 30.
    let deal = "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 5H 5D; d deal p3 5C 5C;
        p1 stand; p2 draw; d deal p2 4H; p3 draw; d deal p3 4D; p2 p3 stand;
        p1 bet 5; p2 raise 20; p3 match";
    check(
        &eleven("", &[15, 100, 100]),
        deal,
        "p1 wins main 45; pot carries 30; stacks 45 70 70; carried 30",
    );
    check(
        &eleven("rake_bps=1000", &[15, 100, 100]).carried(10),
        deal,
        "p1 wins main 50; pot carries 30; rake 5; stacks 50 70 70; carried 30",
    );
}

#[test]
fn a_layer_with_one_live_player_carries_over_where_he_is_over() {
    // p2 folds after paying 30, p3 is over and alone in the side layer, p1 is under and short.
    let deal = "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 1D 1D; d deal p3 5C 5C;
        p1 p2 stand; p3 draw; d deal p3 4D; p3 stand;
        p1 bet 5; p2 raise 20; p3 raise 40; p2 fold";
    check(
        &eleven("", &[15, 100, 100]),
        deal,
        "p3 returned 20; p1 wins main 45; pot carries 30; stacks 45 70 70; carried 30",
    );
}

/// rules/SPEC.md §5.2, R-50.
#[test]
fn a_carried_pot_belongs_to_the_main_layer() {
    let deal = "d announce wild 6S clone 1H; d deal p1 5S 4S; d deal p2 5H 2D; d deal p3 1C 1C;
        p1 p2 p3 stand; p1 bet 5; p2 raise 20; p3 match";
    let hand = check(
        &eleven("", &[15, 100, 100]).carried(8),
        deal,
        "p1 wins main 53; p2 wins side-1 30; stacks 53 100 70",
    );
    assert_eq!(hand.settlement().unwrap().winners.iter().collect::<Vec<_>>(), [p("p1")]);
}

/// rules/SPEC.md R-23.
#[test]
fn the_last_live_player_takes_a_carried_pot() {
    let scene = eleven("", &[100, 100]).carried(8);
    check(&scene, &format!("{DEAL} p1 p2 stand; p1 fold"), "p2 wins main 28; stacks 90 118");
}

/// rules/SPEC.md R-17.
#[test]
fn without_any_contribution_the_main_layer_is_what_was_carried() {
    let scene = eleven("hand_ante=0", &[100, 100]);
    let quiet = format!("{DEAL} p1 p2 stand; p1 p2 check");
    check(&scene.clone().carried(8), &quiet, "p1 wins main 8; stacks 108 100");
    let hand = check(&scene, &quiet, "stacks 100 100");
    assert_eq!(hand.settlement().unwrap().winners.len(), 1);
}

// Hidden cards.

#[test]
fn the_announcement_is_everybodys_and_drawn_cards_are_not() {
    let (hand, refused) =
        played(eleven("", &[100, 100]).start().unwrap(), &format!("{DEAL} p1 draw"));
    assert_eq!(refused, None);
    let GameState::Eleven(state) = view(&hand, Viewer::Public).game else { panic!() };
    let face = |face: u8| P42.faces().nth(face.into());
    let announced = state.announced.map(|it| (face(it.wild), face(it.clone)));
    assert_eq!(announced, Some((Some("6S"), Some("1H"))));
    assert!(state.stood.is_empty());
    let event = notation::read(&hand, "d deal p1 1D").unwrap();
    let seen = |viewer| rules::censor(&hand, &event, viewer).unwrap().to_string();
    assert_eq!(seen(Viewer::Public), "d deal p1 ??");
    assert_eq!(seen(Viewer::Player(p("p2"))), "d deal p1 ??");
    assert_eq!(seen(Viewer::Player(p("p1"))), "d deal p1 1D");
}
