//! Laws of every hand, under random rules, stacks, shoes and moves.
//!
//! Each case is one hand of every variant. The default is 256 cases; for a long run:
//! `PROPTEST_CASES=100000 cargo test --release -p rules --test suite laws::`.

use std::collections::BTreeSet;

use primitives::{Credits, SeatNo};
use proptest::prelude::*;
use rules::{
    ALL, Card, DecisionAuthor, Event, FieldValue, Hand, Move, Next, Player, RuleSet, Setup,
    ShiftToken, Variant, Viewer, Word, censor, decide, evolve, history_line, next, notation, play,
    view,
};

/// A small generator, so that a failing case is one number.
pub(crate) fn chooser(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % below
    }
}

/// A random value for a field, in or near its range.
fn any_value(
    default: &FieldValue,
    choices: &[&str],
    choose: &mut dyn FnMut(u64) -> u64,
) -> FieldValue {
    match default {
        FieldValue::Number(_) => {
            FieldValue::Number([0, 1, 2, 3, 5, 8, 20, 100, 2_500][index(9, choose)])
        }
        FieldValue::Flag(_) => FieldValue::Flag(choose(2) == 1),
        FieldValue::Text(_) => FieldValue::Text(choices[index(choices.len(), choose)].to_owned()),
        FieldValue::List(_) => {
            let mut names = Vec::new();
            for _ in 0..[1, 1, 2, 3, 6][index(5, choose)] {
                let first = index(14, choose);
                let tokens = ShiftToken::ALL[first..].iter().take(3);
                names.extend(tokens.map(|token| token.name().to_owned()));
            }
            FieldValue::List(names)
        }
    }
}

fn index(below: usize, choose: &mut dyn FnMut(u64) -> u64) -> usize {
    usize::try_from(choose(u64::try_from(below).unwrap())).unwrap()
}

/// Random rules: every field changes with a probability of one in three, if that gives a valid rule
/// set.
fn any_rules(variant: &'static Variant, choose: &mut dyn FnMut(u64) -> u64) -> RuleSet {
    let mut fields: Vec<(String, FieldValue)> = Vec::new();
    for field in variant.fields {
        if choose(3) > 0 {
            continue;
        }
        let value = any_value(&field.default_value(), field.choices, choose);
        fields.push((field.name().to_owned(), value));
        if RuleSet::parse(variant.id, &fields).is_err() {
            fields.pop();
        }
    }
    RuleSet::parse(variant.id, &fields).unwrap()
}

/// A random hand at its start, often with stacks that are soon all-in.
pub(crate) fn any_setup(variant: &'static Variant, choose: &mut dyn FnMut(u64) -> u64) -> Setup {
    let rules = any_rules(variant, choose);
    let (min, max) = (*rules.player_counts().start(), *rules.player_counts().end());
    let players = usize::from(min) + index(usize::from(max - min) + 1, choose);
    let sabacc = if variant.has_sabacc_pot { choose(3) * choose(500) } else { 0 };
    let carried = if variant.has_carried_pot { choose(3) * choose(500) } else { 0 };
    let due = rules.min_stack(Credits::try_new(sabacc).unwrap()).get();
    let depth = [1, 20, 200, 20_000][index(4, choose)];
    Setup {
        rules,
        seats: (1..=u8::try_from(players).unwrap()).map(|n| SeatNo::try_new(n).unwrap()).collect(),
        stacks: (0..players).map(|_| Credits::try_new(due + choose(depth)).unwrap()).collect(),
        sabacc_pot: Credits::try_new(sabacc).unwrap(),
        carried_pot: Credits::try_new(carried).unwrap(),
    }
}

