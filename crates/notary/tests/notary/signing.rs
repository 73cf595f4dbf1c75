//! Records that are signed, and the times of signatures.

use std::time::Duration;

use eventlog::CheckpointStore as _;
use merkle::{TileId, Tiles, tiles_between};
use tokio::time::{Instant, sleep};

use crate::harness::{Harness, LOG, identity, notary, open, verified_checkpoint, write};

#[tokio::test(start_paused = true)]
async fn a_log_is_signed_at_every_size_that_matters() {
    let harness = Harness::new().await;
    assert_eq!(
        verified_checkpoint(&harness.notary).head(),
        harness.stored_head().await,
        "nothing yet"
    );
    for size in [1, 255, 256, 257, 511, 512, 1300] {
        harness.write(size - harness.log.size()).await;
        harness.wait_until_signed(size).await;
        assert_eq!(
            verified_checkpoint(&harness.notary).head(),
            harness.stored_head().await,
            "size {size}"
        );
    }
    assert_eq!(verified_checkpoint(&harness.notary).origin(), "test/table");
}

#[tokio::test(start_paused = true)]
async fn full_tiles_of_all_levels_are_kept() {
    let harness = Harness::signed_whole(65_536 + 300).await;
    let head = harness.stored_head().await;
    let full: Vec<TileId> = tiles_between(0, head.size)
        .filter(|tile| tile.is_full() && !matches!(tile.row(), merkle::Row::Entries))
        .collect();
    assert_eq!(full.len(), 257 + 1);
    let places: Vec<_> = (0..257).map(|index| (0, index)).chain([(1, 0)]).collect();
    let stored = harness.store.tiles(LOG, &places).await.unwrap();
    assert_eq!(stored.len(), full.len());
    let tile = |place: (u8, u64)| TileId::at(merkle::Row::Hashes(place.0), place.1, head.size);
    let tiles = stored.into_iter().map(|it| (tile(it.coordinates).unwrap(), it.hashes.to_vec()));
    let edge = harness.notary.published().unwrap().partial();
    assert_eq!(Tiles::authenticate(head, tiles.chain(edge)).unwrap().head(), head);
}

/// ARCHITECTURE.md §2.12.
#[tokio::test(start_paused = true)]
async fn signatures_are_a_second_apart_and_sooner_for_who_is_in_a_hurry() {
    let harness = Harness::signed_whole(10).await;
    sleep(Duration::from_secs(5)).await;
    harness.write(1).await;
    harness.wait_until_signed(11).await;
    let begun = Instant::now();
    for size in 12..=21 {
        harness.write(1).await;
        harness.wait_until_signed(size).await;
    }
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
    let begun = Instant::now();
    for size in 22..=31 {
        harness.write(1).await;
        harness.notary.request_signature();
        harness.wait_until_signed(size).await;
    }
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn where_nothing_happens_nothing_is_signed() {
    let harness = Harness::signed_whole(10).await;
    let (signatures, appends) = (harness.signature_count().await, harness.store.appends());
    sleep(Duration::from_secs(3600)).await;
    assert_eq!((harness.signature_count().await, harness.store.appends()), (signatures, appends));
    harness.notary.request_signature();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(harness.signature_count().await, signatures);
}

#[tokio::test(start_paused = true)]
async fn an_old_log_gets_its_tiles_once() {
    let harness = Harness::unsigned(2_000).await;
    assert!(harness.store.tiles(LOG, &[(0, 0)]).await.unwrap().is_empty());
    harness.notary.follow(&harness.log);
    harness.wait_until_signed(2_000).await;
    assert_eq!(verified_checkpoint(&harness.notary).head(), harness.stored_head().await);
    assert_eq!(harness.store.tiles(LOG, &[(0, 0), (0, 6)]).await.unwrap().len(), 2);
    // They are built again if they are lost.
    harness.store.lose_tiles(LOG);
    let harness = harness.restart().await;
    harness.write(1).await;
    harness.wait_until_signed(2_001).await;
    assert_eq!(harness.store.tiles(LOG, &[(0, 0), (0, 6)]).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_where_the_last_one_stopped() {
    let mut harness = Harness::signed_whole(0).await;
    for size in [1, 256, 300, 700, 1_024, 1_025] {
        harness.write(size - harness.log.size()).await;
        harness.wait_until_signed(size).await;
        let signatures = harness.signature_count().await;
        harness = harness.restart().await;
        assert_eq!(harness.wait_until_signed(size).await.head().size, size);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(
            harness.signature_count().await,
            signatures,
            "the same tree is not signed again"
        );
    }
    assert_eq!(verified_checkpoint(&harness.notary).head(), harness.stored_head().await);
}

#[tokio::test(start_paused = true)]
async fn what_was_durable_when_the_log_closed_is_signed_yet() {
    let harness = Harness::signed_whole(5).await;
    harness.write(1).await;
    let mut shown = harness.notary.watch();
    harness.log.close().await;
    shown.wait_for(|it| it.as_ref().is_some_and(|it| it.head().size == 6)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_who_sign_one_log_make_one_chain() {
    let harness = Harness::signed_whole(5).await;
    let other = notary(&harness.store, 1, None);
    other.follow(&harness.log);
    for _ in 0..20 {
        write(&harness.log, 7).await;
        harness.notary.request_signature();
        other.request_signature();
        sleep(Duration::from_millis(700)).await;
    }
    harness.wait_until_signed(145).await;
    sleep(Duration::from_secs(10)).await;
    let all = harness.store.checkpoints(LOG, 1, 1_000).await.unwrap();
    assert!(all.iter().zip(1..).all(|(signed, number)| signed.number == number));
    assert!(all.windows(2).all(|pair| pair[0].size <= pair[1].size));
    assert_eq!(verified_checkpoint(&harness.notary), verified_checkpoint(&other));
}

#[tokio::test(start_paused = true)]
async fn a_new_key_goes_on_from_what_the_old_one_signed() {
    let harness = Harness::signed_whole(300).await;
    let Harness { store, log, .. } = harness;
    log.close().await;
    let (log, notary) = (open(&store).await, notary(&store, 2, None));
    notary.follow(&log);
    let harness = Harness { store, log, notary };
    harness.write(1).await;
    harness.wait_until_signed(301).await;
    assert_eq!(verified_checkpoint(&harness.notary).head(), harness.stored_head().await);
    assert_eq!(identity(2).key.verifying_key().as_bytes(), harness.notary.key().bytes());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_waited_for() {
    let harness = Harness::signed_whole(10).await;
    harness.write(5).await;
    harness.store.set_down(true);
    sleep(Duration::from_secs(30)).await;
    harness.store.set_down(false);
    harness.wait_until_signed(15).await;
}
