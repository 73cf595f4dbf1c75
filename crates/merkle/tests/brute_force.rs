//! Every proof of every small tree, compared with the definitions of RFC 6962 written out
//! literally. Every small change to a proof must be refused.

use merkle::{
    Hash, ProofError, consistency_proof, inclusion_proof, leaf_hash, leaves_root,
    verify_consistency, verify_inclusion,
};
use sha2::{Digest, Sha256};

const SIZES: usize = 40;

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

/// Returns k, the largest power of two smaller than n.
fn k(n: usize) -> usize {
    let mut k = 1;
    while k * 2 < n {
        k *= 2;
    }
    k
}

fn mth(d: &[Hash]) -> Hash {
    match d.len() {
        0 => Sha256::digest(b"").into(),
        1 => d[0],
        n => {
            let (left, right) = (mth(&d[..k(n)]), mth(&d[k(n)..]));
            Sha256::digest([&[1][..], &left, &right].concat()).into()
        }
    }
}

/// PATH(m, D[n])
fn path(m: usize, d: &[Hash]) -> Vec<Hash> {
    let n = d.len();
    if n == 1 {
        return vec![];
    }
    let (mut lower, top) = if m < k(n) {
        (path(m, &d[..k(n)]), mth(&d[k(n)..]))
    } else {
        (path(m - k(n), &d[k(n)..]), mth(&d[..k(n)]))
    };
    lower.push(top);
    lower
}

/// SUBPROOF(m, D[n], b)
fn subproof(m: usize, d: &[Hash], b: bool) -> Vec<Hash> {
    let n = d.len();
    if m == n {
        return if b { vec![] } else { vec![mth(d)] };
    }
    let (mut lower, top) = if m <= k(n) {
        (subproof(m, &d[..k(n)], b), mth(&d[k(n)..]))
    } else {
        (subproof(m - k(n), &d[k(n)..], false), mth(&d[..k(n)]))
    };
    lower.push(top);
    lower
}

#[test]
fn proofs_are_those_of_the_definition_and_hold() {
    for size in 1..=SIZES {
        let all = leaves(size);
        let root = mth(&all);
        assert_eq!(leaves_root(&all), root);
        for index in 0..size {
            let proof = inclusion_proof(&all, index).unwrap();
            assert_eq!(proof, path(index, &all), "{index} of {size}");
            verify_inclusion(&all[index], index as u64, size as u64, &proof, &root).unwrap();
        }
        for old in 1..=size {
            let proof = consistency_proof(&all, old).unwrap();
            assert_eq!(proof, subproof(old, &all, true), "{old} to {size}");
            let was = mth(&all[..old]);
            verify_consistency((old as u64, &was), (size as u64, &root), &proof).unwrap();
        }
    }
}

/// Returns every proof that differs in one thing.
fn altered_proofs(proof: &[Hash]) -> Vec<Vec<Hash>> {
    let mut lies = vec![[proof, &[[7; 32]]].concat(), [&[[7; 32]], proof].concat()];
    for at in 0..proof.len() {
        let mut flipped = proof.to_vec();
        flipped[at][31] ^= 1;
        let mut shorter = proof.to_vec();
        shorter.remove(at);
        lies.extend([flipped, shorter]);
    }
    lies
}

#[test]
fn no_lie_about_inclusion_passes() {
    for size in 1..=SIZES {
        let all = leaves(size);
        let root = mth(&all);
        for index in 0..size {
            let (leaf, at, of) = (&all[index], index as u64, size as u64);
            let proof = inclusion_proof(&all, index).unwrap();
            for lie in altered_proofs(&proof) {
                assert!(verify_inclusion(leaf, at, of, &lie, &root).is_err(), "{index}/{size}");
            }
            for other in (0..size).filter(|other| *other != index) {
                let verdict = verify_inclusion(leaf, other as u64, of, &proof, &root);
                assert!(verdict.is_err(), "{index} as {other} of {size}");
            }
            let verdict = verify_inclusion(leaf, at, of, &proof, &mth(&all[..size - 1]));
            assert_eq!(verdict, Err(ProofError::Root));
        }
        let outside = verify_inclusion(&all[0], size as u64, size as u64, &[], &root);
        assert_eq!(outside, Err(ProofError::Index { index: size as u64, size: size as u64 }));
        assert!(inclusion_proof(&all, size).is_err());
    }
}

#[test]
fn no_lie_about_consistency_passes() {
    for size in 1..=SIZES {
        let all = leaves(size);
        let root = mth(&all);
        for old in 1..=size {
            let was = mth(&all[..old]);
            let proof = consistency_proof(&all, old).unwrap();
            let (before, after) = ((old as u64, &was), (size as u64, &root));
            for lie in altered_proofs(&proof) {
                assert!(verify_consistency(before, after, &lie).is_err(), "{old} to {size}");
            }
            let mut rewritten = was;
            rewritten[0] ^= 1;
            assert!(verify_consistency((old as u64, &rewritten), after, &proof).is_err());
            let mut elsewhere = root;
            elsewhere[0] ^= 1;
            let after = (size as u64, &elsewhere);
            assert_eq!(verify_consistency(before, after, &proof), Err(ProofError::Root));
        }
    }
}

#[test]
fn trees_that_shrink_or_start_from_nothing() {
    let all = leaves(3);
    let (root, two, none) = (mth(&all), mth(&all[..2]), mth(&[]));
    let shrunk = verify_consistency((3, &root), (2, &two), &[]);
    assert_eq!(shrunk, Err(ProofError::Shrunk { old: 3, new: 2 }));
    assert!(consistency_proof(&all, 4).is_err());
    assert_eq!(consistency_proof(&all, 0), Ok(vec![]));
    assert_eq!(verify_consistency((0, &none), (3, &root), &[]), Ok(()));
    assert_eq!(verify_consistency((0, &two), (3, &root), &[]), Err(ProofError::OldRoot));
    assert!(verify_consistency((0, &none), (3, &root), &[two]).is_err());
}
