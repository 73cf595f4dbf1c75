//! Settings of the table service.

use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};
use zeroize::Zeroizing;

/// Key under which the players' keys are wrapped.
pub type PeopleKey = Zeroizing<[u8; 32]>;

/// All settings of the table service.
pub struct Config {
    pub service: ServiceConfig,
    /// Key under which the players' keys are wrapped.
    pub people_key: PeopleKey,
    /// Former values of `people_key`. Players' keys under one of them are rewrapped at the start.
    pub previous_people_keys: Vec<PeopleKey>,
}

impl Config {
    /// Parses all settings from a file and the environment.
    ///
    /// # Errors
    /// All problems at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(Service::Table, &mut settings);
        let people_key = read_secret(&mut settings, "people_key", |text| {
            parse_key(text).ok_or("not 64 hexadecimal digits")
        });
        ServiceConfig::require(Service::Table, &mut settings);
        if people_key.is_none() && settings.path("people_key").is_none() {
            let advice = "name a file that nobody but the table service can read";
            settings.refuse("people_key", advice.to_owned());
        }
        let people_keys_previous = read_secret(&mut settings, "people_key_previous", |text| {
            parse_keys(text).ok_or("not 64 hexadecimal digits on each of its lines")
        });
        settings.finish()?;
        let people_key = people_key.expect("without it the settings were refused");
        let people_keys_previous = people_keys_previous.unwrap_or_default();
        Ok(Config { service, people_key, previous_people_keys: people_keys_previous })
    }
}

/// Reads a secret from the file that a setting names, if it names one; notes what is wrong.
fn read_secret<T>(
    settings: &mut Settings,
    key: &str,
    parse: impl Fn(&str) -> Result<T, &'static str>,
) -> Option<T> {
    let path = settings.path(key)?;
    let parsed = match std::fs::read_to_string(&path).map(Zeroizing::new) {
        Ok(text) => parse(&text).map_err(str::to_owned),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    };
    parsed.map_err(|advice| settings.refuse(key, advice)).ok()
}

/// Parses a key of 64 hexadecimal digits.
#[must_use]
pub fn parse_key(text: &str) -> Option<PeopleKey> {
    let text = text.trim();
    let mut key = Zeroizing::new([0; 32]);
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}

/// Parses keys, one on each line; none in an empty text.
#[must_use]
pub fn parse_keys(text: &str) -> Option<Vec<PeopleKey>> {
    text.lines().filter(|line| !line.trim().is_empty()).map(parse_key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        assert_eq!(parse_key(&"0f".repeat(32)).as_deref(), Some(&[15; 32]));
        for text in ["", "0f", &"0g".repeat(32), &"é".repeat(32), &"0f".repeat(33)] {
            assert_eq!(parse_key(text), None, "{text}");
        }
        assert_eq!(parse_keys("\n").unwrap(), []);
        let two = parse_keys(&format!("{}\n{}\n", "0f".repeat(32), "f0".repeat(32))).unwrap();
        assert_eq!((*two[0], *two[1], two.len()), ([15; 32], [240; 32], 2));
        assert_eq!(parse_keys(&format!("{}\nnone", "0f".repeat(32))), None);
    }
}
