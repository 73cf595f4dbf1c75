//! Tables of the table service beside its log: the hands of each player.
//!
//! They are a projection that a task writes behind the log (`player_hands`), in one transaction with
//! the number of events that they have. Rows follow from the events alone, so two processes that
//! believe they own the log write the same ones, and the second of each piece is refused.
//!
//! Specification: services/table/README.md "A player's hands".

use std::sync::Arc;
use std::time::Duration;

use eventlog::{MigrateError, PgStore, ReadError, Source, with_timeout};
use primitives::TableId;
use sqlx::postgres::PgRow;
use sqlx::{Connection as _, PgPool, Row as _};

use crate::player_hands::rows::{HandRows, SeatRow, SeatRowEnd, TableRow};
use crate::player_hands::{FoundHands, HandKey, HandsQuery, ScannedHands, StoredHand};
use crate::service::LOG;

const MIGRATIONS: &[(i64, &str, &str)] = &[(100, "hands", include_str!("repo/0100_hands.sql"))];
/// Timeout of a statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for the removal of all rows.
const EMPTYING_TIMEOUT: Duration = Duration::from_secs(600);

/// Tables of players' hands, to read and to write.
#[derive(Clone)]
pub(crate) struct Repo {
    pool: PgPool,
}

/// Brings the schema of the service up to date. Safe to repeat.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub(crate) async fn migrate(
    admin_url: &str,
    role_password: Option<&str>,
) -> Result<(), MigrateError> {
    let grants = include_str!("repo/grants.sql");
    eventlog::migrate_with(admin_url, crate::service::SERVICE, role_password, MIGRATIONS, grants)
        .await
}

/// Makes the table service rebuild the tables of hands from the log at its next start. Needs an
/// administrator.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub async fn request_rebuild(admin_url: &str) -> Result<(), sqlx::Error> {
    let mut admin = sqlx::PgConnection::connect(admin_url).await?;
    sqlx::query("DELETE FROM \"table\".followed").execute(&mut admin).await?;
    admin.close().await
}

impl Repo {
    /// Uses the store's connections for readers.
    #[must_use]
    pub(crate) fn new(store: &PgStore) -> Repo {
        Repo { pool: store.readers().clone() }
    }

    /// Uses connections of a test.
    #[cfg(test)]
    pub(crate) const fn of_pool(pool: PgPool) -> Repo {
        Repo { pool }
    }

    /// Number of the log's events that the tables have. Tables without one, or with more than the log
    /// has, are emptied.
    pub(crate) async fn begin(&self, log_size: u64) -> Result<u64, ReadError> {
        match run(STATEMENT_TIMEOUT, self.size()).await? {
            Some(size) if size <= log_size => Ok(size),
            Some(_) | None => run(EMPTYING_TIMEOUT, self.empty(log_size)).await,
        }
    }

    async fn size(&self) -> Result<Option<u64>, sqlx::Error> {
        let size = sqlx::query_scalar("SELECT size FROM followed WHERE log = $1").bind(LOG);
        let size: Option<i64> = size.fetch_optional(&self.pool).await?;
        Ok(size.map(i64::cast_unsigned))
    }

    /// Empties the tables, unless another process has begun them anew meanwhile.
    async fn empty(&self, log_size: u64) -> Result<u64, sqlx::Error> {
        let mut change = self.pool.begin().await?;
        sqlx::query("DELETE FROM followed WHERE log = $1 AND size > $2")
            .bind(LOG)
            .bind(column(log_size))
            .execute(&mut *change)
            .await?;
        let begun =
            sqlx::query("INSERT INTO followed (log, size) VALUES ($1, 0) ON CONFLICT DO NOTHING")
                .bind(LOG)
                .execute(&mut *change)
                .await?;
        if begun.rows_affected() == 0 {
            change.rollback().await?;
            return Ok(self.size().await?.unwrap_or(0));
        }
        for rows in ["DELETE FROM hand_seats", "DELETE FROM hand_tables"] {
            sqlx::query(rows).execute(&mut *change).await?;
        }
        change.commit().await?;
        Ok(0)
    }

    /// Writes the rows of the events from `from` up to `to`. Returns the number of events that the
    /// tables have then: another one where they did not have the first `from`, and nothing is written.
    pub(crate) async fn add(&self, from: u64, to: u64, rows: &HandRows) -> Result<u64, ReadError> {
        run(STATEMENT_TIMEOUT, async {
            let mut change = self.pool.begin().await?;
            let moved = sqlx::query("UPDATE followed SET size = $2 WHERE log = $1 AND size = $3")
                .bind(LOG)
                .bind(to.cast_signed())
                .bind(from.cast_signed())
                .execute(&mut *change)
                .await?;
            if moved.rows_affected() == 0 {
                change.rollback().await?;
                return Ok(self.size().await?.unwrap_or(0));
            }
            write(&mut change, rows).await?;
            change.commit().await?;
            Ok(to)
        })
        .await
    }

    /// Page of a player's hands.
    pub(crate) async fn page(&self, query: &HandsQuery) -> Result<FoundHands, ReadError> {
        run(STATEMENT_TIMEOUT, async {
            let log_size = self.size().await?.unwrap_or(0);
            let HandsQuery { player, table, variant, result, start, end, before, scan, take } =
                query;
            let rows = sqlx::query(include_str!("repo/hands.sql"))
                .bind(player.to_string())
                .bind(column(start.0))
                .bind(column(end.0))
                .bind(before.map_or(i64::MAX, |key| column(key.started_at)))
                .bind(before.map_or(i64::MAX, |key| column(key.position)))
                .bind(column(*scan as u64))
                .bind(table.map(|table| table.to_string()))
                .bind(variant)
                .bind(*result)
                .bind(column(*take as u64))
                .fetch_all(&self.pool)
                .await?;
            let scanned = rows.first().map(scanned_hands).transpose()?;
            let hands = rows.iter().map(stored_hand).collect::<Result<Vec<_>, _>>()?;
            Ok(FoundHands { hands: hands.into_iter().flatten().collect(), scanned, log_size })
        })
        .await
    }
}

