//! Force sabacc up to the showdown: alignment, actions, betting, the call, the extra cards.

use rules::{
    GameState, Hand, Next, Player, S76, Side, Viewer, are_cards_public, censor, next, notation,
    view,
};

use crate::scene::{Scene, chance_comes, check, played, ranks, report, take};

fn force(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("force", fields, stacks)
}

fn choose(when: &str, then: &str) {
    check(&force("", &[100, 100]), when, then);
}

fn naboo(when: &str, then: &str) {
    check(&force("alignment=naboo", &[100, 100]), when, then);
}

/// p1 light 20, p2 dark -19.
const TWO: &str = "d deal p1 S10; d deal p2 StarA; p1 align light; p2 align dark;
    d deal p1 F10; d deal p2 QueenA;";
/// A cycle of two players in which nothing happens.
const QUIET: &str = "p1 p2 stand; p1 p2 check;";

/// Sides of both players as everybody knows them.
fn sides(hand: &Hand) -> [Option<Side>; 2] {
    let GameState::Force(state) = view(hand, Viewer::Public).game else { panic!() };
    [state.sides[0], state.sides[1]]
}

// Alignment.

/// rules/SPEC.md §11.1.
#[test]
fn everybody_declares_a_side_after_the_first_card() {
    choose("", "d: deal p1, deal p2");
    choose("d deal p1 S10; d deal p2 StarA", "p1: align light|dark");
    choose("d deal p1 S10; d deal p2 StarA; p1 align dark", "p2: align light|dark");
    choose("d deal p1 S10; d deal p2 StarA; p2 align dark", "refused: it is p1's turn");
    choose("d deal p1 S10; d deal p2 StarA; p1 align dark; p2 align dark", "d: deal p1, deal p2");
    choose(TWO, "p1: draw, trade S10|F10, stand");
}

/// rules/SPEC.md R-43.
#[test]
fn naboo_deals_face_up_to_the_first_face() {
    naboo("", "d: deal p1, deal p2");
    naboo("d deal p1 S10", "refused: the deal ends with the first card that decides");
    naboo("d deal p1 S10 StarA C1", "refused: the deal ends with the first card that decides");
    naboo("d deal p1 S10 S11 StarA; d deal p2 S10 IdiotB", "refused: card 1 of the deal cannot be");
    naboo("d deal p1 S10 S11 StarA; d deal p2 IdiotB", "d: deal p1, deal p2");
    // Cards that were shown and not kept are in the pack again; nobody declares anything.
    naboo(
        "d deal p1 S10 S11 StarA; d deal p2 IdiotB; d deal p1 S11; d deal p2 S10",
        "p1: draw, trade StarA|S11, stand",
    );
    naboo("d deal p1 S10 StarA; d deal p2 IdiotB; d deal p1 IdiotB", "refused: card 1 of the deal");
}

/// rules/SPEC.md R-43.
#[test]
fn naboo_copy_a_is_light_and_copy_b_dark() {
    let scene = force("alignment=naboo", &[100, 100]);
    let lines = "d deal p1 S10 StarA; d deal p2 IdiotB";
    let (hand, refused) = played(scene.start().unwrap(), lines);
    assert_eq!(refused, None);
    assert_eq!(sides(&hand), [Some(Side::Light), Some(Side::Dark)]);
}

#[test]
fn sides_are_public_as_soon_as_they_are_known() {
    let known = |when: &str| {
        let (hand, refused) = played(force("", &[100, 100]).start().unwrap(), when);
        assert_eq!(refused, None);
        sides(&hand)
    };
    let dealt = "d deal p1 S10; d deal p2 StarA;";
    assert_eq!(known(dealt), [None, None]);
    assert_eq!(known(&format!("{dealt} p1 align dark")), [Some(Side::Dark), None]);
    let flipped = format!("{TWO} {QUIET} {QUIET} p1 call-hand; d deal p1 QueenB; p1 keep");
    assert_eq!(known(&flipped), [Some(Side::Dark), Some(Side::Dark)]);
}

// Cycles.

