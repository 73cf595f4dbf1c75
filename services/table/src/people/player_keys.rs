//! The players' keys: created when first needed, unwrapped with a key that is not in the database,
//! and rewrapped when that key changes.

use std::sync::Arc;

use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use system::entropy::{self, Entropy};
use wire::{ApiRefusal, api_refusal, status};
use zeroize::Zeroizing;

use super::vault::{DecryptionFailed, PlayerKey, Vault};
use crate::repo::{KeyRepo, RepoError, RewrappedKey};

/// Keys that are rewrapped at one time.
const PAGE: usize = 500;

/// Store of the players' keys, and the keys that they are wrapped under.
#[derive(Clone)]
pub(crate) struct PlayerKeys {
    pub keys: KeyRepo,
    pub vault: Vault,
    /// Vaults of former values of `people_key`. Players' keys under one of them are rewrapped.
    pub previous: Vec<Vault>,
    pub entropy: Arc<dyn Entropy>,
}

/// Reason why the players' keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeopleError {
    #[error(transparent)]
    Keys(#[from] RepoError),
    #[error(
        "the key of a player does not open: neither people_key nor people_key_previous is the one that it was kept under"
    )]
    WrongKey(#[from] DecryptionFailed),
}

impl PlayerKeys {
    /// Rewraps every key under the newest one. Without former keys a single key is unwrapped, so
    /// that a wrong `people_key` is found at once.
    pub(super) async fn rewrap_all(&self) -> Result<(), PeopleError> {
        let PlayerKeys { keys, vault, previous, entropy } = self;
        let limit = if previous.is_empty() { 1 } else { PAGE };
        let mut after = None;
        loop {
            let page = keys.page(after, limit).await?;
            let mut anew = Vec::new();
            for (player, stored) in &page {
                if vault.unwrap(*player, stored).is_ok() {
                    continue;
                }
                let key = previous.iter().find_map(|older| older.unwrap(*player, stored).ok());
                let key = key.ok_or(DecryptionFailed)?;
                let now = vault.wrap(*player, &key, entropy::bytes(&**entropy));
                anew.push(RewrappedKey { player: *player, old_nonce: stored.nonce, new_key: now });
            }
            keys.rewrap(&anew).await?;
            after = page.last().map(|(player, _)| *player);
            if after.is_none() || previous.is_empty() {
                break;
            }
        }
        if !previous.is_empty() {
            tracing::warn!(
                "no player's key is left under a previous key: empty people_key_previous"
            );
        }
        Ok(())
    }

    /// Key of a player, if they have one.
    pub(super) async fn find_key(&self, player: PlayerId) -> Result<Option<PlayerKey>, ApiRefusal> {
        let stored = self.keys.get(&[player]).await.map_err(|error| key_refusal(&error))?;
        let key = stored.get(&player).map(|stored| self.vault.unwrap(player, stored)).transpose();
        key.map_err(|error| people_refusal(error.into()))
    }

    /// Creates a key for a player who has none and is not erased. Its row stays until the player is
    /// erased, so it is created only when something is about to be recorded under it, and for no
    /// refused command.
    pub(super) async fn new_key(&self, player: PlayerId) -> Result<PlayerKey, ApiRefusal> {
        let new = PlayerKey::new(Zeroizing::new(entropy::bytes(&*self.entropy)));
        let new = self.vault.wrap(player, &new, entropy::bytes(&*self.entropy));
        let stored =
            self.keys.insert_or_get(player, new).await.map_err(|error| key_refusal(&error))?;
        self.vault.unwrap(player, &stored).map_err(|error| people_refusal(error.into()))
    }

    /// Key of a player who has one; refused as corrupt where it is missing.
    pub(super) async fn existing_key(&self, player: PlayerId) -> Result<PlayerKey, ApiRefusal> {
        self.find_key(player).await?.ok_or_else(|| {
            let message = format!("the key of player {player} is missing, and he was not erased");
            api_refusal(ErrorReason::Corrupt, message)
        })
    }
}

pub(super) fn key_refusal(error: &RepoError) -> ApiRefusal {
    match error {
        RepoError::Unavailable(_) => status::unavailable("the players' keys cannot be reached"),
        RepoError::Corrupt => api_refusal(ErrorReason::Corrupt, error.to_string()),
    }
}

pub(super) fn people_refusal(error: PeopleError) -> ApiRefusal {
    match error {
        PeopleError::Keys(error) => key_refusal(&error),
        PeopleError::WrongKey(_) => api_refusal(ErrorReason::Corrupt, error.to_string()),
    }
}
