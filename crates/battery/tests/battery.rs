//! Tests of the battery itself: the real dealer passes it, and dealers with one defect each do not.
//! Seeds are fixed, so nothing here depends on luck.

use battery::{
    DICE, HandOutcomes, Measured, PILES, PULSES, Pile, Report, Tally, Test, draw_hand_of,
    judge_all, measure,
};

/// Deals `hands` hands of each of 20 seeds with one pile.
fn deal<const N: usize>(
    pile: Pile,
    hands: u64,
    mut dealer: impl FnMut(u64, u64) -> HandOutcomes<N>,
) -> Measured {
    let mut tally = |seed| {
        let mut tally = Tally::new();
        (0..hands).for_each(|hand| tally.add(&dealer(seed, hand)));
        (seed, tally)
    };
    measure(pile, &(1..=20).map(&mut tally).collect::<Vec<_>>())
}

/// fairness/SPEC.md §13.2.
#[test]
fn the_dealer_passes_with_every_pile() {
    let [p76, p62, sand, blood, p42] = PILES;
    let report = judge_all(vec![
        deal::<76>(p76, 400, |seed, hand| draw_hand_of(p76, seed, hand)),
        deal::<62>(p62, 400, |seed, hand| draw_hand_of(p62, seed, hand)),
        deal::<22>(sand, 400, |seed, hand| draw_hand_of(sand, seed, hand)),
        deal::<22>(blood, 400, |seed, hand| draw_hand_of(blood, seed, hand)),
        deal::<42>(p42, 400, |seed, hand| draw_hand_of(p42, seed, hand)),
    ]);
    assert!(report.passed(), "{:?}", report.rejections().collect::<Vec<_>>());
    assert_eq!(report.hands, 400 * 20 * 5);
}

/// A defect of a dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    /// The number is the remainder of a byte.
    ByteRemainder,
    /// A pick from a wide range is the remainder of 32 bits.
    WordRemainder,
    /// Each place changes with any place, from one end to the other.
    SwapWithAny,
    /// The shuffle draws below the place up to which it should draw.
    ShuffleBound,
    /// The shuffle ends one step early.
    ShuffleEnd,
    /// Dice never show their last side.
    DieBound,
    /// Samples never take the last number.
    SampleBound,
    /// Only 32 bits of the seed count.
    ShortSeed,
    /// Every operation of a hand uses one stream.
    OneKey,
    /// The key of an operation does not depend on its index.
    KeyWithoutIndex,
    /// One hand in ten starts from the key of the third hand before it.
    OldKey,
    /// Pulses come two points in a hundred too often.
    EagerPulse,
    /// The deck is cut and riffled seven times.
    SevenRiffles,
}

/// Deals a hand with a fast model of a dealer that is fair except for its defect.
fn model<const N: usize>(defect: Defect, seed: u64, hand: u64) -> HandOutcomes<N> {
    let keyed = |hand: u64| mixed(mixed(seed).wrapping_add(hand));
    let old = defect == Defect::OldKey && hand % 10 == 9;
    let key = keyed(if old { hand - 3 } else { hand });
    let key = if defect == Defect::ShortSeed { key & 0xFFFF_FFFF } else { key };
    let stream = |index: u64, kind: u64| {
        let index = if defect == Defect::KeyWithoutIndex { 0 } else { index };
        let name = if defect == Defect::OneKey { 0 } else { index * 8 + kind };
        Words { defect, state: mixed(key ^ mixed(name)) }
    };
    let roll = |index, sides: u8| {
        let mut words = stream(index, 1);
        let sides = u64::from(sides) - u64::from(defect == Defect::DieBound);
        [(); 2].map(|()| 1 + narrow(words.below(sides)))
    };
    let mut pulses = stream(3, 2);
    let more = if defect == Defect::EagerPulse { 20_000 } else { 0 };
    HandOutcomes {
        first_shuffle: stream(0, 0).shuffle(),
        rolls: [roll(1, 6), roll(2, 6)],
        other_rolls: [roll(7, DICE[1]), roll(8, DICE[2])],
        pulses: PULSES.map(|ppm| pulses.wide(1_000_000) < u64::from(ppm) + more),
        pick: u32::try_from(stream(4, 3).wide(3_000_000_000)).expect("it is below the bound"),
        sample: stream(5, 4).sample(),
        second_shuffle: stream(6, 0).shuffle(),
    }
}

