//! Counts over the hands of one seed.

use std::collections::VecDeque;

use crate::MAX_LAG;
use crate::hand::{CARDS, HandOutcomes, PICK_RANGE, SAMPLE_RANGE};

/// Number of equal parts of a pick's range.
pub(crate) const PICK_BINS: u32 = 30;
/// Number of cells of the cube of ordered draws of three out of [`SAMPLE_RANGE`].
pub(crate) const SAMPLE_CELLS: usize = 9 * 9 * 9;
/// Last cell of the throws until all six sides were seen, counted from 6: this many and more.
pub(crate) const MAX_THROWS: usize = 24;

/// Counts over hands. Tables of cells are stored row after row.
#[derive(Debug, Clone)]
pub struct Tally {
    pub(crate) hands: u64,
    /// By place, then by card.
    pub(crate) placed: Vec<u64>,
    /// By place after the second shuffle, then by place before it.
    pub(crate) replaced: Vec<u64>,
    /// By card, then by the card under it; the top card counts as under the bottom one.
    pub(crate) followed: Vec<u64>,
    /// Runs of low and high cards, and of odd and even ones.
    pub(crate) runs: [u64; 2],
    /// Number of places at which the second shuffle gives the value that the first gave.
    pub(crate) agreements: u64,
    /// By the pair of the first roll, then by that of the second.
    pub(crate) rolls: Vec<u64>,
    /// By the number of throws until all sides were seen.
    pub(crate) coupons: [u64; MAX_THROWS + 1],
    /// By the first die, then by the top card.
    pub(crate) top: Vec<u64>,
    /// By the first die, then by the bottom card.
    pub(crate) bottom: Vec<u64>,
    /// Counts of no and yes.
    pub(crate) pulses: [u64; 2],
    pub(crate) picks: Vec<u64>,
    pub(crate) samples: Vec<u64>,
    pub(crate) lags: [LagCounts; MAX_LAG],
    /// Each hand's ten top cards, as a number in base 76.
    pub(crate) tops: Vec<u64>,
    collecting: Collecting,
    /// The latest hands, newest first.
    recent: VecDeque<HandOutcomes>,
}

/// Throws since all sides of a die were seen.
#[derive(Debug, Clone, Copy, Default)]
struct Collecting {
    /// Sides seen, as bits.
    seen: u8,
    throws: usize,
}

/// Counts over pairs of hands at one distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LagCounts {
    pub(crate) pairs: u64,
    /// Number of places with the same card in both hands.
    pub(crate) agreements: u64,
    /// By the first die of the earlier hand, then by that of the later one.
    pub(crate) dice: [u64; 36],
}

impl Default for Tally {
    fn default() -> Tally {
        Tally::new()
    }
}

impl Tally {
    #[must_use]
    pub fn new() -> Tally {
        let square = vec![0; CARDS * CARDS];
        Tally {
            hands: 0,
            placed: square.clone(),
            replaced: square.clone(),
            followed: square,
            runs: [0; 2],
            agreements: 0,
            rolls: vec![0; 36 * 36],
            coupons: [0; MAX_THROWS + 1],
            top: vec![0; 6 * CARDS],
            bottom: vec![0; 6 * CARDS],
            pulses: [0; 2],
            picks: vec![0; usize::try_from(PICK_BINS).expect("it is 30")],
            samples: vec![0; SAMPLE_CELLS],
            lags: [LagCounts { pairs: 0, agreements: 0, dice: [0; 36] }; MAX_LAG],
            tops: Vec::new(),
            collecting: Collecting::default(),
            recent: VecDeque::new(),
        }
    }

    #[must_use]
    pub fn hands(&self) -> u64 {
        self.hands
    }

