//! Statements: all movements of a player's credits, on the account and at tables.

use std::ops::Range;

use eventlog::{Position, ReadError};
use ledger::{Account, Amount};
use primitives::{PlayerId, RequestId, TableId, UnixMicros};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::read::{amount, decode, recorded_at, to_column, unsigned};
use super::{LOG, Repo};

/// Movement of one player's credits by one transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatementLine {
    pub position: Position,
    /// Amount moved on the account.
    pub amount: Amount,
    /// Amount moved at the table.
    pub at_table: Amount,
    /// See [`crate::rows::kind_number`].
    pub kind: i16,
    pub reason: Option<String>,
    pub table: Option<TableId>,
    /// `None` if the log has no such event; then `transfer` is `None` too.
    pub recorded_at: Option<UnixMicros>,
    pub transfer: Option<RequestId>,
}

/// Credits of a player at one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holdings {
    /// Credits on the account.
    pub balance: i64,
    /// Credits on the account and at tables.
    pub total: i64,
}

impl Holdings {
    /// Adds the amounts of a line.
    pub const fn add(&mut self, line: &StatementLine) {
        self.balance = self.balance.saturating_add(line.amount.get());
        self.total = self.total.saturating_add(line.amount.get());
        self.total = self.total.saturating_add(line.at_table.get());
    }
}

impl Repo {
    /// Transfers at these positions with a leg of a player's, oldest first, at most `limit`; a hand
    /// that moved nothing for the player is one too.
    pub async fn statement(
        &self,
        player: PlayerId,
        positions: Range<u64>,
        limit: usize,
    ) -> Result<Vec<StatementLine>, ReadError> {
        // A transfer has two rows at most: the account's and a seat's.
        let rows = limit.saturating_mul(2).saturating_add(2);
        let (name, player) = (Account::Player(player).to_string(), player.to_string());
        let mut lines: Vec<StatementLine> = self
            .with_retry(|| async {
                let rows = sqlx::query(include_str!("sql/statement.sql"))
                    .bind(LOG)
                    .bind(&name)
                    .bind(&player)
                    .bind(to_column(positions.start))
                    .bind(to_column(positions.end))
                    .bind(to_column(rows as u64))
                    .fetch_all(&self.pool)
                    .await?;
                let rows = rows.iter().map(parse_line);
                rows.collect::<Result<Vec<_>, _>>().map(merge_lines)
            })
            .await?;
        lines.truncate(limit);
        Ok(lines)
    }

    /// Credits of a player before `position`.
    pub async fn holdings_before(
        &self,
        player: PlayerId,
        position: Position,
    ) -> Result<Holdings, ReadError> {
        let (name, player) = (Account::Player(player).to_string(), player.to_string());
        self.with_retry(|| async {
            let row = sqlx::query(include_str!("sql/holdings_before.sql"))
                .bind(&name)
                .bind(&player)
                .bind(to_column(position.0))
                .fetch_one(&self.pool)
                .await?;
            Ok(Holdings { balance: row.try_get("balance")?, total: row.try_get("total")? })
        })
        .await
    }
}

/// Parses one row: of the account, or of a seat.
fn parse_line(row: &PgRow) -> Result<StatementLine, sqlx::Error> {
    let table: Option<&str> = row.try_get("table_id")?;
    let transfer: Option<&str> = row.try_get("transfer")?;
    let moved = amount(row.try_get("amount")?)?;
    let (amount, at_table) =
        if table.is_some() { (Amount::ZERO, moved) } else { (moved, Amount::ZERO) };
    Ok(StatementLine {
        position: Position(unsigned(row, "position")?),
        amount,
        at_table,
        kind: row.try_get("kind")?,
        reason: row.try_get("reason")?,
        table: table.map(|table| table.parse().map_err(decode)).transpose()?,
        recorded_at: recorded_at(row)?,
        transfer: transfer.map(|id| id.parse().map_err(decode)).transpose()?,
    })
}

/// Merges the rows of each transfer into one line.
fn merge_lines(rows: Vec<StatementLine>) -> Vec<StatementLine> {
    let mut lines: Vec<StatementLine> = Vec::with_capacity(rows.len());
    for row in rows {
        match lines.last_mut().filter(|last| last.position == row.position) {
            Some(last) => {
                last.amount = last.amount.plus(row.amount).unwrap_or(last.amount);
                last.at_table = last.at_table.plus(row.at_table).unwrap_or(last.at_table);
                last.table = last.table.or(row.table);
                last.reason = last.reason.take().or(row.reason);
            }
            None => lines.push(row),
        }
    }
    lines
}
