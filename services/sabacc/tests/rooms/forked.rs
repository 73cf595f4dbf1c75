//! A dealer whose database is put back to an older state, under the same keys: the room plays on
//! without an operator, no number is promised twice, and the fork of the log is found: no witness
//! signs it, and a monitor fails with both signed texts.

use proto::common::v1::{AbortCause, AtFault};
use proto::table::v1 as pb;
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wire::{DealerRecord, TableRecord};

use crate::harness::{EXEMPT_LOOPBACK, PLAYER_CALLS, program};
use crate::people::{Party, operator, slow_table};
use crate::players::{Conduct, Players};
use crate::records;
use crate::separate::SeparateServices;
use crate::witnessed::{ONE_WITNESS, WitnessProgram, fetch, save, start_all, verify};

/// Schemas of the dealer: its log, and its seeds.
const SCHEMAS: [&str; 2] = ["dealer", "dealer_vault"];

/// Returns a program of PostgreSQL's newest version.
pub(crate) fn postgres_program(name: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap();
    let newest = versions.map(|entry| entry.unwrap().path().join("bin").join(name)).max().unwrap();
    Command::new(newest)
}

async fn run(apart: &SeparateServices, command: Command) {
    let (status, said) = apart.harness.run(command).await;
    assert!(status.success(), "{said}");
}

/// Writes the dealer's schemas to a file, while it runs.
async fn dump(apart: &SeparateServices) -> PathBuf {
    let file = apart.harness.path().join("dealer.dump");
    let mut command = postgres_program("pg_dump");
    command.args(SCHEMAS.map(|schema| format!("--schema={schema}")));
    command.args(["--format=custom", "--dbname", &apart.postgres.admin_url(), "--file"]);
    command.arg(&file);
    run(apart, command).await;
    file
}

/// Puts the dealer's schemas back, while it does not run.
async fn put_back(apart: &SeparateServices, file: &Path) {
    let admin = apart.postgres.admin_url();
    let mut connection = PgConnection::connect(&admin).await.unwrap();
    let drop = "DROP SCHEMA dealer CASCADE; DROP SCHEMA dealer_vault CASCADE";
    sqlx::raw_sql(drop).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let mut command = postgres_program("pg_restore");
    command.args(["--exit-on-error", "--dbname", &admin]).arg(file);
    run(apart, command).await;
}

/// Looks at the room once, as a stranger would.
async fn monitor(apart: &SeparateServices) -> (i32, String) {
    let harness = &apart.harness;
    let mut command = program("sabacc");
    command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK);
    command.args(["monitor", "--once", "--server", &apart.url(3), "--keys"]);
    command.arg(harness.data().join("keys.txt")).arg("--state").arg(harness.path().join("monitor"));
    let (status, said) = harness.run(command).await;
    (status.code().unwrap(), said)
}

/// Promises that stand in the dealer's log, by hand.
async fn promises(apart: &SeparateServices) -> BTreeMap<(Vec<u8>, u64), Vec<u8>> {
    let mut promises = BTreeMap::new();
    for event in records::events(&apart.postgres.admin_url(), "dealer").await {
        if let DealerRecord::SeedCommitted(committed) = DealerRecord::try_from(&event).unwrap() {
            let promised = committed.commitment.unwrap().commitment;
            let hand = (committed.table_id.to_vec(), committed.hand_no);
            assert_eq!(promises.insert(hand, promised), None, "one for each number");
        }
    }
    promises
}

/// Ends of hands by number: settled, or aborted with the cause.
async fn ends(apart: &SeparateServices, players: &Players) -> BTreeMap<u64, Option<AbortCause>> {
    let events = records::events(&apart.postgres.admin_url(), "table").await;
    let mut ends = BTreeMap::new();
    for event in &events {
        let number = |last: u64| {
            (1..=last).find(|number| fairness::hand_id(players.table, *number).0 == event.stream.0)
        };
        match TableRecord::try_from(event).unwrap() {
            TableRecord::HandSettled(_) => drop(ends.insert(number(1000).unwrap(), None)),
            TableRecord::HandAborted(aborted) => {
                assert_eq!(aborted.at_fault(), AtFault::Dealer);
                ends.insert(number(1000).unwrap(), Some(aborted.cause()));
            }
            _ => {}
        }
    }
    ends
}

fn suspended_hand(view: &pb::TableView) -> bool {
    view.hand.as_ref().is_some_and(|hand| hand.suspension.is_some())
}

fn suspended_number(view: &pb::TableView) -> bool {
    view.entropy.as_ref().is_some_and(|entropy| entropy.suspension.is_some())
}

