//! Full queues, and commands that share a commit.

use std::time::Duration;

use eventlog::{Fault, MemStore};
use sabacc_wallet::{QueueLimits, WalletError};
use tokio::task::JoinSet;

use crate::harness::{Harness, issue, own, test_author};

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_the_queue_is_refused_at_once() {
    let limits = QueueLimits { max_waiting: 8, ..QueueLimits::default() };
    let harness = Harness::open_with(MemStore::new(), limits, Duration::from_secs(5)).await;
    harness.open_accounts(1, 1).await;
    harness.store.inject(Fault::Delay(Duration::from_secs(1)));
    let begun = tokio::time::Instant::now();
    let mut callers = JoinSet::new();
    for n in 0..100 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move {
            (wallet.execute(issue(n, 0, 1), test_author()).await, begun.elapsed())
        });
    }
    let answers = callers.join_all().await;
    let (mut done, mut refused) = (0, 0);
    for (answer, took) in answers {
        match answer {
            Ok(_) => done += 1,
            Err(problem) => {
                assert_eq!(problem, WalletError::Overloaded);
                assert!(took < Duration::from_millis(100), "{took:?}");
                refused += 1;
            }
        }
    }
    assert!(done >= 4 && refused >= 90, "{done} done, {refused} refused");
    assert_eq!(harness.balance(own(0)).await, 1 + done);
}

#[tokio::test(start_paused = true)]
async fn decisions_do_not_wait_for_commits() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(2, 1).await;
    let before = harness.store.appends();
    harness.store.inject(Fault::Delay(Duration::from_millis(50)));
    let mut callers = JoinSet::new();
    for n in 0..1000 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move { wallet.execute(issue(n, 0, 1), test_author()).await });
    }
    assert!(callers.join_all().await.iter().all(Result::is_ok));
    let commits = harness.store.appends() - before;
    assert!(commits <= 4, "1000 transfers took {commits} commits");
    assert_eq!(harness.balance(own(0)).await, 1001);
}
