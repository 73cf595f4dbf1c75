//! `coruscant`: the dice, selections face down, the redraw, additions, the reveal.

use rules::{
    C62, Card, CoruscantState, GameState, Hand, Player, Selection, Viewer, are_cards_public,
    notation, view,
};

use crate::scene::{Scene, check, played, ranks};

fn coruscant(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("coruscant", fields, stacks)
}

const DEAL: &str =
    "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5; d roll +5 circle;";
/// p1 selects five of circles, p2 five of triangles.
const FIVES: &str = "p1 select c+5; p2 select t+5;";
const NEW: &str = "d deal p1 s+1 s+2 s+3 s+4; d deal p2 s-1 s-2 s-3 s-4;";

fn two(when: &str, then: &str) -> Hand {
    check(&coruscant("", &[100, 100]), &format!("{DEAL} {when}"), then)
}

// Order of a hand.

/// rules/SPEC.md §15.1.
#[test]
fn five_cards_each_then_the_dice() {
    let scene = coruscant("", &[100, 100]);
    check(&scene, "", "d: deal p1, deal p2, roll");
    check(&scene, DEAL, "p1: select c+1|c+2|c+3|c+4|c+5");
    let deal = "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5;";
    for bad in ["d roll 5 circle", "d roll +5 circles", "d roll circle +5", "d roll +5"] {
        check(&scene, &format!("{deal} {bad}"), "refused: `d roll` is due");
    }
    for gold in ["0", "+5", "-5", "+10", "-10"] {
        for silver in ["circle", "triangle", "square"] {
            let hand = check(
                &scene,
                &format!("{deal} d roll {gold} {silver}"),
                "p1: select c+1|c+2|c+3|c+4|c+5",
            );
            let target = state(&hand, Viewer::Public).target.unwrap();
            assert_eq!(target.total, gold.parse().unwrap());
            assert_eq!(target.suit.name(), silver);
        }
    }
}

/// rules/SPEC.md §15.1.
#[test]
fn one_to_five_different_cards_of_ones_own_are_selected() {
    two("p1 select c+1 c+2 c+3 c+4 c+5", "p2: select t+1|t+2|t+3|t+4|t+5");
    two("p1 select c+4", "p2: select t+1|t+2|t+3|t+4|t+5");
    two("p1 select", "refused: must be one of those listed");
    two("p1 select c+4 c+4", "refused: must be one of those listed");
    two("p1 select t+4", "refused: must be one of those listed");
    two("p1 stand", "refused: `stand` is not legal here; legal: select");
    two("p2 select t+4", "refused: it is p1's turn");
}

/// rules/SPEC.md §15.1.
#[test]
fn betting_the_redraw_betting_again_and_additions() {
    two(FIVES, "p1: check, bet 5..95, fold");
    two(&format!("{FIVES} p1 p2 check"), "d: deal p1, deal p2");
    two(&format!("{FIVES} p1 p2 check; {NEW}"), "p1: check, bet 5..95, fold");
    two(&format!("{FIVES} p1 p2 check; {NEW} p1 p2 check"), "p1: add s+1|s+2|s+3|s+4");
    two(&format!("{FIVES} p1 p2 check; {NEW} p1 p2 check; p1 add"), "p2: add s-1|s-2|s-3|s-4");
    two(
        &format!("{FIVES} p1 p2 check; {NEW} p1 p2 check; p1 add c+5"),
        "refused: must be one of those listed",
    );
}

#[test]
fn a_new_sylop_is_added_beside_a_selected_one() {
    let deal = "d deal p1 Y c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5; d roll +5 circle;
        p1 select Y c+5; p2 select t+5; p1 p2 check; d deal p1 Y s+1 s+2; d deal p2 s-1 s-2 s-3 s-4;
        p1 p2 check;";
    let scene = coruscant("", &[100, 100]);
    check(&scene, &format!("{deal} p1 add Y Y"), "refused: must be one of those listed");
    let hand = check(&scene, &format!("{deal} p1 add Y; p2 add"), "p1 wins main 10; stacks 105 95");
    assert_eq!(ranks(&hand), "off 0 suit 3 total 5 high 5, off 0 suit 0 total 5 high 5");
}

