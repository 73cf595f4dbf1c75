//! Keyring from the settings of a service, which name the files of its keys.

use chassis::config::Settings;
use zeroize::Zeroizing;

use crate::{Keyring, parse_key, parse_keys};

impl Keyring {
    /// Reads the key that the setting `current` must name, and those that `previous` may name. Adds
    /// a problem for what is wrong; then there is no keyring.
    pub fn read(settings: &mut Settings, current: &str, previous: &str) -> Option<Keyring> {
        settings.require(current, &[], "name a file that nobody but this service can read");
        let current = read_file(settings, current, parse_key, "not 64 hexadecimal digits");
        let advice = "not 64 hexadecimal digits on each of its lines";
        let previous = match settings.path(previous) {
            Some(_) => read_file(settings, previous, parse_keys, advice),
            None => Some(Vec::new()),
        };
        Some(Keyring::new(&current?, &previous?))
    }
}

fn read_file<T>(
    settings: &mut Settings,
    name: &str,
    parse: fn(&str) -> Option<T>,
    advice: &str,
) -> Option<T> {
    let path = settings.path(name)?;
    let parsed = match std::fs::read_to_string(path).map(Zeroizing::new) {
        Ok(text) => parse(&text).ok_or_else(|| advice.to_owned()),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    };
    parsed.map_err(|advice| settings.refuse(name, advice)).ok()
}
