//! Audit of one hand from its records, which trusts nobody.
//!
//! Every check is made from the records and the opened seed: the hand is dealt again from the seed,
//! played again by the rules with the recorded decisions, and compared with the records of the
//! table, the dealer and the wallet. A contradiction between two logs is a failure by itself,
//! whichever of them is right.
//!
//! [`audit`] is the entry. The records come from a bundle, which proves that they are in the logs
//! ([`crate::bundle`]), or from the logs themselves. A room makes the bundle of a hand by reading
//! its records from the three logs, each log under one signed checkpoint; whoever has the file and
//! the room's keys needs no room any more.
//!
//! Each [`Check`] has one sentence, which is true if it passes. `decoded_records` parses the
//! payloads once, `replay` deals and plays the hand again, and the other files compare its results
//! with the records. [`Report`] has the verdict of each check, and the one on the hand
//! ([`HandVerdict`]).
//!
//! A replay stops at the first record that the rules or the seed refuse. The check to which it
//! belongs fails. Checks that need the rest cannot be made, and say so.
//!
//! Records of different logs have the times of different clocks. Between logs, order is judged with
//! a tolerance of [`CLOCK_SKEW`]; inside one log without any.
//!
//! Specification: fairness/SPEC.md §10.

mod aborts;
mod card_reveals;
pub(crate) mod chance;
mod closing;
mod commitments;
mod credits;
mod decoded_records;
mod discarded;
mod entropy;
mod evidence;
mod exclusions;
mod history;
mod inputs;
mod quota;
mod replay;
mod reveal_report;
mod seed;
mod select;
mod sentences;
mod signatures;
mod start;
mod story;
mod streams;
mod suspensions;
mod table_order;
mod table_stream;
mod verdict;

use std::fmt;
use std::time::Duration;

use primitives::{HandId, TableId, UnixMicros};
use serde::Serialize;

use crate::bundle::Witnessed;
use crate::log_event::LogEvent;
use crate::report::{CheckError, Checked, Checks, Verdict, missing};
use decoded_records::DecodedRecords;
use replay::Replay;
use verdict::Judgement;

pub use crate::work::Work;
pub use discarded::discarded;
pub use evidence::{EvidenceReport, chains, examine};
pub use history::{HandPlayer, ViewerHistory, histories, history};
pub use inputs::inputs;
pub use reveal_report::{RevealReport, reveal_report};
pub use select::{TableBounds, TableStream, select_from_table, select_from_wallet};
pub use story::{StoryLine, story};
pub use verdict::HandVerdict;

/// Returns the id of a hand. It is its stream in every log, and the id of its transfer.
#[must_use]
pub fn hand_id(table: TableId, hand_no: u64) -> HandId {
    fairness::hand_id(table, hand_no)
}

/// Largest difference between the clocks of two services for which the order of their records is
/// not judged.
pub const CLOCK_SKEW: Duration = Duration::from_millis(250);

/// The end of the times that can be recorded.
pub(crate) const YEAR_10000: UnixMicros = UnixMicros(253_402_300_800_000_000);

/// Records of one hand, each list in the order of its log. [`select_from_table`] and
/// [`select_from_wallet`] select them from streams that hold more.
#[derive(Debug, Clone)]
pub struct HandRecords {
    /// Id of the audited hand.
    pub hand_id: HandId,
    /// The whole stream of the hand in the table's log.
    pub hand: Vec<LogEvent>,
    /// The table's stream whole: from the end of the last hand that was played to its end, or from
    /// the dealer's commitment where that is earlier, to the end of this hand.
    pub table: Vec<LogEvent>,
    /// The whole stream of the hand in the dealer's log.
    pub dealer: Vec<LogEvent>,
    /// Every `TransferPosted` of the wallet's log whose transfer or hand is this hand.
    pub wallet: Vec<LogEvent>,
    /// The keys of the dealer's log, as the auditor knows them.
    pub dealer_keys: Vec<TextKey>,
    /// Verdict on the proofs. `None` if the records come without proofs.
    pub proofs: Option<Proofs>,
}

/// Public key, Ed25519, of the dealer's or the table's log, which texts are signed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextKey {
    pub key: [u8; 32],
    /// Position from which on the key signs nothing.
    pub until: Option<u64>,
}

