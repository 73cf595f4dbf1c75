//! First record in which a signed tree differs from the records that are kept: a descent from the
//! highest tile to a leaf, one tile a level.

use std::collections::BTreeSet;

use audit::monitor::FollowedLog;
use merkle::record::{LeafRecord, RECORD_LEN};
use merkle::{Leaves, Node, Nodes as _, Row, TILE_WIDTH, TileId, Tiles, TreeHead, leaf_hash};
use primitives::StreamId;

use super::files::{RoomFiles, Unreachable};

/// Highest level of tiles.
const TOP: u8 = 7;

/// A record of the signed tree, where another one is kept.
pub(super) struct OtherRecord {
    pub(super) position: u64,
    pub(super) leaf: [u8; RECORD_LEN],
    pub(super) stream: StreamId,
    pub(super) version: u64,
}

/// Finds the first record of the signed tree `shown` that is not as in `kept`.
///
/// # Errors
/// In words, why there is none: the room does not show it, or what it shows is not in the tree.
pub(super) async fn find(
    files: &RoomFiles,
    log: FollowedLog,
    shown: TreeHead,
    kept: &[[u8; RECORD_LEN]],
) -> Result<OtherRecord, String> {
    let ours: Leaves = kept.iter().map(|leaf| leaf_hash(leaf)).collect();
    let descent = Descent { files, log, shown, ours };
    let mut block = 0;
    for level in (0..=TOP).rev() {
        block = descent.step(level, block).await?;
    }
    descent.record(block).await
}

struct Descent<'a> {
    files: &'a RoomFiles,
    log: FollowedLog,
    shown: TreeHead,
    ours: Leaves,
}

impl Descent<'_> {
    /// Returns the first subtree of 256^level records, within the given one of the level above,
    /// that differs; the last one, which is not full, where no full one does.
    async fn step(&self, level: u8, above: u64) -> Result<u64, String> {
        let full = self.ours.size() >> (8 * level);
        if full == 0 {
            return Ok(0);
        }
        let tiles = self.tiles(Row::Hashes(level), above).await?;
        let first = above * u64::from(TILE_WIDTH);
        let here = first..full.min(first + u64::from(TILE_WIDTH));
        let mut differing = here.filter(|index| {
            let node = Node { level: 8 * level, index: *index };
            tiles.node(node) != self.ours.node(node)
        });
        match differing.next() {
            Some(index) => Ok(index),
            None if level == 0 => Err("it does not show which record differs".to_owned()),
            None => Ok(full),
        }
    }

    /// Returns authenticated tiles, with this one among them.
    async fn tiles(&self, row: Row, index: u64) -> Result<Tiles, String> {
        let size = self.shown.size;
        let mut wanted: BTreeSet<TileId> = TileId::edge(size).into_iter().collect();
        let mut next = TileId::at(row, index, size);
        while let Some(tile) = next.filter(|tile| wanted.insert(*tile)) {
            next = tile.parent(size);
        }
        let tiles = self.files.tiles(self.log, wanted).await.map_err(|Unreachable(why)| why)?;
        Tiles::authenticate(self.shown, tiles).map_err(|error| error.to_string())
    }

    async fn record(&self, position: u64) -> Result<OtherRecord, String> {
        let width = u64::from(TILE_WIDTH);
        let tile = TileId::at(Row::Entries, position / width, self.shown.size);
        let tile = tile.ok_or("the record is not in its tree")?;
        let leaves = self.files.leaves(self.log, tile).await;
        let leaves = leaves.map_err(|Unreachable(why)| why)?;
        let at = usize::try_from(position % width).map_err(|error| error.to_string())?;
        let leaf = *leaves.get(at).ok_or("the bundle is too short")?;
        let tiles = self.tiles(Row::Hashes(0), position / width).await?;
        if tiles.node(Node { level: 0, index: position }) != Some(leaf_hash(&leaf)) {
            return Err(format!("the leaf record {position} that it serves is not in its tree"));
        }
        let record = LeafRecord::parse(&leaf).map_err(|error| error.to_string())?;
        let (stream, version) = (StreamId(record.stream), record.version);
        Ok(OtherRecord { position, leaf, stream, version })
    }
}
