//! Comparison of several bundles: one log has one history.
//!
//! Specification: fairness/SPEC.md §15.3.

use std::collections::BTreeMap;

use merkle::note::{Note, VerifierKey};
use merkle::{Checkpoint, Hash, leaf_hash};

use super::{Bundle, ProvedLog, TrustedKeys};

/// Place of a record in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Position(u64),
    Version([u8; 16], u64),
    /// The root over so many records.
    Root(u64),
}

/// Histories of logs, by their keys, as bundles tell them.
#[derive(Debug, Clone, Default)]
pub struct Histories(BTreeMap<(String, Place), Hash>);

impl Histories {
    /// Adds a bundle. Returns how it contradicts those added before: by another record with the same
    /// position, or with the same stream and version, or by another root over as many records.
    pub fn add(&mut self, bundle: &Bundle) -> Vec<String> {
        let logs = bundle.logs().into_iter();
        logs.flat_map(|(name, log)| self.add_log(name, log)).collect()
    }

    fn add_log(&mut self, name: &str, log: &ProvedLog) -> Vec<String> {
        let mut told: Vec<(Place, Hash)> = Vec::new();
        for event in &log.records {
            let leaf = leaf_hash(&event.record());
            told.push((Place::Position(event.position.0), leaf));
            told.push((Place::Version(event.stream.0, event.version.0), leaf));
        }
        if let Ok(note) = Note::parse(log.checkpoint.as_bytes())
            && let Ok(checkpoint) = Checkpoint::parse(note.text())
        {
            told.push((Place::Root(checkpoint.head().size), checkpoint.head().root));
        }
        self.tell(name, &log.key, told)
    }

    /// Adds a checkpoint that one of the keys has signed. Returns how it contradicts what was added
    /// before; `None` if no key has signed it.
    pub fn add_checkpoint(&mut self, note: &str, trusted: &TrustedKeys) -> Option<Vec<String>> {
        let opens = |key: &&VerifierKey| Checkpoint::open(note.as_bytes(), key, &[]).is_ok();
        let key = trusted.keys().filter(|key| key.is_log()).find(opens)?;
        let head = Checkpoint::open(note.as_bytes(), key, &[]).ok()?.checkpoint.head();
        let name = key.name().as_str().rsplit('/').next().unwrap_or_default().to_owned();
        Some(self.tell(&name, &key.to_string(), vec![(Place::Root(head.size), head.root)]))
    }

    fn tell(&mut self, name: &str, key: &str, told: Vec<(Place, Hash)>) -> Vec<String> {
        let mut contradictions = Vec::new();
        for (place, hash) in told {
            let before = *self.0.entry((key.to_owned(), place)).or_insert(hash);
            if before != hash {
                contradictions.push(match place {
                    Place::Position(position) => {
                        format!("the {name}'s log has two records at position {position}")
                    }
                    Place::Version(stream, version) => format!(
                        "the {name}'s log has two records of version {version} in stream {}",
                        primitives::StreamId(stream)
                    ),
                    Place::Root(size) => {
                        format!("the {name}'s log was signed with two trees of {size} records")
                    }
                });
            }
        }
        contradictions
    }
}