/// Verdict on the proofs that records are in the logs: see [`crate::bundle::Bundle::records`].
#[derive(Debug, Clone)]
pub struct Proofs {
    pub(crate) keys: Result<(), CheckError>,
    pub(crate) inclusion: Result<(), CheckError>,
    /// Name of the key of the dealer's log. Commitments are bound to it.
    pub(crate) dealer_origin: Option<String>,
    /// Names of the logs' keys.
    pub(crate) log_names: Vec<String>,
    /// Whether the reader named any key.
    pub(crate) has_keys: bool,
    /// Trusted witnesses that have signed the checkpoints.
    pub(crate) witnessed: Vec<Witnessed>,
    pub(crate) witnesses_required: usize,
    /// Newest time of a trusted witness's signature, Unix seconds.
    pub(crate) newest_signature: Option<u64>,
    /// Work of checking them.
    pub(crate) work: Work,
}

/// The checks, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Keys,
    Inclusion,
    Streams,
    Commitment,
    Closing,
    Transcript,
    Seed,
    Operations,
    Cards,
    Openings,
    Decisions,
    Signatures,
    Clocks,
    Settlement,
    Transfer,
    Conserved,
    Start,
}

impl Check {
    pub const ALL: [Check; 17] = [
        Check::Keys,
        Check::Inclusion,
        Check::Streams,
        Check::Commitment,
        Check::Closing,
        Check::Transcript,
        Check::Seed,
        Check::Operations,
        Check::Cards,
        Check::Openings,
        Check::Decisions,
        Check::Signatures,
        Check::Clocks,
        Check::Settlement,
        Check::Transfer,
        Check::Conserved,
        Check::Start,
    ];

    /// Returns its name in reports, such as `transcript`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Check::Keys => "keys",
            Check::Inclusion => "inclusion",
            Check::Streams => "streams",
            Check::Commitment => "commitment",
            Check::Closing => "closing",
            Check::Transcript => "transcript",
            Check::Seed => "seed",
            Check::Operations => "operations",
            Check::Cards => "cards",
            Check::Openings => "openings",
            Check::Decisions => "decisions",
            Check::Signatures => "signatures",
            Check::Clocks => "clocks",
            Check::Settlement => "settlement",
            Check::Transfer => "transfer",
            Check::Conserved => "conserved",
            Check::Start => "start",
        }
    }

    /// Returns the sentence that is true if the check passes.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Check::Keys => "The logs' keys are ones that the reader trusts, each log with its own.",
            Check::Inclusion => {
                "Every record stands in the log that its service has signed, just as it is here."
            }
            Check::Streams => {
                "The hand's streams are whole, and the table's since the last hand that was played: \
                 every record is there, in its place, chained to the one before it."
            }
            Check::Commitment => {
                "The dealer had committed to one seed, signed and for these rules and settings, \
                 before any seat committed and before the hand was opened."
            }
            Check::Closing => {
                "The dealer signed what every seat had committed to, all of it, not before its time \
                 and before anybody revealed."
            }
            Check::Transcript => {
                "What the seats revealed opens what they had committed to, and is bound seat by \
                 seat, as both logs say it."
            }
            Check::Seed => {
                "The seed that was opened is the one committed to, and was opened when all was over."
            }
            Check::Operations => {
                "Chance was used exactly as the rules call for, and gave what the seed gives."
            }
            Check::Cards => {
                "Every card on record is the one the seed put there, and no hidden card was written \
                 down."
            }
            Check::Openings => {
                "The dealer opened the cards that the rules open, to whom they open them, and no \
                 others."
            }
            Check::Decisions => {
                "Every decision was legal, in turn, and the clock took nothing but the default."
            }
            Check::Signatures => {
                "Every decision of a player with a key is signed by it, over the cards and all \
                 decided before, or is the clock's."
            }
            Check::Clocks => {
                "No clock ran out early, and no time bank was charged with more than was used."
            }
            Check::Settlement => "The settlement is what the rules make of this hand.",
            Check::Transfer => {
                "The wallet moved what the settlement says: once, whole, and nothing else."
            }
            Check::Conserved => {
                "No credit was made or lost, and the table goes on with what the hand left."
            }
            Check::Start => {
                "The hand began with what the last one left, but for what the table's stream says \
                 in between: stacks, pots, button and missed clocks."
            }
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// Result of the audit of a hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Id as a UUID.
    pub hand_id: String,
    /// Number that the records name, 0 if they name none.
    pub hand_no: u64,
    pub verdict: HandVerdict,
    /// Sentences on what happened, whose word it is, and the reader's part.
    pub sentences: [String; 3],
    pub checks: Checks<Check>,
    /// Facts that break no rule but that a reader may want to know.
    pub notes: Vec<String>,
    pub work: Work,
}

