//! The start of a notary: after the newest checkpoint that it or an earlier owner of the log
//! signed.
//!
//! The right edge of that tree is read from the store: the leaves from the records, each hash above
//! them from the full tile whose root it is. It must lead to the signed root. So each start checks
//! the newest records and the tiles over the newest 65,536; `scrub` checks the older records later.
//! If tiles are missing, they are built from all records.

use bytes::Bytes;
use eventlog::{Position, SignedCheckpoint};
use merkle::note::{Note, VerifierKey};
use merkle::{
    Checkpoint, CheckpointError, Edge, Hash, Row, TileId, Tiles, TilesError, TreeHead, leaf_hash,
    leaves_root,
};

use crate::fault::{Fault, Trouble};
use crate::follow::Book;
use crate::notary::Desk;

/// Returns the state after the newest signed checkpoint, and its note.
pub(crate) async fn resume(desk: &Desk) -> Result<(Book, Option<Note>), Trouble> {
    let stored = desk.shelf.last_checkpoint(desk.reader.name()).await?;
    let number = stored.as_ref().map_or(0, |stored| stored.number);
    let stored = stored.map(|stored| open(desk.signer.public(), &stored)).transpose()?;
    let remembered = remembered(desk)?;
    let Some((note, checkpoint)) = newest(stored, remembered) else {
        return Ok((Book { edge: Edge::new(), previous: None, number }, None));
    };
    let head = checkpoint.head();
    // A log that is shorter than what was signed has no edge to be read.
    if desk.reader.size().await? < head.size {
        let size = desk.reader.size().await?;
        let shrunk = merkle::Refusal::Shrunk { previous: head.size, next: size };
        return Err(shrunk.into());
    }
    let edge = match edge_from_tiles(desk, head).await? {
        Some(edge) => edge,
        None => edge_from_records(desk, head).await?,
    };
    let book = Book { edge, previous: Some(checkpoint), number };
    Ok((book, Some(note)))
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

fn open(key: &VerifierKey, stored: &SignedCheckpoint) -> Result<(Note, Checkpoint), Trouble> {
    let number = stored.number;
    let opened = open_note(key, stored.note.as_bytes());
    opened.map_err(|source| Fault::Checkpoint { number, source }.into())
}

fn remembered(desk: &Desk) -> Result<Option<(Note, Checkpoint)>, Trouble> {
    let Some(memory) = &desk.memory else { return Ok(None) };
    let file = memory.file().display().to_string();
    let note = memory.recall().map_err(|error| {
        tracing::error!(runbook = "deploy/README.md, A file cannot be written", file, %error, "the remembered checkpoint cannot be read: nothing is signed until it can");
        Trouble::Passing(eventlog::store::StoreError::Unavailable(std::sync::Arc::new(error)))
    })?;
    let opened = note.map(|note| open_note(desk.signer.public(), &note)).transpose();
    opened.map_err(|source| Fault::Memory { file, source }.into())
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
async fn edge_from_tiles(desk: &Desk, head: TreeHead) -> Result<Option<Edge>, Trouble> {
    let mut tiles: Vec<(TileId, Bytes)> = Vec::new();
    for tile in TileId::edge(head.size) {
        let Row::Hashes(level) = tile.row() else { continue };
        let (first, width) = (tile.index() * 256, usize::from(tile.width()));
        let hashes: Vec<Hash> = match level.checked_sub(1) {
            None => leaves(desk, first, width).await?,
            Some(below) => {
                let places = (first..).take(width).map(|index| (below, index));
                let found = desk.trees.full(places).await?;
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

async fn leaves(desk: &Desk, first: u64, count: usize) -> Result<Vec<Hash>, Trouble> {
    let events = desk.reader.read(Position(first), count).await?;
    let gap = (first..).zip(&events).find(|(position, event)| event.position.0 != *position);
    if let Some((position, _)) = gap {
        return Err(Fault::Gap { position }.into());
    }
    if events.len() < count {
        return Err(Fault::Gap { position: first + events.len() as u64 }.into());
    }
    Ok(events.iter().map(|event| leaf_hash(&event.record())).collect())
}

async fn edge_from_records(desk: &Desk, head: TreeHead) -> Result<Edge, Trouble> {
    tracing::info!(log = desk.reader.name(), size = head.size, "building the log's tiles");
    let mut edge = Edge::new();
    desk.grow(&mut edge, head.size).await?;
    if edge.head() == head { Ok(edge) } else { Err(Fault::Rewritten { size: head.size }.into()) }
}
