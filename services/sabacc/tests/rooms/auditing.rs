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
async fn over(room: &Room, guest: &Guest) -> (TableId, u64) {
    while records::finished(&room.database).await.len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let tables = guest.client.list_tables().await.unwrap();
    (TableId::try_from(&tables[0].table_id[..]).unwrap(), 2)
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorReason {
    answer.unwrap_err().reason().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_proves_a_hand_with_nothing_but_the_keys() {
    let place = RoomHarness::new();
    let mut room = place.up(&["--thinking", "0"]).await;
    let guest = Guest::new(&place, &room.url).await;
    let (table, hand_no) = over(&room, &guest).await;

    let bytes = guest.client.get_hand_bundle(table, hand_no).await.unwrap();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(bundle.hand_id, audit::hand::hand_id(table, hand_no));
    let keys = place.data().join("keys.txt");
    let trusted = TrustedKeys::parse(&std::fs::read_to_string(&keys).unwrap()).unwrap();
    let report = audit::hand::audit(&bundle.records(&trusted));
    assert!(report.passed(), "{report:#?}");
    let word = &report.sentences[1];
    assert!(word.contains("the house marks seat"), "the bots are the operator's: {word}");
    let seats = guest.client.get_table(table).await.unwrap().seats;
    assert!(!seats.is_empty() && seats.iter().all(|seat| seat.house));
    println!("a hand of the demo table: {} bytes", bytes.len());

    let told = guest.client.audit_hand(table, hand_no).await.unwrap();
    assert!(told.passed, "{told:#?}");
    assert_eq!(told.checks.len(), audit::hand::Check::ALL.len());
    assert!(told.checks.iter().all(|check| check.verdict() == CheckVerdict::Passed));
    assert!(told.story.iter().any(|line| line.what == "opens the seed"), "{told:#?}");

    // Unfinished and unknown hands are refused.
    let ahead = guest.client.get_table(table).await.unwrap().hand_no + 1;
    let refused = reason(guest.client.get_hand_bundle(table, ahead + 1_000).await);
    assert_eq!(refused, ErrorReason::HandUnknown);
    let table_path = format!("/hands/{table}/{hand_no}.sabacc");
    let public =
        ["/keys.txt", "/verify.html", &table_path].map(|path| (path.to_owned(), &room.url));
    let mut files = Vec::new();
    for (path, url) in public {
        files.push(get(url, &path).await);
    }
    for path in [format!("/hands/{table}/999999.sabacc"), "/hands/x/1.sabacc".to_owned()] {
        assert_eq!(get(&room.url, &path).await.0, 404, "{path}");
    }
    room.running.stop(Signal::INT).await;
    somebody_checks_public_files(&place, &files).await;

    // The room has stopped, and no data folder is needed.
    let file = place.path().join("hand.sabacc");
    std::fs::write(&file, &bytes).unwrap();
    let verify = |arguments: &[&str]| -> Command {
        let mut command = program("sabacc");
        command.arg("verify").args(arguments).current_dir(place.path());
        command
    };
    let keys = keys.display().to_string();
    let (status, said) = place.run(verify(&["hand.sabacc", "--keys", &keys])).await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains(": proved"), "{said}");
    let (status, said) = place.run(verify(&["hand.sabacc"])).await;
    assert_eq!(status.code(), Some(2), "without keys nobody is believed: {said}");
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&file, &damaged).unwrap();
    let (status, said) = place.run(verify(&["hand.sabacc", "--keys", &keys])).await;
    assert_eq!(status.code(), Some(2), "{said}");

    everything_else(&place).await;
}

/// Reads a path with a plain GET of HTTP/1.1. Returns status and body.
async fn get(url: &str, path: &str) -> (u16, Vec<u8>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut link = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    link.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    link.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    assert!(!head.to_lowercase().contains("transfer-encoding"), "{head}");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}

/// Checks a hand with nothing but files that the public port gives to everybody.
async fn somebody_checks_public_files(place: &RoomHarness, files: &[(u16, Vec<u8>)]) {
    assert!(files.iter().all(|(status, _)| *status == 200), "{files:?}");
    assert_eq!(files[1].1, audit::VERIFIER_PAGE.as_bytes());
    for (name, (_, content)) in ["got.txt", "got.html", "got.sabacc"].iter().zip(files) {
        std::fs::write(place.path().join(name), content).unwrap();
    }
    let mut verify = program("sabacc");
    verify.args(["verify", "got.sabacc", "--keys", "got.txt"]).current_dir(place.path());
    let (status, said) = place.run(verify).await;
    assert_eq!(status.code(), Some(0), "{said}");
}

/// Audits the logs of a stopped room, whose last hand is signed.
async fn everything_else(place: &RoomHarness) {
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
        let (status, said) = place.run(place.sabacc(audit)).await;
        assert!(status.success(), "{audit:?}:\n{said}");
        if audit[1] == "hand" {
            said_of_hand = said;
        }
    }
    for part in ["commits to a seed", "passed        The settlement is what the rules make"] {
        assert!(said_of_hand.contains(part), "no `{part}`:\n{said_of_hand}");
    }
}
