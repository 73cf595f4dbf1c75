//! Index of hand numbers: a fold of the log.
//!
//! Nothing is refused here. A record that contradicts another one is a matter of its table; the
//! list says of each number what the records say last.

use proto::common::v1::AbortCause;
use std::collections::BTreeMap;

use eventlog::{Event, Position};
use primitives::{PlayerId, StreamId, TableId, UnixMicros};
use proto::event::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::records::{HandEvent, TableEvent, TableSubject};
use wire::{TableRecord, field};

use super::counts::Counts;
use crate::people::registry::EventLocation;

/// All hand numbers of a log.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct HandIndex {
    /// Records of the log that were folded.
    pub(super) log_size: u64,
    pub(super) room: Counts,
    pub(super) tables: BTreeMap<TableId, TableHands>,
    pub(super) players: BTreeMap<PlayerId, PlayerHands>,
    /// Hands of whose streams more may be listed.
    streams: BTreeMap<StreamId, (TableId, u64)>,
}

/// Hand numbers of one table.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TableHands {
    /// Highest number that has started.
    pub started: u64,
    /// Numbers by the first of each entry. Every other one up to `started` was played, its seed is
    /// open, and it was never suspended.
    pub hands: BTreeMap<u64, Hand>,
    pub counts: Counts,
    pub seats: BTreeMap<u32, Counts>,
}

/// Hands of one player.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct PlayerHands {
    pub counts: Counts,
    pub tables: BTreeMap<TableId, PlayerAtTable>,
}

/// Hands of one player at one table.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct PlayerAtTable {
    pub counts: Counts,
    /// Numbers that the player was dealt into: first and last of each stretch, ascending.
    pub stretches: Vec<(u64, u64)>,
}

/// End of a hand number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    InPlay,
    Played,
    Burnt,
    Agreed,
    SuspendedTooLong,
    Missing,
}

/// State of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SeedState {
    Owed,
    Opened,
    Refused,
}

/// Whether a hand was suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Suspension {
    Never,
    Now,
    Past,
}

/// Entry of a hand number, or of several that were skipped.
#[derive(Serialize, Deserialize)]
pub(super) struct Hand {
    /// Last number of the entry.
    pub last: u64,
    pub outcome: Outcome,
    pub suspension: Suspension,
    pub seed: SeedState,
    pub withheld: Vec<Withheld>,
    /// Position and time of the end.
    pub ended: Option<(Position, UnixMicros)>,
    /// Cause that is recorded before the end.
    cause: Option<Outcome>,
    /// Players who were dealt in; empty once nothing more is counted for them.
    roster: Vec<Place>,
    seed_counted: bool,
}

/// Seat and player of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub seat: u32,
    pub player: PlayerId,
}

/// Seat that withheld its entropy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Withheld {
    pub place: Place,
    /// It was opened after the burn.
    pub opened: bool,
}

impl Hand {
    fn new(last: u64, outcome: Outcome) -> Hand {
        Hand {
            last,
            outcome,
            suspension: Suspension::Never,
            seed: SeedState::Owed,
            withheld: Vec::new(),
            ended: None,
            cause: None,
            roster: Vec::new(),
            seed_counted: false,
        }
    }

    /// Whether nothing of it differs from any hand that went well.
    fn is_plain(&self) -> bool {
        self.outcome == Outcome::Played
            && self.suspension == Suspension::Never
            && self.seed == SeedState::Opened
    }

    /// Whether its stream can change nothing more.
    fn is_complete(&self) -> bool {
        self.ended.is_some()
            && self.seed != SeedState::Owed
            && self.withheld.iter().all(|withheld| withheld.opened)
    }
}

impl HandIndex {
    /// Whether a player was dealt into a hand.
    pub(super) fn was_dealt_into(&self, player: PlayerId, table: TableId, hand_no: u64) -> bool {
        let at_table = self.players.get(&player).and_then(|hands| hands.tables.get(&table));
        let mut stretches = at_table.iter().flat_map(|hands| &hands.stretches);
        stretches.any(|(first, last)| (*first..=*last).contains(&hand_no))
    }

    /// Applies a stored event. One that cannot be read is a matter of its table.
    pub(super) fn apply(&mut self, event: &Event) {
        let Event { stream, position, recorded_at: at, .. } = *event;
        if let Ok(record) = TableRecord::try_from(event) {
            self.evolve(EventLocation { stream, position, at }, &record);
        }
        self.log_size = position.0 + 1;
    }

