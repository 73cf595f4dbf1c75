//! Archives in the data folder: what was removed from the logs is answered as before.

use std::path::Path;

use audit::bundle::Bundle;
use bytes::Bytes;
use chassis::http_client::HttpClient;
use client::Error;
use primitives::TableId;
use prost::Message as _;
use proto::audit::v1 as pb;
use proto::common::v1::ErrorReason;
use rustix::process::Signal;

use super::{archive_command, fill_wallet};
use crate::harness::{Room, RoomHarness};
use crate::people::{Guest, until_demo_hand, until_hand};

/// Records of the bundle of a hand, by log.
async fn records(
    guest: &Guest,
    table: TableId,
    hand_no: u64,
) -> Result<Vec<(String, Vec<pb::LogRecord>)>, Error> {
    let bytes = guest.client.get_hand_bundle(table, hand_no).await?;
    Bundle::parse(&bytes).unwrap();
    let bundle = pb::HandBundle::decode(&bytes[..]).unwrap();
    let contents = pb::BundleContents::decode(&bundle.contents[..]).unwrap();
    Ok(contents.logs.into_iter().map(|log| (log.name, log.records)).collect())
}

/// Entry bundle of the table's log as a file.
async fn entries(room: &Room, index: u64) -> (u16, Bytes) {
    let path = format!("log/table/tile/entries/{index:03}");
    let answer = HttpClient::new().get(&room.url.parse().unwrap(), &path).await.unwrap();
    (answer.status.as_u16(), answer.body)
}

/// Runs `sabacc archive old` on the room of the data folder.
async fn archive_old(harness: &RoomHarness, config: &str) -> String {
    let command = archive_command(harness, &["old", "--config", config]);
    let (status, said) = harness.run(command).await;
    assert!(status.success(), "{said}");
    said
}

/// Hands that began behind the cut are proved without archives.
async fn newer_hands_need_no_archive(harness: &RoomHarness, guest: &Guest, table: TableId) {
    let newest = guest.client.get_table(table).await.unwrap().hand_no - 1;
    records(guest, table, newest).await.unwrap();
    let newest = fairness::hand_id(table, newest).to_string();
    let (status, said) = harness.run(harness.sabacc(&["audit", "hand", &newest])).await;
    assert!(status.success(), "{said}");
    assert!(!said.contains("NOT SIGNED"), "{said}");
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread")]
async fn mounted_archives_answer_as_before_the_cut() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    let table = until_demo_hand(&harness, &room.url, 30).await;
    fill_wallet(&harness, &room).await;
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--thinking", "5"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    let hands = [1, 2, 3];
    let mut before = Vec::new();
    for hand in hands {
        before.push(records(&guest, table, hand).await.unwrap());
    }
    let tiles = [entries(&room, 0).await, entries(&room, 1).await];
    assert!(tiles.iter().all(|(status, _)| *status == 200));

    let config = harness.path().join("archive.toml");
    std::fs::write(&config, "[keep_days]\ndealer = 0\ntable = 0\nwallet = 0\n").unwrap();
    let said = archive_old(&harness, config.to_str().unwrap()).await;
    for log in ["table", "wallet"] {
        assert!(said.contains(&format!("{log}/0: positions 0 to")), "{said}");
    }
    let folder = harness.data().join("archives");
    let names = names_at_tiles(&folder);
    // Killed, not stopped: nothing of it is remembered but what is on the disk.
    room.running.kill();
    drop(room);
    let mut room = harness.up(&["--thinking", "5"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    until_hand(&harness, &room.url, table, 44).await;
    assert!(is_cut(&room).await);

    assert_eq!(records(&guest, table, 1).await.unwrap(), before[0]);
    for (index, tile) in (0..).zip(&tiles) {
        assert_eq!(entries(&room, index).await, *tile);
    }
    let first = fairness::hand_id(table, 1).to_string();
    for proof in [&["audit", "hand", &first][..], &["audit", "ledger"], &["audit", "log", "table"]]
    {
        let (status, said) = harness.run(harness.sabacc(proof)).await;
        assert!(status.success(), "{said}");
    }

    // Another hand than those that the gateway remembers, with the files elsewhere.
    let away = harness.data().join("elsewhere");
    std::fs::rename(&folder, &away).unwrap();
    let refused = records(&guest, table, 2).await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::NotInLog), "{refused}");
    newer_hands_need_no_archive(&harness, &guest, table).await;
    assert_eq!(entries(&room, 0).await.0, 503);
    let (status, said) = harness.run(harness.sabacc(&["audit", "hand", &first])).await;
    assert!(!status.success() && said.contains("archived"), "{said}");

    // They come back with a byte changed: refused, told, and the room goes on and signs.
    std::fs::rename(&away, &folder).unwrap();
    let name = names.iter().find(|name| name.starts_with("table-0-")).unwrap();
    let whole = std::fs::read(folder.join(name)).unwrap();
    let mut damaged = whole.clone();
    for byte in damaged.iter_mut().take(whole.len() / 2).skip(200) {
        *byte ^= 1;
    }
    std::fs::write(folder.join(name), &damaged).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let refused = records(&guest, table, 2).await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::Corrupt), "{refused}");
    assert!(refused.to_string().contains(name.as_str()), "{refused}");
    assert!(room.running.log().contains("an archive is not believed"));
    let on = guest.client.get_table(table).await.unwrap().hand_no;
    until_hand(&harness, &room.url, table, on + 3).await;
    // A hand after the cut needs nothing from before it.
    records(&guest, table, on).await.unwrap();

    // Mended, it answers again.
    std::fs::write(folder.join(name), &whole).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    for (hand, before) in hands.into_iter().zip(&before) {
        assert_eq!(records(&guest, table, hand).await.unwrap(), *before);
    }
    room.running.stop(Signal::INT).await;
}

/// Whether the table's log was cut.
async fn is_cut(room: &Room) -> bool {
    let reader = crate::records::log(&room.database, "table").await;
    reader.cut().await.unwrap().is_some()
}

/// Names of the archives in a folder, each of which ends with a tile.
fn names_at_tiles(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    for name in &names {
        let end = name.trim_end_matches(".archive").rsplit('-').next().unwrap();
        assert_eq!(end.parse::<u64>().unwrap() % 256, 0, "{name}");
    }
    names
}
