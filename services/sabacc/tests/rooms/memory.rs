//! Programs with seeds and keys lock their memory and write no core dumps.

use std::process::Command;

use rustix::process::Signal;

use crate::harness::{RoomHarness, RunningProgram};
use crate::people::operator;
use crate::separate::SeparateServices;

/// Returns a line of a `/proc` file of a process.
fn line(program: &RunningProgram, file: &str, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", program.pid())).unwrap();
    let line = text.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("{name} is missing in:\n{text}")).to_owned()
}

/// Whether a process has locked memory; if not, its log says so in one line.
fn is_locked(program: &RunningProgram) -> bool {
    let core = line(program, "limits", "Max core file size");
    let zeros = core.split_whitespace().filter(|word| *word == "0").count();
    assert_eq!(zeros, 2, "{core}");
    let locked: u64 =
        line(program, "status", "VmLck").split_whitespace().nth(1).unwrap().parse().unwrap();
    let said = program.log().matches("may reach the swap space").count();
    assert_eq!(said, usize::from(locked == 0), "{locked} kB are locked:\n{}", program.log());
    locked > 0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_locks_its_memory_or_says_why_not() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let locked = is_locked(&room.running);
    room.running.stop(Signal::INT).await;
    if !locked {
        eprintln!("SKIPPED: this user may not lock memory, so there is nothing to take away");
        return;
    }
    // Without the capability, under the common limit of eight megabytes.
    let sabacc = harness.sabacc(&["up", "--no-bots", "--listen", "127.0.0.1:0"]);
    let mut command = Command::new("prlimit");
    command.args(["--memlock=8388608:8388608", "setpriv", "--bounding-set", "-ipc_lock"]);
    command.arg(sabacc.get_program()).args(sabacc.get_args()).env("RUST_LOG", "warn");
    let mut room = harness.spawn(command);
    let waits =
        crate::harness::poll_until(|| room.output().contains("this room waits").then_some(()))
            .await;
    assert!(waits.is_some(), "{}", room.output());
    assert!(!is_locked(&room), "it may not");
    assert!(
        room.log().contains("8388608") && room.log().contains("LimitMEMLOCK"),
        "{}",
        room.log()
    );
    room.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dealer_and_a_table_of_their_own_lock_their_memory_too() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    operator(&apart.harness, &apart.url(3)).list_tables().await.unwrap();
    assert_eq!(is_locked(&running[0]), is_locked(&running[2]));
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}
