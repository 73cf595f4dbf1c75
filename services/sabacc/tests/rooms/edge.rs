//! Hostile callers at the public port: honest callers are still served.

use std::net::IpAddr;
use std::time::Duration;

use chassis::auth::{Role, TokenIssuer};
use client::Client;
use primitives::TableId;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;
use proto::table::v1::watch_table_response::Message;
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tokio::task::JoinSet;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};
use wire::status::reason_of;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness, token};
use crate::people::{Guest, with_token};
use crate::records;

/// Longest time of an honest call during an attack on a slow machine.
const SOON: Duration = Duration::from_secs(4);

/// Connects from a loopback address, with small flow-control windows.
async fn from(address: &str, url: &str) -> Result<Channel, tonic::transport::Error> {
    let address: IpAddr = address.parse().unwrap();
    let endpoint = Endpoint::from_shared(url.to_owned()).unwrap();
    let endpoint = endpoint.local_address(Some(address)).initial_stream_window_size(65_535);
    endpoint.initial_connection_window_size(8 << 20).connect().await
}

async fn demo(guest: &Guest) -> TableId {
    loop {
        let tables = guest.client.list_tables().await.unwrap();
        // A busy table may be missing from a list.
        if let Some(table) = tables.first() {
            return table.table_id.parse::<TableId>().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Returns the number of the table's hand, as an honest player asks for it.
async fn hand_no(guest: &Guest, table: TableId) -> u64 {
    let view = tokio::time::timeout(SOON, guest.client.get_table(table)).await;
    view.expect("an honest call is answered").unwrap().hand_no
}

/// Waits until `more` hands were played, with a steady flow of calls.
async fn hands_go_on(guest: &Guest, table: TableId, more: u64) {
    let first = hand_no(guest, table).await;
    let played = async {
        while hand_no(guest, table).await < first + more {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, played).await.expect("the hands go on");
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_that_do_not_read_stop_nobody_and_are_notified() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "0"]).await;
    let honest = Guest::new(&harness, &room.url).await;
    let table = demo(&honest).await;
    let channel = from("127.0.0.2", &room.url).await.unwrap();
    let (mut unread, mut refused) = (Vec::new(), 0);
    'all: for _ in 0..4 {
        let player = IdMaker::system().player_id();
        let bearer = harness.token(Role::Player, &player.to_string());
        for watches in 0..9 {
            let mut client = TableServiceClient::new(channel.clone());
            let request =
                pb::WatchTableRequest { table_id: table.to_string(), resume_token: Vec::new() };
            let opened = client.watch_table(with_token(&bearer, request));
            let opened = tokio::time::timeout(SOON, opened).await.expect("it is answered");
            match opened {
                Ok(stream) => unread.push(stream.into_inner()),
                Err(status) => {
                    assert_eq!(reason_of(&status), Some(ErrorReason::Overloaded));
                    assert_eq!(watches, 8, "eight are a player's");
                    refused += 1;
                }
            }
            if unread.len() == 32 {
                break 'all;
            }
        }
    }
    assert_eq!(unread.len(), 32);
    hands_go_on(&honest, table, 60).await;
    assert_eq!(refused, 3, "each player has eight");
    let mut stream = unread.pop().unwrap();
    let last = async {
        loop {
            match stream.message().await {
                Ok(Some(pb::WatchTableResponse { message: Some(Message::Ended(end)), .. })) => {
                    return assert_eq!(end.reason(), pb::EndReason::TooSlow);
                }
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ended without a word"),
                Err(_) => return,
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, last).await.expect("it has ended");
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_tokens_from_elsewhere_are_not_even_read() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "0"]).await;
    let honest = Guest::new(&harness, &room.url).await;
    let table = demo(&honest).await;
    let stranger = TokenIssuer::generate("up", &SystemEntropy);
    let mut flood = JoinSet::new();
    for host in 2..6 {
        let (url, player) = (room.url.clone(), IdMaker::system().player_id().to_string());
        let forged = token(&stranger, Role::Player, &player, Duration::from_secs(600));
        flood.spawn(async move {
            let (mut looked_at, mut sent) = (0_u32, 0);
            let mut channel = from(&format!("127.0.0.{host}"), &url).await.ok();
            while sent < 2_000 {
                sent += 1;
                let Some(open) = channel.clone() else {
                    channel = from(&format!("127.0.0.{host}"), &url).await.ok();
                    continue;
                };
                let request = pb::ListTablesRequest::default();
                let mut client = TableServiceClient::new(open);
                match client.list_tables(with_token(&forged, request)).await.unwrap_err() {
                    status if status.code() == Code::Unauthenticated => looked_at += 1,
                    status if reason_of(&status) == Some(ErrorReason::Overloaded) => {}
                    _ => channel = None,
                }
            }
            looked_at
        });
    }
    hands_go_on(&honest, table, 20).await;
    let looked_at: Vec<u32> = flood.join_all().await;
    let all: u32 = looked_at.iter().sum();
    assert!(all < 4_000, "of 8,000 forged tokens {looked_at:?} were looked at");
    hands_go_on(&honest, table, 5).await;
    room.running.stop(Signal::INT).await;
}

/// Returns the number of database connections of the services.
async fn connections(admin: &mut PgConnection) -> i64 {
    let count = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query_scalar(count).fetch_one(admin).await.unwrap()
}

async fn audit_all(client: Client, table: TableId, hands: u64) -> u64 {
    let mut audited = 0;
    for round in 0..3 {
        let mut calls = JoinSet::new();
        for hand_no in 1..=hands {
            let client = client.clone();
            calls.spawn(
                async move { client.audit_hand(table, (hand_no + round) % hands + 1).await },
            );
        }
        for call in calls.join_all().await {
            audited += u64::from(call.is_ok_and(|answer| answer.passed));
        }
    }
    audited
}

#[tokio::test(flavor = "multi_thread")]
async fn players_who_audit_leave_the_database_to_those_who_play() {
    let harness = RoomHarness::new();
    let mut room: Room = harness.up(&["--thinking", "0"]).await;
    let honest = Guest::new(&harness, &room.url).await;
    let table = demo(&honest).await;
    while records::finished(&room.database).await.len() < 20 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut auditing = JoinSet::new();
    for _ in 0..8 {
        let guest = Guest::new(&harness, &room.url).await;
        auditing.spawn(audit_all(guest.client, table, 16));
    }
    let mut admin = PgConnection::connect(&room.database).await.unwrap();
    let (mut most, mut audited) = (0, 0);
    let first = hand_no(&honest, table).await;
    while !auditing.is_empty() {
        most = most.max(connections(&mut admin).await);
        assert!(hand_no(&honest, table).await >= first);
        while let Some(done) = auditing.try_join_next() {
            audited += done.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(most <= 45, "{most} connections");
    assert!(audited >= 8 * 16, "{audited} audits");
    hands_go_on(&honest, table, 5).await;
    room.running.stop(Signal::INT).await;
}
