//! The start of a notary: after the newest checkpoint that it or an earlier owner of the log
//! signed.
//!
//! The right edge of that tree is read from the store: the leaves from the records, each hash above
//! them from the full tile whose root it is. It must lead to the signed root. So each start checks
//! the newest records and the tiles over the newest 65,536; `scrub` checks the older records later.
//! If tiles are missing, they are built from all records.

use bytes::Bytes;
use eventlog::SignedCheckpoint;
use merkle::note::{Note, VerifierKey};
use merkle::{
    Checkpoint, CheckpointError, Edge, Hash, Row, TILE_WIDTH, TileId, Tiles, TilesError, TreeHead,
    leaves_root,
};

use crate::fault::{Fault, NotaryError};
use crate::follow::Progress;
use crate::notary::Shared;

/// Returns the state after the newest signed checkpoint, and its note.
pub(crate) async fn resume(shared: &Shared) -> Result<(Progress, Option<Note>), NotaryError> {
    let stored = shared.store.last_checkpoint(shared.reader.name()).await?;
    let number = stored.as_ref().map_or(0, |stored| stored.number);
    let stored = stored.map(|stored| verify_stored(shared.signer.public(), &stored)).transpose()?;
    let remembered = read_checkpoint_file(shared)?;
    let Some((note, checkpoint)) = newest(stored, remembered) else {
        return Ok((Progress { last_number: number, ..Progress::new(Edge::new()) }, None));
    };
    let head = checkpoint.head();
    // A log that is shorter than what was signed has no edge to be read.
    if shared.reader.size().await? < head.size {
        let size = shared.reader.size().await?;
        let shrunk = merkle::Refusal::Shrunk { previous: head.size, next: size };
        return Err(shrunk.into());
    }
    let edge = match edge_from_tiles(shared, head).await? {
        Some(edge) => edge,
        None => edge_from_records(shared, head).await?,
    };
    let (last_signed, last_number) = (Some(checkpoint), number);
    let progress = Progress { last_signed, last_number, ..Progress::new(edge) };
    Ok((progress, Some(note)))
}

/// Returns the larger tree of the stored and the remembered checkpoint. The log must follow from
/// both, and it does if its records lead to the larger one.
fn newest(
    stored: Option<(Note, Checkpoint)>,
    remembered: Option<(Note, Checkpoint)>,
) -> Option<(Note, Checkpoint)> {
    let size = |of: &Option<(Note, Checkpoint)>| of.as_ref().map(|(_, it)| it.head().size);
    if size(&remembered) > size(&stored) { remembered } else { stored }
}

fn verify_stored(
    key: &VerifierKey,
    stored: &SignedCheckpoint,
) -> Result<(Note, Checkpoint), NotaryError> {
    let number = stored.number;
    let opened = open_note(key, stored.note.as_bytes());
    opened.map_err(|source| Fault::Checkpoint { number, source }.into())
}

fn read_checkpoint_file(shared: &Shared) -> Result<Option<(Note, Checkpoint)>, NotaryError> {
    let Some(memory) = &shared.checkpoint_file else { return Ok(None) };
    let file = memory.path().display().to_string();
    let note = memory.read().map_err(|error| {
        tracing::error!(runbook = "deploy/README.md, A file cannot be written", file, %error, "the remembered checkpoint cannot be read: nothing is signed until it can");
        NotaryError::Unavailable(eventlog::store::StoreError::Unavailable(std::sync::Arc::new(error)))
    })?;
    let opened = note.map(|note| open_note(shared.signer.public(), &note)).transpose();
    opened.map_err(|source| Fault::CheckpointFile { file, source }.into())
}

/// Parses and verifies a checkpoint of this log. After a change of keys the last checkpoint is
/// signed by another key of the same name. There is nothing to verify it with; it is accepted,
/// because following from it can do no harm.
fn open_note(key: &VerifierKey, note: &[u8]) -> Result<(Note, Checkpoint), CheckpointError> {
    let note = Note::parse(note)?;
    match Checkpoint::open_note(&note, key, &[]) {
        Ok(opened) => Ok((note, opened.checkpoint)),
        Err(CheckpointError::Unsigned(_)) => {
            let checkpoint = Checkpoint::parse(note.text())?;
            if checkpoint.origin() != key.name().as_str() {
                let (got, expected) = (checkpoint.origin().to_owned(), key.name().clone());
                return Err(CheckpointError::Origin { got, expected });
            }
            tracing::warn!(origin = %key.name(), size = checkpoint.head().size, "the last checkpoint was signed under another key: this one goes on from there");
            Ok((note, checkpoint))
        }
        Err(error) => Err(error),
    }
}

/// Reads the edge from the stored tiles. `None` if tiles are missing.
async fn edge_from_tiles(shared: &Shared, head: TreeHead) -> Result<Option<Edge>, NotaryError> {
    let mut tiles: Vec<(TileId, Bytes)> = Vec::new();
    for tile in TileId::edge(head.size) {
        let Row::Hashes(level) = tile.row() else { continue };
        let (first, width) = (tile.index() * u64::from(TILE_WIDTH), usize::from(tile.width()));
        let hashes: Vec<Hash> = match level.checked_sub(1) {
            None => leaves(shared, first, width).await?,
            Some(below) => {
                let places = (first..).take(width).map(|index| (below, index));
                let found = shared.tiles.full_tiles(places).await?;
                if found.len() < width {
                    return Ok(None);
                }
                found.values().map(|hashes| leaves_root(hashes.as_chunks().0)).collect()
            }
        };
        tiles.push((tile, hashes.concat().into()));
    }
    match Tiles::authenticate(head, tiles) {
        Ok(tiles) => Ok(Some(Edge::resume(&tiles))),
        Err(TilesError::Root) => Err(Fault::Rewritten { size: head.size }.into()),
        Err(other) => Err(other.into()),
    }
}

async fn leaves(shared: &Shared, first: u64, count: usize) -> Result<Vec<Hash>, NotaryError> {
    let hashes = shared.leaf_hashes(first, count).await?;
    if hashes.len() < count {
        return Err(Fault::Gap { position: first + hashes.len() as u64 }.into());
    }
    Ok(hashes)
}

async fn edge_from_records(shared: &Shared, head: TreeHead) -> Result<Edge, NotaryError> {
    tracing::info!(log = shared.reader.name(), size = head.size, "building the log's tiles");
    let mut edge = Edge::new();
    shared.grow(&mut edge, head.size).await?;
    if edge.head() == head { Ok(edge) } else { Err(Fault::Rewritten { size: head.size }.into()) }
}
