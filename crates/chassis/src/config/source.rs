//! Raw settings of a file and of the environment: one text per name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::problem::{ConfigError, Problem};

/// Settings of a configuration file and variables of the environment, not parsed yet.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub(super) file: String,
    /// Setting by key: `limits.streams` → `32`. Lists of texts are joined with commas.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) environment: BTreeMap<String, String>,
}

impl Source {
    /// Reads this process's environment, and the file `file` or else the file that `SABACC_CONFIG`
    /// names.
    ///
    /// # Errors
    /// The file cannot be read or is not TOML, or the value of a variable is not Unicode.
    pub fn from_process(file: Option<&Path>) -> Result<Source, ConfigError> {
        let mut environment = BTreeMap::new();
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| is_ours(name)) else { continue };
            let value = value.into_string().map_err(|_| Problem {
                setting: name.to_owned(),
                value: None,
                advice: "the value is not Unicode text".to_owned(),
            })?;
            environment.insert(name.to_owned(), value);
        }
        let named = environment.get("SABACC_CONFIG").filter(|path| !path.is_empty());
        let Some(path) = file.map(Path::to_owned).or_else(|| named.map(PathBuf::from)) else {
            return Ok(Source { file: String::new(), settings: BTreeMap::new(), environment });
        };
        let text = std::fs::read_to_string(&path).map_err(|error| Problem {
            setting: "--config (SABACC_CONFIG)".to_owned(),
            value: Some(path.display().to_string()),
            advice: format!("the file cannot be read: {error}"),
        })?;
        Source::new(&path.display().to_string(), &text, environment)
    }

    /// Parses texts: the file's name for messages, its content, and the variables.
    ///
    /// # Errors
    /// The content is not TOML, or holds a value other than texts, whole numbers, booleans, lists
    /// of texts, and tables of these.
    pub fn new(
        file: &str,
        content: &str,
        environment: BTreeMap<String, String>,
    ) -> Result<Source, ConfigError> {
        let table: toml::Table = content.parse().map_err(|error: toml::de::Error| Problem {
            setting: file.to_owned(),
            value: None,
            advice: format!("not TOML: {}", error.message()),
        })?;
        let mut settings = BTreeMap::new();
        flatten("", table, &mut settings).map_err(|key| Problem {
            setting: format!("{key} in {file}"),
            value: None,
            advice: "allowed are texts, whole numbers, true and false, lists of texts".to_owned(),
        })?;
        Ok(Source { file: file.to_owned(), settings, environment })
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("SABACC_")
        || name.starts_with("OTEL_")
        || matches!(name, "DATABASE_URL" | "NO_COLOR" | "RUST_LOG")
}

/// Flattens nested tables into dotted keys. The error is the key of a value that has no flat form.
fn flatten(
    prefix: &str,
    table: toml::Table,
    into: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    for (key, value) in table {
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(flag) => flag.to_string(),
            toml::Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
                texts.ok_or_else(|| key.clone())?.join(",")
            }
            toml::Value::Table(inner) => {
                flatten(&key, inner, into)?;
                continue;
            }
            toml::Value::Float(_) | toml::Value::Datetime(_) => return Err(key),
        };
        into.insert(key, text);
    }
    Ok(())
}
