//! `sabacc monitor` follows a real room: hands of bots, kills, a signed history that is lost. Houses
//! that forge are in `tests/monitor`.

use std::path::PathBuf;
use std::time::Duration;

use chassis::http_client::HttpClient;
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};
use tonic::transport::Uri;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness, program};
use crate::records;

/// Runs a monitor once, as a stranger would: with the address, the keys and a folder of its own.
async fn monitor(harness: &RoomHarness, room: &Room, options: &[&str]) -> (i32, String) {
    let keys = harness.path().join("trusted-keys.txt");
    std::fs::copy(harness.data().join("keys.txt"), &keys).unwrap();
    let mut command = program("sabacc");
    command.args(["monitor", "--once", "--server", &room.url, "--keys"]).arg(keys);
    command.arg("--state").arg(harness.path().join("monitor")).args(options);
    let (status, said) = harness.run(command).await;
    (status.code().unwrap(), said)
}

async fn wait_for_hands(room: &Room, hands: usize) {
    let played = async {
        while records::finished(&room.database).await.len() < hands {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, played).await.expect("no hands");
}

/// Returns the number before ` hands opened`.
fn opened(said: &str) -> u64 {
    let before = said.split(" hands opened").next().unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{said}"))
}

async fn get(room: &Room, path: &str) -> (u16, Vec<u8>) {
    let answer = HttpClient::new().get(&room.url.parse::<Uri>().unwrap(), path).await.unwrap();
    (answer.status.as_u16(), answer.body.to_vec())
}

/// fairness/SPEC.md §18.1, §18.3.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_follows_hands_through_kills() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    wait_for_hands(&room, 3).await;
    for log in ["table", "dealer"] {
        let (status, entries) = get(&room, &format!("log/{log}/tile/entries/000.p/1")).await;
        assert_eq!(status, 200, "{log}");
        assert_eq!(merkle::bundle::parse(&entries).unwrap().len(), 1, "{log}");
    }
    assert_eq!(get(&room, "log/wallet/tile/entries/000.p/1").await.0, 404);
    assert_eq!(get(&room, "log/wallet/tile/0/000.p/1").await.0, 200);
    let note = harness.path().join("elsewhere.checkpoint");
    std::fs::write(&note, get(&room, "log/table/checkpoint").await.1).unwrap();
    let (code, said) = monitor(&harness, &room, &[]).await;
    assert_eq!(code, 0, "{said}");
    let first = opened(&said);
    assert!(first >= 3 && !said.contains("WARNING"), "{said}");
    let mut hands = usize::try_from(first).unwrap();
    for _ in 0..2 {
        room.running.kill();
        room = harness.up(&["--thinking", "5"]).await;
        hands += 5;
        wait_for_hands(&room, hands).await;
        let (code, said) = monitor(&harness, &room, &["--against", note.to_str().unwrap()]).await;
        assert_eq!(code, 0, "{said}");
        assert!(opened(&said) > first && !said.contains("WARNING"), "{said}");
    }
    room.running.stop(Signal::INT).await;
    let (code, said) = monitor(&harness, &room, &[]).await;
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the room cannot be checked"), "{said}");
}

/// A room without the database's last hour, whose notary is made to forget it too, signs another
/// history under its own key.
/// fairness/SPEC.md §18.3.
#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_begins_its_log_anew_is_found() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    wait_for_hands(&room, 2).await;
    assert_eq!(monitor(&harness, &room, &[]).await.0, 0);
    room.running.stop(Signal::INT).await;
    let keys: PathBuf = harness.data().join("keys");
    let saved = harness.path().join("saved-keys");
    std::fs::rename(&keys, &saved).unwrap();
    std::fs::remove_dir_all(harness.data()).unwrap();
    std::fs::create_dir(harness.data()).unwrap();
    std::fs::rename(&saved, &keys).unwrap();
    let mut room = harness.up(&["--thinking", "5"]).await;
    wait_for_hands(&room, 2).await;
    let (code, said) = monitor(&harness, &room, &[]).await;
    assert_eq!(code, 1, "{said}");
    // By the length that the new log happens to have.
    let shrunk = said.contains("signed") && said.contains("before");
    let differs = said.contains("does not begin with") || said.contains("it signed two trees");
    assert!(shrunk || differs, "{said}");
    let evidence = std::fs::read_dir(harness.path().join("monitor/evidence")).unwrap();
    let folder = evidence.map(|entry| entry.unwrap().path()).next().unwrap();
    for name in ["seen.checkpoint", "shown.checkpoint", "finding.txt"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    room.running.stop(Signal::INT).await;
}

/// Rows that a superuser changes behind the service are not served, so the monitor says that it
/// cannot check, and accuses nobody of what is not signed.
/// fairness/SPEC.md §18.3.
#[tokio::test(flavor = "multi_thread")]
async fn records_that_were_changed_in_the_database_are_not_served() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    wait_for_hands(&room, 2).await;
    let mut admin = PgConnection::connect(&room.database).await.unwrap();
    let change = "SET search_path TO \"table\";
        ALTER TABLE event_groups DISABLE TRIGGER append_only;
        UPDATE event_groups
        SET content = overlay(content placing decode(repeat('ab', 16), 'hex') from 10)
        WHERE position = 0";
    sqlx::raw_sql(change).execute(&mut admin).await.unwrap();
    drop(admin);
    let (code, said) = monitor(&harness, &room, &[]).await;
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("log/table/tile/entries/000"), "{said}");
    // The scrub of old records may have found the change.
    room.running.send_signal(Signal::INT);
    room.running.wait().await;
}
