//! Selected records, with one proof for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use eventlog::{Event, Position, Reader, RequestId, RequestKey, StreamId, Version};
use merkle::bundle::BundleError;
use merkle::{
    Hash, Node, Nodes as _, Row, TILE_WIDTH, TileId, bundle, leaf_hash, prove_records,
    tiles_for_records,
};

use crate::fault::{Fault, NotaryError};
use crate::notary::{Notary, PublishedTree, Shared};

/// Most records in one answer.
pub(crate) const MAX_RECORDS: usize = 4096;
/// Records in one read.
const PAGE_SIZE: usize = 500;

/// Error of an entry bundle that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntriesError {
    #[error(transparent)]
    Select(#[from] SelectError),
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
    #[error("more than {MAX_RECORDS} records are asked for: ask for fewer at a time")]
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
        let first = Position(index * u64::from(TILE_WIDTH));
        let selection = Selection::Positions { first, count: width.into() };
        let proved = self.shared.prove(published, &[selection]).await?;
        let records: Vec<_> = proved.events.iter().map(Event::record).collect();
        Ok(Some(bundle::encode(&records)?.into()))
    }
}

impl Shared {
    /// Returns the records of all selections that are in the published tree, with their proof.
    pub(crate) async fn prove(
        &self,
        published: &Arc<PublishedTree>,
        selections: &[Selection],
    ) -> Result<ProvedRecords, SelectError> {
        let size = published.head().size;
        let mut events = BTreeMap::new();
        for selection in selections {
            let selected = select(&self.reader, selection).await?;
            let inside = selected.into_iter().filter(|event| event.position.0 < size);
            events.extend(inside.map(|event| (event.position.0, event)));
            if events.len() > MAX_RECORDS {
                return Err(SelectError::TooMany);
            }
        }
        let positions: Vec<u64> = events.keys().copied().collect();
        let mut wanted = tiles_for_records(&positions, size)?;
        let leaves = positions.iter().map(|at| at / u64::from(TILE_WIDTH));
        wanted.extend(leaves.filter_map(|index| TileId::at(Row::Hashes(0), index, size)));
        let tiles = self.tiles.authenticated(published.head(), &published.edge, wanted).await?;
        for (index, event) in &events {
            let signed = tiles.node(Node { level: 0, index: *index });
            if signed != Some(leaf_hash(&event.record())) {
                return Err(Fault::Changed { position: *index }.into());
            }
        }
        let proof = prove_records(&tiles, &positions, size)?;
        Ok(ProvedRecords { events: events.into_values().collect(), proof })
    }
}

async fn select(reader: &Reader, selection: &Selection) -> Result<Vec<Event>, SelectError> {
    match *selection {
        Selection::StreamFrom { stream, version, limit } => {
            read_stream(reader, (stream, version), limit).await
        }
        Selection::StreamBefore { stream, position, limit } => {
            let last = last_before(reader, stream, position).await?;
            let limit = limit.min(usize::try_from(last).unwrap_or(usize::MAX));
            if limit > MAX_RECORDS {
                return Err(SelectError::TooMany);
            }
            let first = Version(last + 1 - limit as u64);
            if limit == 0 {
                Ok(Vec::new())
            } else {
                read_stream(reader, (stream, first), limit).await
            }
        }
        Selection::Positions { first, count } => {
            if count > MAX_RECORDS {
                return Err(SelectError::TooMany);
            }
            Ok(reader.read(first, count).await?)
        }
        Selection::Request { ref actor, request } => read_request(reader, actor, request).await,
    }
}

async fn read_stream(
    reader: &Reader,
    (stream, mut from): (StreamId, Version),
    limit: usize,
) -> Result<Vec<Event>, SelectError> {
    let mut events = Vec::new();
    while events.len() < limit {
        let page = reader.read_stream(stream, from, PAGE_SIZE.min(limit - events.len())).await?;
        let Some(last) = page.last() else { break };
        from = Version(last.version.0 + 1);
        events.extend(page);
        if events.len() > MAX_RECORDS {
            return Err(SelectError::TooMany);
        }
    }
    Ok(events)
}

/// Returns the version of a stream's last event before a position; 0 if there is none. Versions and
/// positions ascend together, so a binary search finds it.
async fn last_before(
    reader: &Reader,
    stream: StreamId,
    position: Position,
) -> Result<u64, SelectError> {
    let last = reader.last_of_stream(stream).await?;
    let Some(last) = last else { return Ok(0) };
    if last.position < position {
        return Ok(last.version.0);
    }
    // The event of version `before` is before the position, the event of version `not` is not.
    let (mut before, mut not) = (0, last.version.0);
    while not - before > 1 {
        let middle = before + (not - before) / 2;
        let page = reader.read_stream(stream, Version(middle), 1).await?;
        match page.first() {
            Some(event) if event.position < position => before = middle,
            Some(_) | None => not = middle,
        }
    }
    Ok(before)
}

/// Returns the events that a request wrote. They have consecutive positions.
async fn read_request(
    reader: &Reader,
    actor: &str,
    id: RequestId,
) -> Result<Vec<Event>, SelectError> {
    let mut events: Vec<Event> = Vec::new();
    let Some(stored) = reader.request(RequestKey::new(actor, id)).await? else { return Ok(events) };
    let mut from = stored.first;
    loop {
        let page = reader.read(from, PAGE_SIZE).await?;
        let (read, before) = (page.len(), events.len());
        events.extend(
            page.into_iter()
                .take_while(|event| event.request_id == Some(id) && &*event.actor == actor),
        );
        if events.len() > MAX_RECORDS {
            return Err(SelectError::TooMany);
        }
        if events.len() - before < PAGE_SIZE || read < PAGE_SIZE {
            return Ok(events);
        }
        from = Position(from.0 + PAGE_SIZE as u64);
    }
}
