//! Recovery of tables from the log, after a restart or a change of owner.
//!
//! The log is read once, from its beginning. Every table is folded, and the events of its hand in
//! play are kept. The faces of hidden cards are in no log of the table service. The dealer is asked
//! for them, which its record shows as a recovery, and the hand is replayed from its events. Where
//! the dealer does not give them, or gives others than its own roots say, the hand stands still
//! without its cards ([`LostCards`]), and the dealer is asked on. A settled hand loses only the
//! display of its cards, since its result is in the log.
//!
//! A record that one table cannot take costs that table alone. It stands as it was read so far and
//! waits for an operator. A corrupt record that belongs to no single table stops the recovery.
//!
//! Specification: fairness/SPEC.md §3.9.

mod cards;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{Log, Position, ReadError, StreamId};
use primitives::{HandId, PlayerId, TableId, UnixMicros};
use proto::table::v1::table_update::What;
use serde::{Deserialize, Serialize};
use wire::TableRecord;
use wire::records::{SeatEvent, TableSubject};

use crate::batch::RuleInputs;
use crate::effect_calls::Inconsistency;
use crate::hand_in_play::InheritedState;
use crate::hand_list::index::HandIndex;
use crate::lobby::LobbyIndex;
use crate::lost_cards::LostCards;
use crate::peers::Peers;
use crate::people::registry::{self, EventLocation, RecordPlace, Registry};
use crate::proof::Faces;
use crate::publish::{PublishedEvent, PublishedKind};
use crate::registry::ClosedTable;
use crate::room::games::Games;
use crate::state::{self, PriorState, RecoveredState, TableState};
use crate::table::{Closing, Table};
use crate::updates;

/// A table as the log describes it.
#[derive(Serialize, Deserialize)]
pub(crate) struct RecoveredTable {
    pub table: Table,
    hand_records: Vec<HandRecord>,
    inherited_state: InheritedState,
    /// Position of the record with which viewers were last shown a seat's player, by seat number.
    last_shown_at: BTreeMap<u32, Position>,
    /// The first record that the table could not take; nothing after it was read.
    corruption: Option<Corruption>,
}

/// A record of one table that cannot be read, or that contradicts the ones before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("its log is damaged at position {}: {why}", position.0)]
pub(crate) struct Corruption {
    pub position: Position,
    pub why: String,
}

/// An event of a hand in play, or one of its table that was published meanwhile.
#[derive(Serialize, Deserialize)]
struct HandRecord {
    /// The event, where it belongs to the hand.
    #[serde(with = "crate::stored::optional_record")]
    event: Option<Box<TableRecord>>,
    /// The update, where every viewer got the same.
    #[serde(with = "crate::stored::optional_update")]
    public_update: Option<Box<What>>,
    at: UnixMicros,
    sequence: u64,
}

/// The log could not be folded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FoldError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the table log is damaged at position {position}: {why}")]
    Corrupt { position: u64, why: String },
}

/// Everything that the log was folded into.
pub(crate) struct FoldedLog {
    /// Tables in the order of their creation.
    pub tables: Vec<RecoveredTable>,
    /// Closed tables without pending effects.
    pub closed: BTreeMap<TableId, ClosedTable>,
    pub people: Registry,
    pub games: Games,
    pub hands: HandIndex,
    pub lobby: LobbyIndex,
}

/// Folds the whole log.
pub(crate) async fn fold(log: &Log) -> Result<FoldedLog, FoldError> {
    let LogFold { tables, closed, people, games, hands, lobby, streams: _, created: _, only: _ } =
        read(log, LogFold::default()).await?;
    Ok(FoldedLog { tables: tables.into_values().collect(), closed, people, games, hands, lobby })
}

/// Folds one table out of the log.
pub(crate) async fn fold_table(log: &Log, id: TableId) -> Result<RecoveredTable, FoldError> {
    let only = LogFold { only: Some(id), ..LogFold::default() };
    let recovered = read(log, only).await?.tables.into_values().next();
    recovered.ok_or_else(|| FoldError::Corrupt {
        position: 0,
        why: format!("table {id} is not in it, or is closed"),
    })
}

