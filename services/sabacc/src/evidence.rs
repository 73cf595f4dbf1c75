//! `sabacc evidence`: lists and checks what players hold of a room, without the room. Files are
//! compared with each other too: a house that tells two players two things is convicted by both.
//!
//! The exit code is 0 if every signature verifies and nothing contradicts, 1 if a file holds a
//! contradiction or a text that its key did not sign, 2 if a file is refused.
//!
//! Specification: fairness/SPEC.md §16.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use audit::bundle::TrustedKeys;
use audit::evidence::{self, Conflict, Entry, MAX_COPY_BYTES, Opening, Statement, conflicts};
use clap::Args;
use client::EvidenceDirectory;
use serde_json::json;
use system::clock::{Clock as _, SystemClock};

use crate::output;
use signers::{FIRST_ENTRY, Signer, Signers, conflict_line, entries_of, log_of};

pub(crate) mod signers;

/// Maximum size of a file, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

#[derive(Args)]
pub(crate) struct Options {
    /// Evidence files, or directories of them.
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// The public keys of the room's logs, one a line: whose signatures they are.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Write a copy of the one file for others, without entropy and choices of hands that have not
    /// ended.
    #[arg(long, value_name = "FILE")]
    copy: Option<PathBuf>,
}

/// Opens the directory that a client keeps evidence in, and removes what is too old.
pub(crate) fn open(path: &Path) -> anyhow::Result<Arc<EvidenceDirectory>> {
    let opened = EvidenceDirectory::open(path).and_then(|directory| {
        directory.prune(SystemClock::new().now())?;
        Ok(directory)
    });
    let opened = opened.with_context(|| format!("{}: evidence cannot be kept", path.display()))?;
    Ok(Arc::new(opened))
}

/// Result for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Consistent,
    Contradiction,
    Refused,
}

/// Runs the command. Returns its exit code: whatever cannot be read contradicts nothing.
pub(crate) fn run(json: bool, options: &Options) -> u8 {
    check_files(json, options).unwrap_or_else(|error| {
        output::error(&format!("sabacc: {error:#}"));
        2
    })
}

fn check_files(json: bool, options: &Options) -> anyhow::Result<u8> {
    let signers = options.keys.as_deref().map(read_signers).transpose()?;
    let mut files = Vec::new();
    for path in &options.paths {
        collect(path, &mut files).with_context(|| format!("{} cannot be read", path.display()))?;
    }
    files.sort();
    let (mut outcomes, mut found) = (Vec::new(), Vec::new());
    for path in &files {
        match read(path) {
            Ok(entries) => {
                outcomes.push(report(path, &entries, signers.as_ref(), json)?);
                found.push(EvidenceFile { path, entries });
            }
            Err(why) => {
                let message = format!("sabacc: {}: {why}", path.display());
                output::error(&output::one_line(&message));
                outcomes.push(Outcome::Refused);
            }
        }
    }
    outcomes.push(report_between(&found, signers.as_ref(), json)?);
    if let Some(to) = &options.copy {
        write_copy(&files, to)?;
    }
    Ok(exit_code(&outcomes))
}

/// The first of contradiction, refused that occurs; a place without any file is refused.
fn exit_code(outcomes: &[Outcome]) -> u8 {
    if outcomes.contains(&Outcome::Contradiction) {
        1
    } else if outcomes.contains(&Outcome::Refused) {
        2
    } else {
        0
    }
}

/// Adds a file, or all evidence files below a directory.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let inner = entry?.path();
        if inner.is_dir() || inner.extension().is_some_and(|suffix| suffix == "evidence") {
            collect(&inner, files)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Vec<Entry>> {
    let length = std::fs::metadata(path)?.len();
    anyhow::ensure!(
        length <= MAX_BYTES as u64,
        "it has {length} bytes, and {MAX_BYTES} are the most"
    );
    Ok(evidence::parse(&std::fs::read(path)?, MAX_BYTES)?)
}

/// File that was read.
struct EvidenceFile<'a> {
    path: &'a Path,
    entries: Vec<Entry>,
}

