//! Kessel: stakes, tokens dealt, turns, laps, rounds.

use rules::{
    Chance, GameState, Hand, K44, KesselPlayerState, KesselState, Next, Player, RevealedHand, S76,
    Viewer, next, view,
};

use crate::scene::{Scene, chance_comes, check, played, report, take};

pub(crate) const DRAWS: &str = "draw sand, draw blood, draw sand-discard, draw blood-discard";

/// A game of this number of players with plenty of credits.
pub(crate) fn kessel(fields: &'static str, players: usize) -> Scene {
    Scene::new("kessel", fields, &vec![1_000; players])
}

pub(crate) const PLAIN: &str = "tokens=assigned,assigned_tokens=free-draw+refund+immunity";

/// Lines of the flips and deals of a round, p1 first.
pub(crate) fn deal(hands: &[(&str, &str)]) -> String {
    let deals = hands.iter().map(|(player, cards)| format!("d deal {player} {cards};"));
    format!("d flip s6 b6; {}", deals.collect::<String>())
}

/// Lines of the first round, started by p1.
pub(crate) fn begin(hands: &[&str]) -> String {
    let names = ["p1", "p2", "p3", "p4", "p5", "p6"];
    let hands: Vec<(&str, &str)> = names.into_iter().zip(hands.iter().copied()).collect();
    format!("d starter p1; {}", deal(&hands))
}

/// State of the game as a viewer knows it.
pub(crate) fn state(hand: &Hand, viewer: Viewer) -> KesselState {
    let GameState::Kessel(state) = view(hand, viewer).game else { panic!() };
    state
}

/// State of one player as everybody knows it.
pub(crate) fn place(hand: &Hand, player: &str) -> KesselPlayerState {
    state(hand, Viewer::Public).players.swap_remove(Player::parse(player).unwrap().index())
}

/// Names of the tokens that a player holds, as a viewer knows them.
pub(crate) fn tokens(hand: &Hand, viewer: Viewer, player: &str) -> String {
    let players = state(hand, viewer).players;
    let place = &players[Player::parse(player).unwrap().index()];
    place.tokens.iter().map(|token| token.name()).collect::<Vec<_>>().join(" ")
}

/// Codes of the top discards, Sand first.
pub(crate) fn discards(hand: &Hand) -> [Option<&'static str>; 2] {
    let state = state(hand, Viewer::Public);
    [state.sand_discard, state.blood_discard].map(|card| card.map(|card| K44.code(card)))
}

/// The hand that a player last revealed, with its rank.
pub(crate) fn revealed(hand: &Hand, player: &str) -> Option<String> {
    let RevealedHand { cards, rank } = place(hand, player).revealed?;
    let codes: Vec<&str> = cards.iter().map(|&card| K44.code(card)).collect();
    Some(format!("{}: {rank}", codes.join(" ")))
}

/// `stock+hand pot` of every player.
pub(crate) fn chips(hand: &Hand) -> String {
    let players = state(hand, Viewer::Public).players;
    let chips = players.iter().map(|place| format!("{}+{}", place.stock, place.hand_pot));
    chips.collect::<Vec<_>>().join(" ")
}

/// Plays a game from these hands, and checks the result and the chips that are left.
pub(crate) fn table(given: (&Scene, &[&str]), when: &str, then: &str, left: &str) -> Hand {
    let hand = check(given.0, &format!("{} {when}", begin(given.1)), then);
    assert_eq!(chips(&hand), left, "after {when}");
    hand
}

pub(crate) fn default_move(hand: &Hand) -> String {
    match next(hand) {
        Next::Decision(decision) => {
            assert!(decision.legal.iter().any(|legal| legal.allows(&decision.default)));
            decision.default.text(hand.rules().variant().deck)
        }
        other @ (Next::Chance(_) | Next::Done(_)) => panic!("{other:?}"),
    }
}

// Stakes.

/// rules/SPEC.md §16, R-51.
#[test]
fn the_stake_is_chips_times_rate() {
    let pot = |fields: &'static str, pot: u64| {
        let hand = kessel(fields, 4).start().unwrap();
        assert_eq!(view(&hand, Viewer::Public).hand_pot.get(), pot, "{fields}");
        assert!(hand.stacks().all(|stack| stack.get() == 1_000 - pot / 4));
    };
    pot("", 480);
    pot("stakes=lay", 480);
    pot("stakes=pro", 800);
    pot("stakes=tournament", 4_000);
    pot("chips=4", 240);
    pot("chips=6,stakes=pro", 600);
}

