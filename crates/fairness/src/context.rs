//! Identity of one hand, as a hash: everything else in the protocol is bound to it.
//!
//! Specification: fairness/SPEC.md §5.1.

use primitives::TableId;
use sha2::{Digest, Sha256};

use crate::encoding::{hash, lp_bytes};

/// H("ctx", log origin, table id, hand number, hash of the rules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context(pub [u8; 32]);

impl Context {
    /// Makes a context. `origin` is the name in the dealer log's checkpoints; `rules_hash` is that
    /// of [`rules_hash`].
    #[must_use]
    pub fn new(origin: &str, table: TableId, hand_no: u64, rules_hash: &[u8; 32]) -> Context {
        let number = hand_no.to_be_bytes();
        Context(hash("ctx", &[origin.as_bytes(), table.bytes(), &number, rules_hash]))
    }
}

/// SHA-256 over LP of the rule set's text and LP of the table's settings, both exactly as stored.
#[must_use]
pub fn rules_hash(rule_set: &str, settings: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(lp_bytes(rule_set.as_bytes()));
    hasher.update(lp_bytes(settings.as_bytes()));
    hasher.finalize().into()
}
