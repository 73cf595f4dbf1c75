//! `spike`: actions over an open discard pile, dice that replace every hand, the presets.

use primitives::Credits;
use rules::{Chance, GameState, Hand, Player, Viewer, are_cards_public, notation, view};

use crate::scene::{Scene, chance_comes, check, played, ranks, report, take};

fn spike(fields: &'static str, stacks: &[u64]) -> Scene {
    Scene::new("spike", fields, stacks)
}

const DEAL: &str = "d deal p1 c+1 c+2; d deal p2 t+1 t+2; d flip s+9;";

fn two(when: &str, then: &str) -> Hand {
    check(&spike("", &[100, 100]), &format!("{DEAL} {when}"), then)
}

fn black_spire(when: &str, then: &str) -> Hand {
    check(&spike("preset=black-spire", &[100, 100]), &format!("{DEAL} {when}"), then)
}

/// Codes of a player's hand, and the top discard.
fn table(hand: &Hand, name: &str) -> (Vec<&'static str>, String) {
    let deck = hand.rules().variant().deck;
    let cards = hand.cards_of(Player::parse(name).unwrap());
    (cards.iter().map(|&card| deck.code(card)).collect(), top_discard(hand).to_owned())
}

fn top_discard(hand: &Hand) -> &'static str {
    let GameState::Spike(state) = view(hand, Viewer::Public).game else { panic!() };
    hand.rules().variant().deck.code(state.top_discard.unwrap())
}

// Order of a hand.

#[test]
fn two_cards_each_and_one_flipped() {
    let scene = spike("", &[100, 100]);
    check(&scene, "", "d: deal p1, deal p2, flip");
    check(&scene, DEAL, "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk");
    check(&scene, &DEAL.replace("s+9", "c+1"), "refused: card 1 of the deal cannot be there");
}

/// rules/SPEC.md §14.2.
#[test]
fn a_casino_rolls_and_bets_after_the_actions_of_each_round() {
    two("p1 p2 stand", "d: roll");
    two("p1 p2 stand; d roll 1 2", "p1: check, bet 2..96, fold");
    let round = "p1 p2 stand; d roll 1 2; p1 p2 check;";
    two(round, "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk");
    two(&round.repeat(2), "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk");
    let hand = two(&round.repeat(3), "d: deal p1, deal p2");
    assert_eq!(view(&hand, Viewer::Public).round, 3);
}

/// rules/SPEC.md §14.1.
#[test]
fn black_spire_rolls_and_does_not_bet() {
    let scene = spike("preset=black-spire", &[1, 1]);
    assert_eq!(scene.rules().min_stack(Credits::ZERO), Credits::of(1));
    let round = "p1 p2 stand; d roll 1 2;";
    check(&scene, &format!("{DEAL} {round}"), "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk");
    let hand = check(
        &scene,
        &format!("{DEAL} p1 gain c+1; d deal p1 c-2; {round}").replace("p1 p2 stand", "p2 stand"),
        "p1: gain, gain c+2|c-2, swap c+2|c-2, stand, junk",
    );
    let (hand, refused) = played(hand, &round.repeat(2));
    assert_eq!(refused, None);
    assert_eq!(report(&hand), "stacks 1 1", "without pots nobody pays anything");
    assert_eq!(ranks(&hand), "sabacc-pair, nulrhek");
    assert_eq!(hand.settlement().unwrap().winners.lowest(), Player::parse("p1"));
}

/// rules/SPEC.md §14.1.
#[test]
fn a_preset_is_overridden_by_other_fields() {
    let rules = |fields: &'static str| spike(fields, &[]).rules().canonical();
    let has = |fields: &'static str, line: &str| {
        assert!(rules(fields).lines().any(|have| have == line), "{fields}: {line}");
    };
    has("", "preset = \"casino\"");
    has("", "hand_ante = 2");
    has("", "sabacc_ante = 2");
    has("", "sabacc_ante_when = \"every_hand\"");
    has("preset=black-spire", "hand_ante = 0");
    has("preset=black-spire", "sabacc_ante = 0");
    has("hand_ante=7,preset=black-spire", "hand_ante = 7");
    has("hand_ante=7,preset=black-spire", "sabacc_ante = 0");
    has("preset=casino,sabacc_ante=0", "hand_ante = 2");
    // Antes, and still no betting.
    let scene = spike("preset=black-spire,hand_ante=10", &[100, 100]);
    check(&scene, &format!("{DEAL} p1 stand; p2 junk"), "p1 wins main 20; stacks 110 90");
    check(
        &scene,
        &format!("{DEAL} p1 p2 stand; d roll 1 2"),
        "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk",
    );
}

#[test]
fn all_in_players_act_too() {
    let scene = spike("", &[4, 4, 100]);
    let deal = "d deal p1 c+1 c+2; d deal p2 t+1 t+2; d deal p3 s+1 s+2; d flip s+9;";
    check(&scene, deal, "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk");
    check(
        &scene,
        &format!("{deal} p1 p2 p3 stand; d roll 1 2"),
        "p1: gain, gain c+1|c+2, swap c+1|c+2, stand, junk",
    );
}