/// rules/SPEC.md R-2.
#[test]
fn who_cannot_pay_the_stake_is_not_dealt_in() {
    let error = |stacks: &[u64]| Scene::new("kessel", "", stacks).start().unwrap_err().to_string();
    assert_eq!(error(&[120, 119]), "p2 has 119 and needs 120 to be dealt in");
    assert!(Scene::new("kessel", "", &[120, 120]).start().is_ok());
    assert_eq!(error(&[1_000; 7]), "kessel is for 2 to 6 players, not 7");
}

// Tokens dealt.

/// rules/SPEC.md §12.2, R-53.
#[test]
fn random_tokens_are_three_different_ones_for_each_of_a_set_of_his_own() {
    let scene = kessel("", 2);
    let start = report(&scene.start().unwrap());
    assert_eq!(start, "d: tokens p1, tokens p2, starter, , , flip, deal p1, deal p2");
    let same = "d tokens p1 refund embargo immunity; d tokens p2 immunity refund embargo;";
    check(&scene, &format!("{same} d starter p2"), "d: flip, deal p1, deal p2");
    check(&scene, "d tokens p1 refund refund immunity", "refused: 3 different numbers below 16");
    check(&scene, "d tokens p1 refund embargo", "refused: 3 different numbers below 16");
    check(&scene, "d tokens p2 refund embargo immunity", "refused: `d tokens p1` is due");
    check(&scene, "d tokens p1 refund embargo luck", "refused: `luck` is not a token");
}

/// rules/SPEC.md §12.2, R-53.
#[test]
fn chosen_tokens_are_drafted_from_p1_and_then_comes_the_starter() {
    let scene = kessel("tokens=chosen", 2);
    let first = check(
        &scene,
        "p1 choose refund embargo immunity",
        "p2: choose free-draw|refund|\
        extra-refund|embezzlement|general-tariff|target-tariff|general-audit|target-audit|\
        prime-sabacc|markdown|cook-the-books|major-fraud|embargo|immunity|exhaustion|\
        direct-transaction",
    );
    assert_eq!(default_move(&first), "choose free-draw refund extra-refund");
    let both = "p1 choose refund embargo immunity; p2 choose refund embargo immunity";
    check(&scene, both, "d: starter, , , flip, deal p1, deal p2");
    check(&scene, "p1 choose refund refund immunity", "refused: must be one of those listed");
    check(&scene, "p1 choose refund embargo", "refused: `choose` takes three tokens");
    check(&scene, "p2 choose refund embargo immunity", "refused: it is p1's turn");
}

#[test]
fn assigned_tokens_are_the_same_for_everybody() {
    let scene = kessel(PLAIN, 2);
    check(&scene, "", "d: starter, , , flip, deal p1, deal p2");
    let hand = check(
        &scene,
        &begin(&["s1 b2", "s3 b4"]),
        &format!("p1: {DRAWS}, stand, token free-draw, token immunity"),
    );
    assert_eq!(tokens(&hand, Viewer::Auditor, "p2"), "free-draw refund immunity");
}

// Turns.

/// rules/SPEC.md §12.3.
#[test]
fn a_draw_is_paid_for_and_followed_by_a_discard_of_its_family() {
    let given = (&kessel(PLAIN, 2), ["s1 b2", "s3 b4"].as_slice());
    table(given, "p1 draw sand", "d: deal p1", "7+1 8+0");
    let hand = table(given, "p1 draw sand; d deal p1 s5", "p1: discard s1|s5", "7+1 8+0");
    assert_eq!(default_move(&hand), "discard s5", "the card just drawn");
    table(
        given,
        "p1 draw sand; d deal p1 b5",
        "refused: card 1 of the deal cannot be there",
        "7+1 8+0",
    );
    table(
        given,
        "p1 draw sand; d deal p1 s5; p1 discard b2",
        "refused: one of those listed",
        "7+1 8+0",
    );
    let drawn = "p1 draw sand; d deal p1 s5; p1 discard s1;";
    let next = format!("p2: {DRAWS}, stand, token free-draw, token immunity");
    let hand = table(given, drawn, &next, "7+1 8+0");
    assert_eq!(discards(&hand)[0], Some("s1"));
    // The drawn card may go at once.
    table(given, "p1 draw sand; d deal p1 s5; p1 discard s5;", &next, "7+1 8+0");
    let hand = table(given, "p1 draw blood-discard", "p1: discard b2|b6", "7+1 8+0");
    assert_eq!(default_move(&hand), "discard b6");
    // Then that top card lies there again.
    let back = table(given, "p1 draw blood-discard; p1 discard b6", &next, "7+1 8+0");
    assert_eq!(discards(&back)[1], Some("b6"));
}

