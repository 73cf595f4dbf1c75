//! The wallet's books in its database: tables beside the log, and what is read from them.
//!
//! They are a projection: the statement that appends a group to the log writes the group's rows too
//! (`sql/posting.sql` and those after it), so they are never ahead of the log and never behind it. What
//! is read from them is durable, and nothing of statements is kept in memory. `projected` says how far
//! they go; where that is not the log's size, because they were emptied or restored from elsewhere,
//! `rebuild` makes them anew when the wallet starts. A row that somebody put where the log's next one
//! goes is removed: nothing in these tables can keep the log from being written, and nothing is looked
//! for that is never there.
//!
//! **Not believed.** The wallet starts from its log (snapshots shorten that) and compares the tables
//! with it before anybody reads them (`compare`), and entry by entry afterwards (`history`). The
//! service's role may add rows of transfers and accounts and change or remove none; of holds and
//! adjustments it may change what becomes of them. What holds and what waits is asked of the ledger.
//!
//! **Written once.** An account's balance is that of its last entry, found by one descent of the
//! entries' only index; so a transfer inserts one narrow row a leg and updates nothing. Measured with
//! fsync on two busy cores, groups of 1,000 transfers of two legs among 200,000 accounts, the log's
//! rows included: 37,000 transfers a second for the log alone, 27,000 with entries, 17,000 where a row
//! an account is updated for its balance as well (14,000 by upsert). An entry takes 68 bytes of table
//! and 44 of index. What few transfers change (holds, limits, buy-ins that count against them) has
//! narrow tables of its own. The price is at the start: a million balances by a million descents,
//! 4.7 s.
//!
//! Times, transfers' ids and who asked are the log's own columns: the views join them.

mod compare;
mod history;
mod read;
mod rebuild;
mod rows;
mod snapshots;
mod statement;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use eventlog::{Ahead, MigrateError, PgStore, Projection, ReadError, Source, drop_idle, within};
use sqlx::{Connection as _, PgPool};

pub use read::{AccountRead, HoldRead};
pub(crate) use rows::Written;
pub use statement::{Holdings, LineRead};
pub(crate) use verify::{Checked, Found, Table};

/// The service's name: its schema, and a part of its role's name.
pub(crate) const SERVICE: &str = "wallet";
/// The wallet's log.
pub(crate) const LOG: &str = "wallet/0";

const MIGRATIONS: &[(i64, &str, &str)] = &[(100, "books", include_str!("repo/sql/0100_books.sql"))];
/// How often a read is tried where its connection turns out to be dead.
const TRIES: u32 = 3;
/// How long a statement may take: those that look at every account or entry take longest.
const LONGEST: Duration = Duration::from_secs(60);

/// The tables, to read and to build.
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

/// Has the tables made anew from the log when the wallet starts next. An administrator's act.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub async fn forget_tables(admin_url: &str) -> Result<(), sqlx::Error> {
    let mut admin = sqlx::PgConnection::connect(admin_url).await?;
    sqlx::query("DELETE FROM wallet.projected").execute(&mut admin).await?;
    admin.close().await
}

/// The parts of what a group writes beside the events, in their order.
macro_rules! parts {
    ($($part:literal),+) => {
        concat!($(include_str!(concat!("repo/sql/", $part, ".sql"))),+)
    };
}

/// Everything that a group may write.
const WHOLE: &str = parts!("projected", "posting", "changing", "others");
/// What a group writes that is nothing but transfers: each table left out saves every commit a fixed
/// time.
const TRANSFERS: &str = parts!("projected", "posting", "changing");
/// The same where no account has anything beside a balance.
const ENTRIES: &str = concat!(parts!("projected", "posting"), ")");
/// The first two for a group that goes in ahead of its turn: whatever else a group writes waits for it.
const ENTRIES_AHEAD: Ahead = Ahead {
    rows: concat!(parts!("posting"), "RETURNING 1), beside AS (SELECT count(*) FROM posting)"),
    turn: parts!("projected_ahead"),
};
const TRANSFERS_AHEAD: Ahead = Ahead {
    rows: concat!(
        parts!("posting"),
        "RETURNING 1",
        parts!("changing"),
        ", beside AS (SELECT count(*) FROM posting)"
    ),
    turn: parts!("projected_ahead"),
};
/// Everything again, but for the row that says how far the tables go.
const REBUILT: &str = parts!("posting", "changing", "others");
/// Removes rows that stand where the next ones go.
const CLEARING: &str = "SELECT clear_entries_ahead('wallet/0')";

/// What the log's store writes beside the events.
#[must_use]
pub fn projection() -> Projection {
    Projection { ctes: WHOLE, none: Arc::new(Written::default()) }
}

impl Repo {
    /// Reads with the store's readers.
    #[must_use]
    pub fn new(store: &PgStore) -> Repo {
        Repo { pool: store.readers().clone() }
    }
}

impl Repo {
    /// Repeats a read on another connection where one was dead.
    async fn retried<T, F>(&self, mut query: impl FnMut() -> F) -> Result<T, ReadError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match within(LONGEST, query()).await {
                Err(sqlx::Error::Io(_) | sqlx::Error::Protocol(_)) if tries > 0 => {
                    drop_idle(&self.pool);
                }
                result => return result.map_err(trouble),
            }
        }
    }
}

fn trouble(error: sqlx::Error) -> ReadError {
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
