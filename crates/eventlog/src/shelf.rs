//! Where a log keeps what it shows of itself: the full tiles of its tree, and the checkpoints that were
//! signed. Both only ever grow, like the log.
//!
//! Checkpoints are a chain: each has a number, one higher than the one before, and a number is given
//! once. So of two who sign after the same checkpoint one is refused, looks again at what is signed,
//! and no two signed trees can contradict each other by a race.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::store::{Store, StoreError};

/// Where a tile stands: its level and its index in the level.
pub type TilePlace = (u8, u64);

/// Bytes of a full tile: 256 hashes.
pub const TILE_BYTES: usize = 8192;

/// A tile that will never change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullTile {
    pub place: TilePlace,
    /// [`TILE_BYTES`] of them.
    pub hashes: Bytes,
}

/// A checkpoint that was signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedCheckpoint {
    /// 1, 2, 3 … without gaps.
    pub number: u64,
    /// Records in its tree.
    pub size: u64,
    /// The signed note, without cosignatures.
    pub note: Arc<str>,
}

/// A store that keeps what its logs show, too.
#[async_trait]
pub trait Shelf: Store {
    /// Puts tiles down. Those that are there already stay; [`StoreError::Corrupt`] where one of
    /// them is another.
    async fn put_tiles(&self, log: &str, tiles: &[FullTile]) -> Result<(), StoreError>;

    /// The tiles among these that are there, in any order.
    async fn tiles(&self, log: &str, places: &[TilePlace]) -> Result<Vec<FullTile>, StoreError>;

    /// Puts a checkpoint behind the others. False where its number is not the next.
    async fn put_checkpoint(
        &self,
        log: &str,
        checkpoint: &SignedCheckpoint,
    ) -> Result<bool, StoreError>;

    /// The newest.
    async fn last_checkpoint(&self, log: &str) -> Result<Option<SignedCheckpoint>, StoreError>;

    /// Those from a number on, in order, at most `limit`.
    async fn checkpoints(
        &self,
        log: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<SignedCheckpoint>, StoreError>;
}
