//! SQL statements of the log, one function each.

use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgArguments, PgConnection, PgExecutor, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, Encode, PgPool, Postgres, Row, Type};

use super::rows::{
    PgUuid, event, fence as fence_row, signed, store_time, stored, tree as tree_row,
};
use crate::event::AnsweredRequest;
use crate::key::RequestKey;
use crate::store::{Batch, Claim, ClockReading, Fence, READ_BYTES, Renewal, StoreTime};

/// Placeholder of the comparison of the owner's clock with the database's.
const CLOCK_PLACEHOLDER: &str = "/* clock */";

/// Outcome of a statement, with the database's clock.
pub(super) struct TimedOutcome<T> {
    pub(super) outcome: T,
    pub(super) time: StoreTime,
}

/// Completes a statement so that it compares the clock in `parameter`, such as `$5`, with the
/// database's.
pub(super) fn with_clock_check(text: &str, parameter: &str) -> String {
    text.replace(
        CLOCK_PLACEHOLDER,
        &include_str!("sql/clock.sql").trim_end().replace("$CLOCK", parameter),
    )
}

static CLAIM: LazyLock<Arc<str>> =
    LazyLock::new(|| with_clock_check(include_str!("sql/claim.sql"), "$6").into());
static RENEW: LazyLock<Arc<str>> =
    LazyLock::new(|| with_clock_check(include_str!("sql/renew.sql"), "$4").into());

/// Settings of the server that decide whether an acknowledged commit is durable.
pub(super) struct DurabilitySettings {
    pub(super) fsync: bool,
    pub(super) full_page_writes: bool,
    /// Value in this session, and in a session that does not set it.
    pub(super) synchronous_commit: [String; 2],
    pub(super) encoding: String,
}

pub(super) async fn durability_settings(
    link: &mut PgConnection,
) -> Result<DurabilitySettings, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/promises.sql")).fetch_one(link).await?;
    Ok(DurabilitySettings {
        fsync: row.try_get("fsync")?,
        full_page_writes: row.try_get("full_page_writes")?,
        synchronous_commit: [row.try_get("commit_here")?, row.try_get("commit_elsewhere")?],
        encoding: row.try_get("encoding")?,
    })
}

/// Whether the schema has its tables, including the newest.
pub(super) async fn is_migrated(link: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT to_regclass('checkpoints') IS NOT NULL").fetch_one(link).await
}

/// Claims the fence. `None` if another owner's lease runs or a clock is off.
pub(super) async fn claim(
    link: &mut PgConnection,
    claim: &Claim,
) -> Result<TimedOutcome<Option<Fence>>, sqlx::Error> {
    let row = sqlx::query(AssertSqlSafe(CLAIM.clone()))
        .bind(&*claim.log)
        .bind(&*claim.owner)
        .bind(&*claim.address)
        .bind(micros(claim.lease))
        .bind(claim.take_over)
        .bind(reading(claim.clock)?)
        .fetch_one(link)
        .await?;
    let claimed = row.try_get::<Option<i64>, _>("epoch")?.is_some();
    let done = if claimed { Some(fence_row(&row)?) } else { None };
    Ok(TimedOutcome { outcome: done, time: store_time(&row)? })
}

/// Encodes an owner's clock and the allowed skew as one parameter.
fn reading(clock: ClockReading) -> Result<Vec<i64>, sqlx::Error> {
    // Bounded so that the sum with any realistic time fits into a `bigint`.
    let skew = micros(clock.skew).min(i64::MAX / 2);
    Ok(vec![signed(clock.at.0)?, skew])
}

/// Whether a statement that writes one row has written it.
fn is_one_row_written(row: &PgRow) -> Result<TimedOutcome<bool>, sqlx::Error> {
    Ok(TimedOutcome { outcome: row.try_get::<i64, _>("done")? == 1, time: store_time(row)? })
}

/// Fence and the remaining time of its lease.
pub(super) async fn fence(
    link: &mut PgConnection,
    log: &str,
) -> Result<Option<(Fence, Duration)>, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/fence.sql")).bind(log).fetch_optional(link).await?;
    let Some(row) = row else { return Ok(None) };
    let remaining = u64::try_from(row.try_get::<i64, _>("remaining")?).unwrap_or_default();
    Ok(Some((fence_row(&row)?, Duration::from_micros(remaining))))
}

