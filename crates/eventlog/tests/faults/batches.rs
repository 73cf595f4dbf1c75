//! Sizes of batches of plain entries, and their outcomes.

use std::time::Duration;

use eventlog::{AppendError, Entry, Fault, MIN_PIPELINED_ENTRIES, MemStore};
use futures_util::future::join_all;

use crate::{
    all, entry, never_written, open, opened_with, pairs_of_faults, payloads, store_events,
};

/// Plain entries of their own requests.
fn plain_entries(count: usize) -> Vec<Entry> {
    (20..=u8::MAX).take(count).map(entry).collect()
}

/// Plain entries for two batches, the second sent ahead behind the first.
fn two_batches() -> Vec<Entry> {
    plain_entries(2 * MIN_PIPELINED_ENTRIES)
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn callers_share_commits() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    store.inject(Fault::Delay(Duration::from_millis(10)));
    // One more would be enough for two batches.
    let entries = plain_entries(2 * MIN_PIPELINED_ENTRIES - 1);
    for outcome in join_all(entries.into_iter().map(|entry| log.append(entry))).await {
        outcome?;
    }
    assert!(store.appends() <= 2, "{} commits", store.appends());
    assert_eq!(all(&log).await?.len(), 2 * MIN_PIPELINED_ENTRIES - 1);
    Ok(())
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn callers_just_answered_are_in_the_next_commit() -> anyhow::Result<()> {
    let store = MemStore::new();
    let log = open(&store).await?;
    (0..8).for_each(|_| store.inject(Fault::Delay(Duration::from_millis(10))));
    let caller = |caller: u8| {
        let log = log.clone();
        tokio::spawn(async move {
            for round in 0..4 {
                log.append(entry(4 * caller + round)).await?;
            }
            anyhow::Ok(())
        })
    };
    let mut callers = vec![caller(0)];
    while store.appends() == 0 {
        tokio::task::yield_now().await;
    }
    callers.extend((1..60).map(caller));
    for caller in callers {
        caller.await??;
    }
    assert_eq!(store.appends(), 5, "one caller alone, then all of them");
    assert_eq!(all(&log).await?.len(), 240);
    Ok(())
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn plain_entries_are_sent_ahead_from_the_minimum_on() -> anyhow::Result<()> {
    for (missing, ahead) in [(0, 1), (1, 0)] {
        let (store, log) = opened_with([]).await?;
        let entries = plain_entries(2 * MIN_PIPELINED_ENTRIES - missing);
        join_all(entries.into_iter().map(|entry| log.append(entry))).await;
        assert_eq!((store.appends(), store.pipelined_appends()), (4 + ahead, ahead), "split");

        let (store, log) = opened_with([Fault::Delay(Duration::from_millis(50))]).await?;
        let mut entries = plain_entries(1 + MIN_PIPELINED_ENTRIES - missing).into_iter();
        let first = tokio::spawn({
            let (log, entry) = (log.clone(), entries.next().expect("one"));
            async move { log.append(entry).await }
        });
        while store.appends() == 3 {
            tokio::task::yield_now().await;
        }
        join_all(entries.map(|entry| log.append(entry))).await;
        first.await??;
        // The store in memory refuses a batch ahead, which is sent again in its turn.
        assert_eq!((store.appends(), store.pipelined_appends()), (5 + ahead, ahead), "behind one");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn two_batches_of_unknown_outcome_are_written_once() -> anyhow::Result<()> {
    for (first, second) in pairs_of_faults() {
        let (store, log) = opened_with([first, second]).await?;
        let mut places = Vec::new();
        let entries = two_batches();
        let sent: Vec<u8> = entries.iter().map(|entry| entry.events[0].payload[0]).collect();
        for outcome in join_all(entries.into_iter().map(|entry| log.append(entry))).await {
            places.push(outcome?.first.0);
        }
        assert!(places.into_iter().eq((3..).take(sent.len())), "{first:?}, {second:?}");
        assert_eq!(payloads(&all(&log).await?)[3..], sent, "{first:?}, {second:?}");
        assert_eq!(store.pipelined_appends(), 1, "{first:?}, {second:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_batch_behind_one_that_was_not_written_is_given_back_or_in_doubt() -> anyhow::Result<()> {
    for (second, lost) in [(Fault::InDoubtNotWritten, true), (Fault::Unavailable, false)] {
        let (store, log) = opened_with(never_written(second)).await?;
        for outcome in join_all(two_batches().into_iter().map(|entry| log.append(entry))).await {
            let as_it_must_be = match &outcome {
                Err(AppendError::Lost) => lost,
                Err(AppendError::Unavailable { .. }) => !lost,
                _ => false,
            };
            assert!(as_it_must_be, "{second:?}: {outcome:?}");
        }
        assert!(store.pipelined_appends() > 0);
        assert_eq!(log.stopped().is_cancelled(), lost);
        assert_eq!(payloads(&store_events(&store).await?), [7, 8, 9]);
    }
    Ok(())
}
