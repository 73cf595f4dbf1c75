//! Selected records, with one proof for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use eventlog::{Event, Position, ReadError, Reader, RequestId, RequestKey, StreamId, Version};
use merkle::bundle::BundleError;
use merkle::record::RECORD_LEN;
use merkle::{
    Hash, Node, Nodes as _, Row, TILE_WIDTH, TileId, Tiles, bundle, leaf_hash, prove_records,
    tiles_for_records,
};

use crate::fault::{Fault, NotaryError};
use crate::notary::{Notary, PublishedTree, Shared};

/// Most records in one answer.
pub(crate) const MAX_RECORDS: usize = 4096;
/// Most bytes of payloads in one answer of several records.
const MAX_BYTES: usize = 4 << 20;
/// Records in one read.
const PAGE_SIZE: usize = 500;
/// Records in one read of those of a request, which are few.
const REQUEST_PAGE_SIZE: usize = 16;

/// Error of an entry bundle that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntriesError {
    #[error(transparent)]
    Notary(#[from] NotaryError),
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

/// Selection of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The first `limit` records of a stream from a version on.
    StreamFrom {
        stream: StreamId,
        version: Version,
        limit: usize,
    },
    /// The last `limit` records of a stream before a position.
    StreamBefore {
        stream: StreamId,
        position: Position,
        limit: usize,
    },
    Positions {
        first: Position,
        count: usize,
    },
    Request {
        /// Class and subject of the caller.
        actor: String,
        request: RequestId,
    },
}

/// Records, and the proof that they are in the published tree.
pub(crate) struct ProvedRecords {
    /// Ascending by position.
    pub(crate) events: Vec<Event>,
    pub(crate) proof: Vec<Hash>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    #[error(
        "more than {MAX_RECORDS} records, or {MAX_BYTES} bytes of them, are asked for: ask for \
         fewer at a time"
    )]
    TooMany,
    #[error(transparent)]
    Notary(NotaryError),
}

impl<T: Into<NotaryError>> From<T> for SelectError {
    fn from(error: T) -> SelectError {
        SelectError::Notary(error.into())
    }
}

impl Notary {
    /// Returns the first `width` leaf records of an entry bundle, each compared with the signed
    /// tree, or `None` if the bundle is narrower in the published tree.
    pub(crate) async fn entries(
        &self,
        published: &Arc<PublishedTree>,
        index: u64,
        width: u16,
    ) -> Result<Option<Bytes>, EntriesError> {
        let there = TileId::at(Row::Entries, index, published.head().size);
        if there.is_none_or(|tile| tile.width() < width) {
            return Ok(None);
        }
        let Shared { reader, archive_reader, reads, archive_reads, .. } = &*self.shared;
        let place = EntryTile { index, width };
        let turn = reads.acquire().await.ok_or(NotaryError::Busy)?;
        let mut records = self.shared.leaf_records(reader, published, place).await;
        drop(turn);
        if let (Err(error), Some(reader)) = (&records, archive_reader)
            && error.is_archived()
        {
            let _turn = archive_reads.acquire().await.ok_or(NotaryError::Busy)?;
            records = self.shared.leaf_records(reader, published, place).await;
        }
        Ok(Some(bundle::encode(&records?)?.into()))
    }

    /// Returns the records of all selections that are in the published tree, with their proof.
    pub(crate) async fn prove(
        &self,
        published: &Arc<PublishedTree>,
        selections: &[Selection],
    ) -> Result<ProvedRecords, SelectError> {
        let Shared { reader, archive_reader, reads, archive_reads, .. } = &*self.shared;
        let turn = reads.acquire().await.ok_or(NotaryError::Busy)?;
        let mut proved = self.shared.prove(reader, published, selections).await;
        drop(turn);
        if let (Err(SelectError::Notary(error)), Some(reader)) = (&proved, archive_reader)
            && error.is_archived()
        {
            let _turn = archive_reads.acquire().await.ok_or(NotaryError::Busy)?;
            proved = self.shared.prove(reader, published, selections).await;
        }
        proved
    }
}

/// First records of an entry bundle.
#[derive(Clone, Copy)]
pub(crate) struct EntryTile {
    pub(crate) index: u64,
    pub(crate) width: u16,
}

impl Shared {
    /// Leaf hashes of `count` records from a position on; fewer at the end of the log.
    pub(crate) async fn leaf_hashes(
        &self,
        first: u64,
        count: usize,
    ) -> Result<Vec<Hash>, NotaryError> {
        let mut hashes = Vec::new();
        let add = |event: Event| {
            hashes.push(leaf_hash(&event.record()));
            Ok::<_, NotaryError>(())
        };
        self.reader.for_each(Position(first), count, add).await?;
        Ok(hashes)
    }

    /// Leaf records of a tile, each compared with the signed tree. Their payloads may be long, and
    /// are not kept.
    pub(crate) async fn leaf_records(
        &self,
        reader: &Reader,
        published: &PublishedTree,
        EntryTile { index, width }: EntryTile,
    ) -> Result<Vec<[u8; RECORD_LEN]>, NotaryError> {
        let (first, mut records) = (index * u64::from(TILE_WIDTH), Vec::new());
        let add = |event: Event| {
            records.push(event.record());
            Ok::<_, NotaryError>(())
        };
        reader.for_each(Position(first), width.into(), add).await?;
        let tile = TileId::at(Row::Hashes(0), index, published.head().size);
        let tiles = self.tiles.authenticated(published.head(), &published.edge, tile).await?;
        for (position, record) in (first..).zip(&records) {
            check_leaf(&tiles, position, record)?;
        }
        Ok(records)
    }

