//! Finished hands can be proved: to a player with the public keys alone, and to a reader of the
//! logs.

use std::process::Command;

use audit::bundle::{Bundle, TrustedKeys};
use client::Error;
use primitives::TableId;
use proto::audit::v1::CheckVerdict;
use proto::common::v1::ErrorReason;
use rustix::process::Signal;

use crate::harness::{Room, RoomHarness, program};
use crate::people::Guest;
use crate::records;

/// Returns the demo table and the number of a hand whose records are complete.
pub(crate) async fn over(room: &Room, guest: &Guest) -> (TableId, u64) {
    while records::finished(&room.database).await.len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let tables = guest.client.list_tables().await.unwrap();
    (tables[0].table_id.parse::<TableId>().unwrap(), 2)
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorReason {
    answer.unwrap_err().reason().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_proves_a_hand_with_nothing_but_the_keys() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "0"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    let (table, hand_no) = over(&room, &guest).await;

    let bytes = guest.client.get_hand_bundle(table, hand_no).await.unwrap();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(bundle.hand_id, audit::hand::hand_id(table, hand_no));
    let keys = harness.data().join("keys.txt");
    let trusted = TrustedKeys::parse(&std::fs::read_to_string(&keys).unwrap()).unwrap();
    let report = audit::hand::audit(&bundle.records(&trusted));
    assert!(report.passed(), "{report:#?}");
    let word = &report.sentences[1];
    assert!(word.contains("the house marks seat"), "the bots are the operator's: {word}");
    let seats = guest.client.get_table(table).await.unwrap().seats;
    assert!(!seats.is_empty() && seats.iter().all(|seat| seat.house));
    println!("a hand of the demo table: {} bytes", bytes.len());

    let answer = guest.client.audit_hand(table, hand_no).await.unwrap();
    assert!(answer.passed, "{answer:#?}");
    assert_eq!(answer.checks.len(), audit::hand::Check::ALL.len());
    assert!(answer.checks.iter().all(|check| check.verdict() == CheckVerdict::Passed));
    assert!(answer.story.iter().any(|line| line.what == "opens the seed"), "{answer:#?}");

    // Unfinished and unknown hands are refused.
    let ahead = guest.client.get_table(table).await.unwrap().hand_no + 1;
    let refused = reason(guest.client.get_hand_bundle(table, ahead + 1_000).await);
    assert_eq!(refused, ErrorReason::HandUnknown);
    the_list_of_hands(&harness, &room, &guest).await;
    room.running.stop(Signal::INT).await;

    // The room has stopped, and no data folder is needed.
    let file = harness.path().join("hand.sabacc");
    std::fs::write(&file, &bytes).unwrap();
    let verify = |arguments: &[&str]| -> Command {
        let mut command = program("sabacc");
        command.arg("verify").args(arguments).current_dir(harness.path());
        command
    };
    let keys = keys.display().to_string();
    let (status, said) = harness.run(verify(&["hand.sabacc", "--keys", &keys])).await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains(": proved"), "{said}");
    let (status, said) = harness.run(verify(&["hand.sabacc"])).await;
    assert_eq!(status.code(), Some(2), "without keys nobody is believed: {said}");
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&file, &damaged).unwrap();
    let (status, said) = harness.run(verify(&["hand.sabacc", "--keys", &keys])).await;
    assert_eq!(status.code(), Some(2), "{said}");

    everything_else(&harness).await;
}

/// Reads the list of hands, as the room's own people and as a player somewhere else.
async fn the_list_of_hands(harness: &RoomHarness, room: &Room, guest: &Guest) {
    let (status, said) = harness.run(harness.sabacc(&["hands", "--table", "Demo"])).await;
    assert!(status.success(), "{said}");
    for part in ["hands 1 to ", "  played", " numbers: ", "seat 3: ", "by the room's word"] {
        assert!(said.contains(part), "no `{part}`:\n{said}");
    }
    let mut elsewhere = program("sabacc");
    elsewhere.args(["--json", "hands", "--server", &room.url, "--token", &guest.token]);
    elsewhere.args(["--player", &guest.id.to_string()]);
    let (status, said) = harness.run(elsewhere).await;
    assert!(status.success(), "{said}");
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(last["counts"]["numbers"], 0, "who has not played was dealt into no hand: {said}");
    assert!(last["log_size"].as_u64() > Some(0), "{said}");
    let (status, said) = harness.run(harness.sabacc(&["hands", "--table", "Nowhere"])).await;
    assert!(!status.success() && said.contains("no open table is called `Nowhere`"), "{said}");
}

/// Audits the logs of a stopped room, whose last hand is signed.
async fn everything_else(harness: &RoomHarness) {
    let mut said_of_hand = String::new();
    for audit in [
        &["audit", "hand", "latest", "--save", "saved.sabacc"][..],
        &["audit", "table", "Demo"],
        &["audit", "peeks"],
        &["audit", "log", "table"],
        &["audit", "log", "dealer"],
        &["audit", "log", "wallet"],
        &["verify", "saved.sabacc", "--keys", "room/keys.txt"],
    ] {
        let (status, said) = harness.run(harness.sabacc(audit)).await;
        assert!(status.success(), "{audit:?}:\n{said}");
        if audit[1] == "hand" {
            said_of_hand = said;
        }
    }
    for part in ["commits to a seed", "passed        The settlement is what the rules make"] {
        assert!(said_of_hand.contains(part), "no `{part}`:\n{said_of_hand}");
    }
}
