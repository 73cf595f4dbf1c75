//! P-values of counts of fair outcomes.
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
//! - Samples of k of n, by their numbers alone: n zeros and ones with the sum k vary by
//!   k (n - k) / (n (n - 1)) in each of n - 1 directions.

use crate::gamma::{incomplete, ln_gamma};

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

pub(crate) fn chi_squared(statistic: f64, degrees: usize) -> Measure {
    let (lower, upper) = incomplete(degrees as f64 / 2.0, statistic / 2.0);
    let degrees = u32::try_from(degrees).expect("cells are counted in thousands");
    let p = (2.0 * lower.min(upper)).min(1.0);
    Measure { statistic, law: Law::ChiSquared { degrees }, p_value: p }
}

pub(crate) fn poisson(seen: u64, mean: f64) -> Measure {
    let statistic = seen as f64;
    let at_most = incomplete(statistic + 1.0, mean).1;
    let at_least = if seen == 0 { 1.0 } else { incomplete(statistic, mean).0 };
    let p = (2.0 * at_most.min(at_least)).min(1.0);
    Measure { statistic, law: Law::Poisson { mean }, p_value: p }
}

pub(crate) fn normal(statistic: f64) -> Measure {
    let p = incomplete(0.5, statistic * statistic / 2.0).1;
    Measure { statistic, law: Law::Normal, p_value: p }
}

/// Measures cells that are equally likely, with each case in one of them.
pub(crate) fn uniform(cells: &[u64]) -> Option<Measure> {
    goodness_of_fit(cells, &vec![1.0 / cells.len() as f64; cells.len()])
}

