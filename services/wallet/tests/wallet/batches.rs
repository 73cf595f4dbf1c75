//! Transfers in batches: each has its own result, linked ones are posted whole or not at all.

use eventlog::MemStore;
use ledger::Account;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::TransferKind::{BuyIn, CashOut, Issue, Settlement};
use proto::wallet::v1::post_result::Outcome;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use sabacc_wallet::api::Api;
use tonic::Code;

use crate::api::{OPERATOR, SERVICE, by, bytes, check};
use crate::harness::{Harness, TABLE, id, own, seat};

pub(crate) fn transfer(n: u64, kind: pb::TransferKind, legs: &[(Account, i64)]) -> pb::Transfer {
    let legs = legs
        .iter()
        .map(|(account, amount)| pb::Leg { account: account.to_string(), amount: *amount });
    let table = if kind == Settlement { bytes(TABLE.0) } else { Vec::new() };
    pb::Transfer {
        transfer_id: bytes(id(n).0),
        kind: kind.into(),
        table_id: table,
        legs: legs.collect(),
        reason: if kind == Issue { "a test".into() } else { String::new() },
        linked: false,
    }
}

pub(crate) fn bring(n: u64, who: u8, amount: i64) -> pb::Transfer {
    transfer(n, BuyIn, &[(own(who), -amount), (seat(who), amount)])
}

fn linked(transfer: pb::Transfer) -> pb::Transfer {
    pb::Transfer { linked: true, ..transfer }
}

/// Posts a batch; returns the position or the refusal of each transfer.
async fn post(api: &Api, transfers: Vec<pb::Transfer>) -> Vec<Result<u64, pb::Refused>> {
    let ids: Vec<_> = transfers.iter().map(|one| one.transfer_id.clone()).collect();
    let request = pb::PostBatchRequest { transfers };
    let results = api.post_batch(by(SERVICE, request)).await.unwrap().into_inner().results;
    assert_eq!(results.iter().map(|one| one.transfer_id.clone()).collect::<Vec<_>>(), ids);
    results
        .into_iter()
        .map(|one| match one.outcome.unwrap() {
            Outcome::Position(position) => Ok(position),
            Outcome::Refused(refused) => Err(refused),
        })
        .collect()
}

fn refusal(result: &Result<u64, pb::Refused>) -> pb::Refusal {
    result.as_ref().expect_err("it should have been refused").refusal()
}

/// Request ids of people are checked in a batch as in a single call.
#[tokio::test]
async fn an_operator_sends_no_derived_id_in_a_batch() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 100).await;
    let api = harness.api();
    let mut derived: [u8; 16] = id(1).0;
    derived[6] = 0x80 | (derived[6] & 0x0f);
    derived[8] = 0x80 | (derived[8] & 0x3f);
    let grant =
        |n, credits: i64| transfer(n, Issue, &[(Account::Issuance, -credits), (own(0), credits)]);
    let transfers = vec![pb::Transfer { transfer_id: bytes(derived), ..grant(1, 1) }, grant(2, 2)];
    let sent = by(OPERATOR, pb::PostBatchRequest { transfers });
    let results = api.post_batch(sent).await.unwrap().into_inner().results;
    let Some(Outcome::Refused(refused)) = &results[0].outcome else { panic!("{results:?}") };
    assert_eq!(refused.reason(), ErrorReason::BadField, "{refused:?}");
    assert!(matches!(results[1].outcome, Some(Outcome::Position(_))), "{results:?}");
    assert_eq!(harness.balance(own(0)).await, 102);
}