impl Report {
    /// Turns the report into that of a hand whose logs have another history as well: what is in them is
    /// not shown by records that stand in one of the two.
    pub fn contradict(&mut self, why: &str) {
        let inclusion = self.checks.0.iter_mut().find(|it| it.check == Check::Inclusion);
        if let Some(checked) = inclusion
            && !matches!(checked.verdict, Verdict::Failed(_))
        {
            checked.verdict = Verdict::Failed(why.to_owned());
        }
        self.verdict = HandVerdict::Failed;
        self.sentences = verdict::failed_sentences(
            self.hand_no,
            &format!("the check `{}` says: {why}", Check::Inclusion.name()),
        );
    }

    /// Whether every check was made and passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.passed()
    }

    /// Whether every check passed that needs nothing but the records: the verdict on records
    /// without proofs.
    #[must_use]
    pub fn passed_but_for_proofs(&self) -> bool {
        let proved = |check| matches!(check, Check::Keys | Check::Inclusion);
        let passes = |it: &Checked<Check>| match &it.verdict {
            Verdict::Passed => true,
            Verdict::NotPossible(_) => proved(it.check),
            Verdict::Failed(_) => false,
        };
        self.checks.0.iter().all(passes)
    }
}

/// Audits one hand.
#[must_use]
pub fn audit(records: &HandRecords) -> Report {
    let decoded = DecodedRecords::decode(records);
    let replay = Replay::run(&decoded);
    let mut notes = commitments::notes(&decoded);
    notes.extend(replay.notes.iter().cloned());
    let openings = card_reveals::check(&decoded, &replay, &mut notes);
    let verdict = |check: Check| -> Verdict {
        match check {
            Check::Keys => proof_verdict(records, |proofs| &proofs.keys).into(),
            Check::Inclusion => proof_verdict(records, |proofs| &proofs.inclusion).into(),
            Check::Streams => streams::check(&decoded).into(),
            Check::Commitment => commitments::check_commitment(&decoded).into(),
            Check::Closing => closing::check(&decoded).into(),
            Check::Transcript => commitments::check_transcript(&decoded).into(),
            Check::Seed => seed::check(&decoded).into(),
            Check::Operations => chance::check_operations(&decoded, &replay).into(),
            Check::Cards | Check::Decisions => replay.verdict(check).into(),
            Check::Clocks => {
                suspensions::check(&decoded).and_then(|()| replay.verdict(check)).into()
            }
            Check::Signatures => signatures::check(&decoded, &replay).into(),
            Check::Openings => openings.clone().into(),
            Check::Settlement => credits::check_settlement(&decoded, &replay).into(),
            Check::Transfer => credits::check_transfer(&decoded, &replay).into(),
            Check::Conserved => credits::check_conserved(&decoded).into(),
            Check::Start => start::check(&decoded).into(),
        }
    };
    let checked = |check| Checked { check, verdict: verdict(check) };
    let checks = Checks(Check::ALL.into_iter().map(checked).collect());
    let judgement = Judgement { decoded: &decoded, checks: &checks };
    let verdict = judgement.verdict();
    let sentences = judgement.sentences(verdict);
    let (hand_id, work) = (records.hand_id.to_string(), work_of(&decoded, &replay));
    let hand_no = decoded.hand_no().unwrap_or_default();
    Report { hand_id, hand_no, verdict, sentences, checks, notes, work }
}

/// Returns all that was counted.
fn work_of(decoded: &DecodedRecords<'_>, replay: &Replay) -> Work {
    if let Some(proofs) = &decoded.records.proofs {
        decoded.work.include(proofs.work);
    }
    decoded.work.include(replay.work.get());
    decoded.work.get()
}

fn proof_verdict(
    records: &HandRecords,
    which: fn(&Proofs) -> &Result<(), CheckError>,
) -> Result<(), CheckError> {
    match &records.proofs {
        Some(proofs) => which(proofs).clone(),
        None => Err(missing("the records came without proofs that they stand in the logs")),
    }
}

#[cfg(test)]
mod tests;