    /// Records of all selections that are in the published tree, with their proof.
    async fn prove(
        &self,
        reader: &Reader,
        published: &Arc<PublishedTree>,
        selections: &[Selection],
    ) -> Result<ProvedRecords, SelectError> {
        let size = published.head().size;
        let mut selected = SelectedRecords { size, events: BTreeMap::new(), bytes: 0 };
        for selection in selections {
            select(reader, selection, &mut selected).await?;
        }
        let events = selected.events;
        let positions: Vec<u64> = events.keys().copied().collect();
        let mut wanted = tiles_for_records(&positions, size)?;
        let leaves = positions.iter().map(|at| at / u64::from(TILE_WIDTH));
        wanted.extend(leaves.filter_map(|index| TileId::at(Row::Hashes(0), index, size)));
        let tiles = self.tiles.authenticated(published.head(), &published.edge, wanted).await?;
        for (position, event) in &events {
            check_leaf(&tiles, *position, &event.record())?;
        }
        let proof = prove_records(&tiles, &positions, size)?;
        Ok(ProvedRecords { events: events.into_values().collect(), proof })
    }
}

/// Compares a stored record with the signed tree.
fn check_leaf(tiles: &Tiles, position: u64, record: &[u8]) -> Result<(), NotaryError> {
    let signed = tiles.node(Node { level: 0, index: position });
    if signed == Some(leaf_hash(record)) { Ok(()) } else { Err(Fault::Changed { position }.into()) }
}

/// Records of an answer, within its bounds.
struct SelectedRecords {
    /// Size of the published tree, which has all of them.
    size: u64,
    events: BTreeMap<u64, Event>,
    bytes: usize,
}

impl SelectedRecords {
    /// Adds a record, if the published tree has it. A record alone may be as long as it is.
    fn add(&mut self, event: Event) -> Result<(), SelectError> {
        let position = event.position.0;
        if position >= self.size || self.events.contains_key(&position) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(event.payload.len());
        self.events.insert(position, event);
        let count = self.events.len();
        if count > MAX_RECORDS || (count > 1 && self.bytes > MAX_BYTES) {
            return Err(SelectError::TooMany);
        }
        Ok(())
    }
}

async fn select(
    reader: &Reader,
    selection: &Selection,
    to: &mut SelectedRecords,
) -> Result<(), SelectError> {
    match *selection {
        Selection::StreamFrom { stream, version, limit } => {
            select_stream(reader, StreamRange { stream, first: version, limit }, to).await
        }
        Selection::StreamBefore { stream, position, limit } => {
            let last = last_before(reader, stream, position).await?;
            let limit = limit.min(usize::try_from(last).unwrap_or(usize::MAX));
            if limit > MAX_RECORDS {
                return Err(SelectError::TooMany);
            }
            let wanted = Version(last + 1 - limit as u64)..Version(last);
            let first = reader.first_kept(stream, wanted).await?.0;
            let limit = usize::try_from(last + 1 - first).unwrap_or(usize::MAX);
            select_stream(reader, StreamRange { stream, first: Version(first), limit }, to).await
        }
        Selection::Positions { first, count } => {
            if count > MAX_RECORDS {
                return Err(SelectError::TooMany);
            }
            reader.for_each(first, count, |event| to.add(event)).await
        }
        Selection::Request { ref actor, request } => {
            select_request(reader, actor, request, to).await
        }
    }
}

/// The first `limit` records of a stream from a version on.
struct StreamRange {
    stream: StreamId,
    first: Version,
    limit: usize,
}

async fn select_stream(
    reader: &Reader,
    range: StreamRange,
    to: &mut SelectedRecords,
) -> Result<(), SelectError> {
    let StreamRange { stream, first: mut next, limit: mut left } = range;
    while left > 0 {
        let page = reader.read_stream(stream, next, PAGE_SIZE.min(left)).await?;
        let Some(last) = page.last() else { break };
        next = Version(last.version.0 + 1);
        left -= page.len();
        page.into_iter().try_for_each(|event| to.add(event))?;
    }
    Ok(())
}

/// Returns the version of a stream's last event before a position; 0 if there is none. Versions and
/// positions ascend together, so a binary search finds it. What is archived is older than what is not:
/// where the position itself is archived, the result is so too.
async fn last_before(
    reader: &Reader,
    stream: StreamId,
    position: Position,
) -> Result<u64, SelectError> {
    let Some(end) = reader.stream_end(stream).await? else { return Ok(0) };
    if end.position() < position {
        return Ok(end.version().0);
    }
    // The event of version `before` is before the position, the event of version `not` is not.
    let (mut before, mut not) = (0, end.version().0);
    while not - before > 1 {
        let middle = before + (not - before) / 2;
        match reader.read_stream(stream, Version(middle), 1).await {
            Ok(page) if page.first().is_none_or(|event| event.position >= position) => not = middle,
            Ok(_) | Err(ReadError::Archived { .. }) => before = middle,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(before)
}

/// Selects the events that a request wrote. They have consecutive positions.
async fn select_request(
    reader: &Reader,
    actor: &str,
    id: RequestId,
    to: &mut SelectedRecords,
) -> Result<(), SelectError> {
    let Some(stored) = reader.request(RequestKey::new(actor, id)).await? else { return Ok(()) };
    let mut next = stored.first;
    loop {
        let page = reader.read(next, REQUEST_PAGE_SIZE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        next = Position(last.position.0 + 1);
        for event in page {
            if event.request_id != Some(id) || &*event.actor != actor {
                return Ok(());
            }
            to.add(event)?;
        }
    }
}
