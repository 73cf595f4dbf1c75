//! Making the tables anew, and reading back what a wallet starts from.

use eventlog::{Position, ReadError};
use futures_util::TryStreamExt as _;
use ledger::{Adjustment, Amount, Proposed, State};
use primitives::UnixMicros;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row};

use super::read::{amount, decode, hold_of, state_of, unsigned};
use super::rows::account;
use super::{LOG, Loaded, Repo, Written, trouble};
use crate::rows::{HoldState, extra_of};

/// The statement that appends numbers its parameters from here …
const FIRST: u32 = 24;
/// … to here; in a rebuild they follow the log, the new size and the old one.
const LAST: u32 = 57;
const SHIFT: u32 = 20;

/// The log changed its owner while its tables were built.
#[derive(Debug, thiserror::Error)]
#[error("the log was taken by another owner while its tables were made anew")]
struct Displaced;

fn displaced() -> ReadError {
    ReadError::Unavailable { source: Some(std::sync::Arc::new(Displaced)) }
}

impl Repo {
    /// How many of the log's events are in the tables; nothing where they say nothing.
    pub(crate) async fn projected(&self) -> Result<Option<u64>, ReadError> {
        let size: Option<i64> = super::retried(|| {
            sqlx::query_scalar("SELECT size FROM projected WHERE log = $1")
                .bind(LOG)
                .fetch_optional(&self.pool)
        })
        .await?;
        size.map(|size| u64::try_from(size).map_err(|error| trouble(decode(error)))).transpose()
    }

    /// Empties the tables, for the log's owner of this epoch.
    pub(crate) async fn empty(&self, epoch: u64) -> Result<(), ReadError> {
        let empty = async {
            let mut transaction = self.pool.begin().await?;
            let ours: Option<i32> =
                sqlx::query_scalar("SELECT 1 FROM owners WHERE log = $1 AND epoch = $2 FOR UPDATE")
                    .bind(LOG)
                    .bind(epoch.cast_signed())
                    .fetch_optional(&mut *transaction)
                    .await?;
            if ours.is_none() {
                return Ok(false);
            }
            sqlx::raw_sql("TRUNCATE projected, accounts, entries, states, holds, adjustments")
                .execute(&mut *transaction)
                .await?;
            sqlx::query("INSERT INTO projected (log, size) VALUES ($1, 0)")
                .bind(LOG)
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(true)
        };
        if empty.await.map_err(trouble)? { Ok(()) } else { Err(displaced()) }
    }

    /// Adds the rows of the events from `from` up to `to`. Two who build at the same time build the
    /// same; the second of each piece is refused.
    pub(crate) async fn add(&self, from: u64, to: u64, rows: &Written) -> Result<(), ReadError> {
        let add = async {
            let mut arguments = PgArguments::default();
            arguments.add(LOG).map_err(sqlx::Error::Encode)?;
            arguments.add(to.cast_signed()).map_err(sqlx::Error::Encode)?;
            arguments.add(from.cast_signed()).map_err(sqlx::Error::Encode)?;
            rows.bind_all(&mut arguments).map_err(sqlx::Error::Encode)?;
            // Put together from static parts.
            let added: i64 = sqlx::query_scalar_with(AssertSqlSafe(statement()), arguments)
                .fetch_one(&self.pool)
                .await?;
            Ok(added == 1)
        };
        if add.await.map_err(trouble)? { Ok(()) } else { Err(displaced()) }
    }

    /// All accounts, pending holds and waiting adjustments.
    pub(crate) async fn load(&self) -> Result<Loaded, ReadError> {
        let load = async {
            let mut accounts = Vec::new();
            let mut rows = sqlx::query(include_str!("sql/load_accounts.sql")).fetch(&self.pool);
            while let Some(row) = rows.try_next().await? {
                accounts.push((account(row.try_get("name")?)?, state(&row)?));
            }
            drop(rows);
            let mut holds = Vec::new();
            let pending = sqlx::query(include_str!("sql/holds.sql")).bind(None::<String>);
            for row in pending.fetch_all(&self.pool).await? {
                let hold = hold_of(&row)?;
                if hold.state == HoldState::Pending {
                    holds.push(ledger::Pending { hold: hold.hold, left: hold.left });
                }
            }
            let adjustments = self.waiting(0, i64::MAX).await?;
            let adjustments = adjustments.into_iter().map(|(proposed, _)| proposed).collect();
            Ok((accounts, holds, adjustments))
        };
        load.await.map_err(trouble)
    }

    /// Adjustments that wait, those proposed at a position from `from` on, with their positions.
    pub(super) async fn waiting(
        &self,
        from: u64,
        limit: i64,
    ) -> Result<Vec<(Proposed, Position)>, sqlx::Error> {
        let rows = sqlx::query(include_str!("sql/adjustments.sql"))
            .bind(LOG)
            .bind(from.cast_signed().saturating_sub(1))
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(proposed).collect()
    }
}

/// The statement that appends, without the log: what it writes beside it, where `projected` moves.
fn statement() -> String {
    let mut tables = super::REBUILT.to_owned();
    for number in FIRST..=LAST {
        tables = tables.replace(&format!("${number}::"), &format!("${}::", number - SHIFT));
    }
    format!(
        "WITH fence AS (UPDATE projected SET size = $2 WHERE log = $1 AND size = $3 \
         RETURNING log, size) {tables} SELECT count(*) FROM fence"
    )
}

fn state(row: &PgRow) -> Result<State, sqlx::Error> {
    let number = u32::try_from(row.try_get::<i32, _>("number")?).map_err(decode)?;
    let balance = match row.try_get::<Option<i64>, _>("balance")? {
        Some(balance) => amount(balance)?,
        None => Amount::ZERO,
    };
    let extra = match state_of(row, number)? {
        Some(row) => Some(extra_of(&row).ok_or_else(|| decode(Unread { account: number }))?),
        None => None,
    };
    Ok(State { number, balance, extra: extra.map(Box::new) })
}

#[derive(Debug, thiserror::Error)]
#[error("what the row of account {account} says in `extra` is not as a wallet writes it")]
struct Unread {
    account: u32,
}

fn proposed(row: &PgRow) -> Result<(Proposed, Position), sqlx::Error> {
    let adjustment = Adjustment {
        id: row.try_get::<&str, _>("id")?.parse().map_err(decode)?,
        account: account(row.try_get("account")?)?,
        amount: amount(row.try_get("amount")?)?,
        reason: row.try_get("reason")?,
        proposed_by: row.try_get("proposed_by")?,
    };
    let at = UnixMicros(unsigned(row, "recorded_at")?);
    Ok((Proposed { adjustment, at }, Position(unsigned(row, "proposed")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_rebuild_follow_each_other() {
        let statement = statement();
        for number in 1..=(LAST - SHIFT) {
            assert!(statement.contains(&format!("${number}")), "{number}");
        }
        assert!(!statement.contains(&format!("${}", LAST - SHIFT + 1)), "{statement}");
    }
}
