//! A room for those who develop against it: tables of a file, faster clocks, fixed seeds, the bot of
//! the client's documentation, and the public events as a stream.

use audit::bundle::{Bundle, TrustedKeys};
use client::Client;
use primitives::TableId;
use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_client::AuditServiceClient;
use rustix::process::Signal;
use tonic::Streaming;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness};
use crate::people::{channel, operator};
use crate::walk;

#[path = "../../../../crates/client/examples/bot.rs"]
#[expect(dead_code, reason = "an example is a program of its own")]
mod bot;

const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const TABLES: &str = "[[tables]]\nname = \"Fast\"\nvariant = \"dice\"\nseats = 2\npause_ms = 200\n\
    commit_ms = 10000\nreveal_ms = 10000\n\n\
    [[tables]]\nname = \"Other\"\nvariant = \"kessel\"\nrule_set = { chips = 7 }\n";
/// What every verdict says of such a hand.
const MARK: &str = "For developers alone: an option fixed the dealer's seeds, so whoever knows it knew every \
    card beforehand. Clocks of this table run 5 times as fast as its settings say. Hand 1 was played";

async fn up(harness: &RoomHarness) -> Room {
    let file = harness.path().join("tables.toml");
    std::fs::write(&file, TABLES).unwrap();
    let tables = file.to_str().unwrap();
    let mut arguments = vec!["--no-bots", "--seed-tables", tables, "--time-scale", "5"];
    arguments.extend(["--insecure-fixed-seed", SEED]);
    harness.up(&arguments).await
}

