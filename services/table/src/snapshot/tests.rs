//! Snapshots over a log in a database: what is believed, and what a cut leaves.

use std::io::Cursor;
use std::sync::Arc;

use eventlog::archive::{self, Retained, RetainedRequests};
use eventlog::{Authenticator, Limits, Log, Options, PgStore, PoolSizes, Store, UnixMicros};
use primitives::{DisputeId, PlayerId, TableId};
use proto::event::v1 as event;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use system::clock::{Clock as _, SystemClock};

use super::*;
use crate::hand_list::tests::{hostile_table, write};
use crate::retention::{RetainedStreams, RetentionError, retained_streams};
use crate::service::LOG;

const PLAYER: PlayerId = PlayerId([0x21; 16]);
const DISPUTE: DisputeId = DisputeId([0x31; 16]);

/// A log in a database of its own.
struct Fixture {
    url: String,
    store: Arc<PgStore>,
    log: Log,
}

impl Fixture {
    async fn new(name: &str) -> Fixture {
        let url = testkit::postgres().await.unwrap().database(name).await.unwrap();
        crate::service::migrate(&url, None).await.unwrap();
        let store = PgStore::connect(&url, "table", PoolSizes::default()).await.unwrap();
        let clock = SystemClock::new();
        let options = Options {
            name: LOG.into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(move || clock.now()),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits::default(),
        };
        let owned: Arc<dyn Store> = Arc::<PgStore>::clone(&store);
        let log = Log::open(owned, options).await.unwrap();
        Fixture { url, store, log }
    }

    fn snapshots(&self) -> Snapshots {
        self.store.snapshots(LOG)
    }

    async fn run(&self, sql: &str) {
        let mut admin = PgConnection::connect(&self.url).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut admin).await.unwrap();
    }

    /// State of the whole log as a start finds it, as text.
    async fn state(&self) -> String {
        let newest = newest_or_none(self.log.reader(), Some(&self.snapshots())).await.unwrap();
        let range = newest.size..self.log.size();
        text(&recovery::read(self.log.reader(), newest.state, range).await.unwrap())
    }

    /// Size of the snapshot that a start takes.
    async fn newest_size(&self) -> Option<u64> {
        newest(self.log.reader(), &self.snapshots()).await.unwrap().map(|newest| newest.size)
    }
}

/// Records of a player with a name and a dispute, and of a hand played and burnt here and there.
fn records(hands: u64) -> Vec<(StreamId, TableRecord, UnixMicros)> {
    let table = hostile_table(hands);
    let at = UnixMicros(0);
    let sealed = event::SealedPayload { player_id: PLAYER.0.to_vec().into(), ..Default::default() };
    let dispute = event::DisputeOpened {
        player_id: PLAYER.0.to_vec().into(),
        table_id: table.state.table.id.0.to_vec().into(),
        hand_no: 1,
        hand_id: fairness::hand_id(TableId([7; 16]), 1).0.to_vec().into(),
        ..Default::default()
    };
    let mut all = vec![
        (PLAYER.into(), TableRecord::PlayerNamed(sealed.clone()), at),
        (DISPUTE.into(), dispute.into(), at),
        (DISPUTE.into(), TableRecord::DisputeStated(sealed), at),
    ];
    all.extend(table.log);
    all
}

/// ARCHITECTURE.md §2.10.
#[tokio::test]
async fn a_start_from_a_snapshot_finds_what_a_start_without_one_finds() {
    let room = Fixture::new("table_snapshots").await;
    let records = records(7);
    let whole = records.len();
    // Also in the middle of a hand.
    let mut sizes = Vec::new();
    for part in records.chunks(whole / 5 + 1) {
        write(&room.log, part).await;
        sizes.push(take(&room.log, &room.snapshots()).await.unwrap().0);
    }
    write(&room.log, &[(TableId([7; 16]).into(), event::CloseAsked {}.into(), UnixMicros(0))])
        .await;
    assert_eq!(room.newest_size().await, sizes.last().copied());
    let found = room.state().await;
    // What is stored is bounded, and each genuine one is believed.
    let kept = room.snapshots().places().await.unwrap();
    assert_eq!(kept.len(), 2);

    let flipped = "UPDATE snapshots SET bytes = set_byte(bytes, 40, 255 - get_byte(bytes, 40)) \
                   WHERE size = (SELECT max(size) FROM snapshots)";
    let invented = "INSERT INTO snapshots SELECT log, 900000, named_at, piece, bytes FROM snapshots \
                    ORDER BY size LIMIT 1";
    let elsewhere = "UPDATE snapshots SET named_at = named_at - 1";
    let harms = [
        (flipped, sizes.iter().rev().nth(1).copied()),
        (invented, sizes.iter().rev().nth(1).copied()),
        (elsewhere, None),
        ("DELETE FROM snapshots", None),
    ];
    for (harm, size) in harms {
        room.run(&format!("SET search_path = \"table\"; {harm}")).await;
        assert_eq!(room.newest_size().await, size, "{harm}");
        assert_eq!(room.state().await, found, "{harm}");
    }
    // The next one is taken from the beginning, and believed.
    let (size, _) = take(&room.log, &room.snapshots()).await.unwrap();
    assert_eq!(room.newest_size().await, Some(size));
}

