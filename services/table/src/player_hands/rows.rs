//! Rows of players' hands, from the events of the log. Pure.
//!
//! What a hand began with is in the row that is written when it is opened, so nothing has to be
//! remembered from one event to another.

use std::collections::BTreeMap;

use eventlog::{Event, Position};
use primitives::{HandId, PlayerId, TableId, UnixMicros};
use proto::audit::v1::HandOutcome;
use proto::common::v1::AbortCause;
use proto::event::v1 as pb;
use proto::event::v1::EventType;
use rules::RuleSet;
use wire::{TableRecord, field};

use crate::people::registry::EventLocation;

/// Rows of consecutive events. They are written in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HandRows {
    pub tables: Vec<TableRow>,
    pub seats: Vec<SeatRow>,
    /// Ends of hands that were played, one for each seat.
    pub ends: Vec<SeatRowEnd>,
    pub aborts: Vec<HandRowEnd>,
    /// The first number of each table before which no hand goes on.
    pub started: BTreeMap<TableId, u64>,
}

/// A table that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRow {
    pub table: TableId,
    pub name: String,
    pub variant: String,
}

/// A player who was dealt into a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeatRow {
    pub player: PlayerId,
    pub started_at: UnixMicros,
    pub position: Position,
    pub table: TableId,
    pub hand_no: u64,
    pub hand: HandId,
    pub seat: u32,
    /// Credits before the hand.
    pub stack: u64,
}

/// A seat's end of a hand that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeatRowEnd {
    pub hand: HandId,
    pub seat: u32,
    /// Credits after the hand.
    pub stack: u64,
    pub ended_at: UnixMicros,
}

/// End of a hand that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HandRowEnd {
    pub hand: HandId,
    /// A number of [`HandOutcome`].
    pub outcome: i16,
    pub ended_at: UnixMicros,
}

impl HandRows {
    /// Adds the rows of a stored event. One that cannot be read is a matter of its table.
    pub(super) fn add(&mut self, event: &Event) {
        let Event { stream, position, recorded_at: at, kind, .. } = *event;
        if is_of_hands(kind)
            && let Ok(record) = TableRecord::try_from(event)
        {
            self.add_record(EventLocation { stream, position, at }, &record);
        }
    }

    /// Adds the rows of an event.
    pub(super) fn add_record(&mut self, place: EventLocation, record: &TableRecord) {
        let table = TableId(place.stream.0);
        if let TableRecord::TableCreated(created) = record {
            self.tables.extend(table_row(table, created));
        } else if let TableRecord::HandOpened(opened) = record {
            self.add_seats(place, opened);
        } else if let TableRecord::HandFinished(finished) = record {
            self.add_ends(finished, place.at);
        } else if let TableRecord::HandAborted(aborted) = record {
            let (hand, outcome) = (HandId(place.stream.0), outcome_of(aborted.cause()));
            self.aborts.push(HandRowEnd { hand, outcome, ended_at: place.at });
        } else if let TableRecord::HandStarted(started) = record {
            let first = self.started.entry(table).or_default();
            *first = started.hand_no.max(*first);
        } else if let TableRecord::TableClosed(_) = record {
            self.started.insert(table, u64::MAX);
        }
    }

    fn add_seats(&mut self, place: EventLocation, opened: &pb::HandOpened) {
        let Ok(table) = field::table_id(&opened.table_id) else { return };
        for dealt_in in &opened.roster {
            let Ok(player) = field::player_id(&dealt_in.player_id) else { continue };
            self.seats.push(SeatRow {
                player,
                started_at: place.at,
                position: place.position,
                table,
                hand_no: opened.hand_no,
                hand: HandId(place.stream.0),
                seat: dealt_in.seat,
                stack: dealt_in.stack,
            });
        }
    }

    /// Adds the ends of a hand that was played. One that came to nothing has its end in HandAborted.
    fn add_ends(&mut self, finished: &pb::HandFinished, ended_at: UnixMicros) {
        let Ok(hand) = field::id::<HandId>("hand_id", &finished.hand_id) else { return };
        if finished.aborted {
            return;
        }
        let end = |seat: &pb::RosterSeat| SeatRowEnd {
            hand,
            seat: seat.seat,
            stack: seat.stack,
            ended_at,
        };
        self.ends.extend(finished.seats.iter().map(end));
    }
}

fn table_row(table: TableId, created: &pb::TableCreated) -> Option<TableRow> {
    let rules = RuleSet::from_canonical(&created.rule_set).ok()?;
    let (name, variant) = (created.name.clone(), rules.variant().id.to_owned());
    Some(TableRow { table, name, variant })
}

fn outcome_of(cause: AbortCause) -> i16 {
    let outcome = match cause {
        AbortCause::Withheld => HandOutcome::Burnt,
        AbortCause::Agreed => HandOutcome::Agreed,
        AbortCause::Suspended | AbortCause::Unspecified => HandOutcome::SuspendedTooLong,
    };
    i16::try_from(i32::from(outcome)).unwrap_or_default()
}

/// Whether an event of this type has rows.
fn is_of_hands(kind: u16) -> bool {
    const TYPES: [EventType; 6] = [
        EventType::TableCreated,
        EventType::HandStarted,
        EventType::HandOpened,
        EventType::HandAborted,
        EventType::HandFinished,
        EventType::TableClosed,
    ];
    TYPES.iter().any(|wanted| i32::from(*wanted) == i32::from(kind))
}
