//! Archives that are mounted: questions about removed events are answered from the files.
//!
//! **No file is believed.** Each event is compared with the log's own tree: its leaf hash must stand in
//! the full tile of its position, which stays in the database. A file that says something else is
//! damaged, or of another log: the error names it and the position, the service's log has it too, the
//! file is not read for [`DISTRUST`], and another file that covers the position is tried. Nothing of it
//! is served. Events behind the last full tile cannot be compared, and are not served either.
//!
//! **Only questions of others** read here. What a service folds, its snapshots and its writer go on
//! without archives; so a storage that is slow or gone holds up nothing but these questions. Each
//! request to the storage and each read as a whole has a time limit, and after a failure the storage
//! is left alone for a rest, the longer the more often it failed. A disk that hangs keeps a thread of
//! the process for each read that was given up; these rests bound their number.
//!
//! A stream is followed from its newest archive back to the one that has the version asked for, by the
//! table of streams in each: one small read a file, cached.
//!
//! Specification: ARCHITECTURE.md §2.11.

mod cache;
mod file;
mod listing;
mod storage;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eventlog_core::{Event, Position};
use merkle::{Hash, leaf_hash};
use primitives::StreamId;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::checkpoint_store::CheckpointStore;
use crate::error::{ReadError, Source};
use crate::store::READ_BYTES;
use cache::Cache;
use file::{ArchiveFile, StreamEntry};
use listing::{ListedFile, Listing};
pub use storage::ArchiveStorage;
use storage::Failure;

/// Longest time for one read of a page.
const READ_TIMEOUT: Duration = Duration::from_secs(8);
/// Reads at a time.
const MAX_CONCURRENT_READS: usize = 4;
/// Time after which a page ends that has something.
const PAGE_TIME: Duration = Duration::from_secs(3);
/// Time for which a storage that failed is not asked: the first, doubled with each failure, at most
/// the last.
const OUTAGE_REST: Duration = Duration::from_secs(3);
const MAX_OUTAGE_REST: Duration = Duration::from_secs(60);
/// Time for which a file that was found damaged is not read.
const DISTRUST: Duration = Duration::from_secs(60);
/// Damaged files that are remembered.
const MAX_DISTRUSTED: usize = 1024;
/// Files that are tried for one page.
const MAX_ATTEMPTS: usize = 4;
/// Hashes in a tile.
const TILE_EVENTS: u64 = merkle::TILE_WIDTH as u64;
/// Events of a stream that are read at a time. They lie apart.
const SCATTERED_EVENTS: u64 = 64;

