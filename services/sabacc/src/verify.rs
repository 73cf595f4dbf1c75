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
use audit::evidence::{self, Entry};
use audit::hand::{self, Check, EvidenceReport, HandRecords, HandVerdict, Report};
use clap::Args;
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
    /// Your evidence file: shows your own number in the hand, and finds what the room has signed for
    /// you and the bundle has otherwise.
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// A folder with bundles and checkpoints that you have seen before, to compare with these.
    #[arg(long, value_name = "DIR")]
    seen: Option<PathBuf>,
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

/// Reader's trust, and what they keep.
struct Reader {
    keys: TrustedKeys,
    witnesses: Witnesses,
    evidence: Option<Vec<Entry>>,
    histories: Histories,
}

/// Runs the command. Returns its exit code.
pub(crate) fn run(json: bool, options: &Options) -> anyhow::Result<u8> {
    let mut reader = read_reader(options)?;
    let mut verdicts = BTreeSet::new();
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
        let records = bundle.witnessed_records(&reader.keys, &reader.witnesses);
        let judged = reader.judge(&bundle, &records);
        verdicts.insert(judged.verdict());
        if json {
            text.push_str(&json_line(path, &judged)?);
        } else {
            let whole = options.files.len() == 1;
            if whole {
                print_report(&records, &judged.report);
            }
            text.push_str(&summary(path, &judged, !whole));
        }
    }
    output::text(&text).context("the verdicts cannot be written")?;
    Ok(exit_code(&verdicts))
}

/// Report on a bundle, and what else speaks against it.
struct Judged {
    report: Report,
    /// Contradictions to what was given or seen before.
    contradictions: Vec<String>,
    /// Contradictions to what the room has signed for the reader.
    convictions: Vec<String>,
}

impl Judged {
    fn verdict(&self) -> HandVerdict {
        let fine = self.contradictions.is_empty() && self.convictions.is_empty();
        if fine { self.report.verdict } else { HandVerdict::Failed }
    }
}

impl Reader {
    fn judge(&mut self, bundle: &Bundle, records: &HandRecords) -> Judged {
        let mut report = hand::audit(records);
        let mut convictions = Vec::new();
        let refused = report.verdict == HandVerdict::Refused;
        if let Some(entries) = self.evidence.as_ref().filter(|_| !refused) {
            let found = hand::examine(entries, records, &report, &bundle.table_keys(&self.keys));
            let EvidenceReport { own_part, is_missing, convictions: convicts } = found;
            if is_missing {
                convictions.push(own_part.clone());
            }
            convictions.extend(convicts);
            report.sentences[2] = own_part;
        }
        // What is not proved to be in a log convicts no log.
        let proved = is_in_its_logs(&report);
        let contradictions = if proved { self.histories.add(bundle) } else { Vec::new() };
        Judged { report, contradictions, convictions }
    }
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

fn read_reader(options: &Options) -> anyhow::Result<Reader> {
    let keys = options.keys.as_deref().map(read_keys).transpose()?.unwrap_or_default();
    let witnesses = match &options.witness_keys {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| bad_bundle(path, &error))?;
            Witnesses::parse(&text, options.witnesses).map_err(|bad| bad_bundle(path, &bad))?
        }
        None => Witnesses::parse("", options.witnesses)?,
    };
    let evidence = options.evidence.as_deref().map(read_evidence).transpose()?;
    let seen = options.seen.as_deref().map(|folder| read_seen(folder, &keys)).transpose()?;
    Ok(Reader { keys, witnesses, evidence, histories: seen.unwrap_or_default() })
}

