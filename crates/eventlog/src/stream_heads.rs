//! Bounded cache of stream heads: the last version of a stream and the hash of its last record. The
//! least recently used stream is dropped and looked up in the store when it is needed again. Only
//! committed heads are cached.
//!
//! Two ordered maps: crate `lru` would add a hash map and unsafe code, and save a dozen lines.

use std::collections::BTreeMap;

use primitives::StreamId;

use eventlog_core::record::chain_hash;
use eventlog_core::{Event, Version};

use crate::event::StreamEnd;

/// End of a stream. The default is that of a stream without events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct StreamHead {
    pub(crate) version: Version,
    /// SHA-256 of the last leaf record; zeros if there is none.
    pub(crate) hash: [u8; 32],
}

impl StreamHead {
    pub(crate) fn from_last_event(last: &Event) -> StreamHead {
        StreamHead { version: last.version, hash: chain_hash(&last.record()) }
    }

    pub(crate) fn from_end(end: &StreamEnd) -> StreamHead {
        StreamHead { version: end.version(), hash: chain_hash(&end.record()) }
    }
}

pub(crate) struct StreamHeads {
    by_stream: BTreeMap<StreamId, (StreamHead, u64)>,
    /// Streams by the time of their last use.
    by_use: BTreeMap<u64, StreamId>,
    uses: u64,
    capacity: usize,
}

impl StreamHeads {
    pub(crate) const fn new(capacity: usize) -> StreamHeads {
        StreamHeads { by_stream: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0, capacity }
    }

    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.by_stream.contains_key(&stream)
    }

    pub(crate) fn get(&mut self, stream: StreamId) -> Option<StreamHead> {
        let head = self.by_stream.get(&stream)?.0;
        self.put(stream, head);
        Some(head)
    }

    pub(crate) fn put(&mut self, stream: StreamId, head: StreamHead) {
        self.uses += 1;
        if let Some((_, used)) = self.by_stream.insert(stream, (head, self.uses)) {
            self.by_use.remove(&used);
        }
        self.by_use.insert(self.uses, stream);
        while self.by_stream.len() > self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.by_stream.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(version: u64) -> StreamHead {
        StreamHead { version: Version(version), hash: [0; 32] }
    }

    #[test]
    fn the_longest_unused_is_forgotten() {
        let [a, b, c] = [1, 2, 3].map(|n| StreamId([n; 16]));
        let mut heads = StreamHeads::new(2);
        heads.put(a, head(1));
        heads.put(b, head(1));
        heads.put(a, head(2));
        heads.put(c, head(1));
        assert_eq!(heads.get(b), None);
        assert_eq!(heads.get(a), Some(head(2)));
        heads.put(b, head(3));
        assert_eq!(heads.get(c), None);
        assert_eq!(heads.by_use.len(), heads.by_stream.len());
    }
}
