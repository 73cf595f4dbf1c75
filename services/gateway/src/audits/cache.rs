//! Cache of hands that passed their audit.
//!
//! Bounded by bytes, which crate `lru` does not do: it counts entries.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use primitives::{HandId, TableId};
use prost::Message as _;
use proto::audit::v1 as pb;
use wire::ApiRefusal;

use super::histories::Histories;

/// Most bytes in the cache.
const MAX_BYTES: usize = 32 << 20;

/// The bundle of a hand, and the answer to a request for its audit.
pub(super) struct AuditedHand {
    pub(super) bundle: Vec<u8>,
    /// Logs of whose witnesses none had signed in time.
    pub(super) uncosigned: Vec<String>,
    pub(super) response: pb::AuditHandResponse,
    /// The hand's histories, one for each viewer.
    pub(super) histories: Result<Histories, ApiRefusal>,
}

impl AuditedHand {
    fn bytes(&self) -> usize {
        let histories = self.histories.as_ref().map_or(0, Histories::bytes);
        self.bundle.len() + self.response.encoded_len() + histories
    }
}

/// Name of a hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HandKey {
    pub(super) table: TableId,
    pub(super) hand_no: u64,
}

/// Cache of the most recently used hands, as many as fit.
#[derive(Default)]
pub(super) struct AuditCache(Mutex<CachedHands>);

#[derive(Default)]
struct CachedHands {
    /// Each hand with the number of its last use.
    hands: BTreeMap<HandKey, (u64, Arc<AuditedHand>)>,
    by_last_use: BTreeMap<u64, HandKey>,
    next_use: u64,
    bytes: usize,
}

impl AuditCache {
    pub(super) fn get(&self, hand: HandKey) -> Option<Arc<AuditedHand>> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let audited = hands.remove(hand)?;
        hands.insert(hand, Arc::clone(&audited));
        Some(audited)
    }

    /// Finds a cached hand by its id.
    pub(super) fn find(&self, hand: HandId) -> Option<HandKey> {
        let hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = hand.to_string();
        let mut cached = hands.hands.iter();
        cached.find(|(_, (_, audited))| audited.response.hand_id == id).map(|(key, _)| *key)
    }

    pub(super) fn put(&self, hand: HandKey, audited: Arc<AuditedHand>) {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hands.remove(hand);
        hands.insert(hand, audited);
        while hands.bytes > MAX_BYTES
            && let Some((_, oldest)) = hands.by_last_use.first_key_value()
        {
            let oldest = *oldest;
            hands.remove(oldest);
        }
    }
}

impl CachedHands {
    fn insert(&mut self, hand: HandKey, audited: Arc<AuditedHand>) {
        self.next_use += 1;
        self.bytes += audited.bytes();
        self.by_last_use.insert(self.next_use, hand);
        self.hands.insert(hand, (self.next_use, audited));
    }

    fn remove(&mut self, hand: HandKey) -> Option<Arc<AuditedHand>> {
        let (asked, audited) = self.hands.remove(&hand)?;
        self.by_last_use.remove(&asked);
        self.bytes -= audited.bytes();
        Some(audited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn hand(hand_no: u64) -> HandKey {
        HandKey { table: TableId([7; 16]), hand_no }
    }

    #[test]
    fn those_asked_for_last_are_kept_as_far_as_they_fit() {
        let kept = AuditCache::default();
        let quarter = || {
            let answer = pb::AuditHandResponse::default();
            let (bundle, uncosigned) = (vec![0; MAX_BYTES / 4], Vec::new());
            let histories = Ok(Histories::default());
            Arc::new(AuditedHand { bundle, uncosigned, response: answer, histories })
        };
        for hand_no in 1..=4 {
            kept.put(hand(hand_no), quarter());
        }
        assert!(kept.get(hand(1)).is_some());
        kept.put(hand(5), quarter());
        kept.put(hand(5), quarter());
        let there: Vec<_> = (1..=5).filter(|hand_no| kept.get(hand(*hand_no)).is_some()).collect();
        assert_eq!(there, [1, 3, 4, 5]);
        let hands = kept.0.lock().unwrap();
        assert!(hands.bytes <= MAX_BYTES && hands.hands.len() == hands.by_last_use.len());
    }
}
