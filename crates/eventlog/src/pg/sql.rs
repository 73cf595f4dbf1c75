//! Every statement of the log, one function each.

use std::sync::Arc;
use std::time::Duration;

use primitives::{RequestId, StreamId};
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::{Arguments as _, AssertSqlSafe, Encode, PgPool, Postgres, Row, Type};

use super::rows::{Id, event, fence as fence_row, signed, stored};
use crate::event::{Event, Position, Stored, Version};
use crate::store::{Batch, Claim, Fence, Renewal};

/// Whether the schema has its tables.
pub(super) async fn migrated(link: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT to_regclass('owners') IS NOT NULL").fetch_one(link).await
}

/// The claimed fence; nothing where another owner's lease runs.
pub(super) async fn claim(
    link: &mut PgConnection,
    claim: &Claim,
) -> Result<Option<Fence>, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/claim.sql"))
        .bind(&*claim.log)
        .bind(&*claim.owner)
        .bind(&*claim.address)
        .bind(micros(claim.lease))
        .bind(claim.take_over)
        .fetch_optional(link)
        .await?;
    row.as_ref().map(fence_row).transpose()
}

/// The fence and what remains of its lease.
pub(super) async fn fence(
    link: &mut PgConnection,
    log: &str,
) -> Result<Option<(Fence, Duration)>, sqlx::Error> {
    let row = sqlx::query(include_str!("sql/fence.sql")).bind(log).fetch_optional(link).await?;
    let Some(row) = row else { return Ok(None) };
    let remaining = u64::try_from(row.try_get::<i64, _>("remaining")?).unwrap_or_default();
    Ok(Some((fence_row(&row)?, Duration::from_micros(remaining))))
}

/// Whether the epoch is still the owner's.
pub(super) async fn renew(link: &mut PgConnection, renewal: &Renewal) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(include_str!("sql/renew.sql"))
        .bind(&*renewal.log)
        .bind(signed(renewal.epoch)?)
        .bind(micros(renewal.lease))
        .bind(renewal.alive_at.map(|at| signed(at.0)).transpose()?)
        .execute(link)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// The values of a batch, in the statement's order.
pub(super) fn append_arguments(batch: &Batch) -> Result<PgArguments, sqlx::Error> {
    let (events, requests) = (&batch.events[..], &batch.requests[..]);
    let versions: Result<Vec<i64>, _> = events.iter().map(|it| signed(it.version.0)).collect();
    let firsts: Result<Vec<i64>, _> = requests.iter().map(|it| signed(it.first.0)).collect();
    let mut to = PgArguments::default();
    add(&mut to, &*batch.log)?;
    add(&mut to, signed(batch.epoch)?)?;
    add(&mut to, signed(batch.first)?)?;
    add(&mut to, micros(batch.lease))?;
    add(&mut to, signed(batch.alive_at.0)?)?;
    add(&mut to, batch.tree.concat())?;
    add(&mut to, signed(batch.recorded_at().0)?)?;
    add(&mut to, column(events, |event| Id(event.stream.0)))?;
    add(&mut to, versions?)?;
    add(&mut to, column(events, |event| i32::from(event.kind)))?;
    add(&mut to, column(events, |event| i32::from(event.schema)))?;
    add(&mut to, column(events, |event| event.sealed))?;
    add(&mut to, column(events, |event| &event.payload[..]))?;
    add(&mut to, column(events, |event| &event.previous[..]))?;
    add(&mut to, column(events, |event| event.request_id.map(|id| Id(id.0))))?;
    add(&mut to, column(events, |event| &*event.actor))?;
    add(&mut to, column(events, |event| &event.trace[..]))?;
    add(&mut to, column(requests, |stored| Id(stored.id.0)))?;
    add(&mut to, column(requests, |stored| &stored.digest[..]))?;
    add(&mut to, firsts?)?;
    add(&mut to, column(requests, |stored| &stored.answer[..]))?;
    Ok(to)
}

fn add<'a, T>(arguments: &mut PgArguments, value: T) -> Result<(), sqlx::Error>
where
    T: Encode<'a, Postgres> + Type<Postgres>,
{
    arguments.add(value).map_err(sqlx::Error::Encode)
}

/// Whether the fence let the batch in.
pub(super) async fn append(
    link: &mut PgConnection,
    sql: &Arc<str>,
    arguments: PgArguments,
) -> Result<bool, sqlx::Error> {
    // The text is put together from static parts.
    let sql = AssertSqlSafe(sql.clone());
    let fenced: i64 = sqlx::query_scalar_with(sql, arguments).fetch_one(link).await?;
    Ok(fenced == 1)
}

/// The last event of each stream that has one.
pub(super) async fn last_events(
    link: &mut PgConnection,
    log: &str,
    of: &[StreamId],
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/last_events.sql"))
        .bind(log)
        .bind(column(of, |stream| Id(stream.0)))
        .fetch_all(link)
        .await?;
    rows.iter().map(event).collect()
}

pub(super) async fn requests(
    pool: &PgPool,
    log: &str,
    of: &[RequestId],
) -> Result<Vec<Stored>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/requests.sql"))
        .bind(log)
        .bind(column(of, |id| Id(id.0)))
        .fetch_all(pool)
        .await?;
    rows.iter().map(stored).collect()
}

pub(super) async fn latest_requests(
    pool: &PgPool,
    log: &str,
    below: Option<RequestId>,
    limit: usize,
) -> Result<Vec<Stored>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/latest_requests.sql"))
        .bind(log)
        .bind(below.map(|id| Id(id.0)))
        .bind(bound(limit as u64))
        .fetch_all(pool)
        .await?;
    rows.iter().map(stored).collect()
}

pub(super) async fn read(
    pool: &PgPool,
    log: &str,
    from: Position,
    limit: usize,
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/read.sql"))
        .bind(log)
        .bind(bound(from.0))
        .bind(bound(limit as u64))
        .fetch_all(pool)
        .await?;
    rows.iter().map(event).collect()
}

pub(super) async fn read_stream(
    pool: &PgPool,
    log: &str,
    (stream, from): (StreamId, Version),
    limit: usize,
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query(include_str!("sql/read_stream.sql"))
        .bind(log)
        .bind(Id(stream.0))
        .bind(bound(from.0))
        .bind(bound(limit as u64))
        .fetch_all(pool)
        .await?;
    rows.iter().map(event).collect()
}

/// One array of a batch.
fn column<'a, T, U>(rows: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(of).collect()
}

/// Bounds beyond the largest column value are as good as that.
fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
