//! The floor: rows of events as PostgreSQL alone inserts them, over one connection, batch after batch.
//! Versions and hashes are made up; the stored values are as long as the log's.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgConnection, PgHasArrayType, PgTypeInfo};
use sqlx::{Connection as _, Encode, Executor as _, Postgres, Type};
use tokio::time::Instant;

use crate::rows::{ACTOR, Row, row};
use crate::{Rate, SPAN};

/// Statement with the arrays in the select list, as in the log.
pub(crate) const IN_SELECT: &str = include_str!("raw.sql");
/// Statement with the arrays in FROM, which is the usual form.
pub(crate) const IN_FROM: &str = include_str!("raw_from.sql");

pub(crate) struct Raw {
    link: PgConnection,
    next: i64,
}

impl Raw {
    pub(crate) async fn connect(url: &str) -> anyhow::Result<Raw> {
        let mut link = PgConnection::connect(url).await?;
        link.execute("CREATE SCHEMA yardstick; SET search_path = yardstick").await?;
        link.execute(include_str!("../event_rows.sql")).await?;
        Ok(Raw { link, next: 0 })
    }

    pub(crate) async fn run(&mut self, sql: &'static str, batch: u64) -> anyhow::Result<Rate> {
        let (mut rate, began) = (Rate::default(), Instant::now());
        while began.elapsed() < SPAN {
            let rows: Vec<Row> = (0..batch.max(1)).map(|_| row()).collect();
            self.insert(sql, &rows).await?;
            rate.events += batch;
            rate.commits += 1;
        }
        rate.seconds = began.elapsed().as_secs_f64();
        Ok(rate)
    }

    async fn insert(&mut self, sql: &'static str, rows: &[Row]) -> anyhow::Result<()> {
        fn column<'a, T>(rows: &'a [Row], of: impl Fn(&'a Row) -> T) -> Vec<T> {
            rows.iter().map(of).collect()
        }
        let positions: Vec<i64> = (self.next..).take(rows.len()).collect();
        let at = system::clock::Clock::now(&system::clock::SystemClock::new()).0;
        let hash = [7_u8; 32];
        sqlx::query(sql)
            .bind(self.next)
            .bind(i64::try_from(at)?)
            .bind(column(rows, |row| Id(row.stream)))
            .bind(&positions)
            .bind(vec![3_i32; rows.len()])
            .bind(vec![1_i32; rows.len()])
            .bind(vec![false; rows.len()])
            .bind(column(rows, |row| &row.payload[..]))
            .bind(vec![&hash[..]; rows.len()])
            .bind(column(rows, |row| Id(row.request)))
            .bind(vec![ACTOR; rows.len()])
            .bind(vec![&hash[..16]; rows.len()])
            .bind(column(rows, |row| &row.digest[..]))
            .bind(column(rows, |row| &row.answer[..]))
            .execute(&mut self.link)
            .await?;
        self.next += i64::try_from(rows.len())?;
        Ok(())
    }
}

/// Id as a `uuid`.
struct Id([u8; 16]);

impl Type<Postgres> for Id {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2950))
    }
}

impl PgHasArrayType for Id {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2951))
    }
}

impl Encode<'_, Postgres> for Id {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
}
