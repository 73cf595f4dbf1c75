//! Bounded cache of stream heads: the last version of a stream and the hash of its last record. The
//! least recently used stream is dropped and looked up in the store when it is needed again. Only
//! committed heads are cached.

use std::collections::BTreeMap;

use primitives::StreamId;

use eventlog_core::record::chain_hash;
use eventlog_core::{Event, Version};

/// End of a stream. The default is that of a stream without events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Head {
    pub(crate) version: Version,
    /// SHA-256 of the last leaf record; zeros if there is none.
    pub(crate) hash: [u8; 32],
}

impl Head {
    pub(crate) fn of(last: &Event) -> Head {
        Head { version: last.version, hash: chain_hash(&last.record()) }
    }
}

pub(crate) struct Heads {
    known: BTreeMap<StreamId, (Head, u64)>,
    /// Streams by the time of their last use.
    by_use: BTreeMap<u64, StreamId>,
    uses: u64,
    capacity: usize,
}

impl Heads {
    pub(crate) const fn new(capacity: usize) -> Heads {
        Heads { known: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0, capacity }
    }

    pub(crate) fn knows(&self, stream: StreamId) -> bool {
        self.known.contains_key(&stream)
    }

    pub(crate) fn get(&mut self, stream: StreamId) -> Option<Head> {
        let head = self.known.get(&stream)?.0;
        self.put(stream, head);
        Some(head)
    }

    pub(crate) fn put(&mut self, stream: StreamId, head: Head) {
        self.uses += 1;
        if let Some((_, used)) = self.known.insert(stream, (head, self.uses)) {
            self.by_use.remove(&used);
        }
        self.by_use.insert(self.uses, stream);
        while self.known.len() > self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(version: u64) -> Head {
        Head { version: Version(version), hash: [0; 32] }
    }

    #[test]
    fn the_longest_unused_is_forgotten() {
        let [a, b, c] = [1, 2, 3].map(|n| StreamId([n; 16]));
        let mut heads = Heads::new(2);
        heads.put(a, head(1));
        heads.put(b, head(1));
        heads.put(a, head(2));
        heads.put(c, head(1));
        assert_eq!(heads.get(b), None);
        assert_eq!(heads.get(a), Some(head(2)));
        heads.put(b, head(3));
        assert_eq!(heads.get(c), None);
        assert_eq!(heads.by_use.len(), heads.known.len());
    }
}
