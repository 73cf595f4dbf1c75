//! Batches that are sent while the previous one is being written.
//!
//! The previous batch is held up by another transaction that has inserted its request and may or
//! may not commit.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use eventlog::store::{AppendOutcome, Batch, Claim, ClaimOutcome, ClockReading, Fence, StoreError};
use eventlog::{
    AppendError, Entry, Event, Group, Log, PgStore, Position, RequestKey, Store, UnixMicros,
    Version,
};
use sqlx::{Connection, PgConnection};
use tokio::task::JoinHandle;

use crate::projection::{Sums, group, migrated, sums, wallet, wallet_store};
use crate::{database, entry};

pub(crate) const LOG: &str = "wallet/0";

/// Transaction that has inserted a request, not committed yet. Its row stands within the log, at the
/// last position of a row of two events, so that the log ends where it did.
pub(crate) struct BlockingTransaction(PgConnection);

impl BlockingTransaction {
    pub(crate) async fn hold(
        admin: &str,
        request: RequestKey,
        position: u64,
    ) -> anyhow::Result<BlockingTransaction> {
        let mut connection = PgConnection::connect(admin).await?;
        sqlx::raw_sql("BEGIN").execute(&mut connection).await?;
        sqlx::query(
            "INSERT INTO wallet.event_groups (position, recorded_at, version, author, log, count,
                stream, key, tag, previous, content, answer)
            SELECT $4, 0, 1, 0, number, 1, gen_random_uuid(), encode($2, 'hex')::uuid, gen_random_uuid(), $3,
                '', ''
            FROM wallet.logs WHERE name = $1",
        )
        .bind(LOG)
        .bind(request.0.as_slice())
        .bind([0_u8; 32].as_slice())
        .bind(position.cast_signed())
        .execute(&mut connection)
        .await?;
        Ok(BlockingTransaction(connection))
    }

    /// Waits until `count` statements of the log wait for an advisory lock, which means for the end
    /// of another batch.
    pub(crate) async fn until_waited(&mut self, count: i64) -> anyhow::Result<()> {
        let sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        for _ in 0..1000 {
            let waiting: i64 = sqlx::query_scalar(sql).fetch_one(&mut self.0).await?;
            if waiting == count {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        anyhow::bail!("nobody waits for the end of a batch")
    }

    /// Waits until a batch is being written, which has its advisory lock by then.
    pub(crate) async fn until_begun(&mut self) -> anyhow::Result<()> {
        let sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut self.0).await? == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    pub(crate) async fn end(mut self, how: &'static str) -> anyhow::Result<()> {
        sqlx::raw_sql(how).execute(&mut self.0).await?;
        Ok(())
    }
}

/// Reading of the test's own clock.
const CLOCK: ClockReading = ClockReading { at: UnixMicros(1), skew: Duration::MAX };

pub(crate) fn request(n: u16) -> RequestKey {
    entry(n).key().expect("each answers a request")
}

fn event(first: u64) -> Event {
    Event {
        position: Position(first),
        recorded_at: UnixMicros(1),
        stream: eventlog::StreamId([1; 16]),
        version: Version(first + 1),
        kind: 1,
        schema: 1,
        sealed: false,
        payload: "payload".into(),
        salt: [4; 16],
        author_hash: Event::hash_author("actor", None, &[0; 16]),
        request_id: None,
        actor: "actor".into(),
        trace: [0; 16],
        previous: [0; 32],
    }
}

/// Batch of the log's first two events, as one row and without a request.
pub(crate) fn first_two(epoch: u64) -> Batch {
    let events = [event(0), event(1)].into();
    Batch { events, requests: [].into(), rows: None, ..batch(epoch, 0, None) }
}

/// Batch of one event at position `first`.
pub(crate) fn batch(epoch: u64, first: u64, behind: Option<u64>) -> Batch {
    let number = u16::try_from(first).expect("a small one");
    let requests = [eventlog::AnsweredRequest {
        key: request(number),
        tag: Some([1; 16]),
        first: Position(first),
        answer: "answer".into(),
    }];
    Batch {
        log: LOG.into(),
        epoch,
        first,
        events: [event(first)].into(),
        requests: requests.into(),
        rows: Some(Arc::new(Sums(vec![(i64::from(number), 7)]))),
        pipelined_after: behind,
        clock: CLOCK,
    }
}

/// A database with no log yet, and its store.
pub(crate) async fn store(name: &str) -> anyhow::Result<(String, Arc<PgStore>)> {
    let admin = database(name).await?;
    migrated(&admin).await?;
    let store = wallet_store(&admin).await?;
    Ok((admin, store))
}

pub(crate) async fn claim(store: &PgStore, take_over: bool) -> anyhow::Result<Fence> {
    let claim = Claim {
        log: LOG.into(),
        owner: "owner".into(),
        address: "here".into(),
        lease: Duration::from_secs(60),
        take_over,
        clock: CLOCK,
    };
    match store.claim(&claim).await? {
        ClaimOutcome::Granted(fence) => Ok(fence),
        ClaimOutcome::Held { fence, .. } => anyhow::bail!("held by {}", fence.owner),
    }
}

pub(crate) type Sent = JoinHandle<Result<AppendOutcome, StoreError>>;

pub(crate) fn send(store: &Arc<PgStore>, batch: Batch) -> Sent {
    let store = Arc::clone(store);
    tokio::spawn(async move { store.append(&batch).await })
}

/// Sends two batches for the positions 2 and 3, the second behind the first, which is held up.
/// Returns them with the transaction that holds it up.
async fn send_two_batches(
    name: &str,
) -> anyhow::Result<(String, Arc<PgStore>, Sent, Sent, BlockingTransaction)> {
    let (admin, store) = store(name).await?;
    let epoch = claim(&store, false).await?.epoch;
    assert_eq!(store.append(&first_two(epoch)).await?, AppendOutcome::Written);
    let mut way = BlockingTransaction::hold(&admin, request(2), 1).await?;
    let first = send(&store, batch(epoch, 2, None));
    way.until_begun().await?;
    let second = send(&store, batch(epoch, 3, Some(2)));
    way.until_waited(1).await?;
    Ok((admin, store, first, second, way))
}

pub(crate) async fn positions(admin: &str) -> anyhow::Result<Vec<i64>> {
    let mut connection = PgConnection::connect(admin).await?;
    let sql = "SELECT position FROM wallet.events ORDER BY position";
    Ok(sqlx::query_scalar(sql).fetch_all(&mut connection).await?)
}

#[tokio::test]
async fn a_batch_ahead_is_written_after_the_one_before() -> anyhow::Result<()> {
    let (admin, store, first, second, way) = send_two_batches("ahead_after").await?;
    assert_eq!(positions(&admin).await?, [0, 1], "neither is seen before it is committed");
    way.end("ROLLBACK").await?;
    assert_eq!((first.await??, second.await??), (AppendOutcome::Written, AppendOutcome::Written));
    assert_eq!(positions(&admin).await?, [0, 1, 2, 3]);
    assert_eq!(sums(&admin).await?, [(2, 7, 3), (3, 7, 4)]);
    assert_eq!(store.fence(LOG).await?.map(|fence| fence.size), Some(4));
    Ok(())
}

#[tokio::test]
async fn where_the_one_before_is_refused_so_is_a_batch_ahead() -> anyhow::Result<()> {
    let (admin, store, first, second, way) = send_two_batches("ahead_refused").await?;
    way.end("COMMIT").await?;
    assert_eq!((first.await??, second.await??), (AppendOutcome::Duplicate, AppendOutcome::Fenced));
    assert_eq!((positions(&admin).await?, sums(&admin).await?), (vec![0, 1], vec![]));
    assert_eq!(store.fence(LOG).await?.map(|fence| fence.size), Some(2));
    Ok(())
}

#[tokio::test]
async fn a_new_owner_comes_before_a_batch_ahead_or_after_it() -> anyhow::Result<()> {
    let (admin, store, first, second, way) = send_two_batches("ahead_lost").await?;
    let before = store.fence(LOG).await?.map_or(0, |fence| fence.epoch);
    let taken = tokio::spawn({
        let store = Arc::clone(&store);
        async move { claim(&store, true).await }
    });
    // The claim waits for the fence, which the first batch has locked.
    let waits = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '-- claim%'";
    // `pg_stat_activity` does not change within a transaction, so another connection reads it.
    let mut looks = PgConnection::connect(&admin).await?;
    while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut looks).await? == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    way.end("ROLLBACK").await?;
    assert_eq!(first.await??, AppendOutcome::Written);
    // Both wait for the first batch. Whichever goes on first, the other sees its effect.
    let (second, epoch) = (second.await??, taken.await??.epoch);
    let (size, rows): (u64, &[(i64, i64, i64)]) = match second {
        AppendOutcome::Written => (4, &[(2, 7, 3), (3, 7, 4)]),
        AppendOutcome::Fenced | AppendOutcome::Duplicate => (3, &[(2, 7, 3)]),
    };
    assert_ne!(epoch, before);
    assert_eq!(positions(&admin).await?.len() as u64, size, "{second:?}");
    assert_eq!(sums(&admin).await?, rows);
    let fence = store.fence(LOG).await?.map(|fence| (fence.epoch, fence.size));
    assert_eq!(fence, Some((epoch, size)));
    assert_eq!(store.append(&batch(before, size, Some(size - 1))).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(epoch, size, None)).await?, AppendOutcome::Written);
    Ok(())
}

