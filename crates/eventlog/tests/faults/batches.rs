//! Sizes of batches of plain entries.

use std::time::Duration;

use eventlog::{Entry, Fault};
use futures_util::future::join_all;

use crate::{all, entry, open, opened_with};

/// Fewest plain entries that make a batch of their own while another is being written.
const MIN_PIPELINED: usize = 32;

/// Plain entries of their own requests.
fn plain_entries(count: usize) -> impl Iterator<Item = Entry> {
    (20..=u8::MAX).take(count).map(entry)
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn callers_just_answered_are_in_the_next_commit() -> anyhow::Result<()> {
    let store = eventlog::MemStore::new();
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
    callers.extend((1..30).map(caller));
    for caller in callers {
        caller.await??;
    }
    assert_eq!(store.appends(), 5, "one caller alone, then all of them");
    assert_eq!(all(&log).await?.len(), 120);
    Ok(())
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn enough_entries_for_two_batches_are_split_and_others_not() -> anyhow::Result<()> {
    for (missing, ahead) in [(0, 1), (1, 0)] {
        let (store, log) = opened_with([Fault::Delay(Duration::from_millis(50))]).await?;
        let before = store.appends();
        let entries = plain_entries(2 * MIN_PIPELINED - missing);
        for outcome in join_all(entries.map(|entry| log.append(entry))).await {
            outcome?;
        }
        let sent = (store.appends() - before, store.pipelined_appends());
        // The store in memory refuses a batch ahead, which is sent again in its turn.
        assert_eq!(sent, (1 + 2 * ahead, ahead), "{missing} missing");
    }
    Ok(())
}

/// ARCHITECTURE.md §2.5.
#[tokio::test(start_paused = true)]
async fn a_batch_ahead_has_the_minimum_and_is_no_smaller_than_the_one_before() -> anyhow::Result<()>
{
    for (first, second, ahead) in [
        (1, MIN_PIPELINED, 1),
        (1, MIN_PIPELINED - 1, 0),
        (MIN_PIPELINED + 9, MIN_PIPELINED + 9, 1),
        (MIN_PIPELINED + 9, MIN_PIPELINED + 8, 0),
    ] {
        let (store, log) = opened_with([Fault::Delay(Duration::from_millis(50))]).await?;
        let before = store.appends();
        let mut entries = plain_entries(first + second);
        let sent: Vec<Entry> = entries.by_ref().take(first).collect();
        let writing = tokio::spawn({
            let log = log.clone();
            async move { join_all(sent.into_iter().map(|entry| log.append(entry))).await }
        });
        while store.appends() == before {
            tokio::task::yield_now().await;
        }
        for outcome in join_all(entries.map(|entry| log.append(entry))).await {
            outcome?;
        }
        for outcome in writing.await? {
            outcome?;
        }
        let sent = (store.appends() - before, store.pipelined_appends());
        assert_eq!(sent, (2 + ahead, ahead), "{second} behind {first}");
    }
    Ok(())
}
