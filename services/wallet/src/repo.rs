//! Tables of the wallet beside its log, and the reads from them.
//!
//! The tables are a projection: the statement that appends a group to the log writes the group's
//! rows too (`sql/posting.sql` and those after it), so they are never ahead of the log nor behind
//! it. What is read from them is durable. A row of `projected` says so, and no write changes it: a
//! row that every commit changed would make every commit slower while somebody keeps an old
//! snapshot open, such as a backup. If the row is missing, or has the size of a rebuild that did
//! not end, or the newest transfer of the log has no rows, `rebuild` makes the tables anew when the
//! wallet starts. A foreign row at the position of a new one is removed before the write is
//! repeated, so no content of these tables can keep the log from being written, and no write looks
//! for such rows first.
//!
//! **Not trusted.** The wallet starts from its log, shortened by snapshots, and compares the tables
//! with it before they are read (`compare`, which need not delay its start), and entry by entry afterwards (`history`). The
//! service's role may add rows of transfers and accounts but not change or remove them; of holds
//! and adjustments it may change the state. Pending holds and adjustments are read from the ledger.
//!
//! **Written once.** An account's balance is that of its last entry, found by one descent of the
//! only index of `entries`. So a transfer inserts one narrow row a leg and updates nothing. State
//! that few transfers change, as holds and exclusions, has narrow tables of its own. The price is
//! paid at the start: one descent for each account's balance.
//!
//! Times, transfers' ids and authors are columns of the log; the views join them.
//!
//! Specification: services/wallet/README.md "State and events".

mod compare;
mod history;
mod read;
mod rebuild;
mod rows;
mod statement;
mod table_reader;

use std::sync::Arc;
use std::time::Duration;

use eventlog::{
    MigrateError, PgStore, PipelinedCtes, Projection, ReadError, Snapshots, Source, drop_idle,
    with_timeout,
};
use sqlx::{Connection as _, PgPool};

pub(crate) use compare::Comparison;
pub use read::{StoredAccount, StoredHold};
pub(crate) use rows::GroupRows;
pub use statement::{Holdings, StatementLine};
pub(crate) use table_reader::{ConsistentRead, Table, TableReader};

/// Name of the service: its schema, and a part of its role's name.
pub(crate) const SERVICE: &str = "wallet";
/// Name of the wallet's log.
pub(crate) const LOG: &str = "wallet/0";

const MIGRATIONS: &[(i64, &str, &str)] = &[(100, "books", include_str!("repo/sql/0100_books.sql"))];
/// Attempts of a read whose connection turns out to be dead.
const MAX_TRIES: u32 = 3;
/// Timeout of a statement; those that visit every account or entry take longest.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Tables of the wallet, to read and to build.
#[derive(Clone)]
pub struct Repo {
    pool: PgPool,
}

/// Brings the schema of the wallet up to date. Safe to repeat.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub async fn migrate(admin_url: &str, role_password: Option<&str>) -> Result<(), MigrateError> {
    let grants = include_str!("repo/sql/grants.sql");
    eventlog::migrate_with(admin_url, SERVICE, role_password, MIGRATIONS, grants).await
}

/// Makes the wallet rebuild its tables from the log at its next start. Needs an administrator.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub async fn request_rebuild(admin_url: &str) -> Result<(), sqlx::Error> {
    let mut admin = sqlx::PgConnection::connect(admin_url).await?;
    sqlx::query("DELETE FROM wallet.projected").execute(&mut admin).await?;
    admin.close().await
}

/// Concatenates SQL files: the parts of the statement that write a group's rows, in their order.
macro_rules! parts {
    ($($part:literal),+) => {
        concat!($(include_str!(concat!("repo/sql/", $part, ".sql"))),+)
    };
}

/// Writes all tables.
const ALL_TABLES: &str = parts!("posting", "changing", "others");
/// Writes the tables of a group of transfers alone: each table left out saves a fixed time for
/// every commit.
const TRANSFER_TABLES: &str = parts!("posting", "changing");
/// Writes the tables of a group of transfers whose accounts have no state beside a balance.
const ENTRY_TABLE: &str = concat!(parts!("posting"), ")");
/// [`ENTRY_TABLE`] for a group that is sent while the one before it is being written. Only
/// [`ENTRY_TABLE`] and [`TRANSFER_TABLES`] have such a form; other groups wait.
const ENTRY_TABLE_AHEAD: PipelinedCtes = PipelinedCtes {
    rows: concat!(parts!("posting"), "RETURNING 1), beside AS (SELECT count(*) FROM posting)"),
};
const TRANSFER_TABLES_AHEAD: PipelinedCtes = PipelinedCtes {
    rows: concat!(
        parts!("posting"),
        "RETURNING 1",
        parts!("changing"),
        ", beside AS (SELECT count(*) FROM posting)"
    ),
};
/// Removes rows at positions beyond the log's end.
const CLEAR_ENTRIES_AHEAD: &str = "SELECT clear_entries_ahead('wallet/0')";

/// Rows that the log's store writes beside the events.
#[must_use]
pub fn projection() -> Projection {
    Projection { ctes: ALL_TABLES, no_rows: Arc::new(GroupRows::default()) }
}

impl Repo {
    /// Reads with the store's connections for readers.
    #[must_use]
    pub fn new(store: &PgStore) -> Repo {
        Repo { pool: store.readers().clone() }
    }

    /// Snapshots of the ledger. The log decides whether they are believed: see `owner::load`.
    pub(crate) fn snapshots(&self) -> Snapshots {
        Snapshots::new(self.pool.clone(), LOG)
    }
}

impl Repo {
    /// Runs a read, and repeats it on another connection if one was dead.
    async fn with_retry<T, F>(&self, mut query: impl FnMut() -> F) -> Result<T, ReadError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let mut tries = MAX_TRIES;
        loop {
            tries -= 1;
            match with_timeout(STATEMENT_TIMEOUT, query()).await {
                Err(sqlx::Error::Io(_) | sqlx::Error::Protocol(_)) if tries > 0 => {
                    drop_idle(&self.pool);
                }
                result => return result.map_err(read_error),
            }
        }
    }
}

fn read_error(error: sqlx::Error) -> ReadError {
    let unreadable = matches!(
        error,
        sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::TypeNotFound { .. }
    );
    if unreadable {
        let what = format!("the wallet's tables are not as it writes them: {error}");
        return ReadError::Corrupt(what.into());
    }
    let source: Source = Arc::new(error);
    ReadError::Unavailable { source: Some(source) }
}
