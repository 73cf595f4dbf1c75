//! The ladder of hands: all rungs but the lowest sum to 0, and a hand counts as the highest it
//! fits.
//!
//! Values are absolute unless a rung names a sign. Except on the rungs that name it, a Sylop is a
//! plain 0 that is never part of a pair, a set or a run.
//!
//! Specification: rules/SPEC.md §14.4.

use smallvec::SmallVec;

use crate::c62::value;
use crate::cards::Card;
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::rank::Rank;
use crate::ruleset::RuleSet;

/// Rung of the ladder of Corellian Spike, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Does not sum to 0.
    Nulrhek,
    Sabacc,
    SabaccPair,
    /// Two pairs, any others.
    RuleOfTwo,
    /// Three of one value, any others.
    BanthasWild,
    /// Four values in a run, exactly four cards.
    StraightKhyron,
    /// 1 2 3 4 of one sign and 10 of the other.
    GeeWhiz,
    /// Four of one value, exactly four cards.
    Squadron,
    /// Three of one value and sign, two of another with the opposite sign.
    Rhylet,
    /// A Sylop and a pair, three cards.
    YeeHaa,
    /// A Sylop and four of one value.
    Fleet,
    /// A Sylop, +10 +10 -10 -10.
    Full,
    /// Two Sylops, two cards.
    Pure,
}

/// Value of a hand. Greater is better; equal hands are decided by blind cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Worth {
    rung: Rung,
    /// Sort key within the rung, greater is better; zeros if the rung has no further order.
    tie_key: [i16; 5],
}

impl Worth {
    pub(crate) fn of(cards: &[Card]) -> Worth {
        let hand = Hand::of(cards.iter().map(|&card| value(card)));
        let (rung, ties) = if hand.sum == 0 {
            hand.with_sylops().or_else(|| hand.with_sets()).unwrap_or_else(|| hand.with_pairs())
        } else {
            let [count, positives, highest] = hand.plain_key();
            let closer = -hand.sum.abs();
            (Rung::Nulrhek, [closer, hand.sum.signum(), count, positives, highest])
        };
        Worth { rung, tie_key: ties }
    }

    pub(crate) const fn sums_to_0(self) -> bool {
        !matches!(self.rung, Rung::Nulrhek)
    }

    /// The rung, then its ties: compares as the value itself does.
    pub(crate) const fn key(self) -> [i16; 6] {
        let [a, b, c, d, e] = self.tie_key;
        [self.rung as i16, a, b, c, d, e]
    }

    pub(crate) const fn rung(self) -> Rung {
        self.rung
    }
}

impl Rung {
    pub const ALL: [Rung; 13] = [
        Rung::Nulrhek,
        Rung::Sabacc,
        Rung::SabaccPair,
        Rung::RuleOfTwo,
        Rung::BanthasWild,
        Rung::StraightKhyron,
        Rung::GeeWhiz,
        Rung::Squadron,
        Rung::Rhylet,
        Rung::YeeHaa,
        Rung::Fleet,
        Rung::Full,
        Rung::Pure,
    ];

    /// Name of the rung in a hand history.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rung::Nulrhek => "nulrhek",
            Rung::Sabacc => "sabacc",
            Rung::SabaccPair => "sabacc-pair",
            Rung::RuleOfTwo => "rule-of-two",
            Rung::BanthasWild => "banthas-wild",
            Rung::StraightKhyron => "straight-khyron",
            Rung::GeeWhiz => "gee-whiz",
            Rung::Squadron => "squadron",
            Rung::Rhylet => "rhylet",
            Rung::YeeHaa => "yee-haa",
            Rung::Fleet => "fleet",
            Rung::Full => "full",
            Rung::Pure => "pure",
        }
    }
}

/// A rung, and the sort key within it.
type Ranked = (Rung, [i16; 5]);

/// The values of a hand, counted.
struct Hand {
    /// Sorted ascending.
    values: SmallVec<[i16; 8]>,
    sum: i16,
    sylops: usize,
    /// Number of cards by absolute value, without Sylops.
    counts: [usize; 11],
}

impl Hand {
    fn of(values: impl Iterator<Item = i16>) -> Hand {
        let mut values: SmallVec<[i16; 8]> = values.collect();
        values.sort_unstable();
        let mut counts = [0; 11];
        for value in values.iter().filter(|&&value| value != 0) {
            counts[usize::from(value.unsigned_abs())] += 1;
        }
        let sylops = values.iter().filter(|&&value| value == 0).count();
        Hand { sum: values.iter().sum(), sylops, counts, values }
    }

