//! Snapshots of the state that the log is folded into, so that a start reads only what came after.
//!
//! A snapshot is the fold itself ([`LogFold`]) at some size of the log, as JSON in zlib. It is made by folding
//! on from the snapshot before, apart from the tables' tasks: so a snapshot cannot differ from what a
//! start without it would find. An event names its SHA-256
//! (`RoomSnapshotTaken`), and only then is it stored. A stored one that the log does not name, or
//! that this program cannot read, is not used: the start takes longer, and nothing else changes.
//!
//! None is taken while a table is damaged, so that a later program can read its records anew.
//!
//! Specification: ARCHITECTURE.md §2.10.

use std::io::{self, Read as _};
use std::sync::Weak;
use std::time::Duration;

use eventlog::{AppendError, Entry, Log, ReadError, Reader, SnapshotPlace, Snapshots, StreamId};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use proto::event::v1::RoomSnapshotTaken;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wire::{Record as _, TableRecord};

use crate::actor::SERVICE_ACTOR;
use crate::recovery::{self, FoldError, LogFold};
use crate::registry::TableRegistry;

/// Form of a snapshot. One of another form is not read: a program with a new form reads the released ones
/// too (`tests/golden/snapshots`), since a log that was cut has no other state.
const FORMAT: u32 = 1;
/// Bytes that a snapshot may have for each event since the last one: a large state is written less
/// often, so that the cost of an event does not grow with it.
const BYTES_PER_EVENT: u64 = 20;
/// Share of the interval after which a stop takes a snapshot.
const FINAL_SHARE: u64 = 100;
/// Pause between two looks at the size of the log.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Longest time that the last snapshot may take.
const FINAL_TIMEOUT: Duration = Duration::from_secs(10);

/// State as of the first `size` events.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub size: u64,
    pub state: LogFold,
}

/// Snapshot as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredSnapshot<S> {
    format: u32,
    state: S,
}

/// Storage of snapshots, and how often one is taken.
#[derive(Clone)]
pub(crate) struct SnapshotPolicy {
    /// `None` for a log in memory: no snapshot is taken.
    pub store: Option<Snapshots>,
    /// Events after which one is taken.
    pub interval: u64,
}

impl SnapshotPolicy {
    /// Takes a snapshot into a store after so many events.
    #[must_use]
    pub(crate) const fn new(store: Snapshots, interval: u64) -> SnapshotPolicy {
        SnapshotPolicy { store: Some(store), interval }
    }
}