/// SplitMix64's finalizer: fast, and good enough to test counts with.
fn mixed(number: u64) -> u64 {
    let mut word = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

fn narrow(number: u64) -> u8 {
    u8::try_from(number).expect("cards and sides are few")
}

struct Words {
    defect: Defect,
    state: u64,
}

impl Words {
    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.state)
    }

    fn below(&mut self, n: u64) -> u64 {
        if self.defect == Defect::ByteRemainder { (self.word() >> 56) % n } else { self.wide(n) }
    }

    /// The remainder's bias is below one in a billion here, except as a defect.
    fn wide(&mut self, n: u64) -> u64 {
        let narrow = self.defect == Defect::WordRemainder;
        if narrow { (self.word() >> 32) % n } else { self.word() % n }
    }

    fn place(&mut self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).expect("it is below the bound")
    }

    fn shuffle<const N: usize>(&mut self) -> [u8; N] {
        let mut deck: [u8; N] = std::array::from_fn(|card| narrow(card as u64));
        if self.defect == Defect::SevenRiffles {
            (0..7).for_each(|_| deck = self.riffled(deck));
            return deck;
        }
        if self.defect == Defect::SwapWithAny {
            (0..N).for_each(|at| deck.swap(at, self.place(N)));
            return deck;
        }
        let end = if self.defect == Defect::ShuffleEnd { 2 } else { 1 };
        for at in (end..N).rev() {
            let other = self.place(if self.defect == Defect::ShuffleBound { at } else { at + 1 });
            deck.swap(at, other);
        }
        deck
    }

    /// Splits the deck into two heaps by coins; each heap keeps its order.
    fn riffled<const N: usize>(&mut self, deck: [u8; N]) -> [u8; N] {
        let coins = deck.map(|card| (self.word() >> 63, card));
        let heap = |side| coins.iter().filter(move |(coin, _)| *coin == side);
        let mut cards = heap(0).chain(heap(1)).map(|(_, card)| *card);
        std::array::from_fn(|_| cards.next().expect("no card is lost"))
    }

    fn sample(&mut self) -> [u32; 3] {
        let mut all: [u32; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        let size = if self.defect == Defect::SampleBound { 8 } else { 9 };
        (0..3).for_each(|at| all.swap(at, at + self.place(size - at)));
        [all[0], all[1], all[2]]
    }
}

/// Judges a model that deals `hands` hands of each seed.
fn judged<const N: usize>(pile: Pile, defect: Defect, hands: u64) -> Report {
    judge_all(vec![deal::<N>(pile, hands, |seed, hand| model(defect, seed, hand))])
}

/// Checks that the defect is detected in `hands` hands of each seed, by `test` among others.
#[track_caller]
fn caught(defect: Defect, hands: u64, test: Test) {
    rejects(&judged::<76>(PILES[0], defect, hands), defect, test);
}

#[track_caller]
fn rejects(report: &Report, defect: Defect, test: Test) {
    let by: Vec<Test> = report.rejections().map(|answer| answer.test).collect();
    assert!(by.contains(&test), "{defect:?} was rejected by {by:?} only");
    assert!(!report.passed());
}

/// As [`caught`], with each of the other piles.
#[track_caller]
fn caught_in_smaller_piles(defect: Defect, hands: u64, test: Test) {
    rejects(&judged::<62>(PILES[1], defect, hands), defect, test);
    rejects(&judged::<22>(PILES[2], defect, hands), defect, test);
    rejects(&judged::<22>(PILES[3], defect, hands), defect, test);
    rejects(&judged::<42>(PILES[4], defect, hands), defect, test);
}

