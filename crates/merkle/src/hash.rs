//! The hashes of RFC 6962, section 2.1: SHA-256 with a prefix that keeps leaves and nodes apart.

use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

const LEAF_PREFIX: [u8; 1] = [0];
const NODE_PREFIX: [u8; 1] = [1];

#[must_use]
pub fn leaf_hash(record: &[u8]) -> Hash {
    Sha256::new().chain_update(LEAF_PREFIX).chain_update(record).finalize().into()
}

#[must_use]
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update(NODE_PREFIX).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the root of the tree without records: SHA-256 of the empty string.
#[must_use]
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}

/// Returns the root over a list of records.
pub fn root<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> Hash {
    let leaves: Vec<Hash> = records.into_iter().map(|record| leaf_hash(record.as_ref())).collect();
    leaves_root(&leaves)
}

/// Returns the root over a list of leaf hashes.
#[must_use]
pub fn leaves_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node_hash(&leaves_root(left), &leaves_root(right))
        }
    }
}

/// Returns the largest power of two below `count`: the number of records in the left subtree.
/// `count` is at least 2.
pub(crate) fn split(count: usize) -> usize {
    1 << (count - 1).ilog2()
}
