//! The tree over one pile with every hash stored, so that the path of a card is looked up and needs
//! no hashing.
//!
//! RFC 6962 splits a list at the greatest power of two below its length. The same tree comes from
//! below: neighbours are joined level by level, and a last node without a neighbour goes up as it
//! is.
//!
//! Specification: fairness/SPEC.md §7.3, §7.4.

/// Levels of the tree from the leaves up; the last level is the root alone.
pub(crate) struct MerkleLevels(Vec<Vec<[u8; 32]>>);

impl MerkleLevels {
    /// Builds the tree.
    ///
    /// # Panics
    /// If there is no leaf. No shuffle is empty.
    pub(crate) fn new(leaves: Vec<[u8; 32]>) -> MerkleLevels {
        assert!(!leaves.is_empty(), "a shuffle has at least one card");
        let mut levels = vec![leaves];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let above = below.chunks(2).map(|pair| match pair {
                [left, right] => merkle::node_hash(left, right),
                alone => alone[0],
            });
            levels.push(above.collect());
        }
        MerkleLevels(levels)
    }

    pub(crate) fn root(&self) -> [u8; 32] {
        self.0.last().expect("there is a level of leaves")[0]
    }

    /// The sibling hashes on the way from a leaf to the root, the lowest first.
    pub(crate) fn path(&self, leaf: u16) -> Vec<[u8; 32]> {
        let sibling = |height: usize| (usize::from(leaf) >> height) ^ 1;
        let levels = self.0.iter().enumerate();
        levels.filter_map(|(height, level)| level.get(sibling(height)).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fairness/SPEC.md §7.3.
    #[test]
    fn roots_and_paths_are_those_of_the_tree_hashed_again() {
        for size in (1_u16..=80).chain([127, 128, 129, 255]) {
            let leaves: Vec<[u8; 32]> =
                (0..size).map(|n| merkle::leaf_hash(&n.to_be_bytes())).collect();
            let levels = MerkleLevels::new(leaves.clone());
            assert_eq!(levels.root(), merkle::leaves_root(&leaves), "{size}");
            for leaf in 0..size {
                let again = merkle::inclusion_proof(&leaves, usize::from(leaf)).unwrap();
                assert_eq!(levels.path(leaf), again, "{leaf} of {size}");
            }
        }
    }
}
