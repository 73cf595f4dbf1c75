//! Storage of seeds between commitment and reveal: the table `seed` in a schema that only the
//! dealer's role can enter, or memory for the simulator and for tests.
//!
//! There is one row for each hand: the first insert decides the hand's seed, even if two processes
//! believe for a moment that they own the log. A row never changes, except that it is sealed again
//! under another key: in one statement, and only if it is still as it was read, so that neither a
//! crash nor a second process doing so can lose a seed.
//!
//! Specification: fairness/SPEC.md §3.2.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use eventlog::with_statement_timeout;
use fairness::{Commitment, Context};
use primitives::HandId;
use sqlx::postgres::{PgConnection, PgPoolOptions, PgRow};
use sqlx::{Connection as _, PgPool, Row as _};

use crate::vault::{KeyId, SealedSeed};

/// Number of connections. Seeds are read once a hand, and again after a restart.
const MAX_CONNECTIONS: u32 = 4;

/// The stored seed of a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSeed {
    pub hand: HandId,
    pub context: Context,
    pub commitment: Commitment,
    pub seed: SealedSeed,
}

/// A seed sealed again under another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResealedSeed {
    pub hand: HandId,
    /// Nonce of the seed that it replaces.
    pub old_nonce: [u8; 24],
    pub seed: SealedSeed,
}

/// Reason why the storage gave no seed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RepoError {
    #[error("the dealer's database is unavailable: repeat the call later")]
    Unavailable(#[source] Arc<sqlx::Error>),
    #[error("the stored seed of hand {0} has a column of the wrong length")]
    Corrupt(HandId),
}

/// The database URL cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the database URL cannot be read: postgres://user@host:5432/name is expected")]
pub struct UrlError(#[source] sqlx::Error);

/// The table could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the table of the seeds could not be made: the URL must be an administrator's")]
pub struct MigrateError(#[source] sqlx::Error);

/// Storage of seeds. Clones share one storage.
#[derive(Clone)]
pub struct SeedRepository(Backend);

#[derive(Clone)]
enum Backend {
    Postgres(PgPool),
    Memory(Arc<Mutex<BTreeMap<HandId, StoredSeed>>>),
}

impl SeedRepository {
    /// Stores seeds in the database of `url`, as the dealer's role. Connects when it is first
    /// needed.
    pub fn postgres(url: &str) -> Result<SeedRepository, UrlError> {
        let pool = PgPoolOptions::new().max_connections(MAX_CONNECTIONS).connect_lazy(url);
        pool.map(|pool| SeedRepository(Backend::Postgres(pool))).map_err(UrlError)
    }

    /// Stores seeds in memory, for as long as a clone lives.
    #[must_use]
    pub fn memory() -> SeedRepository {
        SeedRepository(Backend::Memory(Arc::default()))
    }

    /// Stores a hand's seed unless the hand has one. Returns the seed that is stored from now on.
    /// Durable.
    pub async fn insert_if_absent(&self, new: StoredSeed) -> Result<StoredSeed, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => {
                insert(pool, &new).await?;
                // Read back in a statement of its own: one that waited for another's insert does
                // not see it.
                select(pool, new.hand).await?.ok_or(RepoError::Corrupt(new.hand))
            }
            Backend::Memory(seeds) => {
                let mut seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(seeds.entry(new.hand).or_insert(new).clone())
            }
        }
    }

    /// Seed of a hand; none if it has none.
    pub async fn get(&self, hand: HandId) -> Result<Option<StoredSeed>, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => select(pool, hand).await,
            Backend::Memory(seeds) => {
                Ok(seeds.lock().unwrap_or_else(PoisonError::into_inner).get(&hand).cloned())
            }
        }
    }
}

impl SeedRepository {
    /// Up to `limit` seeds that are not under the key `current`, ascending by hand, from the hand
    /// following `after`.
    pub(crate) async fn list_under_other_keys(
        &self,
        current: KeyId,
        after: Option<HandId>,
        limit: u16,
    ) -> Result<Vec<StoredSeed>, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => select_others(pool, current, after, limit).await,
            Backend::Memory(seeds) => {
                let seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
                let others = seeds.values().filter(|kept| kept.seed.key != Some(current));
                let next = others.filter(|kept| after.is_none_or(|after| kept.hand > after));
                Ok(next.take(usize::from(limit)).cloned().collect())
            }
        }
    }

    /// Replaces seeds that are still as they were read: all of them or none. Returns how many there
    /// were. Durable.
    pub async fn replace(&self, again: &[ResealedSeed]) -> Result<u64, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => update(pool, again).await,
            Backend::Memory(seeds) => {
                let mut seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
                let mut done = 0;
                for ResealedSeed { hand, old_nonce, seed } in again {
                    let kept = seeds.get_mut(hand).filter(|kept| kept.seed.nonce == *old_nonce);
                    if let Some(kept) = kept {
                        kept.seed = seed.clone();
                        done += 1;
                    }
                }
                Ok(done)
            }
        }
    }
}

