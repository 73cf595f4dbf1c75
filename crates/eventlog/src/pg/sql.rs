//! SQL statements of the log, one function each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::slice;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use eventlog_core::record::LeafRecord;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgArguments, PgConnection, PgExecutor, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, Encode, PgPool, Postgres, Row, Type};

use super::authors::AuthorNumbers;
use super::groups::{EventGroup, group};
use super::rows::{
    PgUuid, archived_end, events as event_rows, fence as fence_row, signed, store_time, stored,
    tree as tree_row,
};
use crate::archive::{Retained, RetainedRequests};
use crate::event::{AnsweredRequest, StreamEnd};
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

/// Whether the schema has its tables, including the newest of this build and the last to be made.
pub(super) async fn is_migrated(link: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let tables =
        "SELECT to_regclass('leases') IS NOT NULL AND to_regclass('snapshots') IS NOT NULL";
    sqlx::query_scalar(tables).fetch_one(link).await
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
        .bind(renewal.tree.as_ref().map(|tree| tree.concat()))
        .fetch_one(link)
        .await?;
    is_one_row_written(&row)
}

/// Values of a batch, in the statement's order.
pub(super) fn append_arguments(
    batch: &Batch,
    authors: &AuthorNumbers,
) -> Result<PgArguments, sqlx::Error> {
    let groups = group(&batch.events, &batch.requests);
    let mut to = PgArguments::default();
    add(&mut to, &*batch.log)?;
    add(&mut to, signed(batch.epoch)?)?;
    add(&mut to, signed(batch.first)?)?;
    add(&mut to, reading(batch.clock)?)?;
    add(&mut to, signed(batch.recorded_at().0)?)?;
    add(&mut to, signed(batch.events.len() as u64)?)?;
    add_groups(&mut to, &groups, authors)?;
    add(&mut to, column(&groups, |group| group.answered.map(|it| PgUuid(it.key.0))))?;
    add(&mut to, column(&groups, |group| group.answered.and_then(|it| it.tag).map(PgUuid)))?;
    add(&mut to, column(&groups, |group| group.answered.map(|it| &it.answer[..])))?;
    add(&mut to, advisory_lock_number(batch, batch.first))?;
    add(&mut to, batch.pipelined_after.map(|before| advisory_lock_number(batch, before)))?;
    Ok(to)
}

/// Columns of rows of events, but for log, time of recording and answer.
fn add_groups(
    to: &mut PgArguments,
    groups: &[EventGroup<'_>],
    authors: &AuthorNumbers,
) -> Result<(), sqlx::Error> {
    let positions: Result<Vec<i64>, _> =
        groups.iter().map(|group| signed(group.first.position.0)).collect();
    let versions: Result<Vec<i64>, _> =
        groups.iter().map(|group| signed(group.first.version.0)).collect();
    let counts = |group: &EventGroup<'_>| i16::try_from(group.count).unwrap_or(i16::MAX);
    let numbers: Result<Vec<i32>, _> =
        groups.iter().map(|group| authors.of(&group.first.actor)).collect();
    add(to, positions?)?;
    add(to, column(groups, counts))?;
    add(to, column(groups, |group| PgUuid(group.first.stream.0)))?;
    add(to, versions?)?;
    add(to, numbers?)?;
    add(to, column(groups, |group| group.first.request_id.map(|id| PgUuid(id.0))))?;
    let trace = |group: &EventGroup<'_>| Some(group.first.trace).filter(|trace| *trace != [0; 16]);
    add(to, column(groups, |group| trace(group).map(PgUuid)))?;
    add(to, column(groups, |group| &group.first.previous[..]))?;
    add(to, column(groups, |group| &group.content[..]))
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

/// Appends a batch. `false` if the epoch is another's, the log does not end where the batch begins,
/// or a clock is off.
pub(super) async fn append(
    link: &mut PgConnection,
    sql: &Arc<str>,
    arguments: PgArguments,
) -> Result<TimedOutcome<bool>, sqlx::Error> {
    // The text is assembled from static parts.
    let sql = AssertSqlSafe(sql.clone());
    is_one_row_written(&sqlx::query_with(sql, arguments).fetch_one(link).await?)
}

/// Ends of the streams that have events. Where some of an archive are restored, the archived end of a
/// stream may stand behind its last event.
pub(super) async fn stream_ends(
    link: &mut PgConnection,
    log: &str,
    of: &[StreamId],
) -> Result<Vec<StreamEnd>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/stream_ends.sql"))
        .bind(log)
        .bind(column(of, |stream| PgUuid(stream.0)))
        .fetch_all(link)
        .await?;
    let mut ends = BTreeMap::new();
    for row in &rows {
        let stored = match row.try_get::<Option<i64>, _>("position")? {
            Some(_) => event_rows(slice::from_ref(row))?.pop(),
            None => None,
        };
        let archived = archived_end(row, stored.as_ref().map(|event| event.version))?;
        let end = archived.map(StreamEnd::Archived).or(stored.map(StreamEnd::Stored));
        ends.extend(end.map(|end| (end.stream(), end)));
    }
    Ok(ends.into_values().collect())
}

/// Stores the leaf records of the last events of streams, except where a later one is stored. At
/// most one of each stream.
pub(super) async fn put_stream_ends(
    link: &mut PgConnection,
    log: &str,
    ends: &[LeafRecord],
) -> Result<(), sqlx::Error> {
    sqlx::query(include_str!("sql/put_stream_ends.sql"))
        .bind(log)
        .bind(column(ends, |record| PgUuid(record.stream)))
        .bind(column(ends, |record| record.to_bytes().to_vec()))
        .execute(link)
        .await
        .map(drop)
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

pub(super) async fn latest_keys(
    pool: &PgPool,
    log: &str,
    below: Option<RequestKey>,
    limit: usize,
) -> Result<Vec<RequestKey>, sqlx::Error> {
    let keys: Vec<PgUuid> = sqlx::query_scalar(include_str!("sql/latest_keys.sql"))
        .bind(log)
        .bind(below.map(|key| PgUuid(key.0)))
        .bind(clamp(limit as u64))
        .fetch_all(pool)
        .await?;
    Ok(keys.into_iter().map(|PgUuid(key)| RequestKey(key)).collect())
}

/// Tree at the log's cut.
pub(super) async fn cut(link: &mut PgConnection, log: &str) -> Result<Option<Tree>, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/cut.sql")).bind(log).fetch_optional(link).await?;
    row.as_ref().map(tree_row).transpose()
}

/// Moves the cut. The events from `removed_from` to it, if any, will be removed, and the answers to
/// people's requests with them.
pub(super) async fn move_cut(
    link: &mut PgConnection,
    log: &str,
    to: &Tree,
    removed_from: u64,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(include_str!("sql/move_cut.sql"));
    let query = query.bind(log).bind(signed(to.size())?).bind(to.peaks().concat());
    query.bind(signed(removed_from)?).execute(link).await.map(drop)
}

/// Greatest key whose answer was removed.
pub(super) async fn forgotten(
    pool: impl PgExecutor<'_>,
    log: &str,
) -> Result<Option<RequestKey>, sqlx::Error> {
    let key: Option<PgUuid> = sqlx::query_scalar(include_str!("sql/forgotten.sql"))
        .bind(log)
        .fetch_optional(pool)
        .await?;
    Ok(key.map(|PgUuid(key)| RequestKey(key)))
}

/// Step of the removal of archived events.
pub(super) struct Removal<'a> {
    pub(super) log: &'a str,
    pub(super) schema: &'a str,
    /// Positions at which the rows begin.
    pub(super) range: Range<u64>,
    /// End of the archive: a row that ends behind it stays.
    pub(super) archived: u64,
}

