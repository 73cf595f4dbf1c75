//! Any set of records of any tree proves itself, and no changed hash passes.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use merkle::{
    Edge, Hash, Leaves, ProofError, TileId, Tiles, leaf_hash, leaves_root, prove_inclusion,
    prove_records, root_from_records, tiles_for_records, verify_records,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

/// The definition, literally, over a list of all leaf hashes.
fn node(a: usize, b: usize, all: &[Hash], named: &[u64], proof: &mut Vec<Hash>) {
    if !named.iter().any(|at| (a as u64..b as u64).contains(at)) {
        proof.push(leaves_root(&all[a..b]));
    } else if b > a + 1 {
        let mut k = 1;
        while k * 2 < b - a {
            k *= 2;
        }
        node(a, a + k, all, named, proof);
        node(a + k, b, all, named, proof);
    }
}

fn chosen(all: &[Hash], positions: &[u64]) -> Vec<(u64, Hash)> {
    positions.iter().map(|at| (*at, all[usize::try_from(*at).unwrap()])).collect()
}

/// A tree's size and a set of its records.
fn some_records() -> impl Strategy<Value = (usize, Vec<u64>)> {
    (1..=700_usize).prop_flat_map(|size| (Just(size), vec(0..size as u64, 0..40))).prop_map(
        |(size, mut positions)| {
            positions.sort_unstable();
            positions.dedup();
            (size, positions)
        },
    )
}

proptest! {
    #[test]
    fn any_records_of_any_tree_prove_themselves((size, positions) in some_records()) {
        let all = leaves(size);
        let nodes: Leaves = all.iter().copied().collect();
        let proof = prove_records(&nodes, &positions, size as u64).unwrap();
        let mut defined = Vec::new();
        node(0, size, &all, &positions, &mut defined);
        prop_assert_eq!(&proof, &defined);
        let records = chosen(&all, &positions);
        let root = leaves_root(&all);
        prop_assert_eq!(verify_records(&records, size as u64, &proof, &root), Ok(()));
    }

    #[test]
    fn tiles_give_the_same_proof((size, positions) in some_records()) {
        let all = leaves(size);
        let mut edge = Edge::new();
        let mut files: Vec<(TileId, Vec<u8>)> = Vec::new();
        all.iter().for_each(|leaf| files.extend(edge.push(*leaf)));
        files.extend(edge.partial());
        let needed = tiles_for_records(&positions, size as u64).unwrap();
        files.retain(|(tile, _)| needed.contains(tile));
        let tiles = Tiles::authenticate(edge.head(), files).unwrap();
        let nodes: Leaves = all.iter().copied().collect();
        prop_assert_eq!(
            prove_records(&tiles, &positions, size as u64).unwrap(),
            prove_records(&nodes, &positions, size as u64).unwrap()
        );
    }

    #[test]
    fn no_change_passes((size, positions) in some_records(), at in any::<prop::sample::Index>()) {
        let all = leaves(size);
        let nodes: Leaves = all.iter().copied().collect();
        let (size, root) = (size as u64, leaves_root(&all));
        let proof = prove_records(&nodes, &positions, size).unwrap();
        let records = chosen(&all, &positions);
        if !proof.is_empty() {
            let at = at.index(proof.len());
            let mut changed = proof.clone();
            changed[at][7] ^= 0x10;
            prop_assert!(verify_records(&records, size, &changed, &root).is_err());
            changed.remove(at);
            prop_assert!(verify_records(&records, size, &changed, &root).is_err());
        }
        let mut longer = proof.clone();
        longer.push([1; 32]);
        prop_assert!(verify_records(&records, size, &longer, &root).is_err());
        if !records.is_empty() {
            let at = at.index(records.len());
            let mut changed = records.clone();
            changed[at].1[0] ^= 1;
            prop_assert!(verify_records(&changed, size, &proof, &root).is_err());
            changed.remove(at);
            prop_assert!(verify_records(&changed, size, &proof, &root).is_err());
            // The record under another position.
            let mut moved = records.clone();
            moved[at].0 += 1;
            prop_assert!(verify_records(&moved, size, &proof, &root).is_err());
        }
    }
}

#[test]
fn one_record_needs_what_its_inclusion_proof_needs() {
    let all = leaves(100);
    let nodes: Leaves = all.iter().copied().collect();
    for at in 0..100 {
        let mut one = prove_records(&nodes, &[at], 100).unwrap();
        let mut path = prove_inclusion(&nodes, at, 100).unwrap();
        one.sort_unstable();
        path.sort_unstable();
        assert_eq!(one, path);
    }
}

#[test]
fn no_records_are_proved_by_the_root_and_all_by_nothing() {
    let all = leaves(5);
    let nodes: Leaves = all.iter().copied().collect();
    let root = leaves_root(&all);
    assert_eq!(prove_records(&nodes, &[], 5), Ok(vec![root]));
    assert_eq!(prove_records(&nodes, &[0, 1, 2, 3, 4], 5), Ok(vec![]));
    assert_eq!(root_from_records(&[], 0, &[merkle::empty_root()]), Ok(merkle::empty_root()));
    assert_eq!(root_from_records(&[], 0, &[]), Err(ProofError::Length { got: 0 }));
}

#[test]
fn records_ascend_and_are_in_the_tree() {
    let all = leaves(5);
    let nodes: Leaves = all.iter().copied().collect();
    assert!(prove_records(&nodes, &[1, 1], 5).is_err());
    assert!(prove_records(&nodes, &[5], 5).is_err());
    let twice = chosen(&all, &[1, 1]);
    assert_eq!(root_from_records(&twice, 5, &[]), Err(ProofError::NotAscending { index: 1 }));
    let outside = [(5, all[0])];
    assert_eq!(root_from_records(&outside, 5, &[]), Err(ProofError::Index { index: 5, size: 5 }));
}
