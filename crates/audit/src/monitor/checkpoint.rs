//! Checkpoints of one log that a monitor has seen: the newest it has read up to, and those that it
//! has seen signed and not read up to yet. A signed text counts from the moment it was seen, so a
//! log cannot show one, withhold its records, and take it back.

use merkle::note::{KeyName, VerifierKey};
use merkle::{Checkpoint, CheckpointError, ListedKey, TreeHead};

/// A checkpoint that is signed with a trusted key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub head: TreeHead,
    /// The note as it was shown, with all its signatures.
    pub note: String,
}

/// Contradiction between two checkpoints of one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("it signed two trees of {size} records")]
    Fork { size: u64 },
    #[error("it shows {shown} records, and signed {seen} before")]
    Shrunk { seen: u64, shown: u64 },
    #[error("its tree of {new} records does not begin with the one of {old} records it signed")]
    Inconsistent { old: u64, new: u64 },
}

/// Reason why a text is no checkpoint to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    #[error("it is no UTF-8 text")]
    Text,
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("the key that signed it had ended before the log had {size} records")]
    Ended { size: u64 },
    #[error("no key is trusted for {0}")]
    NoKey(KeyName),
}

/// Keys of one log that a reader trusts. All have the log's origin as their name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogKeys {
    origin: KeyName,
    keys: Vec<ListedKey>,
}

/// Reason why keys do not name one log of each kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogKeysError {
    #[error("no key is one of a {0}'s log: its name ends in /{0}")]
    Missing(&'static str),
    #[error("the keys are of several logs, {one} and {other}: give those of one")]
    Several { one: KeyName, other: KeyName },
}

impl LogKeys {
    /// Selects the keys of the log whose origin ends in this name.
    ///
    /// # Errors
    /// There are none, or they are of several logs.
    pub fn select(all: &[ListedKey], name: &'static str) -> Result<LogKeys, LogKeysError> {
        let is_of = |key: &VerifierKey| {
            let room = key.name().as_str().strip_suffix(name).and_then(|it| it.strip_suffix('/'));
            key.is_log() && room.is_some_and(|room| !room.is_empty())
        };
        let keys: Vec<ListedKey> = all.iter().filter(|it| is_of(&it.key)).cloned().collect();
        let origin = keys.first().ok_or(LogKeysError::Missing(name))?.key.name().clone();
        if let Some(other) = keys.iter().find(|it| *it.key.name() != origin) {
            return Err(LogKeysError::Several { one: origin, other: other.key.name().clone() });
        }
        Ok(LogKeys { origin, keys })
    }

    #[must_use]
    pub const fn origin(&self) -> &KeyName {
        &self.origin
    }

    /// Opens a note that must be a checkpoint of this log, signed with one of the keys before that
    /// key's end.
    ///
    /// # Errors
    /// It is not.
    pub fn open(&self, note: &[u8]) -> Result<Signed, NotSigned> {
        let text = std::str::from_utf8(note).map_err(|_| NotSigned::Text)?;
        let (mut why, mut ended) = (NotSigned::NoKey(self.origin.clone()), None);
        for listed in &self.keys {
            match Checkpoint::open(note, &listed.key, &[]) {
                Ok(opened) => {
                    let head = opened.checkpoint.head();
                    let ends = self.keys.iter().filter(|it| it.key == listed.key);
                    let until = ends.filter_map(|it| it.until).min();
                    if until.is_none_or(|until| head.size <= until) {
                        return Ok(Signed { head, note: text.to_owned() });
                    }
                    ended = Some(NotSigned::Ended { size: head.size });
                }
                Err(error) => why = error.into(),
            }
        }
        Err(ended.unwrap_or(why))
    }
}

/// Compares a checkpoint with one that was seen before, as far as the two alone tell.
///
/// # Errors
/// They contradict each other.
pub fn compare(seen: TreeHead, shown: TreeHead) -> Result<(), Contradiction> {
    if shown.size == seen.size && shown.root != seen.root {
        return Err(Contradiction::Fork { size: seen.size });
    }
    if shown.size < seen.size {
        return Err(Contradiction::Shrunk { seen: seen.size, shown: shown.size });
    }
    Ok(())
}
