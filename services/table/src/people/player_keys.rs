//! The players' keys: created when first needed, sealed under a key that is not in the database,
//! and sealed again when that key changes.
//!
//! There is one for each player, under their id: the first insert decides it, even while two
//! processes believe that they own the log, and it is deleted when the player is erased.

use std::sync::Arc;

use keyring::{Keyring, OpenError, Rotation, SealedSecret, SecretStore, StoreError};
use primitives::PlayerId;
use proto::common::v1::ErrorReason;
use system::entropy::{self, Entropy};
use wire::{ApiRefusal, api_refusal, status};
use zeroize::Zeroizing;

use super::vault::PlayerKey;

/// Schema that only the table service's role can enter.
pub(crate) const SCHEMA: &str = "table_people";

/// Statements that make the table of the keys and give the role its rights.
pub(crate) const MIGRATION: &str = include_str!("../people.sql");

/// Store of the players' keys, and the keys that they are sealed under.
#[derive(Clone)]
pub(crate) struct PlayerKeys {
    pub keys: SecretStore,
    pub keyring: Keyring,
    pub entropy: Arc<dyn Entropy>,
}

/// Reason why the players' keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeopleError {
    #[error(transparent)]
    Keys(#[from] StoreError),
    #[error(
        "the key of a player does not open: neither people_key nor people_key_previous is the one that it was kept under"
    )]
    WrongKey,
}

impl From<OpenError> for PeopleError {
    fn from(_: OpenError) -> PeopleError {
        PeopleError::WrongKey
    }
}

impl PlayerKeys {
    /// Seals every key again that is not under the current one.
    ///
    /// # Errors
    /// A key does not open, so that a wrong `people_key` is found at once.
    pub(super) async fn reseal_all(&self) -> Result<(), PeopleError> {
        let PlayerKeys { keys, keyring, entropy } = self;
        let mut rotation = Rotation::new(keys, keyring);
        let pass = loop {
            let nonce = || Ok::<_, StoreError>(entropy::bytes(&**entropy));
            if let Some(pass) = rotation.step(nonce).await? {
                break pass;
            }
        };
        if !pass.all_open() {
            tracing::error!("the players' keys: {pass}");
            return Err(PeopleError::WrongKey);
        }
        if keyring.previous().next().is_some() {
            tracing::warn!(
                "no player's key is left under a previous key: empty people_key_previous"
            );
        }
        Ok(())
    }

    /// Key of a player, if they have one.
    pub(super) async fn find_key(&self, player: PlayerId) -> Result<Option<PlayerKey>, ApiRefusal> {
        let kept = self.keys.get(player.0).await.map_err(|error| key_refusal(&error))?;
        kept.map(|kept| self.open(&kept)).transpose().map_err(|error| people_refusal(error.into()))
    }

    /// Opens a player's key.
    pub(super) fn open(&self, kept: &SealedSecret) -> Result<PlayerKey, OpenError> {
        self.keyring.open(kept).map(PlayerKey::new)
    }

    /// Creates a key for a player who has none and is not erased. Its row stays until the player is
    /// erased, so it is created only when something is about to be recorded under it, and for no
    /// refused command.
    pub(super) async fn new_key(&self, player: PlayerId) -> Result<PlayerKey, ApiRefusal> {
        let new = PlayerKey::new(Zeroizing::new(entropy::secret(&*self.entropy)));
        let nonce = entropy::bytes(&*self.entropy);
        let new = self.keyring.seal(player.0, &[], new.expose(), nonce);
        let kept = self.keys.insert_if_absent(new).await.map_err(|error| key_refusal(&error))?;
        self.open(&kept).map_err(|error| people_refusal(error.into()))
    }

    /// Key of a player who has one; refused as corrupt where it is missing.
    pub(super) async fn existing_key(&self, player: PlayerId) -> Result<PlayerKey, ApiRefusal> {
        self.find_key(player).await?.ok_or_else(|| {
            let message = format!("the key of player {player} is missing, and he was not erased");
            api_refusal(ErrorReason::Corrupt, message)
        })
    }
}

pub(super) fn key_refusal(error: &StoreError) -> ApiRefusal {
    match error {
        StoreError::Unavailable(_) => status::unavailable("the players' keys cannot be reached"),
        StoreError::Corrupt => api_refusal(ErrorReason::Corrupt, error.to_string()),
    }
}

pub(super) fn people_refusal(error: PeopleError) -> ApiRefusal {
    match error {
        PeopleError::Keys(error) => key_refusal(&error),
        PeopleError::WrongKey => api_refusal(ErrorReason::Corrupt, error.to_string()),
    }
}
