//! Records that are signed, and the times of signatures.

use std::time::Duration;

use eventlog::CheckpointStore as _;
use merkle::{TileId, Tiles, tiles_between};
use tokio::time::{Instant, sleep};

use crate::harness::{Harness, LOG, identity, notary, open, verified_checkpoint, write};

#[tokio::test(start_paused = true)]
async fn a_log_is_signed_at_every_size_that_matters() {
    let house = Harness::new().await;
    assert_eq!(verified_checkpoint(&house.notary).head(), house.stored_head().await, "nothing yet");
    for size in [1, 255, 256, 257, 511, 512, 1300] {
        house.write(size - house.log.size()).await;
        house.wait_until_signed(size).await;
        assert_eq!(
            verified_checkpoint(&house.notary).head(),
            house.stored_head().await,
            "size {size}"
        );
    }
    assert_eq!(verified_checkpoint(&house.notary).origin(), "test/table");
}

#[tokio::test(start_paused = true)]
async fn full_tiles_of_all_levels_are_kept() {
    let house = Harness::signed_whole(65_536 + 300).await;
    let head = house.stored_head().await;
    let full: Vec<TileId> = tiles_between(0, head.size)
        .filter(|tile| tile.is_full() && !matches!(tile.row(), merkle::Row::Entries))
        .collect();
    assert_eq!(full.len(), 257 + 1);
    let places: Vec<_> = (0..257).map(|index| (0, index)).chain([(1, 0)]).collect();
    let stored = house.store.tiles(LOG, &places).await.unwrap();
    assert_eq!(stored.len(), full.len());
    let tile = |place: (u8, u64)| TileId::at(merkle::Row::Hashes(place.0), place.1, head.size);
    let tiles = stored.into_iter().map(|it| (tile(it.coordinates).unwrap(), it.hashes.to_vec()));
    let edge = house.notary.published().unwrap().partial();
    assert_eq!(Tiles::authenticate(head, tiles.chain(edge)).unwrap().head(), head);
}

/// ARCHITECTURE.md §2.12.
#[tokio::test(start_paused = true)]
async fn signatures_are_a_second_apart_and_sooner_for_who_is_in_a_hurry() {
    let house = Harness::signed_whole(10).await;
    sleep(Duration::from_secs(5)).await;
    house.write(1).await;
    house.wait_until_signed(11).await;
    let begun = Instant::now();
    for size in 12..=21 {
        house.write(1).await;
        house.wait_until_signed(size).await;
    }
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
    let begun = Instant::now();
    for size in 22..=31 {
        house.write(1).await;
        house.notary.request_signature();
        house.wait_until_signed(size).await;
    }
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn where_nothing_happens_nothing_is_signed() {
    let house = Harness::signed_whole(10).await;
    let (signatures, appends) = (house.signature_count().await, house.store.appends());
    sleep(Duration::from_secs(3600)).await;
    assert_eq!((house.signature_count().await, house.store.appends()), (signatures, appends));
    house.notary.request_signature();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(house.signature_count().await, signatures);
}

#[tokio::test(start_paused = true)]
async fn an_old_log_gets_its_tiles_once() {
    let house = Harness::unsigned(2_000).await;
    assert!(house.store.tiles(LOG, &[(0, 0)]).await.unwrap().is_empty());
    house.notary.follow(&house.log);
    house.wait_until_signed(2_000).await;
    assert_eq!(verified_checkpoint(&house.notary).head(), house.stored_head().await);
    assert_eq!(house.store.tiles(LOG, &[(0, 0), (0, 6)]).await.unwrap().len(), 2);
    // They are built again if they are lost.
    house.store.lose_tiles(LOG);
    let house = house.restart().await;
    house.write(1).await;
    house.wait_until_signed(2_001).await;
    assert_eq!(house.store.tiles(LOG, &[(0, 0), (0, 6)]).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_where_the_last_one_stopped() {
    let mut house = Harness::signed_whole(0).await;
    for size in [1, 256, 300, 700, 1_024, 1_025] {
        house.write(size - house.log.size()).await;
        house.wait_until_signed(size).await;
        let signatures = house.signature_count().await;
        house = house.restart().await;
        assert_eq!(house.wait_until_signed(size).await.head().size, size);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(house.signature_count().await, signatures, "the same tree is not signed again");
    }
    assert_eq!(verified_checkpoint(&house.notary).head(), house.stored_head().await);
}

#[tokio::test(start_paused = true)]
async fn what_was_durable_when_the_log_closed_is_signed_yet() {
    let house = Harness::signed_whole(5).await;
    house.write(1).await;
    let mut shown = house.notary.watch();
    house.log.close().await;
    shown.wait_for(|it| it.as_ref().is_some_and(|it| it.head().size == 6)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_who_sign_one_log_make_one_chain() {
    let house = Harness::signed_whole(5).await;
    let other = notary(&house.store, 1, None);
    other.follow(&house.log);
    for _ in 0..20 {
        write(&house.log, 7).await;
        house.notary.request_signature();
        other.request_signature();
        sleep(Duration::from_millis(700)).await;
    }
    house.wait_until_signed(145).await;
    sleep(Duration::from_secs(10)).await;
    let all = house.store.checkpoints(LOG, 1, 1_000).await.unwrap();
    assert!(all.iter().zip(1..).all(|(signed, number)| signed.number == number));
    assert!(all.windows(2).all(|pair| pair[0].size <= pair[1].size));
    assert_eq!(verified_checkpoint(&house.notary), verified_checkpoint(&other));
}

#[tokio::test(start_paused = true)]
async fn a_new_key_goes_on_from_what_the_old_one_signed() {
    let house = Harness::signed_whole(300).await;
    let Harness { store, log, .. } = house;
    log.close().await;
    let (log, notary) = (open(&store).await, notary(&store, 2, None));
    notary.follow(&log);
    let house = Harness { store, log, notary };
    house.write(1).await;
    house.wait_until_signed(301).await;
    assert_eq!(verified_checkpoint(&house.notary).head(), house.stored_head().await);
    assert_eq!(identity(2).key.verifying_key().as_bytes(), house.notary.key().bytes());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_waited_for() {
    let house = Harness::signed_whole(10).await;
    house.write(5).await;
    house.store.set_down(true);
    sleep(Duration::from_secs(30)).await;
    house.store.set_down(false);
    house.wait_until_signed(15).await;
}
