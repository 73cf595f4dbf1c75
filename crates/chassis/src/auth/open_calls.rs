//! Calls and streams that each player has open, over all their connections.
//!
//! The limits of `tower` are of a service and not of a key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts open calls and streams per player. Forgets players who have none open.
#[derive(Debug)]
pub(super) struct OpenCalls {
    max_calls: usize,
    max_streams: usize,
    by_player: Mutex<BTreeMap<String, OpenCount>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct OpenCount {
    all: usize,
    streams: usize,
}

/// Permit of one open call or stream. Gives it back when dropped.
#[derive(Debug)]
pub(super) struct Permit {
    player: String,
    stream: bool,
    open_calls: Arc<OpenCalls>,
}

impl OpenCalls {
    /// Limits on calls and on streams; `None` means no limit.
    pub(super) fn new(most: Option<usize>, most_streams: Option<usize>) -> OpenCalls {
        let unbounded = |bound: Option<usize>| bound.unwrap_or(usize::MAX);
        OpenCalls {
            max_calls: unbounded(most),
            max_streams: unbounded(most_streams),
            by_player: Mutex::default(),
        }
    }

    /// Permit for one more call, or `None` if the player has reached a limit.
    pub(super) fn try_acquire(self: &Arc<OpenCalls>, player: &str, stream: bool) -> Option<Permit> {
        let mut open = self.by_player.lock().unwrap_or_else(PoisonError::into_inner);
        let OpenCount { all, streams } = open.get(player).copied().unwrap_or_default();
        if all >= self.max_calls || (stream && streams >= self.max_streams) {
            return None;
        }
        let count = OpenCount { all: all + 1, streams: streams + usize::from(stream) };
        open.insert(player.to_owned(), count);
        drop(open);
        Some(Permit { player: player.to_owned(), stream, open_calls: Arc::clone(self) })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.open_calls.by_player.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.player) {
            count.all = count.all.saturating_sub(1);
            count.streams = count.streams.saturating_sub(usize::from(self.stream));
            if count.all == 0 {
                open.remove(&self.player);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_streams_count_together_and_streams_by_themselves_too() {
        let open = Arc::new(OpenCalls::new(Some(3), Some(2)));
        let (first, second) =
            (open.try_acquire("ann", true).unwrap(), open.try_acquire("ann", true).unwrap());
        assert!(open.try_acquire("ann", true).is_none(), "two streams");
        let third = open.try_acquire("ann", false).unwrap();
        assert!(open.try_acquire("ann", false).is_none(), "three in all");
        assert!(open.try_acquire("bob", true).is_some(), "another's are their own");
        drop(first);
        assert!(open.try_acquire("ann", true).is_some());
        drop((second, third));
        assert!(open.by_player.lock().unwrap().is_empty());
    }
}
