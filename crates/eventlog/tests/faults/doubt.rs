//! Doubts about commits, and their end.

use std::time::Duration;

use eventlog::{AppendError, Fault, Log, MemStore, OpenError, Options, Position, WriteHealth};
use tokio::time::{Instant, timeout};

use crate::{all, entry, open, options, payloads, store_events};

/// Covers a commit that this store has and no replica.
/// ARCHITECTURE.md §2.6, §3.
#[tokio::test(start_paused = true)]
async fn what_no_replica_has_is_not_acknowledged() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    store.set_replica_away(true);
    let waits = tokio::spawn({
        let log = log.clone();
        async move { log.append(entry(2)).await }
    });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(payloads(&store_events(&store).await?), [1, 2], "it is here");
    assert!(!waits.is_finished(), "and may be lost with this store");
    // The replica is now the primary, and its owner must not learn anything else from the old one.
    store.fail_over();
    store.set_replica_away(false);
    assert_eq!(payloads(&store_events(&store).await?), [1]);
    Ok(())
}

/// ARCHITECTURE.md §2.6.
#[tokio::test(start_paused = true)]
async fn a_doubt_that_ends_well_ends_with_a_write_of_ones_own() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    store.set_replica_away(true);
    let waits = tokio::spawn({
        let log = log.clone();
        async move { log.append(entry(2)).await }
    });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!waits.is_finished());
    store.set_replica_away(false);
    assert_eq!(timeout(Duration::from_secs(5), waits).await???.first, Position(1));
    store.fail_over();
    assert_eq!(payloads(&all(&log).await?), [1, 2]);
    Ok(())
}

/// The claim is the new owner's write: it is waited for, and comes after all that it found.
#[tokio::test(start_paused = true)]
async fn a_new_owner_waits_for_the_replica_too() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    log.append(entry(1)).await?;
    store.set_replica_away(true);
    drop(log);
    let options = Options { take_over: true, ..options() };
    let opened = Log::open(store.clone(), options.clone()).await;
    assert!(matches!(opened, Err(OpenError::Unavailable { .. })));
    store.set_replica_away(false);
    let log = Log::open(store.clone(), options).await?;
    store.fail_over();
    assert_eq!(payloads(&all(&log).await?), [1]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_what_it_is_is_given_back_at_once() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.inject(Fault::Refuse);
    let began = Instant::now();
    let refused = log.append(entry(1)).await;
    assert!(matches!(refused, Err(AppendError::Unavailable { source: Some(_) })), "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(log.append(entry(2)).await?.first, Position(0), "the log goes on");
    Ok(())
}

/// The batch may still be on its way; a new epoch keeps it out.
/// ARCHITECTURE.md §2.6.
#[tokio::test(start_paused = true)]
async fn a_doubt_that_cannot_end_stops_the_log() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.inject(Fault::InDoubtNotWritten);
    for _ in 0..1000 {
        store.inject(Fault::Refuse);
    }
    let lost = timeout(Duration::from_secs(60), log.append(entry(1))).await?;
    assert!(matches!(lost, Err(AppendError::Lost)), "{lost:?}");
    assert!(log.stopped().is_cancelled());
    Ok(())
}

/// An owner that is cut off for longer than its lease may have lost the log.
#[tokio::test(start_paused = true)]
async fn an_owner_that_is_cut_off_says_so_before_and_after_its_lease() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    let (sender, mut receiver) = tokio::sync::watch::channel("nothing");
    tokio::spawn(log.report_writes(move |writes| {
        sender.send_replace(match writes {
            WriteHealth::Accepted => "taken",
            WriteHealth::Outage(_) => "trouble",
            WriteHealth::LeaseExpired(_) => "silence",
        });
    }));
    let mut until = async |what: &str| {
        let began = Instant::now();
        timeout(Duration::from_secs(60), receiver.wait_for(|state| *state == what)).await??;
        anyhow::Ok(began.elapsed())
    };
    until("taken").await?;
    store.set_down(true);
    assert!(until("trouble").await? < Duration::from_secs(5));
    let lease = options().lease;
    let silent = until("silence").await?;
    assert!(silent > Duration::from_secs(1) && silent < lease * 2, "{silent:?}");
    store.set_down(false);
    until("taken").await?;
    Ok(())
}
