//! Verdict on a hand as a whole, and the three sentences that say what was checked.
//!
//! Specification: fairness/SPEC.md §15.3, §15.4.

use std::fmt;
use std::time::Duration;

use primitives::UnixMicros;
use proto::dealer::v1::EntropyStatus;
use proto::event::v1::AtFault;
use serde::Serialize;

use super::Check;
use super::decoded_records::DecodedRecords;
use crate::bundle::Witnessed;
use crate::report::{Checks, Verdict};

/// Time by which a seed may be late before the dealer has failed to open it.
const SEED_GRACE: Duration = Duration::from_secs(3600);

/// Class of a verdict. The classes are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HandVerdict {
    /// Played to its end, every check passed, and a seat's number is in it.
    Proved,
    /// Came to nothing, and every check passed.
    BrokenOff,
    /// Something is owed and not overdue: the seed, or signatures of witnesses.
    NotFinished,
    /// A check failed, or could not be made.
    Failed,
    /// There are no keys to check it with.
    Refused,
}

impl HandVerdict {
    /// Returns its name in reports, such as `broken_off`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HandVerdict::Proved => "proved",
            HandVerdict::BrokenOff => "broken_off",
            HandVerdict::NotFinished => "not_finished",
            HandVerdict::Failed => "failed",
            HandVerdict::Refused => "refused",
        }
    }

    /// Returns the exit code of a program that gives this verdict.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            HandVerdict::Proved => 0,
            HandVerdict::Failed => 1,
            HandVerdict::Refused => 2,
            HandVerdict::BrokenOff => 3,
            HandVerdict::NotFinished => 4,
        }
    }
}

impl fmt::Display for HandVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HandVerdict::Proved => "proved",
            HandVerdict::BrokenOff => "broken off",
            HandVerdict::NotFinished => "not finished",
            HandVerdict::Failed => "FAILED",
            HandVerdict::Refused => "refused",
        })
    }
}

/// Facts that a verdict is given by.
pub(super) struct Judgement<'a> {
    pub(super) decoded: &'a DecodedRecords<'a>,
    pub(super) checks: &'a Checks<Check>,
}

