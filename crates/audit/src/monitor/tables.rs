//! Hands of the table's log: at each table the numbers 1, 2, 3 … without a gap, each opened once,
//! closed once and ended once.

use std::collections::BTreeMap;
use std::fmt;

use fairness::hand_id;
use merkle::record::LeafRecord;
use primitives::{StreamId, TableId};

use super::facts::Fact;
use super::violation::ViolationKind;

/// Numbers after the due one that are tried to name a hand out of turn.
const NAMED_AHEAD: u64 = 64;

/// A hand by its table and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandName {
    pub table: TableId,
    pub number: u64,
}

impl fmt::Display for HandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hand {} of table {}", self.number, self.table)
    }
}

/// Hands of all tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    tables: BTreeMap<TableId, Table>,
    hands: BTreeMap<StreamId, Hand>,
    /// Streams of the hands that are due, one of each table.
    next: BTreeMap<StreamId, TableId>,
    ended: u64,
    aborted: u64,
}

/// Numbers of a table that were promised, started, opened and finished, from 1 to each of these.
#[derive(Debug, Clone, Copy, Default)]
struct Table {
    promised: u64,
    started: u64,
    opened: u64,
    finished: u64,
    /// Whether no hand may start.
    is_disabled: bool,
}

#[derive(Debug, Clone, Copy)]
struct Hand {
    name: HandName,
    /// Position of the closing of its commitments.
    closed: Option<u64>,
    /// Position of its end.
    ended: Option<u64>,
}

impl Tables {
    pub(super) fn count(&self) -> u64 {
        self.tables.len() as u64
    }

    pub(super) fn opened(&self) -> u64 {
        self.hands.len() as u64
    }

    pub(super) const fn ended(&self) -> u64 {
        self.ended
    }

    pub(super) const fn aborted(&self) -> u64 {
        self.aborted
    }

    /// Whether a stream is that of the number after a table's newest hand.
    pub(super) fn is_next(&self, stream: StreamId) -> bool {
        self.next.contains_key(&stream)
    }

