//! Repeats of requests whose events were archived.

use std::io::Cursor;

use anyhow::ensure;
use eventlog::archive::{self, Retained, RetainedRequests};
use eventlog::{
    Entry, Log, PgStore, PoolSizes, Recall, Request, RequestId, RequestKey, StreamId, UnixMicros,
};

use crate::{as_role, entry, migrated, options};

/// One day in milliseconds.
const DAY: u64 = 86_400_000;
/// Time of the request that ends the archive.
const CUT: u64 = 1_699_800_000_000;
const DIGEST: [u8; 32] = [7; 32];

fn uuid_v7(millis: u64) -> RequestId {
    let mut id = [1; 16];
    id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    (id[6], id[8]) = (0x70, 0x80);
    RequestId(id)
}

fn of(actor: &str, id: RequestId) -> Entry {
    let mut entry = entry(1);
    entry.events[0].stream = StreamId([1; 16]);
    entry.actor = actor.into();
    entry.request = Some(Request { id, digest: DIGEST, answer: "answer".into() });
    entry
}

/// Requests that are written before the cut, in order.
fn old() -> [Entry; 5] {
    let timed = |millis| RequestId::derived(UnixMicros(millis * 1000), [3; 16]);
    [
        of("player:a", uuid_v7(CUT - DAY)),
        of("service:table", timed(CUT - DAY)),
        of("service:table", RequestId([0x8f; 16])),
        of("player:a", RequestId([0x44; 16])),
        of("operator:ada", uuid_v7(CUT)),
    ]
}

struct Fixture {
    admin: String,
    log: Log,
    file: Vec<u8>,
}

async fn open(admin: &str) -> anyhow::Result<Log> {
    let url = as_role(admin, "sabacc_table");
    let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
    Ok(Log::open(store, options("table/0")).await?)
}

/// Log with the requests before the cut, which are in the file, and one a day later.
async fn fixture(name: &str) -> anyhow::Result<Fixture> {
    let admin = migrated(name).await?;
    let log = open(&admin).await?;
    for entry in old() {
        log.append(entry).await?;
    }
    log.append(of("player:a", uuid_v7(CUT + DAY))).await?;
    let mut file = Vec::new();
    let before = archive::tree_at(log.reader(), 0).await?;
    archive::write(log.reader(), 0..5, before, &mut file).await?;
    Ok(Fixture { admin, log, file })
}

impl Fixture {
    async fn remove(&self, requests: RetainedRequests) -> anyhow::Result<u64> {
        let retained = Retained { since: UnixMicros(u64::MAX), streams: &[], tails: &[], requests };
        let mut file = Cursor::new(&self.file);
        Ok(archive::remove(&self.admin, "table", &mut file, retained).await?)
    }

    async fn reopen(&mut self) -> anyhow::Result<()> {
        self.log.clone().close().await;
        self.log = open(&self.admin).await?;
        Ok(())
    }
}

async fn recalled(log: &Log, entry: &Entry) -> anyhow::Result<Recall> {
    let key = entry.key().expect("each of these entries has a request");
    Ok(log.recall(key, DIGEST).await?)
}

async fn check(log: &Log, expected: [&str; 5]) -> anyhow::Result<()> {
    for (entry, expected) in old().iter().zip(expected) {
        let found = match recalled(log, entry).await? {
            Recall::Fresh => "fresh",
            Recall::Repeated { answer, .. } => {
                assert_eq!(answer, "answer");
                "repeated"
            }
            Recall::IdReused => "reused",
            Recall::TooOld => "too old",
        };
        assert_eq!(found, expected, "{} {:?}", entry.actor, entry.request);
    }
    Ok(())
}

