//! What must be kept of a log to write its tiles while it grows: the partial tiles at the right edge,
//! at most 255 hashes a level. [`crate::Tree`] keeps less and knows the root alone.

use crate::checkpoint::TreeHead;
use crate::hash::{Hash, empty_root, leaves_root, node_hash, split};
use crate::tile::{Row, TILE_WIDTH, TileId};
use crate::tiles::Tiles;

/// The right edge of a log's tiles.
///
/// Invariant: every level has fewer hashes than a full tile, as many as the size says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edge {
    size: u64,
    levels: Vec<Vec<Hash>>,
}

impl Edge {
    #[must_use]
    pub fn new() -> Edge {
        Edge::default()
    }

    /// The edge of tiles that were written before: they hold it, or would not be authentic.
    #[must_use]
    pub fn resume(tiles: &Tiles) -> Edge {
        let size = tiles.head().size;
        let mut levels = Vec::new();
        for tile in TileId::edge(size) {
            let Row::Hashes(level) = tile.row() else { continue };
            levels.resize(usize::from(level), Vec::new());
            levels.push(tiles.hashes(level, tile.index()).to_vec());
        }
        Edge { size, levels }
    }

    /// The number of records.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    #[must_use]
    pub fn head(&self) -> TreeHead {
        // The levels stand side by side, the highest on the left.
        let peaks = self.levels.iter().flat_map(|level| peaks(level));
        let root = peaks.reduce(|right, left| node_hash(&left, &right));
        TreeHead { size: self.size, root: root.unwrap_or_else(empty_root) }
    }

    /// Adds a record by its leaf hash. Returns the tiles that became full by it, the lowest first,
    /// with their content; mostly none.
    pub fn push(&mut self, leaf: Hash) -> Vec<(TileId, Vec<u8>)> {
        self.size += 1;
        let (mut full, mut hash) = (Vec::new(), leaf);
        for level in 0.. {
            if self.levels.len() == usize::from(level) {
                self.levels.push(Vec::new());
            }
            let hashes = &mut self.levels[usize::from(level)];
            hashes.push(hash);
            if hashes.len() < usize::from(TILE_WIDTH) {
                break;
            }
            hash = leaves_root(hashes);
            let filled = self.size >> (8 * u32::from(level));
            let index = filled / u64::from(TILE_WIDTH) - 1;
            let tile = TileId::at(Row::Hashes(level), index, self.size);
            full.push((tile.expect("the tile that was filled is there"), hashes.concat()));
            hashes.clear();
        }
        full
    }

    /// The partial tiles, the lowest first, with their content: what a checkpoint of this size
    /// needs besides the full ones.
    #[must_use]
    pub fn partial(&self) -> Vec<(TileId, Vec<u8>)> {
        let content = |tile: TileId| match tile.row() {
            Row::Hashes(level) => Some((tile, self.levels.get(usize::from(level))?.concat())),
            Row::Entries => None,
        };
        TileId::edge(self.size).into_iter().filter_map(content).collect()
    }
}

/// The roots of the full subtrees of a row of hashes, the smallest and last first.
fn peaks(hashes: &[Hash]) -> Vec<Hash> {
    let (mut rest, mut peaks) = (hashes, Vec::new());
    while !rest.is_empty() {
        let largest = if rest.len().is_power_of_two() { rest.len() } else { split(rest.len()) };
        let (full, after) = rest.split_at(largest);
        peaks.push(leaves_root(full));
        rest = after;
    }
    peaks.reverse();
    peaks
}
