//! Mistyped folders, settings and ports are all reported at once, and nothing is created.

use std::path::Path;
use std::process::Command;

use crate::harness::{EXEMPT_LOOPBACK, PLAYER_CALLS, RoomHarness, program};

/// Returns everything below a folder.
fn below(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with("out-") && !name.starts_with("err-"));
    names.sort();
    names
}

#[tokio::test]
async fn a_mistyped_folder_is_refused_by_every_command_but_up_and_nothing_is_made() {
    let harness = RoomHarness::new();
    let elsewhere = harness.path().join("letters");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("letter.txt"), "dear").unwrap();
    let file = harness.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let hand = "0190c2f07d3a4b6e8a526d1f2e3c4b5a0000000000000001";
    let archive = harness.path().join("archive").display().to_string();
    let commands: &[&[&str]] = &[
        &["watch", "Demo"],
        &["watch", "Demo", "--server", "http://127.0.0.1:1", "--token", "x"],
        &["top"],
        &["audit", "hand", "latest"],
        &["audit", "ledger"],
        &["audit", "log", "table"],
        &["audit", "table", "Demo"],
        &["audit", "peeks"],
        &["hand", "export", hand],
        &["hands"],
        &["keys"],
        &["keys", "rotate"],
        &["load", "--tables", "1", "--players", "2", "--seconds", "1"],
        &["table", "resume", "Demo", "--reason", "x"],
        &["archive", "write", "wallet", "--to", "1", &archive],
    ];
    for data in [harness.path().join("nowhere"), elsewhere.clone(), file.clone()] {
        for arguments in commands {
            let mut command = program("sabacc");
            command
                .env_remove(PLAYER_CALLS)
                .env_remove(EXEMPT_LOOPBACK)
                .arg("--data")
                .arg(&data)
                .args(*arguments);
            let (status, said) = harness.run(command).await;
            assert_eq!(status.code(), Some(1), "{arguments:?}: {said}");
            let named = data.file_name().unwrap().to_string_lossy().into_owned();
            assert!(said.contains(&named), "{arguments:?}: {said}");
            assert!(said.contains("--data"), "{arguments:?}: {said}");
        }
    }
    assert_eq!(below(harness.path()), ["file", "letters"]);
    assert_eq!(below(&elsewhere), ["letter.txt"]);
}

/// A program that draws says so where nothing can be drawn, before anything is made or asked.
#[tokio::test]
async fn without_a_terminal_nobody_is_signed_in_to_play() {
    let harness = RoomHarness::new();
    for arguments in [&["play"][..], &["play", "Demo"], &["play", "--server", "http://127.0.0.1:1"]]
    {
        let (status, said) = harness.run(harness.sabacc(arguments)).await;
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains("there is none here") && said.contains("sabacc watch"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    assert_eq!(below(harness.path()), [""; 0]);
}

#[tokio::test]
async fn a_log_that_goes_to_a_file_has_no_colour_codes() {
    let harness = RoomHarness::new();
    let mut command = harness.sabacc(&["up", "--hands", "1", "--listen", "127.0.0.1:0"]);
    command.env("RUST_LOG", "info").env("CLICOLOR_FORCE", "1");
    let (status, said) = harness.run(command).await;
    assert!(status.success() && said.contains("INFO"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

/// Returns the output of a program without settings.
async fn output_without_settings(harness: &RoomHarness, name: &str) -> String {
    let mut command: Command = program(name);
    command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK);
    let (status, said) = harness.run(command).await;
    assert_eq!(status.code(), Some(1), "{name}: {said}");
    said
}

#[tokio::test]
async fn all_settings_that_are_missing_are_named_at_once() {
    let harness = RoomHarness::new();
    let log = ["SABACC_DATABASE_URL", "SABACC_ORIGIN", "SABACC_LOG_KEY", "SABACC_ISSUER_KEYS"];
    let others: [(&str, &[&str]); 4] = [
        (
            "sabacc-table",
            &["SABACC_DEALER_URL", "SABACC_WALLET_URL", "SABACC_SIGNING_KEY", "SABACC_PEOPLE_KEY"],
        ),
        ("sabacc-dealer", &["SABACC_SEED_KEY"]),
        ("sabacc-wallet", &[]),
        ("sabacc-gateway", &["SABACC_TABLE_URL", "SABACC_WALLET_URL", "SABACC_ISSUER_KEYS"]),
    ];
    for (name, others) in others {
        let said = output_without_settings(&harness, name).await;
        let log = if name == "sabacc-gateway" { &[][..] } else { &log };
        for setting in log.iter().chain(others) {
            assert!(said.contains(setting), "{name} does not name {setting}:\n{said}");
        }
    }
}

#[tokio::test]
async fn a_room_for_the_world_without_tls_is_refused() {
    let harness = RoomHarness::new();
    let (status, said) = harness.run(harness.sabacc(&["up", "--listen", "0.0.0.0:0"])).await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("SABACC_TLS_CERTIFICATE") && said.contains("0.0.0.0"), "{said}");
    assert!(said.contains("SABACC_TRUSTED_PROXIES=127.0.0.1"), "{said}");
    assert!(!harness.data().exists(), "nothing was made for it");
}

/// Exit code 1 says that a check failed: what cannot be read is none.
#[tokio::test]
async fn what_a_verifier_cannot_read_is_refused_and_fails_no_hand() {
    let harness = RoomHarness::new();
    std::fs::write(harness.path().join("text"), "no keys, no bundle, no evidence\n").unwrap();
    std::fs::write(harness.path().join("evidence"), "sabacc-evidence 1\n").unwrap();
    for arguments in [
        &["verify", "nowhere.sabacc"][..],
        &["verify", "text", "--keys", "nowhere"],
        &["verify", "text", "--keys", "text"],
        &["verify", "text", "--witness-keys", "text"],
        &["verify", "text", "--evidence", "text"],
        &["verify", "text", "--seen", "nowhere"],
        &["evidence", "nowhere"],
        &["evidence", "text"],
        &["evidence", "evidence", "--keys", "nowhere"],
        &["evidence", "evidence", "--keys", "text"],
        &["evidence", "evidence", "--copy", "nowhere/copy"],
    ] {
        let mut command = program("sabacc");
        command.args(arguments).current_dir(harness.path());
        let (status, said) = harness.run(command).await;
        assert_eq!(status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("nowhere") || said.contains("text"), "{arguments:?}: {said}");
    }
}
