//! The habits of this tree, checked.
//!
//! A rule is a function from a [`Tree`] to the findings in it: text in, judgements out. So every
//! rule can be tried on a bad sample as easily as on the real tree, and each of them is, beside its
//! code: a rule that cannot fail is not a rule. `tests/tidy.rs` runs them all on the real tree.
//!
//! Findings say what is wrong and what to do; the order is that of the files.

pub mod arrows;
pub mod code;
pub mod headers;
pub mod machine;
pub mod manifest;
pub mod names;
pub mod purity;
pub mod registry;
pub mod runbook;
pub mod sizes;
pub mod test_command;
mod tree;
pub mod variables;

pub use tree::Tree;

use std::fmt;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Relative to the root, with `/`; with `:line` where a line is meant.
    pub place: String,
    /// What is wrong there and what to do.
    pub advice: String,
}

impl Finding {
    #[must_use]
    pub fn new(place: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { place: place.into(), advice: advice.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.advice)
    }
}
