//! Audit of a table: which hands were played, burnt or aborted, who was at fault, and which cards
//! were thrown away with them.
//!
//! A hand can be honest by itself and still be chosen: a dealer that falls silent whenever it
//! dislikes the cards its seed gives, or a player who withholds entropy, shows only in how often
//! they do. So faults are counted here, each hand number must be accounted for, and entropy that a
//! player reveals a second time is a warning.
//!
//! Specification: fairness/SPEC.md §10.6.

use proto::common::v1::AbortCause;
use std::collections::BTreeMap;
use std::fmt;

use primitives::{HandId, PlayerId, TableId};
use proto::event::v1 as pb;
use serde::Serialize;
use wire::records::{HandEvent, PlayEvent, TableRecord, TableSubject};

use crate::hand::{self, HandRecords, Report};
use crate::log_event::LogEvent;
use crate::stops::{StopRecord, stops};

/// Result of a hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum HandResult {
    /// Settled.
    Played,
    /// Settled, but the record of its end is missing: the last hand of a table that has stopped, or
    /// is audited, between the two records.
    Ending,
    /// Burnt, because seats withheld their entropy.
    Burnt { seats: Vec<u32> },
    /// Aborted, because the dealer was silent.
    Aborted { cause: AbortReason, evidence: String },
    /// Not yet ended, as far as the records say.
    InPlay,
}

/// Reason why a hand came to nothing, other than that seats withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    /// All live players of the suspended hand agreed.
    Agreed,
    /// It was suspended for too long, or somebody left before the antes.
    Suspended,
    /// None is on record.
    None,
}

impl HandResult {
    fn of_aborted(aborted: &pb::HandAborted) -> HandResult {
        let cause = match aborted.cause() {
            AbortCause::Withheld => return HandResult::Burnt { seats: aborted.seats.clone() },
            AbortCause::Agreed => AbortReason::Agreed,
            AbortCause::Suspended => AbortReason::Suspended,
            AbortCause::Unspecified => AbortReason::None,
        };
        HandResult::Aborted { cause, evidence: aborted.evidence.clone() }
    }
}

impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AbortReason::Agreed => "all players agreed, the dealer was silent",
            AbortReason::Suspended => "the dealer was silent",
            AbortReason::None => "for no cause on record",
        })
    }
}

/// A hand of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandSummary {
    pub hand_no: u64,
    /// Id as a UUID.
    pub hand_id: String,
    #[serde(flatten)]
    pub end: HandResult,
    /// Whether every check that the records allow has passed.
    pub passed: bool,
    /// The checks that failed or could not be made, with their reasons.
    pub troubles: Vec<String>,
    /// Content of a hand that came to nothing, in words.
    pub discarded: Option<String>,
}

/// Result of the audit of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableReport {
    pub hands: Vec<HandSummary>,
    /// Number of hands played to their end.
    pub played: u64,
    /// Number of burnt hands, by the player who withheld.
    pub burnt: BTreeMap<String, u64>,
    /// Number of hands that the dealer's silence ended: those that all players agreed to end, and
    /// the others.
    pub agreed: u64,
    pub suspended: u64,
    /// Effects that stopped, and their resumptions.
    pub stops: Vec<StopRecord>,
    /// Facts that break no rule but that everybody should know.
    pub warnings: Vec<String>,
    /// Missing records: hand numbers without a hand, seeds that were never opened.
    pub missing: Vec<String>,
}

impl TableReport {
    /// Whether every hand passed and none is missing.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.missing.is_empty() && self.hands.iter().all(|hand| hand.passed)
    }
}

/// State of an audit.
#[derive(Debug)]
pub struct TableAudit {
    table: TableId,
    report: TableReport,
    /// Number of the hand in which a player revealed this entropy.
    revealed_entropy: BTreeMap<(PlayerId, Vec<u8>), u64>,
    /// Whether the last hand is settled and has no fault other than missing records.
    is_last_unfinished: bool,
}

impl TableAudit {
    #[must_use]
    pub fn new(table: TableId) -> TableAudit {
        let report = TableReport {
            hands: Vec::new(),
            played: 0,
            burnt: BTreeMap::new(),
            agreed: 0,
            suspended: 0,
            stops: Vec::new(),
            warnings: Vec::new(),
            missing: Vec::new(),
        };
        TableAudit { table, report, revealed_entropy: BTreeMap::new(), is_last_unfinished: false }
    }

