//! A check of old records: each stored record must still have the hash that was signed.
//!
//! It runs once in each ownership of a log, from the oldest record to the one at which the notary
//! started. It works a fifth of the time and only reads. A change that an administrator makes in
//! old hands is found here, or by an auditor who reads the whole log.
//!
//! Specification: ARCHITECTURE.md §2.12.

use std::sync::Arc;
use std::time::Duration;

use eventlog::TileCoordinates;
use merkle::{Hash, TILE_WIDTH};
use tokio::time::{Instant, sleep};

use crate::fault::{Fault, NotaryError};
use crate::notary::Shared;

/// Full tiles that are compared in one step.
const TILES_PER_STEP: u64 = 4;
/// Rest after each step, as a multiple of the step's duration.
const REST_FACTOR: u32 = 4;
/// Delay before a store that was unavailable is asked again.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Compares the first `size` records with the full tiles over them.
pub(crate) async fn run(shared: Arc<Shared>, size: u64) {
    let mut tile = match shared.reader.cut().await {
        // Archived records are compared whenever they are read; an archive proves itself.
        Ok(cut) => cut.map_or(0, |tree| tree.size().div_ceil(u64::from(TILE_WIDTH))),
        Err(_) => 0,
    };
    let end = size / u64::from(TILE_WIDTH);
    while tile < end && !shared.has_stopped() {
        let begun = Instant::now();
        let count = TILES_PER_STEP.min(end - tile);
        match compare(&shared, tile, count).await {
            Ok(()) => tile += count,
            Err(NotaryError::Fault(fault)) if matches!(*fault, Fault::Archived { .. }) => {
                tile += count
            }
            Err(NotaryError::Fault(fault)) => return shared.stop_signing(*fault),
            Err(
                NotaryError::Unavailable(_)
                | NotaryError::MissingTile(_)
                | NotaryError::Superseded
                | NotaryError::Archive(_)
                | NotaryError::Busy,
            ) => {
                sleep(RETRY_DELAY).await;
            }
        }
        sleep(begun.elapsed() * REST_FACTOR).await;
    }
}

async fn compare(shared: &Shared, first: u64, count: u64) -> Result<(), NotaryError> {
    let places: Vec<TileCoordinates> = (first..first + count).map(|index| (0, index)).collect();
    let tiles = shared.store.tiles(shared.reader.name(), &places).await?;
    let from = first * u64::from(TILE_WIDTH);
    let records = usize::try_from(count * u64::from(TILE_WIDTH)).unwrap_or(usize::MAX);
    let stored = shared.leaf_hashes(from, records).await?;
    for tile in tiles {
        let (hashes, _) = tile.hashes.as_chunks::<{ size_of::<Hash>() }>();
        let start = tile.coordinates.1 * u64::from(TILE_WIDTH);
        for (position, hash) in (start..).zip(hashes) {
            let at = usize::try_from(position - from).unwrap_or(usize::MAX);
            if stored.get(at).ok_or(Fault::Gap { position })? != hash {
                return Err(Fault::Changed { position }.into());
            }
        }
    }
    Ok(())
}
