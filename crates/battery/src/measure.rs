//! P-values of the counts of a tally.
//!
//! Each law is the exact one or its limit, with the dependence inside a hand counted in:
//!
//! - Places: a random permutation, as a matrix of n × n zeros and ones, varies by 1 / (n - 1) in
//!   each of the (n - 1)² directions that its rows and columns leave free.
//! - Neighbours: the deck closed to a ring is a random cycle. The pairs of neighbours vary by
//!   1 / (n - 1) in each of n (n - 3) / 2 directions. The order within pairs varies by
//!   n / ((n - 1)(n - 2)) in each of (n - 1)(n - 2) / 2.
//! - Two independent orders agree at one place on average, and the number of agreements follows
//!   Poisson's law more exactly than any count could show. So does the number of pairs of hands
//!   with the same cards on top.
//! - A die stands in two pairs, with the one before and the one after it: a side that comes often
//!   shows in rows and in columns. Both are taken out, and (6 - 1)² directions are left.
//! - Runs: Wald and Wolfowitz's mean and variance for equal numbers of cards of two kinds.

use crate::Test;
use crate::gamma::incomplete;
use crate::hand::CARDS;
use crate::tally::{LagCounts, MAX_THROWS, Tally};

/// Distribution of a fair dealer's statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    ChiSquared {
        degrees: u32,
    },
    /// Mean 0 and variance 1.
    Normal,
    Poisson {
        mean: f64,
    },
}

/// A statistic, and the probability that a fair dealer is as far from the middle, on either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    pub statistic: f64,
    pub law: Law,
    /// 0 to 1.
    pub p_value: f64,
}

/// Least expected count of each cell before a chi-squared law is used.
const MIN_EXPECTED: f64 = 5.0;
/// Least number of hands before a sum over them counts as normal.
const MIN_HANDS: u64 = 100;
/// Number of orders of the five top cards.
const FIVE_CARD_ORDERS: f64 = 76.0 * 75.0 * 74.0 * 73.0 * 72.0;
/// Number of orders of the ten top cards.
const TEN_CARD_ORDERS: f64 = FIVE_CARD_ORDERS * 71.0 * 70.0 * 69.0 * 68.0 * 67.0;

impl Tally {
    /// Measures one test; none if there are too few hands for its law.
    #[must_use]
    pub fn measure(&self, test: Test) -> Option<Measure> {
        let lag = |lag: usize| self.lags.get(lag - 1);
        match test {
            Test::Places => orders(&self.placed, self.hands),
            Test::Reshuffled => orders(&self.replaced, self.hands),
            Test::Neighbours => neighbours(&self.followed, self.hands),
            Test::RunsOfHalves => runs(self.runs[0], self.hands),
            Test::RunsOfColours => runs(self.runs[1], self.hands),
            Test::ShuffleAfterShuffle => Some(poisson(self.agreements, self.hands as f64)),
            Test::Dice => uniform(&dice_pairs(&self.rolls)),
            Test::RollAfterRoll => uniform(&self.rolls),
            Test::Coupons => goodness_of_fit(&self.coupons[6..], &coupon_probabilities()),
            Test::DiceAndTopCard => uniform(&self.top),
            Test::DiceAndBottomCard => uniform(&self.bottom),
            Test::Pulses => pulses(self.pulses, self.hands),
            Test::Picks => uniform(&self.picks),
            Test::Samples => uniform(&distinct_triples(&self.samples)),
            Test::DecksApart(by) => {
                lag(by).map(|LagCounts { pairs, agreements: agreed, dice: _ }| {
                    poisson(*agreed, *pairs as f64)
                })
            }
            Test::DiceApart(by) => lag(by).and_then(|lag| independent(&lag.dice)),
            Test::FiveCardRepeats => Some(self.repeats((CARDS as u64).pow(5), FIVE_CARD_ORDERS)),
            Test::TenCardRepeats => Some(self.repeats(1, TEN_CARD_ORDERS)),
        }
    }

