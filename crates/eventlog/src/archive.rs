//! Archives of old ranges of a log: files that prove themselves, so that the events can be removed
//! from the database.
//!
//! **Retention.** The service itself removes nothing: its role has no right to. An operator
//! 1. writes a range to a file with [`write()`], the oldest range first, each from the end of the
//!    last;
//! 2. keeps the file in several places and checks it there with [`Archive::finish`];
//! 3. removes the range with [`remove`], with an administrator's database URL. It refuses unless
//!    the file is complete, equals the live log event for event, begins at the log's cut, and holds
//!    no event recorded since the time to keep.
//!
//! The database keeps the **cut** (its position and the peaks of the tree there, from which the
//! tree is built when the log is opened), the leaf record of every stream's last event, so that
//! versions continue, the streams that the service still reads, such as disputes and hands that are not over,
//! and of answered requests what [`RetainedRequests`] says. So that no repeat acts twice, it also
//! remembers for good up to which key answers were forgotten, and a person's id up to there is refused
//! as too old. Reading a removed event is an error that names the cut. A service that folds its whole log can no longer start
//! from the events alone, so the cut must be below its snapshot. [`restore`] puts a range back, the
//! newest first.
//!
//! Where the files lie, they can be mounted: [`MountedArchives`] answers questions about removed
//! events from them. It believes no file.
//!
//! **File format**, numbers big-endian: magic, length and name of the log, first position, position
//! after the last, peaks of the tree at the first; then each event with all its columns; then size
//! and root of the log when the file was written, and the RFC 6962 consistency proof from the end
//! of the range to that size; then an index, by which one event or the events of one stream are found
//! with a few reads of ranges (`index`); then the SHA-256 of everything before. A signed checkpoint of
//! that size is all that a verifier needs in addition.
//!
//! Specification: ARCHITECTURE.md §2.11.

mod format;
mod index;
mod mounted;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use eventlog_core::{Event, Position, Version};
use merkle::{Hash, ProofError, Tree, leaf_hash, verify_consistency};
use primitives::{StreamId, UnixMicros};

pub use crate::pg::{remove, restore};
pub use mounted::{ArchiveStorage, MountError, MountedArchives};

use crate::error::{ReadError, Source};
use crate::reader::Reader;
use crate::stream_heads::StreamHead;
use format::{ArchiveReader, ArchiveWriter, HashingReader};
use index::IndexBuilder;

const PAGE: usize = 1000;

/// Error of writing, reading, removing or restoring an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the file could not be read or written")]
    Io(#[from] io::Error),
    #[error("the file is no archive, or damaged: {0}")]
    Corrupt(&'static str),
    #[error("the file's events do not lead to the root that it names")]
    Proof(#[from] ProofError),
    #[error("positions {from} to {to} are no range of a log of {size} events")]
    Range { from: u64, to: u64, size: u64 },
    /// Error of [`remove`] and [`restore`]: ranges are removed the oldest first and restored the
    /// newest first.
    #[error("the file holds positions {from} to {to}, and the log is cut at {cut}")]
    Order { from: u64, to: u64, cut: u64 },
    #[error("the file and the live log differ at position {0}: nothing was removed")]
    Differs(u64),
    #[error("the file holds events recorded since {}, which are to be kept", .0.0)]
    Retained(UnixMicros),
    #[error(
        "the file reaches to position {to}, and the log is signed up to {signed}: wait for a checkpoint"
    )]
    NotSigned { to: u64, signed: u64 },
    #[error("the database cannot be reached, or refuses: an administrator's address is needed")]
    Database(Source),
}

/// Events that a removal keeps although the archive has them.
#[derive(Clone, Copy, Debug)]
pub struct Retained<'a> {
    /// An archive with events recorded since then is not removed at all.
    pub since: UnixMicros,
    /// Streams that the service still reads.
    pub streams: &'a [StreamId],
    /// Streams of which the events from a version on are still read.
    pub tails: &'a [(StreamId, Version)],
    pub requests: RetainedRequests,
}

