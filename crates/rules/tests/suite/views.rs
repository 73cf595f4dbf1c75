//! Cards and lines as each viewer sees them.

use rules::{
    Card, GameState, Outcome, Player, S76, ShiftingState, Viewer, are_cards_public, censor,
    history_line, notation, view,
};

use crate::scene::{Scene, played};

const DEAL: &str = "d deal p1 S10 F10; d deal p2 S9 C10;";

fn player(name: &str) -> Player {
    Player::parse(name).unwrap()
}

/// Checks the next line after those of `when`, as p1, p2 and the public read it, and whether its
/// cards are public.
fn seen(when: &str, next: &str, p1: &str, p2: &str, public: &str) {
    let scene = Scene::new("dice", "shift=none", &[100, 100]);
    let (hand, refused) = played(scene.start().unwrap(), when);
    assert_eq!(refused, None);
    let event = notation::read(&hand, next).unwrap();
    let text = |viewer| censor(&hand, &event, viewer).unwrap().to_string();
    assert_eq!(text(Viewer::Player(player("p1"))), p1);
    assert_eq!(text(Viewer::Player(player("p2"))), p2);
    assert_eq!(text(Viewer::Public), public);
    assert_eq!(text(Viewer::Auditor), next);
    assert_eq!(history_line(&hand, &event), next);
    assert_eq!(are_cards_public(&hand, &event), !public.contains("??"));
}

/// rules/SPEC.md §3.5.
#[test]
fn dealt_and_traded_cards_are_the_players_own() {
    seen("", "d deal p1 S10 F10", "d deal p1 S10 F10", "d deal p1 ?? ??", "d deal p1 ?? ??");
    seen(DEAL, "p1 trade S10", "p1 trade S10", "p1 trade ??", "p1 trade ??");
}

/// rules/SPEC.md §3.5.
#[test]
fn locked_and_unlocked_cards_are_everybodys() {
    let lock = "p1 lock S10";
    seen(DEAL, lock, lock, lock, lock);
    let unlock = "p1 unlock S10";
    let when = format!("{DEAL} p1 lock S10; p1 p2 stand; p1 p2 check");
    seen(&when, unlock, unlock, unlock, unlock);
}

/// rules/SPEC.md §3.5.
#[test]
fn demise_cards_lie_face_up() {
    let when =
        "d deal p1 S10 F10; d deal p2 S9 F11; p1 p2 stand; p1 p2 check; p1 p2 stand; p1 p2 check;
        p1 p2 stand; p1 p2 check; p1 p2 stand; p1 call-hand; p1 p2 check";
    let tie = "d deal p1 C1";
    seen(when, tie, tie, tie, tie);
}

/// Codes that a viewer sees in each hand.
fn table(when: &str, viewer: Viewer) -> Vec<String> {
    let scene = Scene::new("dice", "shift=none,pot_building_rounds=0", &[100, 100]);
    let (hand, refused) = played(scene.start().unwrap(), when);
    assert_eq!(refused, None);
    let code = |card: Option<Card>| card.map_or("??", |card| S76.code(card));
    let hand = view(&hand, viewer);
    let cards = hand
        .players
        .iter()
        .map(|place| place.cards.iter().map(|card| code(card.card)).collect::<Vec<_>>().join(" "));
    cards.collect()
}

#[test]
fn a_view_shows_ones_own_hand_and_what_lies_face_up() {
    let when = format!("{DEAL} p1 lock S10; p1 stand");
    assert_eq!(table(&when, Viewer::Player(player("p1"))), ["S10 F10", "?? ??"]);
    assert_eq!(table(&when, Viewer::Player(player("p2"))), ["S10 ??", "S9 C10"]);
    assert_eq!(table(&when, Viewer::Public), ["S10 ??", "?? ??"]);
    assert_eq!(table(&when, Viewer::Auditor), ["S10 F10", "S9 C10"]);
}

/// rules/SPEC.md §3.5.
#[test]
fn a_reveal_shows_everybody_and_folds_show_nobody() {
    let revealed = format!("{DEAL} p1 p2 stand; p1 call-hand; p1 p2 check");
    assert_eq!(table(&revealed, Viewer::Public), ["S10 F10", "S9 C10"]);
    let folded = format!("{DEAL} p1 lock S10; p1 p2 stand; p1 fold");
    assert_eq!(table(&folded, Viewer::Public), ["?? ??", "?? ??"]);
    assert_eq!(table(&folded, Viewer::Player(player("p1"))), ["S10 F10", "?? ??"]);
}

/// rules/SPEC.md R-26.
#[test]
fn opening_totals_are_announced_where_the_rules_say_so() {
    let state = |variant, fields| {
        let (hand, refused) =
            played(Scene::new(variant, fields, &[100, 100]).start().unwrap(), DEAL);
        assert_eq!(refused, None);
        view(&hand, Viewer::Public).game
    };
    let declared =
        |totals: &[i16]| ShiftingState { declared_totals: totals.iter().copied().collect() };
    assert_eq!(state("dice", ""), GameState::Dice(declared(&[20, 19])));
    let electronic = |totals| GameState::Electronic(declared(totals));
    assert_eq!(state("electronic", "declare_totals=true"), electronic(&[20, 19]));
    assert_eq!(state("dice", "declare_totals=false"), GameState::Dice(declared(&[])));
    assert_eq!(state("electronic", ""), electronic(&[]));
}

#[test]
fn debug_output_names_no_card() {
    let scene = Scene::new("dice", "", &[100, 100]);
    let (hand, _) = played(scene.start().unwrap(), DEAL);
    let trade = notation::read(&hand, "p1 trade S10").unwrap();
    let other = notation::read(&hand, "p1 trade F10").unwrap();
    assert_eq!(format!("{trade:?}"), format!("{other:?}"));
    let cards =
        |codes: [&str; 2]| Outcome::cards(&codes.map(|code| S76.parse(code).nth(0).unwrap()));
    assert_eq!(format!("{:?}", cards(["S1", "S2"])), format!("{:?}", cards(["F1", "F2"])));
    let (twin, _) = played(scene.start().unwrap(), "d deal p1 S1 F1; d deal p2 S2 F2");
    assert_eq!(format!("{hand:?}"), format!("{twin:?}"));
}
