//! Signals of the process. A signal reaches the whole process, so each test runs in a process of
//! its own.

use std::process::Command;
use std::time::Duration;

use chassis::drain::Drain;
use rustix::process::{Signal, getpid, kill_process};

#[test]
fn one_signal_begins_the_stop_and_a_second_ends_the_process() {
    let itself = std::env::current_exe().unwrap();
    for name in ["stopped_by_one_signal", "ended_by_a_second_signal"] {
        let child = Command::new(&itself).args(["--ignored", "--exact", name]).output().unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        // A filter that matches no test would succeed without running anything.
        assert!(said.contains("running 1 test\n"), "{name}: {child:?}");
        let expected = if name == "stopped_by_one_signal" { 0 } else { 130 };
        assert_eq!(child.status.code(), Some(expected), "{name}: {child:?}");
    }
}

#[tokio::test]
#[ignore = "signals its own process: run by the test above"]
async fn stopped_by_one_signal() {
    let drain = Drain::new(Duration::from_secs(1));
    drain.on_signals().unwrap();
    kill_process(getpid(), Signal::TERM).unwrap();
    tokio::time::timeout(Duration::from_secs(5), drain.stopping().cancelled()).await.unwrap();
    assert!(drain.finish().await);
}

#[tokio::test]
#[ignore = "ends its own process: run by the test above"]
async fn ended_by_a_second_signal() {
    let drain = Drain::new(Duration::from_secs(1));
    drain.on_signals().unwrap();
    kill_process(getpid(), Signal::INT).unwrap();
    drain.stopping().cancelled().await;
    kill_process(getpid(), Signal::TERM).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    panic!("still here");
}
