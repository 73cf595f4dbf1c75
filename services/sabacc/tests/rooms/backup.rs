//! A room that has lost its disk is restored from a base backup and the archived write-ahead log,
//! as deploy/README.md "Backups" says.

use std::path::{Path, PathBuf};
use std::process::Command;

use eventlog::Event;
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

use crate::forked::postgres_program;
use crate::harness::{Room, RoomHarness, RunningProgram, poll_until};
use crate::people::{until_demo_hand, until_hand};
use crate::records;

const LOGS: [&str; 3] = ["table", "dealer", "wallet"];

/// Folders of a backup: the cluster at one time, and what was written from then on.
struct Backup {
    base: PathBuf,
    archive: PathBuf,
}

impl Backup {
    /// Archives the write-ahead log from now on, and takes a base backup, while the room runs.
    async fn begin(harness: &RoomHarness, room: &Room) -> (Backup, RunningProgram) {
        let (base, archive) = (harness.path().join("base"), harness.path().join("archive"));
        std::fs::create_dir(&archive).unwrap();
        let mut command = postgres_program("pg_receivewal");
        command.args(["--no-loop", "--dbname", &room.database, "--directory"]).arg(&archive);
        let receiving = harness.spawn(command);
        // A backup that began before the first segment is received could not be recovered.
        let receives = || std::fs::read_dir(&archive).unwrap().next();
        assert!(poll_until(receives).await.is_some());
        let mut command = postgres_program("pg_basebackup");
        command.args(["--checkpoint=fast", "--wal-method=none", "--dbname", &room.database]);
        command.arg("--pgdata").arg(&base);
        let (status, said) = harness.run(command).await;
        assert!(status.success(), "{said}");
        (Backup { base, archive }, receiving)
    }

    /// Puts the cluster in the place of the lost one, to be recovered to a time or to the end when
    /// it starts.
    fn put_in_place(&self, cluster: &Path, until: Option<&str>) {
        let lost = cluster.with_extension("lost");
        if lost.exists() {
            std::fs::remove_dir_all(cluster).unwrap();
        } else {
            std::fs::rename(cluster, &lost).unwrap();
        }
        copy(&self.base, cluster);
        copy(&self.archive, &cluster.join("archive"));
        for file in std::fs::read_dir(cluster.join("archive")).unwrap() {
            let path = file.unwrap().path();
            // The last segment, which is not full.
            if path.extension().is_some_and(|end| end == "partial") {
                std::fs::rename(&path, path.with_extension("")).unwrap();
            }
        }
        let until = until.map_or(String::new(), |time| {
            format!("recovery_target_time = '{time}'\nrecovery_target_action = 'promote'\n")
        });
        let settings = cluster.join("postgresql.auto.conf");
        let before = std::fs::read_to_string(&settings).unwrap();
        let recovery = format!("{before}\nrestore_command = 'cp \"archive/%f\" \"%p\"'\n{until}");
        std::fs::write(&settings, recovery).unwrap();
        std::fs::write(cluster.join("recovery.signal"), "").unwrap();
        let mut own = Command::new("chown");
        own.arg("--recursive").arg(format!("--reference={}", lost.display())).arg(cluster);
        assert!(own.status().unwrap().success());
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("--archive").arg(from).arg(to).status().unwrap().success());
}

async fn all_events(room: &Room) -> Vec<Vec<Event>> {
    let logs = LOGS.map(|log| records::events(&room.database, log));
    futures_util::future::join_all(logs).await
}

async fn database_time(room: &Room) -> String {
    let mut connection = PgConnection::connect(&room.database).await.unwrap();
    let time = "SELECT clock_timestamp()::text";
    sqlx::query_scalar(time).fetch_one(&mut connection).await.unwrap()
}

/// Asserts that each log begins with the records of `acknowledged`, and verifies its tree and
/// checkpoints. Returns its size.
async fn verify(harness: &RoomHarness, room: &Room, acknowledged: &[Vec<Event>]) -> Vec<usize> {
    let restored = all_events(room).await;
    for ((log, restored), acknowledged) in LOGS.iter().zip(&restored).zip(acknowledged) {
        assert!(restored.len() >= acknowledged.len(), "{log}");
        assert_eq!(restored[..acknowledged.len()], acknowledged[..], "{log}");
        let (status, said) = harness.run(harness.sabacc(&["audit", "log", log])).await;
        assert!(status.success(), "{log}:\n{said}");
    }
    restored.iter().map(Vec::len).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_record_is_restored_to_any_time() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    let (backup, mut receiving) = Backup::begin(&harness, &room).await;
    let table = until_demo_hand(&harness, &room.url, 2).await;
    let early = all_events(&room).await;
    let time = database_time(&room).await;
    until_hand(&harness, &room.url, table, 4).await;
    let late = all_events(&room).await;
    // The server sends what it wrote last before it ends.
    room.running.stop(Signal::INT).await;
    receiving.wait().await;
    let cluster = harness.data().join("postgres");

    backup.put_in_place(&cluster, Some(&time));
    let mut room = harness.up(&["--no-bots"]).await;
    let sizes = verify(&harness, &room, &early).await;
    assert!(sizes[0] < late[0].len(), "a hand was played after that time");
    room.running.stop(Signal::INT).await;

    // To the end: with the same keys the seeds open, and the hands go on.
    backup.put_in_place(&cluster, None);
    let mut room = harness.up(&["--thinking", "5"]).await;
    verify(&harness, &room, &late).await;
    until_hand(&harness, &room.url, table, 6).await;
    let hands = records::finished(&room.database).await;
    records::audit(&harness, &hands).await;
    room.running.stop(Signal::INT).await;
}