/// Renews the lease. `false` if the epoch is another's, the log is shorter than the owner's, or a
/// clock is off.
pub(super) async fn renew(
    link: &mut PgConnection,
    renewal: &Renewal,
) -> Result<TimedOutcome<bool>, sqlx::Error> {
    let row = sqlx::query(AssertSqlSafe(RENEW.clone()))
        .bind(&*renewal.log)
        .bind(signed(renewal.epoch)?)
        .bind(micros(renewal.lease))
        .bind(reading(renewal.clock)?)
        .bind(renewal.is_serving)
        .bind(signed(renewal.size)?)
        .fetch_one(link)
        .await?;
    is_one_row_written(&row)
}

/// Values of a batch, in the statement's order.
pub(super) fn append_arguments(batch: &Batch) -> Result<PgArguments, sqlx::Error> {
    let (events, requests) = (&batch.events[..], &batch.requests[..]);
    let versions: Result<Vec<i64>, _> = events.iter().map(|it| signed(it.version.0)).collect();
    let firsts: Result<Vec<i64>, _> = requests.iter().map(|it| signed(it.first.0)).collect();
    let mut to = PgArguments::default();
    add(&mut to, &*batch.log)?;
    add(&mut to, signed(batch.epoch)?)?;
    add(&mut to, signed(batch.first)?)?;
    add(&mut to, micros(batch.lease))?;
    add(&mut to, reading(batch.clock)?)?;
    add(&mut to, batch.tree.concat())?;
    add(&mut to, signed(batch.recorded_at().0)?)?;
    add(&mut to, column(events, |event| PgUuid(event.stream.0)))?;
    add(&mut to, versions?)?;
    add(&mut to, column(events, |event| i32::from(event.kind)))?;
    add(&mut to, column(events, |event| i32::from(event.schema)))?;
    add(&mut to, column(events, |event| event.sealed))?;
    add(&mut to, column(events, |event| &event.payload[..]))?;
    add(&mut to, column(events, |event| &event.previous[..]))?;
    add(&mut to, column(events, |event| event.request_id.map(|id| PgUuid(id.0))))?;
    add(&mut to, column(events, |event| &*event.actor))?;
    add(&mut to, column(events, |event| &event.trace[..]))?;
    add(&mut to, column(requests, |stored| PgUuid(stored.key.0)))?;
    add(&mut to, column(requests, |stored| &stored.digest[..]))?;
    add(&mut to, firsts?)?;
    add(&mut to, column(requests, |stored| &stored.answer[..]))?;
    add(&mut to, advisory_lock_number(batch, batch.first))?;
    add(&mut to, batch.pipelined_after.map(|before| advisory_lock_number(batch, before)))?;
    add(&mut to, column(events, |event| &event.salt[..]))?;
    Ok(to)
}

/// Number of the advisory lock that a batch's statement holds from its beginning to its end, so
/// that the next one can wait for that. A collision only makes two statements wait for each other.
fn advisory_lock_number(of: &Batch, first: u64) -> i64 {
    let mut hash = Sha256::new();
    hash.update(of.log.as_bytes());
    hash.update(of.epoch.to_be_bytes());
    hash.update(first.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    i64::from_be_bytes(*hash.first_chunk().expect("32 are more than 8"))
}

fn add<'a, T>(arguments: &mut PgArguments, value: T) -> Result<(), sqlx::Error>
where
    T: Encode<'a, Postgres> + Type<Postgres>,
{
    arguments.add(value).map_err(sqlx::Error::Encode)
}

/// Appends a batch. `false` if the fence does not match or a clock is off.
pub(super) async fn append(
    link: &mut PgConnection,
    sql: &Arc<str>,
    arguments: PgArguments,
) -> Result<TimedOutcome<bool>, sqlx::Error> {
    // The text is assembled from static parts.
    let sql = AssertSqlSafe(sql.clone());
    is_one_row_written(&sqlx::query_with(sql, arguments).fetch_one(link).await?)
}

/// Last event of each stream that has one.
pub(super) async fn last_events(
    link: &mut PgConnection,
    log: &str,
    of: &[StreamId],
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/last_events.sql"))
        .bind(log)
        .bind(column(of, |stream| PgUuid(stream.0)))
        .fetch_all(link)
        .await?;
    rows.iter().map(event).collect()
}

pub(super) async fn requests(
    pool: &PgPool,
    log: &str,
    of: &[RequestKey],
) -> Result<Vec<AnsweredRequest>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/requests.sql"))
        .bind(log)
        .bind(column(of, |key| PgUuid(key.0)))
        .fetch_all(pool)
        .await?;
    rows.iter().map(stored).collect()
}