/// rules/SPEC.md R-76.
#[test]
fn who_has_no_new_cards_is_not_asked() {
    two("p1 select c+1 c+2 c+3 c+4 c+5; p2 select t+5; p1 p2 check", "d: deal p2");
    two(
        "p1 select c+1 c+2 c+3 c+4 c+5; p2 select t+5; p1 p2 check; d deal p2 s-1 s-2 s-3 s-4;
         p1 p2 check",
        "p2: add s-1|s-2|s-3|s-4",
    );
    two(
        "p1 select c+1 c+2 c+3 c+4 c+5; p2 select t+1 t+2 t+3 t+4 t+5; p1 p2 check; p1 p2 check",
        "p1 wins main 10; stacks 105 95",
    );
}

#[test]
fn all_in_players_select_and_add_too() {
    let scene = coruscant("", &[5, 5, 100]);
    let deal = "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5;
        d deal p3 s+1 s+2 s+3 s+4 s+5; d roll 0 circle;";
    check(&scene, deal, "p1: select c+1|c+2|c+3|c+4|c+5");
    let selected =
        "p1 select c+1 c+2 c+3 c+4; p2 select t+1 t+2 t+3 t+4; p3 select s+1 s+2 s+3 s+4;";
    check(&scene, &format!("{deal} {selected}"), "d: deal p1, deal p2, deal p3");
    check(
        &scene,
        &format!("{deal} {selected} d deal p1 c-1; d deal p2 t-10; d deal p3 s-9; p1 add"),
        "p2: add t-10",
    );
    check(
        &scene,
        &format!(
            "{deal} {selected} d deal p1 c-1; d deal p2 t-10; d deal p3 s-9; p1 add; p2 add t-10;
             p3 add s-9"
        ),
        "p2 wins main 15; stacks 0 15 95",
    );
}

#[test]
fn who_folds_gets_no_new_cards() {
    let scene = coruscant("", &[100, 100, 100]);
    let when = "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5;
        d deal p3 s+1 s+2 s+3 s+4 s+5; d roll 0 circle;
        p1 select c+1; p2 select t+1 t+2; p3 select s+1; p1 bet 5; p2 fold; p3 match";
    check(&scene, when, "d: deal p1, deal p3");
    let hand = check(
        &scene,
        &format!(
            "{when}; d deal p1 c-1 c-2 c-3 c-4; d deal p3 t-1 t-2 t-3 t-4; p1 p3 check;
             p1 add c-1; p3 add"
        ),
        "p1 wins main 25; stacks 115 95 90",
    );
    assert_eq!(ranks(&hand), "off 0 suit 2 total 0 high 1, folded, off 1 suit 0 total 1 high 1");
    let deck = hand.rules().variant().deck;
    let end = hand.settlement().unwrap();
    let codes =
        |at: usize| -> Vec<_> { end.hands[at].cards.iter().map(|&card| deck.code(card)).collect() };
    assert_eq!(codes(0), ["c+1", "c-1"], "the selection with what was added");
    assert_eq!(codes(1), ["t+1", "t+2", "t+3", "t+4", "t+5"], "as it was folded");
    assert_eq!(codes(2), ["s+1"]);
}

/// rules/SPEC.md R-23.
#[test]
fn one_live_player_left_takes_everything_at_once() {
    two(&format!("{FIVES} p1 fold"), "p2 wins main 10; stacks 95 105");
    let hand = two(
        &format!("{FIVES} p1 p2 check; {NEW} p1 bet 10; p2 fold"),
        "p1 returned 10; p1 wins main 10; stacks 105 95",
    );
    assert_eq!(ranks(&hand), "-, folded");
    assert!(hand.settlement().unwrap().shown.is_empty());
}

