//! Store of the players' keys: the table `player_key` in a schema that only the table service's
//! role can enter, or memory for tests.
//!
//! There is one row for each player, inserted once and deleted when they are erased. The key in it
//! never changes; only its wrapping does. The first insert decides a player's key, even while two
//! processes believe that they own the log.

use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(test)]
use std::sync::{Mutex, PoisonError};

use eventlog::with_statement_timeout;
use primitives::PlayerId;
use sqlx::postgres::{PgConnection, PgPoolOptions, PgRow};
use sqlx::{Connection as _, PgPool, Row as _};

use crate::people::vault::WrappedKey;

/// Connections of the pool. Keys are read only when somebody sits down, sets a name or disputes a
/// hand.
const CONNECTIONS: u32 = 4;

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RepoError {
    #[error("the table's database is unavailable: repeat the call later")]
    Unavailable(#[source] Arc<sqlx::Error>),
    #[error("a stored key of a player has a column of the wrong length")]
    Corrupt,
}

/// The database URL cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("the database URL cannot be read: postgres://user@host:5432/name is expected")]
pub(crate) struct UrlError(#[source] sqlx::Error);

/// The table of the keys could not be created.
#[derive(Debug, thiserror::Error)]
#[error("the table of the players' keys could not be made: the URL must be an administrator's")]
pub struct MigrateError(#[source] sqlx::Error);

/// Store of the players' keys. Clones share it.
#[derive(Clone)]
pub(crate) struct KeyRepo(Backend);

/// A player's key that is wrapped anew.
pub(crate) struct RewrappedKey {
    pub player: PlayerId,
    /// Nonce of its former wrapping.
    pub old_nonce: [u8; 24],
    pub new_key: WrappedKey,
}

#[derive(Clone)]
enum Backend {
    Postgres(PgPool),
    #[cfg(test)]
    Memory(Arc<Mutex<BTreeMap<PlayerId, WrappedKey>>>),
}

impl KeyRepo {
    /// Keys in the database that `url` names, as the table service's role. Connects when first
    /// used.
    pub(crate) fn postgres(url: &str) -> Result<KeyRepo, UrlError> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect_lazy(url);
        pool.map(|pool| KeyRepo(Backend::Postgres(pool))).map_err(UrlError)
    }

    /// Keys in memory, for as long as a handle lives.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn memory() -> KeyRepo {
        KeyRepo(Backend::Memory(Arc::default()))
    }

    /// Stores a player's key unless they have one. Returns the stored key, durably.
    pub(crate) async fn insert_or_get(
        &self,
        player: PlayerId,
        new: WrappedKey,
    ) -> Result<WrappedKey, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => {
                insert(pool, player, &new).await?;
                // Read back in a statement of its own, since an insert that waited for another one
                // does not see it.
                let stored = select(pool, &[player]).await?.remove(&player);
                stored.ok_or(RepoError::Corrupt)
            }
            #[cfg(test)]
            Backend::Memory(keys) => {
                let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(keys.entry(player).or_insert(new).clone())
            }
        }
    }

    /// Keys of those of the players who have one.
    pub(crate) async fn get(
        &self,
        players: &[PlayerId],
    ) -> Result<BTreeMap<PlayerId, WrappedKey>, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => select(pool, players).await,
            #[cfg(test)]
            Backend::Memory(keys) => {
                let keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                let found = players.iter().filter_map(|id| Some((*id, keys.get(id)?.clone())));
                Ok(found.collect())
            }
        }
    }

    /// Keys of up to `limit` players after one, in the order of their ids.
    pub(crate) async fn page(
        &self,
        after: Option<PlayerId>,
        limit: usize,
    ) -> Result<Vec<(PlayerId, WrappedKey)>, RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => select_after(pool, after, limit).await,
            #[cfg(test)]
            Backend::Memory(keys) => {
                let keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                let next = keys.iter().filter(|(player, _)| after.is_none_or(|it| **player > it));
                Ok(next.take(limit).map(|(player, key)| (*player, key.clone())).collect())
            }
        }
    }

    /// Replaces the wrapping of keys, where the former wrapping is still stored.
    pub(crate) async fn rewrap(&self, keys: &[RewrappedKey]) -> Result<(), RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => update(pool, keys).await,
            #[cfg(test)]
            Backend::Memory(stored) => {
                let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
                for RewrappedKey { player, old_nonce: was, new_key: now } in keys {
                    if let Some(key) = stored.get_mut(player).filter(|key| key.nonce == *was) {
                        *key = now.clone();
                    }
                }
                Ok(())
            }
        }
    }

    /// Deletes the keys of players, if they are stored.
    pub(crate) async fn destroy(&self, players: &[PlayerId]) -> Result<(), RepoError> {
        match &self.0 {
            Backend::Postgres(pool) => delete(pool, players).await,
            #[cfg(test)]
            Backend::Memory(keys) => {
                let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                players.iter().for_each(|player| drop(keys.remove(player)));
                Ok(())
            }
        }
    }
}

