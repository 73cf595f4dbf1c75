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
use audit::bundle::{Bundle, Contradiction, Histories, MAX_BYTES, TrustedKeys, Witnesses};
use audit::evidence::{self, Entry};
use audit::hand::{self, EvidenceReport, HandRecords, HandVerdict, Report, TextKey};
use audit::joint::{JointAudit, is_in_its_logs};
use clap::Args;
use serde_json::json;

use crate::audits::print_report;
use crate::evidence::signers::{Signers, conflict_line};
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
struct BadBundle(String);

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
    joint: JointAudit,
}

/// Runs the command. Returns its exit code: whatever cannot be read says nothing of a hand, so it is
/// no failed one.
pub(crate) fn run(json: bool, options: &Options) -> u8 {
    judge_files(json, options).unwrap_or_else(|error| {
        output::error(&match error.downcast::<BadBundle>() {
            Ok(bad) => bad.to_string(),
            Err(error) => format!("sabacc: {error:#}"),
        });
        HandVerdict::Refused.exit_code()
    })
}

fn judge_files(json: bool, options: &Options) -> anyhow::Result<u8> {
    let mut reader = read_reader(options)?;
    let files: Vec<File<'_>> =
        options.files.iter().map(|path| reader.read(path, options.files.len() == 1)).collect();
    let mut reports = reader.joint.into_reports().into_iter();
    let mut verdicts = BTreeSet::new();
    let mut text = String::new();
    for file in files {
        let judged = match file {
            File::Refused(refused) => {
                verdicts.insert(HandVerdict::Refused);
                text.push_str(&if json { refused.json_line()? } else { refused.text() });
                continue;
            }
            File::Read(file) => {
                let report = reports.next().context("each bundle has its report")?;
                Judged { file, report }
            }
        };
        verdicts.insert(judged.verdict());
        text.push_str(&if json { judged.json_line()? } else { judged.text() });
    }
    output::text(&text).context("the verdicts cannot be written")?;
    Ok(exit_code(&verdicts))
}

/// A file that was given.
enum File<'a> {
    Refused(RefusedFile<'a>),
    Read(ReadFile<'a>),
}

/// A file that is no bundle.
struct RefusedFile<'a> {
    path: &'a Path,
    why: String,
}

/// A file that is a bundle. Its report is the next of the joint audit.
struct ReadFile<'a> {
    path: &'a Path,
    /// Contradictions to what the room has signed for the reader.
    convictions: Vec<String>,
    /// Its records, if its story is printed.
    records: Option<Box<HandRecords>>,
}

/// A file with the report on it, made in the light of all files.
struct Judged<'a> {
    file: ReadFile<'a>,
    report: Report,
}

impl Reader {
    /// Reads and audits a file. The story is printed of one that is alone.
    fn read<'a>(&mut self, path: &'a Path, is_alone: bool) -> File<'a> {
        let bundle = match read_bundle(path) {
            Ok(bundle) => bundle,
            Err(error) => {
                output::error(&error.to_string());
                return File::Refused(RefusedFile { path, why: error.to_string() });
            }
        };
        let records = bundle.witnessed_records(&self.keys, &self.witnesses);
        let mut report = hand::audit(&records);
        let evidence = self.evidence.as_deref().filter(|_| report.verdict != HandVerdict::Refused);
        let table_keys = bundle.table_keys(&self.keys);
        let mut convictions = evidence
            .map(|entries| examine_evidence(entries, &records, &mut report, &table_keys))
            .unwrap_or_default();
        let conflicts =
            evidence.map(|entries| Signers::new(&self.keys).conflicts(entries)).unwrap_or_default();
        convictions.extend(conflicts.iter().map(conflict_line));
        self.joint.add(&path.display().to_string(), &bundle, report);
        File::Read(ReadFile { path, convictions, records: is_alone.then(|| Box::new(records)) })
    }
}

impl RefusedFile<'_> {
    fn sentences(&self) -> [String; 3] {
        [
            format!("Nothing is proved: {}.", self.why),
            "It is nobody's word: nothing was checked.".to_owned(),
            "Get the file and the room's keys from where you trust them, and check again."
                .to_owned(),
        ]
    }

    fn json_line(&self) -> anyhow::Result<String> {
        let value = json!({
            "file": self.path.display().to_string(),
            "hand_id": null,
            "verdict": HandVerdict::Refused,
            "sentences": self.sentences(),
            "checks": [],
        });
        Ok(serde_json::to_string(&value)? + "\n")
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.path.display(), HandVerdict::Refused);
        for sentence in self.sentences() {
            let _ = writeln!(text, "    {}", output::one_line(&sentence));
        }
        text
    }
}

