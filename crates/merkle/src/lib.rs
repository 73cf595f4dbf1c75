//! Knows: RFC 6962 Merkle trees (hashes, running tree, proofs) and the leaf records they hash.
//! Does not know: events, stores, who signs a root.
//!
//! A root of 32 bytes stands for a whole log. A log that only grows can prove two things about
//! itself with a few hashes: that a record is in it ([`inclusion_proof`]), and that an older root
//! is a beginning of a newer one ([`consistency_proof`]). Both are checked here without the log.

mod consistency;
mod hash;
mod inclusion;
pub mod record;
mod tree;

pub use consistency::{consistency_proof, verify_consistency};
pub use hash::{Hash, empty_root, leaf_hash, leaves_root, node_hash, root};
pub use inclusion::{inclusion_proof, root_from_inclusion, verify_inclusion};
pub use tree::{Tree, TreeError};

/// A proof that proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofError {
    #[error("record {index} is not among the {size} records of the tree")]
    Index { index: u64, size: u64 },
    #[error("the older tree has {old} records, more than the newer with {new}")]
    Shrunk { old: u64, new: u64 },
    #[error("the proof has {got} hashes, this shape of tree needs another number")]
    Length { got: usize },
    #[error("the proof leads to another root of the older tree")]
    OldRoot,
    #[error("the proof leads to another root")]
    Root,
}