/// Prints the contradictions between files. No file at all is refused.
fn report_between(
    files: &[EvidenceFile<'_>],
    signers: Option<&Signers>,
    json: bool,
) -> anyhow::Result<Outcome> {
    if files.is_empty() {
        return Ok(Outcome::Refused);
    }
    let all: Vec<Entry> = files.iter().flat_map(|file| &file.entries).cloned().collect();
    let mut lines = Vec::new();
    for conflict in conflicts_of(&all, signers) {
        let (one, two) = entries_of(&conflict);
        let (one, two) = (locate(files, one), locate(files, two));
        if let (Some((first, line)), Some((second, other))) = (one, two)
            && first != second
        {
            let (first, second) = (first.display(), second.display());
            lines.push(format!("{conflict}: line {line} of {first} and line {other} of {second}"));
        }
    }
    if lines.is_empty() {
        return Ok(Outcome::Consistent);
    }
    let text = if json {
        format!("{}\n", json!({ "consistent": false, "contradictions": lines }))
    } else {
        let line = |line: &String| format!("CONTRADICTION: {}\n", output::one_line(line));
        let lines = lines.iter().map(line);
        lines.collect::<String>() + "FAILED: keep these files together, they are evidence\n"
    };
    output::text(&text).context("the answer cannot be written")?;
    Ok(Outcome::Contradiction)
}

/// File and line of an entry, by its index among the entries of all files.
fn locate<'a>(files: &[EvidenceFile<'a>], mut index: usize) -> Option<(&'a Path, usize)> {
    for file in files {
        match index.checked_sub(file.entries.len()) {
            Some(rest) => index = rest,
            None => return Some((file.path, index + FIRST_ENTRY)),
        }
    }
    None
}

/// Contradictions in entries. Without keys nobody is known, and one key that contradicts itself is
/// worth telling.
fn conflicts_of(entries: &[Entry], signers: Option<&Signers>) -> Vec<Conflict> {
    signers.map_or_else(|| conflicts(entries), |signers| signers.conflicts(entries))
}

fn read_signers(path: &Path) -> anyhow::Result<Signers> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Signers::new(
        &TrustedKeys::parse(&text)
            .with_context(|| format!("{}: the keys cannot be used", path.display()))?,
    ))
}

/// Prints what a file holds, and judges it. Its texts are anybody's: none of them begins a line.
fn report(
    path: &Path,
    entries: &[Entry],
    signers: Option<&Signers>,
    json: bool,
) -> anyhow::Result<Outcome> {
    let own = own_keys(entries);
    let mut lines = Vec::new();
    let mut fails = false;
    for entry in entries {
        let (text, failed) = describe(entry, signers, &own);
        fails |= failed;
        lines.push(text);
    }
    let found = conflicts_of(entries, signers);
    let outcome =
        if fails || !found.is_empty() { Outcome::Contradiction } else { Outcome::Consistent };
    let text = if json {
        let found: Vec<_> = found.iter().map(conflict_line).collect();
        let consistent = outcome == Outcome::Consistent;
        let path = path.display().to_string();
        format!(
            "{}\n",
            json!({ "file": path, "consistent": consistent, "entries": lines, "contradictions": found })
        )
    } else {
        summary(path, &lines, &found, outcome)
    };
    output::text(&text).context("the answer cannot be written")?;
    Ok(outcome)
}

fn summary(path: &Path, lines: &[String], found: &[Conflict], outcome: Outcome) -> String {
    let mut text = format!("{}\n", output::one_line(&path.display().to_string()));
    for (number, line) in (FIRST_ENTRY..).zip(lines) {
        let _ = writeln!(text, "{number:5}  {}", output::one_line(line));
    }
    for conflict in found {
        let _ = writeln!(text, "CONTRADICTION: {}", output::one_line(&conflict_line(conflict)));
    }
    let verdict = match outcome {
        Outcome::Consistent => "nothing here contradicts itself",
        Outcome::Contradiction => "FAILED: keep this file, it is evidence",
        Outcome::Refused => "refused",
    };
    let _ = writeln!(text, "{verdict}");
    text
}