#[test]
fn actions_and_betting_alternate() {
    choose(&format!("{TWO} p1 draw"), "d: deal p1");
    choose(&format!("{TWO} p1 draw; d deal p1 C1; p2 trade QueenA"), "d: deal p2");
    choose(&format!("{TWO} p1 p2 stand"), "p1: check, bet 10..90, fold");
    choose(&format!("{TWO} {QUIET}"), "p1: draw, trade S10|F10, stand");
    choose(
        &format!("{TWO} p1 p2 stand; p1 bet 10; p2 raise 20; p1 match"),
        "p1: draw, trade S10|F10, stand",
    );
    choose(
        &format!("{TWO} p1 p2 stand; p1 bet 10; p2 fold"),
        "p1 returned 10; p1 wins main 20; stacks 110 90",
    );
}

#[test]
fn all_in_players_still_act_and_without_two_able_nobody_bets() {
    let scene = force("max_rounds=2", &[10, 100]);
    check(&scene, TWO, "p1: draw, trade S10|F10, stand");
    check(&scene, &format!("{TWO} p1 p2 stand"), "p1: draw, trade S10|F10, stand");
    check(&scene, &format!("{TWO} p1 p2 stand; p1 p2 stand"), "d: deal p1");
    // In the default game that alone does not call the hand.
    let scene = force("", &[10, 100]);
    let lap = "p1 p2 stand;".repeat(3);
    check(&scene, &format!("{TWO} {lap}"), "p1: draw, trade S10|F10, stand, call-hand");
}

/// rules/SPEC.md R-44.
#[test]
fn the_showdown_starts_by_itself_after_the_last_cycle() {
    let quiet = |cycles: usize| QUIET.repeat(cycles);
    choose(&format!("{TWO} {}", quiet(7)), "p1: draw, trade S10|F10, stand, call-hand");
    choose(&format!("{TWO} {}", quiet(8)), "d: deal p1");
    check(&force("max_rounds=1", &[100, 100]), &format!("{TWO} {QUIET}"), "d: deal p1");
}

/// rules/SPEC.md R-44.
#[test]
fn the_call_starts_the_showdown_at_once() {
    choose(&format!("{TWO} {QUIET} p1 call-hand"), "refused: `call-hand` is not legal here");
    let third = format!("{TWO} {QUIET} {QUIET}");
    choose(&third, "p1: draw, trade S10|F10, stand, call-hand");
    choose(&format!("{third} p1 call-hand"), "d: deal p1");
    // In the middle of a lap: players after the caller have no action, and nobody bets.
    choose(&format!("{third} p1 stand; p2 call-hand"), "d: deal p1");
    // A call takes the place of the action.
    choose(&format!("{third} p1 stand; p1 call-hand"), "refused: it is p2's turn");
    choose(&format!("{third} p1 p2 stand"), "p1: check, bet 10..90, fold");
}

// The showdown.

/// Lines of a showdown of p1 and p2 with these two cards each, on these sides.
fn showdown(p1: [&str; 2], p2: [&str; 2], sides: [&str; 2]) -> String {
    format!(
        "d deal p1 {}; d deal p2 {}; p1 align {}; p2 align {}; d deal p1 {}; d deal p2 {};
         {QUIET} {QUIET} p1 call-hand;",
        p1[0], p2[0], sides[0], sides[1], p1[1], p2[1]
    )
}

fn plain() -> String {
    showdown(["S10", "F10"], ["StarA", "QueenA"], ["light", "dark"])
}

/// rules/SPEC.md §11.2.
#[test]
fn one_player_is_done_completely_before_the_next() {
    choose(&plain(), "d: deal p1");
    choose(&format!("{} d deal p1 S1", plain()), "p1: keep, drop S10|F10|S1");
    choose(&format!("{} d deal p1 S1; p1 drop S1", plain()), "d: deal p2");
    choose(&format!("{} d deal p1 S1; p2 keep", plain()), "refused: it is p1's turn");
    choose(
        &format!("{} d deal p1 S1; p1 keep; d deal p2 S2", plain()),
        "p2: keep, drop StarA|QueenA|S2",
    );
}

