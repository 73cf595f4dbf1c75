//! Change of the current key: secrets under a previous key are sealed again under the current one,
//! in small batches, while they are in use.
//!
//! A pass walks all secrets once. A crash leaves each secret under one key or the other, and the
//! keyring has both; the next pass finds the rest. A secret under a key that is missing stays as it
//! is, and its key id is reported.

use std::collections::BTreeMap;
use std::fmt;

use crate::{KeyId, Keyring, Nonce, OpenError, ResealedSecret, SecretId, SecretStore, StoreError};

/// Most secrets in one statement.
const BATCH_SECRETS: u16 = 100;

/// Result of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RotationPass {
    /// Number of secrets that this pass put under the current key.
    pub resealed: u64,
    /// Number of secrets by key, for keys that are missing.
    pub unknown: BTreeMap<KeyId, u64>,
    /// Number of secrets that do not open, although their key is present.
    pub corrupt: u64,
}

impl RotationPass {
    /// Whether no secret was found that does not open.
    #[must_use]
    pub fn all_open(&self) -> bool {
        self.unknown.is_empty() && self.corrupt == 0
    }

    /// Whether every secret that can be under the current key is.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.resealed == 0
    }
}

impl fmt::Display for RotationPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sealed again", self.resealed)?;
        for (key, secrets) in &self.unknown {
            write!(f, ", {secrets} under key {key}, which is not here")?;
        }
        if self.corrupt > 0 {
            write!(f, ", {} that open under no key", self.corrupt)?;
        }
        Ok(())
    }
}

/// One pass over all secrets. Safe to repeat, and to run in two processes at once.
pub struct Rotation<'a> {
    store: &'a SecretStore,
    keyring: &'a Keyring,
    after: Option<SecretId>,
    pass: RotationPass,
}

impl<'a> Rotation<'a> {
    #[must_use]
    pub fn new(store: &'a SecretStore, keyring: &'a Keyring) -> Rotation<'a> {
        Rotation { store, keyring, after: None, pass: RotationPass::default() }
    }

    /// Seals the next batch again. Returns the result once nothing is left.
    ///
    /// # Errors
    /// The store's, or that of a nonce.
    pub async fn step<E: From<StoreError>>(
        &mut self,
        nonce: impl Fn() -> Result<Nonce, E>,
    ) -> Result<Option<RotationPass>, E> {
        let current = self.keyring.current();
        let page = self.store.list_under_other_keys(current, self.after, BATCH_SECRETS).await?;
        let Some(last) = page.last() else { return Ok(Some(self.pass.clone())) };
        self.after = Some(last.id);
        let mut again = Vec::new();
        for kept in &page {
            match self.keyring.reseal(kept, nonce()?) {
                Ok(secret) => again.push(ResealedSecret { old_nonce: kept.nonce, secret }),
                Err(OpenError::UnknownKey(key)) => *self.pass.unknown.entry(key).or_default() += 1,
                Err(OpenError::Corrupt(_)) => self.pass.corrupt += 1,
            }
        }
        self.pass.resealed += self.store.replace(&again).await?;
        Ok(None)
    }
}
