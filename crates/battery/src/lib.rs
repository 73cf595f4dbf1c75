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

mod gamma;
mod hand;
mod measure;
mod tally;

use std::fmt;

pub use hand::{CARDS, HandOutcomes, draw_hand};
pub use measure::{Law, Measure};
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
    Dice,
    RollAfterRoll,
    Coupons,
    DiceAndTopCard,
    DiceAndBottomCard,
    Pulses,
    Picks,
    Samples,
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
            Test::Dice,
            Test::RollAfterRoll,
            Test::Coupons,
            Test::DiceAndTopCard,
            Test::DiceAndBottomCard,
            Test::Pulses,
            Test::Picks,
            Test::Samples,
            Test::FiveCardRepeats,
            Test::TenCardRepeats,
        ];
        let apart = (1..=MAX_LAG).flat_map(|lag| [Test::DecksApart(lag), Test::DiceApart(lag)]);
        single.into_iter().chain(apart)
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
            Test::Dice => "every pair of dice comes equally often",
            Test::RollAfterRoll => "a second roll does not depend on the first",
            Test::Coupons => "dice show all six sides after as many throws as they should",
            Test::DiceAndTopCard => "dice tell nothing about the top card",
            Test::DiceAndBottomCard => "dice tell nothing about the bottom card",
            Test::Pulses => "a chance of one in four comes true once in four times",
            Test::Picks => "every part of a wide range is picked equally often",
            Test::Samples => "every draw of three out of nine comes equally often",
            Test::FiveCardRepeats => "the same five top cards come again as rarely as they should",
            Test::TenCardRepeats => "the same ten top cards do not come again",
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

/// Judges the hands of some seeds, each with its tally.
#[must_use]
pub fn judge(seeds: &[(u64, Tally)]) -> Report {
    let mut all = Tally::new();
    seeds.iter().for_each(|(_, tally)| all.merge(tally));
    let of_all = std::iter::once((Scope::All, &all));
    let tallies = of_all.chain(seeds.iter().map(|(seed, tally)| (Scope::Seed(*seed), tally)));
    let mut answers = Vec::new();
    for (of, tally) in tallies {
        answers.extend(Test::all().map(|test| {
            let judged = tally.measure(test).map(|measure| Judgement { measure, adjusted_p: 1.0 });
            TestResult { test, scope: of, judgement: judged }
        }));
    }
    holm(&mut answers);
    Report { hands: all.hands(), results: answers }
}

/// Holm's step-down rule. The smallest p-value is multiplied by the number of p-values, the next by
/// one less and so on, and none becomes smaller than the one before it. It holds however the tests
/// depend on each other.
fn holm(answers: &mut [TestResult]) {
    let mut judged: Vec<&mut Judgement> =
        answers.iter_mut().filter_map(|answer| answer.judgement.as_mut()).collect();
    judged.sort_by(|one, other| one.measure.p_value.total_cmp(&other.measure.p_value));
    let mut left = judged.len();
    let mut before = 0.0_f64;
    for one in judged {
        before = before.max(one.measure.p_value * left as f64).min(1.0);
        one.adjusted_p = before;
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(p: f64) -> TestResult {
        let measure = Measure { statistic: 0.0, law: Law::Normal, p_value: p };
        let judged = Some(Judgement { measure, adjusted_p: f64::NAN });
        TestResult { test: Test::Places, scope: Scope::All, judgement: judged }
    }

    /// Four p-values of a textbook example, and their corrected values.
    #[test]
    fn holm_multiplies_by_what_is_left_and_never_steps_back() {
        let mut answers = [0.01, 0.04, 0.03, 0.005].map(answer);
        holm(&mut answers);
        let adjusted = answers.map(|answer| answer.judgement.unwrap().adjusted_p);
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
