//! Entries kept of each hand number on its way to the evidence store.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use fairness::evidence::{Entry, Statement};
use primitives::{PlayerId, TableId};

use crate::evidence::{EvidenceKey, EvidenceStore};

/// Maximum number of entries of one hand number: a hand has fewer decisions than that, and the file
/// stays small however much a table tells.
const MAX_ENTRIES: usize = 8192;

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
            self.hands.insert(hand_no, HandRecord { entries, stored });
            self.forget_old();
        }
        Ok(self.hands.entry(hand_no).or_default())
    }

    /// Drops the oldest numbers whose entries are all stored.
    fn forget_old(&mut self) {
        while self.hands.len() > MAX_HANDS {
            let Some((&oldest, _)) = self.hands.first_key_value() else { return };
            if let Err(error) = self.store_hand(oldest) {
                tracing::error!(table = %self.table, hand_no = oldest, %error, "evidence is lost");
            }
            self.hands.remove(&oldest);
        }
    }

    /// Adds an entry, if it is not there yet; [`Record::store_hand`] makes it durable.
    pub(super) fn add(&mut self, hand_no: u64, entry: Entry) {
        let table = self.table;
        match self.hand(hand_no) {
            Ok(hand) if hand.entries.len() < MAX_ENTRIES && !hand.entries.contains(&entry) => {
                hand.entries.push(entry);
            }
            Ok(_) => {}
            // What needs the entry on disk reads it again, and fails.
            Err(error) => tracing::error!(%table, hand_no, %error, "evidence cannot be read"),
        }
    }

    /// Makes the entries of a hand number durable.
    ///
    /// # Errors
    /// They cannot be read or written; a repetition tries again.
    pub(super) fn store_hand(&mut self, hand_no: u64) -> io::Result<()> {
        let (key, store) = (self.key(hand_no), Arc::clone(&self.store));
        let hand = self.hand(hand_no)?;
        if let Some(new) = hand.entries.get(hand.stored..).filter(|new| !new.is_empty()) {
            store.append(&key, new)?;
            hand.stored = hand.entries.len();
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