/// Any role that may connect may see an advisory lock's number and take it, here an auditor's.
#[tokio::test]
async fn nobody_stops_the_log_by_holding_its_tickets() -> anyhow::Result<()> {
    let (admin, store) = store("ahead_tickets").await?;
    let epoch = claim(&store, false).await?.epoch;
    let way = BlockingTransaction::hold(&admin, request(0), 1000).await?;
    let first = send(&store, batch(epoch, 0, None));
    let mut attacker = PgConnection::connect(&admin).await?;
    sqlx::raw_sql("SET ROLE sabacc_auditor").execute(&mut attacker).await?;
    let seen = "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
        WHERE locktype = 'advisory' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let ticket: i64 = loop {
        if let Some(ticket) = sqlx::query_scalar(seen).fetch_optional(&mut attacker).await? {
            break ticket;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let mut looks = BlockingTransaction(PgConnection::connect(&admin).await?);
    let taken = tokio::spawn(async move {
        sqlx::query("SELECT pg_advisory_lock($1)").bind(ticket).execute(&mut attacker).await?;
        anyhow::Ok(attacker)
    });
    looks.until_waited(1).await?;
    let second = send(&store, batch(epoch, 1, Some(0)));
    looks.until_waited(2).await?;
    way.end("ROLLBACK").await?;
    assert_eq!(first.await??, AppendOutcome::Written);
    let _held = taken.await??;
    let undone = second.await?;
    ensure!(matches!(undone, Err(StoreError::Unavailable(_))), "{undone:?}");
    assert_eq!(store.append(&batch(epoch, 1, None)).await?, AppendOutcome::Written);
    assert_eq!(positions(&admin).await?, [0, 1]);
    Ok(())
}

/// A batch that arrives before its predecessor, which is possible with two connections.
#[tokio::test]
async fn a_batch_that_overtakes_is_sent_back() -> anyhow::Result<()> {
    let (admin, store) = store("ahead_overtakes").await?;
    let epoch = claim(&store, false).await?.epoch;
    assert_eq!(store.append(&batch(epoch, 1, Some(0))).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(epoch, 0, None)).await?, AppendOutcome::Written);
    assert_eq!(store.append(&batch(epoch, 1, Some(0))).await?, AppendOutcome::Written);
    assert_eq!(store.append(&batch(epoch, 1, Some(0))).await?, AppendOutcome::Fenced, "once");
    assert_eq!(positions(&admin).await?, [0, 1]);
    Ok(())
}

#[tokio::test]
async fn a_batch_ahead_of_no_log_makes_none() -> anyhow::Result<()> {
    let (admin, store) = store("ahead_of_none").await?;
    let first = batch(1, 0, Some(0));
    assert_eq!(store.append(&first).await?, AppendOutcome::Fenced);
    assert!(store.fence(&first.log).await?.is_none());
    assert!(positions(&admin).await?.is_empty());
    Ok(())
}

/// Opens a log with two events, and holds up the group at position 2.
async fn held_up(name: &str) -> anyhow::Result<(String, Log, BlockingTransaction)> {
    let admin = database(name).await?;
    migrated(&admin).await?;
    let log = wallet(&admin).await?;
    // Makes the log cache the streams.
    let one = entry(1);
    log.append(Entry { events: vec![one.events[0].clone(); 2], ..one }).await?;
    let way = BlockingTransaction::hold(&admin, request(21), 1).await?;
    Ok((admin, log, way))
}

/// Group of one event at position `n`.
fn one(n: u16) -> Group {
    Group { entries: vec![entry(n * 10 + 1)], ..group(n, &[]) }
}

#[tokio::test]
async fn groups_go_ahead_of_each_other_and_stand_in_order() -> anyhow::Result<()> {
    let (_, log, mut way) = held_up("ahead_groups").await?;
    let first = log.append_group(one(2));
    way.until_begun().await?;
    let rest = [3, 4, 5].map(|n| log.append_group(one(n)));
    let written = tokio::spawn(async move {
        let (first, rest) = (first.await, futures_util::future::join_all(rest).await);
        [first].into_iter().chain(rest).collect::<Vec<_>>()
    });
    way.until_waited(1).await?;
    ensure!(log.size() == 2, "nothing is told before it is written");
    way.end("ROLLBACK").await?;
    for receipts in written.await? {
        assert_eq!(receipts?.len(), 1);
    }
    let events = log.read(Position(0), 100).await?;
    assert_eq!(events.len(), 6);
    assert_eq!(log.root(), merkle::root(events.iter().map(Event::record)));
    Ok(())
}

#[tokio::test]
async fn a_repeat_misplaces_the_group_that_went_ahead() -> anyhow::Result<()> {
    let (admin, log, mut way) = held_up("ahead_repeat").await?;
    let first = log.append_group(one(2));
    way.until_begun().await?;
    let second = log.append_group(one(3));
    let both = tokio::spawn(futures_util::future::join(first, second));
    way.until_waited(1).await?;
    way.end("COMMIT").await?;
    let (first, second) = both.await?;
    ensure!(matches!(first, Err(AppendError::Duplicate { .. })), "{first:?}");
    ensure!(matches!(second, Err(AppendError::Misplaced { size: 2, .. })), "{second:?}");
    assert_eq!(positions(&admin).await?, [0, 1]);
    log.append_group(Group { entries: vec![entry(41)], ..group(2, &[]) }).await?;
    assert_eq!(positions(&admin).await?, [0, 1, 2]);
    Ok(())
}
