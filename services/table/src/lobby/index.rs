//! Index of open tables: a fold of the log.
//!
//! Nothing is refused here. A record that contradicts another one is a matter of its table.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use eventlog::Event;
use primitives::{Credits, PlayerId, TableId, UnixMicros};
use proto::event::v1 as event;
use proto::event::v1::EventType;
use proto::table::v1 as pb;
use rules::RuleSet;
use serde::{Deserialize, Serialize};
use wire::{TableRecord, field};

use super::Filter;
use crate::people::registry::EventLocation;

/// Tables that one page looks at: a filter may pass few of many.
pub(super) const MAX_SCANNED: usize = 1000;
/// Closings that are sent to watchers who come back. Who was away for more gets the list anew.
pub(super) const MAX_CLOSINGS: usize = 4096;

/// Open tables of a log, and the changes of the list by their numbers. A change has the number of its
/// record, counted from 1.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LobbyIndex {
    log_size: u64,
    tables: BTreeMap<TableId, ListedTable>,
    /// Players whom the house marks as bots.
    bots: BTreeSet<PlayerId>,
    /// The last change of each open table, and the newest closings.
    changes: BTreeMap<u64, ListChange>,
    closings: VecDeque<u64>,
    /// Newest closing that is forgotten; 0: none.
    forgotten: u64,
    last_change: u64,
}

/// An open table.
#[derive(Serialize, Deserialize)]
pub(super) struct ListedTable {
    pub terms: TableTerms,
    seats: BTreeMap<u32, PlayerId>,
    /// Number of bots in the seats when the table changed last.
    bots_sent: u32,
    hand_no: u64,
    #[serde(with = "crate::stored::optional_message")]
    disabled: Option<pb::Disabled>,
    changed: u64,
}

/// Properties of a table that never change.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct TableTerms {
    name: String,
    pub variant: String,
    seats: u32,
    pub ante: u64,
    pub min_buy_in: u64,
    pub max_buy_in: u64,
}

/// A change of the list.
#[derive(Serialize, Deserialize)]
enum ListChange {
    /// A table opened, somebody came or left, was marked as a bot or not, or it was disabled or
    /// enabled.
    Table(TableId),
    Closed(Box<(TableId, TableTerms)>),
}

/// A change as one watcher receives it.
pub(super) struct WatcherChange {
    pub number: u64,
    pub table: TableId,
    pub what: WatchedTable,
}

/// State of a table for one watcher.
pub(super) enum WatchedTable {
    Listed(Box<pb::TableSummary>),
    /// It does not pass the filter as it is seated now.
    Filtered,
    Closed,
}

impl LobbyIndex {
    /// Records of the log that were folded.
    #[must_use]
    pub(crate) const fn log_size(&self) -> u64 {
        self.log_size
    }

    /// Number of the last change.
    #[must_use]
    pub(crate) const fn last_change(&self) -> u64 {
        self.last_change
    }

    /// Number of open tables.
    #[must_use]
    pub(crate) fn open_tables(&self) -> u64 {
        u64::try_from(self.tables.len()).unwrap_or(u64::MAX)
    }

    /// Whether a watcher who has all changes up to one can be sent the others.
    #[must_use]
    pub(super) const fn goes_on_from(&self, change: u64) -> bool {
        change >= self.forgotten
    }

    /// Applies a stored event. One that cannot be read is a matter of its table.
    pub(super) fn apply(&mut self, event: &Event) {
        let Event { stream, position, recorded_at: at, kind, .. } = *event;
        if is_of_list(kind)
            && let Ok(record) = TableRecord::try_from(event)
        {
            self.evolve(EventLocation { stream, position, at }, &record);
        }
        self.log_size = position.0 + 1;
    }

