//! Properties of any source of chance: bounds, permutations, and the frequencies of a fair one.
//! Seeds are fixed, so a failure here is a defect and never bad luck.

use fairness::{
    Commitment, Context, Keys, MAX_CARDS, Operation, OperationError, Outcome, Seed, Transcript,
    perform,
};
use primitives::TableId;
use proptest::prelude::*;
use zeroize::Zeroizing;

fn keys(hand_no: u64) -> Keys {
    let context = Context::new("outcomes", TableId([1; 16]), hand_no, &[2; 32]);
    let seed = Seed::new(Zeroizing::new([3; 64]));
    let dealer = Commitment::new(&context, &seed);
    let transcript = Transcript::try_new(&context, &dealer, None, &[]).expect("in bounds");
    Keys::derive(&transcript, &seed)
}

fn cards(keys: &Keys, index: u32, cards: &[u8]) -> Vec<u8> {
    let operation = Operation::Shuffle { pile: 0, cards: cards.to_vec() };
    let Outcome::Shuffled(cards) = perform(keys, index, &operation).expect("in bounds") else {
        panic!("a shuffle shuffles")
    };
    cards
}

fn numbers(keys: &Keys, index: u32, operation: &Operation) -> Vec<u32> {
    match perform(keys, index, operation).expect("in bounds") {
        Outcome::Shuffled(cards) => cards.into_iter().map(u32::from).collect(),
        Outcome::Rolled(sides) => sides.into_iter().map(u32::from).collect(),
        Outcome::Pulsed(yes) => vec![u32::from(yes)],
        Outcome::Picked(one) => vec![one],
        Outcome::Sampled(some) => some,
    }
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (any::<u8>(), prop::collection::vec(any::<u8>(), 1..=MAX_CARDS))
            .prop_map(|(pile, cards)| Operation::Shuffle { pile, cards }),
        prop::collection::vec(1_u8.., 1..=255).prop_map(|sides| Operation::Roll { sides }),
        (0_u32..=1_000_000).prop_map(|ppm| Operation::Pulse { ppm }),
        (1_u32..).prop_map(|n| Operation::Pick { n }),
        (1_u32..)
            .prop_flat_map(|n| (Just(n), 1..=n.min(255)))
            .prop_map(|(n, k)| Operation::Sample { n, k }),
    ]
}

proptest! {
    /// fairness/SPEC.md §6.1.
    #[test]
    fn outcomes_are_in_bounds_and_repeatable(
        hand in any::<u64>(), index in any::<u32>(), operation in any_operation(),
    ) {
        let keys = keys(hand);
        let drawn = numbers(&keys, index, &operation);
        prop_assert_eq!(&drawn, &numbers(&keys, index, &operation));
        match &operation {
            Operation::Shuffle { pile: _, cards } => {
                let mut before: Vec<u32> = cards.iter().copied().map(u32::from).collect();
                let mut after = drawn;
                before.sort_unstable();
                after.sort_unstable();
                prop_assert_eq!(before, after, "the same cards");
            }
            Operation::Roll { sides } => {
                prop_assert_eq!(drawn.len(), sides.len());
                for (side, sides) in drawn.iter().zip(sides) {
                    prop_assert!((1..=u32::from(*sides)).contains(side));
                }
            }
            Operation::Pulse { ppm } => {
                prop_assert!(*ppm != 0 || drawn == [0]);
                prop_assert!(*ppm != 1_000_000 || drawn == [1]);
            }
            Operation::Pick { n } => prop_assert!(drawn[0] < *n),
            Operation::Sample { n, k } => {
                prop_assert_eq!(drawn.len(), usize::try_from(*k).expect("in bounds"));
                prop_assert!(drawn.iter().all(|one| one < n));
                let different: std::collections::BTreeSet<u32> = drawn.iter().copied().collect();
                prop_assert_eq!(different.len(), drawn.len());
            }
        }
    }
}

/// fairness/SPEC.md §6.1.
#[test]
fn what_is_out_of_bounds_is_refused() {
    let refused = [
        (Operation::Shuffle { pile: 0, cards: vec![] }, OperationError::Cards(0)),
        (Operation::Shuffle { pile: 0, cards: vec![0; 256] }, OperationError::Cards(256)),
        (Operation::Roll { sides: vec![] }, OperationError::Dice(0)),
        (Operation::Roll { sides: vec![6; 256] }, OperationError::Dice(256)),
        (Operation::Roll { sides: vec![6, 0] }, OperationError::NoSides(1)),
        (Operation::Pulse { ppm: 1_000_001 }, OperationError::Ppm(1_000_001)),
        (Operation::Pick { n: 0 }, OperationError::PickOfNone),
        (Operation::Sample { n: 0, k: 0 }, OperationError::Sample { n: 0, k: 0 }),
        (Operation::Sample { n: 5, k: 0 }, OperationError::Sample { n: 5, k: 0 }),
        (Operation::Sample { n: 5, k: 6 }, OperationError::Sample { n: 5, k: 6 }),
        (Operation::Sample { n: 999, k: 256 }, OperationError::Sample { n: 999, k: 256 }),
    ];
    for (operation, error) in refused {
        assert_eq!(perform(&keys(0), 0, &operation), Err(error), "{operation:?}");
    }
}