async fn write(
    change: &mut sqlx::Transaction<'_, sqlx::Postgres>,
    rows: &HandRows,
) -> Result<(), sqlx::Error> {
    let HandRows { tables, seats, ends, aborts, started } = rows;
    if !tables.is_empty() {
        let of =
            |part: fn(&TableRow) -> String| -> Vec<String> { tables.iter().map(part).collect() };
        sqlx::query(include_str!("repo/add_tables.sql"))
            .bind(of(|row| row.table.to_string()))
            .bind(of(|row| row.name.clone()))
            .bind(of(|row| row.variant.clone()))
            .execute(&mut **change)
            .await?;
    }
    if !seats.is_empty() {
        add_seats(change, seats).await?;
    }
    if !ends.is_empty() {
        end_seats(change, ends).await?;
    }
    if !aborts.is_empty() {
        sqlx::query(include_str!("repo/abort_hands.sql"))
            .bind(aborts.iter().map(|row| row.hand.to_string()).collect::<Vec<_>>())
            .bind(aborts.iter().map(|row| row.outcome).collect::<Vec<i16>>())
            .bind(aborts.iter().map(|row| column(row.ended_at.0)).collect::<Vec<_>>())
            .execute(&mut **change)
            .await?;
    }
    if !started.is_empty() {
        let number = |number: &u64| column(*number);
        sqlx::query(include_str!("repo/miss_hands.sql"))
            .bind(started.keys().map(TableId::to_string).collect::<Vec<_>>())
            .bind(started.values().map(number).collect::<Vec<_>>())
            .execute(&mut **change)
            .await?;
    }
    Ok(())
}

async fn add_seats(
    change: &mut sqlx::Transaction<'_, sqlx::Postgres>,
    rows: &[SeatRow],
) -> Result<(), sqlx::Error> {
    let text = |part: fn(&SeatRow) -> String| rows.iter().map(part).collect::<Vec<_>>();
    let number = |part: fn(&SeatRow) -> u64| -> Vec<i64> {
        rows.iter().map(|row| column(part(row))).collect()
    };
    sqlx::query(include_str!("repo/add_seats.sql"))
        .bind(text(|row| row.player.to_string()))
        .bind(number(|row| row.started_at.0))
        .bind(number(|row| row.position.0))
        .bind(text(|row| row.table.to_string()))
        .bind(number(|row| row.hand_no))
        .bind(text(|row| row.hand.to_string()))
        .bind(rows.iter().map(|row| row.seat.cast_signed()).collect::<Vec<_>>())
        .bind(number(|row| row.stack))
        .execute(&mut **change)
        .await?;
    Ok(())
}

async fn end_seats(
    change: &mut sqlx::Transaction<'_, sqlx::Postgres>,
    rows: &[SeatRowEnd],
) -> Result<(), sqlx::Error> {
    sqlx::query(include_str!("repo/end_seats.sql"))
        .bind(rows.iter().map(|row| row.hand.to_string()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.seat.cast_signed()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| column(row.stack)).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| column(row.ended_at.0)).collect::<Vec<_>>())
        .execute(&mut **change)
        .await?;
    Ok(())
}

fn scanned_hands(row: &PgRow) -> Result<ScannedHands, sqlx::Error> {
    let last = HandKey {
        started_at: unsigned(row, "last_started_at")?,
        position: unsigned(row, "last_position")?,
    };
    let count = usize::try_from(unsigned(row, "scanned")?).unwrap_or(usize::MAX);
    Ok(ScannedHands { last, count })
}

/// Hand of a row; `None` of one that has only the last hand that was looked at.
fn stored_hand(row: &PgRow) -> Result<Option<StoredHand>, sqlx::Error> {
    let Some(hand) = row.try_get::<Option<&str>, _>("hand_id")? else { return Ok(None) };
    let ended_at: Option<i64> = row.try_get("ended_at")?;
    let decode = |error| sqlx::Error::Decode(Box::new(error));
    let seat: i32 = row.try_get("seat")?;
    Ok(Some(StoredHand {
        key: HandKey {
            started_at: unsigned(row, "started_at")?,
            position: unsigned(row, "position")?,
        },
        table: row.try_get::<&str, _>("table_id")?.parse().map_err(decode)?,
        table_name: row.try_get("name")?,
        variant: row.try_get("variant")?,
        hand_no: unsigned(row, "hand_no")?,
        hand: hand.parse().map_err(decode)?,
        seat: seat.cast_unsigned(),
        net: row.try_get("net")?,
        outcome: row.try_get("outcome")?,
        ended_at: ended_at.map(|at| primitives::UnixMicros(at.cast_unsigned())),
    }))
}

fn unsigned(row: &PgRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(i64::cast_unsigned)
}

/// Column value of a number; the greatest one where it does not fit.
fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

async fn run<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, ReadError> {
    with_timeout(limit, work).await.map_err(|error| {
        let source: Source = Arc::new(error);
        ReadError::Unavailable { source: Some(source) }
    })
}
