//! Calls and streams that each player has open, over all their connections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts open calls and streams per player. Forgets players who have none open.
#[derive(Debug)]
pub(super) struct OpenCalls {
    most: usize,
    most_streams: usize,
    open: Mutex<BTreeMap<String, Count>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    all: usize,
    streams: usize,
}

/// Permit of one open call or stream. Gives it back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    player: String,
    stream: bool,
    of: Arc<OpenCalls>,
}

impl OpenCalls {
    /// Limits on calls and on streams; `None` means no limit.
    pub(super) fn new(most: Option<usize>, most_streams: Option<usize>) -> OpenCalls {
        let unbounded = |bound: Option<usize>| bound.unwrap_or(usize::MAX);
        OpenCalls {
            most: unbounded(most),
            most_streams: unbounded(most_streams),
            open: Mutex::default(),
        }
    }

    /// Permit for one more call, or `None` if the player has reached a limit.
    pub(super) fn enter(self: &Arc<OpenCalls>, player: &str, stream: bool) -> Option<Place> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Count { all, streams } = open.get(player).copied().unwrap_or_default();
        if all >= self.most || (stream && streams >= self.most_streams) {
            return None;
        }
        let count = Count { all: all + 1, streams: streams + usize::from(stream) };
        open.insert(player.to_owned(), count);
        drop(open);
        Some(Place { player: player.to_owned(), stream, of: Arc::clone(self) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.of.open.lock().unwrap_or_else(PoisonError::into_inner);
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
        let (first, second) = (open.enter("ann", true).unwrap(), open.enter("ann", true).unwrap());
        assert!(open.enter("ann", true).is_none(), "two streams");
        let third = open.enter("ann", false).unwrap();
        assert!(open.enter("ann", false).is_none(), "three in all");
        assert!(open.enter("bob", true).is_some(), "another's are their own");
        drop(first);
        assert!(open.enter("ann", true).is_some());
        drop((second, third));
        assert!(open.open.lock().unwrap().is_empty());
    }
}
