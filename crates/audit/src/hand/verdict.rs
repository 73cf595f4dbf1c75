//! Verdict on a hand as a whole, and the three sentences that say what was checked.
//!
//! Specification: fairness/SPEC.md §15.3, §15.4.

use proto::common::v1::{AbortCause, EntropyStatus};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use primitives::UnixMicros;
use proto::event::v1 as pb;
use serde::Serialize;
use wire::TableRecord;

use super::Check;
use super::decoded_records::DecodedRecords;
use super::discarded::held;
use super::{seed, signatures, table_stream};
use crate::bundle::Witnessed;
use crate::report::{Checks, Verdict};

/// Time by which what is owed may be late before it is failed.
const GRACE: Duration = Duration::from_secs(3600);

/// Class of a verdict. The classes are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HandVerdict {
    /// Played to its end, every check passed, and a seat's number is in it.
    Proved,
    /// Came to nothing, and every check passed.
    BrokenOff,
    /// Something is owed and not overdue: the seed, the end of a suspended hand, signatures of
    /// witnesses.
    NotFinished,
    /// A check failed, or could not be made; or the dealer let the hand die.
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

/// Outstanding part of a hand that is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    /// The dealer owes its seed, due at this time.
    Seed(UnixMicros),
    /// The dealer is silent since the first time, and the hand ends at the second at the latest.
    Suspended(UnixMicros, UnixMicros),
    /// The wallet owes the transfer, and the table its end, since the settlement.
    Posting(UnixMicros),
    /// The hand is in play; the time is that of its last record.
    Play(UnixMicros),
}

impl Owed {
    const fn due_at(self) -> UnixMicros {
        match self {
            Owed::Seed(due) | Owed::Suspended(_, due) | Owed::Posting(due) | Owed::Play(due) => due,
        }
    }

    fn describe(self) -> String {
        match self {
            Owed::Seed(due) => format!("the dealer owes its seed, due at {due}"),
            Owed::Suspended(since, until) => {
                format!("the dealer is silent since {since}, and it ends at {until} at the latest")
            }
            Owed::Posting(since) => {
                format!("the wallet owes its transfer since the settlement at {since}")
            }
            Owed::Play(last) => format!("it is in play, and its last record is of {last}"),
        }
    }
}

