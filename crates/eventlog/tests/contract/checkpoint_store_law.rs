//! Contract of a store for tiles and checkpoints.

use eventlog::store::StoreError;
use eventlog::{FullTile, SignedCheckpoint, TILE_BYTES, TileCoordinates, UnixMicros};

use crate::world::{LOG, World};

fn tile(place: TileCoordinates, byte: u8) -> FullTile {
    FullTile { coordinates: place, hashes: vec![byte; TILE_BYTES].into() }
}

fn signed(number: u64, size: u64) -> SignedCheckpoint {
    let note = format!("room\n{size}\n\n— room x\n").into();
    SignedCheckpoint { number, size, recorded_at: UnixMicros(number * 20_000_000), note }
}

pub(crate) async fn tiles_are_put_down_once(world: World) -> anyhow::Result<()> {
    let store = &world.store;
    let (first, second, above) = (tile((0, 0), 1), tile((0, 1), 2), tile((1, 0), 3));
    store.put_tiles(LOG, &[first.clone(), above.clone()]).await?;
    // After an interruption all tiles are stored again.
    store.put_tiles(LOG, &[first.clone(), second.clone()]).await?;
    store.put_tiles(LOG, &[]).await?;
    let mut found = store.tiles(LOG, &[(1, 0), (0, 7), (0, 1), (0, 0)]).await?;
    found.sort_by_key(|tile| tile.coordinates);
    assert_eq!(found, [first.clone(), second, above]);
    let other = store.put_tiles(LOG, &[tile((0, 2), 4), tile((0, 0), 9)]).await;
    assert!(matches!(other, Err(StoreError::Corrupt(_))), "{other:?}");
    assert_eq!(store.tiles(LOG, &[(0, 0)]).await?, [first]);
    assert_eq!(store.tiles("table/1", &[(0, 0)]).await?, []);
    Ok(())
}

pub(crate) async fn checkpoints_are_a_chain(world: World) -> anyhow::Result<()> {
    let store = &world.store;
    assert_eq!(store.last_checkpoint(LOG).await?, None);
    assert!(!store.put_checkpoint(LOG, &signed(2, 5)).await?, "a gap");
    assert!(store.put_checkpoint(LOG, &signed(1, 0)).await?);
    assert!(store.put_checkpoint(LOG, &signed(2, 5)).await?);
    assert!(!store.put_checkpoint(LOG, &signed(2, 6)).await?, "another has the number");
    assert!(!store.put_checkpoint(LOG, &signed(4, 6)).await?, "a gap");
    assert!(store.put_checkpoint(LOG, &signed(3, 5)).await?, "under another key");
    assert_eq!(store.last_checkpoint(LOG).await?, Some(signed(3, 5)));
    assert_eq!(store.checkpoints(LOG, 2, 9).await?, [signed(2, 5), signed(3, 5)]);
    assert_eq!(store.checkpoints(LOG, 1, 1).await?, [signed(1, 0)]);
    assert_eq!(store.last_checkpoint("table/1").await?, None);
    Ok(())
}

/// Three checkpoints a minute; number 3 is the first of the second minute.
pub(crate) async fn old_checkpoints_are_thinned_to_one_a_minute(
    world: World,
) -> anyhow::Result<()> {
    let store = &world.store;
    for number in 1..=12 {
        assert!(store.put_checkpoint(LOG, &signed(number, number)).await?);
        assert!(store.put_checkpoint("table/1", &signed(number, number)).await?);
    }
    let numbers = async || -> anyhow::Result<Vec<u64>> {
        let all = store.checkpoints(LOG, 1, 99).await?;
        Ok(all.iter().map(|checkpoint| checkpoint.number).collect())
    };
    let until = |number: u64| UnixMicros(number * 20_000_000);
    assert_eq!(store.thin_checkpoints(LOG, 1, until(1)).await?, 1, "none is that old");
    assert_eq!(store.thin_checkpoints(LOG, 1, until(5)).await?, 4);
    assert_eq!(numbers().await?, [2, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    // The last one of a minute that is not over is looked at again.
    assert_eq!(store.thin_checkpoints(LOG, 4, until(10)).await?, 9);
    assert_eq!(numbers().await?, [2, 5, 8, 9, 10, 11, 12]);
    assert_eq!(store.thin_checkpoints(LOG, 9, until(99)).await?, 12);
    assert_eq!(numbers().await?, [2, 5, 8, 11, 12]);
    assert_eq!(store.last_checkpoint(LOG).await?, Some(signed(12, 12)), "the newest stays");
    assert_eq!(store.checkpoints("table/1", 1, 99).await?.len(), 12, "another log's stay");
    for taken in [1, 3, 12, 14] {
        assert!(!store.put_checkpoint(LOG, &signed(taken, 13)).await?, "{taken}");
    }
    assert!(store.put_checkpoint(LOG, &signed(13, 13)).await?);
    Ok(())
}
