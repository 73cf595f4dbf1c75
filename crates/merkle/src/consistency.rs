//! Proofs that one tree is the beginning of another: RFC 6962 section 2.1.2, checked as in RFC 9162
//! section 2.1.4.2.

use crate::ProofError;
use crate::hash::{Hash, empty_root, leaves_root, node_hash, split};

/// Returns the hashes that lead to the root of the first `old` leaves and to the root of all. Empty
/// if the two trees are equal or the older one has no records.
pub fn consistency_proof(leaves: &[Hash], old: usize) -> Result<Vec<Hash>, ProofError> {
    if old > leaves.len() {
        return Err(ProofError::Shrunk { old: old as u64, new: leaves.len() as u64 });
    }
    if old == 0 {
        return Ok(Vec::new());
    }
    let mut path = Vec::new();
    let (mut part, mut rest, mut whole) = (leaves, old, true);
    while rest < part.len() {
        let (left, right) = part.split_at(split(part.len()));
        if rest <= left.len() {
            path.push(leaves_root(right));
            part = left;
        } else {
            path.push(leaves_root(left));
            rest -= left.len();
            part = right;
            whole = false;
        }
    }
    // The verifier knows the older root itself; any other subtree must be in the proof.
    if !whole {
        path.push(leaves_root(part));
    }
    path.reverse();
    Ok(path)
}

/// Checks that the tree of `old` = (size, root) is the beginning of the tree of `new`.
pub fn verify_consistency(
    old: (u64, &Hash),
    new: (u64, &Hash),
    proof: &[Hash],
) -> Result<(), ProofError> {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    let wrong_length = ProofError::Length { got: proof.len() };
    if old_size > new_size {
        return Err(ProofError::Shrunk { old: old_size, new: new_size });
    }
    if old_size == 0 && *old_root != empty_root() {
        return Err(ProofError::OldRoot);
    }
    if old_size == new_size {
        return match (proof.is_empty(), old_root == new_root) {
            (false, _) => Err(wrong_length),
            (true, false) => Err(ProofError::Root),
            (true, true) => Ok(()),
        };
    }
    if old_size == 0 {
        return if proof.is_empty() { Ok(()) } else { Err(wrong_length) };
    }
    let (was, is) =
        roots_from_consistency(old_size, old_root, new_size, proof).ok_or(wrong_length)?;
    match (was == *old_root, is == *new_root) {
        (false, _) => Err(ProofError::OldRoot),
        (true, false) => Err(ProofError::Root),
        (true, true) => Ok(()),
    }
}

/// Returns the older and the newer root that a proof leads to, or `None` if it is too short or too
/// long. Requires `0 < old < new`.
fn roots_from_consistency(
    old: u64,
    old_root: &Hash,
    new: u64,
    proof: &[Hash],
) -> Option<(Hash, Hash)> {
    let (mut node, mut last) = (old - 1, new - 1);
    // Both roots are computed from the largest subtree that ends where the older tree ends.
    let full = node.trailing_ones();
    node >>= full;
    last >>= full;
    let (seed, path) =
        if old.is_power_of_two() { (old_root, proof) } else { proof.split_first()? };
    let (mut was, mut is) = (*seed, *seed);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if node & 1 == 1 || node == last {
            was = node_hash(sibling, &was);
            is = node_hash(sibling, &is);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            is = node_hash(&is, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    (last == 0).then_some((was, is))
}
