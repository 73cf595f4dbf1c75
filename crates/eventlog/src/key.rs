//! Keys of answered requests.
//!
//! A request's id belongs to its caller: the same id of another caller is another request. A key is
//! made from both. Keys sort by kind:
//!
//! - **Timed**: a UUIDv7, and an id that a service derives, keep their Unix milliseconds in front,
//!   so that keys follow time.
//! - **Derived**: ids of services without time, such as a settlement's, which is its hand's. They
//!   share one prefix.
//! - **Odd**: other ids of people. They share the prefix of zeros, and only the store knows them.
//!
//! The next bit says whether the caller is a service. Answers to people's timed requests are
//! forgotten with the events that they caused ([`RequestKey::is_forgotten_with_events`]).
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::fmt;
use std::ops::Range;

use primitives::{RequestId, UnixMicros};

use crate::derive::hash;

/// Lowest number of milliseconds for which [`RequestId::created_at`] returns a time.
const MIN_TIMED_MILLIS: u64 = 1 << 40;
/// Time from which on a derived id counts as one without time: the year 2100. A hand's id is hash
/// bits alone, so nearly all of them are beyond it; the others are looked up in the store.
const MAX_DERIVED_TIME: UnixMicros = UnixMicros(4_102_444_800_000_000);
/// Prefix of the keys of services' ids without a time.
const DERIVED_PREFIX: [u8; 6] = [0, 0, 0, 0, 0, 1];
/// Bit of the seventh byte that marks a service's key.
const SERVICE_BIT: u8 = 0x80;
/// Prefix after all derived keys.
const AFTER_DERIVED_PREFIX: [u8; 6] = [0, 0, 0, 0, 0, 2];

/// Key of a request: one caller's use of one id. The first six bytes are its kind or its time, the
/// next bit is set for services. The rest is of the first ten bytes of the SHA-256 over caller and
/// id, so that a caller cannot find an id whose key equals another caller's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub [u8; 16]);

/// Kind of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Time at which the id says that it was made.
    Timed(UnixMicros),
    Derived,
    Other,
}

impl RequestKey {
    /// Key of `id` as used by this caller. `actor` is class and subject, such as `player:…`.
    #[must_use]
    pub fn new(actor: &str, id: RequestId) -> RequestKey {
        let is_service = actor.starts_with("service:");
        let time = match id.created_at() {
            Some(made) => Some(made),
            None => id.leading_time().filter(|at| is_service && *at < MAX_DERIVED_TIME),
        };
        let prefix = match time {
            Some(_) => prefix_of(&id.0),
            None if is_service => DERIVED_PREFIX,
            None => [0; 6],
        };
        let hash = hash("sabacc/request-key/v1", actor, &[&id.0]);
        let mut key = [0; 16];
        key[..6].copy_from_slice(&prefix);
        key[6..].copy_from_slice(&hash[..10]);
        key[6] = if is_service { key[6] | SERVICE_BIT } else { key[6] & !SERVICE_BIT };
        RequestKey(key)
    }

    /// Whether the answer is forgotten when the events that the request caused are archived: a
    /// person's id with a time, which tells by itself that it is too old.
    pub(crate) fn is_forgotten_with_events(self) -> bool {
        let is_service = self.0[6] & SERVICE_BIT != 0;
        matches!(self.kind(), Kind::Timed(_)) && !is_service
    }

    /// Keys of ids with a time, up to the millisecond of `at`.
    pub(crate) fn timed_until(at: UnixMicros) -> Range<RequestKey> {
        let from = |millis: u64| {
            let mut prefix = [0; 6];
            prefix.copy_from_slice(&millis.to_be_bytes()[2..]);
            RequestKey::first_with_prefix(prefix)
        };
        from(MIN_TIMED_MILLIS)..from((at.0 / 1000).saturating_add(1))
    }

    /// Keys of ids that services derive.
    pub(crate) const fn derived() -> Range<RequestKey> {
        RequestKey::first_with_prefix(DERIVED_PREFIX)
            ..RequestKey::first_with_prefix(AFTER_DERIVED_PREFIX)
    }

    const fn first_with_prefix([a, b, c, d, e, f]: [u8; 6]) -> RequestKey {
        RequestKey([a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    pub(crate) fn kind(self) -> Kind {
        let prefix = prefix_of(&self.0);
        if prefix == DERIVED_PREFIX {
            return Kind::Derived;
        }
        let [a, b, c, d, e, f] = prefix;
        let millis = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        if millis < MIN_TIMED_MILLIS { Kind::Other } else { Kind::Timed(UnixMicros(millis * 1000)) }
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&RequestId(self.0), f)
    }
}

fn prefix_of(bytes: &[u8; 16]) -> [u8; 6] {
    let [a, b, c, d, e, f, ..] = *bytes;
    [a, b, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 0x019a_0000_0000;

    fn v7(millis: u64, last: u8) -> RequestId {
        let mut id = [last; 16];
        id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        (id[6], id[8]) = (0x70, 0x80);
        RequestId(id)
    }

    /// ARCHITECTURE.md §2.9.
    #[test]
    fn an_id_belongs_to_its_caller() {
        for id in [v7(NOW, 1), RequestId([0x44; 16])] {
            let keys = ["player:a", "player:b", "operator:a", "service:table", "service:wallet"]
                .map(|actor| RequestKey::new(actor, id));
            let all: std::collections::BTreeSet<_> = keys.into_iter().collect();
            assert_eq!(all.len(), keys.len());
            assert_eq!(RequestKey::new("player:a", id), keys[0]);
        }
    }

    #[test]
    fn keys_of_uuid_v7_follow_time_and_stand_above_all_others() {
        let (early, late) = (v7(NOW, 0xff), v7(NOW + 1, 0));
        let key = |actor, id| RequestKey::new(actor, id);
        assert!(key("player:a", early) < key("player:z", late));
        assert_eq!(key("player:a", early).kind(), Kind::Timed(UnixMicros(NOW * 1000)));
        let until_now = RequestKey::timed_until(UnixMicros(NOW * 1000));
        assert!(until_now.contains(&key("player:a", early)));
        assert!(!until_now.contains(&key("player:z", late)));
        let timed = RequestId::derived(UnixMicros(NOW * 1000), [0xff; 16]);
        assert_eq!(key("service:table", timed).kind(), Kind::Timed(UnixMicros(NOW * 1000)));
        assert_eq!(key("player:a", timed).kind(), Kind::Other);
        let hand = RequestId([
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x8f, 0xff, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff,
        ]);
        assert_eq!(key("service:table", hand).kind(), Kind::Derived);
        let derived = key("service:table", RequestId([0xff; 16]));
        assert_eq!(derived.kind(), Kind::Derived);
        for forgotten in ["player:a", "operator:ada", "anybody"].map(|actor| key(actor, early)) {
            assert!(forgotten.is_forgotten_with_events());
        }
        let odd = key("player:a", RequestId([0xff; 16]));
        for kept in [key("service:table", early), key("service:table", timed), derived, odd] {
            assert!(!kept.is_forgotten_with_events());
        }
        assert!(RequestKey::derived().contains(&derived));
        assert!(RequestKey::derived().end < key("player:a", v7(MIN_TIMED_MILLIS, 0)));
        for odd in [RequestId([0xff; 16]), v7(1, 1), v7(MIN_TIMED_MILLIS - 1, 1)] {
            assert_eq!(key("player:a", odd).kind(), Kind::Other);
            assert_eq!(odd.created_at(), None);
        }
    }
}
