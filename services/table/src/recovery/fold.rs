//! Fold of the table service's log.

use std::collections::BTreeMap;

use eventlog::StreamId;
use primitives::{HandId, TableId};
use serde::{Deserialize, Serialize};
use wire::TableRecord;
use wire::records::TableSubject;

use super::{Corruption, FoldError, FoldedLog, HandRecord, RecoveredTable};
use crate::hand_list::index::HandIndex;
use crate::lobby::LobbyIndex;
use crate::people::registry::{self, Dispute, EventLocation, Registry};
use crate::registry::ClosedTable;
use crate::room::games::Games;
use crate::state::{self, PriorState};
use crate::table::{Closing, Table};
use crate::updates;

/// State that the log is folded into, and what is needed to fold on.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LogFold {
    /// Tables by the order of their creation.
    tables: BTreeMap<usize, RecoveredTable>,
    /// Number of the table that a stream belongs to, as its own or as one of its hands': also of
    /// closed ones, which are in `tables` no more.
    streams: BTreeMap<StreamId, usize>,
    /// Number of tables created so far.
    created: usize,
    closed: BTreeMap<TableId, ClosedTable>,
    people: Registry,
    games: Games,
    /// All hand numbers, unless only one table is wanted.
    hands: HandIndex,
    /// All open tables, unless only one is wanted.
    lobby: LobbyIndex,
    /// The only table to fold, where not all are wanted.
    #[serde(skip)]
    only: Option<TableId>,
}

impl LogFold {
    /// State of a log without events, for one table alone.
    pub(super) fn only(table: TableId) -> LogFold {
        LogFold { only: Some(table), ..LogFold::default() }
    }

    /// Drops all but one table.
    pub(super) fn retain_table(self, table: TableId) -> LogFold {
        let LogFold { mut tables, mut streams, created, .. } = self;
        let number = streams.get(&table.into()).copied();
        tables.retain(|other, _| Some(*other) == number);
        streams.retain(|_, other| Some(*other) == number);
        LogFold { tables, streams, created, ..LogFold::only(table) }
    }

    /// The first table, by its number, that has a record which it could not take.
    #[must_use]
    pub(crate) fn damaged_table(&self) -> Option<TableId> {
        let damaged = self.tables.values().find(|recovered| recovered.corruption.is_some());
        damaged.map(|recovered| recovered.table.id)
    }

    /// All disputes.
    pub(crate) fn disputes(&self) -> impl Iterator<Item = &Dispute> {
        self.people.disputes_from(None, 0).map(|(_, dispute)| dispute)
    }

