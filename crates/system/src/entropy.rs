//! Entropy, given to services as a dependency.

use std::sync::{Mutex, PoisonError};

use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng, TryRng};

/// Source of unpredictable bytes for a service.
pub trait Entropy: Send + Sync + 'static {
    /// Fills every byte of `out`.
    ///
    /// # Panics
    /// The operating system has no entropy. Without it no fair card and no key can be made, so the
    /// process stops.
    fn fill(&self, out: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, out: &mut [u8]) {
        SysRng.try_fill_bytes(out).expect("the operating system has entropy to give");
    }
}

/// Deterministic entropy from a seed: for tests and the simulator, never where credits are played.
#[derive(Debug)]
pub struct SeededEntropy {
    generator: Mutex<StdRng>,
}

impl SeededEntropy {
    #[must_use]
    pub fn new(seed: u64) -> SeededEntropy {
        SeededEntropy { generator: Mutex::new(StdRng::seed_from_u64(seed)) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, out: &mut [u8]) {
        self.generator.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(out);
    }
}

/// Returns `N` fresh bytes.
pub fn bytes<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut out = [0; N];
    entropy.fill(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_the_system_does_not() {
        let draw = |seed| bytes::<32>(&SeededEntropy::new(seed));
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(bytes::<32>(&SystemEntropy), bytes::<32>(&SystemEntropy));
    }

    #[test]
    fn a_seeded_source_goes_on_where_it_was() {
        let source = SeededEntropy::new(1);
        assert_ne!(bytes::<8>(&source), bytes::<8>(&source));
    }
}
