//! Counts over the hands of one seed.

use std::collections::VecDeque;

use crate::MAX_LAG;
use crate::hand::{CARDS, DICE, HandOutcomes, PICK_RANGE, PULSES, SAMPLE_RANGE};

/// Number of equal parts of a pick's range.
pub(crate) const PICK_BINS: u32 = 30;
/// Number of cells of the cube of ordered draws of three out of [`SAMPLE_RANGE`].
pub(crate) const SAMPLE_CELLS: usize = 9 * 9 * 9;
/// Last cell of the cards dealt until one that ends the deal: this many and more.
pub(crate) const MAX_UNTIL: usize = 9;
/// Last cell of the throws until all sides were seen: this many and more, as many as leave it about
/// one case in twelve.
pub(crate) const fn last_throw(sides: usize) -> usize {
    match sides {
        6 => 24,
        10 => 49,
        _ => 62,
    }
}

/// Number of a pile's last cards that end a deal: as many in proportion as the faces of the deck of
/// 76 cards, of which there are 16.
pub(crate) const fn stops(cards: usize) -> usize {
    cards * 16 / 76
}

/// Counts over hands. Tables of cells are stored row after row.
#[derive(Debug, Clone)]
pub struct Tally<const N: usize = CARDS> {
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
    /// By die: by its pair.
    pub(crate) pairs: [Vec<u64>; DICE.len()],
    /// By die: by the number of throws until all sides were seen.
    pub(crate) coupons: [Vec<u64>; DICE.len()],
    /// By the number of cards dealt until one that ends the deal, from 1.
    pub(crate) until: [u64; MAX_UNTIL],
    /// By the first die, then by the top card.
    pub(crate) top: Vec<u64>,
    /// By the first die, then by the bottom card.
    pub(crate) bottom: Vec<u64>,
    /// By rate: counts of no and yes.
    pub(crate) pulses: [[u64; 2]; PULSES.len()],
    pub(crate) picks: Vec<u64>,
    pub(crate) samples: Vec<u64>,
    pub(crate) lags: [LagCounts; MAX_LAG],
    /// Each hand's ten top cards, as a number in base N.
    pub(crate) tops: Vec<u64>,
    collecting: [Collecting; DICE.len()],
    /// The latest hands, newest first.
    recent: VecDeque<HandOutcomes<N>>,
}