    /// Number of pairs of hands with the same top cards. The top cards are what is left when a top
    /// is divided by `cut`; they have `orders` possible orders.
    fn repeats(&self, cut: u64, orders: f64) -> Measure {
        let mut tops: Vec<u64> = self.tops.iter().map(|top| top / cut).collect();
        tops.sort_unstable();
        let pairs = |same: &[u64]| (same.len() * (same.len() - 1) / 2) as u64;
        let seen = tops.chunk_by(|one, other| one == other).map(pairs).sum();
        let hands = tops.len() as f64;
        poisson(seen, hands * (hands - 1.0).max(0.0) / 2.0 / orders)
    }
}

fn chi_squared(statistic: f64, degrees: usize) -> Measure {
    let (lower, upper) = incomplete(degrees as f64 / 2.0, statistic / 2.0);
    let degrees = u32::try_from(degrees).expect("cells are counted in thousands");
    let p = (2.0 * lower.min(upper)).min(1.0);
    Measure { statistic, law: Law::ChiSquared { degrees }, p_value: p }
}

fn poisson(seen: u64, mean: f64) -> Measure {
    let statistic = seen as f64;
    let at_most = incomplete(statistic + 1.0, mean).1;
    let at_least = if seen == 0 { 1.0 } else { incomplete(statistic, mean).0 };
    let p = (2.0 * at_most.min(at_least)).min(1.0);
    Measure { statistic, law: Law::Poisson { mean }, p_value: p }
}

fn normal(statistic: f64) -> Measure {
    let p = incomplete(0.5, statistic * statistic / 2.0).1;
    Measure { statistic, law: Law::Normal, p_value: p }
}

/// Measures cells that are equally likely, with each case in one of them.
fn uniform(cells: &[u64]) -> Option<Measure> {
    goodness_of_fit(cells, &vec![1.0 / cells.len() as f64; cells.len()])
}

/// Measures cells with these probabilities, with each case in one of them.
fn goodness_of_fit(cells: &[u64], probabilities: &[f64]) -> Option<Measure> {
    let total = cells.iter().sum::<u64>() as f64;
    let mut statistic = 0.0;
    for (seen, probability) in cells.iter().zip(probabilities) {
        let expected = total * probability;
        if expected < MIN_EXPECTED {
            return None;
        }
        statistic += (*seen as f64 - expected).powi(2) / expected;
    }
    Some(chi_squared(statistic, cells.len() - 1))
}

/// Measures the sum of `hands` permutations of a deck.
fn orders(cells: &[u64], hands: u64) -> Option<Measure> {
    let (n, hands) = (CARDS as f64, hands as f64);
    let expected = hands / n;
    if expected < MIN_EXPECTED {
        return None;
    }
    let squares: f64 = cells.iter().map(|seen| (*seen as f64 - expected).powi(2)).sum();
    Some(chi_squared(squares * (n - 1.0) / hands, (CARDS - 1).pow(2)))
}

/// Measures the sum of `hands` rings of a deck.
fn neighbours(cells: &[u64], hands: u64) -> Option<Measure> {
    let (n, hands) = (CARDS as f64, hands as f64);
    let expected = hands / (n - 1.0);
    if expected < MIN_EXPECTED {
        return None;
    }
    let (mut beside, mut above) = (0.0, 0.0);
    for one in 0..CARDS {
        for other in 0..one {
            let down = cells[one * CARDS + other] as f64;
            let up = cells[other * CARDS + one] as f64;
            // The sum covers both halves of the matrix.
            beside += 2.0 * (f64::midpoint(down, up) - expected).powi(2);
            above += 2.0 * ((down - up) / 2.0).powi(2);
        }
    }
    let beside = beside * (n - 1.0) / hands;
    let above = above * (n - 1.0) * (n - 2.0) / (n * hands);
    let degrees = CARDS * (CARDS - 3) / 2 + (CARDS - 1) * (CARDS - 2) / 2;
    Some(chi_squared(beside + above, degrees))
}

/// Measures the runs in `hands` decks of two kinds, with as many cards of one as of the other.
fn runs(seen: u64, hands: u64) -> Option<Measure> {
    if hands < MIN_HANDS {
        return None;
    }
    let (n, hands) = (CARDS as f64, hands as f64);
    let twice = n * n / 2.0;
    let mean = twice / n + 1.0;
    let variance = twice * (twice - n) / (n * n * (n - 1.0));
    Some(normal((seen as f64 - hands * mean) / (hands * variance).sqrt()))
}

