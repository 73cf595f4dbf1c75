//! Cache of hands that passed their audit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use primitives::TableId;
use prost::Message as _;
use proto::audit::v1 as pb;

/// Most bytes in the cache.
const MOST: usize = 32 << 20;

/// The bundle of a hand, and the answer to a request for its audit.
pub(super) struct Audited {
    pub(super) bundle: Vec<u8>,
    pub(super) answer: pb::AuditHandResponse,
}

impl Audited {
    fn bytes(&self) -> usize {
        self.bundle.len() + self.answer.encoded_len()
    }
}

/// Cache of the most recently used hands, as many as fit.
#[derive(Default)]
pub(super) struct Kept(Mutex<Hands>);

#[derive(Default)]
struct Hands {
    /// Each hand with the number of its last use.
    hands: BTreeMap<(TableId, u64), (u64, Arc<Audited>)>,
    asked: BTreeMap<u64, (TableId, u64)>,
    next: u64,
    bytes: usize,
}

impl Kept {
    pub(super) fn get(&self, table: TableId, hand_no: u64) -> Option<Arc<Audited>> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let audited = hands.remove((table, hand_no))?;
        hands.insert((table, hand_no), Arc::clone(&audited));
        Some(audited)
    }

    pub(super) fn put(&self, hand: (TableId, u64), audited: Arc<Audited>) {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hands.remove(hand);
        hands.insert(hand, audited);
        while hands.bytes > MOST
            && let Some((_, oldest)) = hands.asked.first_key_value()
        {
            let oldest = *oldest;
            hands.remove(oldest);
        }
    }
}

impl Hands {
    fn insert(&mut self, hand: (TableId, u64), audited: Arc<Audited>) {
        self.next += 1;
        self.bytes += audited.bytes();
        self.asked.insert(self.next, hand);
        self.hands.insert(hand, (self.next, audited));
    }

    fn remove(&mut self, hand: (TableId, u64)) -> Option<Arc<Audited>> {
        let (asked, audited) = self.hands.remove(&hand)?;
        self.asked.remove(&asked);
        self.bytes -= audited.bytes();
        Some(audited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableId = TableId([7; 16]);

    #[test]
    fn those_asked_for_last_are_kept_as_far_as_they_fit() {
        let kept = Kept::default();
        let quarter = || {
            let answer = pb::AuditHandResponse::default();
            Arc::new(Audited { bundle: vec![0; MOST / 4], answer })
        };
        for hand_no in 1..=4 {
            kept.put((TABLE, hand_no), quarter());
        }
        assert!(kept.get(TABLE, 1).is_some());
        kept.put((TABLE, 5), quarter());
        kept.put((TABLE, 5), quarter());
        let there: Vec<_> = (1..=5).filter(|hand_no| kept.get(TABLE, *hand_no).is_some()).collect();
        assert_eq!(there, [1, 3, 4, 5]);
        let hands = kept.0.lock().unwrap();
        assert!(hands.bytes <= MOST && hands.hands.len() == hands.asked.len());
    }
}
