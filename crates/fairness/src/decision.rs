//! The chain of a hand's decisions, which binds each to the cards and to all decided before it.
//!
//! The chain begins at the transcript. Each decision adds its line, as hand histories write it with
//! cards named by where they lie, and whether the clock made it. A choice that is secret when made
//! stands in the line as `??`.
//!
//! Specification: fairness/SPEC.md §9.

use crate::encoding::hash;
use crate::transcript::Transcript;

/// The transcript, or H("decision", the chain before, u8 1 if the clock decided, line).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain(pub [u8; 32]);

impl Chain {
    /// Begins the chain of a hand, before its first decision.
    #[must_use]
    pub fn new(transcript: &Transcript) -> Chain {
        Chain(transcript.0)
    }

    /// The chain with one more decision in it.
    #[must_use]
    pub fn with(&self, by_clock: bool, line: &str) -> Chain {
        Chain(hash("decision", &[&self.0, &[u8::from(by_clock)], line.as_bytes()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fairness/SPEC.md §9.1.
    #[test]
    fn every_part_of_a_decision_counts() {
        let start = Chain::new(&Transcript([1; 32]));
        let base = start.with(false, "p1 fold");
        let others = [
            start,
            start.with(true, "p1 fold"),
            start.with(false, "p2 fold"),
            Chain([2; 32]).with(false, "p1 fold"),
            base.with(false, "p1 fold"),
        ];
        assert!(others.iter().all(|other| *other != base));
    }
}