/// Part of the requests that stays when the events that they caused are removed. Answers to people's requests under ids
/// with a time are forgotten in any case: such an id is refused as too old from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetainedRequests {
    /// Caller and time of each request, and its answer.
    CallersAndAnswers,
    Answers,
    /// For a service that recognises a repeat by its own state.
    Nothing,
}

impl Retained<'_> {
    /// Keeps what was recorded since a time, callers and answers, and no stream.
    #[must_use]
    pub const fn since(since: UnixMicros) -> Retained<'static> {
        let requests = RetainedRequests::CallersAndAnswers;
        Retained { since, streams: &[], tails: &[], requests }
    }
}

/// Header of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    pub log: Arc<str>,
    /// Positions of the events.
    pub range: Range<u64>,
    /// Tree of all events before the range.
    pub before: Tree,
}

/// Result of a complete and consistent archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    pub header: Header,
    /// Tree of all events up to the end of the range.
    pub after: Tree,
    /// Size and root of the log when the file was written, to be compared with a signed checkpoint.
    pub head: (u64, Hash),
    /// Time at which the last event of the range was recorded.
    pub recorded_at: UnixMicros,
}

/// Builds the tree of the first `size` events, starting at the log's cut.
pub async fn tree_at(reader: &Reader, size: u64) -> Result<Tree, ArchiveError> {
    let tree = reader.cut().await?.unwrap_or_default();
    if size < tree.size() {
        return Err(ReadError::Archived { size: tree.size() }.into());
    }
    grow_tree(reader, tree, size, |_| Ok(())).await
}

/// Number of events that were recorded before a time; those before the cut count among them.
pub async fn size_before(reader: &Reader, time: UnixMicros) -> Result<u64, ArchiveError> {
    let cut = reader.cut().await?.map_or(0, |cut| cut.size());
    let (mut before, mut not) = (cut, reader.size().await?);
    while before < not {
        let middle = before + (not - before) / 2;
        let page = reader.read(Position(middle), 1).await?;
        match page.first() {
            Some(event) if event.recorded_at < time => before = middle + 1,
            Some(_) | None => not = middle,
        }
    }
    Ok(before)
}

/// Appends events to a tree until it has `size` leaves. Passes each event to `show`.
async fn grow_tree(
    reader: &Reader,
    mut tree: Tree,
    size: u64,
    mut show: impl FnMut(&Event) -> Result<(), ArchiveError>,
) -> Result<Tree, ArchiveError> {
    while tree.size() < size {
        let missing = usize::try_from(size - tree.size()).unwrap_or(PAGE).min(PAGE);
        let page = reader.read(Position(tree.size()), missing).await?;
        if page.first().is_none_or(|event| event.position.0 != tree.size()) {
            let what = format!("no event at position {}", tree.size());
            return Err(ReadError::Corrupt(what.into()).into());
        }
        for event in page {
            show(&event)?;
            tree.push(&event.record());
        }
    }
    Ok(tree)
}

/// Writes an archive of a range of positions. `before` is the tree at its beginning: from
/// [`tree_at`], or the end of the previous archive. Blocks on `out`, so it is for an operator's
/// program and not for a service.
pub async fn write(
    reader: &Reader,
    range: Range<u64>,
    before: Tree,
    out: &mut impl Write,
) -> Result<Verified, ArchiveError> {
    let (from, to) = (range.start, range.end);
    let size = reader.size().await?;
    let is_indexable = to.saturating_sub(from) <= index::MAX_EVENTS;
    if from >= to || to > size || before.size() != from || !is_indexable {
        return Err(ArchiveError::Range { from, to, size });
    }
    let mut out = ArchiveWriter::new(out);
    let header = Header { log: reader.name().into(), range, before: before.clone() };
    out.header(&header)?;
    let mut recorded_at = UnixMicros::default();
    let after = grow_tree(reader, before, to, |event| {
        recorded_at = event.recorded_at;
        out.event(event)
    })
    .await?;
    let mut rest = Vec::new();
    let whole = grow_tree(reader, after.clone(), size, |event| {
        rest.push(leaf_hash(&event.record()));
        Ok(())
    })
    .await?;
    let head = (size, whole.root());
    out.tail(&header, head, &consistency_proof(&after, &rest))?;
    Ok(Verified { header, after, head, recorded_at })
}

