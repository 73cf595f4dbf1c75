//! Selection of one hand's events from streams that hold those of many.

use std::collections::BTreeMap;

use eventlog_core::Event;
use primitives::HandId;
use wire::records::{TableRecord, WalletRecord};

/// Bounds of a hand's records in its table's stream, found record by record.
///
/// They begin with the end of the last hand that was played to its end, or with the dealer's
/// commitment to this hand where that is earlier, or with the stream itself; they end with this hand.
///
/// Specification: fairness/SPEC.md §15.2.
#[derive(Debug, Clone, Copy)]
pub struct TableBounds {
    hand_no: u64,
    last_end: Option<u64>,
    commitment: Option<u64>,
    end: Option<u64>,
}

impl TableBounds {
    #[must_use]
    pub const fn new(hand_no: u64) -> TableBounds {
        TableBounds { hand_no, last_end: None, commitment: None, end: None }
    }

    /// Takes a record at an index, which is a position or a version. They may come in any order.
    pub fn add(&mut self, index: u64, recorded: &TableRecord) {
        if let TableRecord::HandCommitted(committed) = recorded
            && committed.hand_no == self.hand_no
        {
            self.commitment = Some(index);
        }
        let TableRecord::HandFinished(finished) = recorded else { return };
        if finished.hand_no == self.hand_no {
            self.end = Some(index);
        } else if finished.hand_no < self.hand_no && !finished.aborted {
            self.last_end = self.last_end.max(Some(index));
        }
    }

    /// Returns the first index; `None` if nothing before the records taken can be left out.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        Some(self.last_end?.min(self.commitment?))
    }

    /// Returns the last index; `None` if the hand has not ended.
    #[must_use]
    pub const fn last(&self) -> Option<u64> {
        self.end
    }
}

/// The whole stream of a table, with the indices of its hands.
#[derive(Debug, Clone, Default)]
pub struct TableStream {
    events: Vec<Event>,
    /// Indices of the dealer's commitments and of the ends of hands, by hand number.
    commitments: BTreeMap<u64, usize>,
    ends: BTreeMap<u64, usize>,
    /// Indices of the ends of hands that were played to their end.
    played: BTreeMap<u64, usize>,
    started: Vec<u64>,
}

impl TableStream {
    /// Takes the whole stream, in order.
    #[must_use]
    pub fn new(events: Vec<Event>) -> TableStream {
        let mut stream = TableStream::default();
        for (index, event) in events.iter().enumerate() {
            if let Ok(recorded) = TableRecord::try_from(event) {
                stream.note(index, &recorded);
            }
        }
        TableStream { events, ..stream }
    }

    fn note(&mut self, index: usize, recorded: &TableRecord) {
        if let TableRecord::HandCommitted(committed) = recorded {
            self.commitments.entry(committed.hand_no).or_insert(index);
        } else if let TableRecord::HandStarted(started) = recorded {
            self.started.push(started.hand_no);
        } else if let TableRecord::HandFinished(finished) = recorded {
            self.ends.insert(finished.hand_no, index);
            if !finished.aborted {
                self.played.insert(finished.hand_no, index);
            }
        }
    }

    /// The numbers of the hands that have started.
    #[must_use]
    pub fn started(&self) -> &[u64] {
        &self.started
    }

    /// All events.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A hand's events: those within its [`TableBounds`].
    #[must_use]
    pub fn of_hand(&self, hand_no: u64) -> &[Event] {
        let last_end = self.played.range(..hand_no).next_back().map(|(_, index)| *index);
        let bounds = TableBounds {
            hand_no,
            last_end: last_end.map(as_place),
            commitment: self.commitments.get(&hand_no).copied().map(as_place),
            end: self.ends.get(&hand_no).copied().map(as_place),
        };
        let index = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
        let first = index(bounds.first().unwrap_or(0));
        let last = bounds.last().map_or(self.events.len(), |last| index(last).saturating_add(1));
        self.events.get(first..last).unwrap_or_default()
    }
}

fn as_place(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX)
}

/// Selects a hand's events from the whole stream of its table, in order.
pub fn select_from_table(hand_no: u64, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    TableStream::new(stream.into_iter().collect()).of_hand(hand_no).to_vec()
}

/// Selects the transfers posted for a hand from the wallet's stream of its table.
pub fn select_from_wallet(hand: HandId, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours = |event: &Event| {
        let Ok(WalletRecord::TransferPosted(posted)) = WalletRecord::try_from(event) else {
            return false;
        };
        posted.transfer_id[..] == hand.0 || posted.hand_id[..] == hand.0
    };
    stream.into_iter().filter(ours).collect()
}