    /// Applies an event.
    pub(crate) fn evolve(&mut self, place: EventLocation, record: &TableRecord) {
        self.log_size = place.position.0 + 1;
        let (table, number) = (TableId(place.stream.0), self.log_size);
        if let TableRecord::TableCreated(created) = record {
            return self.open(table, created, number);
        }
        if let TableRecord::TableClosed(_) = record {
            return self.close(table, number);
        }
        if let TableRecord::PlayerMarked(marked) = record {
            let player = PlayerId(place.stream.0);
            if marked.bot {
                self.bots.insert(player)
            } else {
                self.bots.remove(&player)
            };
            return;
        }
        let Some(listed) = self.tables.get_mut(&table) else { return };
        let is_changed = listed.evolve(place.at, record);
        // Names are not in the list, marks are.
        let bots = listed.bots(&self.bots);
        let is_marked = std::mem::replace(&mut listed.bots_sent, bots) != bots;
        if is_changed || is_marked {
            self.changes.remove(&std::mem::replace(&mut listed.changed, number));
            self.note(number, ListChange::Table(table));
        }
    }

    fn open(&mut self, id: TableId, created: &event::TableCreated, number: u64) {
        let Some(terms) = TableTerms::of(created) else { return };
        let (seats, disabled) = (BTreeMap::new(), None);
        let table =
            ListedTable { terms, seats, bots_sent: 0, hand_no: 0, disabled, changed: number };
        self.tables.insert(id, table);
        self.note(number, ListChange::Table(id));
    }

    fn close(&mut self, table: TableId, number: u64) {
        let Some(closed) = self.tables.remove(&table) else { return };
        self.changes.remove(&closed.changed);
        self.note(number, ListChange::Closed(Box::new((table, closed.terms))));
        self.closings.push_back(number);
        if self.closings.len() > MAX_CLOSINGS
            && let Some(oldest) = self.closings.pop_front()
        {
            self.changes.remove(&oldest);
            self.forgotten = oldest;
        }
    }

    fn note(&mut self, number: u64, change: ListChange) {
        self.changes.insert(number, change);
        self.last_change = number;
    }

    /// Up to `take` tables behind one, by their ids, and the table that the next page begins behind.
    pub(super) fn page(
        &self,
        filter: &Filter,
        after: Option<TableId>,
        take: usize,
    ) -> (Vec<pb::TableSummary>, Option<TableId>) {
        let (mut found, mut last) = (Vec::new(), None);
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.tables.range((after, Bound::Unbounded));
        for (scanned, (id, table)) in rest.enumerate() {
            if found.len() == take || scanned == MAX_SCANNED {
                return (found, last);
            }
            if filter.passes(table) {
                found.push(table.summary(*id, &self.bots));
            }
            last = Some(*id);
        }
        (found, None)
    }

    /// Up to `take` changes behind `after` and up to `until`, in their order, as a watcher with this
    /// filter receives them; and the number up to which they are all.
    pub(super) fn changes(
        &self,
        filter: &Filter,
        after: u64,
        until: u64,
        take: usize,
    ) -> (Vec<WatcherChange>, u64) {
        let mut found = Vec::new();
        if after >= until {
            return (found, until);
        }
        let range = (Bound::Excluded(after), Bound::Included(until));
        for (scanned, (number, change)) in self.changes.range(range).enumerate() {
            if found.len() == take || scanned == MAX_SCANNED {
                return (found, number - 1);
            }
            found.extend(self.change_for(filter, *number, change));
        }
        (found, until)
    }

    /// Number of changes behind one and up to another, whatever the filter.
    pub(super) fn count_changes(&self, after: u64, until: u64) -> usize {
        if after >= until {
            return 0;
        }
        self.changes.range((Bound::Excluded(after), Bound::Included(until))).count()
    }

    fn change_for(
        &self,
        filter: &Filter,
        number: u64,
        change: &ListChange,
    ) -> Option<WatcherChange> {
        match change {
            ListChange::Table(id) => {
                let table = self.tables.get(id)?;
                if !filter.passes_terms(&table.terms) {
                    return None;
                }
                let passes = filter.passes(table);
                let listed = || WatchedTable::Listed(Box::new(table.summary(*id, &self.bots)));
                let what = if passes { listed() } else { WatchedTable::Filtered };
                Some(WatcherChange { number, table: *id, what })
            }
            ListChange::Closed(closed) => {
                let (table, terms) = &**closed;
                let change = WatcherChange { number, table: *table, what: WatchedTable::Closed };
                filter.passes_terms(terms).then_some(change)
            }
        }
    }