    /// Returns the name of the hand of a stream, which was opened.
    pub(super) fn name_of(&self, stream: StreamId) -> HandName {
        let nobody = HandName { table: TableId(stream.0), number: 0 };
        self.hands.get(&stream).map_or(nobody, |hand| hand.name)
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(super) fn push(&mut self, fact: Fact, record: &LeafRecord) -> Result<(), ViolationKind> {
        match fact {
            Fact::TableCreated => self.create_table(record),
            Fact::HandCommitted => self.promise(record),
            Fact::HandStarted => self.start(record),
            Fact::HandFinished => self.finish(record),
            Fact::TableDisabled => self.set_disabled(true, record),
            Fact::TableEnabled => self.set_disabled(false, record),
            Fact::OfTable => self.table(record).map(|_| ()),
            Fact::HandOpened => self.open(record),
            Fact::EntropyClosed => self.close(record),
            Fact::EntropyRevealed => self.reveal(record),
            Fact::InPlay => self.play(record),
            Fact::HandSettled | Fact::HandAborted => self.end(fact, record),
            Fact::OfHand => self.hand(record).map(|_| ()),
            Fact::OfPerson => self.person(record),
            Fact::OfRoom => within(StreamId::ROOM, record),
            Fact::Clock => within(StreamId::CLOCK, record),
            Fact::SeedCommitted
            | Fact::CommitmentsClosed
            | Fact::SeedSealed
            | Fact::Dealing
            | Fact::SeedOpened
            | Fact::OutcomesTested
            | Fact::Alarm
            | Fact::OfWallet => Err(ViolationKind::OtherLog { kind: record.kind }),
        }
    }

    fn create_table(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        first(record)?;
        let table = TableId(record.stream);
        self.tables.insert(table, Table::default());
        self.next.insert(stream_of(HandName { table, number: 1 }), table);
        Ok(())
    }

    /// The dealer promises one number, after the one before it has started.
    fn promise(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let (table, state) = self.table(record)?;
        let hand = HandName { table, number: state.promised + 1 };
        if hand.number > state.started + 1 {
            return Err(ViolationKind::SecondPromise { hand });
        }
        state.promised = hand.number;
        Ok(())
    }

    fn set_disabled(&mut self, disabled: bool, record: &LeafRecord) -> Result<(), ViolationKind> {
        self.table(record)?.1.is_disabled = disabled;
        Ok(())
    }

    fn start(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let (table, state) = self.table(record)?;
        let before = HandName { table, number: state.started };
        let hand = HandName { table, number: state.started + 1 };
        if state.is_disabled {
            return Err(ViolationKind::StartedWhileDisabled { hand });
        }
        if state.opened < before.number {
            return Err(ViolationKind::NeverOpened { hand: before });
        }
        if state.finished < before.number {
            return Err(ViolationKind::NoEnd { hand: before });
        }
        if state.promised < hand.number {
            return Err(ViolationKind::NotPromised { hand });
        }
        state.started = hand.number;
        Ok(())
    }

    fn open(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        first(record)?;
        let stream = StreamId(record.stream);
        let Some(table) = self.next.get(&stream).copied() else {
            return Err(self.out_of_turn(stream));
        };
        let Some(state) = self.tables.get_mut(&table) else {
            return Err(ViolationKind::NoHandOfTable { stream });
        };
        let name = HandName { table, number: state.opened + 1 };
        if state.started < name.number {
            return Err(ViolationKind::NotStarted { hand: name });
        }
        state.opened = name.number;
        self.next.remove(&stream);
        self.next.insert(stream_of(HandName { table, number: name.number + 1 }), table);
        self.hands.insert(stream, Hand { name, closed: None, ended: None });
        Ok(())
    }

    /// Names the hand of a stream that is no table's next one, where it is one of the following.
    fn out_of_turn(&self, stream: StreamId) -> ViolationKind {
        for (&table, state) in &self.tables {
            let due = HandName { table, number: state.opened + 1 };
            for ahead in 1..=NAMED_AHEAD {
                let found = HandName { table, number: due.number + ahead };
                if stream_of(found) == stream {
                    return ViolationKind::Gap { due, found };
                }
            }
        }
        ViolationKind::NoHandOfTable { stream }
    }

    fn close(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let hand = self.hand(record)?;
        if let Some(earlier) = hand.closed {
            return Err(ViolationKind::SecondClosing { hand: hand.name, earlier });
        }
        hand.check_in_play()?;
        hand.closed = Some(record.position);
        Ok(())
    }

    fn reveal(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let hand = self.hand(record)?;
        let early = ViolationKind::RevealBeforeClosing { hand: hand.name };
        hand.closed.map(|_| ()).ok_or(early)
    }

    fn play(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        self.hand(record)?.check_in_play()
    }

    fn end(&mut self, fact: Fact, record: &LeafRecord) -> Result<(), ViolationKind> {
        let hand = self.hand(record)?;
        if let Some(earlier) = hand.ended {
            return Err(ViolationKind::SecondEnd { hand: hand.name, earlier });
        }
        hand.ended = Some(record.position);
        self.ended += 1;
        self.aborted += u64::from(fact == Fact::HandAborted);
        Ok(())
    }

    /// The table takes the result of its newest hand, once, after that has ended.
    fn finish(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let (table, state) = self.table(record)?;
        let hand = HandName { table, number: state.started };
        let due = state.finished + 1 == hand.number;
        let ended = self.hands.get(&stream_of(hand)).is_some_and(|hand| hand.ended.is_some());
        if !due || !ended {
            return Err(ViolationKind::FinishedTwice { hand });
        }
        self.table(record)?.1.finished = hand.number;
        Ok(())
    }

    fn person(&self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let stream = StreamId(record.stream);
        let taken = self.tables.contains_key(&TableId(record.stream))
            || self.hands.contains_key(&stream)
            || self.next.contains_key(&stream);
        if taken { Err(other_stream(record)) } else { Ok(()) }
    }

    fn table(&mut self, record: &LeafRecord) -> Result<(TableId, &mut Table), ViolationKind> {
        let table = TableId(record.stream);
        let state = self.tables.get_mut(&table).ok_or_else(|| other_stream(record))?;
        Ok((table, state))
    }

    fn hand(&mut self, record: &LeafRecord) -> Result<&mut Hand, ViolationKind> {
        self.hands.get_mut(&StreamId(record.stream)).ok_or_else(|| other_stream(record))
    }
}

impl Hand {
    fn check_in_play(&self) -> Result<(), ViolationKind> {
        match self.ended {
            Some(earlier) => Err(ViolationKind::AfterEnd { hand: self.name, earlier }),
            None => Ok(()),
        }
    }
}

fn stream_of(hand: HandName) -> StreamId {
    StreamId::from(hand_id(hand.table, hand.number))
}

/// Checks that a record is the first of a stream that is none of the service's own.
pub(super) fn first(record: &LeafRecord) -> Result<(), ViolationKind> {
    let stream = StreamId(record.stream);
    if [StreamId::CLOCK, StreamId::CHANCE, StreamId::ROOM].contains(&stream) {
        return Err(other_stream(record));
    }
    if record.version == 1 { Ok(()) } else { Err(ViolationKind::SecondBeginning { stream }) }
}

/// Checks that a record is in this stream of the service's own.
pub(super) fn within(stream: StreamId, record: &LeafRecord) -> Result<(), ViolationKind> {
    if StreamId(record.stream) == stream { Ok(()) } else { Err(other_stream(record)) }
}

pub(super) const fn other_stream(record: &LeafRecord) -> ViolationKind {
    ViolationKind::OtherStream { kind: record.kind, stream: StreamId(record.stream) }
}
