//! `sabacc verify`: checks bundles of hands against given keys, without a server, a clock or a data
//! folder.
//!
//! The exit code is 0 if every hand is proved, 1 if one failed, 2 if a file is refused, 4 if a hand
//! is not finished, 3 if one was broken off: of several files the first of these, in this order.
//!
//! Specification: fairness/SPEC.md §15.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::Verdict;
use audit::bundle::{Bundle, Histories, MAX_BYTES, TrustedKeys, Witnesses};
use audit::hand::{self, Check, HandVerdict, Report};
use audit::receipt::{self, ReceiptVerdict};
use clap::Args;
use proto::table::v1::EntropyReceipt;
use serde_json::json;

use crate::audits::print_report;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles (.sabacc).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The public keys to trust, one a line, as `sabacc keys` prints them. Get them from another
    /// source than the bundles.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Keys of witnesses that you trust, one a line: never from the room.
    #[arg(long, value_name = "FILE")]
    witness_keys: Option<PathBuf>,
    /// Witnesses that must have signed a hand's checkpoints [default: 1 where their keys are given].
    #[arg(long, value_name = "N")]
    witnesses: Option<usize>,
    /// A receipt of the table for committed entropy, to check whether the logs in these bundles
    /// contain it.
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
}

/// Unusable file: the program exits with 2 and this line.
#[derive(Debug)]
pub(crate) struct BadBundle(String);

impl std::fmt::Display for BadBundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadBundle {}

fn bad_bundle(path: &Path, why: &dyn std::fmt::Display) -> BadBundle {
    BadBundle(format!("sabacc: {}: {why}", path.display()))
}

/// Reader's trust.
struct Trust {
    keys: TrustedKeys,
    witnesses: Witnesses,
    receipt: Option<EntropyReceipt>,
}

/// Runs the command. Returns its exit code.
pub(crate) fn run(json: bool, options: &Options) -> anyhow::Result<u8> {
    let trust = read_trust(options)?;
    let mut verdicts = BTreeSet::new();
    let mut histories = Histories::default();
    let mut text = String::new();
    for path in &options.files {
        let bundle = match read_bundle(path) {
            Ok(bundle) => bundle,
            Err(error) => {
                output::error(&error.to_string());
                verdicts.insert(HandVerdict::Refused);
                continue;
            }
        };
        let records = bundle.witnessed_records(&trust.keys, &trust.witnesses);
        let report = hand::audit(&records);
        // What is not proved to be in a log convicts no log.
        let contradictions =
            if is_in_its_logs(&report) { histories.add(&bundle) } else { Vec::new() };
        let receipt =
            trust.receipt.as_ref().map(|it| receipt::check(it, &bundle.table, &trust.keys));
        let kept = receipt.as_ref().is_none_or(|it| *it == ReceiptVerdict::Kept);
        let fine = contradictions.is_empty() && kept;
        verdicts.insert(if fine { report.verdict } else { HandVerdict::Failed });
        let findings = Findings { receipt, contradictions };
        if json {
            text.push_str(&json_line(path, &report, &findings)?);
        } else {
            let whole = options.files.len() == 1;
            if whole {
                print_report(&records, &report);
            }
            text.push_str(&summary(path, &report, &findings, !whole));
        }
    }
    output::text(&text).context("the verdicts cannot be written")?;
    Ok(exit_code(&verdicts))
}

/// Returns the exit code of several verdicts: the first of failed, refused, not finished, broken off
/// that occurs.
fn exit_code(verdicts: &BTreeSet<HandVerdict>) -> u8 {
    let order = [
        HandVerdict::Failed,
        HandVerdict::Refused,
        HandVerdict::NotFinished,
        HandVerdict::BrokenOff,
    ];
    let first = order.into_iter().find(|verdict| verdicts.contains(verdict));
    first.unwrap_or(HandVerdict::Proved).exit_code()
}

fn is_in_its_logs(report: &Report) -> bool {
    let passed = |check| report.checks.of(check) == Some(&Verdict::Passed);
    passed(Check::Keys) && passed(Check::Inclusion)
}

/// Findings about a bundle beside the report on its hand.
struct Findings {
    receipt: Option<ReceiptVerdict>,
    /// Contradictions of bundles that were given before.
    contradictions: Vec<String>,
}

