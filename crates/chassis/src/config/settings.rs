//! Taking settings out of a source, one by one, and at the end asking what is left over.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use system::secret::Secret;

use super::problem::{ConfigError, Problem};
use super::source::Source;

/// Variables with our prefix that a process may meet although no service's setting has their name.
const ELSEWHERE: &[&str] =
    &["SABACC_CONFIG", "SABACC_FETCH_POSTGRES", "SABACC_PG_BIN", "SABACC_SERVER", "SABACC_TOKEN"];

/// Reads settings by name and collects what is wrong with them.
#[derive(Debug)]
pub struct Settings {
    source: Source,
    asked: BTreeSet<String>,
    problems: Vec<Problem>,
}

/// A setting as found: how its author called it, and its text.
struct Found {
    setting: String,
    value: String,
}

impl Settings {
    #[must_use]
    pub const fn new(source: Source) -> Settings {
        Settings { source, asked: BTreeSet::new(), problems: Vec::new() }
    }

    /// The setting `key`, parsed. None where it is not set, or wrong, which is noted together with
    /// `allowed`, the words for what would be right.
    pub fn get<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = self.find(key, &[])?;
        let parsed = parse(&found.value);
        if parsed.is_none() {
            self.note(
                found.setting,
                Some(found.value),
                format!("not understood; allowed: {allowed}"),
            );
        }
        parsed
    }

    /// A whole number within `range`.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> u64 {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, &allowed, |text| text.parse().ok().filter(|number| range.contains(number)))
            .unwrap_or(default)
    }

    /// A span of time in whole milliseconds, from one to a day; the key ends in `_ms`.
    pub fn millis(&mut self, key: &str, default: Duration) -> Duration {
        let unset = u64::try_from(default.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.number(key, 1..=86_400_000, unset))
    }

    /// One of `words`.
    pub fn choice(&mut self, key: &str, words: &[&'static str]) -> Option<&'static str> {
        let allowed = words.join(", ");
        self.get(key, &allowed, |text| words.iter().copied().find(|word| *word == text))
    }

    /// A path; not looked at.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.get(key, "a path", |text| (!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// A text that is never repeated in a message; also under the names in `aliases`, which are
    /// variables without our prefix.
    pub fn secret(&mut self, key: &str, aliases: &[&str]) -> Option<Secret> {
        let found = self.find(key, aliases)?;
        if found.value.is_empty() {
            self.note(found.setting, None, "is empty; leave it away or give it a value".to_owned());
            return None;
        }
        Some(Secret::new(found.value))
    }

    /// The variable `name`, whose prefix is not ours.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.source.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Notes that `key`, as far as it was understood, cannot be used.
    pub fn refuse(&mut self, key: &str, advice: String) {
        let found = self.find(key, &[]);
        let (setting, value) = match found {
            Some(found) => (found.setting, Some(found.value)),
            None => (format!("{key} ({})", variable_of(key)), None),
        };
        self.note(setting, value, advice);
    }

    /// Whether `key` is set, rightly or wrongly, also under the names in `aliases`.
    pub fn is_set(&mut self, key: &str, aliases: &[&str]) -> bool {
        self.find(key, aliases).is_some()
    }

    /// Notes that `key` is needed and not set; nothing where it is, also under the names in `aliases`.
    pub fn require(&mut self, key: &str, aliases: &[&str], advice: &str) {
        if !self.is_set(key, aliases) {
            self.refuse(key, format!("must be set: {advice}"));
        }
    }

    /// Notes that the variable `name`, whose prefix is not ours, cannot be used.
    pub fn refuse_variable(&mut self, name: &str, value: &str, advice: &str) {
        self.note(name.to_owned(), Some(value.to_owned()), advice.to_owned());
    }

    /// Whether everything was understood and nothing is left over.
    ///
    /// # Errors
    /// All problems noted, and every key that nobody asked for.
    pub fn finish(mut self) -> Result<(), ConfigError> {
        let file = &self.source.file;
        let keys: Vec<&str> = self.asked.iter().map(String::as_str).collect();
        let variables: BTreeSet<String> = keys.iter().map(|key| variable_of(key)).collect();
        for (key, value) in &self.source.settings {
            if !self.asked.contains(key) {
                let advice = format!("no such setting; {}", nearest(key, &keys));
                let setting = format!("{key} in {file}");
                self.problems.push(Problem { setting, value: shown(key, value), advice });
            }
        }
        for (name, value) in &self.source.environment {
            let ours = name.starts_with("SABACC_") && !ELSEWHERE.contains(&name.as_str());
            if ours && !variables.contains(name) {
                let names: Vec<&str> = variables.iter().map(String::as_str).collect();
                let advice = format!("no such setting; {}", nearest(name, &names));
                let setting = name.clone();
                self.problems.push(Problem { setting, value: shown(name, value), advice });
            }
        }
        if self.problems.is_empty() { Ok(()) } else { Err(ConfigError { problems: self.problems }) }
    }

    fn find(&mut self, key: &str, aliases: &[&str]) -> Option<Found> {
        self.asked.insert(key.to_owned());
        let own = variable_of(key);
        for name in std::iter::once(own.as_str()).chain(aliases.iter().copied()) {
            if let Some(value) = self.source.environment.get(name) {
                return Some(Found { setting: name.to_owned(), value: value.clone() });
            }
        }
        let value = self.source.settings.get(key)?.clone();
        Some(Found { setting: format!("{key} in {}", self.source.file), value })
    }

    fn note(&mut self, setting: String, value: Option<String>, advice: String) {
        self.problems.push(Problem { setting, value, advice });
    }
}

/// A name we do not know may be a misspelt one of a secret.
fn shown(name: &str, value: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let secret = ["url", "key", "token", "secret", "pass", "dat"];
    (!secret.iter().any(|part| name.contains(part))).then(|| value.to_owned())
}

fn variable_of(key: &str) -> String {
    format!("SABACC_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// The name most like `name`, if one is, else all of them.
fn nearest(name: &str, names: &[&str]) -> String {
    let alike = names.iter().map(|other| (distance(name, other), *other)).min();
    match alike {
        Some((steps, other)) if steps <= 3 => format!("did you mean {other}?"),
        _ => format!("known are: {}", names.join(", ")),
    }
}

/// Letters to change, add or leave away to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
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
