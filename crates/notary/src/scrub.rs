//! A check of old records: each stored record must still have the hash that was signed.
//!
//! It runs once in each ownership of a log, from the oldest record to the one at which the notary
//! started. It works a fifth of the time and only reads. A change that an administrator makes in
//! old hands, in the tiles over them, or both, is found here, or by an auditor who reads the whole log.
//!
//! Specification: ARCHITECTURE.md §2.12.

use std::sync::Arc;
use std::time::Duration;

use merkle::TILE_WIDTH;
use tokio::time::{Instant, sleep};

use crate::fault::{Fault, NotaryError};
use crate::notary::{PublishedTree, Shared};
use crate::records::EntryTile;

/// Full tiles that are compared in one step.
const TILES_PER_STEP: u64 = 4;
/// Rest after each step, as a multiple of the step's duration.
const REST_FACTOR: u32 = 4;
/// Delay before a store that was unavailable is asked again.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Compares the first `size` records with the full tiles over them, and those with the signed tree.
pub(crate) async fn run(shared: Arc<Shared>, size: u64) {
    let mut published = shared.published.subscribe();
    let covers = |tree: &Option<Arc<PublishedTree>>| {
        tree.as_ref().is_some_and(|tree| tree.head().size >= size)
    };
    let Ok(Some(signed)) = published.wait_for(covers).await.map(|tree| tree.clone()) else {
        return;
    };
    drop(published);
    let (mut tile, end) = (0, size / u64::from(TILE_WIDTH));
    while tile < end && !shared.has_stopped() {
        let begun = Instant::now();
        for _ in 0..TILES_PER_STEP.min(end - tile) {
            match compare(&shared, &signed, tile).await {
                Ok(()) => tile += 1,
                // Where its records are archived and no archive is mounted, a file proves itself.
                Err(NotaryError::Fault(fault)) if matches!(*fault, Fault::Archived { .. }) => {
                    tile += 1;
                }
                Err(NotaryError::Fault(fault)) => return shared.stop_signing(*fault),
                Err(
                    NotaryError::Unavailable(_)
                    | NotaryError::MissingTile(_)
                    | NotaryError::Superseded
                    | NotaryError::Archive(_)
                    | NotaryError::Busy,
                ) => sleep(RETRY_DELAY).await,
            }
        }
        sleep(begun.elapsed() * REST_FACTOR).await;
    }
}

async fn compare(shared: &Shared, signed: &PublishedTree, index: u64) -> Result<(), NotaryError> {
    let whole = EntryTile { index, width: TILE_WIDTH };
    let records = shared.leaf_records(&shared.reader, signed, whole).await?;
    let missing = index * u64::from(TILE_WIDTH) + records.len() as u64;
    if records.len() < usize::from(TILE_WIDTH) {
        return Err(Fault::Gap { position: missing }.into());
    }
    Ok(())
}
