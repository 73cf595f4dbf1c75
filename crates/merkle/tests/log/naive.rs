//! Every proof of every tree of up to 300 records, compared with RFC 6962 written out literally.

use std::collections::BTreeMap;

use merkle::{
    BuildError, Hash, Leaves, Tree, consistency_proof, inclusion_proof, leaf_hash,
    prove_consistency, prove_inclusion, root_at, verify_consistency, verify_inclusion,
};
use sha2::{Digest, Sha256};

const SIZES: usize = 300;

/// MTH, PATH and SUBPROOF over D[from:to], each tree hashed once.
struct Naive {
    leaves: Vec<Hash>,
    known: BTreeMap<(usize, usize), Hash>,
}

/// Returns k, the largest power of two smaller than n.
fn k(n: usize) -> usize {
    let mut k = 1;
    while k * 2 < n {
        k *= 2;
    }
    k
}

impl Naive {
    fn mth(&mut self, from: usize, to: usize) -> Hash {
        if let Some(known) = self.known.get(&(from, to)) {
            return *known;
        }
        let hash = match to - from {
            0 => Sha256::digest(b"").into(),
            1 => self.leaves[from],
            n => {
                let (left, right) = (self.mth(from, from + k(n)), self.mth(from + k(n), to));
                Sha256::digest([&[1][..], &left, &right].concat()).into()
            }
        };
        self.known.insert((from, to), hash);
        hash
    }

    fn path(&mut self, m: usize, from: usize, to: usize) -> Vec<Hash> {
        let n = to - from;
        if n == 1 {
            return vec![];
        }
        let middle = from + k(n);
        let (mut lower, top) = if m < k(n) {
            (self.path(m, from, middle), self.mth(middle, to))
        } else {
            (self.path(m - k(n), middle, to), self.mth(from, middle))
        };
        lower.push(top);
        lower
    }

    fn subproof(&mut self, m: usize, from: usize, to: usize, b: bool) -> Vec<Hash> {
        let n = to - from;
        if m == n {
            return if b { vec![] } else { vec![self.mth(from, to)] };
        }
        let middle = from + k(n);
        let (mut lower, top) = if m <= k(n) {
            (self.subproof(m, from, middle, b), self.mth(middle, to))
        } else {
            (self.subproof(m - k(n), middle, to, false), self.mth(from, middle))
        };
        lower.push(top);
        lower
    }
}

#[test]
fn every_proof_is_that_of_the_definition_and_holds() {
    let leaves: Vec<Hash> = (0..SIZES).map(|n| leaf_hash(&n.to_be_bytes())).collect();
    let mut naive = Naive { leaves: leaves.clone(), known: BTreeMap::new() };
    let kept: Leaves = leaves.iter().copied().collect();
    let mut running = Tree::new();
    assert_eq!(kept.size(), SIZES as u64);
    for n in 0..=SIZES {
        let (size, root) = (n as u64, naive.mth(0, n));
        assert_eq!(root_at(&kept, size), Ok(root), "{n}");
        assert_eq!(running.root(), root, "{n}");
        for (m, leaf) in leaves.iter().enumerate().take(n) {
            let proof = prove_inclusion(&kept, m as u64, size).unwrap();
            assert_eq!(proof, naive.path(m, 0, n), "{m} of {n}");
            assert_eq!(verify_inclusion(leaf, m as u64, size, &proof, &root), Ok(()));
        }
        for m in 1..=n {
            let proof = prove_consistency(&kept, m as u64, size).unwrap();
            assert_eq!(proof, naive.subproof(m, 0, n, true), "{m} to {n}");
            let was = naive.mth(0, m);
            assert_eq!(verify_consistency((m as u64, &was), (size, &root), &proof), Ok(()));
        }
        if let Some(leaf) = leaves.get(n) {
            running.push_leaf(*leaf);
        }
    }
    // The functions over a list of leaf hashes give equal proofs.
    for m in 0..SIZES {
        assert_eq!(inclusion_proof(&leaves, m), Ok(naive.path(m, 0, SIZES)));
        assert_eq!(consistency_proof(&leaves, m + 1), Ok(naive.subproof(m + 1, 0, SIZES, true)));
    }
}

#[test]
fn what_is_not_there_is_not_proved() {
    let kept: Leaves = (0..5_u64).map(|n| leaf_hash(&n.to_be_bytes())).collect();
    let missing = |level, index| BuildError::Missing(merkle::Node { level, index });
    assert_eq!(root_at(&kept, 6), Err(missing(1, 2)));
    assert_eq!(prove_inclusion(&kept, 0, 7), Err(missing(0, 6)));
    assert_eq!(prove_inclusion(&kept, 5, 5), Err(BuildError::Index { index: 5, size: 5 }));
    assert_eq!(prove_consistency(&kept, 4, 3), Err(BuildError::Shrunk { old: 4, new: 3 }));
    assert_eq!(prove_consistency(&kept, 0, 3), Ok(vec![]));
    assert!(prove_inclusion(&kept, u64::MAX - 1, u64::MAX).is_err());
    assert!(prove_consistency(&kept, u64::MAX - 1, u64::MAX).is_err());
}
