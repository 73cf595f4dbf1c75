//! Store of a log's public data: the full tiles of its tree and its signed checkpoints. Tiles stay.
//! Of old checkpoints one a minute stays: a tree is compared with any later one, and whoever keeps a
//! checkpoint needs no other copy of it.
//!
//! Checkpoints form a chain: each has a number, one higher than its predecessor's, and each number
//! is given once. So of two signers that follow the same checkpoint one is refused and has to read
//! what was signed. A race can therefore not produce two signed trees that contradict each other.
//!
//! Specification: ARCHITECTURE.md §2.12.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use primitives::UnixMicros;

use crate::store::{Store, StoreError};

/// Level of a tile, and its index in the level.
pub type TileCoordinates = (u8, u64);

/// Bytes of a full tile: 256 hashes.
pub const TILE_BYTES: usize = 8192;

/// Full tile, which never changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullTile {
    pub coordinates: TileCoordinates,
    /// [`TILE_BYTES`] bytes.
    pub hashes: Bytes,
}

/// Signed checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedCheckpoint {
    /// Number of the checkpoint: 1, 2, 3 …, each given once. Old ones are removed.
    pub number: u64,
    /// Number of records in its tree.
    pub size: u64,
    /// Time of recording of the last of them; 0 if there is none.
    pub recorded_at: UnixMicros,
    /// Signed note, without cosignatures.
    pub note: Arc<str>,
}

/// Store that also keeps tiles and checkpoints of its logs.
#[async_trait]
pub trait CheckpointStore: Store {
    /// Stores tiles. Existing tiles stay; [`StoreError::Corrupt`] if one of them has other hashes.
    async fn put_tiles(&self, log: &str, tiles: &[FullTile]) -> Result<(), StoreError>;

    /// Existing tiles among these, in any order.
    async fn tiles(
        &self,
        log: &str,
        places: &[TileCoordinates],
    ) -> Result<Vec<FullTile>, StoreError>;

    /// Appends a checkpoint. `false` if its number is not the next.
    async fn put_checkpoint(
        &self,
        log: &str,
        checkpoint: &SignedCheckpoint,
    ) -> Result<bool, StoreError>;

    /// Newest checkpoint.
    async fn last_checkpoint(&self, log: &str) -> Result<Option<SignedCheckpoint>, StoreError>;

    /// Checkpoints from a number on, in order, at most `limit`.
    async fn checkpoints(
        &self,
        log: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<SignedCheckpoint>, StoreError>;

    /// Removes the checkpoints from number `first` on whose records were recorded before `until`,
    /// except the last of each minute. Returns the number from which on to go on later.
    async fn thin_checkpoints(
        &self,
        log: &str,
        first: u64,
        until: UnixMicros,
    ) -> Result<u64, StoreError>;
}