/// Error of taking a snapshot.
#[derive(Debug, thiserror::Error)]
enum SnapshotError {
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error(transparent)]
    Store(#[from] ReadError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("table {0} has a record that it could not take: an operator has to look at it first")]
    Damaged(primitives::TableId),
    #[error("the state cannot be written down: {0}")]
    Write(#[from] io::Error),
    #[error("the state could not be written down: the task for it has failed")]
    Task,
}

/// Newest snapshot that the log names, otherwise the state before the first event.
///
/// # Errors
/// Nothing can be read, or the log was cut and has no snapshot from behind the cut.
pub(crate) async fn newest_or_none(
    log: &Reader,
    snapshots: Option<&Snapshots>,
) -> Result<Snapshot, FoldError> {
    if let Some(snapshots) = snapshots
        && let Some(newest) = newest(log, snapshots).await?
    {
        return Ok(newest);
    }
    match log.cut().await?.map_or(0, |cut| cut.size()) {
        0 => Ok(Snapshot::default()),
        cut => Err(FoldError::NoSnapshot { cut }),
    }
}

/// Newest snapshot that the log names and this program can read.
///
/// # Errors
/// The log or the snapshots cannot be read.
pub(crate) async fn newest(
    log: &Reader,
    snapshots: &Snapshots,
) -> Result<Option<Snapshot>, ReadError> {
    for place in snapshots.places().await? {
        let size = place.size;
        let digest = named_digest(log, place).await?;
        let Some(bytes) = snapshots.vouched_bytes(size, digest).await? else { continue };
        let parsed = tokio::task::spawn_blocking(move || parse(&bytes)).await;
        match parsed.map_err(|_| ReadError::Corrupt("a snapshot".into()))? {
            Ok(state) => {
                tracing::info!(size, "the state is read from a snapshot");
                return Ok(Some(Snapshot { size, state }));
            }
            Err(error) => tracing::warn!(size, %error, "a snapshot cannot be read by this program"),
        }
    }
    Ok(None)
}

/// SHA-256 that the event at a snapshot's place names, if it is one and names this size.
async fn named_digest(log: &Reader, place: SnapshotPlace) -> Result<Option<[u8; 32]>, ReadError> {
    let events = match log.read(place.named_at, 1).await {
        Ok(events) => events,
        Err(ReadError::Archived { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(event) = events.first().filter(|event| event.stream == StreamId::ROOM) else {
        return Ok(None);
    };
    if let Ok(TableRecord::RoomSnapshotTaken(RoomSnapshotTaken { size, sha256 })) =
        TableRecord::try_from(event)
    {
        return Ok(sha256[..].try_into().ok().filter(|_| size == place.size));
    }
    Ok(None)
}

fn parse(bytes: &[u8]) -> Result<LogFold, String> {
    let mut text = Vec::new();
    ZlibDecoder::new(bytes).read_to_end(&mut text).map_err(|error| error.to_string())?;
    let stored: StoredSnapshot<LogFold> =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if stored.format == FORMAT {
        Ok(stored.state)
    } else {
        Err(format!("it is of format {}, not {FORMAT}", stored.format))
    }
}

fn bytes(state: &LogFold) -> io::Result<Vec<u8>> {
    let mut to = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut to, &StoredSnapshot { format: FORMAT, state })?;
    to.finish()
}

/// Takes a snapshot of all that is in the log now. Returns its size in events and in bytes.
async fn take(log: &Log, store: &Snapshots) -> Result<(u64, usize), SnapshotError> {
    let before = newest_or_none(log.reader(), Some(store)).await?;
    let size = log.size();
    let state = recovery::read(log.reader(), before.state, before.size..size).await?;
    if let Some(table) = state.damaged_table() {
        return Err(SnapshotError::Damaged(table));
    }
    let written = tokio::task::spawn_blocking(move || {
        bytes(&state).map(|bytes| (Sha256::digest(&bytes).to_vec(), bytes))
    });
    let (sha256, bytes) = written.await.map_err(|_| SnapshotError::Task)??;
    let event = TableRecord::from(RoomSnapshotTaken { size, sha256: sha256.into() });
    let entry = Entry {
        events: vec![event.on_stream(StreamId::ROOM)],
        request: None,
        actor: SERVICE_ACTOR.into(),
        trace: chassis::telemetry::trace_id(),
    };
    let named_at = log.append(entry).await?.first;
    store.store(SnapshotPlace { size, named_at }, &bytes, log.epoch()).await?;
    tracing::info!(size, bytes = bytes.len(), "a snapshot is kept");
    Ok((size, bytes.len()))
}

/// Takes snapshots for as long as the registry is there.
pub(crate) async fn keep(registry: Weak<TableRegistry>, policy: SnapshotPolicy) {
    let SnapshotPolicy { store: Some(store), interval } = policy else { return };
    let (mut last, mut least) = (None, interval);
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let Some(registry) = registry.upgrade() else { return };
        let size = registry.log().size();
        let since = match last {
            Some(last) => last,
            None => match store.places().await {
                Ok(places) => newest_size(&places, size),
                Err(_) => continue,
            },
        };
        last = Some(since);
        if size.saturating_sub(since) < least {
            continue;
        }
        match take(registry.log(), &store).await {
            Ok((size, bytes)) => {
                last = Some(size);
                least = interval.max(bytes as u64 / BYTES_PER_EVENT);
            }
            Err(error) => {
                tracing::warn!(%error, "no snapshot was taken");
                // As many events again until the next try.
                last = Some(size);
            }
        }
    }
}

/// Size of the newest snapshot of a log of `size` events; 0 without one.
fn newest_size(places: &[SnapshotPlace], size: u64) -> u64 {
    places.iter().map(|place| place.size).find(|newest| *newest <= size).unwrap_or(0)
}

/// Takes a snapshot before a stop, where enough has happened since the last one.
pub(crate) async fn take_final(registry: &TableRegistry, policy: &SnapshotPolicy) {
    let SnapshotPolicy { store: Some(store), interval } = policy else { return };
    let taken = async {
        let places = store.places().await.unwrap_or_default();
        let size = registry.log().size();
        if size.saturating_sub(newest_size(&places, size)) >= (interval / FINAL_SHARE).max(1)
            && let Err(error) = take(registry.log(), store).await
        {
            tracing::warn!(%error, "no snapshot was taken at the stop");
        }
    };
    if tokio::time::timeout(FINAL_TIMEOUT, taken).await.is_err() {
        tracing::warn!("the last snapshot was not kept in time: the next start takes longer");
    }
}

/// State as a snapshot of it gives it back.
#[cfg(test)]
pub(crate) fn restored(state: &LogFold) -> LogFold {
    parse(&bytes(state).unwrap()).unwrap()
}

/// Text of a snapshot, to be compared.
#[cfg(test)]
pub(crate) fn text(state: &LogFold) -> String {
    serde_json::to_string(&StoredSnapshot { format: FORMAT, state }).unwrap()
}

#[cfg(test)]
mod tests;
