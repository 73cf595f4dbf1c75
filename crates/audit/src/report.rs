//! Verdicts, one for each check, with reasons.

use std::fmt;

use serde::Serialize;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "why", rename_all = "snake_case")]
pub enum Verdict {
    Passed,
    /// The records cannot be honest.
    Failed(String),
    /// Something is missing that the check needs. This is not a pass.
    NotPossible(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Passed => f.write_str("passed"),
            Verdict::Failed(why) => write!(f, "FAILED: {why}"),
            Verdict::NotPossible(why) => write!(f, "not possible: {why}"),
        }
    }
}

/// A check with its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked<C> {
    pub check: C,
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Every check of an audit, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Checks<C>(pub Vec<Checked<C>>);

impl<C: Copy + PartialEq> Checks<C> {
    /// Whether every check was made and passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.0.iter().all(|checked| checked.verdict == Verdict::Passed)
    }

    /// Returns the checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = C> {
        let failed = |checked: &&Checked<C>| matches!(checked.verdict, Verdict::Failed(_));
        self.0.iter().filter(failed).map(|checked| checked.check)
    }

    /// Returns the verdict of one check.
    #[must_use]
    pub fn of(&self, check: C) -> Option<&Verdict> {
        self.0.iter().find(|checked| checked.check == check).map(|checked| &checked.verdict)
    }
}

/// Reason why a check does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckError {
    Failed(String),
    NotPossible(String),
}

impl From<Result<(), CheckError>> for Verdict {
    fn from(result: Result<(), CheckError>) -> Verdict {
        match result {
            Ok(()) => Verdict::Passed,
            Err(CheckError::Failed(why)) => Verdict::Failed(why),
            Err(CheckError::NotPossible(why)) => Verdict::NotPossible(why),
        }
    }
}

pub(crate) fn failed(why: impl Into<String>) -> CheckError {
    CheckError::Failed(why.into())
}

pub(crate) fn missing(why: impl Into<String>) -> CheckError {
    CheckError::NotPossible(why.into())
}

/// Fails with `why` if `fact` is false.
pub(crate) fn ensure(fact: bool, why: impl FnOnce() -> String) -> Result<(), CheckError> {
    if fact { Ok(()) } else { Err(CheckError::Failed(why())) }
}
