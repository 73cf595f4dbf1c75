//! A check of old records: each stored record must still have the hash that was signed.
//!
//! It runs once in each ownership of a log, from the oldest record to the one at which the notary
//! started. It works a fifth of the time and only reads. A change that an administrator makes in
//! old hands is found here, or by an auditor who reads the whole log.

use std::sync::Arc;
use std::time::Duration;

use eventlog::{Position, TilePlace};
use merkle::{Hash, leaf_hash};
use tokio::time::{Instant, sleep};

use crate::fault::{Fault, Trouble};
use crate::notary::Desk;

/// Full tiles that are compared in one step.
const STEP: u64 = 4;
const WIDTH: u64 = 256;
/// Rest after each step, as a multiple of the step's duration.
const REST: u32 = 4;
/// Delay before a store that was unavailable is asked again.
const PAUSE: Duration = Duration::from_secs(5);

/// Compares the first `size` records with the full tiles over them.
pub(crate) async fn run(desk: Arc<Desk>, size: u64) {
    let mut tile = match desk.reader.cut().await {
        // Archived records cannot be read here; an archive proves itself.
        Ok(cut) => cut.map_or(0, |tree| tree.size().div_ceil(WIDTH)),
        Err(_) => 0,
    };
    let end = size / WIDTH;
    while tile < end && !desk.refuses() {
        let begun = Instant::now();
        let count = STEP.min(end - tile);
        match compare(&desk, tile, count).await {
            Ok(()) => tile += count,
            Err(Trouble::Fault(fault)) if matches!(*fault, Fault::Archived { .. }) => tile += count,
            Err(Trouble::Fault(fault)) => return desk.refuse(*fault),
            Err(Trouble::Passing(_) | Trouble::Missing(_) | Trouble::Overtaken) => {
                sleep(PAUSE).await;
            }
        }
        sleep(begun.elapsed() * REST).await;
    }
}

async fn compare(desk: &Desk, first: u64, count: u64) -> Result<(), Trouble> {
    let places: Vec<TilePlace> = (first..first + count).map(|index| (0, index)).collect();
    let tiles = desk.shelf.tiles(desk.reader.name(), &places).await?;
    let from = first * WIDTH;
    let records = usize::try_from(count * WIDTH).unwrap_or(usize::MAX);
    let events = desk.reader.read(Position(from), records).await?;
    for tile in tiles {
        let (hashes, _) = tile.hashes.as_chunks::<{ size_of::<Hash>() }>();
        let start = tile.place.1 * WIDTH;
        for (position, hash) in (start..).zip(hashes) {
            let at = usize::try_from(position - from).unwrap_or(usize::MAX);
            let event = events.get(at).filter(|event| event.position.0 == position);
            let event = event.ok_or(Fault::Gap { position })?;
            if leaf_hash(&event.record()) != *hash {
                return Err(Fault::Changed { position }.into());
            }
        }
    }
    Ok(())
}
