//! Snapshots of the wallet's state. What they are worth is said by the log: see `owner::load`.

use eventlog::{ReadError, within};

use super::{LONGEST, Repo};

/// Bytes in a row.
const PIECE: usize = 1 << 20;
/// So many are kept: one may be on its way while the log does not vouch for it yet.
const KEPT: i64 = 2;

impl Repo {
    /// The sizes of the log that there are snapshots of, the largest first.
    pub(crate) async fn snapshots(&self) -> Result<Vec<u64>, ReadError> {
        let sizes: Vec<i64> = self
            .retried(|| {
                sqlx::query_scalar("SELECT size FROM snapshots WHERE piece = 0 ORDER BY size DESC")
                    .fetch_all(&self.pool)
            })
            .await?;
        Ok(sizes.into_iter().filter_map(|size| u64::try_from(size).ok()).collect())
    }

    /// The bytes of one.
    pub(crate) async fn snapshot(&self, size: u64) -> Result<Vec<u8>, ReadError> {
        let pieces: Vec<Vec<u8>> = self
            .retried(|| {
                sqlx::query_scalar("SELECT bytes FROM snapshots WHERE size = $1 ORDER BY piece")
                    .bind(size.cast_signed())
                    .fetch_all(&self.pool)
            })
            .await?;
        Ok(pieces.concat())
    }

    /// Keeps a snapshot, and forgets the oldest ones. None can be larger than the newest: whoever put one
    /// there would have the real ones forgotten.
    pub(crate) async fn keep_snapshot(&self, size: u64, bytes: &[u8]) -> Result<(), ReadError> {
        let keep = async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query("DELETE FROM snapshots WHERE size >= $1")
                .bind(size.cast_signed())
                .execute(&mut *transaction)
                .await?;
            for (piece, bytes) in (0_i32..).zip(bytes.chunks(PIECE)) {
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
            .bind(KEPT)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await
        };
        within(LONGEST, keep).await.map_err(super::trouble)
    }
}