    /// Tables that pass a filter and have not changed behind a number.
    pub(super) fn unchanged_since(&self, filter: &Filter, number: u64) -> Vec<TableId> {
        let passing = self.tables.iter();
        let passing = passing.filter(|(_, table)| table.changed <= number && filter.passes(table));
        passing.map(|(id, _)| *id).collect()
    }
}

/// Whether an event of this type may change the list.
fn is_of_list(kind: u16) -> bool {
    const TYPES: [EventType; 10] = [
        EventType::TableCreated,
        EventType::PlayerMarked,
        EventType::SeatTaken,
        EventType::SeatRenamed,
        EventType::SeatRefused,
        EventType::SeatVacated,
        EventType::HandStarted,
        EventType::TableDisabled,
        EventType::TableEnabled,
        EventType::TableClosed,
    ];
    TYPES.iter().any(|wanted| i32::from(*wanted) == i32::from(kind))
}

impl TableTerms {
    /// Terms of a new table; `None` where its record is damaged.
    fn of(created: &event::TableCreated) -> Option<TableTerms> {
        let rules = RuleSet::from_canonical(&created.rule_set).ok()?;
        Some(TableTerms {
            name: created.name.clone(),
            variant: rules.variant().id.to_owned(),
            seats: created.seats,
            ante: rules.min_stack(Credits::ZERO).get(),
            min_buy_in: created.min_buy_in,
            max_buy_in: created.max_buy_in,
        })
    }
}

impl ListedTable {
    /// Applies an event of the table's stream. Returns whether watchers are notified. A new hand alone
    /// is not sent: it would be most of all changes.
    fn evolve(&mut self, at: UnixMicros, record: &TableRecord) -> bool {
        if let TableRecord::SeatTaken(taken) = record {
            let Ok(player) = field::player_id(&taken.player_id) else { return false };
            return self.seats.insert(taken.seat, player) != Some(player);
        }
        if let TableRecord::SeatRefused(event::SeatRefused { seat, .. })
        | TableRecord::SeatVacated(event::SeatVacated { seat }) = record
        {
            return self.seats.remove(seat).is_some();
        }
        if let TableRecord::TableDisabled(event) = record {
            let disable_time = Some(wire::time::timestamp(at));
            let (reason, with_game) = (event.reason.clone(), event.with_game);
            self.disabled = Some(pb::Disabled { reason, disable_time, with_game });
            return true;
        }
        if let TableRecord::TableEnabled(_) = record {
            return self.disabled.take().is_some();
        }
        if let TableRecord::HandStarted(started) = record {
            self.hand_no = started.hand_no;
        }
        false
    }

    pub(super) fn free_seats(&self) -> u32 {
        self.terms.seats.saturating_sub(self.seated())
    }

    pub(super) fn has_seat(&self, player: PlayerId) -> bool {
        self.seats.values().any(|seated| *seated == player)
    }

    fn seated(&self) -> u32 {
        u32::try_from(self.seats.len()).unwrap_or(u32::MAX)
    }

    /// Number of seats whose players are among these bots.
    fn bots(&self, bots: &BTreeSet<PlayerId>) -> u32 {
        let marked = self.seats.values().filter(|player| bots.contains(player));
        u32::try_from(marked.count()).unwrap_or(u32::MAX)
    }

    fn summary(&self, table: TableId, bots: &BTreeSet<PlayerId>) -> pb::TableSummary {
        let TableTerms { name, variant, seats, ante, min_buy_in, max_buy_in } = self.terms.clone();
        pb::TableSummary {
            table_id: table.to_string(),
            name,
            variant,
            seats,
            seated: self.seated(),
            hand_no: self.hand_no,
            ante_credits: ante,
            min_buy_in_credits: min_buy_in,
            max_buy_in_credits: max_buy_in,
            disabled: self.disabled.clone(),
            bots: self.bots(bots),
        }
    }
}
