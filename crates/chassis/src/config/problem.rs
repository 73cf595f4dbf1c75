//! Problems of a configuration.

use std::fmt;

/// One wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Setting as its author wrote it: `limits.streams in sabacc.toml`, or `SABACC_LISTEN`.
    pub setting: String,
    /// Value of the setting. `None` if it is missing or secret.
    pub value: Option<String>,
    /// Explanation of the fault, and the values that would be right.
    pub advice: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value:?}: {}", self.setting, self.advice),
            None => write!(f, "{}: {}", self.setting, self.advice),
        }
    }
}

/// Error of a configuration that cannot be used. Nothing was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the configuration cannot be used:")?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> ConfigError {
        ConfigError { problems: vec![problem] }
    }
}
