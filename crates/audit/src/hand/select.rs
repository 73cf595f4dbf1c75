//! Selection of one hand's events from streams that hold those of many.

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

    /// Takes a record at a place, which is a position or a version. They may come in any order.
    pub fn add(&mut self, place: u64, recorded: &TableRecord) {
        if let TableRecord::HandCommitted(committed) = recorded
            && committed.hand_no == self.hand_no
        {
            self.commitment = Some(place);
        }
        let TableRecord::HandFinished(finished) = recorded else { return };
        if finished.hand_no == self.hand_no {
            self.end = Some(place);
        } else if finished.hand_no < self.hand_no && !finished.aborted {
            self.last_end = self.last_end.max(Some(place));
        }
    }

    /// Returns the first place; `None` if nothing before the records taken can be left out.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        Some(self.last_end?.min(self.commitment?))
    }

    /// Returns the last place; `None` if the hand has not ended.
    #[must_use]
    pub const fn last(&self) -> Option<u64> {
        self.end
    }
}

/// Selects a hand's events from the whole stream of its table, in order.
pub fn select_from_table(hand_no: u64, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut events: Vec<Event> = stream.into_iter().collect();
    let mut bounds = TableBounds::new(hand_no);
    for event in &events {
        if let Ok(recorded) = TableRecord::try_from(event) {
            bounds.add(event.version.0, &recorded);
        }
    }
    let (first, last) = (bounds.first().unwrap_or(0), bounds.last().unwrap_or(u64::MAX));
    events.retain(|event| (first..=last).contains(&event.version.0));
    events
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