pub(super) async fn latest_requests(
    pool: &PgPool,
    log: &str,
    below: Option<RequestKey>,
    limit: usize,
) -> Result<Vec<AnsweredRequest>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/latest_requests.sql"))
        .bind(log)
        .bind(below.map(|key| PgUuid(key.0)))
        .bind(clamp(limit as u64))
        .fetch_all(pool)
        .await?;
    rows.iter().map(stored).collect()
}

/// Tree at the log's cut.
pub(super) async fn cut(link: &mut PgConnection, log: &str) -> Result<Option<Tree>, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/cut.sql")).bind(log).fetch_optional(link).await?;
    row.as_ref().map(tree_row).transpose()
}

pub(super) async fn move_cut(
    link: &mut PgConnection,
    log: &str,
    to: &Tree,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(include_str!("sql/move_cut.sql"));
    let query = query.bind(log).bind(signed(to.size())?).bind(to.peaks().concat());
    query.execute(link).await.map(drop)
}

/// Removes events of a range of positions. Returns their number.
pub(super) async fn remove(
    link: &mut PgConnection,
    log: &str,
    schema: &str,
    range: Range<u64>,
) -> Result<u64, sqlx::Error> {
    let mut transaction = link.begin().await?;
    let allow = sqlx::query("SELECT set_config('sabacc.removes_from', $1, true)").bind(schema);
    allow.execute(&mut *transaction).await?;
    let gone = sqlx::query(include_str!("sql/remove.sql"))
        .bind(log)
        .bind(signed(range.start)?)
        .bind(signed(range.end)?)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(gone.rows_affected())
}

/// Inserts removed events again. They must be contiguous.
pub(super) async fn put_back(
    link: &mut PgConnection,
    log: &str,
    events: &[Event],
) -> Result<(), sqlx::Error> {
    let first = events.first().map_or(0, |event| event.position.0);
    let times: Result<Vec<i64>, _> = events.iter().map(|it| signed(it.recorded_at.0)).collect();
    let versions: Result<Vec<i64>, _> = events.iter().map(|it| signed(it.version.0)).collect();
    sqlx::query(include_str!("sql/put_back.sql"))
        .bind(log)
        .bind(signed(first)?)
        .bind(times?)
        .bind(column(events, |event| PgUuid(event.stream.0)))
        .bind(versions?)
        .bind(column(events, |event| i32::from(event.kind)))
        .bind(column(events, |event| i32::from(event.schema)))
        .bind(column(events, |event| event.sealed))
        .bind(column(events, |event| &event.payload[..]))
        .bind(column(events, |event| &event.previous[..]))
        .bind(column(events, |event| event.request_id.map(|id| PgUuid(id.0))))
        .bind(column(events, |event| &*event.actor))
        .bind(column(events, |event| &event.trace[..]))
        .bind(column(events, |event| &event.salt[..]))
        .execute(link)
        .await
        .map(drop)
}

pub(super) async fn read(
    from_where: impl PgExecutor<'_>,
    log: &str,
    from: Position,
    limit: usize,
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/read.sql"))
        .bind(log)
        .bind(clamp(from.0))
        .bind(clamp(limit as u64))
        .bind(clamp(READ_BYTES))
        .fetch_all(from_where)
        .await?;
    rows.iter().map(event).collect()
}

pub(super) async fn read_stream(
    pool: &PgPool,
    log: &str,
    stream: StreamId,
    from: Version,
    limit: usize,
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/read_stream.sql"))
        .bind(log)
        .bind(PgUuid(stream.0))
        .bind(clamp(from.0))
        .bind(clamp(limit as u64))
        .bind(clamp(READ_BYTES))
        .fetch_all(pool)
        .await?;
    rows.iter().map(event).collect()
}

/// Array of one column of a batch.
fn column<'a, T, U>(rows: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(of).collect()
}

/// Converts a bound. A number beyond the largest column value is replaced by that.
fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