/// Folds the log up to its size at the time of the call.
async fn read(log: &Log, mut folding: LogFold) -> Result<LogFold, FoldError> {
    let mut pages = log.reader().pages(Position(0)..Position(log.size()));
    while let Some(page) = pages.next().await? {
        for event in &page {
            folding
                .apply(event)
                .map_err(|why| FoldError::Corrupt { position: event.position.0, why })?;
        }
    }
    Ok(folding)
}

/// Recovers one table from events, with a dealer that answers at once or not at all. The error
/// holds what is kept of the table where it is closed.
#[cfg(test)]
pub(crate) fn recover_at_once(
    events: impl IntoIterator<Item = (StreamId, TableRecord, UnixMicros)>,
    last_alive: UnixMicros,
    dealer: impl FnOnce(proto::dealer::v1::PerformRequest) -> Option<proto::dealer::v1::PerformResponse>,
) -> Result<RecoveredState, ClosedTable> {
    let recovered = recovered_table(events)?;
    let Some(lost) = recovered.lost_cards(last_alive) else {
        return Ok(recovered.replay(Faces::new()).unwrap());
    };
    let faces = dealer(lost.request.clone()).and_then(|answer| lost.faces(&answer).ok());
    Ok(match faces {
        Some(faces) => RecoveredState { dealer_answered: true, ..recovered.replay(faces).unwrap() },
        None => recovered.replay_without_faces(lost).unwrap(),
    })
}

/// Folds one table from events. The error holds what is kept of the table where it is closed.
#[cfg(test)]
pub(crate) fn recovered_table(
    events: impl IntoIterator<Item = (StreamId, TableRecord, UnixMicros)>,
) -> Result<RecoveredTable, ClosedTable> {
    let mut folding = LogFold::default();
    for ((stream, event, at), position) in events.into_iter().zip(0..) {
        let place = EventLocation { stream, position: Position(position), at };
        folding.apply_recorded(place, event).unwrap();
    }
    let recovered = folding.tables.into_values().next();
    recovered.ok_or_else(|| folding.closed.into_values().next().unwrap())
}

#[derive(Default, Serialize, Deserialize)]
struct LogFold {
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
    /// Whether a stream is a table's own or one of its hands'.
    fn is_of(&self, table: TableId, stream: StreamId) -> bool {
        stream == table.into() || self.streams.contains_key(&stream)
    }