    /// Applies an event.
    pub(crate) fn evolve(&mut self, place: EventLocation, record: &TableRecord) {
        self.log_size = place.position.0 + 1;
        match record.subject() {
            TableSubject::Table(event) => self.evolve_table(place, event),
            TableSubject::Hand(event) => self.evolve_hand(place, event),
            TableSubject::Seat(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => {}
        }
    }

    fn evolve_table(&mut self, place: EventLocation, event: TableEvent<'_>) {
        let table = TableId(place.stream.0);
        match event {
            TableEvent::TableCreated(_) => {
                self.tables.entry(table).or_default();
            }
            TableEvent::HandStarted(started) => self.start(table, started.hand_no),
            TableEvent::HandFinished(finished) => self.finish(table, finished, place),
            TableEvent::TableClosed(_) => self.miss_hand_in_play(table),
            TableEvent::HandCommitted(_)
            | TableEvent::EntropyCommitted(_)
            | TableEvent::CloseAsked(_)
            | TableEvent::TableDisabled(_)
            | TableEvent::TableEnabled(_)
            | TableEvent::PotRefundDue(_)
            | TableEvent::PotRefunded(_)
            | TableEvent::AbsentPaid(_)
            | TableEvent::EffectStopped(_)
            | TableEvent::EffectResumed(_) => {}
        }
    }

    fn evolve_hand(&mut self, place: EventLocation, event: HandEvent<'_>) {
        let Some((table, number)) = self.streams.get(&place.stream).copied() else { return };
        match event {
            HandEvent::HandOpened(opened) => self.open(table, number, opened),
            HandEvent::HandSuspended(_) => self.suspend(table, number),
            HandEvent::HandContinued(_) => {
                self.change(table, number, |hand| hand.suspension = Suspension::Past);
            }
            HandEvent::HandAborted(aborted) => self.abort(table, number, aborted),
            HandEvent::HandRevealed(_) => {
                self.change(table, number, |hand| hand.seed = SeedState::Opened);
            }
            HandEvent::SeedRefused(_) => {
                self.change(table, number, |hand| hand.seed = SeedState::Refused);
            }
            HandEvent::EntropyRevealed(revealed) => {
                self.open_withheld(table, number, revealed.seat);
            }
            HandEvent::EntropyClosed(_) => {}
        }
        self.release(table, number);
    }

    fn change(&mut self, table: TableId, number: u64, change: impl FnOnce(&mut Hand)) {
        let hands = self.tables.get_mut(&table).map(|table| &mut table.hands);
        if let Some(hand) = hands.and_then(|hands| hands.get_mut(&number)) {
            change(hand);
        }
    }

    fn hand(&self, table: TableId, number: u64) -> Option<&Hand> {
        self.tables.get(&table)?.hands.get(&number)
    }

    /// Starts a number. Numbers between the one before and this are missing, and so is the one
    /// before where it has no end.
    fn start(&mut self, table: TableId, number: u64) {
        self.miss_hand_in_play(table);
        let entry = self.tables.entry(table).or_default();
        let next = entry.started.saturating_add(1);
        if number < next {
            return;
        }
        if number > next {
            entry.hands.insert(next, Hand::new(number - 1, Outcome::Missing));
        }
        entry.hands.insert(number, Hand::new(number, Outcome::InPlay));
        entry.started = number;
        for counts in [&mut entry.counts, &mut self.room] {
            counts.numbers = counts.numbers.saturating_add(number - next + 1);
            counts.end(Outcome::Missing, number - next);
        }
        self.streams.insert(fairness::hand_id(table, number).into(), (table, number));
    }

    /// Counts the hand in play, which is the last one if there is one, as missing.
    fn miss_hand_in_play(&mut self, table: TableId) {
        let last = self.tables.get(&table).and_then(|table| table.hands.last_key_value());
        if let Some((number, _)) = last.filter(|(_, hand)| hand.outcome == Outcome::InPlay) {
            self.end(table, *number, Outcome::Missing);
        }
    }

    fn open(&mut self, table: TableId, number: u64, opened: &pb::HandOpened) {
        let places = opened.roster.iter().filter_map(|seat| {
            Some(Place { seat: seat.seat, player: field::player_id(&seat.player_id).ok()? })
        });
        let roster: Vec<Place> = places.collect();
        for place in &roster {
            self.tally_place(table, *place, |counts| counts.numbers += 1);
            let player = self.players.entry(place.player).or_default();
            let stretches = &mut player.tables.entry(table).or_default().stretches;
            match stretches.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                Some(_) | None => stretches.push((number, number)),
            }
        }
        self.change(table, number, |hand| hand.roster = roster);
    }

    fn suspend(&mut self, table: TableId, number: u64) {
        let never = |hand: &Hand| hand.suspension == Suspension::Never;
        if self.hand(table, number).is_some_and(never) {
            self.tally(table, number, |counts| counts.were_suspended += 1);
        }
        self.change(table, number, |hand| hand.suspension = Suspension::Now);
    }