#[tokio::test]
async fn each_transfer_of_a_batch_has_its_own_result() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(3, 100).await;
    let api = harness.api();
    let bad = pb::Transfer { transfer_id: vec![1; 3], ..bring(3, 2, 1) };
    let batch = vec![
        bring(1, 0, 60),
        bring(2, 0, 60),
        bad,
        transfer(4, CashOut, &[(seat(0), -10), (own(0), 10)]),
        bring(1, 0, 60),
        bring(1, 0, 61),
        transfer(5, Settlement, &[(seat(0), -50), (Account::SabaccPot(TABLE), 50)]),
        transfer(6, Issue, &[(Account::Issuance, -1), (own(0), 1)]),
    ];
    let first = post(&api, batch.clone()).await;
    assert_eq!(refusal(&first[1]), pb::Refusal::InsufficientCredits);
    assert_eq!(first[2].as_ref().unwrap_err().reason(), ErrorReason::BadField);
    assert_eq!(first[4], first[0], "the same again, in the same batch");
    assert_eq!(first[5].as_ref().unwrap_err().reason(), ErrorReason::RequestIdReused);
    assert!(first[3].is_ok() && first[6].is_ok(), "{first:?}");
    assert_eq!(first[7].as_ref().unwrap_err().reason(), ErrorReason::BadField, "an operator's");
    let books = harness.log_content().await;
    assert_eq!((books.balance(own(0)), books.balance(seat(0))), (50, 0));
    let again = post(&api, batch).await;
    assert_eq!(again[0], first[0]);
    assert_eq!((&again[3], &again[6]), (&first[3], &first[6]));
    assert_eq!(harness.log_content().await, books, "a repeat changes nothing");
    let issue = vec![transfer(6, Issue, &[(Account::Issuance, -1), (own(0), 1)])];
    let request = pb::PostBatchRequest { transfers: issue };
    let issued = api.post_batch(by(OPERATOR, request)).await.unwrap().into_inner();
    assert!(matches!(issued.results[0].outcome, Some(Outcome::Position(_))));
}

#[tokio::test]
async fn what_is_linked_is_posted_whole_or_not_at_all() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(3, 100).await;
    let api = harness.api();
    let before = harness.log_content().await;
    // The second transfer needs the first; the third fails. None of the three happens, nor are
    // their seats opened. The fourth is independent.
    let batch = vec![
        linked(bring(1, 0, 60)),
        linked(transfer(2, Settlement, &[(seat(0), -60), (Account::CarriedPot(TABLE), 60)])),
        bring(3, 1, 1000),
        bring(4, 2, 5),
    ];
    let results = post(&api, batch).await;
    assert_eq!(refusal(&results[0]), pb::Refusal::LinkedRefused);
    assert_eq!(refusal(&results[1]), pb::Refusal::LinkedRefused);
    assert_eq!(refusal(&results[2]), pb::Refusal::InsufficientCredits);
    assert!(results[3].is_ok());
    let books = harness.log_content().await;
    assert_eq!(books.ledger.account(&seat(0)), None);
    assert_eq!(books.ledger.accounts().len(), before.ledger.accounts().len() + 1);
    // The same ids, once the batch can be carried out.
    let batch = vec![
        linked(bring(1, 0, 60)),
        linked(transfer(2, Settlement, &[(seat(0), -60), (Account::CarriedPot(TABLE), 60)])),
        bring(3, 1, 100),
    ];
    let results = post(&api, batch.clone()).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(post(&api, batch).await, results);
    let books = harness.log_content().await;
    assert_eq!(books.balance(Account::CarriedPot(TABLE)), 60);
    // A bad transfer refuses its own group alone.
    let bad = pb::Transfer { kind: 99, ..bring(6, 1, 1) };
    let batch = vec![bring(5, 2, 1), linked(bring(7, 2, 1)), bad, bring(8, 2, 1)];
    let results = post(&api, batch).await;
    assert!(results[0].is_ok() && results[3].is_ok());
    assert_eq!(refusal(&results[1]), pb::Refusal::LinkedRefused);
    assert_eq!(results[2].as_ref().unwrap_err().reason(), ErrorReason::BadField);
    let again = Harness::open(harness.stop().await).await;
    assert_eq!(again.balance(seat(2)).await, 7);
}

/// ARCHITECTURE.md §7.3.
#[tokio::test]
async fn a_batch_has_1_to_1000_transfers_and_ends_its_last_group() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 10_000).await;
    let api = harness.api();
    let many = |count: u64| (0..count).map(|n| bring(n, 0, 1)).collect::<Vec<_>>();
    for transfers in [Vec::new(), many(1001), vec![linked(bring(1, 0, 1))]] {
        let answer = api.post_batch(by(SERVICE, pb::PostBatchRequest { transfers })).await;
        check(answer, Code::InvalidArgument, ErrorReason::BadField, None);
    }
    let results = post(&api, many(1000)).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(harness.balance(seat(0)).await, 1000);
    let whole: Vec<_> = (2000..3000).map(|n| linked(bring(n, 0, 1))).collect();
    let mut whole = whole;
    whole[999].linked = false;
    let results = post(&api, whole).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(harness.balance(seat(0)).await, 2000);
}