/// A random event; sometimes a player leaves.
fn any_event(hand: &Hand, choose: &mut dyn FnMut(u64) -> u64) -> Option<Event> {
    if let Some(outcome) = play::random_outcome(hand, choose) {
        return Some(rules::resolve_chance(hand, outcome).unwrap());
    }
    match next(hand) {
        Next::Decision(decision) => {
            if choose(60) == 0 {
                let all: Vec<Player> = hand.players().collect();
                let leaver = all[index(all.len(), choose)];
                if let Ok(event) = decide(hand, leaver, Move::Leave, DecisionAuthor::Player) {
                    return Some(event);
                }
            }
            let mv = play::random_move(&decision, choose);
            Some(decide(hand, decision.player, mv, DecisionAuthor::Player).unwrap())
        }
        Next::Done(_) => None,
        Next::Chance(_) => unreachable!("chance was answered above"),
    }
}

/// Plays a whole hand and calls `law` before every event.
fn each_event(setup: &Setup, seed: u64, mut law: impl FnMut(&Hand, &Event)) -> Hand {
    let mut choose = chooser(seed);
    let mut hand = Hand::try_new(setup).unwrap();
    for _ in 0..200_000 {
        let Some(event) = any_event(&hand, &mut choose) else { return hand };
        law(&hand, &event);
        evolve(&mut hand, &event);
    }
    panic!("the hand does not end");
}

fn viewers(hand: &Hand) -> Vec<Viewer> {
    hand.players().map(Viewer::Player).chain([Viewer::Public, Viewer::Auditor]).collect()
}

/// All views of a hand, and all of its cards.
fn everything(hand: &Hand) -> String {
    let views: Vec<_> = viewers(hand).into_iter().map(|viewer| view(hand, viewer)).collect();
    // A line names a card by its code, so copies that are alike are equal there.
    let code = |card: &Card| hand.rules().variant().deck.code(*card);
    let cards: Vec<Vec<&str>> =
        hand.players().map(|p| hand.cards_of(p).iter().map(code).collect()).collect();
    format!("{views:?} {cards:?} {:?} {:?}", hand.lines(), hand.settlement())
}

fn conserves(setup: &Setup, seed: u64) {
    let total =
        Credits::sum(setup.stacks.iter().copied().chain([setup.sabacc_pot, setup.carried_pot]))
            .unwrap();
    let hand = each_event(setup, seed, |hand, _| assert_eq!(hand.total(), total));
    assert_eq!(hand.total(), total);
    let end = hand.settlement().unwrap();
    let pots = [end.finishing_sabacc_pot, end.finishing_carried_pot, end.rake];
    let all = end.finishing_stacks.iter().copied().chain(pots);
    assert_eq!(Credits::sum(all).unwrap(), total, "nothing is left in the Hand Pot");
}

fn default_is_legal(setup: &Setup, seed: u64) {
    each_event(setup, seed, |hand, _| {
        if let Next::Decision(decision) = next(hand) {
            assert!(!decision.legal.is_empty());
            let legal = decision.legal.iter().any(|legal| legal.allows(&decision.default));
            assert!(legal, "{:?} is not among {:?}", decision.default, decision.legal);
        }
    });
}

/// Player whose decision is due, if one is.
fn turn(hand: &Hand) -> Option<Player> {
    match next(hand) {
        Next::Decision(decision) => Some(decision.player),
        Next::Chance(_) | Next::Done(_) => None,
    }
}