/// fairness/SPEC.md §6.2.
#[test]
fn index_kind_parameters_and_hand_all_count() {
    let all: Vec<u8> = (0..76).collect();
    let base = cards(&keys(0), 0, &all);
    assert_ne!(base, cards(&keys(1), 0, &all));
    assert_ne!(base, cards(&keys(0), 1, &all));
    let pile = Operation::Shuffle { pile: 1, cards: all };
    assert_ne!(perform(&keys(0), 0, &pile), Ok(Outcome::Shuffled(base)));
    let pick = numbers(&keys(0), 0, &Operation::Pick { n: u32::MAX });
    assert_ne!(pick, numbers(&keys(0), 0, &Operation::Sample { n: u32::MAX, k: 1 }));
}

#[test]
fn cards_do_not_print() {
    let cards = vec![41, 42, 43];
    let shown = format!("{:?}", Operation::Shuffle { pile: 9, cards: cards.clone() });
    assert_eq!(shown, "Shuffle { pile: 9, cards: 3 }");
    assert_eq!(format!("{:?}", Outcome::Shuffled(cards)), "Shuffled(3 cards)");
    assert_eq!(format!("{:?}", keys(0)), "Keys(..)");
}

/// Sum of squared deviations of `seen` from a uniform expectation, each over the expectation.
fn chi_squared(seen: &[u32]) -> f64 {
    let expected =
        f64::from(seen.iter().sum::<u32>()) / f64::from(u32::try_from(seen.len()).expect("few"));
    seen.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum()
}

/// Checks that the statistic is within four standard deviations of the chi-squared law's mean, on
/// both sides: too even is as wrong as too uneven.
#[track_caller]
fn check_uniform(seen: &[u32]) {
    let freedom = f64::from(u32::try_from(seen.len()).expect("few") - 1);
    let (got, spread) = (chi_squared(seen), (2.0 * freedom).sqrt());
    assert!((got - freedom).abs() < 4.0 * spread, "chi-squared {got} at {freedom} degrees");
}

#[test]
fn every_card_comes_first_and_every_place_takes_card_0_equally_often() {
    let all: Vec<u8> = (0..76).collect();
    let (mut first, mut place) = ([0; 76], [0; 76]);
    for hand in 0..7_600 {
        let deck = cards(&keys(hand), 0, &all);
        first[usize::from(deck[0])] += 1;
        place[deck.iter().position(|card| *card == 0).expect("in bounds")] += 1;
    }
    check_uniform(&first);
    check_uniform(&place);
}

#[test]
fn every_order_of_four_cards_is_as_likely() {
    let mut seen = std::collections::BTreeMap::<Vec<u8>, u32>::new();
    for index in 0..4_800 {
        *seen.entry(cards(&keys(0), index, &[0, 1, 2, 3])).or_default() += 1;
    }
    assert_eq!(seen.len(), 24);
    check_uniform(&seen.into_values().collect::<Vec<_>>());
}

/// fairness/SPEC.md §6.6.
#[test]
fn dice_picks_and_samples_are_even() {
    let (mut pairs, mut picks, mut samples) = ([0; 36], [0; 10], [0; 12]);
    for index in 0..7_200 {
        let rolled = numbers(&keys(0), index, &Operation::Roll { sides: vec![6, 6] });
        pairs[((rolled[0] - 1) * 6 + rolled[1] - 1) as usize] += 1;
        picks[numbers(&keys(1), index, &Operation::Pick { n: 10 })[0] as usize] += 1;
        let two = numbers(&keys(2), index, &Operation::Sample { n: 4, k: 2 });
        let rank = two[0] * 3 + if two[1] > two[0] { two[1] - 1 } else { two[1] };
        samples[rank as usize] += 1;
    }
    check_uniform(&pairs);
    check_uniform(&picks);
    check_uniform(&samples);
}

/// fairness/SPEC.md §6.6.
#[test]
fn pulses_come_at_their_rate() {
    let pulse = Operation::Pulse { ppm: 100_000 };
    let yes: u32 = (0..20_000).map(|index| numbers(&keys(0), index, &pulse)[0]).sum();
    // 2,000 expected, standard deviation 42.4.
    assert!((1_830..=2_170).contains(&yes), "{yes} of 20000");
}