/// Creates the table and sets the rights of the table service's role. Needs an administrator's URL
/// and the roles of the log; safe to repeat.
pub(crate) async fn migrate(admin_url: &str) -> Result<(), MigrateError> {
    let mut admin = PgConnection::connect(admin_url).await.map_err(MigrateError)?;
    // One message is one transaction.
    sqlx::raw_sql(include_str!("people.sql")).execute(&mut admin).await.map_err(MigrateError)?;
    admin.close().await.map_err(MigrateError)
}

async fn insert(pool: &PgPool, player: PlayerId, new: &WrappedKey) -> Result<(), RepoError> {
    let WrappedKey { nonce, wrapped } = new;
    with_statement_timeout(
        sqlx::query(
            "INSERT INTO table_people.player_key (player_id, nonce, wrapped) VALUES ($1, $2, $3) \
         ON CONFLICT (player_id) DO NOTHING",
        )
        .bind(&player.0[..])
        .bind(&nonce[..])
        .bind(&wrapped[..])
        .execute(pool),
    )
    .await
    .map(|_| ())
    .map_err(unavailable)
}

async fn select(
    pool: &PgPool,
    players: &[PlayerId],
) -> Result<BTreeMap<PlayerId, WrappedKey>, RepoError> {
    let rows = with_statement_timeout(sqlx::query(
        "SELECT player_id, nonce, wrapped FROM table_people.player_key WHERE player_id = ANY($1)",
    )
    .bind(ids(players))
    .fetch_all(pool))
    .await
    .map_err(unavailable)?;
    rows.iter().map(key).collect()
}

async fn select_after(
    pool: &PgPool,
    after: Option<PlayerId>,
    limit: usize,
) -> Result<Vec<(PlayerId, WrappedKey)>, RepoError> {
    let rows = with_statement_timeout(
        sqlx::query(
            "SELECT player_id, nonce, wrapped FROM table_people.player_key WHERE player_id > $1 \
         ORDER BY player_id LIMIT $2",
        )
        .bind(after.map_or_else(Vec::new, |player| player.0.to_vec()))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(pool),
    )
    .await
    .map_err(unavailable)?;
    rows.iter().map(key).collect()
}

async fn update(pool: &PgPool, keys: &[RewrappedKey]) -> Result<(), RepoError> {
    let column = |of: fn(&RewrappedKey) -> Vec<u8>| keys.iter().map(of).collect::<Vec<_>>();
    with_statement_timeout(
        sqlx::query(
            "UPDATE table_people.player_key AS kept SET nonce = new.nonce, wrapped = new.wrapped \
         FROM UNNEST($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[]) \
              AS new (player_id, was, nonce, wrapped) \
         WHERE kept.player_id = new.player_id AND kept.nonce = new.was",
        )
        .bind(column(|key| key.player.0.to_vec()))
        .bind(column(|key| key.old_nonce.to_vec()))
        .bind(column(|key| key.new_key.nonce.to_vec()))
        .bind(column(|key| key.new_key.wrapped.clone()))
        .execute(pool),
    )
    .await
    .map(|_| ())
    .map_err(unavailable)
}

async fn delete(pool: &PgPool, players: &[PlayerId]) -> Result<(), RepoError> {
    with_statement_timeout(
        sqlx::query("DELETE FROM table_people.player_key WHERE player_id = ANY($1)")
            .bind(ids(players))
            .execute(pool),
    )
    .await
    .map(|_| ())
    .map_err(unavailable)
}

fn ids(players: &[PlayerId]) -> Vec<Vec<u8>> {
    players.iter().map(|player| player.0.to_vec()).collect()
}

fn key(row: &PgRow) -> Result<(PlayerId, WrappedKey), RepoError> {
    let wrapped = row.try_get("wrapped").map_err(unavailable)?;
    let key = WrappedKey { nonce: exactly(row, "nonce")?, wrapped };
    Ok((PlayerId(exactly(row, "player_id")?), key))
}

fn exactly<const N: usize>(row: &PgRow, column: &str) -> Result<[u8; N], RepoError> {
    let bytes: &[u8] = row.try_get(column).map_err(unavailable)?;
    bytes.try_into().map_err(|_| RepoError::Corrupt)
}

fn unavailable(error: sqlx::Error) -> RepoError {
    RepoError::Unavailable(Arc::new(error))
}

#[cfg(test)]
mod tests;
