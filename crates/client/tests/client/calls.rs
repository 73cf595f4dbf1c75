//! Calls: repeated under one request id, or refused with a reason.

use std::time::Duration;

use client::chance::Chance;
use client::{Client, Error, RetryPolicy, Secret, WatchMessage};
use primitives::{Credits, PlayerId, TableId};
use proto::common::v1::{ErrorReason, Move};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use tonic::Status;
use wire::api_refusal;

use crate::fake::{EntropyAnswer, EntropyRequest, FakeServer, ME, Table};
use crate::hand_fixture::HandFixture;

const TABLE: TableId = TableId([1; 16]);

#[tokio::test]
async fn a_repeated_call_keeps_its_request_id_and_a_new_one_has_its_own() {
    let away = || api_refusal(ErrorReason::Unavailable, "the owner is changing").into();
    let busy = api_refusal(ErrorReason::Overloaded, "too much at once").into();
    let late = api_refusal(ErrorReason::Deadline, "the call took too long").into();
    let fake = FakeServer::new(Table { refusals: [away(), busy, late].into(), ..Table::default() });
    let client = fake.client(0).await;
    client.act(TABLE, 1, 1, Move::default()).await.unwrap();
    client.act(TABLE, 1, 2, Move::default()).await.unwrap();

    let table = fake.table();
    let ids: Vec<&String> = table.requests.iter().map(|(_, id)| id).collect();
    assert_eq!(ids.len(), 5);
    assert_eq!(ids[0].len(), 36);
    assert!(ids[..4].iter().all(|id| *id == ids[0]), "four attempts of one command");
    assert_ne!(ids[4], ids[0], "the next command");
    assert!(table.bearers.iter().all(|bearer| bearer == "Bearer a token"));
}

#[tokio::test]
async fn broken_connections_are_made_again() {
    let fake = FakeServer::new(Table::default());
    let client = fake.client(3).await;
    assert_eq!(client.open_account(None).await.unwrap(), PlayerId(ME));
    let posted = client.issue(PlayerId(ME), Credits::of(50), "a gift").await.unwrap();
    assert_eq!((posted.balance.get(), posted.position), (50, 3));
}

#[tokio::test]
async fn a_refusal_is_final_and_says_why() {
    let fake = FakeServer::new(Table::default());
    let client = fake.client(0).await;
    let refused = client.redeem(PlayerId(ME), Credits::of(5), "a withdrawal").await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::InsufficientCredits));
    assert_eq!(refused.refusal().unwrap().metadata["short"], "5");
    let missing = client.close_table(TABLE).await.unwrap_err();
    assert!(matches!(missing, Error::Refused(_)), "{missing}");
}

#[tokio::test]
async fn retries_end_with_what_was_said_last() {
    let away = || Status::from(api_refusal(ErrorReason::Unavailable, "nobody owns this table"));
    let fake = FakeServer::new(Table { refusals: vec![away(); 9].into(), ..Table::default() });
    let client = fake
        .client(0)
        .await
        .with_retry_policy(RetryPolicy::with_total_time(Duration::from_millis(100)));
    let error = client.stand_up(TABLE).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered(_)), "{error}");
    assert_eq!(error.reason(), Some(ErrorReason::Unavailable));
    assert_eq!(fake.table().requests.len(), 1, "the wait that was asked for is too long");
}

#[tokio::test]
async fn lists_come_whole() {
    let fake = FakeServer::new(Table::default());
    let tables = fake.client(0).await.list_tables().await.unwrap();
    let names: Vec<&str> = tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["first", "second"]);
}

#[tokio::test]
async fn what_is_no_address_is_said_at_once() {
    for address in ["", "not an address", "localhost", "/path"] {
        assert!(Client::connect(address, "token").is_err(), "{address:?}");
    }
}

/// Without an answer nobody knows whether the table has the entropy: whoever never sends it again
/// burns the number.
#[tokio::test]
async fn a_part_in_chance_without_an_answer_is_sent_again() {
    let fixture = HandFixture::new("dice");
    let (trust, view, next) = (fixture.trusted_keys(), fixture.view(), fixture.next_hand());
    let away = || Status::from(api_refusal(ErrorReason::Unavailable, "nobody owns this table"));
    let fake = FakeServer::new(Table::default()).on_entropy(Box::new(move |table, part| {
        Ok(match part {
            EntropyRequest::Commit(commit) => {
                let closed = fixture.closed(Some(&commit.commitment), None);
                table.push(What::Entropy(closed));
                EntropyAnswer::Committed(fixture.receipt(&commit.commitment, &commit.key))
            }
            EntropyRequest::Reveal(reveal) => {
                let entropy = fairness::Entropy(reveal.entropy.as_slice().try_into().unwrap());
                EntropyAnswer::Revealed(Some(fixture.reveal_receipt(entropy)))
            }
        })
    }));
    let client = fake.client(0).await;
    let client = client.with_retry_policy(RetryPolicy::with_total_time(Duration::from_millis(100)));
    let mut chance = Chance::new(TABLE, Some(PlayerId(ME)), Secret::from_bytes([0x5a; 32]), trust);
    let apply = |chance: &mut Chance, what| {
        let update = pb::TableUpdate { sequence: 0, record_time: None, what: Some(what) };
        chance.apply(&WatchMessage::Update(Box::new(update))).unwrap();
    };
    chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    apply(&mut chance, What::NextHand(next));
    for method in ["commit_entropy", "reveal_entropy"] {
        fake.table().refusals.push_back(away());
        let error = client.contribute_entropy(TABLE, &mut chance).await.unwrap_err();
        assert!(matches!(error, Error::Unanswered(_)), "{error}");
        client.contribute_entropy(TABLE, &mut chance).await.unwrap();
        client.contribute_entropy(TABLE, &mut chance).await.unwrap();
        let sent = fake.table().requests.iter().filter(|(sent, _)| *sent == method).count();
        assert_eq!(sent, 2, "{method}: without an answer, then with one");
        let closing = fake.table().log.last().and_then(|update| update.what.clone());
        apply(&mut chance, closing.expect("the closing"));
    }
}