    /// Adds the stops, from the table's own stream.
    pub fn stops<'a>(&mut self, events: impl IntoIterator<Item = &'a eventlog_core::Event>) {
        self.report.stops = stops(events);
    }

    /// Adds the next hand, in order of number, with its report.
    pub fn hand(&mut self, hand_no: u64, records: &HandRecords, report: &Report) {
        let last = self.report.hands.last().map_or(0, |hand| hand.hand_no);
        for number in last.saturating_add(1)..hand_no {
            self.report.missing.push(format!("hand {number} is not on record"));
        }
        let (end, open) = self.count_result(records);
        let over = !matches!(end, HandResult::InPlay);
        if matches!(end, HandResult::Burnt { .. } | HandResult::Aborted { .. }) && !open {
            let why = format!("the seed of hand {hand_no} was thrown away, and is not open");
            self.report.missing.push(why);
        }
        self.warn_repeated_entropy(hand_no, records);
        let troubles = report.checks.0.iter();
        let troubles = troubles.filter(|it| it.verdict != crate::Verdict::Passed);
        let failed = report.checks.failed().next().is_some();
        let passed = report.passed_but_for_proofs() || (!over && !failed);
        self.is_last_unfinished = end == HandResult::Played && !passed && !failed;
        self.report.hands.push(HandSummary {
            hand_no,
            hand_id: records.hand_id.to_string(),
            passed,
            troubles: troubles.map(|it| format!("{} {}", it.check, it.verdict)).collect(),
            discarded: hand::discarded(records),
            end,
        });
    }

    /// Counts the result of a hand. Returns it, and whether the hand's seed is open.
    fn count_result(&mut self, records: &HandRecords) -> (HandResult, bool) {
        let (mut end, mut open) = (HandResult::InPlay, false);
        let players = roster(records);
        for event in &records.hand {
            let Some(recorded) = event.decode::<TableRecord>() else { continue };
            match recorded.subject() {
                TableSubject::Hand(event) => match event {
                    HandEvent::HandRevealed(_) => open = true,
                    HandEvent::HandAborted(aborted) => end = HandResult::of_aborted(aborted),
                    HandEvent::HandOpened(_)
                    | HandEvent::EntropyClosed(_)
                    | HandEvent::EntropyRevealed(_)
                    | HandEvent::SeedRefused(_)
                    | HandEvent::HandSuspended(_)
                    | HandEvent::HandContinued(_) => {}
                },
                TableSubject::Play(event) => match event {
                    PlayEvent::HandSettled(_) => end = HandResult::Played,
                    PlayEvent::HandSealed(_)
                    | PlayEvent::ChanceUsed(_)
                    | PlayEvent::CardsMoved(_)
                    | PlayEvent::MoveDecided(_)
                    | PlayEvent::ClockResumed(_)
                    | PlayEvent::CardsShown(_)
                    | PlayEvent::SettlementPosted(_) => {}
                },
                TableSubject::Seat(_)
                | TableSubject::Table(_)
                | TableSubject::Person(_)
                | TableSubject::Room(_)
                | TableSubject::Clock(_) => {}
            }
        }
        let report = &mut self.report;
        match &end {
            HandResult::Played => report.played += 1,
            HandResult::Burnt { seats } => {
                for seat in seats {
                    let player = players.get(seat).map(ToString::to_string);
                    *report.burnt.entry(player.unwrap_or_default()).or_default() += 1;
                }
            }
            HandResult::Aborted { cause: AbortReason::Agreed, .. } => report.agreed += 1,
            HandResult::Aborted { cause: AbortReason::Suspended, .. } => report.suspended += 1,
            HandResult::Aborted { cause: AbortReason::None, .. }
            | HandResult::Ending
            | HandResult::InPlay => {}
        }
        (end, open)
    }

    /// Warns of entropy that a player had revealed before: random entropy does not repeat.
    fn warn_repeated_entropy(&mut self, hand_no: u64, records: &HandRecords) {
        let players = roster(records);
        for event in &records.hand {
            let Some(TableRecord::EntropyRevealed(revealed)) = event.decode() else {
                continue;
            };
            let seat = revealed.seat;
            let Some(player) = players.get(&seat) else { continue };
            let before =
                self.revealed_entropy.insert((*player, revealed.entropy.to_vec()), hand_no);
            if let Some(before) = before {
                self.report.warnings.push(format!(
                    "hand {hand_no}: player {player} on seat {seat} revealed the entropy again that \
                     it had revealed in hand {before}"
                ));
            }
        }
    }

    /// Ends the audit. The last hand alone may lack the record of its end, because a table begins
    /// no hand before the previous one has ended.
    #[must_use]
    pub fn finish(mut self) -> TableReport {
        if let Some(last) = self.report.hands.last_mut().filter(|_| self.is_last_unfinished) {
            (last.end, last.passed) = (HandResult::Ending, true);
            self.report.played -= 1;
        }
        self.report
    }

    /// Returns the id of a hand of this table.
    #[must_use]
    pub fn hand_id(&self, hand_no: u64) -> HandId {
        fairness::hand_id(self.table, hand_no)
    }
}

fn roster(records: &HandRecords) -> BTreeMap<u32, PlayerId> {
    let opened = records.hand.first().and_then(LogEvent::decode);
    let Some(TableRecord::HandOpened(opened)) = opened else { return BTreeMap::new() };
    let seats = opened.roster.iter();
    seats.filter_map(|it| Some((it.seat, PlayerId::try_from(&it.player_id[..]).ok()?))).collect()
}

#[cfg(test)]
mod tests;