fn read_trust(options: &Options) -> anyhow::Result<Trust> {
    let keys = options.keys.as_deref().map(read_keys).transpose()?.unwrap_or_default();
    let witnesses = match &options.witness_keys {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| bad_bundle(path, &error))?;
            Witnesses::parse(&text, options.witnesses).map_err(|bad| bad_bundle(path, &bad))?
        }
        None => Witnesses::parse("", options.witnesses)?,
    };
    Ok(Trust {
        keys,
        witnesses,
        receipt: options.receipt.as_deref().map(read_receipt).transpose()?,
    })
}

fn read_bundle(path: &Path) -> Result<Bundle, BadBundle> {
    let file = std::fs::metadata(path).map_err(|error| bad_bundle(path, &error))?;
    if file.len() > MAX_BYTES as u64 {
        let why = format!("a bundle has at most {MAX_BYTES} bytes, this has {}", file.len());
        return Err(bad_bundle(path, &why));
    }
    let bytes = std::fs::read(path).map_err(|error| bad_bundle(path, &error))?;
    Bundle::parse(&bytes).map_err(|why| bad_bundle(path, &why))
}

fn read_keys(path: &Path) -> anyhow::Result<TrustedKeys> {
    let text = std::fs::read_to_string(path).map_err(|error| bad_bundle(path, &error))?;
    Ok(TrustedKeys::parse(&text).map_err(|bad| bad_bundle(path, &bad))?)
}

fn read_receipt(path: &Path) -> anyhow::Result<EntropyReceipt> {
    let bytes = std::fs::read(path).map_err(|error| bad_bundle(path, &error))?;
    Ok(receipt::parse(&bytes).ok_or_else(|| bad_bundle(path, &"the file is no receipt"))?)
}

/// Formats a report as a line of JSON.
fn json_line(path: &Path, report: &Report, findings: &Findings) -> anyhow::Result<String> {
    let mut value = json!({
        "file": path.display().to_string(),
        "hand_id": report.hand_id,
        "verdict": report.verdict,
        "sentences": report.sentences,
        "checks": report.checks,
        "notes": report.notes,
    });
    if let Some(object) = value.as_object_mut() {
        if let Some(receipt) = &findings.receipt {
            object.insert("receipt".into(), serde_json::to_value(receipt)?);
        }
        if !findings.contradictions.is_empty() {
            object.insert("verdict".into(), json!(HandVerdict::Failed));
            object.insert("contradictions".into(), json!(findings.contradictions));
        }
    }
    Ok(serde_json::to_string(&value)? + "\n")
}

/// Summarizes a report: its verdict, and unless all of it was printed before, the sentences and the
/// checks that did not pass.
fn summary(path: &Path, report: &Report, findings: &Findings, with_details: bool) -> String {
    let mut text = format!("{}: hand {}: {}\n", path.display(), report.hand_id, report.verdict);
    if with_details {
        for sentence in &report.sentences {
            let _ = writeln!(text, "    {sentence}");
        }
        for it in report.checks.0.iter().filter(|it| it.verdict != Verdict::Passed) {
            let _ = writeln!(text, "    {} {}", it.check, it.verdict);
        }
    }
    for contradiction in &findings.contradictions {
        let _ = writeln!(
            text,
            "    FAILED: {contradiction}: this file and one before it cannot both be the log"
        );
    }
    if let Some(receipt) = &findings.receipt {
        let _ = writeln!(text, "    receipt: {receipt}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fairness/SPEC.md §15.3.
    #[test]
    fn the_exit_code_of_several_files_is_the_worst_news_first() {
        use HandVerdict::{BrokenOff, Failed, NotFinished, Proved, Refused};
        let code = |verdicts: &[HandVerdict]| exit_code(&verdicts.iter().copied().collect());
        assert_eq!(code(&[Proved]), 0);
        assert_eq!(code(&[Proved, BrokenOff]), 3);
        assert_eq!(code(&[BrokenOff, NotFinished, Proved]), 4);
        assert_eq!(code(&[NotFinished, Refused]), 2);
        assert_eq!(code(&[Refused, Failed, Proved, BrokenOff, NotFinished]), 1);
    }
}
