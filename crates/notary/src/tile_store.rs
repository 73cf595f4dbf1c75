//! Hashes of a tree for proofs: its right edge from memory, full tiles from the store, some of them
//! cached. All of them are checked against the signed root.
//!
//! The oldest cached tile goes first: a map and a queue, too little for crate `lru`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use eventlog::store::StoreError;
use eventlog::{CheckpointStore, FullTile, TileCoordinates};
use merkle::{Edge, Row, TileId, Tiles, TreeHead};

use crate::fault::NotaryError;

/// Most cached tiles, of eight kilobytes each.
const MAX_CACHED_TILES: usize = 256;

/// Full tiles of a log, in the store and in a cache.
pub(crate) struct TileStore {
    store: Arc<dyn CheckpointStore>,
    log: Arc<str>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    tiles: BTreeMap<TileCoordinates, Bytes>,
    /// Cached tiles in the order of their arrival. The oldest is dropped first.
    order: VecDeque<TileCoordinates>,
}

impl TileStore {
    pub(crate) fn new(store: Arc<dyn CheckpointStore>, log: Arc<str>) -> TileStore {
        TileStore { store, log, cache: Mutex::default() }
    }

    /// Stores full tiles.
    pub(crate) async fn put(&self, full: &[(TileId, Vec<u8>)]) -> Result<(), StoreError> {
        let full_tile = |tile: TileId, hashes: &[u8]| {
            Some(FullTile { coordinates: place(tile)?, hashes: Bytes::copy_from_slice(hashes) })
        };
        let tiles = full.iter().filter_map(|(tile, hashes)| full_tile(*tile, hashes));
        let tiles: Vec<FullTile> = tiles.collect();
        if tiles.is_empty() { Ok(()) } else { self.store.put_tiles(&self.log, &tiles).await }
    }

    /// Returns those of the full tiles that are stored.
    pub(crate) async fn full_tiles(
        &self,
        places: impl IntoIterator<Item = TileCoordinates>,
    ) -> Result<BTreeMap<TileCoordinates, Bytes>, StoreError> {
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        {
            let cache = self.cache();
            for place in places {
                match cache.tiles.get(&place) {
                    Some(hashes) => drop(found.insert(place, hashes.clone())),
                    None => missing.push(place),
                }
            }
        }
        if !missing.is_empty() {
            let tiles = self.store.tiles(&self.log, &missing).await?;
            let mut cache = self.cache();
            for FullTile { coordinates: place, hashes } in tiles {
                cache.put(place, hashes.clone());
                found.insert(place, hashes);
            }
        }
        Ok(found)
    }

    /// Returns the authenticated tiles in which `wanted` are found in this tree. A tile that is
    /// named at an older size is returned as wide as it is in this tree.
    pub(crate) async fn authenticated(
        &self,
        head: TreeHead,
        edge: &Edge,
        wanted: impl IntoIterator<Item = TileId>,
    ) -> Result<Tiles, NotaryError> {
        let mut all: BTreeSet<TileId> = TileId::edge(head.size).into_iter().collect();
        for tile in wanted {
            let mut next = TileId::at(tile.row(), tile.index(), head.size);
            while let Some(tile) = next.filter(|tile| all.insert(*tile)) {
                next = tile.parent(head.size);
            }
        }
        let full: Vec<TileId> = all.into_iter().filter(|tile| tile.is_full()).collect();
        let found = self.full_tiles(full.iter().filter_map(|tile| place(*tile))).await?;
        let mut tiles: Vec<(TileId, Bytes)> = Vec::new();
        for tile in full {
            let hashes = place(tile).and_then(|place| found.get(&place));
            tiles.push((tile, hashes.ok_or(NotaryError::MissingTile(tile))?.clone()));
        }
        tiles.extend(edge.partial().into_iter().map(|(tile, hashes)| (tile, hashes.into())));
        match Tiles::authenticate(head, tiles) {
            Ok(tiles) => Ok(tiles),
            Err(error) => {
                // The tiles may be corrupt, so none of them stays cached.
                self.clear_cache();
                Err(error.into())
            }
        }
    }

    pub(crate) fn clear_cache(&self) {
        *self.cache() = Cache::default();
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn put(&mut self, place: TileCoordinates, hashes: Bytes) {
        if self.tiles.insert(place, hashes).is_none() {
            self.order.push_back(place);
        }
        while self.order.len() > MAX_CACHED_TILES {
            if let Some(oldest) = self.order.pop_front() {
                self.tiles.remove(&oldest);
            }
        }
    }
}

/// Returns the place of a tile of hashes in the store.
pub(crate) fn place(tile: TileId) -> Option<TileCoordinates> {
    match tile.row() {
        Row::Hashes(level) => Some((level, tile.index())),
        Row::Entries => None,
    }
}
