//! Stored snapshots of the ledger. The log decides whether they are believed: see `owner::load`.

use eventlog::{ReadError, with_timeout};

use super::{Repo, STATEMENT_TIMEOUT};

/// Bytes in a row.
const PIECE_BYTES: usize = 1 << 20;
/// Snapshots kept. Two, because the newest may be stored before the log vouches for it.
const RETAINED: i64 = 2;

impl Repo {
    /// Sizes of the log at the stored snapshots, the largest first.
    pub(crate) async fn snapshot_sizes(&self) -> Result<Vec<u64>, ReadError> {
        let sizes: Vec<i64> = self
            .with_retry(|| {
                sqlx::query_scalar("SELECT size FROM snapshots WHERE piece = 0 ORDER BY size DESC")
                    .fetch_all(&self.pool)
            })
            .await?;
        Ok(sizes.into_iter().filter_map(|size| u64::try_from(size).ok()).collect())
    }

    /// Bytes of a snapshot.
    pub(crate) async fn snapshot(&self, size: u64) -> Result<Vec<u8>, ReadError> {
        let pieces: Vec<Vec<u8>> = self
            .with_retry(|| {
                sqlx::query_scalar("SELECT bytes FROM snapshots WHERE size = $1 ORDER BY piece")
                    .bind(size.cast_signed())
                    .fetch_all(&self.pool)
            })
            .await?;
        Ok(pieces.concat())
    }

    /// Stores a snapshot and removes the oldest ones. Larger ones are removed too: none can be
    /// genuine, and they would push out the genuine ones.
    pub(crate) async fn store_snapshot(&self, size: u64, bytes: &[u8]) -> Result<(), ReadError> {
        let keep = async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query("DELETE FROM snapshots WHERE size >= $1")
                .bind(size.cast_signed())
                .execute(&mut *transaction)
                .await?;
            for (piece, bytes) in (0_i32..).zip(bytes.chunks(PIECE_BYTES)) {
                sqlx::query("INSERT INTO snapshots (size, piece, bytes) VALUES ($1, $2, $3)")
                    .bind(size.cast_signed())
                    .bind(piece)
                    .bind(bytes)
                    .execute(&mut *transaction)
                    .await?;
            }
            sqlx::query(
                "DELETE FROM snapshots WHERE size NOT IN (SELECT size FROM snapshots \
                 WHERE piece = 0 ORDER BY size DESC LIMIT $1)",
            )
            .bind(RETAINED)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await
        };
        with_timeout(STATEMENT_TIMEOUT, keep).await.map_err(super::read_error)
    }
}
