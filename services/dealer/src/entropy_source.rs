//! The entropy that seeds are made of.
//!
//! A source that failed once gives nothing more: blocks before the failure may be as bad as the one
//! that showed it, so an operator has to look at the machine and start the dealer again. Hands that
//! are committed go on: their seeds are made.
//!
//! The generators and their tests are `system::entropy`. Further blocks are drawn only for the
//! tests, before the first hand and each hour, so that a failure shows while nobody plays.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::sync::Arc;

use system::entropy::{BLOCK, Entropy, EntropyError};
use tokio::sync::watch;
use zeroize::Zeroizing;

/// A source of entropy that stops at its first failure.
pub(crate) struct EntropySource {
    entropy: Arc<dyn Entropy>,
    failure: watch::Sender<Option<EntropyError>>,
}

impl EntropySource {
    /// Makes a source that has passed its start-up tests.
    pub(crate) fn try_new(entropy: Arc<dyn Entropy>) -> Result<EntropySource, EntropyError> {
        let source = EntropySource { entropy, failure: watch::Sender::default() };
        source.test()?;
        Ok(source)
    }

    /// Draws as many blocks as the start-up test needs, for the tests alone.
    pub(crate) fn test(&self) -> Result<(), EntropyError> {
        self.latched(|entropy| entropy.test())
    }

    /// Draws fresh bytes.
    pub(crate) fn block(&self) -> Result<Zeroizing<[u8; BLOCK]>, EntropyError> {
        let mut block = Zeroizing::new([0; BLOCK]);
        self.latched(|entropy| entropy.try_fill(&mut block[..]))?;
        Ok(block)
    }

    /// The failure, from when there is one.
    pub(crate) fn failure(&self) -> watch::Receiver<Option<EntropyError>> {
        self.failure.subscribe()
    }

    fn latched(
        &self,
        draw: impl FnOnce(&dyn Entropy) -> Result<(), EntropyError>,
    ) -> Result<(), EntropyError> {
        if let Some(failed) = *self.failure.borrow() {
            return Err(failed);
        }
        draw(&*self.entropy).inspect_err(|error| {
            let first = |failure: &mut Option<EntropyError>| {
                let first = failure.is_none();
                failure.get_or_insert(*error);
                first
            };
            if self.failure.send_if_modified(first) {
                tracing::error!(%error, "the dealer is out of service: no new seeds until a restart");
            }
        })
    }
}
