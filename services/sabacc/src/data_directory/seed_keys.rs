//! Keys that encrypt the dealer's seeds at rest, and their rotation.
//!
//! `keys/seed.key` is the key of new seeds. `keys/seed.key.previous`, if it exists, holds its
//! predecessors, newest first, one per line: the dealer opens older seeds with them, and seals
//! those again under the new key. A rotation writes the previous keys first and the new key after,
//! each file atomically: at every moment the key of every seed is in one of the files.

use anyhow::Context as _;
use sabacc_dealer::vault::{KeyId, SeedKey, parse_key, parse_keys};
use zeroize::Zeroizing;

use super::{DataDirectory, random_hex, write_private};

const CURRENT: &str = "seed.key";
const PREVIOUS: &str = "seed.key.previous";

/// Keys that a dealer seals and opens seeds with.
pub(crate) struct SeedKeys {
    pub(crate) current: SeedKey,
    pub(crate) previous: Vec<SeedKey>,
}

impl DataDirectory {
    pub(crate) fn seed_keys(&self) -> anyhow::Result<SeedKeys> {
        let current = parse_key(&self.secret_text(CURRENT)?);
        let current = current.context("keys/seed.key is not 64 hexadecimal digits")?;
        let path = self.path.join("keys").join(PREVIOUS);
        if !path.exists() {
            return Ok(SeedKeys { current, previous: Vec::new() });
        }
        let text = std::fs::read_to_string(&path).map(Zeroizing::new);
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        let previous = parse_keys(&text);
        let previous = previous
            .context("keys/seed.key.previous is not 64 hexadecimal digits on each of its lines")?;
        Ok(SeedKeys { current, previous })
    }

    /// Replaces the key of new seeds; returns the ids of the old and the new key. No room may run.
    pub(crate) fn rotate_seed_key(&self) -> anyhow::Result<(KeyId, KeyId)> {
        let old = self.keep_current_seed_key()?;
        Ok((old, self.replace_seed_key()?))
    }

    /// Puts the current key among the previous ones. Idempotent.
    fn keep_current_seed_key(&self) -> anyhow::Result<KeyId> {
        let SeedKeys { current, previous } = self.seed_keys()?;
        let mut lines = Zeroizing::new(line(&current));
        for key in previous.iter().filter(|key| ***key != *current) {
            lines.push_str(&line(key));
        }
        write_private(&self.path.join("keys").join(PREVIOUS), lines.as_bytes())?;
        Ok(KeyId::of(&current))
    }

    fn replace_seed_key(&self) -> anyhow::Result<KeyId> {
        write_private(&self.path.join("keys").join(CURRENT), random_hex().as_bytes())?;
        Ok(KeyId::of(&self.seed_keys()?.current))
    }
}

fn line(key: &SeedKey) -> String {
    let mut line: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(keys: &SeedKeys) -> (KeyId, Vec<KeyId>) {
        let previous = keys.previous.iter().map(|key| KeyId::of(key)).collect();
        (KeyId::of(&keys.current), previous)
    }

    #[test]
    fn no_crash_between_the_files_loses_a_key() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataDirectory::create(place.path()).unwrap();
        let (first, none) = ids(&folder.seed_keys().unwrap());
        assert_eq!(none, []);

        // The machine stops after the first file, twice.
        for _ in 0..2 {
            assert_eq!(folder.keep_current_seed_key().unwrap(), first);
            assert_eq!(ids(&folder.seed_keys().unwrap()), (first, vec![first]));
        }
        let (old, second) = folder.rotate_seed_key().unwrap();
        assert_eq!(old, first);
        assert_ne!(second, first);
        assert_eq!(ids(&folder.seed_keys().unwrap()), (second, vec![first]));

        let (old, third) = folder.rotate_seed_key().unwrap();
        assert_eq!(old, second);
        assert_eq!(ids(&folder.seed_keys().unwrap()), (third, vec![second, first]));
    }

    #[test]
    fn a_damaged_file_is_told_and_nothing_is_rotated() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataDirectory::create(place.path()).unwrap();
        folder.rotate_seed_key().unwrap();
        let current = ids(&folder.seed_keys().unwrap()).0;
        let path = place.path().join("keys").join(PREVIOUS);
        std::fs::write(&path, "0f0f").unwrap();
        let error = folder.rotate_seed_key().unwrap_err().to_string();
        assert!(error.contains(PREVIOUS) && !error.contains("0f0f"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(ids(&folder.seed_keys().unwrap()), (current, vec![]));
    }
}
