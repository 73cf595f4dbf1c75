//! Whether the tables say what the log says: recomputed event by event, compared row by row.

use std::fmt;

use eventlog::{Position, ReadError, Reader};
use ledger::{Ledger, Unsound, conserved};

use crate::record::{self, Corrupt};
use crate::repo::{Checked, Found, Repo, Table};
use crate::rows::{Place, Rows};

/// Events in one read of the log.
const PAGE: usize = 5_000;

/// The first value that is not what the log says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub table: &'static str,
    /// The account's name, where the row is about one.
    pub account: String,
    /// The position in the log that the row is about, where it is about one.
    pub position: Option<u64>,
    /// The column; `row` where one is missing or there is one too many.
    pub column: &'static str,
    /// By the log.
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

/// What was compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    pub events: u64,
    pub accounts: usize,
    pub entries: u64,
    /// None: all is as the log says.
    pub difference: Option<Difference>,
}

/// The tables could not be compared with the log.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the wallet's log is corrupt: {0}")]
    Unsound(#[from] Unsound),
}

/// Recomputes every table from the log, as of one moment, while the wallet may go on.
///
/// # Errors
/// Where the log or the tables cannot be read, or the log is none that a wallet writes.
pub async fn verify(reader: &Reader, repo: &Repo) -> Result<Compared, VerifyError> {
    let mut checked = repo.check().await?;
    let size = checked.size();
    let mut compared = Compared { events: size, accounts: 0, entries: 0, difference: None };
    compared.difference = checked.of_projected();
    if compared.difference.is_some() {
        return Ok(compared);
    }
    let mut ledger = Ledger::new();
    let mut rows = Rows::of_the_house();
    let mut found = checked.found(Table::Entries);
    let mut from = 0;
    while from < size {
        let limit = usize::try_from(size - from).unwrap_or(PAGE).min(PAGE);
        let events = reader.read(Position(from), limit).await?;
        let Some(last) = events.last() else { break };
        from = last.position.0 + 1;
        for stored in &events {
            let place = Place { position: stored.position, at: stored.recorded_at };
            if let Some(event) = record::parse(stored)? {
                rows.step(&mut ledger, place, &event);
            }
        }
        compared.entries += rows.entries.len() as u64;
        compared.difference = entries(&mut found, &mut rows).await?;
        if compared.difference.is_some() {
            return Ok(compared);
        }
    }
    compared.difference = found.end(&rows).await?;
    drop(found);
    conserved(&ledger)?;
    compared.accounts = ledger.accounts().len();
    if compared.difference.is_none() {
        compared.difference = others(&mut checked, &ledger, &rows).await?;
    }
    Ok(compared)
}

/// Compares and forgets the entries that were noted.
async fn entries(found: &mut Found<'_>, rows: &mut Rows) -> Result<Option<Difference>, ReadError> {
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

async fn others(
    checked: &mut Checked,
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
        let mut found = checked.found(table);
        for row in expected {
            let difference = found.expect(row, rows).await?;
            if difference.is_some() {
                return Ok(difference);
            }
        }
        let difference = found.end(rows).await?;
        if difference.is_some() {
            return Ok(difference);
        }
    }
    Ok(None)
}