impl Judgement<'_> {
    pub(super) fn verdict(&self) -> HandVerdict {
        let proofs = self.decoded.records.proofs.as_ref();
        if proofs.is_some_and(|proofs| !proofs.has_keys) {
            return HandVerdict::Refused;
        }
        if self.checks.failed().next().is_some() || self.is_unproved() || self.was_let_die() {
            return HandVerdict::Failed;
        }
        if self.is_incomplete() {
            let owed = self.owed().filter(|owed| self.newest() <= owed.due_at().plus(GRACE));
            return if owed.is_some() { HandVerdict::NotFinished } else { HandVerdict::Failed };
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

    /// Whether the records come with proofs that could not be checked.
    fn is_unproved(&self) -> bool {
        let open = |check| matches!(self.checks.of(check), Some(Verdict::NotPossible(_)));
        self.decoded.records.proofs.is_some() && (open(Check::Keys) || open(Check::Inclusion))
    }

    /// Whether the dealer was silent for so long that a hand in play was ended: it alone knew what
    /// it cancelled.
    fn was_let_die(&self) -> bool {
        let aborted = self.decoded.aborted();
        let suspended = aborted.is_ok_and(|(_, it)| it.cause() == AbortCause::Suspended);
        suspended && self.decoded.sealed().is_ok()
    }

    /// Whether a check could not be made. Records without proofs are judged without them.
    fn is_incomplete(&self) -> bool {
        let unproved = self.decoded.records.proofs.is_none();
        self.checks.0.iter().any(|checked| {
            let of_proofs = matches!(checked.check, Check::Keys | Check::Inclusion);
            matches!(checked.verdict, Verdict::NotPossible(_)) && !(unproved && of_proofs)
        })
    }

    /// Returns what the hand still needs, if anything.
    fn owed(&self) -> Option<Owed> {
        let decoded = self.decoded;
        let ended = decoded.is_aborted() || decoded.settled().is_ok();
        if ended && decoded.seed().is_err() && decoded.refused().is_err() {
            return Some(Owed::Seed(seed::due_at(decoded).ok()?));
        }
        if let (Ok((settled, _)), false) = (decoded.settled(), decoded.is_aborted()) {
            let posted = decoded.posted().is_ok() && decoded.finished().is_ok();
            return (!posted).then_some(Owed::Posting(settled.recorded_at));
        }
        if ended {
            return None;
        }
        if let Some((_, suspended)) = decoded.suspended() {
            let pb::HandSuspended { since_micros, until_micros } = *suspended;
            return Some(Owed::Suspended(UnixMicros(since_micros), UnixMicros(until_micros)));
        }
        decoded.hand.last().map(|last| Owed::Play(last.event.recorded_at))
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
        let number = self.decoded.hand_no().unwrap_or_default();
        let mark = self.development_mark();
        let happened = match verdict {
            HandVerdict::Proved => {
                let (result, burnt) = (self.result(), self.burnt_before());
                format!("Hand {number} was played to its end: {result}{burnt}.")
            }
            HandVerdict::BrokenOff => {
                let (breaker, burnt) = (self.breaker(), self.burnt_before());
                format!("Hand {number} was broken off {breaker}{burnt}.{}", self.held())
            }
            HandVerdict::NotFinished => match self.owed() {
                Some(owed) => format!("Hand {number} is not finished: {}.", owed.describe()),
                None => {
                    format!("Hand {number} waits for signatures of witnesses that were asked for.")
                }
            },
            HandVerdict::Failed => what_failed(number, &self.trouble()),
            HandVerdict::Refused => {
                "Nothing is said of this hand: no keys were given to check it with.".to_owned()
            }
        };
        mark + &happened
    }

    /// Sentences, each with a space behind it, for a hand of a room for developers; else nothing.
    fn development_mark(&self) -> String {
        let Ok(settings) = self.decoded.settings() else { return String::new() };
        let mut mark = String::new();
        if settings.insecure_fixed_seed != 0 {
            mark.push_str(FIXED_SEED);
        }
        if settings.time_scale > 1 {
            let times = settings.time_scale;
            mark +=
                &format!("Clocks of this table run {times} times as fast as its settings say. ");
        }
        mark
    }

    /// Reason of a failed hand.
    fn trouble(&self) -> String {
        if let Some((check, why)) = self.first_trouble() {
            return format!("the check `{check}` says: {why}");
        }
        if self.was_let_die() {
            return "the dealer was silent until the hand's time was over, and it alone knew what \
                    it cancelled"
                .to_owned();
        }
        "no seat's number is in it, so the house alone made its chance".to_owned()
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

    /// Numbers that came to nothing since the last hand that was played, each with the seats that the
    /// table excluded for it.
    fn burnt_before(&self) -> String {
        let Ok((at, _)) = self.decoded.opened() else { return String::new() };
        let Ok(state) = table_stream::state_before(self.decoded, at.position) else {
            return String::new();
        };
        let burnt: Vec<String> = state.burnt.iter().map(|number| self.burnt(*number)).collect();
        match &burnt[..] {
            [] => String::new(),
            [one] => format!("; before it number {one} came to nothing"),
            some => format!("; before it numbers {} came to nothing", some.join(", ")),
        }
    }

    /// A burnt number, and the seats that the table excluded for it.
    fn burnt(&self, number: u64) -> String {
        let by = self.decoded.table.iter().filter_map(|read| {
            let TableRecord::SeatExcluded(excluded) = &read.recorded else { return None };
            (excluded.burnt_hand_no == number).then_some(excluded.seat)
        });
        let by: BTreeSet<u32> = by.collect();
        if by.is_empty() {
            return format!("{number} (why is not in this file)");
        }
        let by = seats(&by.into_iter().collect::<Vec<u32>>());
        format!("{number} (the table excluded {by} for it)")
    }

    /// Content of the seed of a hand that came to nothing, up to its first decision.
    fn held(&self) -> String {
        held(self.decoded).map_or_else(|_| String::new(), |held| format!(" {held}."))
    }

    /// By whose act the hand was broken off, and when.
    fn breaker(&self) -> String {
        let step = if self.decoded.sealed().is_ok() { "in play" } else { "before the antes" };
        let Ok((at, aborted)) = self.decoded.aborted() else { return step.to_owned() };
        let who = match aborted.cause() {
            AbortCause::Withheld => format!("by {}, withholding entropy", seats(&aborted.seats)),
            AbortCause::Agreed => {
                "by the dealer, who was silent, and all players agreed".to_owned()
            }
            AbortCause::Suspended => "by the dealer, who was silent".to_owned(),
            AbortCause::Unspecified => "by nobody named".to_owned(),
        };
        format!("{step} {who}, at {}", at.recorded_at)
    }

    fn whose_word(&self, verdict: HandVerdict) -> String {
        if verdict == HandVerdict::Refused {
            return "It is nobody's word: nothing was checked.".to_owned();
        }
        if verdict == HandVerdict::Failed {
            return NO_WORD_HELPS.to_owned();
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
                let named = |by: &Witnessed| {
                    let at = UnixMicros(by.at.saturating_mul(1_000_000));
                    format!("{} at {at}", by.witness)
                };
                let names: Vec<String> = by.iter().map(named).collect();
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
        let (with, house) = (self.checked_with(), self.house_seats());
        format!("{with}{seen}; {numbers}; {house}; {}.", self.whose_decisions())
    }

    /// The logs whose trusted keys the hand was checked with.
    fn checked_with(&self) -> String {
        let proofs = self.decoded.records.proofs.as_ref();
        proofs.map_or_else(String::new, |proofs| {
            format!("Checked with the keys of {}. ", proofs.log_names.join(", "))
        })
    }

    /// Seats that the house has marked as its own.
    fn house_seats(&self) -> String {
        let roster = self.decoded.opened().map(|(_, opened)| &opened.roster[..]);
        let own = roster.unwrap_or_default().iter().filter(|seat| seat.house);
        let mut own: Vec<u32> = own.map(|seat| seat.seat).collect();
        own.sort_unstable();
        let marked = if own.is_empty() { "no seat".to_owned() } else { seats(&own) };
        format!("the house marks {marked} as its own: a house that cheats marks none")
    }

    /// Which decisions their players have signed.
    fn whose_decisions(&self) -> String {
        if self.checks.of(Check::Signatures) != Some(&Verdict::Passed) {
            return "who signed decisions was not shown".to_owned();
        }
        let signing: Vec<u32> = signatures::signing_seats(self.decoded).into_iter().collect();
        match &signing[..] {
            [] => "decisions are the table's word".to_owned(),
            signing => format!(
                "those decisions of {} which its player made are signed, others are the clock's or \
                 the table's word",
                seats(signing)
            ),
        }
    }

    fn readers_part(&self, verdict: HandVerdict) -> String {
        if verdict == HandVerdict::Refused {
            return "Give the keys of the room, from another source than this file.".to_owned();
        }
        if verdict == HandVerdict::Failed {
            return PART_IN_FAILED.to_owned();
        }
        "Only you can know whether a number in it is your own: compare it with what you committed to."
            .to_owned()
    }
}

/// Sentences on a hand that is failed.
pub(super) fn failed_sentences(number: u64, trouble: &str) -> [String; 3] {
    [what_failed(number, trouble), NO_WORD_HELPS.to_owned(), PART_IN_FAILED.to_owned()]
}

const FIXED_SEED: &str = "For developers alone: an option fixed the dealer's seeds, so whoever knows \
    it knew every card beforehand. ";

const NO_WORD_HELPS: &str =
    "Whose word it is does not help: no signature makes up for what is wrong.";

const PART_IN_FAILED: &str = "Do not rely on this hand, and keep the file: only you can know whether your own number is in it.";

fn what_failed(number: u64, trouble: &str) -> String {
    format!("Hand {number} is NOT proved: {trouble}.")
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
