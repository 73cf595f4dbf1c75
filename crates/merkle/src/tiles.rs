//! Tiles that are authenticated against the root of a tree, whatever their source.
//!
//! [`Tiles::authenticate`] needs no proof: the tiles of the right edge give the root, and the root
//! of every full tile is in the tile above it. So whoever has a signed root may take tiles from
//! anybody.

use std::collections::{BTreeMap, BTreeSet};

use crate::checkpoint::TreeHead;
use crate::hash::{Hash, leaves_root};
use crate::multi::records_ranges;
use crate::nodes::{BuildError, Node, Nodes, consistency_ranges, cover, inclusion_ranges, root_at};
use crate::tile::{Row, TILE_WIDTH, TileId};

/// Tiles of one tree. They hold only hashes that are part of its root.
#[derive(Clone, Debug)]
pub struct Tiles {
    head: TreeHead,
    /// By level and index. Each tile is as wide as in this tree.
    tiles: BTreeMap<(u8, u64), Vec<Hash>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TilesError {
    #[error("{0} is not in this tree, or narrower than in it")]
    NotInTree(TileId),
    #[error("{tile} has {got} bytes")]
    Length { tile: TileId, got: usize },
    #[error("{0} is missing: it holds the root of another tile")]
    MissingParent(TileId),
    #[error("{0} is not the tile whose root the tile above it holds")]
    Corrupt(TileId),
    #[error("the tiles at the right edge lead to another root")]
    Root,
    #[error("a tile at the right edge is missing")]
    Edge(#[source] BuildError),
}

impl Tiles {
    /// Checks tiles of hashes with their content. All of the right edge ([`TileId::edge`]) and, for
    /// every full tile, the tiles above it must be among them. [`tiles_for_inclusion`] and
    /// [`tiles_for_consistency`] list such sets. A tile that is wider than in this tree, because
    /// the log has grown, is cut to its width in this tree.
    pub fn authenticate<B: AsRef<[u8]>>(
        head: TreeHead,
        tiles: impl IntoIterator<Item = (TileId, B)>,
    ) -> Result<Tiles, TilesError> {
        let mut all = Tiles { head, tiles: BTreeMap::new() };
        for (tile, content) in tiles {
            let Row::Hashes(level) = tile.row() else { return Err(TilesError::NotInTree(tile)) };
            let here = TileId::at(tile.row(), tile.index(), head.size)
                .filter(|here| here.width() <= tile.width())
                .ok_or(TilesError::NotInTree(tile))?;
            let mut hashes = hashes(tile, content.as_ref())?;
            hashes.truncate(here.width().into());
            all.tiles.insert((level, tile.index()), hashes);
        }
        all.check_edge()?;
        all.check_parents()?;
        Ok(all)
    }

    #[must_use]
    pub const fn head(&self) -> TreeHead {
        self.head
    }

    /// Returns the hashes of one tile, none if the tile is absent.
    pub(crate) fn hashes(&self, level: u8, index: u64) -> &[Hash] {
        self.tiles.get(&(level, index)).map_or(&[], Vec::as_slice)
    }

    /// Checks that the partial tiles lead to the root.
    fn check_edge(&self) -> Result<(), TilesError> {
        let root = root_at(self, self.head.size).map_err(TilesError::Edge)?;
        if root == self.head.root { Ok(()) } else { Err(TilesError::Root) }
    }

    fn check_parents(&self) -> Result<(), TilesError> {
        for ((level, index), hashes) in &self.tiles {
            let size = self.head.size;
            let tile = TileId::at(Row::Hashes(*level), *index, size)
                .expect("only tiles of this tree were taken");
            let Some(parent) = tile.parent(size) else { continue };
            let above = self
                .tiles
                .get(&(level + 1, parent.index()))
                .ok_or(TilesError::MissingParent(parent))?;
            let place = usize::try_from(index % u64::from(TILE_WIDTH)).unwrap_or(usize::MAX);
            if above.get(place) != Some(&leaves_root(hashes)) {
                return Err(TilesError::Corrupt(tile));
            }
        }
        Ok(())
    }
}

impl Nodes for Tiles {
    fn node(&self, node: Node) -> Option<Hash> {
        let (tile, places) = TileId::containing(node, self.head.size)?;
        let hashes = self.tiles.get(&(node.level / 8, tile.index()))?;
        hashes.get(places).map(leaves_root)
    }
}

/// Returns the tiles from which a record's leaf hash and its inclusion proof can be read and
/// trusted.
pub fn tiles_for_inclusion(index: u64, size: u64) -> Result<BTreeSet<TileId>, BuildError> {
    let mut nodes = vec![Node { level: 0, index }];
    nodes.extend(inclusion_ranges(index, size)?.iter().flat_map(cover));
    Ok(with_parents(&nodes, size))
}

/// Returns the tiles of the newer tree from which a consistency proof and the older root can be
/// read and trusted.
pub fn tiles_for_consistency(old: u64, new: u64) -> Result<BTreeSet<TileId>, BuildError> {
    let mut nodes: Vec<Node> = consistency_ranges(old, new)?.iter().flat_map(cover).collect();
    nodes.extend(cover(&(0..old)));
    Ok(with_parents(&nodes, new))
}

/// Returns the tiles from which one proof of all these records ([`crate::prove_records`]) can be
/// computed and trusted.
pub fn tiles_for_records(positions: &[u64], size: u64) -> Result<BTreeSet<TileId>, BuildError> {
    let nodes: Vec<Node> = records_ranges(positions, size)?.iter().flat_map(cover).collect();
    Ok(with_parents(&nodes, size))
}

fn with_parents(nodes: &[Node], size: u64) -> BTreeSet<TileId> {
    let mut tiles: BTreeSet<TileId> = TileId::edge(size).into_iter().collect();
    for node in nodes {
        let mut tile = TileId::containing(*node, size).map(|(tile, _)| tile);
        while let Some(next) = tile.filter(|tile| tiles.insert(*tile)) {
            tile = next.parent(size);
        }
    }
    tiles
}

/// Splits the content of a tile into its hashes.
fn hashes(tile: TileId, content: &[u8]) -> Result<Vec<Hash>, TilesError> {
    let (hashes, rest) = content.as_chunks::<32>();
    if !rest.is_empty() || hashes.len() != usize::from(tile.width()) {
        return Err(TilesError::Length { tile, got: content.len() });
    }
    Ok(hashes.to_vec())
}