// Actions.

/// rules/SPEC.md §14.3.
#[test]
fn gain_takes_the_top_of_the_draw_pile() {
    two("p1 gain", "d: deal p1");
    two("p1 gain; d deal p1 s+9", "refused: card 1 of the deal cannot be there");
    let hand = two("p1 gain; d deal p1 s+1", "p2: gain, gain t+1|t+2, swap t+1|t+2, stand, junk");
    assert_eq!(table(&hand, "p1"), (vec!["c+1", "c+2", "s+1"], "s+9".to_owned()));
}

/// rules/SPEC.md §14.3.
#[test]
fn gain_may_discard_a_card_first() {
    two("p1 gain c+1", "d: deal p1");
    two("p1 gain c+1; d deal p1 c+1", "refused: card 1 of the deal cannot be there");
    let hand =
        two("p1 gain c+1; d deal p1 s+1", "p2: gain, gain t+1|t+2, swap t+1|t+2, stand, junk");
    assert_eq!(table(&hand, "p1"), (vec!["c+2", "s+1"], "c+1".to_owned()));
}

/// rules/SPEC.md §14.3.
#[test]
fn five_cards_are_the_most() {
    let scene = spike("preset=black-spire", &[100, 100]);
    let mut hand = played(scene.start().unwrap(), DEAL).0;
    for _ in 0..3 {
        take(&mut hand, "gain");
        chance_comes(&mut hand);
        hand = played(hand, "p2 stand; d roll 1 2").0;
    }
    // The hand is over after three rounds: five cards are reached in the third.
    assert_eq!(hand.cards_of(Player::parse("p1").unwrap()).len(), 5);
    assert!(hand.settlement().is_some());
    // A redraw gives as many cards as there were, never more.
    let (hand, refused) = played(
        scene.start().unwrap(),
        &format!(
            "{DEAL} p1 gain; d deal p1 c+3; p2 stand; d roll 1 2; p1 gain; d deal p1 c+4; p2 stand;
             d roll 1 2; p1 gain; d deal p1 c+5; p2 stand; d roll 4 4; d deal p1 s+1 s+2 s+3 s+4 s+5;
             d deal p2 t+3 t+4"
        ),
    );
    assert_eq!(refused, None);
    assert!(hand.settlement().is_some());
}

/// rules/SPEC.md §14.3.
#[test]
fn swap_takes_the_top_discard_for_a_card() {
    let hand = two("p1 swap c+1", "p2: gain, gain t+1|t+2, swap t+1|t+2, stand, junk");
    assert_eq!(table(&hand, "p1"), (vec!["c+2", "s+9"], "c+1".to_owned()));
    let hand = two("p1 swap c+1; p2 swap t+2", "d: roll");
    assert_eq!(table(&hand, "p2"), (vec!["t+1", "c+1"], "t+2".to_owned()));
    two("p1 swap s+9", "refused: must be one of those listed");
}

/// rules/SPEC.md R-5.
#[test]
fn of_two_sylops_the_one_held_longest_goes() {
    let start = spike("", &[100, 100]).start().unwrap();
    let deal = "d deal p1 Y c+1; d deal p2 t+1 t+2; d flip s+9; p1 gain; d deal p1 Y; p2 stand;
        d roll 1 2; p1 p2 check";
    let (hand, refused) = played(start, deal);
    assert_eq!(refused, None);
    let held = hand.cards_of(Player::parse("p1").unwrap()).to_vec();
    let swap = |card| {
        let mut hand = hand.clone();
        let player = Player::parse("p1").unwrap();
        let event =
            rules::decide(&hand, player, rules::Move::Swap(card), rules::DecisionAuthor::Player);
        rules::evolve(&mut hand, &event.unwrap());
        table(&hand, "p1")
    };
    let after = (vec!["c+1", "Y", "s+9"], "Y".to_owned());
    assert_eq!(swap(held[0]), after);
    assert_eq!(swap(held[2]), after, "nobody can tell them apart");
}

/// rules/SPEC.md §3.4.
#[test]
fn junk_goes_face_down_under_the_discards() {
    let scene = spike("", &[100, 100, 100]);
    let deal = "d deal p1 c+1 c+2; d deal p2 t+1 t+2; d deal p3 s+1 s+2; d flip s+9;";
    let hand = check(
        &scene,
        &format!("{deal} p1 junk; p2 swap t+1"),
        "p3: gain, gain s+1|s+2, swap s+1|s+2, stand, junk",
    );
    assert_eq!(table(&hand, "p2"), (vec!["t+2", "s+9"], "t+1".to_owned()));
    let hand = two("p1 junk", "p2 wins main 4; stacks 96 100; sabacc 4");
    assert_eq!(ranks(&hand), "folded, -");
}

/// rules/SPEC.md R-22.
#[test]
fn the_clock_stands_and_leaving_does_too() {
    two("p1 leave", "p2: gain, gain t+1|t+2, swap t+1|t+2, stand, junk");
    two(
        "p1 p2 stand; d roll 1 2; p2 leave; p1 bet 2",
        "p1 returned 2; p1 wins main 4; stacks 100 96; sabacc 4",
    );
    two("p2 leave; p1 junk", "p2 wins main 4; stacks 96 100; sabacc 4");
}

