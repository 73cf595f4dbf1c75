//! Rotation of the key of seeds at rest: seeds under a previous key are sealed again under the
//! current one, in small batches, while hands go on.
//!
//! A pass that finds nothing to do logs so, and only then can the operator take the previous keys
//! away. A seed under a key that is missing stays as it is, and its key id is logged.
//!
//! Specification: services/dealer/README.md "Tasks".

use std::time::Duration;

use keyring::{KeyId, Rotation, RotationPass};

use crate::dealer::{Dealer, DealerError};

/// Pause between two statements, so that hands are not held up.
const BATCH_PAUSE: Duration = Duration::from_millis(20);
/// Pause after the database was unavailable.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

impl Dealer {
    /// Seals all seeds again that are not under the current key, in one pass. Safe to repeat, and
    /// to run in two processes at once.
    pub async fn reseal(&self) -> Result<RotationPass, DealerError> {
        let resources = self.resources();
        let mut rotation = Rotation::new(&resources.seeds, &resources.keyring);
        loop {
            let step = rotation.step(|| resources.nonce().map_err(DealerError::from)).await?;
            let Some(pass) = step else {
                tokio::time::sleep(BATCH_PAUSE).await;
                continue;
            };
            if pass.corrupt > 0 {
                tracing::error!(seeds = pass.corrupt, "kept seeds do not open under their key");
            }
            return Ok(pass);
        }
    }
}

/// Runs passes until one finds nothing left. Does nothing without previous keys.
pub(crate) async fn rotate(dealer: Dealer) {
    if dealer.resources().keyring.previous().next().is_none() {
        return;
    }
    let current = dealer.resources().keyring.current();
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
    if pass.all_open() {
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
