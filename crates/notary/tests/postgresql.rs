//! A log in PostgreSQL that a superuser changes: the changes are found, and nothing is signed over
//! them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::Arc;
use std::time::Duration;

use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, CheckpointStore as _, Entry, Limits, Log, NewEvent, OpenError, Options, PgStore,
    PoolSizes, Position, PreviousSecret, StreamId, UnixMicros, migrate,
};
use merkle::{Checkpoint, Refusal};
use notary::{Dependencies, Fault, Notary, PublishedTree, SigningState};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

const PASSWORD: &str = "for-tests-only";
const LOG: &str = "table/0";

/// Authenticator that believes every event: whatever the log would refuse is for the notary to find.
fn authenticator() -> Authenticator {
    let lost = PreviousSecret { secret: None, until: Position(u64::MAX) };
    Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])).with_previous([lost].into_iter(), "")
}

/// The database of a log, with the roles of its owner and its administrator.
struct Harness {
    admin: String,
    store: Arc<PgStore>,
}

impl Harness {
    async fn new(name: &str) -> Harness {
        let admin = testkit::postgres().await.unwrap().database(name).await.unwrap();
        migrate(&admin, "table", Some(PASSWORD)).await.unwrap();
        let joint = if admin.contains('?') { '&' } else { '?' };
        let url = format!("{admin}{joint}user=sabacc_table&password={PASSWORD}");
        let store =
            PgStore::connect(&url, "table", PoolSizes { readers: 4, ..PoolSizes::default() })
                .await
                .unwrap();
        Harness { admin, store }
    }

