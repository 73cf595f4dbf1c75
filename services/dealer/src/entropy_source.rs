//! The entropy that seeds are made of, with its health tests.
//!
//! Every block that leaves here has passed the health tests. Further blocks are drawn only for the
//! tests, before the first hand and each hour. A source that failed once gives nothing more: blocks
//! before the failure may be as bad as the one that showed it, so an operator has to look at it and
//! start the dealer again. Hands that are committed go on: their seeds are made.
//!
//! The operating system promises eight bits of entropy a byte, and the tests assume four: a broken
//! source falls short by far more than that, and a sound one never fails, however long it runs.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::sync::{Arc, Mutex, PoisonError};

use fairness::health::{BLOCK, HealthTests, STARTUP_SAMPLES, Unhealthy};
use system::entropy::Entropy;
use zeroize::Zeroizing;

/// Min-entropy of a byte in bits, at least.
const MIN_ENTROPY_BITS: f64 = 4.0;

/// A source of entropy that stops at its first failed health test.
pub(crate) struct EntropySource {
    entropy: Arc<dyn Entropy>,
    state: Mutex<State>,
}

struct State {
    health: HealthTests,
    failed: Option<Unhealthy>,
}

impl EntropySource {
    /// Makes a source that has passed its start-up tests.
    pub(crate) fn try_new(entropy: Arc<dyn Entropy>) -> Result<EntropySource, Unhealthy> {
        let state = Mutex::new(State { health: HealthTests::new(MIN_ENTROPY_BITS), failed: None });
        let source = EntropySource { entropy, state };
        source.test()?;
        Ok(source)
    }

    /// Draws as many blocks as the start-up test needs, for the tests alone.
    pub(crate) fn test(&self) -> Result<(), Unhealthy> {
        (0..STARTUP_SAMPLES.div_ceil(BLOCK)).try_for_each(|_| self.block().map(drop))
    }

    /// Draws fresh bytes.
    pub(crate) fn block(&self) -> Result<Zeroizing<[u8; BLOCK]>, Unhealthy> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = state.failed {
            return Err(failed);
        }
        let mut block = Zeroizing::new([0; BLOCK]);
        self.entropy.fill(&mut block[..]);
        if let Err(failed) = state.health.feed(&block) {
            tracing::error!(error = %failed, "entropy fails its health test: no new seeds until a restart");
            state.failed = Some(failed);
            return Err(failed);
        }
        Ok(block)
    }
}
