//! Cache of answered requests, so that most new requests need no query to the store.
//!
//! Keys of UUIDv7 request ids up to the present, and keys of ids that services derive, are cached
//! separately: the greatest ones, up to a capacity, and **the floor**, the greatest key that was
//! dropped, or whose answer was removed from the store with its events. Every answered key above the floor is cached, so a key above the floor that is not
//! cached is new. For a key at or below the floor only the store knows. A new UUIDv7 is
//! practically always above it.
//!
//! An id from the future, or without a time, is never cached, so that a caller cannot fill the
//! cache with such ids; the store knows it. Callers at the edge refuse ids from the future, which
//! would be taken for new once their time has come. A cache of the last used, such as crate `lru`,
//! has no floor.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use primitives::UnixMicros;

use crate::event::AnsweredRequest;
use crate::key::{Kind, RequestKey};

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
    derived: GreatestKeys,
}

impl AnswerCache {
    /// Cache of `capacity` timed keys and `capacity` derived keys.
    pub(crate) fn new(capacity: usize) -> AnswerCache {
        AnswerCache { timed: GreatestKeys::new(capacity), derived: GreatestKeys::new(capacity) }
    }

    pub(crate) fn lookup(&self, key: RequestKey, now: UnixMicros) -> RequestLookup {
        match key.kind() {
            Kind::Timed(at) if at > horizon(now) => RequestLookup::Unknown,
            Kind::Timed(_) => self.timed.lookup(key),
            Kind::Derived => self.derived.lookup(key),
            Kind::Other => RequestLookup::Unknown,
        }
    }

    pub(crate) fn put(&mut self, stored: &AnsweredRequest, now: UnixMicros) {
        match stored.key.kind() {
            Kind::Timed(at) if at > horizon(now) => {}
            Kind::Timed(_) => self.timed.put(stored.key, Some(stored)),
            Kind::Derived => self.derived.put(stored.key, Some(stored)),
            Kind::Other => {}
        }
    }

    /// Makes this cache leave all timed keys up to `forgotten` that it does not have to the store.
    pub(crate) fn raise_floor(&mut self, forgotten: RequestKey) {
        self.timed.floor = self.timed.floor.max(Some(forgotten));
    }

    /// Ranges of keys that are cached, each with its cache.
    pub(crate) fn ranges(
        &mut self,
        now: UnixMicros,
    ) -> [(Range<RequestKey>, &mut GreatestKeys); 2] {
        let timed = RequestKey::timed_until(horizon(now));
        [(timed, &mut self.timed), (RequestKey::derived(), &mut self.derived)]
    }
}

/// Latest time of an id that is cached.
fn horizon(now: UnixMicros) -> UnixMicros {
    now.plus(MAX_AHEAD)
}

/// Cache of the greatest keys of one kind.
pub(crate) struct GreatestKeys {
    /// `None` for a key that was answered before the log was opened: the store is asked for the
    /// answer, which is compared with its event.
    by_key: BTreeMap<RequestKey, Option<AnsweredRequest>>,
    /// Greatest key that was dropped, or whose answer the store has removed.
    floor: Option<RequestKey>,
    capacity: usize,
}

impl GreatestKeys {
    const fn new(capacity: usize) -> GreatestKeys {
        GreatestKeys { by_key: BTreeMap::new(), floor: None, capacity }
    }

    fn lookup(&self, key: RequestKey) -> RequestLookup {
        match self.by_key.get(&key) {
            Some(Some(stored)) => RequestLookup::Answered(stored.clone()),
            Some(None) => RequestLookup::Unknown,
            None if self.floor.is_none_or(|floor| floor < key) => RequestLookup::Fresh,
            None => RequestLookup::Unknown,
        }
    }

    pub(crate) fn put(&mut self, key: RequestKey, stored: Option<&AnsweredRequest>) {
        if self.floor.is_some_and(|floor| key <= floor) {
            return;
        }
        self.by_key.insert(key, stored.cloned());
        if self.by_key.len() > self.capacity {
            let dropped = self.by_key.pop_first().map(|(least, _)| least);
            // What is cached may lie below what the store has removed.
            self.floor = self.floor.max(dropped);
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
        AnsweredRequest { key, tag: Some([1; 16]), first: Position(1), answer: vec![1].into() }
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

    /// ARCHITECTURE.md §2.9.
    #[test]
    fn a_floor_that_was_raised_never_falls() {
        let mut answered = AnswerCache::new(2);
        for n in [1, 3] {
            answered.put(&stored(key(n)), at(NOW));
        }
        answered.raise_floor(key(5));
        for n in [6, 7, 8] {
            assert_eq!(answered.lookup(key(4), at(NOW)), RequestLookup::Unknown);
            answered.put(&stored(key(n)), at(NOW));
        }
        for forgotten in [2, 4, 5] {
            assert_eq!(answered.lookup(key(forgotten), at(NOW)), RequestLookup::Unknown);
        }
        assert_eq!(answered.lookup(key(9), at(NOW)), RequestLookup::Fresh);
    }

    #[test]
    fn the_answer_to_a_loaded_key_is_asked_for() {
        let mut answered = AnswerCache::new(2);
        answered.timed.put(key(1), None);
        assert_eq!(answered.lookup(key(1), at(NOW)), RequestLookup::Unknown);
        answered.put(&stored(key(1)), at(NOW));
        assert_eq!(answered.lookup(key(1), at(NOW)), RequestLookup::Answered(stored(key(1))));
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

    #[test]
    fn what_services_derive_is_remembered_apart() {
        let derived = |n| RequestKey::new("service:table", RequestId([n; 16]));
        let mut answered = AnswerCache::new(2);
        answered.put(&stored(key(1)), at(NOW));
        for n in [0x80, 0x90] {
            answered.put(&stored(derived(n)), at(NOW));
            assert_eq!(
                answered.lookup(derived(n), at(NOW)),
                RequestLookup::Answered(stored(derived(n)))
            );
        }
        assert_eq!(answered.lookup(derived(0xa0), at(NOW)), RequestLookup::Fresh);
        answered.put(&stored(derived(0xb0)), at(NOW));
        assert!(answered.derived.is_full() && !answered.timed.is_full());
    }
}
