//! Proofs that a record is in a tree: RFC 6962 section 2.1.1, checked as in RFC 9162 section
//! 2.1.3.2.

use crate::ProofError;
use crate::hash::{Hash, leaves_root, node_hash, split};

/// Returns the siblings of the path from a leaf to the root, the lowest first.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Result<Vec<Hash>, ProofError> {
    if index >= leaves.len() {
        return Err(ProofError::Index { index: index as u64, size: leaves.len() as u64 });
    }
    let mut path = Vec::new();
    let (mut part, mut at) = (leaves, index);
    while part.len() > 1 {
        let (left, right) = part.split_at(split(part.len()));
        if at < left.len() {
            path.push(leaves_root(right));
            part = left;
        } else {
            path.push(leaves_root(left));
            at -= left.len();
            part = right;
        }
    }
    path.reverse();
    Ok(path)
}

/// Returns the root that a proof leads to.
pub fn root_from_inclusion(
    leaf: &Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    if index >= size {
        return Err(ProofError::Index { index, size });
    }
    let wrong_length = ProofError::Length { got: proof.len() };
    let (mut node, mut last) = (index, size - 1);
    let mut root = *leaf;
    for sibling in proof {
        if last == 0 {
            return Err(wrong_length);
        }
        if node & 1 == 1 || node == last {
            root = node_hash(sibling, &root);
            // A level on which the last node has no sibling has no hash in the proof.
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            root = node_hash(&root, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    if last == 0 { Ok(root) } else { Err(wrong_length) }
}

pub fn verify_inclusion(
    leaf: &Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), ProofError> {
    if root_from_inclusion(leaf, index, size, proof)? == *root {
        Ok(())
    } else {
        Err(ProofError::Root)
    }
}