/// Open tables, once all of the file are on record.
async fn tables(harness: &RoomHarness, room: &Room) -> Vec<(TableId, String)> {
    let operator = operator(harness, &room.url);
    let listed = async {
        loop {
            let tables = operator.list_tables().await.unwrap();
            if tables.len() == 2 {
                return tables;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let listed = tokio::time::timeout(LONG_TIMEOUT, listed).await.unwrap();
    listed.into_iter().map(|table| (table.table_id.parse().unwrap(), table.name)).collect()
}

async fn subscribe(url: &str, log: &str, from_position: u64) -> Streaming<pb::SubscribeResponse> {
    let request = pb::SubscribeRequest { log: log.to_owned(), from_position };
    AuditServiceClient::new(channel(url)).subscribe(request).await.unwrap().into_inner()
}

/// Leaf records from a position on, up to what was signed.
async fn records(url: &str, log: &str, from: u64) -> Vec<Vec<u8>> {
    let (mut stream, mut records) = (subscribe(url, log, from).await, Vec::new());
    loop {
        let next = tokio::time::timeout(LONG_TIMEOUT, stream.message()).await.unwrap();
        let message = next.unwrap().unwrap();
        assert_eq!(message.position, from + u64::try_from(records.len()).unwrap());
        records.extend(message.leaf_records);
        if !message.checkpoint.is_empty() {
            return records;
        }
    }
}

/// Plays two hands with two bots, and returns the bundle of the first.
async fn play(harness: &RoomHarness, room: &Room, table: TableId) -> Vec<u8> {
    let keys = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    let logins = ["one.json", "two.json"].map(|name| harness.path().join(name));
    let [one, two] = logins.each_ref().map(|login| Box::pin(bot::play(&room.url, &keys, login, 2)));
    let played = async { tokio::join!(one, two) };
    let (one, two) = tokio::time::timeout(LONG_TIMEOUT, played).await.expect("they play on");
    one.unwrap();
    two.unwrap();
    let anybody = Client::connect(&room.url, client::TokenSource::none()).unwrap();
    anybody.get_hand_bundle(table, 1).await.unwrap()
}

/// The dealer's commitment to the seed of a table's first hand, from before it is played.
async fn promised(harness: &RoomHarness, room: &Room, table: TableId) -> Vec<u8> {
    let operator = operator(harness, &room.url);
    let promised = async {
        loop {
            let view = operator.get_table(table).await.unwrap();
            if let Some(next) = view.next_hand.filter(|next| next.hand_no == 1) {
                return next.commitment.unwrap().commitment;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, promised).await.unwrap()
}

fn audited(bundle: &[u8], keys: &str) -> audit::hand::Report {
    let bundle = Bundle::parse(bundle).unwrap();
    audit::hand::audit(&bundle.records(&TrustedKeys::parse(keys).unwrap()))
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_play_a_marked_room_that_everybody_distinguishes_from_others() {
    let harness = RoomHarness::new();
    let mut room = up(&harness).await;
    let opened = tables(&harness, &room).await;
    let names: Vec<_> = opened.iter().map(|(_, name)| &**name).collect();
    assert_eq!(names, ["Fast", "Other"], "in the order of the file");
    let table = opened[0].0;
    let view = operator(&harness, &room.url).get_table(table).await.unwrap();
    assert!(view.settings.contains("insecure_fixed_seed = 1\n"), "{}", view.settings);
    assert!(view.settings.ends_with("time_scale = 5\n"), "{}", view.settings);

    let seed = promised(&harness, &room, table).await;
    let bundle = Box::pin(play(&harness, &room, table)).await;
    let keys = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    assert!(keys.contains("insecure-fixed-seed-"), "the logs' names say it: {keys}");
    let report = audited(&bundle, &keys);
    assert_eq!(report.verdict.name(), "proved", "{report:?}");
    assert!(report.sentences[0].starts_with(MARK), "{:?}", report.sentences);
    let saved = harness.path().join("hand.sabacc");
    std::fs::write(&saved, &bundle).unwrap();
    let page = harness.path().join("verify.html");
    std::fs::write(&page, audit::VERIFIER_PAGE).unwrap();
    walk::everybody_says(&harness, [&harness.data().join("keys.txt"), &page, &saved], MARK).await;

    // Public events: each once, and on from any of them, also after a restart.
    let mut logs = Vec::new();
    for log in ["table", "dealer"] {
        let seen = records(&room.url, log, 0).await;
        let half = seen.len() / 2;
        let rest = records(&room.url, log, u64::try_from(half).unwrap()).await;
        assert!(seen.len() > 10 && rest[..seen.len() - half] == seen[half..]);
        logs.push((log, seen));
    }
    room.running.stop(Signal::INT).await;
    let (status, said) = harness.run(harness.sabacc(&["up", "--no-bots"])).await;
    assert!(!status.success() && said.contains("--insecure-fixed-seed"), "{said}");
    let mut room = up(&harness).await;
    assert_eq!(tables(&harness, &room).await, opened, "no table is opened twice");
    for (log, seen) in logs {
        let again = records(&room.url, log, 0).await;
        assert!(again.starts_with(&seen), "a restart changes nothing that was signed");
    }
    room.running.stop(Signal::INT).await;

    // Another fresh room with the same number has the same tables and seeds.
    let other = RoomHarness::new();
    let mut room = up(&other).await;
    assert_eq!(tables(&other, &room).await, opened);
    assert_eq!(promised(&other, &room, table).await, seed);
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_exists_gets_no_fixed_seed_and_a_wrong_file_names_its_field() {
    let harness = RoomHarness::new();
    let file = harness.path().join("tables.toml");
    let wrong = [
        ("[[tables]]\nname = \"A\"\nvariant = \"dice\"\nseat = 4\n", "tables[0].seat is no field"),
        ("[[tables]]\nname = \"A\"\nvariant = \"dice\"\nseats = 99\n", "tables[0].seats"),
    ];
    for (text, words) in wrong {
        std::fs::write(&file, text).unwrap();
        let arguments =
            ["up", "--no-bots", "--listen", "127.0.0.1:0", "--seed-tables", file.to_str().unwrap()];
        let (status, said) = harness.run(harness.sabacc(&arguments)).await;
        assert!(!status.success() && said.contains(words), "{said}");
    }
    let seeds = ["up", "--no-bots", "--listen", "127.0.0.1:0", "--insecure-fixed-seed"];
    for (seed, words) in [(SEED, "for a fresh folder"), ("00ff", "64 hexadecimal digits")] {
        let (status, said) = harness.run(harness.sabacc(&[&seeds[..], &[seed]].concat())).await;
        assert!(!status.success() && said.contains(words), "{said}");
    }
}
