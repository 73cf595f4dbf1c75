//! Evidence that a client keeps of each hand number: what dealer and table have signed, and what
//! its own hashes were taken of.
//!
//! A line is stored before the client sends what it speaks of: so a client that was killed at any
//! moment still holds what it has revealed, signed and been promised, and reveals once for a
//! number. [`fairness::evidence`] has the format, and finds contradictions.

mod directory;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use fairness::evidence::Entry;
use primitives::{PlayerId, TableId};

pub use directory::{EvidenceDirectory, KEPT_DAYS};

/// Hand number that evidence is of, and who keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceKey {
    /// None for a viewer.
    pub player: Option<PlayerId>,
    pub table: TableId,
    pub hand_no: u64,
}

/// Storage for evidence, one file for each hand number.
pub trait EvidenceStore: Send + Sync {
    /// Returns what is stored of a hand number.
    ///
    /// # Errors
    /// The file cannot be read, or is no evidence file.
    fn load(&self, key: &EvidenceKey) -> io::Result<Vec<Entry>>;

    /// Adds entries. They survive a crash once it returns.
    ///
    /// # Errors
    /// The entries cannot be written.
    fn append(&self, key: &EvidenceKey, entries: &[Entry]) -> io::Result<()>;

    /// Returns the highest hand number of the table that something is stored of.
    ///
    /// # Errors
    /// The storage cannot be read.
    fn last_hand(&self, player: Option<PlayerId>, table: TableId) -> io::Result<Option<u64>>;
}

/// Storage in memory, lost with the process; it keeps the newest hand numbers.
#[derive(Debug, Default)]
pub struct MemoryEvidence(Mutex<BTreeMap<EvidenceKey, Vec<Entry>>>);

impl MemoryEvidence {
    /// Maximum number of hand numbers of one player and table.
    const MAX_HANDS: u64 = 64;
}

impl EvidenceStore for MemoryEvidence {
    fn load(&self, key: &EvidenceKey) -> io::Result<Vec<Entry>> {
        let hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(hands.get(key).cloned().unwrap_or_default())
    }

    fn append(&self, key: &EvidenceKey, entries: &[Entry]) -> io::Result<()> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hands.entry(*key).or_default().extend_from_slice(entries);
        if let Some(old) = key.hand_no.checked_sub(MemoryEvidence::MAX_HANDS) {
            let first = EvidenceKey { hand_no: 0, ..*key };
            let last = EvidenceKey { hand_no: old, ..*key };
            hands.retain(|other, _| *other < first || *other > last);
        }
        Ok(())
    }

    fn last_hand(&self, player: Option<PlayerId>, table: TableId) -> io::Result<Option<u64>> {
        let hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |hand_no| EvidenceKey { player, table, hand_no };
        Ok(hands.range(at(0)..=at(u64::MAX)).next_back().map(|(key, _)| key.hand_no))
    }
}

#[cfg(test)]
mod tests {
    use primitives::UnixMicros;

    use super::*;

    /// Numbers pass while a client is away: none of the old ones stays behind.
    #[test]
    fn memory_keeps_the_newest_numbers_of_each_table() {
        let store = MemoryEvidence::default();
        let key =
            |table, hand_no| EvidenceKey { player: None, table: TableId([table; 16]), hand_no };
        let entry = [Entry::note(UnixMicros(1), "a line")];
        for (table, hand_no) in [(1, 3), (2, 3), (3, 3), (2, 4), (2, 5), (2, 68)] {
            store.append(&key(table, hand_no), &entry).unwrap();
        }
        let has = |table, hand_no| !store.load(&key(table, hand_no)).unwrap().is_empty();
        assert!(has(2, 5) && has(2, 68), "the newest 64");
        assert!(!has(2, 3) && !has(2, 4));
        assert!(has(1, 3) && has(3, 3), "other tables");
    }
}
