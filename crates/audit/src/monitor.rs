//! Monitor of a room: the logs of its table and its dealer, from leaf records alone.
//!
//! Leaf records are public while hands are played. They hide payloads, and still tell enough to
//! count hands: a table's stream begins with `TableCreated` and has the table's id; the stream of
//! its hand n has an id that is computed from table and n. So every beginning of a hand is either
//! the next number of a table or a violation, and each hand has one closing and one end.
//!
//! [`Monitor`] takes the records of both logs, each in the order of its positions. Whoever calls it
//! has compared them with a signed tree before.
//!
//! - `chain` holds one log's positions, times and streams, and its tree.
//! - `facts` says what a type of record means for a monitor.
//! - `tables` counts the hands of the table's log, `dealings` those of the dealer's.
//! - [`checkpoint`] compares checkpoints with those that were seen before.
//!
//! It needs memory for the head of every stream and for every hand, about 300 bytes a hand.
//!
//! Specification: fairness/SPEC.md §18.

mod chain;
pub mod checkpoint;
mod dealings;
mod facts;
mod tables;
#[cfg(test)]
mod tests;
mod violation;

use std::collections::BTreeMap;

use merkle::record::LeafRecord;
use merkle::{Tree, TreeHead};
use primitives::StreamId;

use self::chain::Chain;
use self::dealings::Dealings;
use self::facts::Fact;
pub use self::tables::HandName;
use self::tables::Tables;
pub use self::violation::{Violation, ViolationKind};

/// Microseconds by which the other log may be behind before something is missing from it.
const OVERDUE_MICROS: u64 = 3_600_000_000;
/// Longest delay from a hand's end to the opening of its seed, in microseconds: 24 hours.
const REVEAL_MICROS: u64 = 24 * OVERDUE_MICROS;

/// A log that a monitor follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowedLog {
    Table,
    Dealer,
}

impl FollowedLog {
    pub const ALL: [FollowedLog; 2] = [FollowedLog::Table, FollowedLog::Dealer];

    /// Returns the log's name in paths and at the end of its origin.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FollowedLog::Table => "table",
            FollowedLog::Dealer => "dealer",
        }
    }
}

impl std::fmt::Display for FollowedLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// State of a monitor: a fold of the records that it was given.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    table: Chain,
    dealer: Chain,
    tables: Tables,
    dealings: Dealings,
    /// Hands that the table has opened, and to which no promise of the dealer is known.
    unpromised: BTreeMap<StreamId, Since>,
    /// Promises of the dealer to hands that no table has opened.
    unclaimed: BTreeMap<StreamId, Since>,
    /// Ended hands whose seed is shut.
    owed: BTreeMap<StreamId, Since>,
    alarms: u64,
    /// Records of types that are unknown here.
    unknown: u64,
}

/// Place and time of a record that something is owed since.
#[derive(Debug, Clone, Copy)]
struct Since {
    position: u64,
    /// Unix microseconds.
    at: u64,
}

/// Counts of a monitor, for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub tables: u64,
    /// Hand numbers that were opened.
    pub hands: u64,
    /// Hands that have ended, played or aborted.
    pub ended: u64,
    pub aborted: u64,
    /// Ended hands whose seed is shut.
    pub owed: u64,
    /// Those of them that ended more than 25 hours ago, by the newest record of the two logs.
    pub overdue: u64,
    /// Hands, opened more than an hour ago, to which the dealer's log shows no promise yet.
    pub unpromised: u64,
    /// Promises of the dealer, more than an hour old, that are to no table's next number.
    pub unclaimed: u64,
    /// Records of the dealer that a generator failed, or that its outcomes are not even.
    pub alarms: u64,
    /// Records of types that this program does not know.
    pub unknown: u64,
}

impl Monitor {
    #[must_use]
    pub fn new() -> Monitor {
        Monitor::default()
    }

    const fn chain(&self, log: FollowedLog) -> &Chain {
        match log {
            FollowedLog::Table => &self.table,
            FollowedLog::Dealer => &self.dealer,
        }
    }

