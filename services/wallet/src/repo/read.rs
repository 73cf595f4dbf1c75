//! Reads from the tables. All results are of durable events.

use eventlog::{Position, ReadError};
use ledger::{Account, Amount, Exclusion, Hold};
use primitives::{Credits, HoldId, PlayerId, TableId, UnixMicros};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::rows::{FOR_GOOD, parse_account_name};
use super::{LOG, Repo};
use crate::rows::{HoldState, StateRow};

/// An account with its balance and state.
#[derive(Clone, Debug)]
pub struct StoredAccount {
    pub account: Account,
    /// Index in the order in which accounts were opened.
    pub number: u32,
    pub balance: Amount,
    /// State beside the balance, if the account ever had any.
    pub state: Option<StateRow>,
    /// Position of the event that opened it.
    pub opened: Position,
    /// Number of events that this reflects.
    pub size: u64,
}

/// A hold, pending or ended.
#[derive(Clone, Copy, Debug)]
pub struct StoredHold {
    pub hold: Hold,
    pub left: Credits,
    pub state: HoldState,
    /// Position of the last event about it.
    pub changed: Position,
}

impl Repo {
    /// Reads an account; `None` if it was never opened.
    ///
    /// # Errors
    /// [`ReadError`], as all reads, if the database is out of reach or the tables are not as a
    /// wallet writes them.
    pub async fn account(&self, of: Account) -> Result<Option<StoredAccount>, ReadError> {
        let name = of.to_string();
        self.with_retry(|| async {
            let row = sqlx::query(include_str!("sql/account.sql"))
                .bind(&name)
                .fetch_optional(&self.pool)
                .await?;
            row.as_ref().map(parse_account).transpose()
        })
        .await
    }

    /// Tables where a player has credits, in their order, with the balances of the seats.
    pub async fn seats(&self, player: PlayerId) -> Result<Vec<(TableId, Amount)>, ReadError> {
        let player = player.to_string();
        self.with_retry(|| async {
            let rows = sqlx::query(include_str!("sql/seats.sql"))
                .bind(&player)
                .fetch_all(&self.pool)
                .await?;
            let seat = |row: &PgRow| {
                let table = parse_account_name(row.try_get("name")?)?.table();
                Ok(table.map(|table| Ok((table, amount(row.try_get("balance")?)?))))
            };
            let seats: Result<Vec<_>, sqlx::Error> = rows.iter().map(seat).collect();
            seats?.into_iter().flatten().collect()
        })
        .await
    }

    /// Balance of an account after the events before `position`.
    pub async fn balance_before(
        &self,
        account: u32,
        position: Position,
    ) -> Result<Amount, ReadError> {
        self.with_retry(|| async {
            let balance: Option<i64> = sqlx::query_scalar(include_str!("sql/balance_before.sql"))
                .bind(account.cast_signed())
                .bind(to_column(position.0))
                .fetch_optional(&self.pool)
                .await?;
            balance.map_or(Ok(Amount::ZERO), amount)
        })
        .await
    }

    /// Number of events recorded before `time`.
    pub async fn events_before(&self, time: UnixMicros) -> Result<u64, ReadError> {
        self.with_retry(|| async {
            let size: Option<i64> = sqlx::query_scalar(include_str!("sql/position_of.sql"))
                .bind(LOG)
                .bind(to_column(time.0))
                .fetch_optional(&self.pool)
                .await?;
            u64::try_from(size.unwrap_or_default()).map_err(decode)
        })
        .await
    }

    /// Reads a hold; `None` if there never was one with this id.
    pub async fn hold(&self, hold: HoldId) -> Result<Option<StoredHold>, ReadError> {
        let id = hold.to_string();
        self.with_retry(|| async {
            let row = sqlx::query(include_str!("sql/holds.sql"))
                .bind(Some(&id))
                .fetch_optional(&self.pool)
                .await?;
            row.as_ref().map(parse_hold).transpose()
        })
        .await
    }
}

fn parse_account(row: &PgRow) -> Result<StoredAccount, sqlx::Error> {
    let number = u32::try_from(row.try_get::<i32, _>("number")?).map_err(decode)?;
    let balance = match row.try_get::<Option<i64>, _>("balance")? {
        Some(balance) => amount(balance)?,
        None => Amount::ZERO,
    };
    let state = parse_state(row, number)?;
    Ok(StoredAccount {
        account: parse_account_name(row.try_get("name")?)?,
        number,
        balance,
        state,
        opened: Position(unsigned(row, "opened")?),
        size: unsigned(row, "size")?,
    })
}

/// State of an account beside its balance, if it has a row.
pub(super) fn parse_state(row: &PgRow, account: u32) -> Result<Option<StateRow>, sqlx::Error> {
    let Some(held) = row.try_get::<Option<i64>, _>("held")? else { return Ok(None) };
    let excluded: Option<i64> = row.try_get("excluded_until")?;
    let excluded = excluded.map(|until| match until {
        FOR_GOOD => Exclusion::ForGood,
        until => Exclusion::Until(UnixMicros(until.unsigned_abs())),
    });
    Ok(Some(StateRow {
        account,
        held: credits(held)?,
        frozen: row.try_get("frozen")?,
        closed: row.try_get("closed")?,
        exclusion: excluded,
    }))
}

pub(super) fn parse_hold(row: &PgRow) -> Result<StoredHold, sqlx::Error> {
    let state = match row.try_get::<i16, _>("state")? {
        1 => HoldState::Pending,
        2 => HoldState::Captured,
        3 => HoldState::Released,
        4 => HoldState::Expired,
        other => return Err(sqlx::Error::Decode(format!("no hold has state {other}").into())),
    };
    let hold = Hold {
        id: row.try_get::<&str, _>("id")?.parse().map_err(decode)?,
        from: parse_account_name(row.try_get("source")?)?,
        to: parse_account_name(row.try_get("destination")?)?,
        amount: credits(row.try_get("amount")?)?,
        expires_at: UnixMicros(unsigned(row, "expires_at")?),
    };
    let changed = Position(unsigned(row, "changed")?);
    Ok(StoredHold { hold, left: credits(row.try_get("remaining")?)?, state, changed })
}

pub(super) fn unsigned(row: &PgRow, column: &'static str) -> Result<u64, sqlx::Error> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(decode)
}

/// Time at which an event was recorded; `None` if the event was archived.
pub(super) fn recorded_at(row: &PgRow) -> Result<Option<UnixMicros>, sqlx::Error> {
    let micros: Option<i64> = row.try_get("recorded_at")?;
    micros.map(|micros| u64::try_from(micros).map(UnixMicros).map_err(decode)).transpose()
}

pub(super) fn amount(amount: i64) -> Result<Amount, sqlx::Error> {
    Amount::try_new(amount).map_err(decode)
}

pub(super) fn credits(amount: i64) -> Result<Credits, sqlx::Error> {
    u64::try_from(amount).map_err(decode).and_then(|it| Credits::try_new(it).map_err(decode))
}

pub(super) fn decode(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// Column value of a bound; clamped to the largest.
pub(super) fn to_column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
