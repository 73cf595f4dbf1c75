//! The running tree: the state that suffices to add records to a log and to compute its root.
//!
//! A tree of n records is a row of full subtrees, one for each bit that is set in n, the largest
//! first. Later roots depend on nothing but their roots (the peaks): 32 bytes each, at most 64.

use crate::hash::{Hash, empty_root, leaf_hash, node_hash};

/// A tree that records are added to.
///
/// Invariant: there are as many peaks as bits set in the size.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    size: u64,
    peaks: Vec<Hash>,
}

/// Error of a number of peaks that does not fit the size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tree of {size} records has {needed} peaks, here are {got}")]
pub struct TreeError {
    pub size: u64,
    pub needed: u32,
    pub got: usize,
}

impl Tree {
    #[must_use]
    pub fn new() -> Tree {
        Tree::default()
    }

    /// Builds a tree from its saved parts. Only the number of the peaks is checked.
    pub fn restore(size: u64, peaks: Vec<Hash>) -> Result<Tree, TreeError> {
        let (needed, got) = (size.count_ones(), peaks.len());
        if usize::try_from(needed) != Ok(got) {
            return Err(TreeError { size, needed, got });
        }
        Ok(Tree { size, peaks })
    }

    /// Returns the number of records.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the roots of the full subtrees, the largest first. With the size they are the state
    /// to save.
    #[must_use]
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    pub fn push(&mut self, record: &[u8]) {
        self.push_leaf(leaf_hash(record));
    }

    /// Adds a record by its leaf hash.
    pub fn push_leaf(&mut self, leaf: Hash) {
        let mut peak = leaf;
        // Each trailing one of the size is a full subtree that the new one completes.
        for _ in 0..self.size.trailing_ones() {
            let left = self.peaks.pop().expect("a set bit has its peak");
            peak = node_hash(&left, &peak);
        }
        self.peaks.push(peak);
        self.size += 1;
    }

    #[must_use]
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else { return empty_root() };
        peaks.fold(*last, |right, left| node_hash(left, &right))
    }

    /// Returns the tree of the first records, as many as the full subtrees of at least `alignment`
    /// records hold. `alignment` is a power of two. With it a saved tree can be checked against
    /// the newest records alone.
    #[must_use]
    pub fn aligned_prefix(&self, alignment: u64) -> Tree {
        let size = self.size & !(alignment - 1);
        let kept = self.peaks.iter().take(size.count_ones() as usize).copied().collect();
        Tree { size, peaks: kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::leaves_root;

    fn leaf(n: u64) -> Hash {
        leaf_hash(&n.to_be_bytes())
    }

    #[test]
    fn running_root_is_the_root_of_the_list() {
        let mut tree = Tree::new();
        let mut leaves = Vec::new();
        for n in 0..300 {
            assert_eq!(tree.root(), leaves_root(&leaves), "size {n}");
            assert_eq!(tree.size(), n);
            assert_eq!(Tree::restore(n, tree.peaks().to_vec()), Ok(tree.clone()));
            tree.push_leaf(leaf(n));
            leaves.push(leaf(n));
        }
    }

    #[test]
    fn a_trunk_grows_into_the_tree_again() {
        let mut tree = Tree::new();
        for n in 0..301 {
            let mut grown = tree.aligned_prefix(16);
            assert_eq!(grown.size(), n / 16 * 16);
            for m in grown.size()..n {
                grown.push_leaf(leaf(m));
            }
            assert_eq!(grown, tree);
            tree.push_leaf(leaf(n));
        }
    }

    #[test]
    fn peaks_must_belong_to_the_size() {
        let error = TreeError { size: 5, needed: 2, got: 1 };
        assert_eq!(Tree::restore(5, vec![leaf(0)]), Err(error));
    }
}
