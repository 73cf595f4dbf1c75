//! Count of the work of an audit, which the size of its file bounds.
//!
//! Specification: fairness/SPEC.md §15.5.

use std::cell::Cell;

use serde::Serialize;

/// Work of an audit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Records, hashes, signatures, inputs of the rules, and cards and dice of operations.
    pub steps: u64,
    /// Bytes that were read or hashed.
    pub bytes: u64,
    /// Signatures that were checked.
    pub signatures: u64,
}

/// Bytes that are hashed for one card of a shuffle, its salt and leaf included, or for one die.
const BYTES_OF_A_CARD: u64 = 512;

/// Counter of work. Checks share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkCounter(Cell<Work>);

impl WorkCounter {
    pub(crate) fn get(&self) -> Work {
        self.0.get()
    }

    /// Counts a step over so many bytes: a record that is read, or a hash.
    pub(crate) fn hashed(&self, bytes: usize) {
        self.add(1, length(bytes), 0);
    }

    /// Counts a signature over so many bytes.
    pub(crate) fn signed(&self, bytes: usize) {
        self.add(1, length(bytes), 1);
    }

    /// Counts inputs of the rules.
    pub(crate) fn played(&self, inputs: u64) {
        self.add(inputs, 0, 0);
    }

    /// Counts cards and dice of an operation.
    pub(crate) fn dealt(&self, cards: u64) {
        self.add(cards, cards.saturating_mul(BYTES_OF_A_CARD), 0);
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn include(&self, work: Work) {
        self.add(work.steps, work.bytes, work.signatures);
    }

    fn add(&self, steps: u64, bytes: u64, signatures: u64) {
        let before = self.0.get();
        self.0.set(Work {
            steps: before.steps.saturating_add(steps),
            bytes: before.bytes.saturating_add(bytes),
            signatures: before.signatures.saturating_add(signatures),
        });
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
