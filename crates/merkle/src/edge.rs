//! The right edge of a log: the state that suffices to write tiles while the log grows. These are
//! the partial tiles, at most 255 hashes a level. [`crate::Tree`] holds less and knows the root
//! alone.

use crate::checkpoint::TreeHead;
use crate::hash::{Hash, empty_root, leaves_root, node_hash, split};
use crate::tile::{Row, TILE_WIDTH, TileId};
use crate::tiles::Tiles;

/// Partial tiles at the right edge of a log.
///
/// Invariant: each level has fewer hashes than a full tile, and as many as follow from the size.
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

    /// Reads the edge from authenticated tiles of the log. They contain the whole right edge,
    /// because [`Tiles::authenticate`] demands it.
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

    /// Returns the number of records.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    #[must_use]
    pub fn head(&self) -> TreeHead {
        // The levels are side by side, the highest on the left.
        let peaks = self.levels.iter().flat_map(|level| peaks(level));
        let root = peaks.reduce(|right, left| node_hash(&left, &right));
        TreeHead { size: self.size, root: root.unwrap_or_else(empty_root) }
    }

    /// Adds a record by its leaf hash. Returns the tiles that it filled, the lowest first, with
    /// their content. Mostly there are none.
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

    /// Returns the partial tiles, the lowest first, with their content. A checkpoint of this size
    /// needs them beside the full tiles.
    #[must_use]
    pub fn partial(&self) -> Vec<(TileId, Vec<u8>)> {
        let content = |tile: TileId| match tile.row() {
            Row::Hashes(level) => Some((tile, self.levels.get(usize::from(level))?.concat())),
            Row::Entries => None,
        };
        TileId::edge(self.size).into_iter().filter_map(content).collect()
    }
}

/// Returns the roots of the full subtrees of a row of hashes, the smallest (rightmost) first.
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
