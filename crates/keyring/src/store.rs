//! Table of sealed secrets in a schema that only one service's role can enter, or memory for the
//! simulator and for tests.
//!
//! There is one row for each id: the first insert decides its secret, even if two processes believe
//! for a moment that they own the log. A row never changes, except that it is sealed again under
//! another key: in one statement, and only if it is still as it was read, so that neither a crash
//! nor a second process doing so can lose a secret.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eventlog::with_statement_timeout;
use sqlx::postgres::{PgConnection, PgPoolOptions, PgRow};
use sqlx::{Connection as _, PgPool, Row as _};

use crate::{KeyId, Nonce, SealedSecret, SecretId};

/// Number of connections. A secret is read seldom: once a hand, or when a player sits down.
const MAX_CONNECTIONS: u32 = 4;

/// A secret sealed again under another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResealedSecret {
    /// Nonce of the sealed secret that it replaces.
    pub old_nonce: Nonce,
    pub secret: SealedSecret,
}

/// Reason why the store gave no secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("the database of the secrets is unavailable: repeat the call later")]
    Unavailable(#[source] Arc<sqlx::Error>),
    #[error("a stored secret has a column of the wrong length")]
    Corrupt,
}

/// The database URL cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the database URL cannot be read: postgres://user@host:5432/name is expected")]
pub struct UrlError(#[source] sqlx::Error);

/// The table could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the table of the secrets could not be made: the URL must be an administrator's")]
pub struct MigrateError(#[source] sqlx::Error);

/// Store of sealed secrets. Clones share one store.
#[derive(Clone)]
pub struct SecretStore(Backend);

type Rows = BTreeMap<SecretId, SealedSecret>;

#[derive(Clone)]
enum Backend {
    Postgres(PgPool),
    Memory(Arc<Mutex<Rows>>),
}

impl SecretStore {
    /// Stores secrets in the table `secret` of `schema`. Connects when it is first needed.
    ///
    /// # Errors
    /// The URL cannot be read.
    pub fn postgres(url: &str, schema: &'static str) -> Result<SecretStore, UrlError> {
        let options = PgPoolOptions::new().max_connections(MAX_CONNECTIONS);
        let options = options.after_connect(move |connection, _| {
            Box::pin(async move {
                let path = sqlx::query("SELECT set_config('search_path', quote_ident($1), false)");
                path.bind(schema).execute(connection).await.map(drop)
            })
        });
        options.connect_lazy(url).map(|pool| SecretStore(Backend::Postgres(pool))).map_err(UrlError)
    }

    /// Stores secrets in memory, for as long as a clone lives.
    #[must_use]
    pub fn memory() -> SecretStore {
        SecretStore(Backend::Memory(Arc::default()))
    }

    /// Stores a secret unless its id has one. Returns the one that is stored from now on. Durable.
    ///
    /// # Errors
    /// The database is unavailable, or its row is corrupt.
    pub async fn insert_if_absent(&self, new: SealedSecret) -> Result<SealedSecret, StoreError> {
        match &self.0 {
            Backend::Postgres(pool) => {
                insert(pool, &new).await?;
                // Read back in a statement of its own: one that waited for another's insert does
                // not see it.
                select(pool, &[new.id]).await?.remove(&new.id).ok_or(StoreError::Corrupt)
            }
            Backend::Memory(rows) => Ok(lock(rows).entry(new.id).or_insert(new).clone()),
        }
    }

    /// Secret of an id; none if it has none.
    ///
    /// # Errors
    /// The database is unavailable, or its row is corrupt.
    pub async fn get(&self, id: SecretId) -> Result<Option<SealedSecret>, StoreError> {
        Ok(self.get_many(&[id]).await?.remove(&id))
    }

    /// Secrets of those ids that have one.
    ///
    /// # Errors
    /// The database is unavailable, or a row is corrupt.
    pub async fn get_many(
        &self,
        ids: &[SecretId],
    ) -> Result<BTreeMap<SecretId, SealedSecret>, StoreError> {
        match &self.0 {
            Backend::Postgres(pool) => select(pool, ids).await,
            Backend::Memory(rows) => {
                let rows = lock(rows);
                Ok(ids.iter().filter_map(|id| Some((*id, rows.get(id)?.clone()))).collect())
            }
        }
    }

    /// Up to `limit` secrets that are not under the key `current`, ascending by id, from the one
    /// following `after`.
    ///
    /// # Errors
    /// The database is unavailable, or a row is corrupt.
    pub async fn list_under_other_keys(
        &self,
        current: KeyId,
        after: Option<SecretId>,
        limit: u16,
    ) -> Result<Vec<SealedSecret>, StoreError> {
        match &self.0 {
            Backend::Postgres(pool) => select_others(pool, current, after, limit).await,
            Backend::Memory(rows) => {
                let rows = lock(rows);
                let others = rows.values().filter(|kept| kept.key != current);
                let next = others.filter(|kept| after.is_none_or(|after| kept.id > after));
                Ok(next.take(usize::from(limit)).cloned().collect())
            }
        }
    }

    /// Replaces secrets that are still as they were read. Returns how many there were. Durable.
    ///
    /// # Errors
    /// The database is unavailable, and nothing is replaced.
    pub async fn replace(&self, again: &[ResealedSecret]) -> Result<u64, StoreError> {
        match &self.0 {
            Backend::Postgres(pool) => update(pool, again).await,
            Backend::Memory(rows) => {
                let mut rows = lock(rows);
                let mut done = 0;
                for ResealedSecret { old_nonce, secret } in again {
                    let kept = rows.get_mut(&secret.id).filter(|kept| kept.nonce == *old_nonce);
                    if let Some(kept) = kept {
                        *kept = secret.clone();
                        done += 1;
                    }
                }
                Ok(done)
            }
        }
    }

    /// Deletes the secrets of those ids that have one.
    ///
    /// # Errors
    /// The database is unavailable, or gives no right to it.
    pub async fn delete(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        match &self.0 {
            Backend::Postgres(pool) => delete(pool, ids).await,
            Backend::Memory(rows) => {
                let mut rows = lock(rows);
                ids.iter().for_each(|id| drop(rows.remove(id)));
                Ok(())
            }
        }
    }
}

fn lock(rows: &Mutex<Rows>) -> MutexGuard<'_, Rows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a service's table of secrets with its rights, by `sql`, which must be safe to repeat.
/// Needs an administrator's URL and the log's roles.
///
/// # Errors
/// A statement is refused, or the database is unavailable.
pub async fn migrate(admin_url: &str, sql: &'static str) -> Result<(), MigrateError> {
    let mut admin = PgConnection::connect(admin_url).await.map_err(MigrateError)?;
    // One message is one transaction.
    sqlx::raw_sql(sql).execute(&mut admin).await.map_err(MigrateError)?;
    admin.close().await.map_err(MigrateError)
}

async fn insert(pool: &PgPool, new: &SealedSecret) -> Result<(), StoreError> {
    let SealedSecret { id, label, key, nonce, sealed } = new;
    run(sqlx::query(
        "INSERT INTO secret (id, label, key_id, nonce, sealed) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(&id[..])
    .bind(&label[..])
    .bind(&key.0[..])
    .bind(&nonce[..])
    .bind(&sealed[..])
    .execute(pool))
    .await
    .map(drop)
}

async fn select(
    pool: &PgPool,
    ids: &[SecretId],
) -> Result<BTreeMap<SecretId, SealedSecret>, StoreError> {
    let query = "SELECT id, label, key_id, nonce, sealed FROM secret WHERE id = ANY($1)";
    let rows = run(sqlx::query(query).bind(slices(ids)).fetch_all(pool)).await?;
    rows.iter().map(|row| parse_row(row).map(|kept| (kept.id, kept))).collect()
}

async fn select_others(
    pool: &PgPool,
    current: KeyId,
    after: Option<SecretId>,
    limit: u16,
) -> Result<Vec<SealedSecret>, StoreError> {
    // The empty id comes before all others.
    let query = sqlx::query(
        "SELECT id, label, key_id, nonce, sealed FROM secret \
         WHERE id > $2 AND key_id <> $1 ORDER BY id LIMIT $3",
    )
    .bind(&current.0[..])
    .bind(after.as_ref().map_or(&[][..], |id| &id[..]))
    .bind(i64::from(limit));
    run(query.fetch_all(pool)).await?.iter().map(parse_row).collect()
}

async fn update(pool: &PgPool, again: &[ResealedSecret]) -> Result<u64, StoreError> {
    let column = |of: fn(&ResealedSecret) -> &[u8]| again.iter().map(of).collect::<Vec<&[u8]>>();
    let query = sqlx::query(
        "UPDATE secret AS kept SET key_id = new.key_id, nonce = new.nonce, sealed = new.sealed \
         FROM UNNEST($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) \
         AS new (id, old_nonce, key_id, nonce, sealed) \
         WHERE kept.id = new.id AND kept.nonce = new.old_nonce",
    )
    .bind(column(|one| &one.secret.id))
    .bind(column(|one| &one.old_nonce))
    .bind(column(|one| &one.secret.key.0))
    .bind(column(|one| &one.secret.nonce))
    .bind(column(|one| &one.secret.sealed));
    run(query.execute(pool)).await.map(|done| done.rows_affected())
}

async fn delete(pool: &PgPool, ids: &[SecretId]) -> Result<(), StoreError> {
    let query = sqlx::query("DELETE FROM secret WHERE id = ANY($1)").bind(slices(ids));
    run(query.execute(pool)).await.map(drop)
}

fn slices(ids: &[SecretId]) -> Vec<&[u8]> {
    ids.iter().map(|id| &id[..]).collect()
}

fn parse_row(row: &PgRow) -> Result<SealedSecret, StoreError> {
    Ok(SealedSecret {
        id: exactly(row, "id")?,
        label: row.try_get("label").map_err(unavailable)?,
        key: KeyId(exactly(row, "key_id")?),
        nonce: exactly(row, "nonce")?,
        sealed: row.try_get("sealed").map_err(unavailable)?,
    })
}

fn exactly<const N: usize>(row: &PgRow, column: &str) -> Result<[u8; N], StoreError> {
    let bytes: &[u8] = row.try_get(column).map_err(unavailable)?;
    bytes.try_into().map_err(|_| StoreError::Corrupt)
}

async fn run<T>(statement: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
    with_statement_timeout(statement).await.map_err(unavailable)
}

fn unavailable(error: sqlx::Error) -> StoreError {
    StoreError::Unavailable(Arc::new(error))
}

#[cfg(test)]
mod tests;