impl Judgement<'_> {
    pub(super) fn verdict(&self) -> HandVerdict {
        let proofs = self.decoded.records.proofs.as_ref();
        if proofs.is_some_and(|proofs| !proofs.has_keys) {
            return HandVerdict::Refused;
        }
        if self.checks.failed().next().is_some() {
            return HandVerdict::Failed;
        }
        if self.is_incomplete() {
            return if self.is_seed_owed() {
                HandVerdict::NotFinished
            } else {
                HandVerdict::Failed
            };
        }
        if proofs.is_some_and(|proofs| proofs.witnessed.len() < proofs.witnesses_required) {
            HandVerdict::NotFinished
        } else if self.decoded.is_aborted() {
            HandVerdict::BrokenOff
        } else if self.contributors().is_empty() {
            HandVerdict::Failed
        } else {
            HandVerdict::Proved
        }
    }

    /// Whether a check could not be made. Records without proofs are judged without them.
    fn is_incomplete(&self) -> bool {
        let unproved = self.decoded.records.proofs.is_none();
        self.checks.0.iter().any(|checked| {
            let of_proofs = matches!(checked.check, Check::Keys | Check::Inclusion);
            matches!(checked.verdict, Verdict::NotPossible(_)) && !(unproved && of_proofs)
        })
    }

    /// Whether the hand has ended and its seed is missing, and not overdue as of the newest time in
    /// the records.
    fn is_seed_owed(&self) -> bool {
        if self.decoded.seed().is_ok() {
            return false;
        }
        let due = match (self.decoded.settled(), self.decoded.aborted(), self.decoded.opened()) {
            (_, Ok((at, _)), _) => at.recorded_at,
            (Ok((at, _)), Err(_), Ok((_, opened))) => {
                let delay = Duration::from_secs(u64::from(opened.reveal_delay_seconds));
                at.recorded_at.plus(delay)
            }
            _ => return false,
        };
        self.newest() <= due.plus(SEED_GRACE)
    }

    /// Newest time of a record or a witness's signature.
    fn newest(&self) -> UnixMicros {
        let records = self.decoded.records;
        let lists = [&records.hand, &records.table, &records.dealer, &records.wallet];
        let recorded = lists.into_iter().flatten().map(|event| event.recorded_at);
        let signed = records.proofs.as_ref().and_then(|proofs| proofs.newest_signature);
        let signed = signed.map(|at| UnixMicros(at.saturating_mul(1_000_000)));
        recorded.chain(signed).max().unwrap_or_default()
    }

    fn witnessed(&self) -> &[Witnessed] {
        self.decoded.records.proofs.as_ref().map_or(&[], |proofs| &proofs.witnessed)
    }

    /// Seats whose numbers are in the hand, ascending.
    fn contributors(&self) -> Vec<u32> {
        let rows = self.decoded.sealed().map(|(_, sealed)| &sealed.rows[..]).unwrap_or_default();
        let revealed = rows.iter().filter(|row| row.status() == EntropyStatus::Revealed);
        revealed.map(|row| row.seat).collect()
    }

    /// Sentences on what happened, whose word it is, and the reader's part.
    pub(super) fn sentences(&self, verdict: HandVerdict) -> [String; 3] {
        [self.what_happened(verdict), self.whose_word(verdict), self.readers_part(verdict)]
    }

    fn what_happened(&self, verdict: HandVerdict) -> String {
        let number = self.decoded.opened().map_or(0, |(_, opened)| opened.hand_no);
        match verdict {
            HandVerdict::Proved => {
                format!("Hand {number} was played to its end: {}.", self.result())
            }
            HandVerdict::BrokenOff => format!("Hand {number} was broken off {}.", self.breaker()),
            HandVerdict::NotFinished if self.decoded.seed().is_err() => {
                format!("Hand {number} is not finished: the dealer owes its seed.")
            }
            HandVerdict::NotFinished => {
                format!("Hand {number} waits for signatures of witnesses that were asked for.")
            }
            HandVerdict::Failed => match self.first_trouble() {
                Some((check, why)) => {
                    format!("Hand {number} is NOT proved: the check `{check}` says: {why}.")
                }
                None => format!(
                    "Hand {number} is NOT proved: no seat's number is in it, so the house alone made \
                     its chance."
                ),
            },
            HandVerdict::Refused => {
                "Nothing is said of this hand: no keys were given to check it with.".to_owned()
            }
        }
    }

    fn first_trouble(&self) -> Option<(&'static str, &str)> {
        let failed = |verdict: &Verdict| matches!(verdict, Verdict::Failed(_));
        let checks = &self.checks.0;
        let first = checks.iter().find(|checked| failed(&checked.verdict));
        let first = first.or_else(|| checks.iter().find(|it| it.verdict != Verdict::Passed))?;
        match &first.verdict {
            Verdict::Failed(why) | Verdict::NotPossible(why) => Some((first.check.name(), why)),
            Verdict::Passed => None,
        }
    }

    /// Gains and losses of the seats.
    fn result(&self) -> String {
        let (Ok((_, opened)), Ok((_, settled))) = (self.decoded.opened(), self.decoded.settled())
        else {
            return "its result is not on record".to_owned();
        };
        let seats = opened.roster.iter().zip(&settled.finishing_stacks);
        let moved = seats.filter(|(seat, after)| seat.stack != **after);
        let moved: Vec<String> = moved
            .map(|(seat, after)| {
                let word = if *after > seat.stack { "won" } else { "lost" };
                format!("seat {} {word} {}", seat.seat, after.abs_diff(seat.stack))
            })
            .collect();
        if moved.is_empty() { "nobody won or lost".to_owned() } else { moved.join(", ") }
    }

    /// By whose act the hand was broken off, and when.
    fn breaker(&self) -> String {
        let when = match (self.decoded.sealed(), self.decoded.settled()) {
            (Err(_), _) => "before the antes",
            (Ok(_), Err(_)) => "while it was played",
            (Ok(_), Ok(_)) => "after its settlement",
        };
        let Ok((_, aborted)) = self.decoded.aborted() else { return when.to_owned() };
        let who = match aborted.at_fault() {
            AtFault::Seat => format!("by {}, withholding entropy", seats(&aborted.seats)),
            AtFault::Dealer => "by the dealer".to_owned(),
            AtFault::Operator => "by the operator".to_owned(),
            AtFault::Unspecified => "by nobody named".to_owned(),
        };
        format!("{when} {who}")
    }

    fn whose_word(&self, verdict: HandVerdict) -> String {
        if verdict == HandVerdict::Refused {
            return "It is nobody's word: nothing was checked.".to_owned();
        }
        if verdict == HandVerdict::Failed {
            return "Whose word it is does not help: no signature makes up for what is wrong."
                .to_owned();
        }
        let seen = match (&self.decoded.records.proofs, self.witnessed()) {
            (None, _) => {
                "It is the word of the logs that were read here, without proofs".to_owned()
            }
            (Some(_), []) => {
                "Nobody but the room has seen this log: it could show somebody else another"
                    .to_owned()
            }
            (Some(_), by) => {
                let names: Vec<&str> = by.iter().map(|by| &*by.witness).collect();
                format!(
                    "{} of the trusted witnesses have seen this log: {}",
                    by.len(),
                    names.join(", ")
                )
            }
        };
        let shown = self.checks.of(Check::Transcript) == Some(&Verdict::Passed);
        let numbers = match &self.contributors()[..] {
            _ if !shown => "which seats' numbers are in the hand was not shown".to_owned(),
            [] => "no seat's number is in the hand".to_owned(),
            [one] => format!("the number of seat {one} is in it: enough if that seat is honest"),
            some => format!("the numbers of {} are in it: enough if one is honest", seats(some)),
        };
        format!("{seen}; {numbers}; decisions are the table's word.")
    }

    fn readers_part(&self, verdict: HandVerdict) -> String {
        if verdict == HandVerdict::Refused {
            return "Give the keys of the room, from another source than this file.".to_owned();
        }
        if verdict == HandVerdict::Failed {
            return "Do not rely on this hand, and keep the file: only you can know whether your own \
                    number is in it."
                .to_owned();
        }
        "Only you can know whether a number in it is your own: compare it with what you committed to."
            .to_owned()
    }
}

/// Names seats, such as `seats 1 and 3`.
fn seats(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match &numbers[..] {
        [] => "nobody".to_owned(),
        [one] => format!("seat {one}"),
        [some @ .., last] => format!("seats {} and {last}", some.join(", ")),
    }
}