/// Error of mounted archives. The log itself is sound.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MountError {
    #[error("the storage of archives cannot be read: repeat the read later")]
    Unavailable(#[source] Source),
    #[error("the archive {file} is damaged, or not of this log, at position {position}: {what}")]
    Damaged { file: Arc<str>, position: u64, what: &'static str },
}

/// Archives of one log in a storage.
pub struct MountedArchives {
    storage: ArchiveStorage,
    log: Arc<str>,
    tiles: Arc<dyn CheckpointStore>,
    listing: Listing,
    reads: Semaphore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cache: Cache,
    /// Files that were found damaged, by name and stamp, with the error and the time until which they
    /// are not read.
    distrusted: BTreeMap<(Arc<str>, Arc<str>), (MountError, Instant)>,
    outage: Option<Outage>,
}

/// Failures of a storage since its last success.
#[derive(Clone)]
struct Outage {
    error: MountError,
    /// Time until which it is not asked.
    until: Instant,
    rest: Duration,
}

/// A read that took too long.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", .0.as_secs())]
struct TimedOut(Duration);

/// Reason why a page was not read from a file.
enum PageError {
    /// The file is to be left out, and the page to be read again.
    Again,
    Final(ReadError),
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> PageError {
        PageError::Final(error)
    }
}

/// Events of a stream in one file.
struct StreamPart {
    file: Arc<ArchiveFile>,
    entry: StreamEntry,
}

impl MountedArchives {
    /// Mounts the archives of a log. Nothing is read before the first question.
    #[must_use]
    pub fn new(
        storage: ArchiveStorage,
        tiles: Arc<dyn CheckpointStore>,
        log: impl Into<Arc<str>>,
    ) -> MountedArchives {
        let log = log.into();
        MountedArchives {
            listing: Listing::new(&log),
            storage,
            log,
            tiles,
            reads: Semaphore::new(MAX_CONCURRENT_READS),
            state: Mutex::default(),
        }
    }

    /// Events of a range of positions from its beginning on, and none behind [`READ_BYTES`] of
    /// payloads. `None` if no archive has the first.
    pub(crate) async fn read(&self, range: Range<u64>) -> Result<Option<Vec<Event>>, ReadError> {
        self.bounded(async {
            let mut page = Page::new();
            let mut at = range.start;
            while at < range.end && page.has_room() {
                let Some(found) = self.run(at..range.end).await? else { break };
                at += found.len() as u64;
                page.extend(found);
            }
            Ok(page.non_empty())
        })
        .await
    }

    /// Events of a stream with these versions from the first on, and none behind [`READ_BYTES`] of
    /// payloads. All of them stand before the position `before`. `None` if no archive has the first.
    pub(crate) async fn read_stream(
        &self,
        stream: StreamId,
        versions: Range<u64>,
        before: u64,
    ) -> Result<Option<Vec<Event>>, ReadError> {
        self.bounded(async {
            for _ in 0..MAX_ATTEMPTS {
                match self.stream_page(stream, versions.clone(), before).await {
                    Ok(page) => return Ok(page),
                    Err(PageError::Again) => {}
                    Err(PageError::Final(error)) => return Err(error),
                }
            }
            Ok(None)
        })
        .await
    }

    /// Bounds a read in time, and how many there are at a time.
    async fn bounded<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        let outage = self.state().outage.clone();
        if let Some(outage) = outage.filter(|outage| Instant::now() < outage.until) {
            return Err(ReadError::Archive(outage.error));
        }
        let admitted = async {
            let _permit = self.reads.acquire().await;
            read.await
        };
        match timeout(READ_TIMEOUT, admitted).await {
            Ok(Ok(read)) => {
                self.state().outage = None;
                Ok(read)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.note_outage(Arc::new(TimedOut(READ_TIMEOUT)))),
        }
    }

    fn note_outage(&self, source: Source) -> ReadError {
        tracing::warn!(log = &*self.log, error = %source, runbook = "deploy/README.md, An archive cannot be read", "the storage of archives cannot be read");
        let error = MountError::Unavailable(source);
        let mut state = self.state();
        let rest = state.outage.as_ref().map_or(OUTAGE_REST, |outage| outage.rest * 2);
        let rest = rest.min(MAX_OUTAGE_REST);
        state.outage = Some(Outage { error: error.clone(), until: Instant::now() + rest, rest });
        ReadError::Archive(error)
    }

    /// Adjacent events from the beginning of a range on, all in one tile. `None` if no archive has the
    /// first.
    async fn run(&self, range: Range<u64>) -> Result<Option<Vec<Event>>, ReadError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(listed) = self.find(range.start).await? else { return Ok(None) };
            let tile_end = (range.start / TILE_EVENTS + 1) * TILE_EVENTS;
            let end = range.end.min(listed.range.end).min(tile_end);
            let positions: Vec<u64> = (range.start..end).collect();
            let read = async {
                let file = self.open(&listed).await?;
                self.proved(&file, &positions).await
            };
            match read.await {
                Ok(events) => return Ok(events),
                Err(PageError::Again) => {}
                Err(PageError::Final(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn stream_page(
        &self,
        stream: StreamId,
        versions: Range<u64>,
        before: u64,
    ) -> Result<Option<Vec<Event>>, PageError> {
        let Some(parts) = self.stream_parts(stream, versions.start, before).await? else {
            return Ok(None);
        };
        let (mut page, mut next) = (Page::new(), versions.start);
        for StreamPart { file, entry } in parts.into_iter().rev() {
            while next < versions.end && next < entry.versions.end && page.has_room() {
                let end = entry.versions.end.min(versions.end).min(next + SCATTERED_EVENTS);
                let positions = file.stream_positions(&self.storage, &entry, next..end).await;
                let positions = positions.map_err(|failure| self.failed(&file.listed, failure))?;
                let Some(events) = self.proved(&file, &positions).await? else {
                    return Ok(page.non_empty());
                };
                for event in &events {
                    if event.stream != stream || event.version.0 != next {
                        let what = "its index names another stream's event";
                        let failure = Failure::Damaged(event.position.0, what);
                        return Err(self.failed(&file.listed, failure));
                    }
                    next += 1;
                }
                page.extend(events);
            }
        }
        Ok(page.non_empty())
    }

    /// Parts of a stream before a position, the newest first, back to the one with a version. `None`
    /// if an archive is missing on the way.
    async fn stream_parts(
        &self,
        stream: StreamId,
        version: u64,
        before: u64,
    ) -> Result<Option<Vec<StreamPart>>, PageError> {
        let (mut parts, mut end): (Vec<StreamPart>, u64) = (Vec::new(), before);
        let mut last = None;
        while end > 0 {
            let Some(listed) = self.find(end - 1).await? else { return Ok(None) };
            let file = self.open(&listed).await?;
            end = listed.range.start;
            last = Some(listed);
            if let Some(entry) = self.stream_entry(&file, stream).await? {
                let follows = parts
                    .last()
                    .is_none_or(|newer| entry.versions.end >= newer.entry.versions.start);
                let is_first = entry.versions.start <= version;
                parts.push(StreamPart { file, entry });
                if !follows {
                    break;
                }
                if is_first {
                    return Ok(Some(parts));
                }
            }
        }
        let Some(listed) = last else { return Ok(None) };
        // Which of the indexes lies cannot be told, so none is distrusted.
        let what = "its index, or that of another archive, leaves out events of a stream";
        let error = MountError::Damaged { file: listed.name.clone(), position: end, what };
        tracing::error!(log = &*self.log, %error, %stream, "archives cannot be read");
        Err(PageError::Final(ReadError::Archive(error)))
    }

    /// Entry of a stream in a file's table.
    async fn stream_entry(
        &self,
        file: &Arc<ArchiveFile>,
        stream: StreamId,
    ) -> Result<Option<StreamEntry>, PageError> {
        let Some(number) = file.table_page(stream) else { return Ok(None) };
        let cached = self.state().cache.page(&file.listed, number);
        let page = match cached {
            Some(page) => page,
            None => {
                let read = file.read_table_page(&self.storage, number).await;
                let page = read.map_err(|failure| self.failed(&file.listed, failure))?;
                self.state().cache.put_page(&file.listed, number, page.clone());
                page
            }
        };
        let entry = file.entry_in(&page, number, stream);
        entry.map_err(|failure| self.failed(&file.listed, failure))
    }

    /// Reads events of a file at ascending positions, at least the first, and compares them with the
    /// log's tree. `None` if it has no full tile for the first.
    async fn proved(
        &self,
        file: &ArchiveFile,
        positions: &[u64],
    ) -> Result<Option<Vec<Event>>, PageError> {
        let places: BTreeSet<u64> = positions.iter().map(|at| at / TILE_EVENTS).collect();
        let places: Vec<_> = places.into_iter().map(|index| (0, index)).collect();
        let tiles = self.tiles.tiles(&self.log, &places).await.map_err(ReadError::from)?;
        let tiles: BTreeMap<u64, _> =
            tiles.into_iter().map(|tile| (tile.coordinates.1, tile.hashes)).collect();
        let known = positions.iter().take_while(|at| tiles.contains_key(&(*at / TILE_EVENTS)));
        let known = known.count();
        if known == 0 {
            return Ok(None);
        }
        let read = file.events(&self.storage, &positions[..known]).await;
        let events = read.map_err(|failure| self.failed(&file.listed, failure))?;
        for event in &events {
            let Position(position) = event.position;
            let (hashes, _) = tiles
                .get(&(position / TILE_EVENTS))
                .map(|tile| tile.as_chunks::<{ size_of::<Hash>() }>())
                .unwrap_or_default();
            let slot = usize::try_from(position % TILE_EVENTS).unwrap_or(usize::MAX);
            if hashes.get(slot) != Some(&leaf_hash(&event.record())) {
                let what = "its event is not the one that the log's tree has there";
                return Err(self.failed(&file.listed, Failure::Damaged(position, what)));
            }
        }
        Ok(Some(events))
    }

    /// File to be read for a position: the longest that covers it. `None` if there is none, also
    /// after the files were listed anew.
    async fn find(&self, position: u64) -> Result<Option<ListedFile>, ReadError> {
        let mut distrusted = None;
        for refresh in [false, true] {
            let listed = self.listing.covering(&self.storage, position, refresh).await;
            let listed = listed.map_err(|error| self.note_outage(error))?;
            let state = self.state();
            for file in listed {
                match state.distrusted.get(&file.key()) {
                    Some((error, until)) if Instant::now() < *until => {
                        distrusted.get_or_insert_with(|| error.clone());
                    }
                    Some(_) | None => return Ok(Some(file)),
                }
            }
        }
        distrusted.map_or(Ok(None), |error| Err(ReadError::Archive(error)))
    }

    /// Opens a file, or takes it from the cache.
    async fn open(&self, listed: &ListedFile) -> Result<Arc<ArchiveFile>, PageError> {
        if let Some(file) = self.state().cache.file(listed) {
            return Ok(file);
        }
        let opened = ArchiveFile::open(&self.storage, listed, &self.log).await;
        let file = Arc::new(opened.map_err(|failure| self.failed(listed, failure))?);
        self.state().cache.put_file(Arc::clone(&file));
        Ok(file)
    }

    /// Consequences of a failure with a file.
    fn failed(&self, listed: &ListedFile, failure: Failure) -> PageError {
        match failure {
            Failure::Missing => {
                self.listing.forget(listed);
                PageError::Again
            }
            Failure::Unavailable(source) => PageError::Final(self.note_outage(source)),
            Failure::Damaged(position, what) => {
                let error = MountError::Damaged { file: listed.name.clone(), position, what };
                tracing::error!(log = &*self.log, %error, runbook = "deploy/README.md, An archive cannot be read", "an archive is not believed");
                let mut state = self.state();
                let now = Instant::now();
                state.distrusted.retain(|_, (_, until)| now < *until);
                if state.distrusted.len() < MAX_DISTRUSTED {
                    state.distrusted.insert(listed.key(), (error, now + DISTRUST));
                    PageError::Again
                } else {
                    PageError::Final(ReadError::Archive(error))
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events of a read, within the bounds that reads have.
struct Page {
    events: Vec<Event>,
    bytes: u64,
    begun: Instant,
}

impl Page {
    fn new() -> Page {
        Page { events: Vec::new(), bytes: 0, begun: Instant::now() }
    }

    /// Whether more is to be read.
    fn has_room(&self) -> bool {
        self.bytes < READ_BYTES && (self.events.is_empty() || self.begun.elapsed() < PAGE_TIME)
    }

    /// Adds events up to the bound of a page.
    fn extend(&mut self, events: Vec<Event>) {
        for event in events {
            if self.bytes < READ_BYTES {
                self.bytes += event.payload.len() as u64;
                self.events.push(event);
            }
        }
    }

    fn non_empty(self) -> Option<Vec<Event>> {
        (!self.events.is_empty()).then_some(self.events)
    }
}
