//! The players' keys in use: made when first needed, opened with the key that is not in the database,
//! wrapped anew when that key is another.

use std::sync::Arc;

use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use system::entropy::{self, Entropy};
use wire::{Refused, refused, status};
use zeroize::Zeroizing;

use super::vault::{DoesNotOpen, PlayerKey, Vault};
use crate::repo::{Keys, RepoError, Rewrapped};

/// Keys that are wrapped anew at a time.
const PAGE: usize = 500;

/// What people's events are kept with.
#[derive(Clone)]
pub struct Keeping {
    pub keys: Keys,
    pub vault: Vault,
    /// Of keys that were `people_key` before: what is wrapped under one of them is wrapped anew.
    pub previous: Vec<Vault>,
    pub entropy: Arc<dyn Entropy>,
}

/// Why people's events cannot be used.
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
    /// Sees to it that every key is wrapped under the newest key. Without older ones a single key is
    /// tried, so that a wrong key is told at once.
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

    /// The key of a player, where they have one.
    pub(super) async fn known_key(&self, player: PlayerId) -> Result<Option<PlayerKey>, Refused> {
        let kept = self.keys.get(&[player]).await.map_err(|error| of_keys(&error))?;
        let key = kept.get(&player).map(|kept| self.vault.unwrap(player, kept)).transpose();
        key.map_err(|error| unusable(error.into()))
    }

    /// A key for a player who is not erased and has none. It is a row for ever: made when something is
    /// about to be recorded under it, and for nobody who is refused.
    pub(super) async fn new_key(&self, player: PlayerId) -> Result<PlayerKey, Refused> {
        let new = PlayerKey::new(Zeroizing::new(entropy::bytes(&*self.entropy)));
        let new = self.vault.wrap(player, &new, entropy::bytes(&*self.entropy));
        let kept = self.keys.keep(player, new).await.map_err(|error| of_keys(&error))?;
        self.vault.unwrap(player, &kept).map_err(|error| unusable(error.into()))
    }

    /// The key of a player who has one.
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
