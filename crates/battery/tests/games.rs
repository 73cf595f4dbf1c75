//! The battery tests exactly the piles, dice and pulses that the games ask for.

use std::collections::BTreeSet;

use battery::{DICE, PILES, PULSES};
use primitives::{Credits, SeatNo};
use rules::{Chance, Hand, RuleSet, Setup, play};

/// SplitMix64: chooses below `n`.
fn choose(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (word ^ (word >> 31)) % n
}

/// Plays random hands of a game. `each` sees every use of chance.
fn play_hands(rules: &RuleSet, players: u8, each: &mut dyn FnMut(&Chance)) {
    let seats =
        (0..players).map(|seat| SeatNo::try_from(u32::from(seat) + 1).expect("at most eight"));
    let setup = Setup {
        rules: *rules,
        seats: seats.collect(),
        stacks: vec![Credits::of(100_000); usize::from(players)],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    };
    let mut state = u64::from(players);
    for _ in 0..20 {
        let mut hand = Hand::try_new(&setup).expect("a lawful setup");
        let mut see = |hand: &Hand, _: &rules::Event| hand.due().iter().for_each(|due| each(due));
        play::to_the_end(&mut hand, &mut |n| choose(&mut state, n), &mut see)
            .expect("random play is legal");
    }
}

/// fairness/SPEC.md §13.2.
#[test]
fn every_pile_die_and_pulse_of_the_games_is_tested() {
    let mut seen = (BTreeSet::new(), BTreeSet::new());
    for variant in rules::ALL {
        for pile in variant.piles {
            let cards = pile.end - pile.first;
            let known = PILES.iter().any(|it| it.first == pile.first && it.cards == cards);
            assert!(known, "{}: pile {}", variant.id, pile.name);
        }
        let rules = RuleSet::defaults(variant);
        for players in rules.player_counts() {
            play_hands(&rules, players, &mut |chance| match chance {
                Chance::Roll { sides, .. } => {
                    let known = sides.iter().all(|sides| DICE.contains(sides));
                    assert!(known, "{}: dice {sides:?}", variant.id);
                    seen.0.extend(sides.iter().copied());
                }
                Chance::Pulse { ppm } => {
                    assert!(PULSES.contains(ppm), "{}: pulse {ppm}", variant.id);
                    seen.1.insert(*ppm);
                }
                Chance::Shuffle { .. }
                | Chance::Deal(_)
                | Chance::Pick { .. }
                | Chance::Sample { .. } => {}
            });
        }
    }
    assert!(seen.0.contains(&6));
    assert_eq!(seen.1, BTreeSet::from(PULSES), "no rate is tested that nobody asks for");
}
