//! One log as its leaf records show it: positions and times in order, one unbroken chain a stream.

use std::collections::BTreeMap;

use merkle::Tree;
use merkle::record::{LeafRecord, chain_hash};
use primitives::StreamId;

use super::violation::ViolationKind;

/// State of one log.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    tree: Tree,
    heads: BTreeMap<StreamId, Head>,
    /// Time of the last record, Unix microseconds.
    newest: u64,
}

/// Last record of a stream.
#[derive(Debug, Clone, Copy)]
struct Head {
    version: u64,
    position: u64,
    hash: [u8; 32],
}

impl Chain {
    pub(super) const fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// It does not follow from those before.
    pub(super) fn push(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let due = self.tree.size();
        if record.position != due {
            return Err(ViolationKind::Position { found: record.position });
        }
        if record.recorded_at < self.newest {
            return Err(ViolationKind::Time);
        }
        let stream = StreamId(record.stream);
        self.check_stream(stream, record)?;
        let bytes = record.to_bytes();
        self.tree.push(&bytes);
        self.newest = record.recorded_at;
        let head = Head { version: record.version, position: due, hash: chain_hash(&bytes) };
        self.heads.insert(stream, head);
        Ok(())
    }

    fn check_stream(&self, stream: StreamId, record: &LeafRecord) -> Result<(), ViolationKind> {
        let before = self.heads.get(&stream);
        let due = before.map_or(1, |head| head.version.saturating_add(1));
        let earlier = before.map(|head| head.position);
        let found = record.version;
        if found != due {
            return Err(ViolationKind::Version { stream, due, found, earlier });
        }
        if record.previous != before.map_or([0; 32], |head| head.hash) {
            return Err(ViolationKind::Chain { stream, version: due, earlier });
        }
        Ok(())
    }
}