    /// Counts the hand that follows the last one.
    ///
    /// # Panics
    /// If the hand is not within the bounds of [`HandOutcomes`].
    pub fn add(&mut self, hand: &HandOutcomes) {
        self.hands += 1;
        self.cards(hand);
        self.dice(hand);
        self.pulses[usize::from(hand.pulse)] += 1;
        self.picks[to_usize(hand.pick / (PICK_RANGE / PICK_BINS))] += 1;
        let [a, b, c] = hand.sample;
        self.samples[to_usize((a * SAMPLE_RANGE + b) * SAMPLE_RANGE + c)] += 1;
        for (lag, before) in self.lags.iter_mut().zip(&self.recent) {
            lag.pairs += 1;
            lag.agreements += agreement(&before.first_shuffle, &hand.first_shuffle);
            lag.dice[die(before) * 6 + die(hand)] += 1;
        }
        self.recent.truncate(MAX_LAG - 1);
        self.recent.push_front(*hand);
    }

    fn cards(&mut self, hand: &HandOutcomes) {
        let mut above = usize::from(hand.first_shuffle[CARDS - 1]);
        for (at, (card, before)) in hand.first_shuffle.iter().zip(&hand.second_shuffle).enumerate()
        {
            let card = usize::from(*card);
            self.placed[at * CARDS + card] += 1;
            self.replaced[at * CARDS + usize::from(*before)] += 1;
            self.followed[above * CARDS + card] += 1;
            above = card;
        }
        let half = CARDS / 2;
        self.runs[0] += runs(&hand.first_shuffle, |card| usize::from(card) < half);
        self.runs[1] += runs(&hand.first_shuffle, |card| card % 2 == 0);
        self.agreements += agreement(&hand.first_shuffle, &hand.second_shuffle);
        let top = hand.first_shuffle.iter().take(10);
        self.tops.push(top.fold(0, |number, card| number * CARDS as u64 + u64::from(*card)));
    }

    fn dice(&mut self, hand: &HandOutcomes) {
        let pair = |[one, other]: [u8; 2]| usize::from(one - 1) * 6 + usize::from(other - 1);
        let [first, second] = hand.rolls;
        self.rolls[pair(first) * 36 + pair(second)] += 1;
        self.top[die(hand) * CARDS + usize::from(hand.first_shuffle[0])] += 1;
        self.bottom[die(hand) * CARDS + usize::from(hand.first_shuffle[CARDS - 1])] += 1;
        for side in hand.rolls.as_flattened() {
            self.collecting.seen |= 1 << (side - 1);
            self.collecting.throws += 1;
            if self.collecting.seen == 0b11_1111 {
                self.coupons[self.collecting.throws.min(MAX_THROWS)] += 1;
                self.collecting = Collecting::default();
            }
        }
    }

    /// Adds another tally. Hands of two tallies are not compared by their distance.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.hands += other.hands;
        self.agreements += other.agreements;
        add(&mut self.placed, &other.placed);
        add(&mut self.replaced, &other.replaced);
        add(&mut self.followed, &other.followed);
        add(&mut self.runs, &other.runs);
        add(&mut self.rolls, &other.rolls);
        add(&mut self.coupons, &other.coupons);
        add(&mut self.top, &other.top);
        add(&mut self.bottom, &other.bottom);
        add(&mut self.pulses, &other.pulses);
        add(&mut self.picks, &other.picks);
        add(&mut self.samples, &other.samples);
        for (lag, other) in self.lags.iter_mut().zip(&other.lags) {
            lag.pairs += other.pairs;
            lag.agreements += other.agreements;
            add(&mut lag.dice, &other.dice);
        }
        self.tops.extend_from_slice(&other.tops);
        (self.collecting, self.recent) = (Collecting::default(), VecDeque::new());
    }
}

fn add(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).expect("machines of 32 bits and more")
}

/// The first die of the first roll, from 0.
fn die(hand: &HandOutcomes) -> usize {
    usize::from(hand.rolls[0][0] - 1)
}

/// Number of places at which both decks have the same value.
fn agreement(one: &[u8; CARDS], other: &[u8; CARDS]) -> u64 {
    one.iter().zip(other).map(|(one, other)| u64::from(one == other)).sum()
}

/// Number of stretches of cards of one kind in the deck.
fn runs(deck: &[u8; CARDS], kind: impl Fn(u8) -> bool) -> u64 {
    let changes = deck.windows(2).filter(|two| kind(two[0]) != kind(two[1])).count();
    1 + changes as u64
}
