//! Typed access to the settings of a source. At the end it reports the settings that nobody read.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use system::secret::Secret;

use super::problem::{ConfigError, Problem};
use super::source::Source;
use crate::auth::TokenIssuer;

/// Variables with the prefix `SABACC_` that are no setting of a service.
const OTHER_VARIABLES: &[&str] =
    &["SABACC_CONFIG", "SABACC_FETCH_POSTGRES", "SABACC_PG_BIN", "SABACC_SERVER", "SABACC_TOKEN"];

/// Reads settings by name and collects their problems.
#[derive(Debug)]
pub struct Settings {
    source: Source,
    requested: BTreeSet<String>,
    problems: Vec<Problem>,
}

/// Setting that was found: its name as its author wrote it, and its text.
struct FoundSetting {
    setting: String,
    value: String,
}

impl Settings {
    #[must_use]
    pub const fn new(source: Source) -> Settings {
        Settings { source, requested: BTreeSet::new(), problems: Vec::new() }
    }

    /// Reads the setting `key`. `None` if it is not set or does not parse; in the second case a
    /// problem with `allowed`, a description of right values, is added.
    pub fn get<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = self.find(key, &[])?;
        let parsed = parse(&found.value);
        if parsed.is_none() {
            self.add_problem(
                found.setting,
                Some(found.value),
                format!("not understood; allowed: {allowed}"),
            );
        }
        parsed
    }

    /// Reads a whole number within `range`.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> u64 {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, &allowed, |text| text.parse().ok().filter(|number| range.contains(number)))
            .unwrap_or(default)
    }

    /// Reads a duration in whole milliseconds, from 1 ms to one day. The key ends in `_ms`.
    pub fn millis(&mut self, key: &str, default: Duration) -> Duration {
        let unset = u64::try_from(default.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.number(key, 1..=86_400_000, unset))
    }

    /// Reads one of `words`.
    pub fn choice(&mut self, key: &str, words: &[&'static str]) -> Option<&'static str> {
        let allowed = words.join(", ");
        self.get(key, &allowed, |text| words.iter().copied().find(|word| *word == text))
    }

    /// Reads a path. The file is not accessed.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.get(key, "a path", |text| (!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// Reads the file of a private key that tokens are signed with; `name` goes into each token's
    /// `iss`. A problem is added where it cannot be used.
    pub fn issuer(&mut self, key: &str, name: &str) -> Option<TokenIssuer> {
        let path = self.path(key)?.display().to_string();
        let read = std::fs::read_to_string(&path)
            .map_err(|error| format!("{path} cannot be read: {error}"))
            .and_then(|pem| {
                TokenIssuer::from_pem(name, &pem).map_err(|error| format!("{path}: {error}"))
            });
        read.map_err(|advice| self.refuse(key, advice)).ok()
    }

    /// Reads a text that no message repeats. `aliases` are further names of it: variables without
    /// the prefix `SABACC_`.
    pub fn secret(&mut self, key: &str, aliases: &[&str]) -> Option<Secret> {
        let found = self.find(key, aliases)?;
        if found.value.is_empty() {
            self.add_problem(
                found.setting,
                None,
                "is empty; leave it away or give it a value".to_owned(),
            );
            return None;
        }
        Some(Secret::new(found.value))
    }

    /// Value of the variable `name`, which does not have the prefix `SABACC_`. `None` if it is
    /// unset or empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.source.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Adds a problem: `key` was understood and cannot be used.
    pub fn refuse(&mut self, key: &str, advice: String) {
        let found = self.find(key, &[]);
        let (setting, value) = match found {
            Some(found) => (found.setting, Some(found.value)),
            None => (format!("{key} ({})", variable_name(key)), None),
        };
        self.add_problem(setting, value, advice);
    }

    /// Whether `key` or one of `aliases` is set, to any value.
    pub(crate) fn is_set(&mut self, key: &str, aliases: &[&str]) -> bool {
        self.find(key, aliases).is_some()
    }

    /// Adds a problem if neither `key` nor one of `aliases` is set.
    pub fn require(&mut self, key: &str, aliases: &[&str], advice: &str) {
        if !self.is_set(key, aliases) {
            self.refuse(key, format!("must be set: {advice}"));
        }
    }

    /// Adds a problem of the variable `name`, which does not have the prefix `SABACC_`.
    pub(crate) fn refuse_variable(&mut self, name: &str, value: &str, advice: &str) {
        self.add_problem(name.to_owned(), Some(value.to_owned()), advice.to_owned());
    }

    /// Checks that there are no problems and that no setting is left over.
    ///
    /// # Errors
    /// All problems, among them each setting that nothing read.
    pub fn finish(mut self) -> Result<(), ConfigError> {
        let file = &self.source.file;
        let keys: Vec<&str> = self.requested.iter().map(String::as_str).collect();
        let variables: BTreeSet<String> = keys.iter().map(|key| variable_name(key)).collect();
        for (key, value) in &self.source.settings {
            if !self.requested.contains(key) {
                let advice = format!("no such setting; {}", suggest(key, &keys));
                let setting = format!("{key} in {file}");
                self.problems.push(Problem { setting, value: printable_value(key, value), advice });
            }
        }
        for (name, value) in &self.source.environment {
            let ours = name.starts_with("SABACC_") && !OTHER_VARIABLES.contains(&name.as_str());
            if ours && !variables.contains(name) {
                let names: Vec<&str> = variables.iter().map(String::as_str).collect();
                let advice = format!("no such setting; {}", suggest(name, &names));
                let setting = name.clone();
                self.problems.push(Problem {
                    setting,
                    value: printable_value(name, value),
                    advice,
                });
            }
        }
        if self.problems.is_empty() { Ok(()) } else { Err(ConfigError { problems: self.problems }) }
    }

    /// Checks that there are no problems. Settings that nothing read may be those of others.
    ///
    /// # Errors
    /// All problems.
    pub(super) fn finish_some(self) -> Result<(), ConfigError> {
        if self.problems.is_empty() { Ok(()) } else { Err(ConfigError { problems: self.problems }) }
    }

    fn find(&mut self, key: &str, aliases: &[&str]) -> Option<FoundSetting> {
        self.requested.insert(key.to_owned());
        let own = variable_name(key);
        for name in std::iter::once(own.as_str()).chain(aliases.iter().copied()) {
            if let Some(value) = self.source.environment.get(name) {
                return Some(FoundSetting { setting: name.to_owned(), value: value.clone() });
            }
        }
        let value = self.source.settings.get(key)?.clone();
        Some(FoundSetting { setting: format!("{key} in {}", self.source.file), value })
    }

    fn add_problem(&mut self, setting: String, value: Option<String>, advice: String) {
        self.problems.push(Problem { setting, value, advice });
    }
}

/// Value to show in a message. `None` if the name may be a misspelt name of a secret.
fn printable_value(name: &str, value: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let secret = ["url", "key", "token", "secret", "pass", "dat"];
    (!secret.iter().any(|part| name.contains(part))).then(|| value.to_owned())
}

fn variable_name(key: &str) -> String {
    format!("SABACC_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// Suggests the name nearest to `name` if it is at most three letters away, else lists all names.
fn suggest(name: &str, names: &[&str]) -> String {
    let alike = names.iter().map(|other| (edit_distance(name, other), *other)).min();
    match alike {
        Some((steps, other)) if steps <= 3 => format!("did you mean {other}?"),
        _ => format!("known are: {}", names.join(", ")),
    }
}

/// Levenshtein distance of two words.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut left = line + 1;
        let mut corner = line;
        for (column, other) in to.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or(usize::MAX);
            let here = (corner + usize::from(letter != *other)).min(above + 1).min(left + 1);
            if let Some(cell) = row.get_mut(column) {
                *cell = left;
            }
            (corner, left) = (above, here);
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}
