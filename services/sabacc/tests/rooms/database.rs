//! A room whose private PostgreSQL dies: it is restarted and play goes on, or the room ends with a
//! message that names the remedy.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{LONG_TIMEOUT, RoomHarness, poll_until};
use crate::people::{close, operator, until_demo_hand, until_hand};
use crate::records;

/// Longest time of an end, whatever does not answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// Returns the process id of the postmaster in a data folder.
pub(crate) fn postmaster(data: &Path) -> Option<Pid> {
    let note = std::fs::read_to_string(data.join("postgres/postmaster.pid")).ok()?;
    Pid::from_raw(note.lines().next()?.trim().parse().ok()?)
}

/// Kills the postmaster as the system does when memory is short.
pub(crate) fn kill_postmaster(data: &Path) -> Pid {
    let pid = postmaster(data).expect("it runs");
    kill_process(pid, Signal::KILL).unwrap();
    pid
}

#[tokio::test(flavor = "multi_thread")]
async fn play_goes_on_after_the_postmaster_is_killed() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "10"]).await;
    let table = until_demo_hand(&harness, &room.url, 1).await;
    for _ in 0..2 {
        let killed = kill_postmaster(&harness.data());
        let again = poll_until(|| postmaster(&harness.data()).filter(|pid| *pid != killed)).await;
        assert!(again.is_some(), "no other postmaster:\n{}", room.running.output());
        let now = operator(&harness, &room.url).get_table(table).await.unwrap().hand_no;
        until_hand(&harness, &room.url, table, now + 2).await;
    }
    assert!(room.running.log().contains("started again"), "{}", room.running.log());
    close(&harness, &room.url, table).await;
    records::audit(&harness, &records::finished(&room.database).await).await;
    room.running.stop(Signal::TERM).await;
}

/// Creates server programs that report a full disk while a file exists; returns their folder and
/// that file.
fn full_disk(harness: &RoomHarness) -> (PathBuf, PathBuf) {
    let real = std::fs::read_dir("/usr/lib/postgresql").unwrap();
    let real = real.map(|entry| entry.unwrap().path().join("bin")).max().unwrap();
    let (folder, flag) = (harness.path().join("bin"), harness.path().join("full"));
    std::fs::create_dir(&folder).unwrap();
    for name in ["postgres", "initdb"] {
        let script = format!(
            "#!/bin/sh\nif [ -e {flag} ]; then\n\
             echo 'FATAL:  could not write to file \"pg_wal/xlogtemp.7\": No space left on device' >&2\n\
             exit 1\nfi\nexec {real}/{name} \"$@\"\n",
            flag = flag.display(),
            real = real.display(),
        );
        let path = folder.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    (folder, flag)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_whose_database_cannot_start_again_ends_with_words() {
    let harness = RoomHarness::new();
    let (programs, flag) = full_disk(&harness);
    let programs = programs.display().to_string();
    let variables = [("SABACC_PG_BIN", programs.as_str())];
    let mut room = harness.up_with(&["--thinking", "10"], &variables).await;
    until_demo_hand(&harness, &room.url, 1).await;
    std::fs::write(&flag, "").unwrap();
    kill_postmaster(&harness.data());
    let ended = tokio::time::timeout(STOP_TIMEOUT, room.running.wait()).await;
    let status = ended.unwrap_or_else(|_| panic!("it goes on:\n{}", room.running.output()));
    assert_eq!(status.code(), Some(1), "{}", room.running.output());
    let said = room.running.log();
    assert!(said.contains("the disk is full: make room where"), "{said}");
    // With free space it continues.
    std::fs::remove_file(&flag).unwrap();
    let mut room = harness.up_with(&["--thinking", "10"], &variables).await;
    let table = until_demo_hand(&harness, &room.url, 1).await;
    close(&harness, &room.url, table).await;
    records::audit(&harness, &records::finished(&room.database).await).await;
    room.running.stop(Signal::TERM).await;
}

/// Retry time of a client, with some tolerance.
const CLIENT_RETRY_TIME: Duration = Duration::from_secs(65);

#[tokio::test(flavor = "multi_thread")]
async fn a_room_whose_given_database_is_away_for_long_waits_for_it_in_few_words() {
    let away = RoomHarness::new();
    let database = crate::second_room::database(&away).await;
    let url = database.admin_url();
    let harness = RoomHarness::new();
    let variables = [("DATABASE_URL", url.as_str()), crate::second_room::IN_MEMORY];
    let mut room = harness.up_with(&["--thinking", "10"], &variables).await;
    let table = until_demo_hand(&harness, &room.url, 1).await;
    database.stop().await.unwrap();
    // Longer than any client retries, so that a bot with a call in flight has given up.
    tokio::time::sleep(CLIENT_RETRY_TIME).await;
    let log = room.running.log();
    assert!(room.running.is_running(), "{log}");
    assert!(log.contains("does not answer") && log.contains("The database is away"), "{log}");
    let warnings = log.lines().filter(|line| line.contains(" WARN ")).count();
    assert!(warnings < 60, "{warnings} warnings in little more than a minute:\n{log}");
    assert!(!log.contains('\u{1b}'), "{log}");

    // The database returns, and everything goes on.
    let database = crate::second_room::database(&away).await;
    let reached = async {
        while operator(&harness, &room.url).get_table(table).await.is_err() {}
        let now = operator(&harness, &room.url).get_table(table).await.unwrap().hand_no;
        until_hand(&harness, &room.url, table, now + 2).await;
    };
    tokio::time::timeout(LONG_TIMEOUT, reached).await.expect("play goes on");

    // A room without its database stops without waiting for it.
    database.stop().await.unwrap();
    room.running.send_signal(Signal::TERM);
    let ended = tokio::time::timeout(STOP_TIMEOUT, room.running.wait()).await;
    ended.unwrap_or_else(|_| panic!("it does not stop:\n{}", room.running.output()));
}
