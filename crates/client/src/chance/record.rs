//! Entries kept of each hand number on its way to the evidence store.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use fairness::evidence::{Entry, Statement};
use primitives::{PlayerId, TableId};

use crate::evidence::{EvidenceKey, EvidenceStore};

/// Maximum number of entries of one hand number, so that the file stays small however much a table
/// tells: nothing more is sent for a number whose next entry would be one more.
const MAX_ENTRIES: usize = 8192;

/// Number of entries beyond which decisions of others are left out: no hand has so many, and room
/// is left for what this client has to keep before it sends.
const MAX_WITH_DECISIONS: usize = 4096;

/// Maximum number of hand numbers kept in memory beside the store.
const MAX_HANDS: usize = 16;

/// Entries of one table, by hand number.
pub(super) struct Record {
    store: Arc<dyn EvidenceStore>,
    player: Option<PlayerId>,
    table: TableId,
    hands: BTreeMap<u64, HandRecord>,
}

#[derive(Default)]
struct HandRecord {
    entries: Vec<Entry>,
    /// Number of entries that are stored; the others follow.
    stored: usize,
    /// Whether an entry found no room.
    is_full: bool,
}

impl Record {
    pub(super) fn new(
        store: Arc<dyn EvidenceStore>,
        player: Option<PlayerId>,
        table: TableId,
    ) -> Record {
        Record { store, player, table, hands: BTreeMap::new() }
    }

    fn key(&self, hand_no: u64) -> EvidenceKey {
        EvidenceKey { player: self.player, table: self.table, hand_no }
    }

    /// The entries of a hand number: those that are stored from before come first.
    fn hand(&mut self, hand_no: u64) -> io::Result<&mut HandRecord> {
        if !self.hands.contains_key(&hand_no) {
            let entries = self.store.load(&self.key(hand_no))?;
            let stored = entries.len();
            self.hands.insert(hand_no, HandRecord { entries, stored, is_full: false });
            self.forget_old(hand_no);
        }
        Ok(self.hands.entry(hand_no).or_default())
    }

    /// Drops the oldest numbers from memory, except one that is in use, and stores them first.
    fn forget_old(&mut self, in_use: u64) {
        while self.hands.len() > MAX_HANDS {
            let others = self.hands.keys().filter(|hand_no| **hand_no != in_use);
            let Some(oldest) = others.min().copied() else { return };
            if let Err(error) = self.store_hand(oldest) {
                tracing::error!(table = %self.table, hand_no = oldest, %error, "evidence is lost");
            }
            self.hands.remove(&oldest);
        }
    }

    /// Adds an entry, if it is not there yet; [`Record::store_hand`] makes it durable, and fails if
    /// there was no room for it.
    pub(super) fn add(&mut self, hand_no: u64, entry: Entry) {
        self.add_below(MAX_ENTRIES, hand_no, entry);
    }

    /// Adds a decision of another's, as far as there is room: nothing is sent that it has to precede.
    pub(super) fn add_decision(&mut self, hand_no: u64, entry: Entry) {
        self.add_below(MAX_WITH_DECISIONS, hand_no, entry);
    }

    fn add_below(&mut self, max: usize, hand_no: u64, entry: Entry) {
        let table = self.table;
        match self.hand(hand_no) {
            Ok(hand) if hand.entries.contains(&entry) => {}
            Ok(hand) if hand.entries.len() < max => hand.entries.push(entry),
            Ok(hand) => hand.is_full |= max == MAX_ENTRIES,
            // What needs the entry on disk reads it again, and fails.
            Err(error) => tracing::error!(%table, hand_no, %error, "evidence cannot be read"),
        }
    }

    /// Makes the entries of a hand number durable.
    ///
    /// # Errors
    /// They cannot be read or written; a repetition tries again. Or there are too many of them.
    pub(super) fn store_hand(&mut self, hand_no: u64) -> io::Result<()> {
        let (key, store) = (self.key(hand_no), Arc::clone(&self.store));
        let hand = self.hand(hand_no)?;
        if let Some(new) = hand.entries.get(hand.stored..).filter(|new| !new.is_empty()) {
            store.append(&key, new)?;
            hand.stored = hand.entries.len();
        }
        if hand.is_full {
            let why = format!("hand {hand_no} has more than {MAX_ENTRIES} entries");
            return Err(io::Error::new(io::ErrorKind::StorageFull, why));
        }
        Ok(())
    }

    /// All entries of a hand number, as far as they can be read.
    pub(super) fn entries(&mut self, hand_no: u64) -> Vec<Entry> {
        self.hand(hand_no).map(|hand| hand.entries.clone()).unwrap_or_default()
    }

    /// Signed texts of a hand number, in their order.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) fn statements(&mut self, hand_no: u64) -> io::Result<Vec<Statement>> {
        let signed = |entry: &Entry| match entry {
            Entry::Signed(signed) => Statement::parse(&signed.message).ok(),
            Entry::Open(_) | Entry::Note { .. } => None,
        };
        let hand = self.hand(hand_no)?;
        Ok(hand.entries.iter().filter_map(signed).map(|(statement, _)| statement).collect())
    }

    /// Whether nothing is kept of this number, and something of a higher one.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn is_passed(&mut self, hand_no: u64) -> io::Result<bool> {
        let last = self.store.last_hand(self.player, self.table)?;
        let is_new = self.hand(hand_no)?.stored == 0;
        Ok(is_new && last.is_some_and(|last| last > hand_no))
    }
}

#[cfg(test)]
mod tests {
    use primitives::UnixMicros;

    use super::*;
    use crate::evidence::MemoryEvidence;

    fn record() -> (Arc<MemoryEvidence>, Record) {
        let store = Arc::new(MemoryEvidence::default());
        (Arc::clone(&store), Record::new(store, None, TableId([1; 16])))
    }

    fn note(number: usize) -> Entry {
        Entry::note(UnixMicros(number as u64), "a line")
    }

    /// Statements of a table fill the record of a hand, but never take the place of what has to be
    /// kept before something is sent.
    #[test]
    fn what_must_precede_a_send_is_kept_or_nothing_is_sent() {
        let (store, mut record) = record();
        (0..MAX_WITH_DECISIONS + 10).for_each(|number| record.add_decision(5, note(number)));
        record.add(5, note(usize::MAX));
        record.store_hand(5).unwrap();
        let key = record.key(5);
        let kept = store.load(&key).unwrap();
        assert_eq!((kept.len(), kept.last()), (MAX_WITH_DECISIONS + 1, Some(&note(usize::MAX))));
        (0..MAX_ENTRIES).for_each(|number| record.add(5, note(number)));
        let error = record.store_hand(5).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(store.load(&key).unwrap().len(), MAX_ENTRIES);
    }

    /// An old number is asked for while memory is full of newer ones.
    #[test]
    fn the_number_that_is_asked_for_is_not_forgotten() {
        let (_, mut record) = record();
        record.add(1, note(1));
        record.store_hand(1).unwrap();
        (2..40).for_each(|hand_no| record.add(hand_no, note(2)));
        assert_eq!(record.entries(1), [note(1)]);
        record.add(1, note(3));
        record.store_hand(1).unwrap();
        assert_eq!(record.entries(1), [note(1), note(3)]);
        assert!(record.hands.len() <= MAX_HANDS);
    }
}
