//! `sabacc audit randomness`: statistical tests of the dealer's chance.

mod report;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use battery::{
    Judgement, Law, Measure, Measured, PILES, Pile, Report, SIGNIFICANCE_LEVEL, Scope, Tally, Test,
    TestResult, draw_hand_of, judge_all, measure,
};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::output;
use crate::progress_bar::ProgressBar;

/// Number of seeds that are judged together.
const SEEDS: u64 = 20;

#[derive(Args)]
pub(crate) struct Options {
    /// Hands dealt with each of the 20 seeds, from each pile that the games use.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000))]
    hands: u64,
    /// The first of the 20 seeds; the others follow.
    #[arg(long, value_name = "S", default_value_t = 1)]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(..=u64::MAX - SEEDS))]
    seed: u64,
    /// Write the figures to this file in Markdown, with the commit of the working directory's
    /// repository and the date.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the command. True if every test was made and passed.
pub(crate) async fn run(json: bool, options: &Options) -> anyhow::Result<bool> {
    let Options { hands, seed, report: ref file } = *options;
    let origin = file.is_some().then(report::Origin::find).transpose()?;
    let report = tokio::task::spawn_blocking(move || deal(seed, hands)).await?;
    if let (Some(file), Some(origin)) = (file, origin) {
        report::write(file, &report, seed, &origin)?;
    }
    if json {
        output::line(&as_json(&report, seed).to_string());
    } else {
        output::line(as_text(&report, seed).trim_end());
    }
    Ok(report.passed())
}

/// Deals every seed's hands from every pile, and judges them together.
fn deal(first: u64, hands: u64) -> Report {
    let [p76, p62, sand, blood, p42] = PILES;
    judge_all(vec![
        deal_pile::<76>(p76, first, hands),
        deal_pile::<62>(p62, first, hands),
        deal_pile::<22>(sand, first, hands),
        deal_pile::<22>(blood, first, hands),
        deal_pile::<42>(p42, first, hands),
    ])
}

/// Deals every seed's hands from a pile, with a thread for each processor.
fn deal_pile<const N: usize>(pile: Pile, first: u64, hands: u64) -> Measured {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let bar = ProgressBar::start("seeds of a pile", Some(SEEDS));
    let deal = |seed| {
        let mut tally = Tally::<N>::new();
        (0..hands).for_each(|hand| tally.add(&draw_hand_of(pile, seed, hand)));
        bar.advance(1);
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
    measure(pile, &tallies)
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
    for pile in PILES {
        text.push_str(&format!("With {pile}:\n\n"));
        for test in Test::all() {
            let verdict = all_seeds(report, pile, test)
                .map_or_else(String::new, |it| verdict(it).to_string());
            let worst = worst(report, pile, test).map_or_else(
                || "too few hands".to_owned(),
                |(seed, measure)| format!("the furthest off is {seed}, {}", MeasureText(measure)),
            );
            text.push_str(&format!("{test}\n    {verdict}\n    seed by seed: {worst}\n"));
        }
        text.push('\n');
    }
    for answer in report.rejections() {
        if let Scope::Seed(seed) = answer.scope {
            text.push_str(&format!(
                "with {} and seed {seed}: {}\n    {}\n",
                answer.pile,
                answer.test,
                verdict(answer)
            ));
        }
    }
    text.push_str(&format!("\n{}\n", conclusion(report)));
    text
}

fn conclusion(report: &Report) -> String {
    match (report.passed(), report.rejections().count()) {
        (true, _) => "every test passed".to_owned(),
        (false, 0) => "NOT every test could be made: deal more hands".to_owned(),
        (false, rejected) => format!("the dealer is NOT fair: {rejected} answers rejected"),
    }
}

/// Result over the hands of all seeds.
fn all_seeds(report: &Report, pile: Pile, test: Test) -> Option<&TestResult> {
    let of = |it: &&TestResult| it.pile == pile && it.test == test && it.scope == Scope::All;
    report.results.iter().find(of)
}

/// The seed that is furthest off.
fn worst(report: &Report, pile: Pile, test: Test) -> Option<(u64, Measure)> {
    let answers = report.results.iter().filter(|it| it.pile == pile && it.test == test);
    let seeds = answers.filter_map(|answer| match (answer.scope, answer.judgement) {
        (Scope::Seed(seed), Some(judged)) => Some((seed, judged.measure)),
        (Scope::Seed(_) | Scope::All, _) => None,
    });
    seeds.min_by(|(_, one), (_, other)| one.p_value.total_cmp(&other.p_value))
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
    let TestResult { pile, test, scope: of, judgement: judged } = answer;
    let (test, pile) = (test.to_string(), pile.to_string());
    let seed = match of {
        Scope::All => Value::Null,
        Scope::Seed(seed) => json!(seed),
    };
    let Some(judged) = judged else {
        return json!({"pile": pile, "test": test, "seed": seed, "verdict": "not_made"});
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
        "pile": pile, "test": test, "seed": seed, "verdict": verdict, "statistic": statistic,
        "law": law, "degrees_of_freedom": degrees, "mean": mean, "p": p, "p_adjusted": adjusted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_every_figure_and_what_it_means() {
        let report = deal(1, 400);
        let text = as_text(&report, 1);
        assert!(text.starts_with("40000 hands"), "{text}");
        assert!(text.contains("at 5625 degrees of freedom, p 0."), "{text}");
        assert!(text.ends_with("\nevery test passed\n"), "{text}");
        let value = as_json(&report, 1);
        assert_eq!(value["passed"], true);
        let answers = value["answers"].as_array().unwrap();
        assert_eq!(answers.len(), Test::all().count() * 21 * PILES.len());
        assert_eq!(answers[0]["degrees_of_freedom"], 5625);

        let origin = report::Origin::of("0123456789ab", "2001-02-03");
        let page = report::markdown(&report, 1, &origin);
        assert!(page.contains("| commit | 0123456789ab |"), "{page}");
        assert!(page.contains("| date | 2001-02-03 |"), "{page}");
        assert!(page.contains("| verdict | every test passed |"), "{page}");
        assert_eq!(page.matches("\n## ").count(), PILES.len(), "{page}");
        let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains(" p "));
        assert!(rows.count() >= Test::all().count() * PILES.len(), "{page}");
    }

    #[test]
    fn what_could_not_be_judged_is_no_pass() {
        let report = deal(1, 3);
        let text = as_text(&report, 1);
        assert!(text.contains("not made: too few hands"), "{text}");
        assert!(text.ends_with("\nNOT every test could be made: deal more hands\n"), "{text}");
        let page = report::markdown(&report, 1, &report::Origin::of("c", "d"));
        assert!(page.contains("| verdict | NOT every test could be made: deal more hands |"));
    }

    #[test]
    fn an_unfair_dealer_is_called_one() {
        let same = |seed| {
            let mut tally = Tally::<76>::new();
            (0..350).for_each(|_| tally.add(&draw_hand_of(PILES[0], 1, 1)));
            (seed, tally)
        };
        let report = judge_all(vec![measure(PILES[0], &(1..=2).map(same).collect::<Vec<_>>())]);
        let text = as_text(&report, 1);
        assert!(text.contains("REJECTED: chi-squared"), "{text}");
        assert!(text.contains("\nwith 76 cards and seed 2: "), "{text}");
        assert!(text.contains("the dealer is NOT fair: "), "{text}");
        let page = report::markdown(&report, 1, &report::Origin::of("c", "d"));
        assert!(page.contains("| verdict | the dealer is NOT fair: "), "{page}");
    }
}
