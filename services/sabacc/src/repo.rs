//! What PostgreSQL itself says of what was written: measured beside the card room, never by it.

use sqlx::{Connection as _, PgConnection};

/// A connection of one's own to measure with.
pub(crate) struct Database {
    link: PgConnection,
}

/// How much was written so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes of write-ahead log since the cluster was made.
    pub(crate) wal: u64,
    /// Bytes of the database's files: tables and their indexes.
    pub(crate) disk: u64,
}

impl Database {
    /// Connects as whoever `url` names.
    pub(crate) async fn connect(url: &str) -> Result<Database, sqlx::Error> {
        Ok(Database { link: PgConnection::connect(url).await? })
    }

    /// What was written by everybody.
    pub(crate) async fn written(&mut self) -> Result<Written, sqlx::Error> {
        let (wal, disk): (i64, i64) = sqlx::query_as(
            "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint, \
             pg_database_size(current_database())",
        )
        .fetch_one(&mut self.link)
        .await?;
        let bytes = |number: i64| u64::try_from(number).unwrap_or_default();
        Ok(Written { wal: bytes(wal), disk: bytes(disk) })
    }
}
