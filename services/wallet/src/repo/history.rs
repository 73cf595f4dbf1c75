//! Reads of the entries and accounts of a range of the log. Rows of transfers and accounts never
//! change, so they can be compared piece by piece while the wallet serves.

use std::collections::BTreeMap;

use eventlog::{Position, ReadError};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::Repo;
use super::read::{amount, decode, unsigned};
use crate::rows::{AccountRow, EntryRow};

impl Repo {
    /// Entries at the positions and accounts of the expected ones, ordered by position and account;
    /// without those that are missing.
    pub(crate) async fn entries_at(
        &self,
        expected: &[EntryRow],
    ) -> Result<Vec<EntryRow>, ReadError> {
        let accounts: Vec<i32> = expected.iter().map(|row| row.account.cast_signed()).collect();
        let positions: Vec<i64> = expected.iter().map(|row| row.position.0.cast_signed()).collect();
        self.with_retry(|| async {
            let rows = sqlx::query(include_str!("sql/entries_at.sql"))
                .bind(&accounts)
                .bind(&positions)
                .fetch_all(&self.pool)
                .await?;
            rows.iter()
                .map(|row| {
                    let number = |column| -> Result<u32, sqlx::Error> {
                        u32::try_from(row.try_get::<i32, _>(column)?).map_err(decode)
                    };
                    let other: Option<i32> = row.try_get("other")?;
                    Ok(EntryRow {
                        position: Position(unsigned(row, "position")?),
                        amount: amount(row.try_get("amount")?)?,
                        balance: amount(row.try_get("balance")?)?,
                        account: number("account")?,
                        other: other.map(u32::try_from).transpose().map_err(decode)?,
                        kind: row.try_get("kind")?,
                        reason: row.try_get::<Option<String>, _>("reason")?.map(Into::into),
                    })
                })
                .collect()
        })
        .await
    }

    /// Positions at which the expected accounts were opened, by number; without those that are
    /// missing.
    pub(crate) async fn opened_positions(
        &self,
        expected: &[AccountRow],
    ) -> Result<BTreeMap<u32, Position>, ReadError> {
        let numbers: Vec<i32> = expected.iter().map(|row| row.number.cast_signed()).collect();
        self.with_retry(|| async {
            let opened = "SELECT number, opened FROM accounts WHERE number = ANY ($1)";
            let rows = sqlx::query(opened).bind(&numbers).fetch_all(&self.pool).await?;
            let row = |row: &PgRow| {
                let number = u32::try_from(row.try_get::<i32, _>("number")?).map_err(decode)?;
                Ok((number, Position(unsigned(row, "opened")?)))
            };
            rows.iter().map(row).collect()
        })
        .await
    }

    /// Number of entries of each account within these positions.
    pub(crate) async fn entry_counts(
        &self,
        positions: std::ops::Range<u64>,
    ) -> Result<Vec<(u32, u64)>, ReadError> {
        self.with_retry(|| async {
            let rows: Vec<(i32, i64)> = sqlx::query_as(
                "SELECT account, count(*) FROM entries WHERE position >= $1 AND position < $2 \
                 GROUP BY account ORDER BY account",
            )
            .bind(positions.start.cast_signed())
            .bind(positions.end.cast_signed())
            .fetch_all(&self.pool)
            .await?;
            rows.into_iter()
                .map(|(account, count)| {
                    let account = u32::try_from(account).map_err(decode)?;
                    Ok((account, u64::try_from(count).map_err(decode)?))
                })
                .collect()
        })
        .await
    }
}
