//! Identity of one hand, as a hash: everything else in the protocol is bound to it.
//!
//! Specification: fairness/SPEC.md §5.1.

use primitives::TableId;

use crate::encoding::hash;

/// H("ctx", log origin, table id, hand number, SHA-256 of the rule set's stored bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context(pub [u8; 32]);

impl Context {
    /// Makes a context. `origin` is the name in the dealer log's checkpoints; `ruleset_hash` is the
    /// SHA-256 of the rule set exactly as it is stored.
    #[must_use]
    pub fn new(origin: &str, table: TableId, hand_no: u64, ruleset_hash: &[u8; 32]) -> Context {
        let number = hand_no.to_be_bytes();
        Context(hash("ctx", &[origin.as_bytes(), table.bytes(), &number, ruleset_hash]))
    }
}
