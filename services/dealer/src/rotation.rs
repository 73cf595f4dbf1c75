//! Rotation of the key of seeds at rest: seeds under a previous key are sealed again under the
//! current one, in small batches, while hands go on.
//!
//! A pass walks all seeds once. A crash leaves each seed under one key or the other, and this
//! process has both; the next pass finds the rest. A pass that finds nothing to do logs so, and
//! only then can the operator take the previous keys away. A seed under a key that is missing stays
//! as it is, and its key id is logged.
//!
//! Specification: services/dealer/README.md "Tasks".

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::dealer::{Dealer, DealerError, Resources};
use crate::repo::{ResealedSeed, StoredSeed};
use crate::vault::{KeyId, VaultError};

/// Most seeds in one statement.
const BATCH_SEEDS: u16 = 100;
/// Pause between two statements, so that hands are not held up.
const BATCH_PAUSE: Duration = Duration::from_millis(20);
/// Pause after the database was unavailable.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Result of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RotationPass {
    /// Number of seeds that this pass put under the current key.
    pub resealed: u64,
    /// Number of seeds by key, for keys that are missing.
    pub unknown: BTreeMap<[u8; 8], u64>,
    /// Number of seeds that open under no key, although their key is present or not named.
    pub corrupt: u64,
}

impl RotationPass {
    /// Whether every seed that can be under the current key is.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.resealed == 0
    }
}

impl fmt::Display for RotationPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sealed again", self.resealed)?;
        for (key, seeds) in &self.unknown {
            write!(f, ", {seeds} under key {}, which is not here", KeyId(*key))?;
        }
        if self.corrupt > 0 {
            write!(f, ", {} that open under no key", self.corrupt)?;
        }
        Ok(())
    }
}

impl Dealer {
    /// Seals all seeds again that are not under the current key, in one pass. Safe to repeat, and
    /// to run in two processes at once.
    pub async fn reseal(&self) -> Result<RotationPass, DealerError> {
        let resources = self.resources();
        let current = resources.vault.current();
        let mut pass = RotationPass::default();
        let mut after = None;
        loop {
            let page = resources.seeds.list_under_other_keys(current, after, BATCH_SEEDS).await?;
            let Some(last) = page.last() else { return Ok(pass) };
            after = Some(last.hand);
            let mut again = Vec::new();
            for kept in page {
                again.extend(reseal_one(resources, &kept, &mut pass)?);
            }
            if !again.is_empty() {
                pass.resealed += resources.seeds.replace(&again).await?;
                tokio::time::sleep(BATCH_PAUSE).await;
            }
        }
    }
}

/// Seals a seed under the current key; none if it does not open.
fn reseal_one(
    resources: &Resources,
    kept: &StoredSeed,
    pass: &mut RotationPass,
) -> Result<Option<ResealedSeed>, DealerError> {
    let of = (&kept.context, &kept.commitment);
    let seed = match resources.vault.open(&kept.seed, of) {
        Ok(seed) if kept.commitment.opens(&kept.context, &seed) => seed,
        Err(VaultError::UnknownKey(key)) => {
            *pass.unknown.entry(key.0).or_default() += 1;
            return Ok(None);
        }
        Ok(_) | Err(VaultError::Corrupt(_) | VaultError::NoKeyOpens) => {
            tracing::error!(hand = %kept.hand, "a kept seed opens under no key");
            pass.corrupt += 1;
            return Ok(None);
        }
    };
    let nonce = resources.nonce()?;
    let new = resources.vault.seal(&seed, of, nonce);
    Ok(Some(ResealedSeed { hand: kept.hand, old_nonce: kept.seed.nonce, seed: new }))
}

/// Runs passes until one finds nothing left. Does nothing without previous keys.
pub(crate) async fn rotate(dealer: Dealer) {
    if !dealer.resources().vault.has_previous() {
        return;
    }
    let current = dealer.resources().vault.current();
    loop {
        match dealer.reseal().await {
            Ok(pass) if !pass.is_done() => {
                tracing::info!(key = %current, "kept seeds: {pass}")
            }
            Ok(pass) => {
                log_end(current, &pass);
                return;
            }
            Err(problem @ DealerError::Entropy(_)) => {
                tracing::error!(error = %problem, "seeds stay under previous keys: keep those");
                return;
            }
            Err(problem) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", error = %problem, "seeds cannot be sealed again yet");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

fn log_end(current: KeyId, pass: &RotationPass) {
    if pass.unknown.is_empty() && pass.corrupt == 0 {
        // The operator has to act, so this is logged as a warning.
        tracing::warn!(
            key = %current,
            "no seed is left under a previous key: what seed_key_previous names can be removed"
        );
    } else {
        tracing::error!(
            key = %current,
            "nothing is left under the previous keys that are here, but not all seeds open: {pass}"
        );
    }
}
