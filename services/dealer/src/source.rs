//! The entropy that seeds are made of, watched.
//!
//! Every block that leaves here has gone through the health tests, and so have those that are drawn
//! only for them, before the first hand and each hour. A source that failed once gives nothing more:
//! what it gave before the failure may be as bad as what showed, so somebody has to look at it and
//! start the dealer again. Hands that are committed go on: their seeds are made.
//!
//! The operating system promises eight bits of entropy a byte. It is held to four: what breaks
//! breaks by far more than that, and a source that keeps its promise is never taken for a broken one
//! however long it runs.

use std::sync::{Arc, Mutex, PoisonError};

use fairness::health::{BLOCK, Health, START, Unhealthy};
use system::entropy::Entropy;
use zeroize::Zeroizing;

/// Min-entropy a byte, at least.
const BITS: f64 = 4.0;

/// See the module.
pub(crate) struct Source {
    entropy: Arc<dyn Entropy>,
    state: Mutex<State>,
}

struct State {
    health: Health,
    failed: Option<Unhealthy>,
}

impl Source {
    /// A source that has passed its first tests.
    pub(crate) fn try_new(entropy: Arc<dyn Entropy>) -> Result<Source, Unhealthy> {
        let state = Mutex::new(State { health: Health::new(BITS), failed: None });
        let source = Source { entropy, state };
        source.test()?;
        Ok(source)
    }

    /// Draws as much as a first use needs, for the tests alone.
    pub(crate) fn test(&self) -> Result<(), Unhealthy> {
        (0..START.div_ceil(BLOCK)).try_for_each(|_| self.block().map(drop))
    }

    /// Fresh bytes.
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