/// Consistency proof from `old` to the tree with the further leaves `rest`. The required subtrees
/// of the older tree are among its peaks.
fn consistency_proof(old: &Tree, rest: &[Hash]) -> Vec<Hash> {
    let (old_size, size) = (old.size(), old.size() + rest.len() as u64);
    let (mut path, mut peaks) = (Vec::new(), old.peaks().iter());
    let (mut begins, mut ends) = (0, size);
    while old_size < ends {
        let middle = begins + (1 << (ends - begins - 1).ilog2());
        if old_size <= middle {
            let of = |position: u64| usize::try_from(position - old_size).unwrap_or(rest.len());
            path.push(merkle::leaves_root(&rest[of(middle)..of(ends)]));
            ends = middle;
        } else {
            path.extend(peaks.next());
            begins = middle;
        }
    }
    if begins > 0 {
        path.extend(peaks.next());
    }
    path.reverse();
    path
}

/// Archive being read. Events are checked one by one, the whole file by [`Archive::finish`].
pub struct Archive<R> {
    input: ArchiveReader<HashingReader<R>>,
    header: Header,
    tree: Tree,
    recorded_at: UnixMicros,
    /// Last event of each stream read so far.
    heads: BTreeMap<StreamId, StreamHead>,
    /// Index over the events read so far.
    index: IndexBuilder,
}

impl<R: Read> Archive<R> {
    pub fn open(input: R) -> Result<Archive<R>, ArchiveError> {
        let mut input = ArchiveReader::new(HashingReader::new(input));
        let header = input.header()?;
        let tree = header.before.clone();
        let (recorded_at, heads) = (UnixMicros::default(), BTreeMap::new());
        let index = IndexBuilder::default();
        Ok(Archive { input, header, tree, recorded_at, heads, index })
    }

    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Reads and checks the next event; `None` after the last.
    pub fn next_event(&mut self) -> Result<Option<Event>, ArchiveError> {
        if self.tree.size() == self.header.range.end {
            return Ok(None);
        }
        let begins = self.input.offset();
        let event = self.input.event(self.tree.size())?;
        let head = StreamHead::from_last_event(&event);
        let before = self.heads.insert(event.stream, head);
        let follows = before.is_none_or(|before| {
            event.previous == before.hash && event.version.0 == before.version.0 + 1
        });
        if !follows || event.recorded_at < self.recorded_at {
            return Err(ArchiveError::Corrupt("an event does not follow the one before it"));
        }
        self.recorded_at = event.recorded_at;
        self.index.add(&event, begins);
        self.tree.push(&event.record());
        Ok(Some(event))
    }

    /// Reads the rest and verifies the whole file: every byte is as it was written, and the events
    /// lead to the root of the log that the file names.
    pub fn finish(mut self) -> Result<Verified, ArchiveError> {
        while self.next_event()?.is_some() {}
        let Archive { mut input, header, tree: after, recorded_at, heads: _, index } = self;
        let (head, path) = input.tail(&header, index)?;
        verify_consistency((after.size(), &after.root()), (head.0, &head.1), &path)?;
        Ok(Verified { header, after, head, recorded_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_from_peaks_are_the_proofs_of_the_list() {
        let leaves: Vec<Hash> = (0..70_u8).map(|n| leaf_hash(&[n])).collect();
        for size in 1..=leaves.len() {
            let mut old = Tree::new();
            for (length, leaf) in leaves[..size].iter().enumerate() {
                old.push_leaf(*leaf);
                let expected = merkle::consistency_proof(&leaves[..size], length + 1).unwrap();
                assert_eq!(
                    consistency_proof(&old, &leaves[length + 1..size]),
                    expected,
                    "{length} of {size}"
                );
            }
        }
    }
}