/// rules/SPEC.md R-5.
#[test]
fn a_hand_is_held_newest_last_whichever_of_two_alike_cards_goes() {
    let hand = |when: &str| {
        let (hand, refused) = played(
            kessel(PLAIN, 2).start().unwrap(),
            &format!("{} {when}", begin(&["s5 b2", "s3 b4"])),
        );
        assert_eq!(refused, None);
        let deck = hand.rules().variant().deck;
        let cards = hand.cards_of(hand.players().next().unwrap()).iter();
        cards.map(|card| deck.code(*card)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(hand("p1 draw sand; d deal p1 s5; p1 discard s5"), "b2 s5");
    assert_eq!(hand("p1 draw sand; d deal p1 s4; p1 discard s4"), "s5 b2");
    assert_eq!(hand("p1 draw sand; d deal p1 s4; p1 discard s5"), "b2 s4");
}

/// rules/SPEC.md R-54.
#[test]
fn without_stock_only_a_free_draw_draws_and_one_stays_in() {
    let four = kessel("chips=4,tokens=assigned,assigned_tokens=free-draw+target-tariff+refund", 2);
    let draw = "p1 draw sand-discard; p1 discard s6;";
    let when = format!("{draw} p2 token target-tariff p1; p2 stand; {draw} p2 stand;");
    let given = (&four, ["s1 b2", "s3 b4"].as_slice());
    let stand = "p1: stand, token free-draw, token target-tariff p2, token refund";
    table(given, &when, stand, "0+2 4+0");
    table(given, &format!("{when} p1 draw sand"), "refused: `draw` is not legal here", "0+2 4+0");
    let free = format!("{when} p1 token free-draw;");
    table(given, &free, &format!("p1: {DRAWS}, stand"), "0+2 4+0");
    table(
        given,
        &format!("{free} p1 draw sand-discard; p1 discard s6"),
        &format!("p2: {DRAWS}, stand, token free-draw"),
        "0+2 4+0",
    );
    let paid = format!("{when} p1 token refund;");
    table(
        given,
        &format!("{paid} {draw}"),
        &format!("p2: {DRAWS}, stand, token free-draw"),
        "1+1 4+0",
    );
}

/// rules/SPEC.md R-6.
#[test]
fn a_draw_pile_that_runs_out_takes_the_discards_but_not_the_top_one() {
    let mut hand = kessel(PLAIN, 6).start().unwrap();
    let hands = ["s1 b1", "s1 b1", "s1 b1", "s2 b2", "s2 b2", "s2 b2"];
    hand = played(hand, &begin(&hands)).0;
    for _ in 0..15 {
        take(&mut hand, "draw");
        chance_comes(&mut hand);
        take(&mut hand, "discard");
    }
    take(&mut hand, "draw");
    let restock = match hand.due() {
        Some(Chance::Deal(deal)) => deal.parts[0].restock.clone().expect("a restock"),
        due => panic!("{due:?}"),
    };
    // The flip and fifteen discards, less the top one.
    assert_eq!((restock.after, restock.cards.len()), (0, 15));
    let deck = hand.rules().variant().deck;
    let top = discards(&hand)[0].unwrap();
    let in_piles = restock.cards.iter().filter(|card| deck.code(**card) == top).count();
    let in_hands = hand.players().flat_map(|p| hand.cards_of(p).to_vec());
    let in_hands = in_hands.filter(|card| deck.code(*card) == top).count();
    assert_eq!(in_piles + in_hands, deck.parse(top).len() - 1, "the top one lies where it lay");
}

// Laps and rounds.

/// rules/SPEC.md §12.1.
#[test]
fn three_laps_from_the_starter() {
    let scene = kessel(PLAIN, 3);
    let hands = deal(&[("p1", "s1 b2"), ("p2", "s3 b4"), ("p3", "s5 b6")]);
    let next = |player: &str| format!("{player}: {DRAWS}, stand, token free-draw, token immunity");
    let start = format!("d starter p2; {hands}");
    check(&scene, &start, &next("p2"));
    check(&scene, &format!("{start} p2 stand"), &next("p3"));
    check(&scene, &format!("{start} p2 stand; p3 stand"), &next("p1"));
    let draw = "p1 draw sand-discard; p1 discard s6;";
    let lap = format!("p2 stand; p3 stand; {draw}");
    let hand = check(&scene, &format!("{start} {lap}"), &next("p2"));
    assert_eq!(state(&hand, Viewer::Public).lap, 2);
    let hand = check(&scene, &format!("{start} {lap} {lap}"), &next("p2"));
    assert_eq!(state(&hand, Viewer::Public).lap, 3);
    let hand =
        check(&scene, &format!("{start} {lap} {lap} {lap}"), "d: flip, deal p1, deal p2, deal p3");
    // p1's difference equals the others', and p1's sum is the lowest.
    assert_eq!(chips(&hand), "8+0 7+0 7+0");
}

/// rules/SPEC.md §12.1.
#[test]
fn when_all_stand_in_the_same_lap_the_hands_are_revealed_at_once() {
    let given = (&kessel(PLAIN, 2), ["s1 b2", "s3 b5"].as_slice());
    let over = "d: flip, deal p1, deal p2";
    table(given, "p1 p2 stand", over, "8+0 6+0");
    let draw = "p1 draw sand-discard; p1 discard s6; p2 stand;";
    let next = format!("p1: {DRAWS}, stand, token free-draw, token refund, token immunity");
    // p2 stands in the first lap, p1 in the second: not in one lap.
    table(
        given,
        &format!("{draw} p1 stand; p2 draw sand-discard; p2 discard s6"),
        &next,
        "7+1 7+1",
    );
    table(given, &format!("{draw} p1 p2 stand"), over, "8+0 6+0");
}

/// rules/SPEC.md §12.1.
#[test]
fn the_next_starter_is_the_next_one_clockwise_that_is_still_in() {
    let scene = kessel("chips=4,tokens=assigned,assigned_tokens=free-draw+refund+immunity", 3);
    let next = |player: &str| format!("{player}: {DRAWS}, stand, token free-draw, token immunity");
    let first = format!(
        "d starter p3; {} p3 p1 p2 stand;",
        deal(&[("p1", "s1 b6"), ("p2", "s3 b3"), ("p3", "s2 b2")])
    );
    // p1, who would be next, is eliminated.
    let second = deal(&[("p2", "s1 b1"), ("p3", "s1 b1")]);
    let hand = check(&scene, &format!("{first} {second}"), &next("p2"));
    assert_eq!(hand.lines().iter().map(ToString::to_string).collect::<Vec<_>>(), ["p1 eliminated"]);
    let third = deal(&[("p2", "s1 b1"), ("p3", "s1 b1")]);
    check(&scene, &format!("{first} {second} p2 p3 stand; {third}"), &next("p3"));
}

#[test]
fn every_round_has_the_whole_pack_again() {
    let scene = kessel(PLAIN, 2);
    let round = deal(&[("p1", "sY bY"), ("p2", "s1 b1")]);
    let all = format!("d starter p1; {round} p1 p2 stand; {round} p2 p1 stand; {round}");
    let hand = check(&scene, &all, &format!("p1: {DRAWS}, stand, token free-draw, token immunity"));
    assert_eq!(view(&hand, Viewer::Public).round, 3);
    assert_eq!(chips(&hand), "8+0 6+0");
}

#[test]
fn other_games_moves_are_no_lines_here() {
    let given = (&kessel(PLAIN, 2), ["s1 b2", "s3 b5"].as_slice());
    for line in ["p1 draw", "p1 fold", "p1 check", "p1 trade s1", "p1 draw s1"] {
        let (hand, refused) =
            played(given.0.start().unwrap(), &format!("{} {line}", begin(given.1)));
        assert!(refused.is_some(), "{line}");
        assert_eq!(chips(&hand), "8+0 8+0");
    }
    assert!(S76.parse("sI").is_empty());
}