/// Checks that the lines, read again, give an equal hand at every event. Every case compares the
/// turn and the credits; one in sixteen compares everything that can be seen, which takes long.
fn replays(setup: &Setup, seed: u64) {
    let thorough = seed.is_multiple_of(16);
    let mut again = Hand::try_new(setup).unwrap();
    let live = each_event(setup, seed, |hand, event| {
        assert_eq!(turn(hand), turn(&again));
        assert_eq!(hand.total(), again.total());
        if thorough {
            assert_eq!(everything(hand), everything(&again));
        }
        let text = history_line(hand, event);
        if text.is_empty() {
            evolve(&mut again, event);
        } else {
            let read =
                notation::read(&again, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
            evolve(&mut again, &read);
        }
    });
    assert_eq!(everything(&live), everything(&again));
}

/// Checks that a view shows a card only to its holder, to viewers who learned it from an event, and
/// to all where hands were shown, and that a censored line hides cards dealt to others.
fn hides(setup: &Setup, seed: u64) {
    let viewers: Vec<Viewer> =
        (0..setup.seats.len()).map(|n| Viewer::Player(nth(n))).chain([Viewer::Public]).collect();
    let mut learned: Vec<BTreeSet<Card>> = vec![BTreeSet::new(); viewers.len()];
    let look = |hand: &Hand, learned: &[BTreeSet<Card>]| {
        for (&viewer, learned) in viewers.iter().zip(learned) {
            for (n, place) in view(hand, viewer).players.iter().enumerate() {
                let holder = nth(n);
                for card in place.cards.iter().filter_map(|seen| seen.card) {
                    let own = viewer == Viewer::Player(holder);
                    let known = own || learned.contains(&card) || hand.is_shown(holder);
                    assert!(known, "{viewer:?} sees a card of {holder}");
                    assert!(own || hand.cards_of(holder).contains(&card));
                }
            }
        }
    };
    let hand = each_event(setup, seed, |hand, event| {
        look(hand, &learned);
        if matches!(event, Event::Chance(rules::Outcome::Shuffled)) {
            learned.iter_mut().for_each(BTreeSet::clear);
            // Cards that lie face up stay known.
            for (n, place) in view(hand, Viewer::Public).players.iter().enumerate() {
                let up = place.cards.iter().filter(|seen| seen.locked).filter_map(|seen| seen.card);
                let up: Vec<Card> = up.collect();
                assert!(up.iter().all(|card| hand.cards_of(nth(n)).contains(card)));
                learned.iter_mut().for_each(|learned| learned.extend(&up));
            }
        }
        for (&viewer, learned) in viewers.iter().zip(&mut learned) {
            let Some(seen) = censor(hand, event, viewer) else { continue };
            learned.extend(seen.words.iter().filter_map(|word| match word {
                Word::Card(card) => *card,
                Word::Amount(_)
                | Word::Number(_)
                | Word::Player(_)
                | Word::Name(_)
                | Word::Hidden => None,
            }));
        }
    });
    look(&hand, &learned);
}

fn nth(n: usize) -> Player {
    Player::try_new(u8::try_from(n).unwrap()).unwrap()
}

fn in_every_variant(seed: u64, law: impl Fn(&Setup, u64)) {
    for variant in ALL {
        let setup = any_setup(variant, &mut chooser(seed));
        law(&setup, seed ^ 0xdead_beef);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    /// rules/SPEC.md §3.1.
    #[test]
    fn credits_are_conserved_at_every_event(seed: u64) {
        in_every_variant(seed, conserves);
    }

    /// rules/SPEC.md §6.2.
    #[test]
    fn the_default_is_always_legal(seed: u64) {
        in_every_variant(seed, default_is_legal);
    }

    #[test]
    fn replay_is_live(seed: u64) {
        in_every_variant(seed, replays);
    }

    /// rules/SPEC.md §3.5.
    #[test]
    fn nobody_sees_a_card_he_may_not(seed: u64) {
        in_every_variant(seed, hides);
    }

    /// rules/SPEC.md §8.3.
    #[test]
    fn canonical_rule_sets_round_trip(seed: u64) {
        in_every_variant(seed, |setup, _| {
            let text = setup.rules.canonical();
            assert_eq!(RuleSet::from_canonical(&text), Ok(setup.rules));
        });
    }

    #[test]
    fn cloned_hands_go_their_own_way(seed: u64) {
        in_every_variant(seed, |setup, seed| {
            let mut choose = chooser(seed);
            let mut hand = Hand::try_new(setup).unwrap();
            for _ in 0..20 {
                if any_event(&hand, &mut choose).map(|event| evolve(&mut hand, &event)).is_none() {
                    break;
                }
            }
            let before = everything(&hand);
            let mut clone = hand.clone();
            while let Some(event) = any_event(&clone, &mut choose) {
                evolve(&mut clone, &event);
            }
            assert_eq!(everything(&hand), before);
        });
    }
}
