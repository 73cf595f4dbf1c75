//! The logs of a room for outside readers: files at the public port, calls through the gateway, a
//! witness, and a client that stores checkpoints.

use std::process::Command;
use std::time::Duration;

use chassis::auth::Role;
use chassis::http_client::HttpClient;
use client::Client;
use client::checkpoints::{CheckError, CheckpointMonitor, DirectoryStore};
use merkle::note::VerifierKey;
use merkle::{Checkpoint, TileId, Tiles, VerifiedCheckpoint, verify_records};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::common::v1::ErrorReason;
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};
use tonic::transport::Uri;

use crate::harness::{LONG_TIMEOUT, RoomHarness, RunningProgram, program};
use crate::people::{channel, with_token};
use crate::records;

/// Returns the keys that a room has published.
fn keys(harness: &RoomHarness) -> Vec<VerifierKey> {
    let text = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| VerifierKey::parse(line).unwrap()).collect()
}

fn key_of<'k>(keys: &'k [VerifierKey], log: &str) -> &'k VerifierKey {
    keys.iter().find(|key| key.name().as_str().ends_with(&format!("/{log}"))).unwrap()
}

/// Starts a witness of the room's logs; returns it with its address and its key.
async fn witness(harness: &RoomHarness, state: &str) -> (RunningProgram, String, String) {
    let port = testkit::free_port().unwrap();
    let mut command: Command = program("sabacc");
    command.args(["witness", "--listen", &format!("127.0.0.1:{port}"), "--name", "w.example"]);
    command.arg("--key").arg(harness.path().join("witness.pem"));
    command.arg("--state").arg(harness.path().join(state));
    command.arg("--logs").arg(harness.data().join("keys.txt"));
    let running = harness.spawn(command);
    let ready = async {
        loop {
            let said = running.output();
            if said.contains("listening at") {
                return said.lines().next().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    };
    let key = tokio::time::timeout(LONG_TIMEOUT, ready).await.expect("no witness");
    (running, format!("http://127.0.0.1:{port}"), key)
}

/// Reads a log's checkpoint and all of its tiles at the public port, and verifies them.
async fn read_as_files(url: &str, log: &str, key: &VerifierKey) -> VerifiedCheckpoint {
    let (fetch, base) = (HttpClient::new(), url.parse::<Uri>().unwrap());
    let note = fetch.get(&base, &format!("log/{log}/checkpoint")).await.unwrap();
    assert_eq!(note.content_type, "text/plain; charset=utf-8");
    let opened = Checkpoint::open(&note.body, key, &[]).unwrap();
    let head = opened.checkpoint.head();
    let mut tiles = Vec::new();
    for level in 0..3 {
        for index in 0.. {
            let Some(tile) = TileId::at(merkle::Row::Hashes(level), index, head.size) else {
                break;
            };
            let answer = fetch.get(&base, &format!("log/{log}/{tile}")).await.unwrap();
            assert_eq!(answer.status, 200, "{tile} of {log}");
            tiles.push((tile, answer.body));
        }
    }
    assert_eq!(Tiles::authenticate(head, tiles).unwrap().head(), head);
    opened
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_sees_the_logs_and_a_witness_sees_them_grow() {
    let harness = RoomHarness::new();
    // The keys exist before a witness needs them.
    let mut room = harness.up(&["--no-bots"]).await;
    room.running.stop(Signal::INT).await;
    let (mut outside, at, witness_key) = witness(&harness, "seen").await;
    let named = format!("{at} {witness_key}");
    let mut room = harness.up(&["--thinking", "5", "--witness", &named]).await;
    while records::finished(&room.database).await.len() < 2 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let keys = keys(&harness);
    for log in ["table", "dealer", "wallet"] {
        let opened = read_as_files(&room.url, log, key_of(&keys, log)).await;
        assert!(opened.checkpoint.head().size > 0, "{log}");
    }
    let seen = VerifierKey::parse(&witness_key).unwrap();
    let everybody: Vec<VerifierKey> = keys.iter().cloned().chain([seen]).collect();
    let remembering = DirectoryStore::open(harness.path().join("remembered")).unwrap();
    let logs = CheckpointMonitor::new(everybody, remembering);
    let client = Client::connect(&room.url, harness.token(Role::Player, PLAYER)).unwrap();
    let cosigned = async {
        loop {
            let looked = logs.check(&client).await.unwrap();
            assert_eq!(looked.len(), 3);
            if looked.iter().any(|log| log.cosignatures == 1) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, cosigned).await.expect("no cosignature is shown");
    records_are_for_auditors(&harness, &room.url, key_of(&keys, "table")).await;
    room.running.stop(Signal::INT).await;
    outside.stop(Signal::INT).await;
}

const PLAYER: &str = "01890000-0000-7000-8000-000000000001";

async fn records_are_for_auditors(harness: &RoomHarness, url: &str, key: &VerifierKey) {
    let mut logs = LogServiceClient::new(channel(url));
    let positions = pb::PositionSelection { first: 3, count: 5 };
    let by = Some(pb::record_selection::By::Positions(positions));
    let selections = vec![pb::RecordSelection { by }];
    let asked = pb::ReadRecordsRequest { log: "table".into(), selections, cosigned: false };
    let player = harness.token(Role::Player, PLAYER);
    let refused = logs.read_records(with_token(&player, asked.clone())).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::RoleNotAllowed));
    let auditor = harness.token(Role::Auditor, "test");
    let answer = logs.read_records(with_token(&auditor, asked)).await.unwrap().into_inner();
    let log = answer.log.unwrap();
    assert_eq!((log.name.as_str(), log.records.len()), ("table", 5));
    let opened = Checkpoint::open(log.checkpoint.as_bytes(), key, &[]).unwrap();
    let head = opened.checkpoint.head();
    let leaf = |record: &pb::LogRecord| {
        let leaf = merkle::record::LeafRecord {
            position: record.position,
            recorded_at: record.recorded_at_micros,
            stream: record.stream.as_slice().try_into().unwrap(),
            version: record.version,
            kind: u16::try_from(record.r#type).unwrap(),
            schema: u16::try_from(record.schema).unwrap(),
            sealed: record.sealed,
            payload_len: u32::try_from(record.payload.len()).unwrap(),
            payload_hash: merkle::record::payload_hash(
                &record.salt.as_slice().try_into().unwrap(),
                &record.payload,
            ),
            author_hash: record.author_hash.as_slice().try_into().unwrap(),
            previous: record.previous.as_slice().try_into().unwrap(),
        };
        (record.position, merkle::leaf_hash(&leaf.to_bytes()))
    };
    let leaves: Vec<_> = log.records.iter().map(leaf).collect();
    let proof: Vec<merkle::Hash> =
        log.proof.iter().map(|hash| hash.as_slice().try_into().unwrap()).collect();
    verify_records(&leaves, head.size, &proof, &head.root).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_whose_database_forgot_signs_no_more_and_says_so() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    crate::people::operator(&harness, &room.url)
        .create_table(crate::people::slow_table("a"))
        .await
        .unwrap();
    let keys = keys(&harness);
    let signed = async {
        loop {
            let opened = read_as_files(&room.url, "table", key_of(&keys, "table")).await;
            if opened.checkpoint.head().size > 0 {
                return opened.checkpoint.head();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let before = tokio::time::timeout(LONG_TIMEOUT, signed).await.expect("nothing is signed");
    let seen = || {
        CheckpointMonitor::new(
            keys.clone(),
            DirectoryStore::open(harness.path().join("s")).unwrap(),
        )
    };
    let auditor = || Client::connect(&room.url, harness.token(Role::Auditor, "test")).unwrap();
    seen().check(&auditor()).await.unwrap();
    // As after the restore of a dump from before the first event.
    let mut admin = PgConnection::connect(&room.database).await.unwrap();
    let forget = "SET search_path TO \"table\";
        ALTER TABLE event_groups DISABLE TRIGGER append_only;
        ALTER TABLE checkpoints DISABLE TRIGGER append_only;
        DELETE FROM event_groups; DELETE FROM checkpoints;
        UPDATE leases SET size = 0, tree = NULL; UPDATE owners SET epoch = epoch # 1";
    sqlx::raw_sql(forget).execute(&mut admin).await.unwrap();
    drop(admin);
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--no-bots"]).await;
    let reported = async {
        while !room.running.output().contains("THE LOG IS NOT SIGNED ANY MORE") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, reported).await.expect("nothing is said of it");
    let client = Client::connect(&room.url, harness.token(Role::Auditor, "test")).unwrap();
    let policy =
        client::RetryPolicy { total_time: Duration::from_millis(100), ..Default::default() };
    let looked = seen().check(&client.with_retry_policy(policy)).await;
    // No checkpoint is shown, in particular no contradicting one.
    assert!(matches!(looked, Err(CheckError::Call(_))), "{looked:?} after {before:?}");
    room.running.stop(Signal::INT).await;
}
