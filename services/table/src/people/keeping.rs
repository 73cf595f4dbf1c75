//! The players' keys: created when first needed, unwrapped with a key that is not in the database,
//! and rewrapped when that key changes.

use std::sync::Arc;

use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use system::entropy::{self, Entropy};
use wire::{Refused, refused, status};
use zeroize::Zeroizing;

use super::vault::{DoesNotOpen, PlayerKey, Vault};
use crate::repo::{Keys, RepoError, Rewrapped};

/// Keys that are rewrapped at one time.
const PAGE: usize = 500;

/// Store of the players' keys, and the keys that they are wrapped under.
#[derive(Clone)]
pub struct Keeping {
    pub keys: Keys,
    pub vault: Vault,
    /// Vaults of former values of `people_key`. Players' keys under one of them are rewrapped.
    pub previous: Vec<Vault>,
    pub entropy: Arc<dyn Entropy>,
}

/// Reason why the players' keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error(transparent)]
    Keys(#[from] RepoError),
    #[error(
        "the key of a player does not open: neither people_key nor people_key_previous is the one that it was kept under"
    )]
    WrongKey(#[from] DoesNotOpen),
}

impl Keeping {
    /// Rewraps every key under the newest one. Without former keys a single key is unwrapped, so
    /// that a wrong `people_key` is found at once.
    pub(super) async fn wrap_anew(&self) -> Result<(), PeopleError> {
        let Keeping { keys, vault, previous, entropy } = self;
        let limit = if previous.is_empty() { 1 } else { PAGE };
        let mut after = None;
        loop {
            let page = keys.page(after, limit).await?;
            let mut anew = Vec::new();
            for (player, kept) in &page {
                if vault.unwrap(*player, kept).is_ok() {
                    continue;
                }
                let key = previous.iter().find_map(|older| older.unwrap(*player, kept).ok());
                let key = key.ok_or(DoesNotOpen)?;
                let now = vault.wrap(*player, &key, entropy::bytes(&**entropy));
                anew.push(Rewrapped { player: *player, was: kept.nonce, now });
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
    pub(super) async fn known_key(&self, player: PlayerId) -> Result<Option<PlayerKey>, Refused> {
        let kept = self.keys.get(&[player]).await.map_err(|error| of_keys(&error))?;
        let key = kept.get(&player).map(|kept| self.vault.unwrap(player, kept)).transpose();
        key.map_err(|error| unusable(error.into()))
    }

    /// Creates a key for a player who has none and is not erased. Its row stays until the player is
    /// erased, so it is created only when something is about to be recorded under it, and for no
    /// refused command.
    pub(super) async fn new_key(&self, player: PlayerId) -> Result<PlayerKey, Refused> {
        let new = PlayerKey::new(Zeroizing::new(entropy::bytes(&*self.entropy)));
        let new = self.vault.wrap(player, &new, entropy::bytes(&*self.entropy));
        let kept = self.keys.keep(player, new).await.map_err(|error| of_keys(&error))?;
        self.vault.unwrap(player, &kept).map_err(|error| unusable(error.into()))
    }

    /// Key of a player who has one; refused as corrupt where it is missing.
    pub(super) async fn kept_key(&self, player: PlayerId) -> Result<PlayerKey, Refused> {
        self.known_key(player).await?.ok_or_else(|| {
            let message = format!("the key of player {player} is missing, and he was not erased");
            refused(ErrorReason::Corrupt, message)
        })
    }
}

pub(super) fn of_keys(error: &RepoError) -> Refused {
    match error {
        RepoError::Unavailable(_) => status::unavailable("the players' keys cannot be reached"),
        RepoError::Corrupt => refused(ErrorReason::Corrupt, error.to_string()),
    }
}

pub(super) fn unusable(error: PeopleError) -> Refused {
    match error {
        PeopleError::Keys(error) => of_keys(&error),
        PeopleError::WrongKey(_) => refused(ErrorReason::Corrupt, error.to_string()),
    }
}