/// Measures `hands` pulses with a probability of one in four, counted by no and yes.
fn pulses([_, yes]: [u64; 2], hands: u64) -> Option<Measure> {
    let (yes, count) = (yes as f64, hands as f64);
    (hands >= MIN_HANDS).then(|| normal((yes - count / 4.0) / (count * 3.0 / 16.0).sqrt()))
}

/// Measures pairs of dice, with each die in two of them.
fn independent(cells: &[u64; 36]) -> Option<Measure> {
    let sum = |cells: &mut dyn Iterator<Item = &u64>| cells.sum::<u64>() as f64;
    let expected = sum(&mut cells.iter()) / 36.0;
    if expected < MIN_EXPECTED {
        return None;
    }
    let rows: Vec<f64> = cells.chunks(6).map(|row| sum(&mut row.iter())).collect();
    let column = |at| sum(&mut cells.iter().skip(at).step_by(6));
    let columns: Vec<f64> = (0..6).map(column).collect();
    let cell = |at: usize, seen: u64| {
        let by_margins = (rows[at / 6] + columns[at % 6]) / 6.0 - expected;
        (seen as f64 - by_margins).powi(2) / expected
    };
    let statistic = cells.iter().enumerate().map(|(at, seen)| cell(at, *seen)).sum();
    Some(chi_squared(statistic, 25))
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

/// Probabilities that all six sides have been seen with throw 6, 7 … and with throw [`MAX_THROWS`]
/// or later.
fn coupon_probabilities() -> Vec<f64> {
    // Probabilities by the number of sides seen so far.
    let mut seen = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut at = Vec::new();
    for throw in 1..MAX_THROWS {
        let full = seen[5] / 6.0;
        for sides in (1..6).rev() {
            let sides_seen = sides as f64;
            let new = seen[sides - 1] * (7.0 - sides_seen) / 6.0;
            seen[sides] = seen[sides] * sides_seen / 6.0 + new;
        }
        seen[0] = 0.0;
        if throw >= 6 {
            at.push(full);
        }
    }
    at.push(seen.iter().sum());
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coupon_collectors_chances() {
        let chances = coupon_probabilities();
        assert_eq!(chances.len(), MAX_THROWS - 5);
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // 6! / 6^6, and 15 · 6! / 6^7 for seven: one of five sides comes twice before the last.
        assert!((chances[0] - 720.0 / 46_656.0).abs() < 1e-12);
        assert!((chances[1] - 15.0 * 720.0 / 279_936.0).abs() < 1e-12);
    }

    /// A textbook example: counts 5, 8, 9, 8, 10, 20 of a die have chi-squared 13.4 at 5 degrees.
    #[test]
    fn a_loaded_die_as_in_the_books() {
        let measure = uniform(&[5, 8, 9, 8, 10, 20]).unwrap();
        assert!((measure.statistic - 13.4).abs() < 1e-9);
        assert_eq!(measure.law, Law::ChiSquared { degrees: 5 });
        // Upper tail 0.0199, doubled.
        assert!((measure.p_value / 2.0 - 0.0199).abs() < 1e-4, "{}", measure.p_value);
    }

    #[test]
    fn margins_are_no_dependence() {
        let aligned = std::array::from_fn(|at| if at / 6 == at % 6 { 100 } else { 10 });
        assert!(independent(&aligned).unwrap().p_value < 1e-9);
        // Counts along the margins leave no residue: too even, but no dependence.
        let margins = std::array::from_fn(|at| (at / 6 + at % 6) as u64 * 10);
        assert!(independent(&margins).unwrap().statistic < 1e-9);
    }

    /// The most likely count is exactly in the middle.
    #[test]
    fn as_many_pulses_as_expected_are_no_reproach() {
        assert!(pulses([300, 100], 400).unwrap().p_value > 0.99);
        assert!(pulses([200, 200], 400).unwrap().p_value < 1e-9);
    }

    #[test]
    fn no_repeat_is_no_news_and_one_is_too_many() {
        assert!(poisson(0, 1e-9).p_value > 0.99);
        assert!(poisson(1, 1e-9).p_value < 1e-8);
        assert!(poisson(100, 100.0).p_value > 0.9);
    }
}