/// Keys that the player's receipts name.
fn own_keys(entries: &[Entry]) -> Vec<[u8; 32]> {
    let key = |entry: &Entry| match entry {
        Entry::Signed(signed) => match signed.statement() {
            Ok(Statement::CommitReceipt { player_key, .. }) => player_key,
            Ok(
                Statement::Commitment { .. }
                | Statement::Closing { .. }
                | Statement::RevealReceipt { .. }
                | Statement::Decision { .. }
                | Statement::DecisionReceipt { .. },
            )
            | Err(_) => None,
        },
        Entry::Open(_) | Entry::Note { .. } => None,
    };
    entries.iter().filter_map(key).collect()
}

/// Describes an entry, and whether its signature fails.
fn describe(entry: &Entry, signers: Option<&Signers>, own: &[[u8; 32]]) -> (String, bool) {
    match entry {
        Entry::Note { at, words } => (format!("note of {at}: {words}"), false),
        Entry::Open(bytes) => match Opening::parse(bytes) {
            Ok(opening) => (describe_opening(&opening), false),
            Err(error) => (format!("bytes of no known kind: {error}"), false),
        },
        Entry::Signed(signed) => match signed.statement() {
            Err(error) => (format!("FAILED: {error}"), true),
            Ok(statement) => {
                let mut signer = signers.unwrap_or(&Signers::default()).of(signed, &statement);
                if signer == Signer::Player && !own.contains(&signed.key) {
                    signer = Signer::Unknown;
                }
                let is_log = log_of(&statement).is_some();
                let is_foreign = signer == Signer::Unknown && signers.is_some() && is_log;
                let failed = is_foreign || matches!(signer, Signer::OtherLog(_));
                (format!("{}: {signer}", describe_statement(&statement)), failed)
            }
        },
    }
}

fn describe_statement(statement: &Statement) -> String {
    match statement {
        Statement::Commitment { table, hand_no, .. } => {
            format!("the dealer's commitment for hand {hand_no} of table {table}")
        }
        Statement::CommitReceipt { seat, position, .. } => {
            format!("receipt for the commitment of seat {seat}, record {position}")
        }
        Statement::Closing { closing, .. } => format!("the dealer's closing {}", short(&closing.0)),
        Statement::RevealReceipt { seat, position, .. } => {
            format!("receipt for the revealed number of seat {seat}, record {position}")
        }
        Statement::Decision { said, .. } => format!("decision \"{said}\""),
        Statement::DecisionReceipt { chain, position, .. } => {
            format!("receipt for the decision {}, record {position}", short(&chain.0))
        }
    }
}

fn describe_opening(opening: &Opening) -> String {
    let hash = short(&opening.hash());
    match opening {
        Opening::Context { origin, table, hand_no, .. } => {
            format!("context {hash}: hand {hand_no} of table {table}, dealt by {origin}")
        }
        Opening::ClientCommitment { seat, .. } => format!("commitment {hash} of seat {seat}"),
        Opening::Closing { rows, .. } => {
            let committed = rows.iter().filter(|row| row.commitment.is_some()).count();
            format!("closing {hash}: {committed} of {} seats committed", rows.len())
        }
        Opening::Transcript { rows, .. } => format!("transcript {hash} of {} seats", rows.len()),
        Opening::Decision { by_clock, line, .. } => {
            let clock = if *by_clock { " (the clock)" } else { "" };
            format!("decision {hash}: {line}{clock}")
        }
    }
}

fn short(hash: &[u8; 32]) -> String {
    hex::encode(&hash[..8])
}

/// Writes a copy for others of the one file that was named.
fn write_copy(files: &[PathBuf], to: &Path) -> anyhow::Result<()> {
    let [path] = files else {
        anyhow::bail!("--copy takes one evidence file, and there are {}", files.len())
    };
    let text = evidence::write(&evidence::copy_of_ended(&read(path)?));
    anyhow::ensure!(
        text.len() <= MAX_COPY_BYTES,
        "the copy would have {} bytes, and {MAX_COPY_BYTES} are the most",
        text.len()
    );
    std::fs::write(to, text).with_context(|| format!("{} cannot be written", to.display()))
}

#[cfg(test)]
mod tests;