/// ARCHITECTURE.md §2.9. A repeat from one day before the cut, and one from a day after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_persons_old_id_is_too_old_and_the_others_are_known() -> anyhow::Result<()> {
    let mut fixture = fixture("old-requests").await?;
    let never_sent = of("player:b", uuid_v7(CUT - 2 * DAY));
    let newer = of("player:a", uuid_v7(CUT + DAY));
    assert_eq!(recalled(&fixture.log, &never_sent).await?, Recall::Fresh);
    assert_eq!(fixture.remove(RetainedRequests::Answers).await?, 5);
    // The owner remembers what it has answered.
    check(&fixture.log, ["repeated"; 5]).await?;

    let cut = ["too old", "repeated", "repeated", "repeated", "too old"];
    fixture.reopen().await?;
    check(&fixture.log, cut).await?;
    assert_eq!(recalled(&fixture.log, &never_sent).await?, Recall::TooOld);
    ensure!(matches!(recalled(&fixture.log, &newer).await?, Recall::Repeated { .. }));
    let other = fixture.log.recall(newer.key().expect("it has a request"), [8; 32]).await?;
    assert_eq!(other, Recall::IdReused);
    // What was not sent before the cut is new a millisecond after it.
    let next = of("player:b", uuid_v7(CUT + 1));
    assert_eq!(recalled(&fixture.log, &next).await?, Recall::Fresh);
    fixture.log.append(next.clone()).await?;

    // Restored events bring no answers back, so their ids stay too old.
    archive::restore(&fixture.admin, "table", &mut Cursor::new(&fixture.file)).await?;
    fixture.reopen().await?;
    check(&fixture.log, cut).await?;
    ensure!(matches!(recalled(&fixture.log, &next).await?, Recall::Repeated { .. }));
    assert_eq!(fixture.remove(RetainedRequests::Answers).await?, 5);
    fixture.reopen().await?;
    check(&fixture.log, cut).await
}

/// A removal that was interrupted after it had moved the cut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_still_there_is_given() -> anyhow::Result<()> {
    let mut fixture = fixture("half-removed").await?;
    let kept = Retained {
        since: UnixMicros(u64::MAX),
        streams: &[StreamId([1; 16])],
        tails: &[],
        requests: RetainedRequests::Answers,
    };
    archive::remove(&fixture.admin, "table", &mut Cursor::new(&fixture.file), kept).await?;
    fixture.reopen().await?;
    check(&fixture.log, ["repeated"; 5]).await?;
    let never_sent = of("player:b", uuid_v7(CUT - DAY));
    assert_eq!(recalled(&fixture.log, &never_sent).await?, Recall::TooOld);
    fixture.remove(RetainedRequests::Answers).await?;
    // The answers of before its start are in the database alone.
    check(&fixture.log, ["too old", "repeated", "repeated", "repeated", "too old"]).await
}

/// A service that recognises repeats by its own state keeps nothing; people's ids stay too old.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stays_of_requests_is_chosen() -> anyhow::Result<()> {
    use sqlx::{Connection as _, PgConnection};
    for (requests, rows, answers) in [
        (RetainedRequests::CallersAndAnswers, 5, 3),
        (RetainedRequests::Answers, 3, 3),
        (RetainedRequests::Nothing, 0, 0),
    ] {
        let mut fixture = fixture(&format!("chosen-{rows}")).await?;
        fixture.remove(requests).await?;
        let mut admin = PgConnection::connect(&fixture.admin).await?;
        let kept: (i64, i64) =
            sqlx::query_as("SELECT count(*), count(answer) FROM \"table\".archived_groups")
                .fetch_one(&mut admin)
                .await?;
        assert_eq!(kept, (rows, answers), "{requests:?}");
        fixture.reopen().await?;
        let others = if answers == 0 { "fresh" } else { "repeated" };
        check(&fixture.log, ["too old", others, others, others, "too old"]).await?;
    }
    Ok(())
}

/// The database tells people's keys with a time from all others as the program does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_forgets_what_the_program_expects() -> anyhow::Result<()> {
    use sqlx::{Connection as _, PgConnection};
    let admin = migrated("forgets").await?;
    let mut admin = PgConnection::connect(&admin).await?;
    for n in 0..400_u32 {
        let actor = ["player:a", "operator:ada", "service:table", "anybody"][n as usize % 4];
        let id = match n % 3 {
            0 => uuid_v7(CUT + u64::from(n)),
            1 => RequestId::derived(UnixMicros(CUT * 1000), [n.to_be_bytes()[3]; 16]),
            _ => RequestId([n.to_be_bytes()[3]; 16]),
        };
        let key = RequestKey::new(actor, id);
        let forgets: bool =
            sqlx::query_scalar("SELECT \"table\".forgets_answer(encode($1, 'hex')::uuid)")
                .bind(&key.0[..])
                .fetch_one(&mut admin)
                .await?;
        let is_persons = !actor.starts_with("service:");
        assert_eq!(forgets, is_persons && id.created_at().is_some(), "{actor} {id:?}");
    }
    Ok(())
}
