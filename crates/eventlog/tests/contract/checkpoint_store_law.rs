//! Contract of a store for tiles and checkpoints.

use eventlog::store::StoreError;
use eventlog::{FullTile, SignedCheckpoint, TILE_BYTES, TileCoordinates};

use crate::world::{LOG, World};

fn tile(place: TileCoordinates, byte: u8) -> FullTile {
    FullTile { coordinates: place, hashes: vec![byte; TILE_BYTES].into() }
}

fn signed(number: u64, size: u64) -> SignedCheckpoint {
    SignedCheckpoint { number, size, note: format!("room\n{size}\n\n— room x\n").into() }
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
