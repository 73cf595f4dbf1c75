//! Knows: how fair outcomes are distributed, and how to judge counts of a dealer's outcomes.
//! Does not know: games, logs, services, how results are shown.
//!
//! The tests look at cards and dice, as players do, not at the raw words under them: a generator
//! with perfect bytes and one wrong bound deals unfairly. [`draw_hand`] takes a hand's chance
//! through exactly the code that a dealer uses, from the seed over commitment, transcript and keys
//! to the shoe. Seeds and entropy are small numbers that count up, so that an outcome can look fair
//! only if the scheme itself mixes them. They are fixed, so a rejection is a defect and never bad
//! luck.
//!
//! A [`Tally`] counts the hands of one seed. [`judge`] applies each [`Test`] to each seed's tally
//! and to all of them added up, and corrects the whole family of results by Holm's rule at
//! [`SIGNIFICANCE_LEVEL`]: a fair dealer is rejected for one in a hundred choices of seeds, however
//! many tests there are. Every p-value is two-sided: too even is as wrong as too uneven. A test
//! with too few hands for its law is not made, and that is no pass.
//!
//! `tests/battery.rs` tests the tests: dealers with one defect each, all rejected.
//!
//! Specification: fairness/SPEC.md §13.2.

pub mod field;
mod gamma;
mod hand;
mod laws;
mod measure;
mod tally;

use std::fmt;

pub use hand::{CARDS, DICE, HandOutcomes, PILES, PULSES, Pile, draw_hand, draw_hand_of};
pub use laws::{Law, Measure};
pub use tally::Tally;

/// Probability that the whole battery rejects a fair dealer.
pub const SIGNIFICANCE_LEVEL: f64 = 0.01;
/// Largest distance, in hands, at which hands are compared.
pub const MAX_LAG: usize = 5;

/// A statistical test of a tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    Places,
    Reshuffled,
    Neighbours,
    RunsOfHalves,
    RunsOfColours,
    ShuffleAfterShuffle,
    DealsUntil,
    Dice,
    /// Pairs of dice with this many sides, of [`DICE`] but the first.
    Pairs(u8),
    RollAfterRoll,
    /// Throws of a die with this many sides, of [`DICE`].
    Coupons(u8),
    DiceAndTopCard,
    DiceAndBottomCard,
    /// Pulses of this many parts per million, of [`PULSES`].
    Pulses(u32),
    Picks,
    Samples,
    SampleMembers,
    /// Decks at this distance in hands, 1 to [`MAX_LAG`].
    DecksApart(usize),
    /// Dice at this distance in hands, 1 to [`MAX_LAG`].
    DiceApart(usize),
    FiveCardRepeats,
    TenCardRepeats,
}

impl Test {
    /// Every test, in the order of reports.
    pub fn all() -> impl Iterator<Item = Test> {
        let single = [
            Test::Places,
            Test::Reshuffled,
            Test::Neighbours,
            Test::RunsOfHalves,
            Test::RunsOfColours,
            Test::ShuffleAfterShuffle,
            Test::DealsUntil,
            Test::Dice,
            Test::RollAfterRoll,
            Test::DiceAndTopCard,
            Test::DiceAndBottomCard,
            Test::Picks,
            Test::Samples,
            Test::SampleMembers,
            Test::FiveCardRepeats,
            Test::TenCardRepeats,
        ];
        let apart = (1..=MAX_LAG).flat_map(|lag| [Test::DecksApart(lag), Test::DiceApart(lag)]);
        let dice = DICE.into_iter().skip(1).map(Test::Pairs);
        let coupons = DICE.into_iter().map(Test::Coupons);
        let pulses = PULSES.into_iter().map(Test::Pulses);
        single.into_iter().chain(dice).chain(coupons).chain(pulses).chain(apart)
    }
}

/// The tested property in words.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Test::Places => "every card comes to every place of the deck equally often",
            Test::Reshuffled => "a second shuffle takes every place to every place equally often",
            Test::Neighbours => "every card follows every other equally often",
            Test::RunsOfHalves => "low and high cards change as often as they should",
            Test::RunsOfColours => "odd and even cards change as often as they should",
            Test::ShuffleAfterShuffle => "a second shuffle does not repeat the first",
            Test::DealsUntil => "deals go on until a certain card for as long as they should",
            Test::Dice => "every pair of dice comes equally often",
            Test::RollAfterRoll => "a second roll does not depend on the first",
            Test::DiceAndTopCard => "dice tell nothing about the top card",
            Test::DiceAndBottomCard => "dice tell nothing about the bottom card",
            Test::Picks => "every part of a wide range is picked equally often",
            Test::Samples => "every draw of three out of nine comes equally often",
            Test::SampleMembers => "every number of nine is drawn equally often",
            Test::FiveCardRepeats => "the same five top cards come again as rarely as they should",
            Test::TenCardRepeats => "the same ten top cards do not come again",
            Test::Pairs(sides) => {
                return write!(f, "every pair of dice with {sides} sides comes equally often");
            }
            Test::Coupons(sides) => {
                return write!(
                    f,
                    "dice show all {sides} sides after as many throws as they should"
                );
            }
            Test::Pulses(ppm) => {
                return write!(
                    f,
                    "a chance of {ppm} in a million comes true as often as it should"
                );
            }
            Test::DecksApart(lag) => {
                return write!(f, "a deck tells nothing about the deck {}", lag_text(*lag));
            }
            Test::DiceApart(lag) => {
                return write!(f, "dice tell nothing about the dice {}", lag_text(*lag));
            }
        };
        f.write_str(words)
    }
}

