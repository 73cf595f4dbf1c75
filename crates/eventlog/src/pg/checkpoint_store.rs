//! Statements of tiles and checkpoints, one function each.

use async_trait::async_trait;
use primitives::UnixMicros;
use sqlx::PgPool;
use sqlx::postgres::PgExecutor;

use super::PgStore;
use super::rows::{checkpoint, full_tile, signed};
use crate::checkpoint_store::{CheckpointStore, FullTile, SignedCheckpoint, TileCoordinates};
use crate::store::StoreError;

/// Both writes may be repeated without harm, so they use the readers' pool: they take no writer's
/// connection, and a dead connection is retried.
#[async_trait]
impl CheckpointStore for PgStore {
    async fn put_tiles(&self, log: &str, tiles: &[FullTile]) -> Result<(), StoreError> {
        let others = self.read_with(|| put_tiles(&self.readers, log, tiles)).await?;
        if others == 0 {
            return Ok(());
        }
        let what = format!("{others} of {} tiles are stored with other hashes", tiles.len());
        Err(StoreError::Corrupt(what.into()))
    }

    async fn tiles(
        &self,
        log: &str,
        places: &[TileCoordinates],
    ) -> Result<Vec<FullTile>, StoreError> {
        self.read_with(|| tiles(&self.readers, log, places)).await
    }

    async fn put_checkpoint(
        &self,
        log: &str,
        checkpoint: &SignedCheckpoint,
    ) -> Result<bool, StoreError> {
        if self.read_with(|| put_checkpoint(&self.readers, log, checkpoint)).await? {
            return Ok(true);
        }
        // An earlier attempt whose answer was lost may have written it.
        let there = self.checkpoints(log, checkpoint.number, 1).await?;
        Ok(there.first() == Some(checkpoint))
    }

    async fn last_checkpoint(&self, log: &str) -> Result<Option<SignedCheckpoint>, StoreError> {
        self.read_with(|| last_checkpoint(&self.readers, log)).await
    }

    async fn checkpoints(
        &self,
        log: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.read_with(|| checkpoints(&self.readers, log, from, limit)).await
    }

    async fn thin_checkpoints(
        &self,
        log: &str,
        first: u64,
        until: UnixMicros,
    ) -> Result<u64, StoreError> {
        let last = self.read_with(|| thin_checkpoints(&self.readers, log, first, until)).await?;
        // The last one of its minute so far is looked at again.
        Ok(u64::try_from(last).unwrap_or_default().max(first))
    }
}

/// Stores tiles. Returns the number of tiles that exist already with other hashes.
async fn put_tiles(pool: &PgPool, log: &str, tiles: &[FullTile]) -> Result<i64, sqlx::Error> {
    let (levels, indexes) = coordinates(tiles.iter().map(|tile| tile.coordinates))?;
    let hashes: Vec<&[u8]> = tiles.iter().map(|tile| &tile.hashes[..]).collect();
    let query = sqlx::query_scalar(include_str!("sql/put_tiles.sql"));
    query.bind(log).bind(levels).bind(indexes).bind(hashes).fetch_one(pool).await
}

async fn tiles(
    pool: &PgPool,
    log: &str,
    of: &[TileCoordinates],
) -> Result<Vec<FullTile>, sqlx::Error> {
    let (levels, indexes) = coordinates(of.iter().copied())?;
    let query = sqlx::query(include_str!("sql/tiles.sql")).bind(log).bind(levels).bind(indexes);
    query.fetch_all(pool).await?.iter().map(full_tile).collect()
}

/// Whether this call stored the checkpoint.
async fn put_checkpoint(
    pool: &PgPool,
    log: &str,
    checkpoint: &SignedCheckpoint,
) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(include_str!("sql/put_checkpoint.sql"))
        .bind(log)
        .bind(signed(checkpoint.number)?)
        .bind(signed(checkpoint.size)?)
        .bind(&*checkpoint.note)
        .bind(signed(checkpoint.recorded_at.0)?);
    Ok(query.execute(pool).await?.rows_affected() == 1)
}

pub(super) async fn last_checkpoint(
    pool: impl PgExecutor<'_>,
    log: &str,
) -> Result<Option<SignedCheckpoint>, sqlx::Error> {
    let query = sqlx::query(include_str!("sql/last_checkpoint.sql")).bind(log);
    query.fetch_optional(pool).await?.as_ref().map(checkpoint).transpose()
}

async fn checkpoints(
    pool: &PgPool,
    log: &str,
    from: u64,
    limit: usize,
) -> Result<Vec<SignedCheckpoint>, sqlx::Error> {
    let query = sqlx::query(include_str!("sql/checkpoints.sql"))
        .bind(log)
        .bind(i64::try_from(from).unwrap_or(i64::MAX))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
    query.fetch_all(pool).await?.iter().map(checkpoint).collect()
}

/// Number of the last checkpoint before `until`, or one below `first` if there is none.
async fn thin_checkpoints(
    pool: &PgPool,
    log: &str,
    first: u64,
    until: UnixMicros,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(include_str!("sql/thin_checkpoints.sql"))
        .bind(log)
        .bind(signed(first)?)
        .bind(signed(until.0)?)
        .fetch_one(pool)
        .await
}

fn coordinates(
    of: impl Iterator<Item = TileCoordinates>,
) -> Result<(Vec<i32>, Vec<i64>), sqlx::Error> {
    let pairs = of.map(|(level, index)| Ok((i32::from(level), signed(index)?)));
    pairs.collect()
}