    /// Returns the tree over a log's records so far.
    #[must_use]
    pub const fn tree(&self, log: FollowedLog) -> &Tree {
        self.chain(log).tree()
    }

    #[must_use]
    pub fn head(&self, log: FollowedLog) -> TreeHead {
        TreeHead { size: self.tree(log).size(), root: self.tree(log).root() }
    }

    /// Returns the time of a log's newest record, Unix microseconds; 0 if there is none.
    #[must_use]
    pub const fn newest(&self, log: FollowedLog) -> u64 {
        self.chain(log).newest()
    }

    /// Takes the next record of a log.
    ///
    /// # Errors
    /// The first rule that the record breaks. The monitor is of no use after that.
    pub fn push(&mut self, log: FollowedLog, bytes: &[u8]) -> Result<(), Violation> {
        let position = self.tree(log).size();
        let parsed = LeafRecord::parse(bytes);
        let record = parsed.map_err(|error| Violation::at(log, position, error.into()))?;
        let taken = match log {
            FollowedLog::Table => self.table.push(&record).and_then(|()| self.table_fact(&record)),
            FollowedLog::Dealer => {
                self.dealer.push(&record).and_then(|()| self.dealer_fact(&record))
            }
        };
        taken.map_err(|kind| Violation::at(log, position, kind))
    }

    fn table_fact(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let Some(fact) = Fact::of(record.kind) else {
            self.unknown += 1;
            return Ok(());
        };
        self.tables.push(fact, record)?;
        let (stream, since) = (StreamId(record.stream), Since::of(record));
        if fact == Fact::HandOpened && self.unclaimed.remove(&stream).is_none() {
            self.unpromised.insert(stream, since);
        }
        if fact.ends_hand() && !self.dealings.is_open(stream) {
            self.owed.insert(stream, since);
        }
        Ok(())
    }

    fn dealer_fact(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let Some(fact) = Fact::of(record.kind) else {
            self.unknown += 1;
            return Ok(());
        };
        self.dealings.push(fact, record)?;
        let stream = StreamId(record.stream);
        if fact == Fact::SeedCommitted && self.unpromised.remove(&stream).is_none() {
            self.unclaimed.insert(stream, Since::of(record));
        }
        if fact == Fact::SeedOpened {
            self.owed.remove(&stream);
        }
        self.alarms += u64::from(fact == Fact::Alarm);
        Ok(())
    }

    /// Compares the two logs.
    ///
    /// # Errors
    /// The table has opened a hand that the dealer never promised, although its log has gone on for
    /// an hour since.
    pub fn compare(&self) -> Result<(), Violation> {
        let newest = self.dealer.newest();
        let late = |since: &&Since| since.at.saturating_add(OVERDUE_MICROS) < newest;
        let Some((stream, since)) = self.unpromised.iter().find(|(_, since)| late(since)) else {
            return Ok(());
        };
        let kind = ViolationKind::NeverPromised { hand: self.tables.name_of(*stream) };
        Err(Violation::at(FollowedLog::Table, since.position, kind))
    }

    #[must_use]
    pub fn counts(&self) -> Counts {
        let newest = self.table.newest().max(self.dealer.newest());
        let older = |than: u64, all: &BTreeMap<StreamId, Since>| {
            let old = |stream: StreamId, since: &Since| {
                since.at.saturating_add(than) < newest && !self.tables.is_next(stream)
            };
            all.iter().filter(|(stream, since)| old(**stream, since)).count() as u64
        };
        Counts {
            tables: self.tables.count(),
            hands: self.tables.opened(),
            ended: self.tables.ended(),
            aborted: self.tables.aborted(),
            owed: self.owed.len() as u64,
            overdue: older(REVEAL_MICROS + OVERDUE_MICROS, &self.owed),
            unpromised: older(OVERDUE_MICROS, &self.unpromised),
            unclaimed: older(OVERDUE_MICROS, &self.unclaimed),
            alarms: self.alarms,
            unknown: self.unknown,
        }
    }
}

impl Since {
    const fn of(record: &LeafRecord) -> Since {
        Since { position: record.position, at: record.recorded_at }
    }
}