/// Holds a report against the reader's evidence. Returns what contradicts it.
fn examine_evidence(
    entries: &[Entry],
    records: &HandRecords,
    report: &mut Report,
    table_keys: &[TextKey],
) -> Vec<String> {
    let EvidenceReport { own_part, is_missing, convictions } =
        hand::examine(entries, records, report, table_keys);
    let missing = is_missing.then(|| own_part.clone());
    report.sentences[2] = own_part;
    missing.into_iter().chain(convictions).collect()
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
    Ok(Reader { keys, witnesses, evidence, joint: JointAudit::new(seen.unwrap_or_default()) })
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
        let source = path.display().to_string();
        let is_bundle = path.extension().is_some_and(|extension| extension == "sabacc");
        let added = if is_bundle {
            read_bundle(path).ok().and_then(|bundle| {
                let report = hand::audit(&bundle.records(keys));
                is_in_its_logs(&report).then(|| histories.add(&source, &bundle))
            })
        } else {
            let text = read_short(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            text.and_then(|text| histories.add_checkpoint(&source, &text, keys))
        };
        match added {
            Some(contradictions) => {
                for Contradiction { with, what } in contradictions {
                    output::error(&format!("sabacc: {source}: {with} contradicts it: {what}"));
                }
            }
            None => output::error(&format!(
                "sabacc: {source}: passed over, it is no bundle or checkpoint of a trusted log"
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
    Ok(evidence::parse(&bytes, MAX_BYTES).map_err(|error| bad_bundle(path, &error))?)
}

fn read_bundle(path: &Path) -> Result<Bundle, BadBundle> {
    Bundle::parse(&read_short(path)?).map_err(|why| bad_bundle(path, &why))
}

fn read_keys(path: &Path) -> anyhow::Result<TrustedKeys> {
    let text = std::fs::read_to_string(path).map_err(|error| bad_bundle(path, &error))?;
    Ok(TrustedKeys::parse(&text).map_err(|bad| bad_bundle(path, &bad))?)
}

impl Judged<'_> {
    fn verdict(&self) -> HandVerdict {
        if self.file.convictions.is_empty() { self.report.verdict } else { HandVerdict::Failed }
    }

    /// Formats the report as a line of JSON.
    fn json_line(&self) -> anyhow::Result<String> {
        let Judged { file: ReadFile { path, convictions, records: _ }, report } = self;
        let mut value = json!({
            "file": path.display().to_string(),
            "hand_id": report.hand_id,
            "verdict": self.verdict(),
            "sentences": report.sentences,
            "checks": report.checks,
            "notes": report.notes,
            "work": report.work,
        });
        if let Some(object) = value.as_object_mut().filter(|_| !convictions.is_empty()) {
            object.insert("convictions".into(), json!(convictions));
        }
        Ok(serde_json::to_string(&value)? + "\n")
    }

    /// Formats the report as text: the whole story of a file that is alone; else its verdict, the
    /// three sentences, and the checks that did not pass.
    fn text(&self) -> String {
        let Judged { file: ReadFile { path, convictions, records }, report } = self;
        let mut text = String::new();
        if let Some(records) = records {
            print_report(records, report);
        }
        let verdict = self.verdict();
        let _ = writeln!(text, "{}: hand {}: {verdict}", path.display(), report.hand_id);
        if records.is_none() {
            for sentence in &report.sentences {
                let _ = writeln!(text, "    {}", output::one_line(sentence));
            }
            for it in report.checks.0.iter().filter(|it| it.verdict != Verdict::Passed) {
                let verdict = output::one_line(&it.verdict.to_string());
                let _ = writeln!(text, "    {} {verdict}", it.check);
            }
        }
        for conviction in convictions {
            let conviction = output::one_line(conviction);
            let _ = writeln!(text, "    FAILED by your evidence: {conviction}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use fairness::{Closing, ClosingStatement, Commitment, SignedText as _};
    use merkle::note::{KeyName, VerifierKey};

    use super::*;

    /// Two closings under one key, as in an evidence file.
    fn two_closings(key: &SigningKey) -> Vec<Entry> {
        let closing = |byte| {
            let statement = ClosingStatement {
                context: &fairness::Context([3; 32]),
                dealer: &Commitment([4; 32]),
                closing: &Closing([byte; 32]),
            };
            Entry::signed(&statement, &statement.sign(key), key.verifying_key().as_bytes())
        };
        vec![closing(1), closing(2)]
    }

    /// A forger signs what they like with a key of their own; a dealer whose key is trusted has
    /// convicted itself.
    #[test]
    fn two_closings_fail_a_hand_under_a_trusted_key_alone() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/bundles");
        let path = folder.join("after-burnt-numbers.sabacc");
        let mut trusted: Vec<VerifierKey> =
            read_keys(&folder.join("keys.txt")).unwrap().keys().cloned().collect();
        let dealer = SigningKey::from_bytes(&[0x66; 32]);
        let name = KeyName::try_new("elsewhere/dealer").unwrap();
        let key = VerifierKey::log(name, dealer.verifying_key().as_bytes()).unwrap();
        for is_trusted in [false, true] {
            trusted.extend(is_trusted.then(|| key.clone()));
            let mut reader = Reader {
                keys: TrustedKeys::new(trusted.clone()),
                witnesses: Witnesses::default(),
                evidence: Some(two_closings(&dealer)),
                joint: JointAudit::default(),
            };
            let File::Read(file) = reader.read(&path, false) else { panic!("it is a bundle") };
            let report = reader.joint.into_reports().into_iter().next().unwrap();
            let judged = Judged { file, report };
            let convicts = "lines 2 and 3: the dealer signed two closings for one number";
            assert_eq!(judged.file.convictions.contains(&convicts.to_owned()), is_trusted);
            let failed = if is_trusted { HandVerdict::Failed } else { HandVerdict::Proved };
            assert_eq!(judged.verdict(), failed, "{:?}", judged.file.convictions);
        }
    }

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