    /// Tables that are not closed.
    pub(crate) fn open_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values().map(|recovered| &recovered.table)
    }

    /// Ends the fold.
    pub(super) fn finish(self) -> FoldedLog {
        let LogFold {
            tables,
            closed,
            people,
            games,
            hands,
            lobby,
            streams: _,
            created: _,
            only: _,
        } = self;
        FoldedLog { tables: tables.into_values().collect(), closed, people, games, hands, lobby }
    }

    /// Ends the fold of one table.
    pub(super) fn finish_table(self, id: TableId) -> Result<RecoveredTable, FoldError> {
        self.tables.into_values().next().ok_or_else(|| FoldError::Corrupt {
            position: 0,
            why: format!("table {id} is not in it, or is closed"),
        })
    }

    /// Ends the fold of one table, or of one that is closed.
    #[cfg(test)]
    pub(super) fn finish_any(self) -> Result<RecoveredTable, ClosedTable> {
        let recovered = self.tables.into_values().next();
        recovered.ok_or_else(|| self.closed.into_values().next().expect("a table"))
    }

    /// Whether a stream is a table's own or one of its hands'.
    fn is_of(&self, table: TableId, stream: StreamId) -> bool {
        stream == table.into() || self.streams.contains_key(&stream)
    }

    /// Applies a stored event. An error where it is damaged and belongs to no single table.
    pub(crate) fn apply(&mut self, event: &eventlog::Event) -> Result<(), String> {
        let place =
            EventLocation { stream: event.stream, position: event.position, at: event.recorded_at };
        match wire::clock::parse(event) {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(()),
            Err(error) => return self.mark_corrupt(place, error.to_string()),
        }
        match TableRecord::try_from(event) {
            Ok(recorded) => self.apply_recorded(place, recorded),
            Err(error) => self.mark_corrupt(place, error.to_string()),
        }
    }

    /// Applies an event.
    pub(super) fn apply_recorded(
        &mut self,
        place: EventLocation,
        recorded: TableRecord,
    ) -> Result<(), String> {
        if self.only.is_none() {
            self.hands.evolve(place, &recorded);
            self.lobby.evolve(place, &recorded);
        }
        if self.is_after_corruption(place.stream, &recorded) {
            return Ok(());
        }
        self.evolve(place, recorded).or_else(|why| self.mark_corrupt(place, why))
    }

    /// Marks the table of a stream as corrupt, unless it is closed; an error where the stream belongs
    /// to no table.
    fn mark_corrupt(
        &mut self,
        EventLocation { stream, position, at: _ }: EventLocation,
        why: String,
    ) -> Result<(), String> {
        if self.only.is_some_and(|only| !self.is_of(only, stream)) {
            return Ok(());
        }
        let Some(number) = self.streams.get(&stream) else { return Err(why) };
        let Some(recovered) = self.tables.get_mut(number) else { return Ok(()) };
        recovered.corruption.get_or_insert(Corruption { position, why });
        Ok(())
    }

    /// Whether a record belongs to a table that is corrupt already. Hands that the table has
    /// started since are followed, so that their records are recognised.
    fn is_after_corruption(&mut self, stream: StreamId, recorded: &TableRecord) -> bool {
        let table = if let TableRecord::HandOpened(opened) = recorded {
            wire::field::table_id(&opened.table_id).map_or(stream, StreamId::from)
        } else {
            stream
        };
        let number = self.streams.get(&stream).or_else(|| self.streams.get(&table)).copied();
        let recovered = number.and_then(|number| Some((number, self.tables.get(&number)?)));
        let Some((number, _)) = recovered.filter(|(_, recovered)| recovered.corruption.is_some())
        else {
            return false;
        };
        self.streams.insert(stream, number);
        if let TableRecord::HandStarted(started) = recorded
            && let Ok(hand) = wire::field::id::<HandId>("hand_id", &started.hand_id)
        {
            self.streams.insert(hand.into(), number);
        }
        true
    }

    /// Adds a table that is new.
    fn add(&mut self, stream: StreamId, table: Table) {
        self.streams.insert(stream, self.created);
        self.tables.insert(self.created, RecoveredTable::new(table));
        self.created += 1;
    }

    fn evolve(&mut self, place: EventLocation, recorded: TableRecord) -> Result<(), String> {
        let EventLocation { stream, position, at } = place;
        if self.only.is_some_and(|only| !self.is_of(only, stream)) {
            return Ok(());
        }
        if registry::is_about_people(&recorded) {
            return self.people.evolve(&recorded, place).map_err(|bad| bad.to_string());
        }
        if let TableSubject::Room(event) = recorded.subject() {
            if stream != StreamId::ROOM {
                return Err("an event of the room in another stream".to_owned());
            }
            self.games.evolve(event, at);
            return Ok(());
        }
        if let TableRecord::TableCreated(created) = &recorded {
            let opened = Table::open(TableId(stream.0), created, at);
            self.add(stream, opened.map_err(|bad| bad.to_string())?);
            return Ok(());
        }
        let number = *self.streams.get(&stream).ok_or("a stream of no table")?;
        // Nothing is left to change at a table that is closed.
        let Some(recovered) = self.tables.get_mut(&number) else { return Ok(()) };
        let event = recorded.subject();
        let before = PriorState::of(&recovered.table, stream, event);
        let played = recovered.table.hand.as_ref().map(|hand| StreamId::from(hand.id));
        recovered.table.evolve(stream, &recorded, at).map_err(|bad| bad.to_string())?;
        let noted = recovered.table.note_position(stream, &recorded, position);
        noted.map_err(|bad| bad.to_string())?;
        recovered.note_shown(event, position);
        let hand = recovered.table.hand.as_ref().map(|hand| StreamId::from(hand.id));
        if let (TableRecord::HandStarted(_), Some(hand)) = (&recorded, hand) {
            self.streams.insert(hand, number);
            recovered.hand_records.clear();
        }
        if let TableRecord::HandOpened(opened) = &recorded {
            recovered.inherited_state = recovered.table.inherited_state(opened);
        }
        if hand.is_none() {
            recovered.hand_records.clear();
        }
        let own = StreamId::from(recovered.table.id);
        for stream in [Some(stream), played].into_iter().flatten() {
            let over = stream != own && hand != Some(stream);
            let awaits_seed = recovered.table.seeds.in_stream(stream).is_some();
            if over && !awaits_seed && !recovered.table.may_be_opened(stream) {
                self.streams.remove(&stream);
            }
        }
        if recovered.table.closing == Closing::Closed && recovered.table.seeds.is_empty() {
            self.closed.insert(recovered.table.id, ClosedTable::of(&recovered.table));
            self.tables.remove(&number);
            return Ok(());
        }
        if hand.is_none() {
            return Ok(());
        }
        let is_public = updates::is_published(event) && !state::is_hand_update(event);
        let public_update = if is_public {
            let update = state::public_update(&recovered.table, event, before);
            Some(Box::new(update.map_err(|bad| bad.to_string())?))
        } else {
            None
        };
        let sequence = recovered.table.sequence;
        if hand == Some(stream) {
            let event = Some(Box::new(recorded));
            recovered.hand_records.push(HandRecord { event, public_update, at, sequence });
        } else if public_update.is_some() {
            recovered.hand_records.push(HandRecord { event: None, public_update, at, sequence });
        }
        Ok(())
    }
}
