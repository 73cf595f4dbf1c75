//! One proof that several records are in a tree.
//!
//! With n the tree's size, its root is `node(0, n)`, where `node(a, b)` is
//!
//! 1. the next hash of the proof, if none of the records stands at a .. b-1;
//! 2. the record's leaf hash, if b = a + 1;
//! 3. else, with k the greatest power of two below b - a, the node hash of `node(a, a+k)` and
//!    `node(a+k, b)`, the left part first.
//!
//! So a proof holds only the hashes that do not follow from the records. Records that stand
//! together, as those of one hand do, share nearly all of them. All hashes of a proof must be used
//! up, so that a proof has one spelling. Without any records the proof is the root.

use std::ops::Range;

use crate::ProofError;
use crate::hash::{Hash, node_hash};
use crate::nodes::{BuildError, Nodes, hash_of, split_position};

/// Returns the proof of the records at `positions`, which ascend, in the tree of the first `size`
/// records.
pub fn prove_records(
    nodes: &impl Nodes,
    positions: &[u64],
    size: u64,
) -> Result<Vec<Hash>, BuildError> {
    records_ranges(positions, size)?.iter().map(|range| hash_of(nodes, range)).collect()
}

/// Returns the range of records behind each hash of such a proof.
pub(crate) fn records_ranges(positions: &[u64], size: u64) -> Result<Vec<Range<u64>>, BuildError> {
    if let Some(pair) = positions.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(BuildError::NotAscending { index: pair[1] });
    }
    if let Some(index) = positions.last().copied().filter(|last| *last >= size) {
        return Err(BuildError::Index { index, size });
    }
    let mut ranges = Vec::new();
    collect_ranges(0..size, positions, &mut ranges);
    Ok(ranges)
}

fn collect_ranges(part: Range<u64>, positions: &[u64], ranges: &mut Vec<Range<u64>>) {
    if positions.is_empty() {
        ranges.push(part);
    } else if part.end - part.start > 1 {
        let middle = split_position(&part);
        let (left, right) =
            positions.split_at(positions.partition_point(|position| *position < middle));
        collect_ranges(part.start..middle, left, ranges);
        collect_ranges(middle..part.end, right, ranges);
    }
}

/// Returns the root that a proof leads to. `leaves` are positions and leaf hashes, ascending by
/// position.
pub fn root_from_records(
    leaves: &[(u64, Hash)],
    size: u64,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    if let Some(pair) = leaves.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(ProofError::NotAscending { index: pair[1].0 });
    }
    if let Some(index) = leaves.last().map(|last| last.0).filter(|last| *last >= size) {
        return Err(ProofError::Index { index, size });
    }
    let mut rest = proof.iter();
    let root = node(0..size, leaves, &mut rest);
    let wrong_length = ProofError::Length { got: proof.len() };
    if rest.next().is_some() { Err(wrong_length) } else { root.ok_or(wrong_length) }
}

/// Computes the root of a range of records. `None` if the proof is too short.
fn node(
    part: Range<u64>,
    leaves: &[(u64, Hash)],
    proof: &mut std::slice::Iter<'_, Hash>,
) -> Option<Hash> {
    match leaves {
        [] => proof.next().copied(),
        [(_, leaf)] if part.end - part.start == 1 => Some(*leaf),
        _ => {
            let middle = split_position(&part);
            let (left, right) =
                leaves.split_at(leaves.partition_point(|(position, _)| *position < middle));
            let left = node(part.start..middle, left, proof)?;
            let right = node(middle..part.end, right, proof)?;
            Some(node_hash(&left, &right))
        }
    }
}

/// Verifies that the records are in the tree of this root.
pub fn verify_records(
    leaves: &[(u64, Hash)],
    size: u64,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), ProofError> {
    if root_from_records(leaves, size, proof)? == *root { Ok(()) } else { Err(ProofError::Root) }
}
