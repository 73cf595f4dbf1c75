//! Stored snapshots of a service's state. The service asks its log whether to believe one.
//!
//! Specification: ARCHITECTURE.md §2.10.

use std::time::Duration;

use eventlog_core::Position;
use sha2::{Digest as _, Sha256};
use sqlx::{PgPool, Row as _};

use super::error::with_timeout;
use super::{PgStore, read_with_retry};
use crate::error::ReadError;
use crate::store::StoreError;

/// Bytes in a row.
const PIECE_BYTES: usize = 1 << 20;
/// Snapshots that are kept of a log. Two, because the newest may be stored before the log vouches for
/// it.
const RETAINED: i64 = 2;
/// Time for storing a snapshot.
const STORING_TIMEOUT: Duration = Duration::from_secs(60);

/// Snapshots of one log.
#[derive(Clone)]
pub struct Snapshots {
    pool: PgPool,
    log: &'static str,
}

/// Place of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotPlace {
    /// Number of events that it is of.
    pub size: u64,
    /// Position of the event that has its SHA-256.
    pub named_at: Position,
}

impl PgStore {
    /// Snapshots of a log, such as `table/0`, over the connections for readers.
    #[must_use]
    pub fn snapshots(&self, log: &'static str) -> Snapshots {
        Snapshots::new(self.readers().clone(), log)
    }
}

impl Snapshots {
    #[must_use]
    pub const fn new(pool: PgPool, log: &'static str) -> Snapshots {
        Snapshots { pool, log }
    }

    /// Places of the stored snapshots, the largest first.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn places(&self) -> Result<Vec<SnapshotPlace>, ReadError> {
        let rows = read_with_retry(&self.pool, || {
            sqlx::query(
                "SELECT size, named_at FROM snapshots WHERE log = $1 AND piece = 0 \
                 ORDER BY size DESC",
            )
            .bind(self.log)
            .fetch_all(&self.pool)
        });
        let place = |row: &sqlx::postgres::PgRow| {
            let (size, named_at): (i64, i64) = (row.try_get("size")?, row.try_get("named_at")?);
            let named_at = Position(named_at.cast_unsigned());
            Ok(SnapshotPlace { size: size.cast_unsigned(), named_at })
        };
        let places: Result<Vec<_>, sqlx::Error> = rows.await?.iter().map(place).collect();
        places.map_err(|error| ReadError::Corrupt(error.to_string().into()))
    }

    /// Bytes of a snapshot, piece by piece; none where it is not there.
    ///
    /// # Errors
    /// The database cannot be reached.
    async fn bytes(&self, size: u64) -> Result<Vec<u8>, ReadError> {
        let mut whole = Vec::new();
        for piece in 0_i32.. {
            let read = read_with_retry(&self.pool, || {
                sqlx::query_scalar(
                    "SELECT bytes FROM snapshots WHERE log = $1 AND size = $2 AND piece = $3",
                )
                .bind(self.log)
                .bind(size.cast_signed())
                .bind(piece)
                .fetch_optional(&self.pool)
            });
            let bytes: Option<Vec<u8>> = read.await?;
            let Some(bytes) = bytes else { break };
            whole.extend(bytes);
        }
        Ok(whole)
    }

    /// Bytes of a snapshot whose SHA-256 the log names as `digest`; `None`, which is told in the log
    /// lines, where it names none or the bytes are others. Without a digest nothing is read.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn vouched_bytes(
        &self,
        size: u64,
        digest: Option<[u8; 32]>,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        if let Some(digest) = digest {
            let bytes = self.bytes(size).await?;
            if Sha256::digest(&bytes)[..] == digest {
                return Ok(Some(bytes));
            }
        }
        tracing::error!(
            log = self.log,
            size,
            "a snapshot is stored that the log does not vouch for"
        );
        Ok(None)
    }

    /// Stores a snapshot and removes the oldest ones. Larger ones are removed too: none can be
    /// genuine, and they would push out the genuine ones. `epoch` is the owner's ([`Log::epoch`]): one
    /// that has lost the log removes nothing that its successor stored.
    ///
    /// # Errors
    /// [`ReadError::Stopped`] if the log has another owner, or the database cannot be reached; nothing
    /// is stored then.
    ///
    /// [`Log::epoch`]: crate::Log::epoch
    pub async fn store(
        &self,
        place: SnapshotPlace,
        bytes: &[u8],
        epoch: u64,
    ) -> Result<(), ReadError> {
        let stored = async {
            let mut transaction = self.pool.begin().await?;
            // An owner that freezes before the commit gives its locks back.
            sqlx::query("SET LOCAL idle_in_transaction_session_timeout = '5s'")
                .execute(&mut *transaction)
                .await?;
            sqlx::query("DELETE FROM snapshots WHERE log = $1 AND size >= $2")
                .bind(self.log)
                .bind(place.size.cast_signed())
                .execute(&mut *transaction)
                .await?;
            for (piece, bytes) in (0_i32..).zip(bytes.chunks(PIECE_BYTES)) {
                sqlx::query(
                    "INSERT INTO snapshots (log, size, named_at, piece, bytes) \
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(self.log)
                .bind(place.size.cast_signed())
                .bind(place.named_at.0.cast_signed())
                .bind(piece)
                .bind(bytes)
                .execute(&mut *transaction)
                .await?;
            }
            sqlx::query(
                "DELETE FROM snapshots WHERE log = $1 AND size NOT IN (SELECT size FROM snapshots \
                 WHERE log = $1 AND piece = 0 ORDER BY size DESC LIMIT $2)",
            )
            .bind(self.log)
            .bind(RETAINED)
            .execute(&mut *transaction)
            .await?;
            // A claim waits for this transaction, or this finds what it has written. The lock comes
            // last, since renewals wait for it too.
            let owned = "SELECT true FROM leases WHERE log = $1 AND epoch = $2 FOR SHARE";
            let owned: Option<bool> = sqlx::query_scalar(owned)
                .bind(self.log)
                .bind(epoch.cast_signed())
                .fetch_optional(&mut *transaction)
                .await?;
            if owned.is_some() {
                transaction.commit().await?;
            }
            Ok(owned.is_some())
        };
        let stored = with_timeout(STORING_TIMEOUT, stored).await;
        match stored.map_err(StoreError::unavailable)? {
            true => Ok(()),
            false => Err(ReadError::Stopped),
        }
    }
}
