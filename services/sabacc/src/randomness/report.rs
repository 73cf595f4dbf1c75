//! The figures of a run as a page that is committed beside the battery.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use battery::{PILES, Pile, Report, Test};
use system::clock::{Clock as _, SystemClock};

use super::{ProbabilityText, SEEDS, all_seeds, conclusion, verdict, worst};

/// Commit and date of the figures.
pub(super) struct Origin {
    commit: String,
    /// As YYYY-MM-DD, in UTC.
    date: String,
}

impl Origin {
    /// The commit of the working directory's repository, which must hold nothing that is not in it,
    /// and today's date.
    pub(super) fn find() -> anyhow::Result<Origin> {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        ensure!(
            changed.is_empty(),
            "figures are of a commit, and these files differ from it:\n{changed}"
        );
        let micros = SystemClock::new().now().to_string();
        let date = micros.split('T').next().unwrap_or_default().to_owned();
        Ok(Origin { commit: git(&["rev-parse", "HEAD"])?, date })
    }

    #[cfg(test)]
    pub(super) fn of(commit: &str, date: &str) -> Origin {
        Origin { commit: commit.to_owned(), date: date.to_owned() }
    }
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let answer = Command::new("git").args(arguments).output();
    let answer = answer.context("git, which tells the commit, cannot be run")?;
    if !answer.status.success() {
        let error = String::from_utf8_lossy(&answer.stderr);
        bail!("git tells no commit of this folder: {}", error.trim());
    }
    Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

/// Writes the page.
pub(super) fn write(
    file: &Path,
    report: &Report,
    seed: u64,
    origin: &Origin,
) -> anyhow::Result<()> {
    let page = markdown(report, seed, origin);
    fs::write(file, page).with_context(|| format!("{} cannot be written", file.display()))
}

pub(super) fn markdown(report: &Report, seed: u64, Origin { commit, date }: &Origin) -> String {
    let each = report.hands / SEEDS / PILES.len() as u64;
    let last = seed + SEEDS - 1;
    let mut page = format!(
        "# Figures of the battery\n\n\
         Written by the command itself, of a working tree without changes:\n\n\
         ```sh\n\
         cargo run --release -- audit randomness --hands {each} --seed {seed} --report crates/battery/REPORT.md\n\
         ```\n\n\
         Outcomes are dealt by the dealer's own code. `p` says how often a fair dealer is at least as far\n\
         off; all answers are judged together (Holm at 0.01). That the tests find what is wrong is tested\n\
         by `tests/battery.rs`, with one planted defect each.\n\n\
         | | |\n|---|---|\n\
         | commit | {commit} |\n| date | {date} |\n| hands | {} |\n| seeds | {seed} to {last} |\n\
         | answers | {} |\n| verdict | {} |\n",
        report.hands,
        report.results.iter().filter(|result| result.judgement.is_some()).count(),
        conclusion(report),
    );
    for pile in PILES {
        page.push_str(&format!(
            "\n## {pile}\n\n| property | all seeds | least p of a seed |\n|---|---|---|\n"
        ));
        Test::all().for_each(|test| page.push_str(&row(report, pile, test)));
    }
    page
}

fn row(report: &Report, pile: Pile, test: Test) -> String {
    let all = all_seeds(report, pile, test)
        .map_or_else(|| "not made".to_owned(), |result| verdict(result).to_string());
    let worst = worst(report, pile, test).map_or_else(
        || "too few hands".to_owned(),
        |(seed, measure)| format!("{} (seed {seed})", ProbabilityText(measure.p_value)),
    );
    format!("| {test} | {all} | {worst} |\n")
}
