//! Audit of one whole log, from its first event to its last: no gap in its numbers, no break in a
//! stream, no step back in time, and every signed checkpoint is of this tree. Records that were
//! changed and chained anew are found, because the log's own signatures contradict them.
//!
//! It also counts the steps of the service's clock, since every time in a log is that clock's.
//!
//! It needs memory for the head of every stream, about 100 bytes each, and for nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use eventlog_core::Event;
use merkle::note::VerifierKey;
use merkle::record::chain_hash;
use merkle::{Checkpoint, Hash, Tree};
use primitives::{StreamId, UnixMicros};
use serde::Serialize;

use crate::report::{Checked, Checks, Verdict};

/// The checks, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Positions,
    Times,
    Versions,
    Chains,
    Signatures,
    Trees,
}

impl Check {
    pub const ALL: [Check; 6] = [
        Check::Positions,
        Check::Times,
        Check::Versions,
        Check::Chains,
        Check::Signatures,
        Check::Trees,
    ];

    /// Returns the sentence that is true if the check passes.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Check::Positions => "Positions count from 0 without a gap.",
            Check::Times => "No event is older than the one before it.",
            Check::Versions => "The versions of every stream count from 1 without a gap.",
            Check::Chains => "Every record names the record before it in its stream.",
            Check::Signatures => "Every checkpoint is signed with the log's key.",
            Check::Trees => "Every checkpoint is of the tree that these records make.",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// Result of the audit of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub checks: Checks<Check>,
    /// Number of events.
    pub size: u64,
    /// RFC 6962 root over all records, computed from them.
    pub root: [u8; 32],
    pub streams: u64,
    /// Time of the last event in Unix microseconds; 0 if there is none.
    pub last_recorded_at: u64,
    /// Number of checkpoints that were given.
    pub checkpoints: u64,
    /// Number of records after the last of them, which nobody has signed.
    pub unsigned: u64,
    /// Steps of the service's clock that are on record: how many records, and the last of them.
    pub clock_records: u64,
    pub clock_steps: VecDeque<ClockStep>,
}

/// A record that the service's clock was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClockStep {
    pub position: u64,
    /// Unix microseconds.
    pub recorded_at: u64,
    /// The record in words.
    pub words: String,
}

/// Most records of the clock that a report lists.
const LISTED_STEPS: usize = 100;

impl Report {
    /// Whether every check was made and passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.passed()
    }
}

/// State of an audit.
#[derive(Default)]
pub struct LogAudit {
    tree: Tree,
    /// Last version of each stream, and the hash of its record.
    heads: BTreeMap<StreamId, (u64, [u8; 32])>,
    recorded_at: UnixMicros,
    /// Signed roots that the audit has not reached, by size.
    signed_roots: BTreeMap<u64, Vec<Hash>>,
    checkpoints: u64,
    signed_size: u64,
    clock_records: u64,
    clock_steps: VecDeque<ClockStep>,
    failures: BTreeMap<Check, String>,
}

impl LogAudit {
    #[must_use]
    pub fn new() -> LogAudit {
        LogAudit::default()
    }

    /// Adds a checkpoint, a signed note, that the log has published. It must come before the events
    /// that it covers.
    pub fn checkpoint(&mut self, note: &str, key: &VerifierKey) {
        self.checkpoints = self.checkpoints.saturating_add(1);
        match Checkpoint::open(note.as_bytes(), key, &[]) {
            Ok(opened) => {
                let head = opened.checkpoint.head();
                self.signed_size = self.signed_size.max(head.size);
                self.signed_roots.entry(head.size).or_default().push(head.root);
                self.check_signed_roots();
            }
            Err(error) => self.check(false, Check::Signatures, || error.to_string()),
        }
    }

    /// Checks the checkpoints of the tree's present size.
    fn check_signed_roots(&mut self) {
        let size = self.tree.size();
        let Some(roots) = self.signed_roots.remove(&size) else { return };
        let root = self.tree.root();
        self.check(roots.iter().all(|signed| *signed == root), Check::Trees, || {
            format!(
                "the checkpoint over {size} records is of another tree: one of them was changed"
            )
        });
    }

    /// Audits the next event, in order of position.
    pub fn event(&mut self, event: &Event) {
        let at = event.position.0;
        let next = self.tree.size();
        self.check(at == next, Check::Positions, || format!("position {at} where {next} belongs"));
        let (now, before) = (event.recorded_at, self.recorded_at);
        self.check(before <= now, Check::Times, || {
            format!("position {at} was recorded at {now}, the one before at {before}")
        });
        let (version, previous) = self.heads.get(&event.stream).copied().unwrap_or_default();
        let (found, due) = (event.version.0, version.saturating_add(1));
        let stream = event.stream;
        self.check(found == due, Check::Versions, || {
            format!("position {at}: version {found} of stream {stream} where {due} belongs")
        });
        self.check(event.previous == previous, Check::Chains, || {
            format!("position {at} does not name the record before it in stream {stream}")
        });
        let record = event.record();
        self.tree.push(&record);
        self.heads.insert(stream, (found, chain_hash(&record)));
        self.recorded_at = now;
        self.check_signed_roots();
        self.clock(event);
    }

    /// Notes a step of the service's clock. A record without one, or with one that no service
    /// writes, is not judged by this audit.
    fn clock(&mut self, event: &Event) {
        let Ok(Some(step)) = wire::clock::parse(event) else { return };
        self.clock_records = self.clock_records.saturating_add(1);
        if self.clock_steps.len() == LISTED_STEPS {
            self.clock_steps.pop_front();
        }
        let (position, recorded_at) = (event.position.0, event.recorded_at.0);
        self.clock_steps.push_back(ClockStep { position, recorded_at, words: step.to_string() });
    }

    fn check(&mut self, fact: bool, check: Check, why: impl FnOnce() -> String) {
        if !fact {
            self.failures.entry(check).or_insert_with(why);
        }
    }

    #[must_use]
    pub fn finish(self) -> Report {
        let LogAudit {
            tree,
            heads,
            recorded_at,
            signed_roots: signed,
            checkpoints,
            signed_size: covered,
            clock_records,
            clock_steps,
            failures: mut troubles,
        } = self;
        if let Some(size) = signed.keys().next() {
            let why = format!("a checkpoint over {size} records was signed, the log has less");
            troubles.entry(Check::Trees).or_insert(why);
        }
        let checked = |check| {
            let of_checkpoints = matches!(check, Check::Signatures | Check::Trees);
            let verdict = match troubles.remove(&check) {
                Some(why) => Verdict::Failed(why),
                None if of_checkpoints && checkpoints == 0 => {
                    Verdict::NotPossible("no checkpoint was given".to_owned())
                }
                None => Verdict::Passed,
            };
            Checked { check, verdict }
        };
        Report {
            checks: Checks(Check::ALL.into_iter().map(checked).collect()),
            size: tree.size(),
            root: tree.root(),
            streams: u64::try_from(heads.len()).unwrap_or(u64::MAX),
            last_recorded_at: recorded_at.0,
            checkpoints,
            unsigned: tree.size().saturating_sub(covered),
            clock_records,
            clock_steps,
        }
    }
}

/// Audits a whole log with its published checkpoints. See [`LogAudit`].
#[must_use]
pub fn audit<'a>(
    events: impl IntoIterator<Item = &'a Event>,
    checkpoints: &[String],
    key: &VerifierKey,
) -> Report {
    let mut audit = LogAudit::new();
    checkpoints.iter().for_each(|note| audit.checkpoint(note, key));
    events.into_iter().for_each(|event| audit.event(event));
    audit.finish()
}

#[cfg(test)]
mod tests;