    fn apply(&mut self, event: &eventlog::Event) -> Result<(), String> {
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

    fn apply_recorded(
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

impl RecoveredTable {
    /// A table of which only its creation is recorded.
    #[must_use]
    pub(crate) fn new(table: Table) -> RecoveredTable {
        RecoveredTable {
            table,
            hand_records: Vec::new(),
            inherited_state: InheritedState::default(),
            last_shown_at: BTreeMap::new(),
            corruption: None,
        }
    }

    /// Notes the position of an event with which viewers are shown a seat's player.
    fn note_shown(&mut self, event: TableSubject<'_>, position: Position) {
        match event {
            TableSubject::Seat(event) => match event {
                SeatEvent::SeatTaken(_) | SeatEvent::SeatRenamed(_) => {
                    self.last_shown_at.insert(event.seat(), position);
                }
                SeatEvent::SeatFunded(_)
                | SeatEvent::SeatRefused(_)
                | SeatEvent::LeaveAsked(_)
                | SeatEvent::CashOutDue(_)
                | SeatEvent::SeatVacated(_)
                | SeatEvent::SitOutChanged(_)
                | SeatEvent::SeatExcluded(_)
                | SeatEvent::StandingFound(_) => {}
            },
            TableSubject::Table(_)
            | TableSubject::Hand(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => {}
        }
    }

    /// Seated players whose names or marks were set after viewers were last shown them, because a stop
    /// came between. `presented_at` gives the place of a player's last name or mark.
    #[must_use]
    pub(crate) fn renamed(
        &self,
        presented_at: impl Fn(PlayerId) -> Option<RecordPlace>,
    ) -> Vec<(PlayerId, RecordPlace)> {
        let seats = self.table.seats.iter();
        let outdated = seats.filter_map(|(number, seat)| {
            let named = presented_at(seat.player)?;
            let shown = self.last_shown_at.get(&u32::from(number.get()));
            shown.is_none_or(|shown| *shown < named.position).then_some((seat.player, named))
        });
        outdated.collect()
    }

    /// Recovers the table with its hand in play. Asks the dealer until it answers, for
    /// `dealer_timeout` at most; a hand whose cards it has not opened by then stands still since
    /// `last_alive`. An error where the table's log is corrupt.
    pub(crate) async fn recover(
        self,
        peers: &Peers,
        dealer_timeout: Duration,
        last_alive: UnixMicros,
    ) -> Result<RecoveredState, Inconsistency> {
        if let Some(corruption) = &self.corruption {
            return Err(Inconsistency(corruption.to_string()));
        }
        let Some(lost) = self.lost_cards(last_alive) else { return self.replay(Faces::new()) };
        let answered = tokio::time::timeout(dealer_timeout, lost.ask_dealer(peers)).await;
        if let Ok(faces) = answered {
            let recovered = self.replay(faces)?;
            return Ok(RecoveredState { dealer_answered: true, ..recovered });
        }
        let table = self.table.id;
        if self.table.hand.as_ref().is_some_and(|hand| hand.settled.is_some()) {
            // The result stands and is posted without the cards.
            tracing::warn!(runbook = "deploy/README.md, A seed is not opened", %table, "the cards of a settled hand are not shown again");
            return self.replay_without_cards();
        }
        tracing::warn!(runbook = "deploy/README.md, A hand is suspended", %table, "the dealer has not opened the cards of the hand in play again");
        self.replay_without_faces(lost)
    }

    /// Replays the hand from its events.
    fn replay(self, faces: Faces) -> Result<RecoveredState, Inconsistency> {
        let mut state = TableState::new(self.table);
        let mut inputs = RuleInputs { faces, judged: None };
        let mut past = Vec::new();
        for HandRecord { event, public_update, at, sequence } in self.hand_records {
            let mut kind = None;
            if let Some(event) = event {
                if let TableRecord::HandOpened(opened) = &*event {
                    state.open_hand(opened, self.inherited_state.clone(), at)?;
                } else {
                    kind = state.apply_to_hand(&event, &mut inputs, at)?;
                }
            }
            if let Some(kind) = public_update.map(PublishedKind::Public).or(kind) {
                past.push(PublishedEvent { sequence, at, kind });
            }
        }
        Ok(RecoveredState { state, past, dealer_answered: false })
    }

    /// Builds the hand as it was opened, which is enough to suspend it and to end it.
    fn replay_without_faces(self, lost: LostCards) -> Result<RecoveredState, Inconsistency> {
        let mut state = TableState::new(self.table);
        for HandRecord { event, at, .. } in self.hand_records {
            let Some(event) = event else { continue };
            if let TableRecord::HandOpened(opened) = &*event {
                state.open_hand(opened, self.inherited_state.clone(), at)?;
            } else if let TableSubject::Hand(event) = event.subject()
                && let Some(play) = &mut state.play
            {
                play.apply_suspension(event, at);
            }
        }
        if let Some(play) = &mut state.play {
            play.lost_cards = Some(Arc::new(lost));
        }
        Ok(state.into())
    }

    /// Builds the settled hand without its cards, as far as its settlement needs it.
    fn replay_without_cards(self) -> Result<RecoveredState, Inconsistency> {
        let mut state = TableState::new(self.table);
        for HandRecord { event, at, .. } in self.hand_records {
            let Some(event) = event else { continue };
            if let TableRecord::HandOpened(opened) = &*event {
                state.open_hand(opened, self.inherited_state.clone(), at)?;
            } else if let Some(play) = &mut state.play {
                match event.subject() {
                    TableSubject::Play(event) => play.apply_without_cards(event, at)?,
                    TableSubject::Hand(event) => play.apply_suspension(event, at),
                    TableSubject::Table(_)
                    | TableSubject::Seat(_)
                    | TableSubject::Person(_)
                    | TableSubject::Room(_)
                    | TableSubject::Clock(_) => {}
                }
            }
        }
        Ok(state.into())
    }
}
