//! Rotation of the key of seeds at rest: seeds under a previous key are sealed again under the
//! current one, in small batches, while hands go on.
//!
//! A pass walks all seeds once. A crash leaves each seed under one key or the other, and this
//! process has both; the next pass finds the rest. A pass that finds nothing to do logs so, and
//! only then can the operator take the previous keys away. A seed under a key that is missing stays
//! as it is, and its key id is logged.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::dealer::{Dealer, House, Problem};
use crate::repo::{Kept, Resealing};
use crate::vault::{DoesNotOpen, KeyId};

/// Most seeds in one statement.
const BATCH: u16 = 100;
/// Pause between two statements, so that hands are not held up.
const PAUSE: Duration = Duration::from_millis(20);
/// Pause after the database was unavailable.
const RETRY: Duration = Duration::from_secs(5);

/// Result of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    /// Number of seeds that this pass put under the current key.
    pub resealed: u64,
    /// Number of seeds by key, for keys that are missing.
    pub unknown: BTreeMap<[u8; 8], u64>,
    /// Number of seeds that open under no key, although their key is present or not named.
    pub damaged: u64,
}

impl Pass {
    /// Whether every seed that can be under the current key is.
    #[must_use]
    pub fn nothing_left(&self) -> bool {
        self.resealed == 0
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sealed again", self.resealed)?;
        for (key, seeds) in &self.unknown {
            write!(f, ", {seeds} under key {}, which is not here", KeyId(*key))?;
        }
        if self.damaged > 0 {
            write!(f, ", {} that open under no key", self.damaged)?;
        }
        Ok(())
    }
}

impl Dealer {
    /// Seals all seeds again that are not under the current key, in one pass. Safe to repeat, and
    /// to run in two processes at once.
    pub async fn reseal(&self) -> Result<Pass, Problem> {
        let house = self.house();
        let current = house.vault.current();
        let mut pass = Pass::default();
        let mut after = None;
        loop {
            let page = house.seeds.under_others(current, after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(pass) };
            after = Some(last.hand);
            let mut again = Vec::new();
            for kept in page {
                again.extend(seal_again(house, &kept, &mut pass)?);
            }
            if !again.is_empty() {
                pass.resealed += house.seeds.reseal(&again).await?;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Seals a seed under the current key; none if it does not open.
fn seal_again(house: &House, kept: &Kept, pass: &mut Pass) -> Result<Option<Resealing>, Problem> {
    let of = (&kept.context, &kept.commitment);
    let seed = match house.vault.open(&kept.seed, of) {
        Ok(seed) if kept.commitment.opens(&kept.context, &seed) => seed,
        Err(DoesNotOpen::UnknownKey(key)) => {
            *pass.unknown.entry(key.0).or_default() += 1;
            return Ok(None);
        }
        Ok(_) | Err(DoesNotOpen::Damaged(_) | DoesNotOpen::Unnamed) => {
            tracing::error!(hand = %kept.hand, "a kept seed opens under no key");
            pass.damaged += 1;
            return Ok(None);
        }
    };
    let nonce = house.nonce()?;
    let new = house.vault.seal(&seed, of, nonce);
    Ok(Some(Resealing { hand: kept.hand, old_nonce: kept.seed.nonce, seed: new }))
}

/// Runs passes until one finds nothing left, or until `stopping` fires. Does nothing without
/// previous keys.
pub(crate) async fn rotate(dealer: Dealer, stopping: CancellationToken) {
    if !dealer.house().vault.has_previous() {
        return;
    }
    let current = dealer.house().vault.current();
    loop {
        let Some(done) = stopping.run_until_cancelled(dealer.reseal()).await else { return };
        match done {
            Ok(pass) if !pass.nothing_left() => {
                tracing::info!(key = %current, "kept seeds: {pass}")
            }
            Ok(pass) => {
                tell_the_end(current, &pass);
                return;
            }
            Err(problem @ Problem::Entropy(_)) => {
                tracing::error!(error = %problem, "seeds stay under previous keys: keep those");
                return;
            }
            Err(problem) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", error = %problem, "seeds cannot be sealed again yet");
                if stopping.run_until_cancelled(tokio::time::sleep(RETRY)).await.is_none() {
                    return;
                }
            }
        }
    }
}

fn tell_the_end(current: KeyId, pass: &Pass) {
    if pass.unknown.is_empty() && pass.damaged == 0 {
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
