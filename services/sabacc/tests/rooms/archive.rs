//! Old ranges of the logs move to files and back while the room goes on.

mod mounted;

use std::process::{Command, ExitStatus};

use primitives::Credits;
use rustix::process::Signal;
use system::ids::IdMaker;
use tokio::time::Instant;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness};
use crate::people::{Guest, operator, until_demo_hand, until_hand};

/// Runs `sabacc archive …` against a room's database.
async fn archive(harness: &RoomHarness, room: &Room, arguments: &[&str]) -> (ExitStatus, String) {
    let mut command = archive_command(harness, arguments);
    command.env("DATABASE_URL", &room.database);
    harness.run(command).await
}

/// Returns `sabacc archive …` on the room that runs in the data folder.
fn archive_command(harness: &RoomHarness, arguments: &[&str]) -> Command {
    let mut command = harness.sabacc(&["archive"]);
    command
        .env_remove(crate::harness::PLAYER_CALLS)
        .env_remove(crate::harness::EXEMPT_LOOPBACK)
        .args(arguments);
    command
}

/// Gives the wallet's log more events than a tile has: with fewer it is not archived.
async fn fill_wallet(harness: &RoomHarness, room: &Room) {
    let (guest, operator) = (Guest::new(harness, &room.url).await, operator(harness, &room.url));
    for _ in 0..270 {
        let one = Credits::try_new(1).unwrap();
        operator.issue(guest.id, one, "to fill a tile").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wallets_past_moves_to_a_file_and_back() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    let table = until_demo_hand(&harness, &room.url, 3).await;
    fill_wallet(&harness, &room).await;
    let file = harness.path().join("wallet-0");
    let file = file.to_str().unwrap();

    let (status, said) = archive(&harness, &room, &["write", "wallet", "--to", "258", file]).await;
    assert!(status.success() && said.contains("positions 0 to 258"), "{said}");
    let (status, said) = archive(&harness, &room, &["write", "wallet", "--to", "258", file]).await;
    assert!(!status.success() && said.contains("choose a new name"), "{said}");
    let (status, said) = archive(&harness, &room, &["check", file]).await;
    assert!(status.success() && said.contains("whole"), "{said}");

    // A copy with any byte changed is refused.
    let whole = std::fs::read(file).unwrap();
    let copy = harness.path().join("copy");
    for at in [9, whole.len() / 2, whole.len() - 40] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&copy, damaged).unwrap();
        let (status, said) = archive(&harness, &room, &["check", copy.to_str().unwrap()]).await;
        assert!(!status.success(), "{said}");
    }

    let (mut said, begun) = ("so far".to_owned(), Instant::now());
    // The log signs its newest events up to a second later.
    while said.contains("so far") && begun.elapsed() < LONG_TIMEOUT {
        let refused = archive(&harness, &room, &["remove", "--keep-days", "1", file]).await;
        assert!(!refused.0.success(), "{}", refused.1);
        said = refused.1;
    }
    assert!(said.contains("to be kept"), "{said}");
    // Events that the wallet needs for its start are not removed.
    let (status, said) = archive(&harness, &room, &["remove", "--keep-days", "0", file]).await;
    assert!(!status.success() && said.contains("stop and start it"), "{said}");
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--thinking", "5"]).await;
    let (status, said) = archive(&harness, &room, &["remove", "--keep-days", "0", file]).await;
    // Those of the tile that the cut goes through stay: its leaves are read from them.
    assert!(status.success() && said.contains("removed"), "{said}");

    // Play goes on, also after a restart; credits are issued and redeemed.
    until_hand(&harness, &room.url, table, 5).await;
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--thinking", "5"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    assert_eq!(guest.credits().await.0, crate::people::BANKROLL);
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(
        !status.success() && said.contains("archive"),
        "the audit says what is missing:\n{said}"
    );

    let (status, said) = archive(&harness, &room, &["restore", file]).await;
    assert!(status.success() && said.contains("restored"), "{said}");
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
    room.running.stop(Signal::INT).await;
}

/// What all three logs have before the newest snapshots moves to files by a setting; the room plays on,
/// restarts from what stays, says what is missing, and has it back. ARCHITECTURE.md §2.10, §2.11.
#[tokio::test(flavor = "multi_thread")]
async fn the_past_of_every_log_moves_to_files_and_back() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    let table = until_demo_hand(&harness, &room.url, 30).await;
    fill_wallet(&harness, &room).await;
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--thinking", "5"]).await;
    let (folder, config) = (harness.path().join("archives"), harness.path().join("archive.toml"));
    std::fs::create_dir(&folder).unwrap();
    let days = "[keep_days]\ndealer = 0\ntable = 0\nwallet = 0\n";
    std::fs::write(&config, days).unwrap();
    let (folder, config) = (folder.to_str().unwrap(), config.to_str().unwrap());
    let old = ["old", "--folder", folder, "--config", config];
    let (status, said) = archive(&harness, &room, &old).await;
    assert!(status.success(), "{said}");
    // The dealer has taken no look at its outcomes yet, and needs all of its log for the first.
    assert_eq!(said.matches("events removed").count(), 2, "{said}");
    assert!(said.contains("dealer: nothing to archive"), "{said}");

    // Play goes on, also after restarts, one of them without a snapshot of its own.
    until_hand(&harness, &room.url, table, 34).await;
    room.running.kill();
    drop(room);
    let mut room = harness.up(&["--thinking", "5"]).await;
    until_hand(&harness, &room.url, table, 38).await;
    // A hand after the cut needs nothing from before it.
    let guest = Guest::of(&harness, &room.url, IdMaker::system().player_id());
    guest.client.get_hand_bundle(table, 36).await.unwrap();
    room.running.stop(Signal::INT).await;
    let mut room = harness.up(&["--thinking", "5"]).await;
    until_hand(&harness, &room.url, table, 42).await;
    let first = fairness::hand_id(table, 1).to_string();
    let first = ["audit", "hand", &first];
    let (status, said) = harness.run(harness.sabacc(&first)).await;
    assert!(!status.success() && said.contains("archived"), "{said}");

    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let (status, said) = archive(&harness, &room, &["restore", file.to_str().unwrap()]).await;
        assert!(status.success() && said.contains("restored"), "{said}");
    }
    for proof in [&first[..], &["audit", "ledger"]] {
        let (status, said) = harness.run(harness.sabacc(proof)).await;
        assert!(status.success(), "{said}");
    }
    room.running.stop(Signal::INT).await;
}