/// Ends the hands that the dealer has lost, as their players may: the sealed one by agreement, the
/// number behind it by sitting out. Returns the first number that was not lost.
async fn get_on(players: &mut Players) -> u64 {
    let view = players.until_all("the suspension", suspended_hand).await;
    let lost = view.hand_no;
    players.instruct_all(Conduct::Agree);
    let next = |view: &pb::TableView| view.hand_no == lost + 1 && suspended_number(view);
    players.until_all("the suspension of the next number", next).await;
    players.instruct_all(Conduct::Play);
    let guest = players.guests[0].clone();
    guest.client.sit_out(players.table, true).await.unwrap();
    players.until_all("the next hand", |view| view.hand_no == lost + 2).await;
    guest.client.sit_out(players.table, false).await.unwrap();
    players.until_all("further hands", |view| view.hand_no > lost + 3).await;
    lost + 2
}

/// fairness/SPEC.md §3.2, §3.11, §18.3.
#[tokio::test(flavor = "multi_thread")]
async fn a_dealer_put_back_promises_nothing_twice_and_its_fork_is_found() {
    let mut apart = SeparateServices::new().await;
    let mut witness = WitnessProgram::start(&apart.harness).await;
    apart.witness = Some(witness.setting());
    let mut running = start_all(&apart);
    operator(&apart.harness, &apart.url(3)).list_tables().await.unwrap();
    let config = pb::TableConfig {
        contributors_min: None,
        commit_ms: 10_000,
        reveal_ms: 10_000,
        ..slow_table("put back")
    };
    let mut players = Players::follow(&Party::at(&apart.harness, &apart.url(3), 3, config).await);
    players.until_all("hands", |view| view.hand_no > 3).await;
    let older = dump(&apart).await;
    let at_dump = promises(&apart).await;
    players.until_all("further hands", |view| view.hand_no > 7).await;
    // A hand is sealed, and its number and the next one are promised.
    let lost = players.pause().await.hand_no;
    let (code, said) = monitor(&apart).await;
    assert_eq!(code, 0, "{said}");
    let before = promises(&apart).await;
    assert!(before.len() >= at_dump.len() + 4, "{before:?}");

    running[0].kill();
    put_back(&apart, &older).await;
    running[0] = apart.start(0);
    players.instruct_all(Conduct::Play);
    let first = get_on(&mut players).await;
    assert_eq!(first, lost + 2);
    let after = promises(&apart).await;
    for (hand, promised) in &after {
        assert!(
            before.get(hand).is_none_or(|known| known == promised),
            "{hand:?} is promised twice"
        );
    }
    assert!(after.contains_key(&(players.table.bytes().to_vec(), first)));
    assert!(!after.contains_key(&(players.table.bytes().to_vec(), lost)));
    let ends = ends(&apart, &players).await;
    assert_eq!(ends[&lost], Some(AbortCause::Agreed));
    assert_eq!(ends[&(lost + 1)], Some(AbortCause::Suspended));
    assert_eq!(ends[&first], None, "{ends:?}");
    let said = running[0].log();
    assert!(said.contains("THE DEALER'S STORE WAS PUT BACK TO AN OLDER STATE"), "{said}");

    // The hand checks out by itself, and nobody else has seen this log.
    let answer = fetch(&apart, players.table, first).await;
    assert_eq!(answer.uncosigned, ["dealer"]);
    let file = save(&apart, "forked.sabacc", &answer.bundle);
    let (code, said) = verify(&apart, std::slice::from_ref(&file), &[]).await;
    assert_eq!(code, 0, "{said}");
    let (code, said) = verify(&apart, &[file], &ONE_WITNESS).await;
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("signatures of witnesses that were asked for"), "{said}");
    found(&apart).await;

    let operator = operator(&apart.harness, &apart.url(3));
    operator.close_table(players.table).await.unwrap();
    players.closed().await;
    for service in running.iter_mut().rev() {
        service.stop(Signal::TERM).await;
    }
    witness.running.stop(Signal::TERM).await;
    apart.postgres.stop().await.unwrap();
}

/// The monitor fails loudly, and keeps both texts that the dealer's key has signed.
async fn found(apart: &SeparateServices) {
    let (code, said) = monitor(apart).await;
    assert_eq!(code, 1, "{said}");
    let evidence = std::fs::read_dir(apart.harness.path().join("monitor/evidence")).unwrap();
    let folder = evidence.map(|entry| entry.unwrap().path()).next().unwrap();
    let texts = ["seen.checkpoint", "shown.checkpoint"].map(|name| {
        let note = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(note.starts_with("test/dealer\n") && note.contains("— test/dealer "), "{note}");
        note
    });
    assert_ne!(texts[0], texts[1]);
    assert!(folder.join("finding.txt").exists());
}
