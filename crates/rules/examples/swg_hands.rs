//! Plays a million four-player hands of Sabacc for SWG by random legal moves, on one core: for
//! timing in a release build.

use std::hint::black_box;

use primitives::{Credits, SeatNo};
use rules::{Hand, RuleSet, Setup, play, variant};

const HANDS: u64 = 1_000_000;

fn main() {
    let swg = variant("swg").expect("it is in the registry");
    let stack = Credits::of(10_000);
    let setup = Setup {
        rules: RuleSet::defaults(swg),
        seats: (1..=4).filter_map(|seat| SeatNo::try_new(seat).ok()).collect(),
        stacks: vec![stack; 4],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    };
    let mut state = 1_u64;
    let mut choose = move |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Scaled instead of divided: the choice must not cost more than the move.
        u64::try_from((u128::from(word ^ (word >> 31)) * u128::from(below)) >> 64).unwrap_or(0)
    };
    let mut events = 0_u64;
    for _ in 0..HANDS {
        let mut hand = Hand::try_new(&setup).expect("the stacks cover the antes");
        play::to_the_end(&mut hand, &mut choose, &mut |_, _| events += 1)
            .expect("random moves are legal");
        black_box(hand.settlement());
    }
    // Every hand has at least a shuffle and four deals.
    assert!(events > 5 * HANDS);
    black_box(events);
}
