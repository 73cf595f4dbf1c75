//! `sabacc audit randomness`: statistical tests of the dealer's chance.

use std::fmt;
use std::num::NonZeroUsize;

use battery::{
    Judgement, Law, Measure, Report, SIGNIFICANCE_LEVEL, Scope, Tally, Test, TestResult, draw_hand,
    judge,
};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::output;

/// Number of seeds that are judged together.
const SEEDS: u64 = 20;

#[derive(Args)]
pub(crate) struct Options {
    /// Hands dealt with each of the 20 seeds.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000))]
    hands: u64,
    /// The first of the 20 seeds; the others follow.
    #[arg(long, value_name = "S", default_value_t = 1)]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(..=u64::MAX - SEEDS))]
    seed: u64,
}

/// Runs the command. True if every test was made and passed.
pub(crate) async fn run(json: bool, options: &Options) -> anyhow::Result<bool> {
    let Options { hands, seed } = *options;
    let report = tokio::task::spawn_blocking(move || judge(&tallies(seed, hands))).await?;
    if json {
        output::line(&as_json(&report, seed).to_string());
    } else {
        output::line(as_text(&report, seed).trim_end());
    }
    Ok(report.passed())
}

/// Deals every seed's hands, with a thread for each processor.
fn tallies(first: u64, hands: u64) -> Vec<(u64, Tally)> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let deal = |seed| {
        let mut tally = Tally::new();
        (0..hands).for_each(|hand| tally.add(&draw_hand(seed, hand)));
        (seed, tally)
    };
    let mut tallies: Vec<_> = std::thread::scope(|scope| {
        let share = |thread| (first..first + SEEDS).skip(thread).step_by(threads);
        let work = |thread| scope.spawn(move || share(thread).map(deal).collect::<Vec<_>>());
        let workers: Vec<_> = (0..threads).map(work).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
            Ok(tallies) => tallies,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().flat_map(join).collect()
    });
    tallies.sort_by_key(|(seed, _)| *seed);
    tallies
}

fn as_text(report: &Report, seed: u64) -> String {
    let judged = report.results.iter().filter(|answer| answer.judgement.is_some()).count();
    let mut text = format!(
        "{} hands, dealt by the dealer's own code with the {SEEDS} seeds {seed} to {}.\n\
         p says how often a fair dealer is at least as far off. {judged} answers are judged together \
         (Holm), so that a fair dealer fails with one choice of seeds in {}.\n\n",
        report.hands,
        seed + SEEDS - 1,
        (1.0 / SIGNIFICANCE_LEVEL).round(),
    );
    for test in Test::all() {
        let all =
            report.results.iter().find(|answer| answer.test == test && answer.scope == Scope::All);
        let verdict = all.map_or_else(String::new, |answer| verdict(answer).to_string());
        text.push_str(&format!(
            "{test}\n    {verdict}\n    seed by seed: {}\n",
            worst(report, test)
        ));
    }
    for answer in report.rejections() {
        if let Scope::Seed(seed) = answer.scope {
            text.push_str(&format!("with seed {seed}: {}\n    {}\n", answer.test, verdict(answer)));
        }
    }
    let rejected = report.rejections().count();
    text.push_str(&match (report.passed(), rejected) {
        (true, _) => "\nevery test passed\n".to_owned(),
        (false, 0) => "\nNOT every test could be made: deal more hands\n".to_owned(),
        (false, _) => format!("\nthe dealer is NOT fair: {rejected} answers rejected\n"),
    });
    text
}

/// Describes the seed that is furthest off.
fn worst(report: &Report, test: Test) -> String {
    let answers = report.results.iter().filter(|answer| answer.test == test);
    let seeds = answers.filter_map(|answer| match (answer.scope, answer.judgement) {
        (Scope::Seed(seed), Some(judged)) => Some((seed, judged.measure)),
        (Scope::Seed(_) | Scope::All, _) => None,
    });
    match seeds.min_by(|(_, one), (_, other)| one.p_value.total_cmp(&other.p_value)) {
        Some((seed, measure)) => format!("the furthest off is {seed}, {}", MeasureText(measure)),
        None => "too few hands".to_owned(),
    }
}

