//! Tiles and signed checkpoints of the store in memory.

use async_trait::async_trait;
use primitives::UnixMicros;

use super::{MemStore, page};
use crate::checkpoint_store::{CheckpointStore, FullTile, SignedCheckpoint, TileCoordinates};
use crate::store::StoreError;

#[async_trait]
impl CheckpointStore for MemStore {
    async fn put_tiles(&self, log: &str, tiles: &[FullTile]) -> Result<(), StoreError> {
        let mut state = self.state_if_up()?;
        for FullTile { coordinates, hashes } in tiles {
            let kept =
                state.tiles.entry((log.into(), *coordinates)).or_insert_with(|| hashes.clone());
            if kept != hashes {
                return Err(StoreError::Corrupt("a tile is stored with other hashes".into()));
            }
        }
        Ok(())
    }

    async fn tiles(
        &self,
        log: &str,
        places: &[TileCoordinates],
    ) -> Result<Vec<FullTile>, StoreError> {
        let state = self.state_if_up()?;
        let tile = |place: &TileCoordinates| {
            let hashes = state.tiles.get(&(log.into(), *place))?.clone();
            Some(FullTile { coordinates: *place, hashes })
        };
        Ok(places.iter().filter_map(tile).collect())
    }

    async fn put_checkpoint(
        &self,
        log: &str,
        checkpoint: &SignedCheckpoint,
    ) -> Result<bool, StoreError> {
        let mut state = self.state_if_up()?;
        let all = state.checkpoints.entry(log.into()).or_default();
        let next = checkpoint.number == all.last().map_or(0, |last| last.number) + 1;
        if next {
            all.push(checkpoint.clone());
        }
        Ok(next)
    }

    async fn last_checkpoint(&self, log: &str) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.state_if_up()?.checkpoints.get(log).and_then(|all| all.last().cloned()))
    }

    async fn checkpoints(
        &self,
        log: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<SignedCheckpoint>, StoreError> {
        let state = self.state_if_up()?;
        let all = state.checkpoints.get(log).map_or(&[][..], Vec::as_slice);
        let from = all.partition_point(|checkpoint| checkpoint.number < from);
        Ok(page(all, from as u64, limit).to_vec())
    }

    async fn thin_checkpoints(
        &self,
        log: &str,
        first: u64,
        until: UnixMicros,
    ) -> Result<u64, StoreError> {
        let mut state = self.state_if_up()?;
        let all = state.checkpoints.entry(log.into()).or_default();
        let is_old = |it: &SignedCheckpoint| it.number >= first && it.recorded_at < until;
        let minute = |it: &SignedCheckpoint| it.recorded_at.0 / 60_000_000;
        let mut kept: Vec<SignedCheckpoint> = Vec::new();
        let mut last = first;
        for checkpoint in all.drain(..) {
            if is_old(&checkpoint) {
                last = checkpoint.number;
                kept.pop_if(|before| is_old(before) && minute(before) == minute(&checkpoint));
            }
            kept.push(checkpoint);
        }
        *all = kept;
        Ok(last)
    }
}
