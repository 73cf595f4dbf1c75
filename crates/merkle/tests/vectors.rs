//! Trees over the eight records with which the implementations of certificate transparency are
//! tested.

use merkle::{
    Hash, Tree, consistency_proof, empty_root, inclusion_proof, leaf_hash, root,
    verify_consistency, verify_inclusion,
};

const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const AB: &str = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
const CD: &str = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const ABCD: &str = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
const EF: &str = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
const GH: &str = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const EFGH: &str = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
const B: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const E: &str = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";

fn records() -> Vec<Vec<u8>> {
    ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
        .into_iter()
        .chain(["606162636465666768696a6b6c6d6e6f"])
        .map(bytes)
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| {
            u8::from_str_radix(std::str::from_utf8(pair).expect("constant"), 16).expect("constant")
        })
        .collect()
}

fn hash(hex: &str) -> Hash {
    bytes(hex).try_into().expect("constant")
}

#[test]
fn roots() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(empty_root(), hash(empty));
    let mut tree = Tree::new();
    for (n, record) in records().iter().enumerate() {
        tree.push(record);
        assert_eq!(tree.root(), hash(ROOTS[n]), "running, {n}");
        assert_eq!(root(&records()[..=n]), hash(ROOTS[n]), "list, {n}");
    }
}

#[test]
fn inclusion() {
    let leaves: Vec<Hash> = records().iter().map(|record| leaf_hash(record)).collect();
    for (index, size, path) in [
        (0, 1, vec![]),
        (0, 8, vec![B, CD, EFGH]),
        (5, 8, vec![E, GH, ABCD]),
        (2, 3, vec![AB]),
        (4, 5, vec![ABCD]),
    ] {
        let path: Vec<Hash> = path.into_iter().map(hash).collect();
        assert_eq!(inclusion_proof(&leaves[..size], index), Ok(path.clone()), "{index} of {size}");
        let root = hash(ROOTS[size - 1]);
        let verdict = verify_inclusion(&leaves[index], index as u64, size as u64, &path, &root);
        assert_eq!(verdict, Ok(()), "{index} of {size}");
    }
}

#[test]
fn consistency() {
    let leaves: Vec<Hash> = records().iter().map(|record| leaf_hash(record)).collect();
    for (old, new, path) in
        [(1, 1, vec![]), (1, 8, vec![B, CD, EFGH]), (6, 8, vec![EF, GH, ABCD]), (2, 5, vec![CD, E])]
    {
        let path: Vec<Hash> = path.into_iter().map(hash).collect();
        assert_eq!(consistency_proof(&leaves[..new], old), Ok(path.clone()), "{old} to {new}");
        let (was, is) = (hash(ROOTS[old - 1]), hash(ROOTS[new - 1]));
        let verdict = verify_consistency((old as u64, &was), (new as u64, &is), &path);
        assert_eq!(verdict, Ok(()), "{old} to {new}");
    }
}