#[test]
fn hands_are_opened_one_after_the_other() {
    let seen = |when: &str| {
        let (hand, refused) = played(force("", &[100, 100]).start().unwrap(), when);
        assert_eq!(refused, None);
        let code = |card: Option<rules::Card>| card.map_or("??", |card| S76.code(card));
        let view = view(&hand, Viewer::Public);
        let cards = view.players.iter();
        cards
            .map(|place| {
                place.cards.iter().map(|card| code(card.card)).collect::<Vec<_>>().join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(TWO), ["?? ??", "?? ??"]);
    assert_eq!(seen(&plain()), ["S10 F10", "?? ??"]);
    assert_eq!(seen(&format!("{} d deal p1 S1", plain())), ["S10 F10 S1", "?? ??"]);
    let both = format!("{} d deal p1 S1; p1 drop S10", plain());
    assert_eq!(seen(&both), ["F10 S1", "StarA QueenA"]);
    let folded = format!("{TWO} p1 p2 stand; p1 fold");
    assert_eq!(seen(&folded), ["?? ??", "?? ??"]);
}

/// rules/SPEC.md §11.2.
#[test]
fn the_extra_is_kept_or_it_or_another_card_dropped() {
    let end = |p1: &str| {
        let lines = format!("{} d deal p1 S2; {p1}; d deal p2 F1; p2 drop F1", plain());
        let (hand, refused) = played(force("", &[100, 100]).start().unwrap(), &lines);
        assert_eq!(refused, None);
        let cards = &hand.settlement().expect("over").hands[0].cards;
        let codes: Vec<&str> = cards.iter().map(|&card| S76.code(card)).collect();
        format!("{}: {}", codes.join(" "), ranks(&hand))
    };
    assert_eq!(end("p1 keep"), "S10 F10 S2: light 22, dark -19");
    assert_eq!(end("p1 drop S2"), "S10 F10: light 20, dark -19");
    assert_eq!(end("p1 drop S10"), "F10 S2: light 12, dark -19");
}

/// Checks p1's rank with these two cards on this side, after `what` is done with the extra card.
fn flip(cards: [&str; 2], side: &str, extra: &str, what: &str, rank: &str) {
    let lines = showdown(cards, ["StarB", "QueenB"], [side, "dark"]);
    let lines = format!("{lines} d deal p1 {extra}; p1 {what}; d deal p2 T1; p2 drop T1");
    let (hand, refused) = played(force("", &[100, 100]).start().unwrap(), &lines);
    assert_eq!(refused, None);
    assert_eq!(ranks(&hand).split(", ").next(), Some(rank), "{lines}");
}

/// rules/SPEC.md R-45.
#[test]
fn an_extra_of_the_other_sign_flips_the_side() {
    flip(["S10", "F10"], "light", "QueenA", "keep", "dark 18");
    flip(["S10", "F10"], "dark", "QueenA", "keep", "light 18");
    flip(["S10", "F10"], "light", "S1", "keep", "light 21");
    flip(["EvilA", "QueenA"], "light", "S1", "keep", "dark -16");
    flip(["EvilA", "QueenA"], "dark", "EvilB", "drop EvilA", "dark -17");
    // The sign is that of the hand before the extra card, whichever card is dropped.
    flip(["S10", "EnduranceA"], "light", "EnduranceB", "drop S10", "dark -16");
    flip(["S10", "EnduranceA"], "light", "S4", "drop S10", "light -4");
    // A dropped extra card flips nothing.
    flip(["S10", "F10"], "light", "QueenA", "drop QueenA", "light 20");
    // 0 has no sign: neither a hand of 0 nor an Idiot.
    flip(["S2", "QueenA"], "light", "EnduranceA", "keep", "light -8");
    flip(["S2", "QueenA"], "light", "S8", "keep", "light 8");
    flip(["S10", "F10"], "light", "IdiotA", "keep", "light 20");
}

/// rules/SPEC.md R-45.
#[test]
fn naboo_an_extra_face_of_the_other_shade_flips_the_side() {
    let flip = |p1: &str, extra: &str, what: &str, rank: &str| {
        let lines = format!(
            "d deal p1 {p1}; d deal p2 StarB; d deal p1 S10; d deal p2 EvilB; {QUIET} {QUIET}
             p1 call-hand; d deal p1 {extra}; p1 {what}; d deal p2 T1; p2 drop T1"
        );
        let scene = force("alignment=naboo", &[100, 100]);
        let (hand, refused) = played(scene.start().unwrap(), &lines);
        assert_eq!(refused, None);
        assert_eq!(ranks(&hand), format!("{rank}, bombed -32"), "{lines}");
    };
    flip("QueenA", "S2", "keep", "light 10");
    flip("QueenA", "BalanceA", "keep", "light -3");
    flip("QueenA", "BalanceB", "keep", "dark -3");
    flip("QueenA", "IdiotB", "keep", "dark 8");
    flip("QueenA", "IdiotB", "drop QueenA", "dark 10");
    flip("QueenA", "IdiotB", "drop IdiotB", "light 8");
    flip("QueenB", "IdiotA", "keep", "light 8");
    flip("QueenB", "IdiotB", "keep", "dark 8");
    // Other cards have no shade, and the sign decides nothing here.
    flip("StarA", "S2", "keep", "light -5");
}

/// rules/SPEC.md R-46.
#[test]
fn a_bombed_hand_is_out_and_pays_nothing() {
    let lines = format!("{} d deal p1 S4; p1 keep; d deal p2 F1; p2 drop F1", plain());
    let hand = check(&force("", &[100, 100]), &lines, "p2 wins main 20; stacks 90 110");
    assert_eq!(ranks(&hand), "bombed 24, dark -19");
    let zero = showdown(["S2", "F3"], ["StarA", "QueenA"], ["light", "dark"]);
    let lines = format!("{zero} d deal p1 QueenB; p1 drop F3; d deal p2 F1; p2 drop F1");
    let hand = check(&force("", &[100, 100]), &lines, "p2 wins main 20; stacks 90 110");
    assert_eq!(ranks(&hand), "bombed 0, dark -19");
}

/// rules/SPEC.md §11.2, R-7.
#[test]
fn an_extra_that_cannot_be_dealt_is_left_out() {
    // Eight players draw all 60 cards that are left; nothing is discarded.
    let (mut hand, _) = played(force("max_rounds=8", &[100; 8]).start().unwrap(), "");
    let all = "p1 p2 p3 p4 p5 p6 p7 p8";
    let chance = |hand: &mut rules::Hand, times: usize| (0..times).for_each(|_| chance_comes(hand));
    chance(&mut hand, 8);
    hand = played(hand, &format!("{all} align light")).0;
    chance(&mut hand, 8);
    for cycle in 1..=8 {
        for _ in 0..if cycle == 8 { 4 } else { 8 } {
            take(&mut hand, "draw");
            chance_comes(&mut hand);
        }
        if cycle == 8 {
            assert_eq!(report(&hand), "p5: stand, call-hand");
            hand = played(hand, "p5 p6 p7 stand; p8 call-hand").0;
        } else {
            hand = played(hand, &format!("{all} check")).0;
        }
    }
    let end = hand.settlement().expect("no extra card is due, nobody is asked");
    assert_eq!(end.shown.len(), 8);
}

// Leaving, the clock, and hidden cards.

/// rules/SPEC.md §6.2, R-21.
#[test]
fn the_clock_aligns_with_light_and_drops_the_extra() {
    let default = |when: &str| {
        let (hand, refused) = played(force("", &[100, 100]).start().unwrap(), when);
        assert_eq!(refused, None);
        match next(&hand) {
            Next::Decision(decision) => decision.default.text(&S76),
            other @ (Next::Chance(_) | Next::Done(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!(default("d deal p1 S10; d deal p2 StarA"), "align light");
    assert_eq!(default(TWO), "stand");
    assert_eq!(default(&format!("{TWO} {QUIET} {QUIET}")), "stand");
    assert_eq!(default(&format!("{TWO} p1 p2 stand")), "check");
    assert_eq!(default(&format!("{TWO} p1 p2 stand; p1 bet 10")), "fold");
    assert_eq!(default(&format!("{} d deal p1 S1", plain())), "drop S1");
}

/// rules/SPEC.md §6.3, R-22.
#[test]
fn a_leaver_aligns_stands_checks_and_drops_and_can_win() {
    let left = "d deal p1 S10; d deal p2 StarA; p1 leave; p2 align dark; d deal p1 F10;
        d deal p2 QueenA;";
    choose(left, "p2: draw, trade StarA|QueenA, stand");
    choose(&format!("{left} p2 stand"), "p2: check, bet 10..90, fold");
    let shown =
        format!("{left} p2 stand; p2 check; p2 stand; p2 check; p2 call-hand; d deal p1 S1");
    choose(&shown, "d: deal p2");
    let hand = check(
        &force("", &[100, 100]),
        &format!("{shown}; d deal p2 S2; p2 drop S2"),
        "p1 wins main 20; stacks 110 90",
    );
    assert_eq!(ranks(&hand), "light 20, dark -19");
    choose(
        &format!("{left} p2 stand; p2 bet 10"),
        "p2 returned 10; p2 wins main 20; stacks 90 110",
    );
    // Out of turn, in the showdown.
    choose(
        &format!("{} d deal p1 S1; p2 leave; p1 keep; d deal p2 S2", plain()),
        "p1 wins main 20; stacks 110 90",
    );
}

/// The public's text of this line, and whether its cards are public, after the lines of `when`.
fn public(scene: &Scene, when: &str, line: &str) -> (String, bool) {
    let (hand, refused) = played(scene.start().unwrap(), when);
    assert_eq!(refused, None);
    let event = notation::read(&hand, line).unwrap();
    let seen = censor(&hand, &event, Viewer::Public).unwrap().to_string();
    (seen, are_cards_public(&hand, &event))
}

#[test]
fn cards_are_hidden_until_they_are_opened_or_dealt_face_up() {
    let scene = force("", &[100, 100]);
    assert_eq!(public(&scene, "", "d deal p1 S10"), ("d deal p1 ??".to_owned(), false));
    assert_eq!(public(&scene, TWO, "p1 trade S10"), ("p1 trade ??".to_owned(), false));
    let extra = "d deal p1 S1";
    assert_eq!(public(&scene, &plain(), extra), (extra.to_owned(), true));
    let drop = "p1 drop S10";
    let after = format!("{} {extra}", plain());
    assert_eq!(public(&scene, &after, drop), (drop.to_owned(), true));
    let naboo = force("alignment=naboo", &[100, 100]);
    let shown = "d deal p1 S10 StarA";
    assert_eq!(public(&naboo, "", shown), (shown.to_owned(), true));
}

/// rules/SPEC.md §3.5.
#[test]
fn a_naboo_face_card_lies_face_up_until_it_is_traded() {
    let lines = "d deal p1 S10 StarA; d deal p2 IdiotB; d deal p1 S11; d deal p2 S10";
    let scene = force("alignment=naboo", &[100, 100]);
    let faces = |lines: &str| {
        let (hand, refused) = played(scene.start().unwrap(), lines);
        assert_eq!(refused, None);
        let seen =
            view(&hand, Viewer::Player(Player::parse("p2").unwrap())).players[0].cards.clone();
        seen.iter().map(|card| card.card.map_or("??", |card| S76.code(card))).collect::<Vec<_>>()
    };
    assert_eq!(faces(lines), ["StarA", "??"]);
    assert_eq!(faces(&format!("{lines}; p1 trade StarA; d deal p1 S12")), ["??", "??"]);
    // The side stays.
    let lines = format!("{lines}; p1 trade StarA; d deal p1 S12");
    let (hand, _) = played(scene.start().unwrap(), &lines);
    assert_eq!(sides(&hand)[0], Some(Side::Light));
}