fn lag_text(lag: usize) -> String {
    if lag == 1 { "of the next hand".to_owned() } else { format!("{lag} hands later") }
}

/// Hands that a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The hands of all seeds together.
    All,
    Seed(u64),
}

/// Result of one test of one tally.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestResult {
    /// The pile that the hands were dealt from.
    pub pile: Pile,
    pub test: Test,
    pub scope: Scope,
    /// None if there were too few hands.
    pub judgement: Option<Judgement>,
}

/// A measure, corrected for the number of tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    pub measure: Measure,
    /// The p-value corrected for the whole family (Holm), at most 1. Below [`SIGNIFICANCE_LEVEL`]
    /// it is rejected.
    pub adjusted_p: f64,
}

impl Judgement {
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.adjusted_p < SIGNIFICANCE_LEVEL
    }
}

/// Every result: all seeds together first, then seed by seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Number of hands of all seeds.
    pub hands: u64,
    pub results: Vec<TestResult>,
}

impl Report {
    /// Whether every test could be made of all hands, and no result was rejected.
    #[must_use]
    pub fn passed(&self) -> bool {
        let made = |answer: &TestResult| answer.scope != Scope::All || answer.judgement.is_some();
        self.results.iter().all(made) && self.rejections().next().is_none()
    }

    pub fn rejections(&self) -> impl Iterator<Item = &TestResult> {
        let rejected =
            |answer: &&TestResult| answer.judgement.is_some_and(|judged| judged.is_rejected());
        self.results.iter().filter(rejected)
    }
}

/// Hands of some seeds that were dealt from one pile, tested and not judged yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    hands: u64,
    results: Vec<TestResult>,
}

/// Measures the hands of some seeds, each with its tally.
#[must_use]
pub fn measure<const N: usize>(pile: Pile, seeds: &[(u64, Tally<N>)]) -> Measured {
    let mut all = Tally::new();
    seeds.iter().for_each(|(_, tally)| all.merge(tally));
    let of_all = std::iter::once((Scope::All, &all));
    let tallies = of_all.chain(seeds.iter().map(|(seed, tally)| (Scope::Seed(*seed), tally)));
    let mut results = Vec::new();
    for (scope, tally) in tallies {
        results.extend(Test::all().map(|test| {
            let judgement =
                tally.measure(test).map(|measure| Judgement { measure, adjusted_p: 1.0 });
            TestResult { pile, test, scope, judgement }
        }));
    }
    Measured { hands: all.hands(), results }
}

/// Judges the hands of all piles together.
#[must_use]
pub fn judge_all(measured: Vec<Measured>) -> Report {
    let hands = measured.iter().map(|measured| measured.hands).sum();
    let mut results: Vec<TestResult> =
        measured.into_iter().flat_map(|measured| measured.results).collect();
    let judged = results.iter_mut().filter_map(|result| result.judgement.as_mut());
    holm(judged.map(|judged| (judged.measure.p_value, &mut judged.adjusted_p)).collect());
    Report { hands, results }
}

/// Judges the hands of some seeds that were dealt from the largest deck, each with its tally.
#[must_use]
pub fn judge(seeds: &[(u64, Tally)]) -> Report {
    judge_all(vec![measure(PILES[0], seeds)])
}

/// Holm's step-down rule. The smallest p-value is multiplied by the number of p-values, the next by
/// one less and so on, and none becomes smaller than the one before it. It holds however the tests
/// depend on each other.
///
/// Takes the p-values, each with the place of its corrected value.
pub(crate) fn holm(mut p_values: Vec<(f64, &mut f64)>) {
    p_values.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut left = p_values.len();
    let mut before = 0.0_f64;
    for (p, adjusted) in p_values {
        before = before.max(p * left as f64).min(1.0);
        *adjusted = before;
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four p-values of a textbook example, and their corrected values.
    #[test]
    fn holm_multiplies_by_what_is_left_and_never_steps_back() {
        let mut adjusted = [f64::NAN; 4];
        holm([0.01, 0.04, 0.03, 0.005].into_iter().zip(&mut adjusted).collect());
        for (got, wanted) in adjusted.into_iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - wanted).abs() < 1e-12, "{got} is not {wanted}");
        }
    }

    #[test]
    fn too_few_hands_are_no_pass() {
        let mut tally = Tally::new();
        (0..10).for_each(|hand| tally.add(&draw_hand(1, hand)));
        let report = judge(&[(1, tally)]);
        assert_eq!(report.rejections().count(), 0);
        assert!(!report.passed());
    }
}
