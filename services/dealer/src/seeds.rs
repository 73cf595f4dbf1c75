//! Seeds at rest: each is kept under its hand's id and bound to the hand's context and commitment.
//! Rows are added and sealed again under another key, and never deleted.
//!
//! Specification: fairness/SPEC.md §3.2.

use fairness::{Commitment, Context};

/// Schema that only the dealer's role can enter.
pub const SCHEMA: &str = "dealer_vault";

/// Statements that make the table and give the dealer's role its rights.
pub(crate) const MIGRATION: &str = include_str!("seed.sql");

/// Public part of a kept seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedLabel {
    pub context: Context,
    pub commitment: Commitment,
}

impl SeedLabel {
    #[must_use]
    pub fn bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.context.0);
        bytes[32..].copy_from_slice(&self.commitment.0);
        bytes
    }

    /// Parses a label; none if it has another length than a label.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<SeedLabel> {
        let (context, commitment) = bytes.split_first_chunk()?;
        let commitment = Commitment(commitment.try_into().ok()?);
        Some(SeedLabel { context: Context(*context), commitment })
    }
}