/// Measures cells with these probabilities, with each case in one of them.
pub(crate) fn goodness_of_fit(cells: &[u64], probabilities: &[f64]) -> Option<Measure> {
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

/// As [`goodness_of_fit`], where neighbouring cells are put together until enough is expected of
/// each.
pub(crate) fn grouped_fit(cells: &[u64], probabilities: &[f64]) -> Option<Measure> {
    let total = cells.iter().sum::<u64>() as f64;
    let mut groups = vec![(0, 0.0)];
    for (seen, probability) in cells.iter().zip(probabilities) {
        if groups.last().is_some_and(|(_, so_far)| total * so_far >= MIN_EXPECTED) {
            groups.push((0, 0.0));
        }
        let last = groups.last_mut().expect("there is a first one");
        *last = (last.0 + seen, last.1 + probability);
    }
    if let [.., before, last] = &mut groups[..]
        && total * last.1 < MIN_EXPECTED
    {
        *before = (before.0 + last.0, before.1 + last.1);
        groups.pop();
    }
    let (cells, probabilities) = groups.into_iter().unzip::<u64, f64, Vec<_>, Vec<_>>();
    if cells.len() < 2 { None } else { goodness_of_fit(&cells, &probabilities) }
}

/// Measures the sum of `hands` permutations of a deck of `n` cards.
pub(crate) fn orders(cells: &[u64], n: usize, hands: u64) -> Option<Measure> {
    let (degrees, n, hands) = ((n - 1).pow(2), n as f64, hands as f64);
    let expected = hands / n;
    if expected < MIN_EXPECTED {
        return None;
    }
    let squares: f64 = cells.iter().map(|seen| (*seen as f64 - expected).powi(2)).sum();
    Some(chi_squared(squares * (n - 1.0) / hands, degrees))
}

/// Measures the sum of `hands` rings of a deck.
pub(crate) fn neighbours(cells: &[u64], cards: usize, hands: u64) -> Option<Measure> {
    let (n, hands) = (cards as f64, hands as f64);
    let expected = hands / (n - 1.0);
    if expected < MIN_EXPECTED {
        return None;
    }
    let (mut beside, mut above) = (0.0, 0.0);
    for one in 0..cards {
        for other in 0..one {
            let down = cells[one * cards + other] as f64;
            let up = cells[other * cards + one] as f64;
            // The sum covers both halves of the matrix.
            beside += 2.0 * (f64::midpoint(down, up) - expected).powi(2);
            above += 2.0 * ((down - up) / 2.0).powi(2);
        }
    }
    let beside = beside * (n - 1.0) / hands;
    let above = above * (n - 1.0) * (n - 2.0) / (n * hands);
    let degrees = cards * (cards - 3) / 2 + (cards - 1) * (cards - 2) / 2;
    Some(chi_squared(beside + above, degrees))
}

/// Measures the runs in `hands` decks of two kinds, with as many cards of one as of the other.
pub(crate) fn runs(seen: u64, cards: usize, hands: u64) -> Option<Measure> {
    if hands < MIN_HANDS {
        return None;
    }
    let (n, hands) = (cards as f64, hands as f64);
    let twice = n * n / 2.0;
    let mean = twice / n + 1.0;
    let variance = twice * (twice - n) / (n * n * (n - 1.0));
    Some(normal((seen as f64 - hands * mean) / (hands * variance).sqrt()))
}

/// Measures pairs of dice, with each die in two of them.
pub(crate) fn independent(cells: &[u64; 36]) -> Option<Measure> {
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

/// Measures pulses of `ppm` parts per million, counted by no and yes, by the exact binomial law. A
/// pulse that is impossible or certain tells nothing.
pub(crate) fn pulses([no, yes]: [u64; 2], ppm: u32) -> Option<Measure> {
    let (count, p) = ((no + yes) as f64, f64::from(ppm) / 1e6);
    if no + yes < MIN_HANDS || count * p.min(1.0 - p) < MIN_EXPECTED {
        return None;
    }
    let statistic = (yes as f64 - count * p) / (count * p * (1.0 - p)).sqrt();
    let (many, few) = (binomial_tail(yes, no, p), binomial_tail(no, yes, 1.0 - p));
    Some(Measure { statistic, law: Law::Normal, p_value: (2.0 * many.min(few)).min(1.0) })
}

/// Probability of `yes` or more where each of `yes + no` comes true with probability `p`.
fn binomial_tail(yes: u64, no: u64, p: f64) -> f64 {
    let (k, n) = (yes as f64, (yes + no) as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let mut term = (ways + k * p.ln() + (n - k) * (-p).ln_1p()).exp();
    let mut sum = term;
    for more in yes..yes + no {
        term *= (n - more as f64) / (more as f64 + 1.0) * p / (1.0 - p);
        sum += term;
        if term < sum * 1e-16 && more as f64 > n * p {
            break;
        }
    }
    sum.min(1.0)
}

/// Measures `draws` samples of `k` of as many numbers as there are cells, by the numbers drawn.
pub(crate) fn members(cells: &[u64], draws: u64, k: u32) -> Option<Measure> {
    let (n, k, draws) = (cells.len() as f64, f64::from(k), draws as f64);
    let expected = draws * k / n;
    if k >= n || expected.min(draws - expected) < MIN_EXPECTED {
        return None;
    }
    let squares: f64 = cells.iter().map(|seen| (*seen as f64 - expected).powi(2)).sum();
    let variance = draws * k * (n - k) / (n * (n - 1.0));
    Some(chi_squared(squares / variance, cells.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn rare_cells_are_put_together() {
        let probabilities = [0.01, 0.49, 0.49, 0.01];
        let measure = grouped_fit(&[1, 49, 49, 1], &probabilities).unwrap();
        assert_eq!((measure.law, measure.statistic), (Law::ChiSquared { degrees: 1 }, 0.0));
        assert_eq!(grouped_fit(&[0, 4, 5, 0], &probabilities), None);
        let measure = grouped_fit(&[10, 490, 490, 10], &probabilities).unwrap();
        assert_eq!(measure.law, Law::ChiSquared { degrees: 3 });
    }

    #[test]
    fn margins_are_no_dependence() {
        let aligned = std::array::from_fn(|at| if at / 6 == at % 6 { 100 } else { 10 });
        assert!(independent(&aligned).unwrap().p_value < 1e-9);
        // Counts along the margins leave no residue: too even, but no dependence.
        let margins = std::array::from_fn(|at| (at / 6 + at % 6) as u64 * 10);
        assert!(independent(&margins).unwrap().statistic < 1e-9);
    }

    /// Of the 1024 ways of ten coins 11 have nine heads or more, and 638 have five or more.
    #[test]
    fn coins_as_counted_by_hand() {
        for (heads, ways) in [(10, 1.0), (9, 11.0), (5, 638.0), (0, 1024.0)] {
            let tail = binomial_tail(heads, 10 - heads, 0.5);
            assert!((tail - ways / 1024.0).abs() < 1e-12, "{heads}: {tail}");
        }
    }

    /// Draws of 2 of 4: a number that is always drawn is noticed, equal counts are too even.
    #[test]
    fn members_of_samples() {
        let measure = members(&[100, 100, 100, 100], 200, 2).unwrap();
        assert_eq!(measure.law, Law::ChiSquared { degrees: 3 });
        assert!(measure.statistic < 1e-9 && measure.p_value < 1e-9);
        assert!(members(&[200, 66, 67, 67], 200, 2).unwrap().p_value < 1e-9);
        assert!(members(&[110, 95, 105, 90], 200, 2).unwrap().p_value > 0.1);
        assert_eq!(members(&[200, 200], 200, 2), None, "all of them are no chance");
    }

    /// The most likely count is exactly in the middle.
    #[test]
    fn as_many_pulses_as_expected_are_no_reproach() {
        assert!(pulses([300, 100], 250_000).unwrap().p_value > 0.99);
        assert!(pulses([200, 200], 250_000).unwrap().p_value < 1e-9);
    }

    #[test]
    fn no_repeat_is_no_news_and_one_is_too_many() {
        assert!(poisson(0, 1e-9).p_value > 0.99);
        assert!(poisson(1, 1e-9).p_value < 1e-8);
        assert!(poisson(100, 100.0).p_value > 0.9);
    }
}
