//! Bounds on the request ids that people may send.
//!
//! A service knows recent UUIDv7 request ids from memory. An older id, or one of another kind, has
//! to be looked up in its database. So such lookups are limited to one a second per player. A
//! UUIDv7 from the future is refused: it would be forgotten before its time and then be taken for a
//! new one. Ids of version 8 are derived by services ([`RequestId::derived`]), and only services
//! may send them.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::num::NonZeroU32;
use std::time::Duration;

use primitives::{RequestId, UnixMicros};
use tokio::time::Instant;

use crate::rate_limiter::RateLimiter;

/// Oldest age of a UUIDv7 that is known from memory. A call is repeated within minutes.
const MAX_AGE: Duration = Duration::from_mins(10);
/// Furthest time that a UUIDv7 may be ahead of this clock. A clock that is off by more makes tokens
/// invalid first.
const MAX_AHEAD: Duration = Duration::from_mins(1);

/// Name of callers without a token in records. They are bounded together.
pub const ANYBODY: &str = "anybody";

/// Reason why an id is not admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inadmissible {
    /// The id is derived, and only services may send it.
    Derived,
    /// The id was made this far in the future.
    Ahead(Duration),
    /// The player sent too many ids that need a lookup. They have to wait this long.
    TooManyLookups(Duration),
}

/// Rate limiter of ids that need a lookup, by player. `actor` is class and subject, such as
/// `player:…`.
#[derive(Debug)]
pub struct RequestIdPolicy {
    lookups: RateLimiter<String>,
}

impl Default for RequestIdPolicy {
    fn default() -> RequestIdPolicy {
        RequestIdPolicy { lookups: RateLimiter::new(NonZeroU32::MIN) }
    }
}

impl RequestIdPolicy {
    /// Admits an id. Services' ids are always admitted.
    ///
    /// # Errors
    /// See [`Inadmissible`].
    pub fn admit(&self, actor: &str, id: RequestId, now: UnixMicros) -> Result<(), Inadmissible> {
        if actor.starts_with("service:") {
            return Ok(());
        }
        if id.is_derived() {
            return Err(Inadmissible::Derived);
        }
        let made_at = id.created_at();
        if let Some(at) = made_at.filter(|at| *at > now.plus(MAX_AHEAD)) {
            return Err(Inadmissible::Ahead(at.since(now)));
        }
        let is_bounded = actor.starts_with("player:") || actor == ANYBODY;
        if !is_bounded || made_at.is_some_and(|at| now <= at.plus(MAX_AGE)) {
            return Ok(());
        }
        self.lookups.take(actor, 1, Instant::now()).map_err(Inadmissible::TooManyLookups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMicros = UnixMicros(1_780_000_000_000_000);

    fn v7(millis: u64, tail: u8) -> RequestId {
        let mut id = [tail; 16];
        id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        (id[6], id[8]) = (0x70, 0x80);
        RequestId(id)
    }

    /// ARCHITECTURE.md §2.9.
    #[tokio::test(start_paused = true)]
    async fn an_odd_id_is_looked_up_once_a_second_a_player() {
        let ids = RequestIdPolicy::default();
        let (one, two) = ("player:a", "player:b");
        let now = NOW.0 / 1000;
        let hour = 3_600_000;
        for n in 0..100 {
            assert_eq!(ids.admit(one, v7(now - 500_000, n), NOW), Ok(()));
            assert_eq!(ids.admit(one, v7(now + 50_000, n), NOW), Ok(()));
        }
        let odd = [v7(now - hour, 1), RequestId([0x44; 16]), v7(1, 1)];
        for id in odd {
            assert_eq!(ids.admit(one, id, NOW), Ok(()));
            let refused = ids.admit(one, id, NOW);
            assert!(matches!(refused, Err(Inadmissible::TooManyLookups(_))), "{refused:?}");
            assert_eq!(ids.admit(two, id, NOW), Ok(()), "others are not charged");
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }

    /// ARCHITECTURE.md §2.9.
    #[tokio::test]
    async fn ids_of_the_future_are_refused() {
        let (ids, second) = (RequestIdPolicy::default(), Duration::from_secs(1));
        let ahead = v7(NOW.0 / 1000 + 61_000, 1);
        for actor in ["player:a", "operator:ada"] {
            assert_eq!(ids.admit(actor, ahead, NOW), Err(Inadmissible::Ahead(second * 61)));
        }
        assert_eq!(ids.admit("service:table", ahead, NOW), Ok(()));
    }

    /// ARCHITECTURE.md §2.9.
    #[tokio::test]
    async fn derived_ids_are_for_services() {
        let ids = RequestIdPolicy::default();
        let derived = RequestId::derived(NOW, [7; 16]);
        for actor in ["player:a", "operator:ada"] {
            assert_eq!(ids.admit(actor, derived, NOW), Err(Inadmissible::Derived));
        }
        assert_eq!(ids.admit("service:table", derived, NOW), Ok(()));
    }
}
