//! Logs that are never signed: they contradict what was signed before, or what was acknowledged.

use std::time::Duration;

use eventlog::{CheckpointStore as _, MemStore, Position, SignedCheckpoint};
use merkle::Refusal;
use notary::{Fault, SigningState};
use tokio::time::sleep;

use crate::harness::{Harness, LOG, fault, notary, open, verified_checkpoint, write};

/// Checks that nothing more is signed, whatever is written.
async fn assert_never_signs(harness: &Harness) {
    let (before, signatures) =
        (verified_checkpoint(&harness.notary), harness.signature_count().await);
    write(&harness.log, 3).await;
    harness.notary.request_signature();
    sleep(Duration::from_secs(30)).await;
    assert_eq!(
        (verified_checkpoint(&harness.notary), harness.signature_count().await),
        (before, signatures)
    );
}

/// Changes the stored events of a signed log by hand. Returns the fault that is found.
async fn fault_after(size: u64, change: impl FnOnce(&mut Vec<eventlog::Event>)) -> Fault {
    let harness = Harness::signed_whole(size).await;
    harness.store.tamper(LOG, change);
    let harness = harness.restart().await;
    let fault = harness.fault().await;
    if harness.notary.published().is_some() {
        assert_never_signs(&harness).await;
    }
    fault
}

#[tokio::test(start_paused = true)]
async fn a_changed_record_at_the_edge_is_found_at_start() {
    let found = fault_after(300, |events| events[299].recorded_at.0 += 1).await;
    assert!(matches!(found, Fault::Rewritten { size: 300 }), "{found}");
    // Of the last of a stream: a log is not opened where another follows that is chained to it.
    let found = fault_after(300, |events| events[297].payload = "other".into()).await;
    assert!(matches!(found, Fault::Rewritten { size: 300 }), "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_changed_old_record_is_named() {
    let found = fault_after(3_000, |events| events[1_234].payload = "other".into()).await;
    assert!(matches!(found, Fault::Changed { position: 1_234 }), "{found}");
    // Two events that have changed places.
    let found = fault_after(3_000, |events| {
        events.swap(700, 701);
        (events[700].position, events[701].position) = (Position(700), Position(701));
    });
    let found = found.await;
    assert!(matches!(found, Fault::Changed { position: 700 }), "{found}");
}

#[tokio::test(start_paused = true)]
async fn removed_and_inserted_records_are_found() {
    let harness = Harness::signed_whole(3_000).await;
    harness.store.tamper(LOG, |events| drop(events.remove(100)));
    let other = notary(&harness.store, 1, None);
    other.follow(&harness.log);
    let found = fault(&other).await;
    assert!(matches!(found, Fault::Store(_)), "{found}");

    let harness = Harness::signed_whole(3_000).await;
    harness.store.tamper(LOG, |events| {
        let again = events[2_000].clone();
        events.insert(2_000, again);
    });
    let other = notary(&harness.store, 1, None);
    other.follow(&harness.log);
    let found = fault(&other).await;
    assert!(matches!(found, Fault::Store(_)), "{found}");
}

#[tokio::test(start_paused = true)]
async fn what_changes_between_the_commit_and_the_reading_is_found() {
    let harness = Harness::signed_whole(10).await;
    write(&harness.log, 1).await;
    harness.store.tamper(LOG, |events| events[10].payload = "other".into());
    let found = harness.fault().await;
    assert!(matches!(found, Fault::NotAcknowledged { size: 11 }), "{found}");
    assert_never_signs(&harness).await;
}

#[tokio::test(start_paused = true)]
async fn a_log_put_back_to_an_older_state_is_found_by_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("table.checkpoint");
    let harness = Harness::signed_whole(0).await;
    let Harness { store, log, notary: first } = harness;
    log.close().await;
    drop(first);
    let log = open(&store).await;
    let signer = notary(&store, 1, Some(&memory));
    signer.follow(&log);
    write(&log, 600).await;
    let mut shown = signer.watch();
    shown.wait_for(|it| it.as_ref().is_some_and(|it| it.head().size == 600)).await.unwrap();
    sleep(Duration::from_secs(2)).await;

    // The database is put back to an older state, whole and consistent.
    let older = MemStore::new();
    let log = open(&older).await;
    write(&log, 400).await;
    let forgetful = notary(&older, 1, None);
    forgetful.follow(&log);
    forgetful.watch().wait_for(Option::is_some).await.unwrap();
    assert!(matches!(*forgetful.signing_state().borrow(), SigningState::Signing));
    let remembering = notary(&older, 1, Some(&memory));
    remembering.follow(&log);
    let found = fault(&remembering).await;
    let shrunk = Refusal::Shrunk { previous: 600, next: 400 };
    assert!(matches!(&found, Fault::Contradiction(it) if *it == shrunk), "{found}");

    // Other events have been written since.
    let other = MemStore::new();
    let log = open(&other).await;
    write(&log, 599).await;
    let entry = eventlog::Entry {
        events: vec![eventlog::NewEvent {
            stream: eventlog::StreamId([9; 16]),
            kind: 1,
            schema: 1,
            sealed: false,
            payload: "another history".into(),
        }],
        request: None,
        actor: "somebody".into(),
        trace: [5; 16],
    };
    log.append(entry).await.unwrap();
    let remembering = notary(&other, 1, Some(&memory));
    remembering.follow(&log);
    let found = fault(&remembering).await;
    assert!(matches!(found, Fault::Rewritten { size: 600 }), "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_forged_checkpoint_in_the_store_is_refused() {
    let harness = Harness::signed_whole(10).await;
    let last = harness.store.last_checkpoint(LOG).await.unwrap().unwrap();
    // A checkpoint with the log's own name and key id, over another tree.
    let note = last.note.replacen("\n10\n", "\n9\n", 1);
    let forged = SignedCheckpoint { number: last.number + 1, size: 9, note: note.into(), ..last };
    assert!(harness.store.put_checkpoint(LOG, &forged).await.unwrap());
    let harness = harness.restart().await;
    let found = harness.fault().await;
    let number = forged.number;
    assert!(matches!(found, Fault::Checkpoint { number: it, .. } if it == number), "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_was_kept_and_never_shown_is_gone_on_from() {
    let harness = Harness::signed_whole(10).await;
    harness.write(5).await;
    harness.wait_until_signed(15).await;
    let Harness { store, log, notary: old } = harness;
    // The checkpoint is stored; the process ended before publishing it.
    drop(old);
    log.close().await;
    let (log, signer) = (open(&store).await, notary(&store, 1, None));
    signer.follow(&log);
    let mut shown = signer.watch();
    let first = shown.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert_eq!(first.head().size, 15);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_tile_stops_proofs_and_signatures() {
    let harness = Harness::signed_whole(600).await;
    harness.store.corrupt_tile(LOG, (0, 1));
    let harness = harness.restart().await;
    let found = harness.fault().await;
    assert!(matches!(found, Fault::Rewritten { .. } | Fault::Tiles(_)), "{found}");
}