    /// The absolute values that at least `of` cards have, ascending.
    fn sets(&self, of: usize) -> impl Iterator<Item = i16> {
        (1..=10).zip(&self.counts[1..]).filter(move |&(_, &count)| count >= of).map(|(v, _)| v)
    }

    fn lowest_set(&self, of: usize) -> Option<i16> {
        self.sets(of).next()
    }

    /// Rungs that a Sylop is part of.
    fn with_sylops(&self) -> Option<Ranked> {
        match (self.sylops, self.values.len()) {
            (2, 2) => Some((Rung::Pure, [0; 5])),
            (1, 5) => self.lowest_set(4).map(|value| match value {
                10 => (Rung::Full, [0; 5]),
                value => lower_is_better(Rung::Fleet, value),
            }),
            (1, 3) => self.lowest_set(2).map(|value| lower_is_better(Rung::YeeHaa, value)),
            _ => None,
        }
    }

    /// Rungs of three and more of a value, and of runs.
    fn with_sets(&self) -> Option<Ranked> {
        let size = self.values.len();
        if let Some(three) = self.rhylet() {
            return Some(lower_is_better(Rung::Rhylet, three));
        }
        if let Some(four) = self.lowest_set(4).filter(|_| size == 4) {
            return Some(lower_is_better(Rung::Squadron, four));
        }
        if matches!(self.values[..], [-10, 1, 2, 3, 4] | [-4, -3, -2, -1, 10]) {
            return Some((Rung::GeeWhiz, [0; 5]));
        }
        if let Some(start) = self.run_of_four().filter(|_| size == 4) {
            return Some(lower_is_better(Rung::StraightKhyron, start));
        }
        self.lowest_set(3).map(|three| lower_is_better(Rung::BanthasWild, three))
    }

    fn with_pairs(&self) -> Ranked {
        let [count, positives, highest] = self.plain_key();
        let mut pairs = self.sets(2);
        match (pairs.next(), pairs.next()) {
            (Some(small), Some(large)) => (Rung::RuleOfTwo, [-small, -large, 0, 0, 0]),
            (Some(pair), None) => (Rung::SabaccPair, [-pair, count, positives, highest, 0]),
            (None, _) => (Rung::Sabacc, [count, positives, highest, 0, 0]),
        }
    }

    /// Value of the three in a Rhylet. The hand sums to 0, so equal signs within each set mean
    /// opposite signs of the two sets.
    fn rhylet(&self) -> Option<i16> {
        let [a, b, c, d, e] = self.values[..] else { return None };
        let (three, two) = match (a == b, d == e) {
            (true, true) if c == b => (a, d),
            (true, true) if c == d => (d, a),
            _ => return None,
        };
        (three != 0 && two != 0).then_some(three.abs())
    }

    /// The lowest of four values in a run.
    fn run_of_four(&self) -> Option<i16> {
        let start = self.lowest_set(1)?;
        let in_a_row = (start..start + 4).zip(self.sets(1)).all(|(next, value)| next == value);
        (in_a_row && self.sets(1).count() == 4).then_some(start)
    }

    /// Sort key of a plain hand: more cards, then the higher sum of positives, then the higher
    /// single positive.
    fn plain_key(&self) -> [i16; 3] {
        let count = i16::try_from(self.values.len()).unwrap_or(i16::MAX);
        let positives = self.values.iter().filter(|&&value| value > 0).sum();
        [count, positives, self.values.last().map_or(0, |&value| value.max(0))]
    }
}

/// Ranks a hand of which the lower value is better.
const fn lower_is_better(rung: Rung, value: i16) -> Ranked {
    (rung, [-value, 0, 0, 0, 0])
}

/// Ladder of hands.
#[derive(Debug)]
pub(crate) struct Ladder;

impl Evaluate for Ladder {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        Some(Strength(Worth::of(cards).key()))
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        Some(Rank::Spike(Worth::of(cards).rung()))
    }
}

/// Makes the evaluator of hands.
pub(crate) fn evaluator(_: &RuleSet, _: &GameState) -> Option<Evaluator> {
    Some(Evaluator::new(Ladder))
}

#[cfg(test)]
mod tests;
