//! Recovery of tables from the log, after a restart or a change of owner.
//!
//! The log is read once, from its newest [`snapshot`] or from its beginning. Every table is folded, and the events of its hand in
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
mod fold;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{Log, Position, ReadError, Reader, Snapshots};
#[cfg(test)]
use primitives::StreamId;
use primitives::{PlayerId, TableId, UnixMicros};
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
#[cfg(test)]
use crate::people::registry::EventLocation;
use crate::people::registry::{RecordPlace, Registry};
use crate::proof::Faces;
use crate::publish::{PublishedEvent, PublishedKind};
use crate::registry::ClosedTable;
use crate::room::games::Games;
use crate::snapshot::{self, Snapshot};
use crate::state::{RecoveredState, TableState};
use crate::table::Table;
pub(crate) use fold::LogFold;

/// Events that are folded before other tasks get their turn.
const EVENTS_PER_YIELD: usize = 64;

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
    #[error(
        "the table log was cut at position {cut}, and no snapshot from there on is stored that the \
         log vouches for: put the archive back with `sabacc archive restore FILE`, the newest first"
    )]
    NoSnapshot { cut: u64 },
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

/// Folds the whole log, from its newest snapshot where there is one.
pub(crate) async fn fold(log: &Log, snapshots: Option<&Snapshots>) -> Result<FoldedLog, FoldError> {
    let Snapshot { size, state } = snapshot::newest_or_none(log.reader(), snapshots).await?;
    Ok(read(log.reader(), state, size..log.size()).await?.finish())
}

/// Folds one table out of the log.
pub(crate) async fn fold_table(
    log: &Log,
    snapshots: Option<&Snapshots>,
    id: TableId,
) -> Result<RecoveredTable, FoldError> {
    let Snapshot { size, state } = snapshot::newest_or_none(log.reader(), snapshots).await?;
    read(log.reader(), state.retain_table(id), size..log.size()).await?.finish_table(id)
}

/// Folds a range of the log.
pub(crate) async fn read(
    log: &Reader,
    mut state: LogFold,
    range: Range<u64>,
) -> Result<LogFold, FoldError> {
    let mut pages = log.pages(Position(range.start)..Position(range.end));
    while let Some(page) = pages.next().await? {
        for events in page.chunks(EVENTS_PER_YIELD) {
            for event in events {
                state
                    .apply(event)
                    .map_err(|why| FoldError::Corrupt { position: event.position.0, why })?;
            }
            tokio::task::yield_now().await;
        }
    }
    Ok(state)
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

/// One of so many logs is folded over a snapshot too.
#[cfg(test)]
const SNAPSHOT_SHARE: usize = 4;

/// Folds one table from events. The error holds what is kept of the table where it is closed.
#[cfg(test)]
pub(crate) fn recovered_table(
    events: impl IntoIterator<Item = (StreamId, TableRecord, UnixMicros)>,
) -> Result<RecoveredTable, ClosedTable> {
    let events: Vec<_> = events.into_iter().collect();
    // A snapshot taken anywhere changes nothing. Most logs are folded again and again as they grow.
    let snapshot_at = (events.len() % SNAPSHOT_SHARE == 0).then_some(events.len() / 2);
    let (mut folding, mut restored) = (LogFold::default(), LogFold::default());
    for ((stream, event, at), number) in events.into_iter().zip(0..) {
        let place = EventLocation { stream, position: Position(number as u64), at };
        if let Some(snapshot_at) = snapshot_at {
            restored.apply_recorded(place, event.clone()).unwrap();
            if number == snapshot_at {
                restored = snapshot::restored(&restored);
            }
        }
        folding.apply_recorded(place, event).unwrap();
    }
    if snapshot_at.is_none() {
        return folding.finish_any();
    }
    assert_eq!(snapshot::text(&restored), snapshot::text(&folding));
    snapshot::restored(&folding).finish_any()
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
