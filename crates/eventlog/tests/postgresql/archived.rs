//! Archives: old ranges in files, removed from the database and restored.

use std::io::Cursor;
use std::sync::Arc;

use anyhow::{bail, ensure};
use eventlog::archive::{self, Archive, ArchiveError, Retained, Verified};
use eventlog::{
    Event, Limits, Log, Options, PgStore, PoolSizes, Position, ReadError, Reader, StreamEnd,
    StreamId, UnixMicros, Version,
};
use eventlog_core::record::chain_hash;
use merkle::Tree;

use crate::{REFUSED_BY_TRIGGER, as_role, entry, migrated, options, refusal, run};

pub(crate) const LONG_AGO: UnixMicros = UnixMicros(u64::MAX);
const EVENTS: u16 = 3000;

pub(crate) struct Fixture {
    pub(crate) admin: String,
    pub(crate) log: Log,
    pub(crate) store: Arc<PgStore>,
    pub(crate) reader: Reader,
    /// Events as they were written.
    pub(crate) events: Vec<Event>,
}

async fn open(admin: &str) -> anyhow::Result<(Log, Reader)> {
    let (store, log) = open_store(admin).await?;
    Ok((log, Reader::new(store, "table/0")))
}

async fn open_store(admin: &str) -> anyhow::Result<(Arc<PgStore>, Log)> {
    let url = as_role(admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    let limits = Limits { cached_streams: 1, ..crate::options("").limits };
    let log = Log::open(store.clone(), Options { limits, ..options("table/0") }).await?;
    Ok((store, log))
}

/// Log whose streams 0 to 4 go on, and whose other stream ended long ago.
pub(crate) async fn fixture(name: &str) -> anyhow::Result<Fixture> {
    let admin = migrated(name).await?;
    let (store, log) = open_store(&admin).await?;
    let reader = Reader::new(Arc::clone(&store) as _, "table/0");
    let mut old = entry(EVENTS);
    old.events[0].stream = StreamId([9; 16]);
    log.append(old).await?;
    let all = futures_util::future::join_all((1..EVENTS).map(|n| log.append(entry(n)))).await;
    all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let events = log.read(Position(0), usize::from(EVENTS)).await?;
    Ok(Fixture { admin, log, store, reader, events })
}

impl Fixture {
    pub(crate) async fn archived(&self, from: u64, to: u64) -> anyhow::Result<(Vec<u8>, Verified)> {
        let mut file = Vec::new();
        let before = archive::tree_at(&self.reader, from).await?;
        let written = archive::write(&self.reader, from..to, before, &mut file).await?;
        assert_eq!(Archive::open(&file[..])?.finish()?, written);
        Ok((file, written))
    }

    pub(crate) async fn remove(&self, file: &[u8], kept: UnixMicros) -> Result<u64, ArchiveError> {
        let kept = Retained::since(kept);
        archive::remove(&self.admin, "table", &mut Cursor::new(file), kept).await
    }

    async fn restore(&self, file: &[u8]) -> Result<(), ArchiveError> {
        archive::restore(&self.admin, "table", &mut Cursor::new(file)).await
    }
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_proves_itself_and_shows_every_event() -> anyhow::Result<()> {
    let fixture = fixture("archive").await?;
    for (from, to) in [(0, 1), (0, 1500), (7, 2048), (2999, 3000), (0, 3000)] {
        let (file, written) = fixture.archived(from, to).await?;
        assert_eq!(written.head, (3000, fixture.log.root()), "{from} to {to}");
        let mut archive = Archive::open(&file[..])?;
        let mut events = Vec::new();
        while let Some(event) = archive.next_event()? {
            events.push(event);
        }
        assert_eq!(events, fixture.events[usize::try_from(from)?..usize::try_from(to)?]);
    }
    for (from, to) in [(5, 5), (0, 3001)] {
        let before = archive::tree_at(&fixture.reader, from).await?;
        let written = archive::write(&fixture.reader, from..to, before, &mut Vec::new()).await;
        ensure!(matches!(written, Err(ArchiveError::Range { .. })), "{written:?}");
    }
    let written = archive::write(&fixture.reader, 1..2, Tree::new(), &mut Vec::new()).await;
    ensure!(matches!(written, Err(ArchiveError::Range { .. })), "{written:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_any_byte_changed_is_damaged() -> anyhow::Result<()> {
    let fixture = fixture("damaged").await?;
    let (file, _) = fixture.archived(5, 12).await?;
    for at in 0..file.len() {
        let mut wrong = file.clone();
        wrong[at] ^= 1;
        ensure!(Archive::open(&wrong[..]).and_then(Archive::finish).is_err(), "byte {at}");
    }
    for length in 0..file.len() {
        ensure!(Archive::open(&file[..length]).and_then(Archive::finish).is_err(), "{length}");
    }
    let longer = [&file[..], b"x"].concat();
    ensure!(Archive::open(&longer[..]).and_then(Archive::finish).is_err());
    Ok(())
}

/// ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_archived_goes_and_the_log_goes_on() -> anyhow::Result<()> {
    let fixture = fixture("removed").await?;
    let root = fixture.log.root();
    let (first, _) = fixture.archived(0, 1000).await?;
    let (second, _) = fixture.archived(1000, 2500).await?;
    // The oldest range comes first, and events that are to be kept stay.
    let early = fixture.remove(&second, LONG_AGO).await;
    ensure!(matches!(early, Err(ArchiveError::Order { cut: 0, .. })), "{early:?}");
    let kept = fixture.remove(&first, fixture.events[999].recorded_at).await;
    ensure!(matches!(kept, Err(ArchiveError::Retained(_))), "{kept:?}");
    assert_eq!(fixture.remove(&first, LONG_AGO).await?, 1000);
    assert_eq!(fixture.remove(&second, LONG_AGO).await?, 1500);
    assert_eq!(fixture.remove(&second, LONG_AGO).await?, 0);

    for from in [0, 1, 2499] {
        let read = fixture.log.read(Position(from), 10).await;
        ensure!(matches!(read, Err(ReadError::Archived { size: 2500 })), "{from}: {read:?}");
    }
    assert_eq!(fixture.log.read(Position(2500), 1000).await?, fixture.events[2500..]);
    let stream = fixture.events[1].stream;
    let read = fixture.log.read_stream(stream, Version(0), 10).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: 2500 })), "{read:?}");
    // A stream that ended long ago is not taken for one that never was.
    let ended = StreamId([9; 16]);
    let read = fixture.log.read_stream(ended, Version(0), 10).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: 2500 })), "{read:?}");
    assert_eq!(fixture.log.read_stream(ended, Version(2), 10).await?, []);
    let end = fixture.reader.stream_end(ended).await?;
    assert_eq!(end, Some(StreamEnd::Archived(fixture.events[0].leaf_record())));
    assert_eq!(fixture.reader.stream_end(StreamId([77; 16])).await?, None);

    // After opening with and without the saved tree, streams continue and repeats are recognised.
    fixture.log.clone().close().await;
    for forget in ["SELECT 1", "UPDATE \"table\".leases SET tree = NULL"] {
        run(&fixture.admin, forget).await?;
        let (log, _) = open(&fixture.admin).await?;
        assert_eq!((log.size(), log.root()), (3000, root));
        ensure!(log.append(entry(1)).await.is_err());
        log.close().await;
    }
    let (log, _) = open(&fixture.admin).await?;
    let mut more = entry(EVENTS + 1);
    more.events[0].stream = StreamId([9; 16]);
    assert_eq!(log.append(more).await?.versions, [Version(2)]);
    let [next] = &log.read_stream(ended, Version(2), 10).await?[..] else { bail!("one event") };
    assert_eq!(next.previous, chain_hash(&fixture.events[0].record()));
    let root = log.root();
    log.close().await;

    // Restored, the newest range first.
    let early = fixture.restore(&first).await;
    ensure!(matches!(early, Err(ArchiveError::Order { cut: 2500, .. })), "{early:?}");
    fixture.restore(&second).await?;
    fixture.restore(&first).await?;
    run(&fixture.admin, "UPDATE \"table\".leases SET tree = NULL").await?;
    let (log, _) = open(&fixture.admin).await?;
    assert_eq!((log.size(), log.root()), (3001, root));
    assert_eq!(log.read(Position(0), 3000).await?, fixture.events);
    assert_eq!(log.read_stream(ended, Version(0), 10).await?.len(), 2);
    // A restoration that did not come to its end: the rest of a stream is not taken for the whole.
    let lose = "SET search_path = \"table\"; ALTER TABLE event_groups DISABLE TRIGGER append_only;
         DELETE FROM event_groups WHERE position BETWEEN 2000 AND 3000";
    run(&fixture.admin, lose).await?;
    let rest = fixture.reader.stream_end(stream).await?;
    ensure!(
        matches!(&rest, Some(StreamEnd::Archived(record)) if record.position > 2000),
        "{rest:?}"
    );
    Ok(())
}