fn verdict(answer: &TestResult) -> impl fmt::Display {
    match answer.judgement {
        None => "not made: too few hands".to_owned(),
        Some(judged) if judged.is_rejected() => {
            format!(
                "REJECTED: {}, among all {}",
                MeasureText(judged.measure),
                ProbabilityText(judged.adjusted_p)
            )
        }
        Some(Judgement { measure, adjusted_p: _ }) => format!("passed: {}", MeasureText(measure)),
    }
}

/// Displays a measure in words.
struct MeasureText(Measure);

impl fmt::Display for MeasureText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measure { statistic, law, p_value: p } = self.0;
        match law {
            Law::ChiSquared { degrees } => {
                write!(f, "chi-squared {statistic:.1} at {degrees} degrees of freedom")?;
            }
            Law::Normal => write!(f, "{statistic:+.3} standard deviations from the mean")?,
            Law::Poisson { mean } if mean < 0.1 => write!(f, "{statistic} where none is expected")?,
            Law::Poisson { mean } => write!(f, "{statistic} where {mean:.1} are expected")?,
        }
        write!(f, ", p {}", ProbabilityText(p))
    }
}

/// Displays a probability, with its significant digits.
struct ProbabilityText(f64);

impl fmt::Display for ProbabilityText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProbabilityText(p) = self;
        match *p {
            0.0 => f.write_str("below 1e-300"),
            ..0.001 => write!(f, "{p:.1e}"),
            _ => write!(f, "{p:.4}"),
        }
    }
}

fn as_json(report: &Report, seed: u64) -> Value {
    let answers: Vec<Value> = report.results.iter().map(answer_as_json).collect();
    json!({
        "hands": report.hands, "seeds": SEEDS, "first_seed": seed, "level": SIGNIFICANCE_LEVEL,
        "passed": report.passed(), "answers": answers,
    })
}

fn answer_as_json(answer: &TestResult) -> Value {
    let TestResult { test, scope: of, judgement: judged } = answer;
    let seed = match of {
        Scope::All => Value::Null,
        Scope::Seed(seed) => json!(seed),
    };
    let Some(judged) = judged else {
        return json!({"test": test.to_string(), "seed": seed, "verdict": "not_made"});
    };
    let Judgement { measure: Measure { statistic, law, p_value: p }, adjusted_p: adjusted } =
        judged;
    let (law, degrees, mean) = match law {
        Law::ChiSquared { degrees } => ("chi_squared", Some(degrees), None),
        Law::Normal => ("normal", None, None),
        Law::Poisson { mean } => ("poisson", None, Some(mean)),
    };
    let verdict = if judged.is_rejected() { "rejected" } else { "passed" };
    json!({
        "test": test.to_string(), "seed": seed, "verdict": verdict, "statistic": statistic,
        "law": law, "degrees_of_freedom": degrees, "mean": mean, "p": p, "p_adjusted": adjusted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_every_figure_and_what_it_means() {
        let report = judge(&tallies(1, 350));
        let text = as_text(&report, 1);
        assert!(text.starts_with("7000 hands"), "{text}");
        assert!(text.contains("at 5625 degrees of freedom, p 0."), "{text}");
        assert!(text.ends_with("\nevery test passed\n"), "{text}");
        let told = as_json(&report, 1);
        assert_eq!(told["passed"], true);
        let answers = told["answers"].as_array().unwrap();
        assert_eq!(answers.len(), Test::all().count() * 21);
        assert_eq!(answers[0]["degrees_of_freedom"], 5625);
    }

    #[test]
    fn what_could_not_be_judged_is_no_pass() {
        let text = as_text(&judge(&tallies(1, 3)), 1);
        assert!(text.contains("not made: too few hands"), "{text}");
        assert!(text.ends_with("\nNOT every test could be made: deal more hands\n"), "{text}");
    }

    #[test]
    fn an_unfair_dealer_is_called_one() {
        let same = |seed| {
            let mut tally = Tally::new();
            (0..350).for_each(|_| tally.add(&draw_hand(1, 1)));
            (seed, tally)
        };
        let text = as_text(&judge(&(1..=2).map(same).collect::<Vec<_>>()), 1);
        assert!(text.contains("REJECTED: chi-squared"), "{text}");
        assert!(text.contains("\nwith seed 2: "), "{text}");
        assert!(text.contains("the dealer is NOT fair: "), "{text}");
    }
}
