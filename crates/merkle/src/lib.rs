//! Knows: RFC 6962 Merkle trees (hashes, running tree, proofs), the leaf records that they hash,
//! and the C2SP texts and tiles in which a log is published, signed.
//! Does not know: events, stores, the time, when a log signs and to whom it is shown.
//!
//! A root of 32 bytes stands for a whole log. A log that only grows can prove two things about
//! itself with a few hashes: that a record is in it ([`inclusion_proof`]), and that an older root
//! belongs to a beginning of the log ([`consistency_proof`]). Both proofs are checked here without
//! the log.
//!
//! The pieces that a tamper-evident log needs around its tree. Each is in the format that other
//! programs read too:
//!
//! | what | where | format |
//! |---|---|---|
//! | roots that are signed | [`note`], [`Checkpoint`] | C2SP `signed-note`, `tlog-checkpoint` |
//! | roots that others saw | [`note::WitnessKey`], [`witness`] | C2SP `tlog-cosignature` (Ed25519), `tlog-witness` |
//! | never two contradicting signatures | [`Signer`] | |
//! | proofs without hashing the log again | [`Nodes`], [`Leaves`], [`Tiles`] | RFC 6962 |
//! | many records in one proof | [`prove_records`], [`verify_records`] | |
//! | the log as files that never change | [`TileId`], [`Edge`], [`bundle`] | C2SP `tlog-tiles` |
//! | a proof to take away | [`LogProof`] | C2SP `tlog-proof` |
//!
//! `vectors/` holds a log in these formats, and a program over Go's `sumdb` packages that reads it.

pub mod bundle;
mod checkpoint;
mod consistency;
mod edge;
mod encoding;
mod hash;
mod inclusion;
mod key;
mod keys_file;
mod multi;
mod nodes;
pub mod note;
mod proof;
pub mod record;
mod signer;
mod tile;
mod tiles;
mod tree;
pub mod witness;

pub use checkpoint::{Checkpoint, CheckpointError, Cosignature, TreeHead, VerifiedCheckpoint};
pub use consistency::{consistency_proof, verify_consistency};
pub use edge::Edge;
pub use hash::{Hash, empty_root, leaf_hash, leaves_root, node_hash, root};
pub use inclusion::{inclusion_proof, root_from_inclusion, verify_inclusion};
pub use keys_file::{KeysFileError, ListedKey, parse_keys_file, room_of};
pub use multi::{prove_records, root_from_records, verify_records};
pub use nodes::{BuildError, Leaves, Node, Nodes, prove_consistency, prove_inclusion, root_at};
pub use proof::{LogProof, LogProofError, MAX_EXTRA};
pub use signer::{Refusal, Signer, may_follow};
pub use tile::{InvalidTilePath, MAX_TILE_LEVEL, Row, TILE_WIDTH, TileId, tiles_between};
pub use tiles::{Tiles, TilesError, tiles_for_consistency, tiles_for_inclusion, tiles_for_records};
pub use tree::{Tree, TreeError};

/// Error of a proof that does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofError {
    #[error("record {index} is not among the {size} records of the tree")]
    Index { index: u64, size: u64 },
    #[error("record {index} does not stand after the one before it")]
    NotAscending { index: u64 },
    #[error("the older tree has {old} records, more than the newer with {new}")]
    Shrunk { old: u64, new: u64 },
    #[error("the proof has {got} hashes, this shape of tree needs another number")]
    Length { got: usize },
    #[error("the proof leads to another root of the older tree")]
    OldRoot,
    #[error("the proof leads to another root")]
    Root,
}
