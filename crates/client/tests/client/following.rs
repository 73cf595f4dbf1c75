//! Following a table over broken streams.

use client::{Error, Watch, WatchMessage};
use primitives::TableId;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use wire::api_refusal;

use crate::fake::{FakeServer, Table, message};

const TABLE: TableId = TableId([1; 16]);

fn table() -> Table {
    Table { view: pb::TableView { sequence: 40, ..Default::default() }, ..Table::default() }
}

fn anything() -> What {
    What::Action(pb::HandAction::default())
}

/// Formats the next message, in short.
async fn next(watch: &mut Watch) -> String {
    match watch.next().await {
        Ok(Some(seen)) => format!("{seen:?}"),
        Ok(None) => "closed".to_owned(),
        Err(error) => error.to_string(),
    }
}

async fn see(watch: &mut Watch, expected: &[&str]) {
    for expected in expected {
        assert_eq!(next(watch).await, *expected);
    }
}

#[tokio::test]
async fn after_every_kind_of_break_it_goes_on_where_it_was() {
    let fake = FakeServer::new(table());
    let mut watch = fake.client(0).await.watch(TABLE);
    see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
    let breaks: [fn(&mut Table); 4] = [
        |table| table.cut(None),
        |table| table.cut(Some(&api_refusal(ErrorReason::Unavailable, "a new owner").into())),
        |table| table.end(pb::EndReason::ServerStopping),
        |table| table.end(pb::EndReason::TooSlow),
    ];
    let mut sequence = 40;
    for end in breaks {
        fake.table().push(anything());
        sequence += 1;
        see(&mut watch, &[&format!("Update({sequence})")]).await;
        assert!(watch.is_live());
        // The break, and an update that happens meanwhile.
        end(&mut fake.table());
        fake.table().push(anything());
        sequence += 1;
        see(&mut watch, &[&format!("Update({sequence})")]).await;
        assert!(!watch.is_live());
        see(&mut watch, &["CaughtUp"]).await;
    }
    let tokens: Vec<u64> = fake.table().tokens[1..]
        .iter()
        .map(|token| u64::from_be_bytes(token[..].try_into().unwrap()))
        .collect();
    assert_eq!(tokens, [41, 43, 45, 47]);
    assert_eq!(watch.resume_token(), 48_u64.to_be_bytes());

    fake.table().end(pb::EndReason::TableClosed);
    see(&mut watch, &["closed", "closed"]).await;
}

#[tokio::test]
async fn a_gap_and_a_repetition_are_errors_and_a_snapshot_follows() {
    let fake = FakeServer::new(table());
    let mut watch = fake.client(0).await.watch(TABLE);
    see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
    for got in [43, 40] {
        let update = pb::TableUpdate { sequence: got, record_time: None, what: Some(anything()) };
        fake.table().send(&message(Message::Update(Box::new(update)), got));
        let error = watch.next().await.unwrap_err();
        let Error::Gap { expected: 41, got: received } = error else { panic!("{error}") };
        assert_eq!(received, got);
        see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
        assert!(fake.table().tokens.iter().all(Vec::is_empty), "it starts over without a token");
    }
}

#[tokio::test]
async fn a_change_of_no_seat_is_an_error_and_a_snapshot_follows() {
    let fake = FakeServer::new(table());
    let mut watch = fake.client(0).await.watch(TABLE);
    see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
    let what = Some(What::Seat(pb::SeatChanged::default()));
    let update = pb::TableUpdate { sequence: 41, record_time: None, what };
    fake.table().send(&message(Message::Update(Box::new(update)), 41));
    let error = watch.next().await.unwrap_err();
    assert!(matches!(error, Error::Malformed(_)), "{error}");
    see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
    assert!(fake.table().tokens.iter().all(Vec::is_empty), "it starts over without a token");
}

#[tokio::test]
async fn heartbeats_move_the_token_and_are_not_passed_on() {
    let fake = FakeServer::new(table());
    let mut watch = fake.client(0).await.watch(TABLE);
    see(&mut watch, &["Snapshot(40)", "CaughtUp"]).await;
    fake.table().send(&message(Message::Heartbeat(pb::Heartbeat { server_time: None }), 40));
    fake.table().push(anything());
    see(&mut watch, &["Update(41)"]).await;
    let mut later = fake.client(0).await.watch_from(TABLE, watch.resume_token().to_vec());
    fake.table().push(anything());
    let Ok(Some(WatchMessage::Update(update))) = later.next().await else { panic!("an update") };
    assert_eq!(update.sequence, 42);
}
