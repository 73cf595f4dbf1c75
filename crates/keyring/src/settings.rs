//! Keyring from the settings of a service: `NAME` is the file of the current key, `NAME_previous`
//! that of previous ones.

use chassis::config::Settings;
use zeroize::Zeroizing;

use crate::{Keyring, parse_key, parse_keys};

impl Keyring {
    /// Reads the key that the setting `name` must name, and those that `name` with `_previous` may
    /// name. Adds a problem for what is wrong; then there is no keyring.
    pub fn read(settings: &mut Settings, name: &str) -> Option<Keyring> {
        let advice = "name a file that nobody but this service can read";
        settings.require(name, &[], advice);
        let current = read_file(settings, name, parse_key, "not 64 hexadecimal digits");
        let name = format!("{name}_previous");
        let advice = "not 64 hexadecimal digits on each of its lines";
        let previous = match settings.path(&name) {
            Some(_) => read_file(settings, &name, parse_keys, advice),
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
