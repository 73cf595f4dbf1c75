//! Roots and proofs of a log that is too long to be hashed again for each of them: computed from
//! the hashes of its full subtrees, which a [`Nodes`] looks up.
//!
//! Every hash in a proof stands for a range of records, and a range consists of full subtrees, the
//! largest first. So a source of hashes needs to know full subtrees alone; they never change while
//! the log grows. There are two sources: [`Leaves`] keeps all of them in memory, [`crate::Tiles`]
//! finds them in tiles.

use std::ops::Range;

use crate::hash::{Hash, empty_root, node_hash};

/// A full subtree over the 2^level records from `index` * 2^level on. At level 0 its hash is a leaf
/// hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Node {
    pub level: u8,
    pub index: u64,
}

/// Source of the hashes of full subtrees.
pub trait Nodes {
    /// Returns the hash of a subtree, or `None` if the subtree is not full or its hash is not
    /// available.
    fn node(&self, node: Node) -> Option<Hash>;
}

/// Error of a root or proof that cannot be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    #[error("record {index} is not among the {size} records of the tree")]
    Index { index: u64, size: u64 },
    #[error("record {index} does not stand after the one before it")]
    NotAscending { index: u64 },
    #[error("the older tree has {old} records, more than the newer with {new}")]
    Shrunk { old: u64, new: u64 },
    #[error("the hash of subtree {} of level {} is not there", .0.index, .0.level)]
    Missing(Node),
    #[error("a bundle holds records, which are not made of hashes")]
    Entries,
}

/// Returns the root of the first `size` records.
pub fn root_at(nodes: &impl Nodes, size: u64) -> Result<Hash, BuildError> {
    hash_of(nodes, &(0..size))
}

/// Returns the inclusion proof of a record in the tree of the first `size` records: the siblings of
/// the path from the leaf to the root, the lowest first. Equals [`crate::inclusion_proof`].
pub fn prove_inclusion(nodes: &impl Nodes, index: u64, size: u64) -> Result<Vec<Hash>, BuildError> {
    inclusion_ranges(index, size)?.iter().map(|range| hash_of(nodes, range)).collect()
}

/// Returns the proof that the first `old` records are the beginning of the first `new`. Equals
/// [`crate::consistency_proof`].
pub fn prove_consistency(nodes: &impl Nodes, old: u64, new: u64) -> Result<Vec<Hash>, BuildError> {
    consistency_ranges(old, new)?.iter().map(|range| hash_of(nodes, range)).collect()
}

/// Returns the range of records behind each hash of an inclusion proof.
pub(crate) fn inclusion_ranges(index: u64, size: u64) -> Result<Vec<Range<u64>>, BuildError> {
    if index >= size {
        return Err(BuildError::Index { index, size });
    }
    let (mut part, mut ranges) = (0..size, Vec::new());
    while part.end - part.start > 1 {
        let middle = split_position(&part);
        if index < middle {
            ranges.push(middle..part.end);
            part.end = middle;
        } else {
            ranges.push(part.start..middle);
            part.start = middle;
        }
    }
    ranges.reverse();
    Ok(ranges)
}

/// Returns the range of records behind each hash of a consistency proof.
pub(crate) fn consistency_ranges(old: u64, new: u64) -> Result<Vec<Range<u64>>, BuildError> {
    if old > new {
        return Err(BuildError::Shrunk { old, new });
    }
    if old == 0 {
        return Ok(Vec::new());
    }
    let (mut part, mut ranges) = (0..new, Vec::new());
    while old < part.end {
        let middle = split_position(&part);
        if old <= middle {
            ranges.push(middle..part.end);
            part.end = middle;
        } else {
            ranges.push(part.start..middle);
            part.start = middle;
        }
    }
    // The verifier knows the older root itself; any other subtree must be in the proof.
    if part.start > 0 {
        ranges.push(part);
    }
    ranges.reverse();
    Ok(ranges)
}

/// Returns the position at which the right subtree of a range begins. The range has two records or
/// more.
pub(crate) fn split_position(part: &Range<u64>) -> u64 {
    part.start + (1 << (part.end - part.start - 1).ilog2())
}

/// Returns the full subtrees of which a range of a tree consists, from left to right, which is from
/// the largest to the smallest: one for each bit set in its length.
pub(crate) fn cover(range: &Range<u64>) -> Vec<Node> {
    let (mut at, mut nodes) = (range.start, Vec::new());
    for level in (0..64).rev() {
        if (range.end - range.start) >> level & 1 == 1 {
            nodes.push(Node { level, index: at >> level });
            at += 1 << level;
        }
    }
    nodes
}

pub(crate) fn hash_of(nodes: &impl Nodes, range: &Range<u64>) -> Result<Hash, BuildError> {
    let mut root = None;
    for node in cover(range).into_iter().rev() {
        let left = nodes.node(node).ok_or(BuildError::Missing(node))?;
        root = Some(root.map_or(left, |right| node_hash(&left, &right)));
    }
    Ok(root.unwrap_or_else(empty_root))
}

/// All full subtrees of a log, in memory: 64 bytes a record.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// By level. Each level is half as long as the one below it.
    levels: Vec<Vec<Hash>>,
}

impl Leaves {
    #[must_use]
    pub fn new() -> Leaves {
        Leaves::default()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.len() as u64)
    }

    /// Adds a record by its leaf hash.
    pub fn push(&mut self, leaf: Hash) {
        let mut full = leaf;
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let nodes = &mut self.levels[level];
            nodes.push(full);
            match nodes.as_slice() {
                [.., left, right] if nodes.len().is_multiple_of(2) => full = node_hash(left, right),
                _ => break,
            }
        }
    }
}

impl Extend<Hash> for Leaves {
    fn extend<I: IntoIterator<Item = Hash>>(&mut self, leaves: I) {
        leaves.into_iter().for_each(|leaf| self.push(leaf));
    }
}

impl FromIterator<Hash> for Leaves {
    fn from_iter<I: IntoIterator<Item = Hash>>(leaves: I) -> Leaves {
        let mut all = Leaves::new();
        all.extend(leaves);
        all
    }
}

impl Nodes for Leaves {
    fn node(&self, node: Node) -> Option<Hash> {
        let level = self.levels.get(usize::from(node.level))?;
        level.get(usize::try_from(node.index).ok()?).copied()
    }
}
