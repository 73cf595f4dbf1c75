//! Measures of the tests of the battery, from the counts of a tally.

use crate::Test;
use crate::hand::{DICE, PULSES};
use crate::laws::{
    Measure, grouped_fit, independent, members, neighbours, orders, poisson, pulses, runs, uniform,
};
use crate::tally::{LagCounts, MAX_UNTIL, Tally, last_throw, stops};

impl<const N: usize> Tally<N> {
    /// Measures one test; none if there are too few hands for its law.
    #[must_use]
    pub fn measure(&self, test: Test) -> Option<Measure> {
        let lag = |lag: usize| self.lags.get(lag - 1);
        match test {
            Test::Places => orders(&self.placed, N, self.hands),
            Test::Reshuffled => orders(&self.replaced, N, self.hands),
            Test::Neighbours => neighbours(&self.followed, N, self.hands),
            Test::RunsOfHalves => runs(self.runs[0], N, self.hands),
            Test::RunsOfColours => runs(self.runs[1], N, self.hands),
            Test::ShuffleAfterShuffle => Some(poisson(self.agreements, self.hands as f64)),
            Test::DealsUntil => {
                grouped_fit(&self.until, &until_probabilities(N, stops(N), MAX_UNTIL))
            }
            Test::Dice => uniform(&dice_pairs(&self.rolls)),
            Test::Pairs(sides) => self.die(sides).and_then(|at| uniform(&self.pairs[at])),
            Test::RollAfterRoll => uniform(&self.rolls),
            Test::Coupons(sides) => self.die(sides).and_then(|at| {
                let (sides, last) = (usize::from(sides), last_throw(sides.into()));
                grouped_fit(&self.coupons[at][sides..], &coupon_probabilities(sides, last))
            }),
            Test::DiceAndTopCard => uniform(&self.top),
            Test::DiceAndBottomCard => uniform(&self.bottom),
            Test::Pulses(ppm) => {
                let at = PULSES.iter().position(|rate| *rate == ppm)?;
                pulses(self.pulses[at], ppm)
            }
            Test::Picks => uniform(&self.picks),
            Test::Samples => uniform(&distinct_triples(&self.samples)),
            Test::SampleMembers => members(&self.members(), self.hands, 3),
            Test::DecksApart(by) => {
                lag(by).map(|LagCounts { pairs, agreements: agreed, dice: _ }| {
                    poisson(*agreed, *pairs as f64)
                })
            }
            Test::DiceApart(by) => lag(by).and_then(|lag| independent(&lag.dice)),
            Test::FiveCardRepeats => Some(self.repeats(5)),
            Test::TenCardRepeats => Some(self.repeats(10)),
        }
    }

    fn die(&self, sides: u8) -> Option<usize> {
        DICE.iter().position(|die| *die == sides)
    }

    /// Number of pairs of hands with the same `cards` top cards, of at most ten.
    fn repeats(&self, cards: u32) -> Measure {
        let cut = (N as u64).pow(10 - cards);
        let mut tops: Vec<u64> = self.tops.iter().map(|top| top / cut).collect();
        tops.sort_unstable();
        let pairs = |same: &[u64]| (same.len() * (same.len() - 1) / 2) as u64;
        let seen = tops.chunk_by(|one, other| one == other).map(pairs).sum();
        let hands = tops.len() as f64;
        let orders: f64 = (0..cards).map(|dealt| N as f64 - f64::from(dealt)).product();
        poisson(seen, hands * (hands - 1.0).max(0.0) / 2.0 / orders)
    }

    /// Number of samples with each number in them.
    fn members(&self) -> [u64; 9] {
        let mut members = [0; 9];
        for (at, seen) in self.samples.iter().enumerate() {
            [at / 81, at / 9 % 9, at % 9].iter().for_each(|number| members[*number] += seen);
        }
        members
    }
}

/// Counts of the pairs of dice in both rolls, from their table.
fn dice_pairs(rolls: &[u64]) -> Vec<u64> {
    let first = rolls.chunks(36).map(|row| row.iter().sum::<u64>());
    let second = (0..36).map(|pair| rolls.iter().skip(pair).step_by(36).sum::<u64>());
    first.zip(second).map(|(one, other)| one + other).collect()
}

/// The cells of a cube of 9 whose three coordinates differ.
fn distinct_triples(cube: &[u64]) -> Vec<u64> {
    let differ = |at: usize| {
        let (a, b, c) = (at / 81, at / 9 % 9, at % 9);
        a != b && b != c && a != c
    };
    cube.iter().enumerate().filter(|(at, _)| differ(*at)).map(|(_, seen)| *seen).collect()
}

/// Probabilities that all sides have been seen with throw number `sides`, the one after it … and with
/// throw `last` or later.
fn coupon_probabilities(sides: usize, last: usize) -> Vec<f64> {
    let all = sides as f64;
    // Probabilities by the number of sides seen so far.
    let mut seen = vec![0.0; sides];
    seen[0] = 1.0;
    let mut at = Vec::new();
    for throw in 1..last {
        let full = seen[sides - 1] / all;
        for so_far in (1..sides).rev() {
            let known = so_far as f64;
            let new = seen[so_far - 1] * (all + 1.0 - known) / all;
            seen[so_far] = seen[so_far] * known / all + new;
        }
        seen[0] = 0.0;
        if throw >= sides {
            at.push(full);
        }
    }
    at.push(seen.iter().sum());
    at
}

/// Probabilities that the first of `stops` cards in a deck of `cards` lies at position 1, 2 … and at
/// position `last` or later.
fn until_probabilities(cards: usize, stops: usize, last: usize) -> Vec<f64> {
    let mut none_yet = 1.0;
    let mut at = Vec::new();
    for before in 0..last - 1 {
        let stop = stops as f64 / (cards - before) as f64;
        at.push(none_yet * stop);
        none_yet *= 1.0 - stop;
    }
    at.push(none_yet);
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coupon_collectors_chances() {
        for (sides, last) in [(6, 24), (10, 49), (12, 62)] {
            let chances = coupon_probabilities(sides, last);
            assert_eq!(chances.len(), last + 1 - sides);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let chances = coupon_probabilities(6, 24);
        // 6! / 6^6, and 15 · 6! / 6^7 for seven: one of five sides comes twice before the last.
        assert!((chances[0] - 720.0 / 46_656.0).abs() < 1e-12);
        assert!((chances[1] - 15.0 * 720.0 / 279_936.0).abs() < 1e-12);
    }

    /// Of four cards two stop: first at position 1 in 3 of 6 orders, at 2 in 2, at 3 in 1.
    #[test]
    fn deals_until_a_card_as_counted_by_hand() {
        let chances = until_probabilities(4, 2, 3);
        for (got, wanted) in chances.iter().zip([0.5, 1.0 / 3.0, 1.0 / 6.0]) {
            assert!((got - wanted).abs() < 1e-12);
        }
    }
}
