//! Keys that encrypt secrets at rest, and their rotation.
//!
//! `keys/NAME` is the current key. `keys/NAME.previous`, if it exists, holds its predecessors,
//! newest first, one per line: they only open, until nothing is left under them. A rotation writes
//! the previous keys first and the new key after, each file atomically: at every moment the key of
//! every secret is in one of the files.

use anyhow::Context as _;
use keyring::{Key, KeyId, Keyring, parse_key, parse_keys};
use zeroize::Zeroizing;

use super::{DataDirectory, random_hex, write_private};

/// Keys of the dealer's seeds at rest.
pub(crate) const SEED_KEY: &str = "seed.key";
/// Keys that the players' keys are sealed under.
pub(crate) const PEOPLE_KEY: &str = "people.key";

/// Keys that a service seals and opens secrets with.
pub(crate) struct Keys {
    current: Key,
    previous: Vec<Key>,
}

impl Keys {
    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::new(&self.current, &self.previous)
    }
}

impl DataDirectory {
    /// Reads the keys of this name. Makes the current one if there is none.
    pub(crate) fn keys(&self, name: &str) -> anyhow::Result<Keys> {
        let current = parse_key(&self.secret_text(name)?);
        let current =
            current.with_context(|| format!("keys/{name} is not 64 hexadecimal digits"))?;
        let path = self.path.join("keys").join(previous_name(name));
        if !path.exists() {
            return Ok(Keys { current, previous: Vec::new() });
        }
        let text = std::fs::read_to_string(&path).map(Zeroizing::new);
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        let previous = parse_keys(&text).with_context(|| {
            format!("keys/{name}.previous is not 64 hexadecimal digits on each of its lines")
        })?;
        Ok(Keys { current, previous })
    }

    /// Replaces the key of new seeds; returns the ids of the old and the new key. No room may run.
    pub(crate) fn rotate_seed_key(&self) -> anyhow::Result<(KeyId, KeyId)> {
        let old = self.keep_current_seed_key()?;
        Ok((old, self.replace_seed_key()?))
    }

    /// Puts the current key among the previous ones. Idempotent.
    fn keep_current_seed_key(&self) -> anyhow::Result<KeyId> {
        let Keys { current, previous } = self.keys(SEED_KEY)?;
        let former = previous.iter().filter(|key| ***key != *current);
        let mut lines = Zeroizing::new(String::new());
        for key in std::iter::once(&current).chain(former) {
            lines.push_str(&Zeroizing::new(hex::encode(&key[..])));
            lines.push('\n');
        }
        write_private(&self.path.join("keys").join(previous_name(SEED_KEY)), lines.as_bytes())?;
        Ok(KeyId::of(&current))
    }

    fn replace_seed_key(&self) -> anyhow::Result<KeyId> {
        write_private(&self.path.join("keys").join(SEED_KEY), random_hex().as_bytes())?;
        Ok(KeyId::of(&self.keys(SEED_KEY)?.current))
    }
}

fn previous_name(name: &str) -> String {
    format!("{name}.previous")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(keys: &Keys) -> (KeyId, Vec<KeyId>) {
        let previous = keys.previous.iter().map(KeyId::of).collect();
        (KeyId::of(&keys.current), previous)
    }

    #[test]
    fn no_crash_between_the_files_loses_a_key() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataDirectory::create(place.path()).unwrap();
        let (first, none) = ids(&folder.keys(SEED_KEY).unwrap());
        assert_eq!(none, []);

        // The machine stops after the first file, twice.
        for _ in 0..2 {
            assert_eq!(folder.keep_current_seed_key().unwrap(), first);
            assert_eq!(ids(&folder.keys(SEED_KEY).unwrap()), (first, vec![first]));
        }
        let (old, second) = folder.rotate_seed_key().unwrap();
        assert_eq!(old, first);
        assert_ne!(second, first);
        assert_eq!(ids(&folder.keys(SEED_KEY).unwrap()), (second, vec![first]));

        let (old, third) = folder.rotate_seed_key().unwrap();
        assert_eq!(old, second);
        assert_eq!(ids(&folder.keys(SEED_KEY).unwrap()), (third, vec![second, first]));
    }

    #[test]
    fn a_damaged_file_is_reported_and_nothing_is_rotated() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataDirectory::create(place.path()).unwrap();
        folder.rotate_seed_key().unwrap();
        let current = ids(&folder.keys(SEED_KEY).unwrap()).0;
        let path = place.path().join("keys").join(previous_name(SEED_KEY));
        std::fs::write(&path, "0f0f").unwrap();
        let error = folder.rotate_seed_key().unwrap_err().to_string();
        assert!(error.contains(&previous_name(SEED_KEY)) && !error.contains("0f0f"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(ids(&folder.keys(SEED_KEY).unwrap()), (current, vec![]));
    }
}