/// Makes the table and grants the dealer's role its rights on it. Needs an administrator's URL and
/// the log's roles; safe to repeat.
pub async fn migrate(admin_url: &str) -> Result<(), MigrateError> {
    let mut admin = PgConnection::connect(admin_url).await.map_err(MigrateError)?;
    // One message is one transaction.
    sqlx::raw_sql(include_str!("seed.sql")).execute(&mut admin).await.map_err(MigrateError)?;
    admin.close().await.map_err(MigrateError)
}

async fn insert(pool: &PgPool, new: &StoredSeed) -> Result<(), RepoError> {
    let StoredSeed { hand, context, commitment, seed: SealedSeed { key, nonce, sealed } } = new;
    with_statement_timeout(
        sqlx::query(
            "INSERT INTO dealer_vault.seed (hand_id, context, commitment, key_id, nonce, sealed) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hand_id) DO NOTHING",
        )
        .bind(&hand.0[..])
        .bind(&context.0[..])
        .bind(&commitment.0[..])
        .bind(key.as_ref().map(|key| &key.0[..]))
        .bind(&nonce[..])
        .bind(&sealed[..])
        .execute(pool),
    )
    .await
    .map(|_| ())
    .map_err(unavailable)
}

async fn select(pool: &PgPool, hand: HandId) -> Result<Option<StoredSeed>, RepoError> {
    let row = with_statement_timeout(
        sqlx::query(
            "SELECT hand_id, context, commitment, key_id, nonce, sealed FROM dealer_vault.seed \
         WHERE hand_id = $1",
        )
        .bind(&hand.0[..])
        .fetch_optional(pool),
    )
    .await
    .map_err(unavailable)?;
    row.as_ref().map(parse_row).transpose()
}

async fn select_others(
    pool: &PgPool,
    current: KeyId,
    after: Option<HandId>,
    limit: u16,
) -> Result<Vec<StoredSeed>, RepoError> {
    // The empty id comes before all others.
    let rows = with_statement_timeout(
        sqlx::query(
            "SELECT hand_id, context, commitment, key_id, nonce, sealed FROM dealer_vault.seed \
         WHERE hand_id > $2 AND key_id IS DISTINCT FROM $1 ORDER BY hand_id LIMIT $3",
        )
        .bind(&current.0[..])
        .bind(after.as_ref().map_or(&[][..], |hand| &hand.0[..]))
        .bind(i64::from(limit))
        .fetch_all(pool),
    )
    .await
    .map_err(unavailable)?;
    rows.iter().map(parse_row).collect()
}

async fn update(pool: &PgPool, again: &[ResealedSeed]) -> Result<u64, RepoError> {
    let columns = |of: fn(&ResealedSeed) -> &[u8]| again.iter().map(of).collect::<Vec<&[u8]>>();
    with_statement_timeout(sqlx::query(
        "UPDATE dealer_vault.seed AS s SET key_id = n.key_id, nonce = n.nonce, sealed = n.sealed \
         FROM UNNEST($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) \
         AS n(hand_id, old_nonce, key_id, nonce, sealed) \
         WHERE s.hand_id = n.hand_id AND s.nonce = n.old_nonce",
    )
    .bind(columns(|one| &one.hand.0))
    .bind(columns(|one| &one.old_nonce))
    .bind(again.iter().map(|one| one.seed.key.map(|key| key.0.to_vec())).collect::<Vec<_>>())
    .bind(columns(|one| &one.seed.nonce))
    .bind(columns(|one| &one.seed.sealed))
    .execute(pool))
    .await
    .map(|done| done.rows_affected())
    .map_err(unavailable)
}

fn parse_row(row: &PgRow) -> Result<StoredSeed, RepoError> {
    let id: &[u8] = row.try_get("hand_id").map_err(unavailable)?;
    let hand = HandId(id.try_into().map_err(|_| RepoError::Corrupt(HandId([0; 16])))?);
    let named: Option<&[u8]> = row.try_get("key_id").map_err(unavailable)?;
    let key = named.map(|_| exactly(row, "key_id", hand).map(KeyId)).transpose()?;
    Ok(StoredSeed {
        hand,
        context: Context(exactly(row, "context", hand)?),
        commitment: Commitment(exactly(row, "commitment", hand)?),
        seed: SealedSeed {
            key,
            nonce: exactly(row, "nonce", hand)?,
            sealed: row.try_get("sealed").map_err(unavailable)?,
        },
    })
}

fn exactly<const N: usize>(row: &PgRow, column: &str, hand: HandId) -> Result<[u8; N], RepoError> {
    let bytes: &[u8] = row.try_get(column).map_err(unavailable)?;
    bytes.try_into().map_err(|_| RepoError::Corrupt(hand))
}

fn unavailable(error: sqlx::Error) -> RepoError {
    RepoError::Unavailable(Arc::new(error))
}

#[cfg(test)]
mod tests;
