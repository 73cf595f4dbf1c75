//! What a table service is told.

use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};
use zeroize::Zeroizing;

/// Everything a table service is told.
pub struct Config {
    pub service: ServiceConfig,
    /// The players' keys are wrapped under it.
    pub people_key: Zeroizing<[u8; 32]>,
}

impl Config {
    /// Everything from a file and the environment.
    ///
    /// # Errors
    /// All that is wrong, at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(Service::Table, &mut settings);
        let people_key = people_key(&mut settings);
        settings.finish()?;
        let people_key = people_key.expect("without it the settings were refused");
        Ok(Config { service, people_key })
    }
}

/// The key out of the file that the setting names; what is wrong is noted.
fn people_key(settings: &mut Settings) -> Option<Zeroizing<[u8; 32]>> {
    let Some(path) = settings.path("people_key") else {
        let advice = "name a file that nobody but the table service can read";
        settings.refuse("people_key", advice.to_owned());
        return None;
    };
    let key = match std::fs::read_to_string(&path).map(Zeroizing::new) {
        Ok(text) => parse_key(&text).ok_or_else(|| "not 64 hexadecimal digits".to_owned()),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    };
    key.map_err(|advice| settings.refuse("people_key", advice)).ok()
}

/// The key that the players' keys are wrapped under: 64 hexadecimal digits.
#[must_use]
pub fn parse_key(text: &str) -> Option<Zeroizing<[u8; 32]>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        assert_eq!(parse_key(&"0f".repeat(32)).as_deref(), Some(&[15; 32]));
        for text in ["", "0f", &"0g".repeat(32), &"é".repeat(32), &"0f".repeat(33)] {
            assert_eq!(parse_key(text), None, "{text}");
        }
    }
}