/// A row of several events that reaches over a cut stays until all of it is archived.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_within_a_row_loses_nothing() -> anyhow::Result<()> {
    let admin = migrated("within").await?;
    let (store, log) = open_store(&admin).await?;
    let reader = Reader::new(Arc::clone(&store) as _, "table/0");
    for n in 1..=5 {
        let mut four = entry(n);
        four.events = vec![four.events[0].clone(); 4];
        four.events.iter_mut().for_each(|event| event.stream = StreamId([1; 16]));
        log.append(four).await?;
    }
    let (events, root) = (log.read(Position(0), 20).await?, log.root());
    let fixture = Fixture { admin, log, store, reader, events };
    let (first, _) = fixture.archived(0, 6).await?;
    let (second, _) = fixture.archived(6, 20).await?;
    assert_eq!(fixture.remove(&first, LONG_AGO).await?, 4);
    let read = fixture.log.read(Position(3), 10).await;
    ensure!(matches!(read, Err(ReadError::Archived { size: 6 })), "{read:?}");
    assert_eq!(fixture.log.read(Position(6), 20).await?, fixture.events[6..]);
    assert_eq!(fixture.remove(&second, LONG_AGO).await?, 12, "the log's last row stays");
    fixture.restore(&second).await?;
    fixture.restore(&first).await?;
    assert_eq!(fixture.remove(&first, LONG_AGO).await?, 6, "restored rows end at the cut");
    fixture.restore(&first).await?;
    fixture.log.close().await;
    run(&fixture.admin, "UPDATE \"table\".leases SET tree = NULL").await?;
    let (log, _) = open(&fixture.admin).await?;
    assert_eq!((log.read(Position(0), 20).await?, log.root()), (fixture.events, root));
    for n in 1..=5 {
        ensure!(log.append(entry(n)).await.is_err(), "{n} was answered before");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_another_log_removes_nothing() -> anyhow::Result<()> {
    let mine = fixture("mine").await?;
    let other = fixture("other").await?;
    let (file, _) = mine.archived(0, 100).await?;
    // The leaf records, and so the trees, are equal; only the author differs.
    run(
        &other.admin,
        "SET search_path = \"table\"; INSERT INTO authors (actor) VALUES ('x');
         ALTER TABLE event_groups DISABLE TRIGGER append_only;
         UPDATE event_groups SET author = (SELECT number FROM authors WHERE actor = 'x')
         WHERE position = 42;
         ALTER TABLE event_groups ENABLE ALWAYS TRIGGER append_only",
    )
    .await?;
    let differs = other.remove(&file, LONG_AGO).await;
    ensure!(matches!(differs, Err(ArchiveError::Differs(42))), "{differs:?}");
    for (from, count) in [(0, 42), (43, 57)] {
        assert_eq!(other.log.read(Position(from), count).await?.len(), count);
    }
    // Without the setting that allows removal not even an administrator may remove an event.
    let sql = "DELETE FROM \"table\".event_groups WHERE position = 1";
    assert_eq!(refusal(&other.admin, sql).await?, REFUSED_BY_TRIGGER);
    // With it the service's role may not either.
    let sql = format!("SET sabacc.removes_from = 'table'; {sql}");
    assert_eq!(
        refusal(&as_role(&other.admin, "sabacc_table"), &sql).await?,
        crate::REFUSED_BY_RIGHT
    );
    let service = as_role(&other.admin, "sabacc_table");
    let kept = Retained::since(LONG_AGO);
    let powerless = archive::remove(&service, "table", &mut Cursor::new(&file), kept).await;
    ensure!(powerless.is_err());
    Ok(())
}

/// The cost of a page of a long log does not depend on its position.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_costs_what_a_page_costs() -> anyhow::Result<()> {
    use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
    let fixture = fixture("pages").await?;
    let mut admin = PgConnection::connect(&fixture.admin).await?;
    let prepare = concat!(
        "SET search_path = \"table\"; ANALYZE event_groups; SET plan_cache_mode = force_generic_plan;",
        "PREPARE page (text, bigint, bigint, bigint) AS ",
        include_str!("../../src/pg/sql/read.sql")
    );
    sqlx::raw_sql(prepare).execute(&mut admin).await?;
    for from in [0, 1500, 2900] {
        let sql =
            format!("EXPLAIN (ANALYZE, BUFFERS) EXECUTE page ('table/0', {from}, 50, 4194304)");
        let lines: Vec<(String,)> =
            sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&mut admin).await?;
        let plan = lines.into_iter().map(|(line,)| line).collect::<Vec<_>>().join("\n");
        ensure!(plan.contains("Index Scan using event_groups_position"), "{plan}");
        let pages: u64 = plan
            .split("Buffers: shared ")
            .nth(1)
            .and_then(|rest| rest.lines().next())
            .map(|rest| rest.split(['=', ' ']).filter_map(|n| n.parse::<u64>().ok()).sum())
            .unwrap_or(u64::MAX);
        ensure!(pages < 20, "{plan}");
    }
    Ok(())
}
