//! Compares the tables with the log: recomputed event by event, compared row by row.
//!
//! Specification: services/wallet/README.md "State and events".

use std::fmt;

use eventlog::{Position, ReadError, Reader};
use ledger::{InvariantViolation, Ledger, check_conservation, evolve};

use crate::record::{self, Corrupt};
use crate::repo::{ConsistentRead, Repo, Table, TableReader};
use crate::rows::Rows;

/// Events in one read of the log.
const PAGE: usize = 5_000;

/// The first value of a table that differs from the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub table: &'static str,
    /// Name of the account that the row is about; empty if there is none.
    pub account: String,
    /// Position in the log that the row is about, if any.
    pub position: Option<u64>,
    /// Column; `row` if a row is missing or superfluous.
    pub column: &'static str,
    /// Value by the log.
    pub expected: String,
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { table, account, position, column, expected, found } = self;
        write!(f, "table {table}")?;
        if !account.is_empty() {
            write!(f, ", {account}")?;
        }
        if let Some(position) = position {
            write!(f, ", position {position}")?;
        }
        write!(f, ", {column}: the log says {expected}, the table {found}")
    }
}

/// Result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    pub events: u64,
    pub accounts: usize,
    pub entries: u64,
    /// `None` if the tables agree with the log.
    pub difference: Option<Difference>,
}

/// Error of a comparison that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the wallet's log is corrupt: {0}")]
    InvariantViolation(#[from] InvariantViolation),
}

/// Recomputes every table from the log, as of one moment. The wallet may serve meanwhile.
///
/// # Errors
/// [`VerifyError`] if the log or the tables cannot be read, or no wallet can have written the log.
pub async fn verify(reader: &Reader, repo: &Repo) -> Result<Comparison, VerifyError> {
    let mut checked = repo.begin_consistent_read().await?;
    let size = checked.size();
    let mut compared = Comparison { events: size, accounts: 0, entries: 0, difference: None };
    compared.difference = checked.size_difference();
    if compared.difference.is_some() {
        return Ok(compared);
    }
    let mut ledger = Ledger::new();
    let mut rows = Rows::genesis();
    let mut found = checked.read_table(Table::Entries);
    let mut from = 0;
    while from < size {
        let limit = usize::try_from(size - from).unwrap_or(PAGE).min(PAGE);
        let events = reader.read(Position(from), limit).await?;
        let Some(last) = events.last() else { break };
        from = last.position.0 + 1;
        for stored in &events {
            if let Some(event) = record::parse(stored)? {
                let replaced = evolve(&mut ledger, stored.recorded_at, &event);
                rows.add(&ledger, stored.position, &event, replaced);
            }
        }
        compared.entries += rows.entries.len() as u64;
        compared.difference = compare_entries(&mut found, &mut rows).await?;
        if compared.difference.is_some() {
            return Ok(compared);
        }
    }
    compared.difference = found.expect_end(&rows).await?;
    drop(found);
    check_conservation(&ledger)?;
    compared.accounts = ledger.accounts().len();
    if compared.difference.is_none() {
        compared.difference = compare_other_tables(&mut checked, &ledger, &rows).await?;
    }
    Ok(compared)
}

/// Compares the entries of `rows` with the table and drops them.
async fn compare_entries(
    found: &mut TableReader<'_>,
    rows: &mut Rows,
) -> Result<Option<Difference>, ReadError> {
    let mut expected = std::mem::take(&mut rows.entries);
    expected.sort_unstable_by_key(|row| (row.position, row.account));
    for row in &expected {
        let difference = found.expect(row.into(), rows).await?;
        if difference.is_some() {
            return Ok(difference);
        }
    }
    Ok(None)
}

async fn compare_other_tables(
    checked: &mut ConsistentRead,
    ledger: &Ledger,
    rows: &Rows,
) -> Result<Option<Difference>, ReadError> {
    let states = rows.states(ledger);
    let tables = [
        (Table::Accounts, rows.opened.iter().map(Into::into).collect::<Vec<_>>()),
        (Table::States, states.iter().map(Into::into).collect()),
        (Table::Holds, rows.holds.values().map(Into::into).collect()),
        (Table::Adjustments, rows.adjustments.values().map(Into::into).collect()),
    ];
    for (table, expected) in tables {
        let mut found = checked.read_table(table);
        for row in expected {
            let difference = found.expect(row, rows).await?;
            if difference.is_some() {
                return Ok(difference);
            }
        }
        let difference = found.expect_end(rows).await?;
        if difference.is_some() {
            return Ok(difference);
        }
    }
    Ok(None)
}