// The dice.

/// rules/SPEC.md R-72.
#[test]
fn a_pair_takes_every_hand_and_deals_as_many() {
    two("p1 gain; d deal p1 s+1; p2 stand; d roll 3 3", "d: deal p1, deal p2");
    two(
        "p1 gain; d deal p1 s+1; p2 stand; d roll 3 3; d deal p1 c-1 c-2",
        "refused: 3 cards are due, not 2",
    );
    let hand = two(
        "p1 gain; d deal p1 s+1; p2 stand; d roll 3 3; d deal p1 c-1 c-2 c-3; d deal p2 t-1 t-2",
        "p1: check, bet 2..96, fold",
    );
    assert_eq!(table(&hand, "p1"), (vec!["c-1", "c-2", "c-3"], "s+9".to_owned()));
    assert_eq!(table(&hand, "p2"), (vec!["t-1", "t-2"], "s+9".to_owned()));
    two("p1 p2 stand; d roll 1 7", "refused: 2 dice of 6 sides");
}

/// rules/SPEC.md R-72.
#[test]
fn the_dice_are_rolled_after_round_three_too() {
    let round = "p1 p2 stand; d roll 1 2;";
    let hand = black_spire(
        &format!("{} p1 p2 stand; d roll 5 5; d deal p1 Y Y; d deal p2 t-1 t-2", round.repeat(2)),
        "stacks 100 100",
    );
    assert_eq!(ranks(&hand), "pure, nulrhek");
    let casino = "p1 p2 stand; d roll 1 2; p1 p2 check;";
    two(
        &format!("{} p1 p2 stand; d roll 5 5; d deal p1 Y Y; d deal p2 t-1 t-2", casino.repeat(2)),
        "p1: check, bet 2..96, fold",
    );
}

/// rules/SPEC.md R-72.
#[test]
fn folded_players_do_not_redraw() {
    let scene = spike("", &[100, 100, 100]);
    check(
        &scene,
        "d deal p1 c+1 c+2; d deal p2 t+1 t+2; d deal p3 s+1 s+2; d flip s+9; p1 stand; p2 junk;
         p3 stand; d roll 6 6",
        "d: deal p1, deal p3",
    );
}

/// rules/SPEC.md R-6.
#[test]
fn the_top_discard_stays_when_the_others_are_shuffled_in() {
    let scene = spike("preset=black-spire", &[100; 8]);
    let mut hand = played(scene.start().unwrap(), "").0;
    // Two cards each and the flip; then eight gains and a redraw of 24, eight gains and one of 32.
    for _ in 0..9 {
        chance_comes(&mut hand);
    }
    let flipped = top_discard(&hand);
    let redraws = |hand: &mut Hand| {
        for _ in 0..8 {
            take(hand, "gain");
            chance_comes(hand);
        }
        chance_comes(hand);
    };
    redraws(&mut hand);
    for _ in 0..8 {
        chance_comes(&mut hand);
    }
    redraws(&mut hand);
    // 62 less 24, 1, 24 and 8 leave 5 to draw: four for p1, one for p2.
    chance_comes(&mut hand);
    let restock = match hand.due() {
        Some(Chance::Deal(deal)) => deal.parts[0].restock.clone().expect("a restock"),
        due => panic!("{due:?}"),
    };
    assert_eq!((restock.after, restock.cards.len()), (1, 24 + 32));
    let deck = hand.rules().variant().deck;
    assert!(restock.cards.iter().all(|&card| deck.code(card) != flipped));
    chance_comes(&mut hand);
    assert_eq!(top_discard(&hand), flipped);
}

// Hidden cards.

#[test]
fn single_discards_lie_face_up_and_draws_do_not() {
    let (hand, refused) = played(spike("", &[100, 100]).start().unwrap(), DEAL);
    assert_eq!(refused, None);
    let other = Viewer::Player(Player::parse("p2").unwrap());
    for line in ["p1 gain c+1", "p1 swap c+2"] {
        let event = notation::read(&hand, line).unwrap();
        for viewer in [other, Viewer::Public, Viewer::Auditor] {
            assert_eq!(rules::censor(&hand, &event, viewer).unwrap().to_string(), line);
        }
        assert!(are_cards_public(&hand, &event));
    }
    let (hand, _) = played(hand, "p1 gain");
    let event = notation::read(&hand, "d deal p1 s+1").unwrap();
    let seen = |viewer| rules::censor(&hand, &event, viewer).unwrap().to_string();
    assert_eq!(seen(other), "d deal p1 ??");
    assert!(!are_cards_public(&hand, &event));
    // A card from the discards is in the hand like any other card.
    let (hand, _) = played(spike("", &[100, 100]).start().unwrap(), &format!("{DEAL} p1 swap c+1"));
    let cards = view(&hand, Viewer::Public).players[0].cards.clone();
    assert!(cards.iter().all(|seen| seen.card.is_none()));
}