/// Snapshot of a released format, which every later version reads: behind a cut there is no other state.
fn released(format: u32) -> std::path::PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/snapshots");
    std::path::Path::new(folder).join(format!("table-{format}.json.z"))
}

/// `SABACC_WRITE_SNAPSHOTS=1` adds a sample of the present format if there is none.
#[tokio::test]
async fn snapshots_of_released_formats_are_read() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let adds_missing = std::env::var_os("SABACC_WRITE_SNAPSHOTS").is_some();
    if adds_missing && !released(FORMAT).exists() {
        let room = Fixture::new("table_released").await;
        let mut records = records(7);
        // In the middle of a hand.
        records.truncate(records.len() * 2 / 3);
        write(&room.log, &records).await;
        let range = 0..room.log.size();
        let state = recovery::read(room.log.reader(), LogFold::default(), range).await.unwrap();
        std::fs::write(released(FORMAT), bytes(&state).unwrap()).unwrap();
    }
    for format in 1..=FORMAT {
        let stored = std::fs::read(released(format)).unwrap();
        let state = parse(&stored).unwrap_or_else(|error| panic!("format {format}: {error}"));
        assert!(state.open_tables().any(|table| table.hand.is_some()), "{format}");
        assert_eq!(state.disputes().count(), 1, "{format}");
        assert!(text(&parse(&bytes(&state).unwrap()).unwrap()) == text(&state), "{format}");
    }
}

/// ARCHITECTURE.md §2.11.
#[tokio::test]
async fn a_log_that_was_cut_starts_from_a_snapshot_and_keeps_its_disputes() {
    let room = Fixture::new("table_cut").await;
    write(&room.log, &records(7)).await;
    let (store, reader) = (&room.store, room.log.reader());
    let early = retained_streams(store, 5).await;
    assert!(matches!(early, Err(RetentionError::NoSnapshot { newest: 0, cut: 5 })), "{early:?}");
    let (size, _) = take(&room.log, &room.snapshots()).await.unwrap();
    let found = room.state().await;

    let mut file = Vec::new();
    archive::write(reader, 0..size, merkle::Tree::default(), &mut file).await.unwrap();
    let RetainedStreams { whole: streams, tails } = retained_streams(store, size).await.unwrap();
    // The dispute with the hand that it is about, and what the table's next hands need.
    assert!(streams.contains(&StreamId::from(DISPUTE)), "{streams:?}");
    let next_hands = tails.iter().find(|(stream, _)| *stream == TableId([7; 16]).into());
    assert!(next_hands.is_some_and(|(_, from)| from.0 > 1), "{tails:?}");
    let requests = RetainedRequests::Answers;
    let retained =
        Retained { since: UnixMicros(u64::MAX), streams: &streams, tails: &tails, requests };
    let gone = archive::remove(&room.url, "table", &mut Cursor::new(&file), retained).await;
    assert!(gone.unwrap() > 100);
    assert_eq!(room.state().await, found);
    // The words of the dispute are there, those of the table are archived, and who asks is told so.
    let words = room.log.read_stream(DISPUTE.into(), eventlog::Version(1), 10).await.unwrap();
    assert_eq!(words.len(), 2);
    let table = room.log.read_stream(TableId([7; 16]).into(), eventlog::Version(1), 10).await;
    let refusal = crate::retention::read_refusal(&table.unwrap_err());
    assert_eq!(refusal.reason(), proto::common::v1::ErrorReason::NotInLog);

    room.run(
        "CREATE TABLE kept AS SELECT * FROM \"table\".snapshots; DELETE FROM \"table\".snapshots",
    )
    .await;
    let lost = recovery::fold(&room.log, Some(&room.snapshots())).await.map(|_| ());
    assert!(matches!(lost, Err(FoldError::NoSnapshot { .. })), "{lost:?}");
    // Put back, it starts again, with the snapshot or from all of its events.
    archive::restore(&room.url, "table", &mut Cursor::new(&file)).await.unwrap();
    assert_eq!(room.state().await, found);
}
