//! Another key for the seeds at rest: what lies under a previous one is sealed again under the
//! current one, a few at a time, while hands go on.
//!
//! A pass walks all seeds once. A crash leaves each seed under one key or the other, and both are
//! here; the next pass finds what is left. A pass that finds nothing to do says so, and only then can
//! the operator take the previous keys away. What is under a key that is not here stays as it is and
//! is told by the key's name.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::dealer::{Dealer, House, Problem};
use crate::repo::{Kept, Resealing};
use crate::vault::{DoesNotOpen, KeyId};

/// Seeds in one statement.
const BATCH: u16 = 100;
/// Between two of them, so that hands are not held up.
const PAUSE: Duration = Duration::from_millis(20);
/// After a database that was out of reach.
const RETRY: Duration = Duration::from_secs(5);

/// What one pass did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    /// Seeds that are under the current key now and were not before.
    pub resealed: u64,
    /// Seeds under keys that are not here.
    pub unknown: BTreeMap<[u8; 8], u64>,
    /// Seeds that open under no key, though theirs is here or is not named.
    pub damaged: u64,
}

impl Pass {
    /// Whether all that can be under the current key is.
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
    /// Seals again what is not under the current key, walking all seeds once. Safe to repeat, and
    /// to do in two processes at once.
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

/// The seed under the current key, where it opens.
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

/// Where there are previous keys: passes until one finds nothing left, or until `stopping` fires.
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
        // Somebody has to do something: it is told where only warnings are.
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
