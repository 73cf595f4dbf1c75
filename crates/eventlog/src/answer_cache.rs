//! Cache of answered requests, so that most new requests need no query to the store.
//!
//! Keys of ids with a time up to the present are cached: the greatest ones, up to a capacity, and
//! **the floor**, the greatest key that was dropped. Every answered key above the floor is cached,
//! so a key above the floor that is not cached is new. For a key at or below the floor only the
//! store knows. A new UUIDv7 is practically always above it, and so is an id that a service
//! derives with the time of what is going on.
//!
//! An id from the future, or without a time, is never cached, so that a caller cannot fill the
//! cache with such ids; the store knows it. The ids of hands are such ids, since their times are
//! random. Callers at the edge refuse ids from the future, which would be taken for new once their
//! time has come. A cache of the last used, such as crate `lru`, has no floor.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use primitives::UnixMicros;

use crate::event::AnsweredRequest;
use crate::key::RequestKey;

/// Furthest time that an id may be ahead of this clock to be cached. Longer than the bound for
/// people's ids.
const MAX_AHEAD: Duration = Duration::from_mins(2);

/// Result of a lookup in the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestLookup {
    /// The request was not answered.
    Fresh,
    /// The request was answered.
    Answered(AnsweredRequest),
    /// Only the store knows.
    Unknown,
}

pub(crate) struct AnswerCache {
    timed: GreatestKeys,
}

impl AnswerCache {
    /// Cache of `capacity` keys.
    pub(crate) const fn new(capacity: usize) -> AnswerCache {
        AnswerCache { timed: GreatestKeys::new(capacity) }
    }

    pub(crate) fn lookup(&self, key: RequestKey, now: UnixMicros) -> RequestLookup {
        if is_cached(key, now) { self.timed.lookup(key) } else { RequestLookup::Unknown }
    }

    pub(crate) fn put(&mut self, stored: &AnsweredRequest, now: UnixMicros) {
        if is_cached(stored.key, now) {
            self.timed.put(stored);
        }
    }

    /// Range of the keys that are cached, with their cache.
    pub(crate) fn range(&mut self, now: UnixMicros) -> (Range<RequestKey>, &mut GreatestKeys) {
        (RequestKey::timed_until(horizon(now)), &mut self.timed)
    }
}

/// Whether a key has a time, and not one of the future.
fn is_cached(key: RequestKey, now: UnixMicros) -> bool {
    key.time().is_some_and(|at| at <= horizon(now))
}

/// Latest time of an id that is cached.
fn horizon(now: UnixMicros) -> UnixMicros {
    now.plus(MAX_AHEAD)
}

/// Cache of the greatest keys.
pub(crate) struct GreatestKeys {
    by_key: BTreeMap<RequestKey, AnsweredRequest>,
    /// Greatest key that was dropped.
    floor: Option<RequestKey>,
    capacity: usize,
}

impl GreatestKeys {
    const fn new(capacity: usize) -> GreatestKeys {
        GreatestKeys { by_key: BTreeMap::new(), floor: None, capacity }
    }

    fn lookup(&self, key: RequestKey) -> RequestLookup {
        match self.by_key.get(&key) {
            Some(stored) => RequestLookup::Answered(stored.clone()),
            None if self.floor.is_none_or(|floor| floor < key) => RequestLookup::Fresh,
            None => RequestLookup::Unknown,
        }
    }

    pub(crate) fn put(&mut self, stored: &AnsweredRequest) {
        if self.floor.is_some_and(|floor| stored.key <= floor) {
            return;
        }
        self.by_key.insert(stored.key, stored.clone());
        if self.by_key.len() > self.capacity {
            self.floor = self.by_key.pop_first().map(|(least, _)| least);
        }
    }

    /// Whether a key below the cached ones would be dropped at once.
    pub(crate) const fn is_full(&self) -> bool {
        self.floor.is_some()
    }
}

#[cfg(test)]
mod tests {
    use primitives::RequestId;

    use super::*;
    use eventlog_core::Position;

    const NOW: u64 = 0x019a_0000_0000;

    fn at(millis: u64) -> UnixMicros {
        UnixMicros(millis * 1000)
    }

    /// Key of a UUIDv7 that is `after` milliseconds after `NOW`.
    fn key(after: u64) -> RequestKey {
        let mut id = [1; 16];
        id[..6].copy_from_slice(&(NOW + after).to_be_bytes()[2..]);
        (id[6], id[8]) = (0x70, 0x80);
        RequestKey::new("player:a", RequestId(id))
    }

    fn stored(key: RequestKey) -> AnsweredRequest {
        AnsweredRequest { key, digest: [1; 32], first: Position(1), answer: vec![1].into() }
    }

    fn known(answered: &AnswerCache) -> [RequestLookup; 6] {
        [1, 2, 3, 4, 5, 6].map(|n| answered.lookup(key(n), at(NOW)))
    }

