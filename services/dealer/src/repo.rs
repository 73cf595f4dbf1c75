//! Where seeds lie between commitment and reveal: the table `seed` in a schema that the dealer's
//! role alone can enter, or memory for the simulator and for tests.
//!
//! One row for each hand, added and never changed: whoever asks first decides the hand's seed, also
//! where two processes believe for a moment that they own the log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fairness::{Commitment, Context};
use primitives::HandId;
use sqlx::postgres::{PgConnection, PgPoolOptions, PgRow};
use sqlx::{Connection as _, PgPool, Row as _};

use crate::vault::SealedSeed;

/// Seeds are asked for once a hand, and again after a restart.
const CONNECTIONS: u32 = 4;

/// A hand's seed as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub hand: HandId,
    pub context: Context,
    pub commitment: Commitment,
    pub seed: SealedSeed,
}

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

/// Keeps seeds. Clones are handles of the same.
#[derive(Clone)]
pub struct Seeds(Place);

#[derive(Clone)]
enum Place {
    Postgres(PgPool),
    Memory(Arc<Mutex<BTreeMap<HandId, Kept>>>),
}

impl Seeds {
    /// In the database that `url` names, as the dealer's role. Connects when it is first needed.
    pub fn postgres(url: &str) -> Result<Seeds, UrlError> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect_lazy(url);
        pool.map(|pool| Seeds(Place::Postgres(pool))).map_err(UrlError)
    }

    /// In memory, for as long as a handle lives.
    #[must_use]
    pub fn memory() -> Seeds {
        Seeds(Place::Memory(Arc::default()))
    }

    /// Keeps a hand's seed unless the hand has one; what is kept from now on. Durable.
    pub async fn keep(&self, new: Kept) -> Result<Kept, RepoError> {
        match &self.0 {
            Place::Postgres(pool) => {
                insert(pool, &new).await?;
                // Read back in a statement of its own: one that waited for another's insert does
                // not see it.
                select(pool, new.hand).await?.ok_or(RepoError::Corrupt(new.hand))
            }
            Place::Memory(seeds) => {
                let mut seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(seeds.entry(new.hand).or_insert(new).clone())
            }
        }
    }

    /// A hand's seed, where it has one.
    pub async fn get(&self, hand: HandId) -> Result<Option<Kept>, RepoError> {
        match &self.0 {
            Place::Postgres(pool) => select(pool, hand).await,
            Place::Memory(seeds) => {
                Ok(seeds.lock().unwrap_or_else(PoisonError::into_inner).get(&hand).cloned())
            }
        }
    }
}

/// Makes the table and says what the dealer's role may do with it. Needs an administrator's URL and
/// the log's roles; safe to repeat.
pub async fn migrate(admin_url: &str) -> Result<(), MigrateError> {
    let mut admin = PgConnection::connect(admin_url).await.map_err(MigrateError)?;
    // One message is one transaction.
    sqlx::raw_sql(include_str!("seed.sql")).execute(&mut admin).await.map_err(MigrateError)?;
    admin.close().await.map_err(MigrateError)
}

async fn insert(pool: &PgPool, new: &Kept) -> Result<(), RepoError> {
    let Kept { hand, context, commitment, seed: SealedSeed { nonce, sealed } } = new;
    sqlx::query(
        "INSERT INTO dealer_vault.seed (hand_id, context, commitment, nonce, sealed) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (hand_id) DO NOTHING",
    )
    .bind(&hand.0[..])
    .bind(&context.0[..])
    .bind(&commitment.0[..])
    .bind(&nonce[..])
    .bind(&sealed[..])
    .execute(pool)
    .await
    .map(|_| ())
    .map_err(unavailable)
}

async fn select(pool: &PgPool, hand: HandId) -> Result<Option<Kept>, RepoError> {
    let row = sqlx::query(
        "SELECT context, commitment, nonce, sealed FROM dealer_vault.seed WHERE hand_id = $1",
    )
    .bind(&hand.0[..])
    .fetch_optional(pool)
    .await
    .map_err(unavailable)?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Kept {
        hand,
        context: Context(exactly(&row, "context", hand)?),
        commitment: Commitment(exactly(&row, "commitment", hand)?),
        seed: SealedSeed {
            nonce: exactly(&row, "nonce", hand)?,
            sealed: row.try_get("sealed").map_err(unavailable)?,
        },
    }))
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
