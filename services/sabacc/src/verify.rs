//! `sabacc verify`: checks bundles of hands against given keys, without a server, a clock or a data
//! folder.
//!
//! The exit code is 0 if every check of every bundle passed, 1 if one failed or could not be made,
//! and 2 if a file is not a bundle.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::Verdict;
use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::{self, Report};
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

pub(crate) fn run(json: bool, options: &Options) -> anyhow::Result<bool> {
    let Options { files, keys, receipt } = options;
    let trusted = match keys {
        Some(path) => read_keys(path)?,
        None => TrustedKeys::none(),
    };
    let receipt = receipt.as_deref().map(read_receipt).transpose()?;
    let (mut passed, mut refused) = (true, None);
    let mut text = String::new();
    for path in files {
        let read = std::fs::read(path).map_err(|error| bad_bundle(path, &error));
        let bundle =
            read.and_then(|bytes| Bundle::parse(&bytes).map_err(|why| bad_bundle(path, &why)));
        let bundle = match bundle {
            Ok(bundle) => bundle,
            Err(error) => {
                output::error(&error.to_string());
                refused = Some(error);
                continue;
            }
        };
        let records = bundle.records(&trusted);
        let report = hand::audit(&records);
        let word = receipt.as_ref().map(|it| receipt::check(it, &bundle.table, &trusted));
        passed &= report.passed() && word.as_ref().is_none_or(|word| *word == ReceiptVerdict::Kept);
        if json {
            text.push_str(&json_line(path, &report, word.as_ref())?);
        } else if files.len() == 1 {
            print_report(&records, &report);
            text.push_str(&summary(path, &report, word.as_ref(), true));
        } else {
            text.push_str(&summary(path, &report, word.as_ref(), false));
        }
    }
    output::text(&text).context("the verdicts cannot be written")?;
    match refused {
        // The errors were printed above.
        Some(_) => Err(BadBundle("sabacc: not every file is a bundle".to_owned()).into()),
        None => Ok(passed),
    }
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
fn json_line(
    path: &Path,
    report: &Report,
    word: Option<&ReceiptVerdict>,
) -> anyhow::Result<String> {
    let mut value = json!({
        "file": path.display().to_string(),
        "hand_id": report.hand_id,
        "passed": report.passed(),
        "checks": report.checks,
        "notes": report.notes,
    });
    if let (Some(word), Some(object)) = (word, value.as_object_mut()) {
        object.insert("receipt".into(), serde_json::to_value(word)?);
    }
    Ok(serde_json::to_string(&value)? + "\n")
}

/// Summarizes a report; one line if it passed. `checks_printed`: the failed checks were printed
/// before.
fn summary(
    path: &Path,
    report: &Report,
    word: Option<&ReceiptVerdict>,
    checks_printed: bool,
) -> String {
    let (path, id) = (path.display(), &report.hand_id);
    let mut text = String::new();
    if report.passed() {
        text.push_str(&format!("{path}: hand {id}: every check passed\n"));
    } else {
        text.push_str(&format!("{path}: hand {id}: NOT every check passed\n"));
        let wrong =
            report.checks.0.iter().filter(|it| it.verdict != Verdict::Passed && !checks_printed);
        wrong.for_each(|it| text.push_str(&format!("    {} {}\n", it.check, it.verdict)));
    }
    if let Some(word) = word {
        text.push_str(&format!("{path}: receipt: {word}\n"));
    }
    text
}