/// rules/SPEC.md §6.2, R-21.
#[test]
fn the_clock_selects_the_whole_hand_and_adds_nothing() {
    let default = |when: &str| {
        let (hand, refused) =
            played(coruscant("", &[100, 100]).start().unwrap(), &format!("{DEAL} {when}"));
        assert_eq!(refused, None);
        match rules::next(&hand) {
            rules::Next::Decision(decision) => decision.default.text(&rules::C62),
            other @ (rules::Next::Chance(_) | rules::Next::Done(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!(default(""), "select c+1 c+2 c+3 c+4 c+5");
    assert_eq!(default(FIVES), "check");
    assert_eq!(default(&format!("{FIVES} p1 bet 5")), "fold");
    assert_eq!(default(&format!("{FIVES} p1 p2 check; {NEW} p1 p2 check")), "add");
    two("p1 leave", "p2: select t+1|t+2|t+3|t+4|t+5");
    // 15 in circles against 5 in triangles.
    two(
        "p1 leave; p2 select t+5; p2 check; d deal p2 s-1 s-2 s-3 s-4; p2 check; p2 add",
        "p2 wins main 10; stacks 95 105",
    );
    two(
        &format!("{FIVES} p1 p2 check; {NEW} p1 p2 check; p1 leave; p2 leave"),
        "p1 wins main 10; stacks 105 95",
    );
}

// The reveal.

/// Checks the end and the ranks for a roll, with these selections of p1 from c+1 … c+5 and of p2
/// from t+1 … t+5.
fn reveal(roll: &str, p1: &str, p2: &str, then: &str, ranked: &str) {
    let deal = DEAL.replace("+5 circle", roll);
    let (rest1, rest2) = (5 - p1.split(' ').count(), 5 - p2.split(' ').count());
    let new = |player: &str, count: usize, codes: [&str; 4]| match count {
        0 => String::new(),
        count => format!("d deal {player} {};", codes[..count].join(" ")),
    };
    let new1 = new("p1", rest1, ["s+1", "s+2", "s+3", "s+4"]);
    let new2 = new("p2", rest2, ["s-1", "s-2", "s-3", "s-4"]);
    let add =
        |player: &str, count| if count > 0 { format!("{player} add;") } else { String::new() };
    let when = format!(
        "{deal} p1 select {p1}; p2 select {p2}; p1 p2 check; {new1} {new2} p1 p2 check; {} {}",
        add("p1", rest1),
        add("p2", rest2)
    );
    let hand = check(&coruscant("", &[100, 101]), &when, then);
    assert_eq!(ranks(&hand), ranked);
}

/// rules/SPEC.md §15.2, R-77.
#[test]
fn closest_then_suit_then_total_then_high() {
    reveal(
        "+5 circle",
        "c+4",
        "t+5",
        "p2 wins main 10; stacks 95 106",
        "off 1 suit 1 total 4 high 4, off 0 suit 0 total 5 high 5",
    );
    reveal(
        "+5 triangle",
        "c+5",
        "t+5",
        "p2 wins main 10; stacks 95 106",
        "off 0 suit 0 total 5 high 5, off 0 suit 1 total 5 high 5",
    );
    reveal(
        "+5 square",
        "c+4",
        "t+2 t+4",
        "p2 wins main 10; stacks 95 106",
        "off 1 suit 0 total 4 high 4, off 1 suit 0 total 6 high 4",
    );
    reveal(
        "+5 square",
        "c+1 c+4",
        "t+2 t+3",
        "p1 wins main 10; stacks 105 96",
        "off 0 suit 0 total 5 high 4, off 0 suit 0 total 5 high 3",
    );
}

/// rules/SPEC.md R-77.
#[test]
fn what_is_still_equal_is_split() {
    let scene = coruscant("hand_ante=3", &[100, 100, 100]);
    let when = "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5;
        d deal p3 s+1 s+2 s+3 s+4 s-5; d roll +10 square;
        p1 select c+1 c+2 c+3 c+4; p2 select t+1 t+2 t+3 t+4; p3 select s+1 s+2 s+3 s+4 s-5;
        p1 p2 p3 check; d deal p1 c-1; d deal p2 t-1; p1 p2 p3 check; p1 p2 add";
    check(&scene, when, "p1 wins main 5; p2 wins main 4; stacks 102 101 97");
}

/// rules/SPEC.md R-16.
#[test]
fn layers_go_to_the_best_selection_that_paid_into_them() {
    let scene = coruscant("rake_bps=1000", &[10, 100, 100]);
    let when = "d deal p1 c+1 c+2 c+3 c+4 c+5; d deal p2 t+1 t+2 t+3 t+4 t+5;
        d deal p3 s+1 s+2 s+3 s+4 s+5; d roll +5 circle;
        p1 select c+5; p2 select t+5; p3 select s+4; p1 bet 5; p2 raise 25; p3 match;
        d deal p1 c-1 c-2 c-3 c-4; d deal p2 t-1 t-2 t-3 t-4; d deal p3 s-1 s-2 s-3 s-4;
        p2 p3 check; p1 p2 p3 add";
    let hand = check(&scene, when, "p1 wins main 27; p2 wins side-1 36; rake 7; stacks 27 106 70");
    let winners = hand.settlement().unwrap().winners;
    assert_eq!(winners.iter().map(Player::index).collect::<Vec<_>>(), [0], "of the main layer");
}

// Hidden cards.

fn state(hand: &Hand, viewer: Viewer) -> CoruscantState {
    let GameState::Coruscant(state) = view(hand, viewer).game else { panic!() };
    state
}

fn player(name: &str) -> Viewer {
    Viewer::Player(Player::parse(name).unwrap())
}

/// Checks how another player and the public read the next line.
fn hidden(when: &str, next: &str, seen: &str) {
    let (hand, refused) =
        played(coruscant("", &[100, 100]).start().unwrap(), &format!("{DEAL} {when}"));
    assert_eq!(refused, None);
    let event = notation::read(&hand, next).unwrap();
    let text = |viewer| rules::censor(&hand, &event, viewer).unwrap().to_string();
    assert_eq!(text(player("p1")), next);
    assert_eq!(text(Viewer::Auditor), next);
    assert_eq!(text(player("p2")), seen);
    assert_eq!(text(Viewer::Public), seen);
    assert!(!are_cards_public(&hand, &event));
}

/// rules/SPEC.md R-76.
#[test]
fn selections_and_additions_lie_face_down() {
    hidden("", "p1 select c+5 c+1", "p1 select ?? ??");
    hidden(&format!("{FIVES} p1 p2 check; {NEW} p1 p2 check"), "p1 add s+2", "p1 add ??");
}

/// rules/SPEC.md R-76.
#[test]
fn how_many_cards_are_selected_everybody_knows_and_which_only_their_owner() {
    let (hand, refused) =
        played(coruscant("", &[100, 100]).start().unwrap(), &format!("{DEAL} p1 select c+5 c+1"));
    assert_eq!(refused, None);
    let selections = |viewer| {
        let code = |&card: &Card| C62.code(card);
        let of = |one: Selection| {
            (one.player.to_string(), one.count, one.cards.iter().map(code).collect::<Vec<_>>())
        };
        state(&hand, viewer).selections.into_iter().map(of).collect::<Vec<_>>()
    };
    let public = [("p1".to_owned(), 2, vec![])];
    assert_eq!(selections(Viewer::Public), public);
    assert_eq!(selections(player("p2")), public);
    let own = [("p1".to_owned(), 2, vec!["c+1", "c+5"])];
    assert_eq!(selections(player("p1")), own);
    assert_eq!(selections(Viewer::Auditor), own);
}

#[test]
fn the_reveal_shows_selections_and_nothing_else() {
    let when = format!("{DEAL} {FIVES} p1 p2 check; {NEW} p1 p2 check; p1 add s+1; p2 add");
    let (hand, refused) = played(coruscant("", &[100, 100]).start().unwrap(), &when);
    assert_eq!(refused, None);
    let deck = hand.rules().variant().deck;
    let shown: Vec<Vec<&str>> = view(&hand, Viewer::Public)
        .players
        .iter()
        .map(|place| place.cards.iter().map(|seen| deck.code(seen.card.unwrap())).collect())
        .collect();
    assert_eq!(shown, [vec!["c+5", "s+1"], vec!["t+5"]]);
}