    #[test]
    fn the_least_is_forgotten_and_the_floor_rises_to_it() {
        use RequestLookup::{Fresh, Unknown};
        let is = |n| RequestLookup::Answered(stored(key(n)));
        let mut answered = AnswerCache::new(2);
        let put = |answered: &mut AnswerCache, n| answered.put(&stored(key(n)), at(NOW));
        assert_eq!(known(&answered), [Fresh, Fresh, Fresh, Fresh, Fresh, Fresh]);
        put(&mut answered, 2);
        put(&mut answered, 5);
        assert_eq!(known(&answered), [Fresh, is(2), Fresh, Fresh, is(5), Fresh]);
        assert!(!answered.timed.is_full());
        put(&mut answered, 4);
        assert_eq!(known(&answered), [Unknown, Unknown, Fresh, is(4), is(5), Fresh]);
        assert!(answered.timed.is_full());
        // A key below the floor is not cached; one just above it is dropped next.
        put(&mut answered, 1);
        put(&mut answered, 3);
        assert_eq!(known(&answered), [Unknown, Unknown, Unknown, is(4), is(5), Fresh]);
    }

    #[test]
    fn nothing_is_remembered_where_there_is_no_room() {
        let mut answered = AnswerCache::new(0);
        answered.put(&stored(key(3)), at(NOW));
        assert_eq!(
            known(&answered)[1..4],
            [RequestLookup::Unknown, RequestLookup::Unknown, RequestLookup::Fresh]
        );
    }

    #[test]
    fn chosen_ids_take_nobodys_place() {
        const HOUR: u64 = 3_600_000;
        let mut answered = AnswerCache::new(100);
        answered.put(&stored(key(1)), at(NOW));
        for n in 0..5000_u32 {
            let mut odd = [0xff; 16];
            odd[..4].copy_from_slice(&n.to_be_bytes());
            answered.put(&stored(RequestKey::new("player:b", RequestId(odd))), at(NOW));
            answered.put(&stored(key(HOUR + u64::from(n))), at(NOW));
        }
        assert_eq!(answered.lookup(key(1), at(NOW)), RequestLookup::Answered(stored(key(1))));
        assert_eq!(answered.lookup(key(2), at(NOW)), RequestLookup::Fresh);
        assert_eq!(answered.lookup(key(HOUR + 4999), at(NOW)), RequestLookup::Unknown);
    }

    /// Key of an id that a service derives with a time `after` milliseconds after `NOW`.
    fn derived(after: u64) -> RequestKey {
        RequestKey::new("service:table", RequestId::derived(at(NOW + after), [1; 16]))
    }

    #[test]
    fn what_services_derive_is_remembered_among_the_rest() {
        let mut answered = AnswerCache::new(3);
        for key in [key(1), derived(2), key(3)] {
            answered.put(&stored(key), at(NOW));
            assert_eq!(answered.lookup(key, at(NOW)), RequestLookup::Answered(stored(key)));
        }
        assert_eq!(answered.lookup(derived(1), at(NOW)), RequestLookup::Fresh);
        answered.put(&stored(derived(4)), at(NOW));
        assert!(answered.timed.is_full());
        assert_eq!(answered.lookup(derived(0), at(NOW)), RequestLookup::Unknown);
        let kept = derived(2);
        assert_eq!(answered.lookup(kept, at(NOW)), RequestLookup::Answered(stored(kept)));
        assert_eq!(answered.lookup(derived(3), at(NOW)), RequestLookup::Fresh);
    }

    /// Ids of hands, and of services without a time.
    #[test]
    fn ids_whose_bits_are_random_are_left_to_the_store() {
        let mut answered = AnswerCache::new(100);
        answered.put(&stored(key(1)), at(NOW));
        let random = |n: u8| {
            let mut hand = [n; 16];
            (hand[6], hand[8]) = (0x80, 0x80);
            RequestKey::new("service:table", RequestId(hand))
        };
        // Of a time before any id was made, and of times far ahead.
        for n in [0, 0x80, 0xff] {
            assert_eq!(answered.lookup(random(n), at(NOW)), RequestLookup::Unknown, "{n}");
            answered.put(&stored(random(n)), at(NOW));
            assert_eq!(answered.lookup(random(n), at(NOW)), RequestLookup::Unknown, "{n}");
        }
        assert_eq!(random(0x01).time(), Some(at(0x0101_0101_0101)));
        answered.put(&stored(random(0x01)), at(NOW));
        let by_chance = RequestLookup::Answered(stored(random(0x01)));
        assert_eq!(answered.lookup(random(0x01), at(NOW)), by_chance, "one of a time that is past");
        assert_eq!(answered.lookup(key(1), at(NOW)), RequestLookup::Answered(stored(key(1))));
        assert_eq!(answered.lookup(key(2), at(NOW)), RequestLookup::Fresh);
    }
}
