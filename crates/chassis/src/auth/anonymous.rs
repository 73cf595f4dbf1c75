//! Callers without a token: watchers are bounded in number, by address and in all, so that they
//! cannot take the streams of players.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::serve::{OpenCounter, OpenPermit};

/// Bounds on the open streams without a token.
pub(super) struct AnonymousStreams {
    by_address: Arc<OpenCounter>,
    all: Arc<Semaphore>,
}

/// Permit of one open stream without a token.
pub(super) struct AnonymousPermit {
    _address: Option<OpenPermit>,
    _all: OwnedSemaphorePermit,
}

impl AnonymousStreams {
    pub(super) fn new(limits: &Limits) -> AnonymousStreams {
        AnonymousStreams {
            by_address: OpenCounter::new(limits.address_anonymous_streams),
            all: Arc::new(Semaphore::new(
                limits.anonymous_streams.unwrap_or(Semaphore::MAX_PERMITS),
            )),
        }
    }

    /// Permit for one more stream; `None` where the address or all have as many as may be. Without
    /// an address, which is exempt, the stream counts among all.
    pub(super) fn try_acquire(&self, address: Option<IpAddr>) -> Option<AnonymousPermit> {
        let of_address = match address {
            Some(address) => Some(self.by_address.try_acquire(address)?),
            None => None,
        };
        let all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(AnonymousPermit { _address: of_address, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ARCHITECTURE.md §7.1.
    #[test]
    fn watchers_without_a_token_are_bounded_by_address_and_in_all() {
        let mut limits = Limits::public();
        (limits.address_anonymous_streams, limits.anonymous_streams) = (Some(2), Some(3));
        let streams = AnonymousStreams::new(&limits);
        let address = |last| Some(IpAddr::from([192, 0, 2, last]));
        let first = streams.try_acquire(address(1)).unwrap();
        let _second = streams.try_acquire(address(1)).unwrap();
        assert!(streams.try_acquire(address(1)).is_none(), "two of an address");
        let _third = streams.try_acquire(address(2)).unwrap();
        assert!(streams.try_acquire(address(3)).is_none(), "three in all");
        assert!(streams.try_acquire(None).is_none(), "who is exempt counts too");
        drop(first);
        assert!(streams.try_acquire(None).is_some());
    }
}
