//! Hands in memory: a bounded number, each behind a lock of its own.
//!
//! A hand has only one slot, or two callers could write to its stream without knowing of each
//! other. So a slot is dropped only while nobody holds it; its contents can be read from the log
//! again. An empty slot is filled by the first caller that needs it. Crate `lru` would drop a
//! slot that is held.
//!
//! Specification: services/dealer/README.md "Tasks".

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use primitives::HandId;

use crate::hand::Hand;

/// Slot of a hand. If it is empty, the hand must be read from the log.
pub(crate) type Slot = Arc<tokio::sync::Mutex<Option<Hand>>>;

/// Bounded cache of hands, with the least recently used dropped first.
pub(crate) struct Cache {
    /// Slots beyond this number are dropped once nobody holds them.
    limit: usize,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    by_hand: BTreeMap<HandId, (u64, Slot)>,
    /// Hands by their last use.
    by_last_use: BTreeMap<u64, HandId>,
    uses: u64,
}

impl Cache {
    pub(crate) fn new(limit: usize) -> Cache {
        Cache { limit, slots: Mutex::default() }
    }

    /// The one slot of a hand.
    pub(crate) fn slot(&self, hand: HandId) -> Slot {
        let mut places = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.use_slot(hand);
        places.shrink(self.limit);
        place
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).by_hand.len()
    }
}

impl Slots {
    fn use_slot(&mut self, hand: HandId) -> Slot {
        self.uses += 1;
        let (used, place) = self.by_hand.entry(hand).or_default();
        self.by_last_use.remove(used);
        *used = self.uses;
        self.by_last_use.insert(self.uses, hand);
        Arc::clone(place)
    }

    /// Drops the slots longest unused, as far as nobody holds them.
    fn shrink(&mut self, limit: usize) {
        let surplus = self.by_hand.len().saturating_sub(limit);
        let is_free = |hand: &HandId| {
            self.by_hand.get(hand).is_some_and(|(_, place)| Arc::strong_count(place) == 1)
        };
        let free = self.by_last_use.iter().filter(|(_, hand)| is_free(hand));
        let gone: Vec<(u64, HandId)> = free.take(surplus).map(|(u, h)| (*u, *h)).collect();
        for (used, hand) in gone {
            self.by_last_use.remove(&used);
            self.by_hand.remove(&hand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand(byte: u8) -> HandId {
        HandId([byte; 16])
    }

    #[test]
    fn a_hand_has_one_place_for_as_long_as_somebody_holds_it() {
        let cache = Cache::new(2);
        let held = cache.slot(hand(1));
        for other in 2..50 {
            drop(cache.slot(hand(other)));
        }
        assert!(Arc::ptr_eq(&held, &cache.slot(hand(1))));
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn the_longest_unused_goes_first() {
        let cache = Cache::new(2);
        let first = Arc::as_ptr(&cache.slot(hand(1)));
        let second = Arc::downgrade(&cache.slot(hand(2)));
        assert_eq!(Arc::as_ptr(&cache.slot(hand(1))), first);
        drop(cache.slot(hand(3)));
        assert_eq!(second.strong_count(), 0);
        assert_eq!(Arc::as_ptr(&cache.slot(hand(1))), first);
    }
}
