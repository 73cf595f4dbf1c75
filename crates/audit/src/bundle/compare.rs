//! Comparison of several bundles: one log has one history.
//!
//! Specification: fairness/SPEC.md §15.3.

use std::collections::BTreeMap;

use merkle::note::{Note, VerifierKey};
use merkle::{Checkpoint, Hash, leaf_hash};

use super::{Bundle, ProvedLog, TrustedKeys};

/// Item of a log that has one content only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LogItem {
    Position(u64),
    Version([u8; 16], u64),
    /// The root over so many records.
    Root(u64),
}

impl LogItem {
    /// Describes two contents of the item in a log.
    fn twice(self, log: &str) -> String {
        match self {
            LogItem::Position(position) => format!("{log} has two records at position {position}"),
            LogItem::Version(stream, version) => format!(
                "{log} has two records of version {version} in stream {}",
                primitives::StreamId(stream)
            ),
            LogItem::Root(size) => format!("{log} was signed with two trees of {size} records"),
        }
    }
}

/// Two things said of one log that cannot both be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The source that had said the other thing before.
    pub with: String,
    pub what: String,
}

/// Histories of logs, by their names, as sources have them. A source is a bundle or a checkpoint; only
/// what is proved under trusted keys belongs into it.
#[derive(Debug, Clone, Default)]
pub struct Histories {
    sources: Vec<String>,
    /// Contents of an item, each with every source that has it.
    contents: BTreeMap<(String, LogItem), Vec<(Hash, usize)>>,
}

impl Histories {
    /// Adds a bundle whose records are proved. Returns how it contradicts those added before: by another
    /// record with the same position, or with the same stream and version, or by another root over as
    /// many records.
    pub fn add(&mut self, source: &str, bundle: &Bundle) -> Vec<Contradiction> {
        self.sources.push(source.to_owned());
        let logs = bundle.logs().into_iter();
        logs.flat_map(|(_, log)| self.add_log(log)).collect()
    }

    fn add_log(&mut self, log: &ProvedLog) -> Vec<Contradiction> {
        let mut items: Vec<(LogItem, Hash)> = Vec::new();
        for event in &log.records {
            let leaf = leaf_hash(&event.record());
            items.push((LogItem::Position(event.position.0), leaf));
            items.push((LogItem::Version(event.stream.0, event.version.0), leaf));
        }
        if let Ok(note) = Note::parse(log.checkpoint.as_bytes())
            && let Ok(checkpoint) = Checkpoint::parse(note.text())
        {
            items.push((LogItem::Root(checkpoint.head().size), checkpoint.head().root));
        }
        let name = VerifierKey::parse(&log.key).map(|key| key.name().to_string());
        name.map(|name| self.insert(&name, items)).unwrap_or_default()
    }

    /// Adds a checkpoint that one of the keys has signed. Returns how it contradicts what was added
    /// before; `None` if no key has signed it.
    pub fn add_checkpoint(
        &mut self,
        source: &str,
        note: &str,
        trusted: &TrustedKeys,
    ) -> Option<Vec<Contradiction>> {
        let opens = |key: &&VerifierKey| Checkpoint::open(note.as_bytes(), key, &[]).is_ok();
        let key = trusted.keys().filter(|key| key.is_log()).find(opens)?;
        let head = Checkpoint::open(note.as_bytes(), key, &[]).ok()?.checkpoint.head();
        self.sources.push(source.to_owned());
        Some(self.insert(key.name().as_str(), vec![(LogItem::Root(head.size), head.root)]))
    }

    /// Adds what the last source shows of a log.
    fn insert(&mut self, log: &str, items: Vec<(LogItem, Hash)>) -> Vec<Contradiction> {
        let source = self.sources.len().saturating_sub(1);
        let mut contradictions = Vec::new();
        for (item, hash) in items {
            let before = self.contents.entry((log.to_owned(), item)).or_default();
            for (_, other) in before.iter().filter(|(content, _)| *content != hash) {
                let with = self.sources.get(*other).cloned().unwrap_or_default();
                contradictions.push(Contradiction { with, what: item.twice(log) });
            }
            before.push((hash, source));
        }
        contradictions
    }
}