/// Removes archived events, but for what is retained. Returns their number.
pub(super) async fn remove(
    link: &mut PgConnection,
    removal: Removal<'_>,
    retained: &Retained<'_>,
) -> Result<u64, sqlx::Error> {
    let Removal { log, schema, range, archived } = removal;
    let mut transaction = link.begin().await?;
    let allow = sqlx::query("SELECT set_config('sabacc.removes_from', $1, true)").bind(schema);
    allow.execute(&mut *transaction).await?;
    let gone: i64 = sqlx::query_scalar(include_str!("sql/remove.sql"))
        .bind(log)
        .bind(signed(range.start)?)
        .bind(signed(range.end)?)
        .bind(signed(archived)?)
        .bind(column(retained.streams, |stream| PgUuid(stream.0)))
        .bind(retained.requests == RetainedRequests::CallersAndAnswers)
        .bind(retained.requests != RetainedRequests::Nothing)
        .bind(column(retained.tails, |(stream, _)| PgUuid(stream.0)))
        .bind(retained.tails.iter().map(|(_, from)| signed(from.0)).collect::<Result<Vec<_>, _>>()?)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(u64::try_from(gone).unwrap_or_default())
}

/// Inserts removed events again, in order of position.
pub(super) async fn put_back(
    link: &mut PgConnection,
    log: &str,
    events: &[Event],
    authors: &AuthorNumbers,
) -> Result<(), sqlx::Error> {
    let groups = group(events, &[]);
    let times: Result<Vec<i64>, _> =
        groups.iter().map(|group| signed(group.first.recorded_at.0)).collect();
    let mut arguments = PgArguments::default();
    add(&mut arguments, log)?;
    add(&mut arguments, times?)?;
    add_groups(&mut arguments, &groups, authors)?;
    sqlx::query_with(include_str!("sql/put_back.sql"), arguments).execute(link).await.map(drop)
}

/// Numbers of those of these authors that have one or get one now.
pub(super) async fn author_numbers(
    link: &mut PgConnection,
    actors: &[&str],
) -> Result<Vec<(String, i32)>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/authors.sql")).bind(actors).fetch_all(link).await?;
    rows.iter().map(|row| Ok((row.try_get("actor")?, row.try_get("number")?))).collect()
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
        .bind(clamp(limit as u64).saturating_add(1))
        .bind(clamp(READ_BYTES))
        .fetch_all(from_where)
        .await?;
    let events = event_rows(&rows)?.into_iter();
    Ok(page(events.filter(|event| event.position >= from), limit))
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
        .bind(clamp(limit as u64).saturating_add(1))
        .bind(clamp(READ_BYTES))
        .fetch_all(pool)
        .await?;
    let events = event_rows(&rows)?.into_iter();
    Ok(page(events.filter(|event| event.version >= from), limit))
}

/// First events that belong to a read of at most `limit`: those before the last have fewer bytes
/// than a read.
fn page(events: impl Iterator<Item = Event>, limit: usize) -> Vec<Event> {
    let mut bytes = 0;
    events
        .take(limit)
        .take_while(|event| {
            let fits = bytes < READ_BYTES;
            bytes += event.payload.len() as u64;
            fits
        })
        .collect()
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