/// Throws since all sides of a die were seen.
#[derive(Debug, Clone, Copy, Default)]
struct Collecting {
    /// Sides seen, as bits.
    seen: u16,
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

impl<const N: usize> Default for Tally<N> {
    fn default() -> Tally<N> {
        Tally::new()
    }
}

impl<const N: usize> Tally<N> {
    #[must_use]
    pub fn new() -> Tally<N> {
        let square = vec![0; N * N];
        Tally {
            hands: 0,
            placed: square.clone(),
            replaced: square.clone(),
            followed: square,
            runs: [0; 2],
            agreements: 0,
            rolls: vec![0; 36 * 36],
            pairs: DICE.map(|sides| vec![0; usize::from(sides).pow(2)]),
            coupons: DICE.map(|sides| vec![0; last_throw(usize::from(sides)) + 1]),
            until: [0; MAX_UNTIL],
            top: vec![0; 6 * N],
            bottom: vec![0; 6 * N],
            pulses: [[0; 2]; PULSES.len()],
            picks: vec![0; usize::try_from(PICK_BINS).expect("it is 30")],
            samples: vec![0; SAMPLE_CELLS],
            lags: [LagCounts { pairs: 0, agreements: 0, dice: [0; 36] }; MAX_LAG],
            tops: Vec::new(),
            collecting: [Collecting::default(); DICE.len()],
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
    pub fn add(&mut self, hand: &HandOutcomes<N>) {
        self.hands += 1;
        self.cards(hand);
        self.dice(hand);
        for (counts, yes) in self.pulses.iter_mut().zip(hand.pulses) {
            counts[usize::from(yes)] += 1;
        }
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

    fn cards(&mut self, hand: &HandOutcomes<N>) {
        let mut above = usize::from(hand.first_shuffle[N - 1]);
        for (at, (card, before)) in hand.first_shuffle.iter().zip(&hand.second_shuffle).enumerate()
        {
            let card = usize::from(*card);
            self.placed[at * N + card] += 1;
            self.replaced[at * N + usize::from(*before)] += 1;
            self.followed[above * N + card] += 1;
            above = card;
        }
        let half = N / 2;
        self.runs[0] += runs(&hand.first_shuffle, |card| usize::from(card) < half);
        self.runs[1] += runs(&hand.first_shuffle, |card| card % 2 == 0);
        self.agreements += agreement(&hand.first_shuffle, &hand.second_shuffle);
        let stop = |card: &u8| usize::from(*card) >= N - stops(N);
        let dealt = hand.first_shuffle.iter().position(stop).expect("one of them ends the deal");
        self.until[dealt.min(MAX_UNTIL - 1)] += 1;
        let top = hand.first_shuffle.iter().take(10);
        self.tops.push(top.fold(0, |number, card| number * N as u64 + u64::from(*card)));
    }

    fn dice(&mut self, hand: &HandOutcomes<N>) {
        let pair = |[one, other]: [u8; 2]| usize::from(one - 1) * 6 + usize::from(other - 1);
        let [first, second] = hand.rolls;
        self.rolls[pair(first) * 36 + pair(second)] += 1;
        self.top[die(hand) * N + usize::from(hand.first_shuffle[0])] += 1;
        self.bottom[die(hand) * N + usize::from(hand.first_shuffle[N - 1])] += 1;
        for roll in hand.rolls {
            self.throw(0, roll);
        }
        for (at, roll) in hand.other_rolls.into_iter().enumerate() {
            self.throw(at + 1, roll);
        }
    }

    /// Counts a roll of two dice, of [`DICE`] at `at`.
    fn throw(&mut self, at: usize, roll: [u8; 2]) {
        let sides = usize::from(DICE[at]);
        let [one, other] = roll.map(|side| usize::from(side - 1));
        self.pairs[at][one * sides + other] += 1;
        let (collecting, coupons) = (&mut self.collecting[at], &mut self.coupons[at]);
        for side in [one, other] {
            collecting.seen |= 1 << side;
            collecting.throws += 1;
            if collecting.seen.count_ones() == u32::from(DICE[at]) {
                coupons[collecting.throws.min(last_throw(sides))] += 1;
                *collecting = Collecting::default();
            }
        }
    }

    /// Adds another tally. Hands of two tallies are not compared by their distance.
    pub(crate) fn merge(&mut self, other: &Tally<N>) {
        self.hands += other.hands;
        self.agreements += other.agreements;
        add(&mut self.placed, &other.placed);
        add(&mut self.replaced, &other.replaced);
        add(&mut self.followed, &other.followed);
        add(&mut self.runs, &other.runs);
        add(&mut self.rolls, &other.rolls);
        for at in 0..DICE.len() {
            add(&mut self.pairs[at], &other.pairs[at]);
            add(&mut self.coupons[at], &other.coupons[at]);
        }
        add(&mut self.until, &other.until);
        add(&mut self.top, &other.top);
        add(&mut self.bottom, &other.bottom);
        for (pulses, other) in self.pulses.iter_mut().zip(&other.pulses) {
            add(pulses, other);
        }
        add(&mut self.picks, &other.picks);
        add(&mut self.samples, &other.samples);
        for (lag, other) in self.lags.iter_mut().zip(&other.lags) {
            lag.pairs += other.pairs;
            lag.agreements += other.agreements;
            add(&mut lag.dice, &other.dice);
        }
        self.tops.extend_from_slice(&other.tops);
        (self.collecting, self.recent) = ([Collecting::default(); DICE.len()], VecDeque::new());
    }
}

fn add(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).expect("machines of 32 bits and more")
}

/// The first die of the first roll, from 0.
fn die<const N: usize>(hand: &HandOutcomes<N>) -> usize {
    usize::from(hand.rolls[0][0] - 1)
}

/// Number of places at which both decks have the same value.
fn agreement<const N: usize>(one: &[u8; N], other: &[u8; N]) -> u64 {
    one.iter().zip(other).map(|(one, other)| u64::from(one == other)).sum()
}

/// Number of stretches of cards of one kind in the deck.
fn runs<const N: usize>(deck: &[u8; N], kind: impl Fn(u8) -> bool) -> u64 {
    let changes = deck.windows(2).filter(|two| kind(two[0]) != kind(two[1])).count();
    1 + changes as u64
}
