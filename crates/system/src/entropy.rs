//! Entropy, given to services as a dependency.
//!
//! [`SystemEntropy`] is all that a program needs. Its bytes come from two generators, the operating
//! system's and one of the process, mixed so that neither alone decides ([`mixed`]). Each is tested
//! before and while it is used ([`health`]).
//!
//! A fault of either is latched: from then on no secret is made in this process, since secrets made
//! before the fault showed may be as bad, and an operator has to look at the machine. What need not
//! be secret for ever, such as an id or the salt of a record, is still made of the generator that is
//! left, so that the fault itself can go on record.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::fmt;
use std::process;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::{ChaCha20Rng, StdRng, SysRng};
use rand::{Rng, SeedableRng};

use self::health::Unhealthy;
use self::mixed::{MixedEntropy, Moment};

pub mod health;
pub mod mixed;

/// Number of bytes that a generator gives at once.
pub const BLOCK: usize = 64;

/// Source of unpredictable bytes for a service.
pub trait Entropy: Send + Sync + 'static {
    /// Fills every byte of `out` with what a secret may be made of.
    ///
    /// # Errors
    /// A generator has failed, now or before; `out` is filled with zeros.
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError>;

    /// Fills every byte of `out` with what an id, a salt or a nonce may be made of: also after a
    /// generator has failed, as long as there is another.
    ///
    /// # Panics
    /// No generator gives bytes.
    fn fill(&self, out: &mut [u8]) {
        self.try_fill(out).expect("the source has entropy to give");
    }

    /// Draws as many bytes as the start-up tests need, for the tests alone.
    ///
    /// # Errors
    /// A generator has failed, now or before.
    fn test(&self) -> Result<(), EntropyError>;
}

/// A generator of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    OperatingSystem,
    Process,
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Generator::OperatingSystem => "operating system's generator",
            Generator::Process => "process's own generator",
        })
    }
}

/// Fault of a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("gives no bytes")]
    NoBytes,
    #[error("fails its health test: {0}")]
    Unhealthy(#[from] Unhealthy),
}

/// Reason why no secret can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {generator} {fault}")]
pub struct EntropyError {
    pub generator: Generator,
    pub fault: Fault,
}

/// Entropy of this process, shared by all values of this type: the operating system's generator
/// mixed with one of the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

/// Generators of this process, seeded when they are first used.
static PROCESS: LazyLock<MixedEntropy<SysRng, ChaCha20Rng>> =
    LazyLock::new(|| MixedEntropy::new(SysRng, now));

impl Entropy for SystemEntropy {
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        PROCESS.try_fill(out)
    }

    fn fill(&self, out: &mut [u8]) {
        PROCESS.fill(out);
    }

    fn test(&self) -> Result<(), EntropyError> {
        PROCESS.test()
    }
}

#[expect(clippy::disallowed_methods, reason = "a resume shows in the clocks alone")]
fn now() -> Moment {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let monotonic = START.elapsed();
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { process: process::id(), monotonic, wall }
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
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.generator.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(out);
        Ok(())
    }

    fn test(&self) -> Result<(), EntropyError> {
        Ok(())
    }
}

/// Returns `N` fresh bytes that need not be secret: an id, a salt, a nonce.
pub fn bytes<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut out = [0; N];
    entropy.fill(&mut out);
    out
}

/// Returns `N` fresh secret bytes, for a program that cannot go on without its key.
///
/// # Panics
/// A generator has failed.
pub fn secret<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut out = [0; N];
    if let Err(error) = entropy.try_fill(&mut out) {
        panic!("no key can be made on this machine: {error}");
    }
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
        assert_ne!(secret::<32>(&SystemEntropy), secret::<32>(&SystemEntropy));
        assert_eq!(SystemEntropy.test(), Ok(()));
    }

    #[test]
    fn a_seeded_source_goes_on_where_it_was() {
        let source = SeededEntropy::new(1);
        assert_ne!(bytes::<8>(&source), bytes::<8>(&source));
    }
}