/// Reads bundles and checkpoints that the reader has seen before. Those that no trusted key vouches
/// for are named and passed over.
fn read_seen(folder: &Path, keys: &TrustedKeys) -> anyhow::Result<Histories> {
    let mut histories = Histories::default();
    let listed = std::fs::read_dir(folder).map_err(|error| bad_bundle(folder, &error))?;
    let mut paths = Vec::new();
    for entry in listed {
        paths.push(entry.map_err(|error| bad_bundle(folder, &error))?.path());
    }
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        let is_bundle = path.extension().is_some_and(|extension| extension == "sabacc");
        let added = if is_bundle {
            read_bundle(path).ok().and_then(|bundle| {
                let report = hand::audit(&bundle.records(keys));
                is_in_its_logs(&report).then(|| histories.add(&bundle))
            })
        } else {
            let text = read_short(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            text.and_then(|text| histories.add_checkpoint(&text, keys))
        };
        match added {
            Some(contradictions) => {
                for contradiction in contradictions {
                    output::error(&format!("sabacc: {}: {contradiction}", path.display()));
                }
            }
            None => output::error(&format!(
                "sabacc: {}: passed over, it is no bundle or checkpoint of a trusted log",
                path.display()
            )),
        }
    }
    Ok(histories)
}

/// Reads a file of at most [`MAX_BYTES`].
fn read_short(path: &Path) -> Result<Vec<u8>, BadBundle> {
    let file = std::fs::metadata(path).map_err(|error| bad_bundle(path, &error))?;
    if file.len() > MAX_BYTES as u64 {
        let why = format!("a file has at most {MAX_BYTES} bytes, this has {}", file.len());
        return Err(bad_bundle(path, &why));
    }
    std::fs::read(path).map_err(|error| bad_bundle(path, &error))
}

fn read_evidence(path: &Path) -> anyhow::Result<Vec<Entry>> {
    let bytes = read_short(path)?;
    let entries = evidence::parse(&bytes, MAX_BYTES).map_err(|error| bad_bundle(path, &error))?;
    for conflict in evidence::conflicts(&entries) {
        output::error(&format!("sabacc: {}: {conflict}", path.display()));
    }
    Ok(entries)
}

fn read_bundle(path: &Path) -> Result<Bundle, BadBundle> {
    Bundle::parse(&read_short(path)?).map_err(|why| bad_bundle(path, &why))
}

fn read_keys(path: &Path) -> anyhow::Result<TrustedKeys> {
    let text = std::fs::read_to_string(path).map_err(|error| bad_bundle(path, &error))?;
    Ok(TrustedKeys::parse(&text).map_err(|bad| bad_bundle(path, &bad))?)
}

/// Formats a report as a line of JSON.
fn json_line(path: &Path, judged: &Judged) -> anyhow::Result<String> {
    let Judged { report, contradictions, convictions } = judged;
    let mut value = json!({
        "file": path.display().to_string(),
        "hand_id": report.hand_id,
        "verdict": judged.verdict(),
        "sentences": report.sentences,
        "checks": report.checks,
        "notes": report.notes,
        "work": report.work,
    });
    if let Some(object) = value.as_object_mut() {
        for (name, found) in [("contradictions", contradictions), ("convictions", convictions)] {
            if !found.is_empty() {
                object.insert(name.into(), json!(found));
            }
        }
    }
    Ok(serde_json::to_string(&value)? + "\n")
}

/// Summarizes a report: its verdict, and unless all of it was printed before, the sentences and the
/// checks that did not pass.
fn summary(path: &Path, judged: &Judged, with_details: bool) -> String {
    let Judged { report, contradictions, convictions } = judged;
    let verdict = judged.verdict();
    let mut text = format!("{}: hand {}: {verdict}\n", path.display(), report.hand_id);
    if with_details {
        for sentence in &report.sentences {
            let _ = writeln!(text, "    {sentence}");
        }
        for it in report.checks.0.iter().filter(|it| it.verdict != Verdict::Passed) {
            let _ = writeln!(text, "    {} {}", it.check, it.verdict);
        }
    }
    for contradiction in contradictions {
        let _ = writeln!(
            text,
            "    FAILED: {contradiction}: this file and one before it cannot both be the log"
        );
    }
    for conviction in convictions {
        let _ = writeln!(text, "    FAILED by your evidence: {conviction}");
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
