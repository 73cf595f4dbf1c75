//! Keys of answered requests.
//!
//! A request's id belongs to its caller: the same id of another caller is another request. A key is
//! made from both. There are two kinds of keys:
//!
//! - **Timed**: a UUIDv7, and a service's id of version 8, keep their Unix milliseconds in front. So
//!   keys follow time, and those of new requests stand together in an index.
//! - **Odd**: all other ids. They share the prefix of zeros, and only the store knows them.
//!
//! The id of a hand is of version 8, and the bits in front of it are random. Nearly all such keys
//! are of a time far ahead, and stand after those of present ids.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::fmt;
use std::ops::Range;

use primitives::{RequestId, UnixMicros};

use crate::derive::hash;

/// Lowest number of milliseconds for which [`RequestId::leading_time`] returns a time.
const MIN_TIMED_MILLIS: u64 = 1 << 40;

/// Key of a request: one caller's use of one id. The first six bytes are its time, or zeros. The
/// rest is the first ten bytes of the SHA-256 over caller and id, so that a caller cannot find an
/// id whose key equals another caller's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub [u8; 16]);

impl RequestKey {
    /// Key of `id` as used by this caller. `actor` is class and subject, such as `player:…`.
    #[must_use]
    pub fn new(actor: &str, id: RequestId) -> RequestKey {
        let is_service = actor.starts_with("service:");
        let time = if is_service { id.leading_time() } else { id.created_at() };
        let prefix = time.map_or([0; 6], |_| prefix_of(&id.0));
        let hash = hash("sabacc/request-key/v1", actor, &[&id.0]);
        let mut key = [0; 16];
        key[..6].copy_from_slice(&prefix);
        key[6..].copy_from_slice(&hash[..10]);
        RequestKey(key)
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

    const fn first_with_prefix([a, b, c, d, e, f]: [u8; 6]) -> RequestKey {
        RequestKey([a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Time in front of the id; `None` for an odd one.
    pub(crate) fn time(self) -> Option<UnixMicros> {
        let [a, b, c, d, e, f] = prefix_of(&self.0);
        let millis = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        (millis >= MIN_TIMED_MILLIS).then_some(UnixMicros(millis * 1000))
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

    fn derived(millis: u64, hash: u8) -> RequestId {
        RequestId::derived(UnixMicros(millis * 1000), [hash; 16])
    }

    #[test]
    fn keys_follow_time_and_stand_above_all_odd_ones() {
        let until_now = RequestKey::timed_until(UnixMicros(NOW * 1000));
        let player = |id| RequestKey::new("player:a", id);
        let service = |id| RequestKey::new("service:table", id);
        let early = [player(v7(NOW, 0xff)), service(v7(NOW, 0xff)), service(derived(NOW, 0xff))];
        let late = [player(v7(NOW + 1, 0)), service(v7(NOW + 1, 0)), service(derived(NOW + 1, 0))];
        for (early, late) in early.iter().flat_map(|early| late.map(|late| (*early, late))) {
            assert!(early < late);
            assert_eq!(early.time(), Some(UnixMicros(NOW * 1000)));
            assert!(until_now.contains(&early) && !until_now.contains(&late));
        }
        // Version 8 is for services: another caller's has no time.
        let odd = [RequestId([0xff; 16]), v7(1, 1), v7(MIN_TIMED_MILLIS - 1, 1), derived(NOW, 1)];
        let odd = odd.map(player).into_iter();
        for odd in odd.chain([RequestId([0xff; 16]), derived(0, 1)].map(service)) {
            assert_eq!(odd.time(), None);
            assert!(odd < until_now.start);
        }
    }
}
