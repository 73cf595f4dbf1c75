//! Repeats and races.

use eventlog::MemStore;
use ledger::{Account, Refusal};
use primitives::Credits;
use sabacc_wallet::WalletError;
use tokio::task::JoinSet;

use crate::harness::{
    Harness, buy_in, cash_out, issue, open, own, redeem, seat, settle, test_author,
};

#[tokio::test]
async fn the_same_request_from_100_callers_is_posted_once() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 500).await;
    let mut callers = JoinSet::new();
    for _ in 0..100 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move { wallet.execute(buy_in(7, 0, 300), test_author()).await });
    }
    let answers = callers.join_all().await;
    assert!(answers[0].is_ok());
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!((harness.balance(own(0)).await, harness.balance(seat(0)).await), (200, 300));
    // A repeat gets the first answer, although 300 credits are no longer there.
    assert_eq!(harness.execute(buy_in(7, 0, 300)).await, answers[0]);
    let store = harness.stop().await;
    let harness = Harness::open(store).await;
    assert_eq!(harness.execute(buy_in(7, 0, 300)).await, answers[0]);
    assert_eq!((harness.balance(own(0)).await, harness.balance(seat(0)).await), (200, 300));
}

#[tokio::test]
async fn one_credit_asked_for_by_100_callers_is_spent_once() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 1).await;
    let mut callers = JoinSet::new();
    for n in 0..100_u64 {
        let wallet = harness.wallet.clone();
        let ask = if n % 2 == 0 { buy_in(n, 0, 1) } else { redeem(n, 0, 1) };
        callers.spawn(async move { wallet.execute(ask, test_author()).await });
    }
    let answers = callers.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let broke = Refusal::InsufficientCredits { account: own(0), short: Credits::of(1) };
    let refused =
        answers.iter().filter(|answer| **answer == Err(WalletError::Refused(broke))).count();
    assert_eq!(refused, 99, "{answers:?}");
    assert_eq!(harness.balance(own(0)).await, 0);
    // The credit is in play or redeemed.
    assert_eq!(harness.balance(seat(0)).await, -harness.balance(Account::Issuance).await);
    harness.log_content().await;
}

/// ARCHITECTURE.md §2.9.
#[tokio::test]
async fn a_request_id_means_one_thing_for_ever() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(2, 100).await;
    let first = harness.execute(buy_in(7, 0, 10)).await;
    assert!(first.is_ok());
    for other in [buy_in(7, 0, 11), buy_in(7, 1, 10), cash_out(7, 0, 10), issue(7, 0, 10)] {
        assert_eq!(harness.execute(other).await, Err(WalletError::RequestIdReused));
    }
    // Content that would be refused is no exception.
    assert_eq!(harness.execute(buy_in(7, 0, 1000)).await, Err(WalletError::RequestIdReused));
    // Of two concurrent requests with one id, one is carried out and the other is refused.
    let (one, two) =
        tokio::join!(harness.execute(buy_in(8, 1, 1)), harness.execute(buy_in(8, 1, 2)));
    assert!(one.is_ok());
    assert_eq!(two, Err(WalletError::RequestIdReused));
    // The order of legs is no part of the content.
    let legs = [(seat(0), -3), (seat(1), 2), (Account::Rake, 1)];
    let settled = harness.execute(settle(9, &legs)).await;
    assert!(settled.is_ok());
    assert_eq!(harness.execute(settle(9, &[legs[2], legs[0], legs[1]])).await, settled);
    assert_eq!(harness.balance(seat(1)).await, 3);
}

#[tokio::test]
async fn a_refused_request_may_be_asked_again_when_things_have_changed() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 5).await;
    let broke = Refusal::InsufficientCredits { account: own(0), short: Credits::of(5) };
    assert_eq!(harness.execute(buy_in(7, 0, 10)).await, Err(WalletError::Refused(broke)));
    harness.execute(issue(8, 0, 5)).await.unwrap();
    assert!(harness.execute(buy_in(7, 0, 10)).await.is_ok());
}

#[tokio::test]
async fn accounts_are_opened_once() {
    let harness = Harness::open(MemStore::new()).await;
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move { wallet.execute(open(3), test_author()).await });
    }
    let answers = callers.join_all().await;
    assert!(answers.iter().all(|answer| answer.is_ok() && *answer == answers[0]), "{answers:?}");
    harness.execute(issue(1, 3, 50)).await.unwrap();
    // Two concurrent first buy-ins open the seat once, also by the log.
    let (one, two) =
        tokio::join!(harness.execute(buy_in(2, 3, 20)), harness.execute(buy_in(3, 3, 30)));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(harness.balance(seat(3)).await, 50);
    let (live, store) = (harness.log_content().await, harness.stop().await);
    let again = Harness::open(store).await;
    assert_eq!(again.log_content().await, live);
    // Opened, issued, seat opened, bought in, bought in.
    let last = again.execute(buy_in(3, 3, 30)).await.unwrap().position.0;
    assert_eq!(last, 4);
}
