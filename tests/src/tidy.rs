//! Rules of the source tree.
//!
//! A rule is a pure function from a [`Tree`] to its findings, so it can be tested on a bad sample
//! as easily as on the real tree. Each rule has such a test beside its code: a rule that cannot
//! fail is not a rule. `tests/tidy.rs` runs all rules on the real tree.
//!
//! A finding says what is wrong and what to do. Findings are in the order of the files.

pub mod arrows;
pub mod citations;
pub mod code;
pub mod headers;
pub mod machine;
pub mod manifest;
pub mod metrics;
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
    /// Path relative to the root, with `/`; with `:line` if a line is meant.
    pub place: String,
    /// The problem and its remedy.
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