    fn abort(&mut self, table: TableId, number: u64, aborted: &pb::HandAborted) {
        let cause = match aborted.cause() {
            AbortCause::Withheld => Outcome::Burnt,
            AbortCause::Agreed => Outcome::Agreed,
            AbortCause::Suspended | AbortCause::Unspecified => Outcome::SuspendedTooLong,
        };
        let Some(hand) = self.hand(table, number) else { return };
        let is_at_fault = |place: &&Place| aborted.seats.contains(&place.seat);
        let withheld: Vec<Withheld> = match cause {
            Outcome::Burnt => hand.roster.iter().filter(is_at_fault).map(Withheld::new).collect(),
            Outcome::InPlay
            | Outcome::Played
            | Outcome::Agreed
            | Outcome::SuspendedTooLong
            | Outcome::Missing => Vec::new(),
        };
        for withheld in &withheld {
            self.tally_one(table, withheld.place, |counts| counts.withheld += 1);
        }
        self.change(table, number, |hand| {
            hand.cause = Some(cause);
            hand.withheld = withheld;
        });
    }

    /// Notes that a seat opened its entropy after the burn. Before it, a reveal is no event here.
    fn open_withheld(&mut self, table: TableId, number: u64, seat: u32) {
        let mut opened = None;
        self.change(table, number, |hand| {
            let late = |it: &&mut Withheld| it.place.seat == seat && !it.opened;
            if let Some(withheld) = hand.withheld.iter_mut().find(late) {
                withheld.opened = true;
                opened = Some(withheld.place);
            }
        });
        if let Some(place) = opened {
            self.tally_one(table, place, |counts| counts.withheld_opened += 1);
        }
    }

    fn finish(&mut self, table: TableId, finished: &pb::HandFinished, place: EventLocation) {
        let number = finished.hand_no;
        let in_play = |hand: &&Hand| hand.outcome == Outcome::InPlay;
        let Some(hand) = self.hand(table, number).filter(in_play) else { return };
        let outcome = if finished.aborted {
            hand.cause.unwrap_or(Outcome::SuspendedTooLong)
        } else {
            Outcome::Played
        };
        self.change(table, number, |hand| hand.ended = Some((place.position, place.at)));
        self.end(table, number, outcome);
        self.release(table, number);
    }

    fn end(&mut self, table: TableId, number: u64, outcome: Outcome) {
        self.tally(table, number, |counts| counts.end(outcome, 1));
        self.change(table, number, |hand| {
            hand.outcome = outcome;
            if hand.suspension == Suspension::Now {
                hand.suspension = Suspension::Past;
            }
        });
    }

    /// Counts the seed of a hand that has ended, and forgets what nobody asks for any more.
    fn release(&mut self, table: TableId, number: u64) {
        let Some(hand) = self.hand(table, number).filter(|hand| hand.ended.is_some()) else {
            return;
        };
        let (seed, counted) = (hand.seed, hand.seed_counted);
        let (complete, plain) = (hand.is_complete(), hand.is_plain());
        if seed != SeedState::Owed && !counted {
            self.tally(table, number, |counts| counts.seed(seed));
            self.change(table, number, |hand| {
                hand.seed_counted = true;
                hand.roster = Vec::new();
            });
        }
        if complete {
            self.streams.remove(&fairness::hand_id(table, number).into());
        }
        if let Some(entry) = self.tables.get_mut(&table).filter(|_| plain) {
            entry.hands.remove(&number);
        }
    }

    /// Counts for the room, the table, and all who were dealt in.
    fn tally(&mut self, table: TableId, number: u64, count: impl Fn(&mut Counts)) {
        let roster = self.hand(table, number).map(|hand| hand.roster.clone()).unwrap_or_default();
        self.tally_table(table, &count);
        for place in roster {
            self.tally_place(table, place, &count);
        }
    }

    /// Counts for the room, the table, and one who was dealt in.
    fn tally_one(&mut self, table: TableId, place: Place, count: impl Fn(&mut Counts)) {
        self.tally_table(table, &count);
        self.tally_place(table, place, &count);
    }

    fn tally_table(&mut self, table: TableId, count: impl Fn(&mut Counts)) {
        count(&mut self.room);
        count(&mut self.tables.entry(table).or_default().counts);
    }

    fn tally_place(&mut self, table: TableId, place: Place, count: impl Fn(&mut Counts)) {
        let player = self.players.entry(place.player).or_default();
        count(&mut player.counts);
        count(&mut player.tables.entry(table).or_default().counts);
        let seats = &mut self.tables.entry(table).or_default().seats;
        count(seats.entry(place.seat).or_default());
    }
}

impl Withheld {
    const fn new(place: &Place) -> Withheld {
        Withheld { place: *place, opened: false }
    }
}