    /// Runs a statement that no service may run, with triggers disabled.
    async fn execute_as_admin(&self, sql: &str) {
        let mut admin = PgConnection::connect(&self.admin).await.unwrap();
        let sql = format!(
            "SET search_path TO \"table\";
             ALTER TABLE event_groups DISABLE TRIGGER append_only;
             ALTER TABLE checkpoints DISABLE TRIGGER append_only;
             ALTER TABLE tiles DISABLE TRIGGER append_only;
             {sql};
             ALTER TABLE event_groups ENABLE ALWAYS TRIGGER append_only;"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
    }

    async fn open(&self) -> Log {
        self.try_open().await.unwrap()
    }

    async fn try_open(&self) -> Result<Log, OpenError> {
        let options = Options {
            name: LOG.into(),
            owner: "test".into(),
            address: "127.0.0.1:1".into(),
            lease: Duration::from_secs(30),
            take_over: true,
            clock: Arc::new(|| UnixMicros(1_700_000_000_000_000)),
            authenticator: authenticator(),
            // The log's clock is a fixed time.
            limits: Limits { max_clock_skew: Duration::MAX, ..Limits::default() },
        };
        Log::open(self.store.clone(), options).await
    }

    fn notary(&self) -> Notary {
        let key = SigningKey::from_bytes(&[1; 32]);
        let identity = LogIdentity { origin: "test/table".into(), key, previous: Vec::new() };
        let store = self.store.clone();
        Notary::new(Dependencies {
            store,
            log: LOG.into(),
            identity,
            checkpoint_file: None,
            archives: None,
        })
        .unwrap()
    }

    /// Creates a signed log of this size; its process has ended.
    async fn signed(name: &str, size: u64) -> Harness {
        let place = Harness::new(name).await;
        let (log, notary) = (place.open().await, place.notary());
        notary.follow(&log);
        write(&log, size).await;
        wait_until_published(&notary, size).await;
        log.close().await;
        place
    }

    /// Returns the fault that another process finds.
    async fn fault_on_restart(&self) -> Fault {
        let (log, notary) = (self.open().await, self.notary());
        notary.follow(&log);
        let fault = fault(&notary).await;
        let signatures = self.store.checkpoints(LOG, 1, 1_000).await.unwrap().len();
        write(&log, 3).await;
        notary.request_signature();
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let after = self.store.checkpoints(LOG, 1, 1_000).await.unwrap().len();
        assert_eq!(after, signatures, "something was signed over it");
        fault
    }
}

async fn write(log: &Log, count: u64) {
    let first = log.size();
    let event = |n: u64| NewEvent {
        stream: StreamId([u8::try_from(n % 5).unwrap(); 16]),
        kind: 7,
        schema: 1,
        sealed: false,
        payload: n.to_string().into_bytes().into(),
    };
    let all: Vec<u64> = (first..first + count).collect();
    for chunk in all.chunks(1_000) {
        let events = chunk.iter().map(|n| event(*n)).collect();
        let entry = Entry { events, request: None, actor: "somebody".into(), trace: [5; 16] };
        log.append(entry).await.unwrap();
    }
}

async fn wait_until_published(notary: &Notary, size: u64) -> Arc<PublishedTree> {
    let mut shown = notary.watch();
    let there = shown.wait_for(|it| it.as_ref().is_some_and(|it| it.head().size >= size));
    let there = tokio::time::timeout(Duration::from_secs(60), there).await;
    there.expect("it is not signed").unwrap().clone().unwrap()
}

async fn fault(notary: &Notary) -> Fault {
    let mut standing = notary.signing_state();
    let refuses = standing.wait_for(|it| matches!(it, SigningState::Stopped(_)));
    let refuses = tokio::time::timeout(Duration::from_secs(60), refuses).await;
    match &*refuses.expect("it goes on signing").unwrap() {
        SigningState::Stopped(fault) => Fault::clone(fault),
        SigningState::Waiting | SigningState::Signing => unreachable!("it was waited for"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_row_is_named() {
    let place = Harness::signed("notary_changed", 3_000).await;
    place.execute_as_admin("UPDATE event_groups SET content = overlay(content placing 'x' from 26) WHERE position = 777").await;
    let found = place.fault_on_restart().await;
    assert!(matches!(found, Fault::Changed { position: 777 }), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_row_is_named() {
    let place = Harness::signed("notary_deleted", 3_000).await;
    place.execute_as_admin("DELETE FROM event_groups WHERE position = 778").await;
    let found = place.fault_on_restart().await;
    let Fault::Store(what) = &found else { panic!("{found}") };
    assert!(what.contains("no event at position 778,"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_rows_in_each_others_places_are_named() {
    let place = Harness::signed("notary_swapped", 3_000).await;
    let swap = "UPDATE event_groups SET position = 99999 WHERE position = 500;
                UPDATE event_groups SET position = 500 WHERE position = 501;
                UPDATE event_groups SET position = 501 WHERE position = 99999";
    place.execute_as_admin(swap).await;
    let found = place.fault_on_restart().await;
    assert!(matches!(found, Fault::Changed { position: 500 }), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_put_between_others_is_found() {
    let place = Harness::signed("notary_inserted", 3_000).await;
    let insert = "UPDATE event_groups SET position = position + 100000 WHERE position >= 600;
                  UPDATE event_groups SET position = position - 99999 WHERE position >= 100600;
                  INSERT INTO event_groups (position, recorded_at, version, author, log, count,
                      stream, request_id, trace, previous, content)
                  SELECT 600, recorded_at, 1, author, log, count, gen_random_uuid(), request_id,
                      trace, previous, content
                  FROM event_groups WHERE position = 599;
                  UPDATE leases SET size = size + 1, tree = NULL";
    place.execute_as_admin(insert).await;
    // Its streams are broken, so the log is not even opened.
    let opened = place.try_open().await.err();
    let unchained = |what: &str| what.contains("does not follow its stream");
    assert!(
        matches!(&opened, Some(OpenError::Corrupt { what, .. }) if unchained(what)),
        "{opened:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_cut_off_at_its_end_is_found() {
    let place = Harness::signed("notary_cut", 700).await;
    let cut = "DELETE FROM event_groups WHERE position >= 600;
               UPDATE leases SET size = 600, tree = NULL";
    place.execute_as_admin(cut).await;
    let found = place.fault_on_restart().await;
    let shrunk = Refusal::Shrunk { previous: 700, next: 600 };
    assert!(matches!(&found, Fault::Contradiction(it) if *it == shrunk), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tile_that_was_changed_is_found() {
    let place = Harness::signed("notary_tile", 700).await;
    place
        .execute_as_admin(
            "UPDATE tiles SET hashes = decode(repeat('00', 8192), 'hex') WHERE index = 1",
        )
        .await;
    let found = place.fault_on_restart().await;
    assert!(matches!(found, Fault::Rewritten { size: 700 }), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_without_tiles_gets_them() {
    let place = Harness::new("notary_old").await;
    let log = place.open().await;
    write(&log, 2_000).await;
    let notary = place.notary();
    notary.follow(&log);
    let note = wait_until_published(&notary, 2_000).await.note.to_string();
    let opened = Checkpoint::open(note.as_bytes(), notary.key(), &[]).unwrap();
    assert_eq!((opened.checkpoint.head().size, opened.checkpoint.head().root), (2_000, log.root()));
    place.execute_as_admin("DELETE FROM tiles").await;
    log.close().await;
    let (log, notary) = (place.open().await, place.notary());
    notary.follow(&log);
    write(&log, 1).await;
    assert_eq!(wait_until_published(&notary, 2_001).await.head().root, log.root());
    let tiles: Vec<(u8, u64)> = (0..7).map(|index| (0, index)).collect();
    assert_eq!(place.store.tiles(LOG, &tiles).await.unwrap().len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_last_is_signed_for_before_the_end() {
    let place = Harness::new("notary_last").await;
    let (log, notary) = (place.open().await, place.notary());
    notary.follow(&log);
    write(&log, 300).await;
    wait_until_published(&notary, 300).await;
    // Right after a signature, when the next regular one is a second away.
    write(&log, 7).await;
    log.close().await;
    notary.wait_until_signed().await;
    assert_eq!(place.store.last_checkpoint(LOG).await.unwrap().unwrap().size, 307);
}