/// Without a defect the model passes, so a rejection below is the defect's fault.
#[test]
fn the_model_passes_without_a_defect() {
    let pass = |report: Report| {
        assert!(report.passed(), "{:?}", report.rejections().collect::<Vec<_>>());
    };
    for hands in [400, 10_000] {
        pass(judged::<76>(PILES[0], Defect::None, hands));
    }
    pass(judged::<62>(PILES[1], Defect::None, 1_000));
    pass(judged::<22>(PILES[2], Defect::None, 1_000));
    pass(judged::<22>(PILES[3], Defect::None, 1_000));
    pass(judged::<42>(PILES[4], Defect::None, 1_000));
}

/// A fair dealer's p-values spread evenly from 0 to 1 if the laws behind them are right.
#[test]
fn the_laws_are_a_fair_dealers() {
    let tally = |seed| {
        let mut tally = Tally::new();
        (0..7_000).for_each(|hand| tally.add(&model::<62>(Defect::None, seed, hand)));
        tally
    };
    let tallies: Vec<Tally<62>> = (9_000..9_200).map(tally).collect();
    for test in Test::all() {
        let p: Vec<f64> = tallies
            .iter()
            .map(|tally| tally.measure(test).expect("enough hands").p_value)
            .collect();
        let small = p.iter().filter(|p| **p < 0.05).count();
        assert!(small < 25, "{test:?}: {small} of 200 below 0.05");
        if matches!(test, Test::FiveCardRepeats | Test::TenCardRepeats) {
            // Counts so small that the middle has most of the probability are skipped.
            continue;
        }
        let mean = p.iter().sum::<f64>() / 200.0;
        assert!((mean - 0.5).abs() < 0.1, "{test:?}: {mean} on average");
        assert!(small > 0, "{test:?}: nothing of 200 below 0.05");
    }
}

#[test]
fn remainders_of_narrow_words() {
    caught(Defect::ByteRemainder, 250, Test::Places);
    caught_in_smaller_piles(Defect::ByteRemainder, 1_000, Test::Places);
    caught(Defect::WordRemainder, 250, Test::Picks);
}

#[test]
fn wrong_shuffles() {
    caught(Defect::SwapWithAny, 250, Test::Places);
    caught_in_smaller_piles(Defect::SwapWithAny, 250, Test::Places);
    caught(Defect::SevenRiffles, 250, Test::Neighbours);
    caught(Defect::SevenRiffles, 250, Test::RunsOfHalves);
}

#[test]
fn bounds_off_by_one() {
    caught(Defect::ShuffleBound, 250, Test::Places);
    caught_in_smaller_piles(Defect::ShuffleBound, 250, Test::Places);
    caught(Defect::ShuffleEnd, 1_000, Test::Places);
    caught(Defect::DieBound, 250, Test::Dice);
    for sides in [10, 12] {
        caught(Defect::DieBound, 250, Test::Pairs(sides));
    }
    caught(Defect::SampleBound, 250, Test::Samples);
    for ppm in PULSES {
        caught(Defect::EagerPulse, 1_000, Test::Pulses(ppm));
    }
}

#[test]
fn a_short_seed() {
    caught(Defect::ShortSeed, 10_000, Test::TenCardRepeats);
}

#[test]
fn reused_streams() {
    caught(Defect::OneKey, 250, Test::DiceAndBottomCard);
    caught(Defect::OneKey, 250, Test::ShuffleAfterShuffle);
    caught(Defect::KeyWithoutIndex, 350, Test::RollAfterRoll);
    caught(Defect::KeyWithoutIndex, 350, Test::Coupons(6));
    caught(Defect::KeyWithoutIndex, 350, Test::ShuffleAfterShuffle);
    caught(Defect::OldKey, 250, Test::DecksApart(3));
    caught(Defect::OldKey, 250, Test::DiceApart(3));
    caught(Defect::OldKey, 250, Test::FiveCardRepeats);
}
