//! Full queues, and commands that share a commit.

use std::time::Duration;

use eventlog::{Fault, MIN_PIPELINED_ENTRIES, MemStore};
use sabacc_wallet::{QueueLimits, WalletError};
use tokio::task::JoinSet;

use crate::harness::{Harness, issue, own, test_author};

/// Length of a commit, of the tests' paused time.
const COMMIT: Duration = Duration::from_millis(10);

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_the_queue_is_refused_at_once() {
    let limits = QueueLimits { max_waiting: 8, ..QueueLimits::default() };
    let house = Harness::open_with(MemStore::new(), limits, Duration::from_secs(5)).await;
    house.open_accounts(1, 1).await;
    house.store.inject(Fault::Delay(Duration::from_secs(1)));
    let begun = tokio::time::Instant::now();
    let mut callers = JoinSet::new();
    for n in 0..100 {
        let wallet = house.wallet.clone();
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
    assert_eq!(house.balance(own(0)).await, 1 + done);
}

#[tokio::test(start_paused = true)]
async fn decisions_do_not_wait_for_commits() {
    let house = Harness::open(MemStore::new()).await;
    house.open_accounts(2, 1).await;
    let before = house.store.appends();
    house.store.inject(Fault::Delay(Duration::from_millis(50)));
    let mut callers = JoinSet::new();
    for n in 0..1000 {
        let wallet = house.wallet.clone();
        callers.spawn(async move { wallet.execute(issue(n, 0, 1), test_author()).await });
    }
    assert!(callers.join_all().await.iter().all(Result::is_ok));
    let commits = house.store.appends() - before;
    assert!(commits <= 4, "1000 transfers took {commits} commits");
    assert_eq!(house.balance(own(0)).await, 1001);
}

/// services/wallet/README.md "Tasks".
#[tokio::test(start_paused = true)]
async fn a_group_is_sent_ahead_from_the_minimum_on() {
    for (missing, groups) in [(0, 2), (1, 1)] {
        let house = Harness::open(MemStore::new()).await;
        house.open_accounts(1, 1).await;
        let before = house.store.appends();
        house.store.inject(Fault::Delay(Duration::from_millis(50)));
        let mut callers = JoinSet::new();
        let mut issue_one = |n: usize| {
            let (wallet, request) = (house.wallet.clone(), issue(n as u64, 0, 1));
            callers.spawn(async move { wallet.execute(request, test_author()).await });
        };
        issue_one(0);
        while house.store.appends() == before {
            tokio::task::yield_now().await;
        }
        (1..=MIN_PIPELINED_ENTRIES - missing).for_each(&mut issue_one);
        // Less than the first group is being written.
        tokio::time::sleep(Duration::from_millis(25)).await;
        assert_eq!(house.store.appends() - before, groups, "{missing} missing");
        assert!(callers.join_all().await.iter().all(Result::is_ok));
    }
}

/// services/wallet/README.md "Tasks".
#[tokio::test(start_paused = true)]
async fn callers_just_answered_are_in_the_next_group() {
    let house = Harness::open(MemStore::new()).await;
    house.open_accounts(1, 1).await;
    let before = house.store.appends();
    (0..8).for_each(|_| house.store.inject(Fault::Delay(COMMIT)));
    let mut callers = JoinSet::new();
    let mut call_four_times = |caller: u64| {
        let wallet = house.wallet.clone();
        callers.spawn(async move {
            for round in 0..4 {
                let request = issue(4 * caller + round, 0, 1);
                wallet.execute(request, test_author()).await.expect("credits");
            }
        });
    };
    call_four_times(0);
    while house.store.appends() == before {
        tokio::task::yield_now().await;
    }
    (1..60).for_each(&mut call_four_times);
    callers.join_all().await;
    assert_eq!(house.store.appends() - before, 5, "one caller alone, then all of them");
}

/// services/wallet/README.md "Tasks".
#[tokio::test(start_paused = true)]
async fn callers_that_do_not_come_back_are_waited_for_as_long_as_their_commit() {
    let house = Harness::open(MemStore::new()).await;
    house.open_accounts(1, 1).await;
    let before = house.store.appends();
    house.store.inject(Fault::Delay(COMMIT));
    let call = |n| {
        let wallet = house.wallet.clone();
        tokio::spawn(async move { wallet.execute(issue(n, 0, 1), test_author()).await })
    };
    let first = call(0);
    tokio::time::sleep(COMMIT / 2).await;
    let second = call(1);
    first.await.unwrap().unwrap();
    tokio::time::sleep(COMMIT * 3 / 4).await;
    assert_eq!(house.store.appends() - before, 1, "the first caller may be back");
    tokio::time::sleep(COMMIT / 2).await;
    assert_eq!(house.store.appends() - before, 2, "the second waits no longer");
    second.await.unwrap().unwrap();
}
