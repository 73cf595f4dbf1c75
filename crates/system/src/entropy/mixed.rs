//! Two generators whose bytes are mixed by HKDF-SHA-512, so that neither alone decides.
//!
//! A secret is HKDF over a block of each generator, drawn for this secret. The generator of the
//! process is seeded from the operating system's when it starts, and again, over its own output too:
//!
//! - every ten minutes by the monotonic clock;
//! - in a forked process, which has another process id and a copy of everything else;
//! - after a resume (of a virtual machine from a snapshot, of a machine from sleep), when the wall
//!   clock has run on by another span than the monotonic clock.
//!
//! Blocks are tested before they are mixed: afterwards no fault could be seen.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hkdf::Hkdf;
use rand::{SeedableRng, TryRng};
use sha2::Sha512;
use zeroize::Zeroizing;

use super::health::{HealthTests, STARTUP_SAMPLES};
use super::{BLOCK, Entropy, EntropyError, Fault, Generator};

/// Longest time between two seedings of the process's generator.
const RESEED_INTERVAL: Duration = Duration::from_mins(10);
/// Difference between the spans of the two clocks from which on it counts as a resume. A wall clock
/// that is set looks the same, and a seeding too many does no harm.
const RESUME_JUMP: Duration = Duration::from_secs(1);
/// Min-entropy of a byte in bits, at least. A sound generator has eight; a broken one falls short of
/// four by far.
const MIN_ENTROPY_BITS: f64 = 4.0;
/// Bytes that are made at once for ids and salts.
const POOL: usize = 1024;
/// Longest request that the pool serves.
const MAX_POOLED: usize = 64;

const OUTPUT: &[u8] = b"sabacc/entropy/v1/output";
const SEED: &[u8] = b"sabacc/entropy/v1/seed";

type Block = Zeroizing<[u8; BLOCK]>;

/// Clocks and process id, by which a resume and a fork are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Process id.
    pub process: u32,
    /// Time of a clock that nobody sets.
    pub monotonic: Duration,
    /// Time since 1970.
    pub wall: Duration,
}

impl Moment {
    /// Whether the process's generator, seeded then, must be seeded again now.
    fn ends(self, seeded: Moment) -> bool {
        let ran = self.monotonic.saturating_sub(seeded.monotonic);
        let offset = |at: Moment| at.wall.as_micros().wrapping_sub(at.monotonic.as_micros());
        let jump = (offset(self).wrapping_sub(offset(seeded))).cast_signed().unsigned_abs();
        self.process != seeded.process || ran >= RESEED_INTERVAL || jump >= RESUME_JUMP.as_micros()
    }
}

/// Mixed output of an operating system's generator and one of the process.
pub struct MixedEntropy<O, P> {
    now: Box<dyn Fn() -> Moment + Send + Sync>,
    generators: Mutex<Generators<O, P>>,
}

struct Generators<O, P> {
    system: Tested<O>,
    /// None before it is seeded.
    process: Option<Tested<P>>,
    seeded: Moment,
    /// Output for ids and salts, taken from its end.
    pool: Zeroizing<Vec<u8>>,
    failed: Option<EntropyError>,
}

/// A generator under its health tests.
struct Tested<G> {
    generator: G,
    name: Generator,
    health: HealthTests,
}

impl<O: TryRng, P: SeedableRng<Seed = [u8; 32]> + TryRng> MixedEntropy<O, P> {
    /// Seeds the process's generator from `system`, and tests both. A fault is latched, and is the
    /// error of the first use.
    pub fn new(system: O, now: impl Fn() -> Moment + Send + Sync + 'static) -> MixedEntropy<O, P> {
        let generators = Mutex::new(Generators {
            system: Tested::new(system, Generator::OperatingSystem),
            process: None,
            seeded: Moment::default(),
            pool: Zeroizing::default(),
            failed: None,
        });
        let entropy = MixedEntropy { now: Box::new(now), generators };
        entropy.locked().test((entropy.now)()).ok();
        entropy
    }

    fn locked(&self) -> MutexGuard<'_, Generators<O, P>> {
        self.generators.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O, P> Entropy for MixedEntropy<O, P>
where
    O: TryRng + Send + 'static,
    P: SeedableRng<Seed = [u8; 32]> + TryRng + Send + 'static,
{
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        let now = (self.now)();
        self.locked().fill(now, out)
    }

    fn fill(&self, out: &mut [u8]) {
        let now = (self.now)();
        self.locked().fill_pooled(now, out);
    }

    fn test(&self) -> Result<(), EntropyError> {
        let now = (self.now)();
        self.locked().test(now)
    }
}

impl<O: TryRng, P: SeedableRng<Seed = [u8; 32]> + TryRng> Generators<O, P> {
    fn fill(&mut self, now: Moment, out: &mut [u8]) -> Result<(), EntropyError> {
        out.fill(0);
        let (system, process) = self.latched(|it| it.blocks(now))?;
        mix(&[&system[..], &process[..]], OUTPUT, out);
        Ok(())
    }

    fn test(&mut self, now: Moment) -> Result<(), EntropyError> {
        let blocks = STARTUP_SAMPLES.div_ceil(BLOCK);
        self.latched(|it| (0..blocks).try_for_each(|_| it.blocks(now).map(drop)))
    }

    /// Runs `draw` unless a generator has failed before, and latches its fault.
    fn latched<T>(
        &mut self,
        draw: impl FnOnce(&mut Self) -> Result<T, EntropyError>,
    ) -> Result<T, EntropyError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        draw(self).inspect_err(|error| {
            tracing::error!(%error, "no secret is made in this process until it is started again");
            self.failed = Some(*error);
            self.pool.clear();
        })
    }

    /// A block of each generator, the process's seeded again where that is due.
    fn blocks(&mut self, now: Moment) -> Result<(Block, Block), EntropyError> {
        self.seed_if_due(now)?;
        let process = self.process.as_mut().expect("it is seeded before its first use");
        Ok((self.system.block()?, process.block()?))
    }

    fn seed_if_due(&mut self, now: Moment) -> Result<(), EntropyError> {
        if self.process.is_some() && !now.ends(self.seeded) {
            return Ok(());
        }
        let fresh = self.system.block()?;
        let before = self.process.as_mut().map(Tested::block).transpose()?;
        let before: &[u8] = before.as_ref().map_or(&[], |block| &block[..]);
        let mut seed = Zeroizing::new([0; 32]);
        mix(&[&fresh[..], before], SEED, &mut seed[..]);
        let generator = P::from_seed(*seed);
        // The tests go on over the seedings: a generator that repeats itself is stuck.
        match &mut self.process {
            Some(process) => process.generator = generator,
            None => self.process = Some(Tested::new(generator, Generator::Process)),
        }
        self.seeded = now;
        self.pool.clear();
        Ok(())
    }

    /// Fills `out` from the pool, or from the generator that is left.
    fn fill_pooled(&mut self, now: Moment, out: &mut [u8]) {
        if self.failed.is_none() && out.len() <= MAX_POOLED {
            if self.pool.len() < out.len() || now.ends(self.seeded) {
                let mut pool = Zeroizing::new(vec![0; POOL]);
                if self.fill(now, &mut pool).is_ok() {
                    self.pool = pool;
                }
            }
            if let Some(rest) = self.pool.len().checked_sub(out.len()) {
                out.copy_from_slice(&self.pool[rest..]);
                self.pool[rest..].fill(0);
                self.pool.truncate(rest);
                return;
            }
        }
        if self.fill(now, out).is_err() {
            self.fill_degraded(out);
        }
    }

    /// Mixes what the generators still give.
    fn fill_degraded(&mut self, out: &mut [u8]) {
        let system = self.system.untested();
        let process = self.process.as_mut().and_then(Tested::untested);
        assert!(system.is_some() || process.is_some(), "no generator gives bytes");
        let part = |block: &Option<Block>| block.as_ref().map_or(vec![], |block| block.to_vec());
        let (system, process) = (Zeroizing::new(part(&system)), Zeroizing::new(part(&process)));
        mix(&[&system, &process], OUTPUT, out);
    }
}

impl<G: TryRng> Tested<G> {
    fn new(generator: G, name: Generator) -> Tested<G> {
        Tested { generator, name, health: HealthTests::new(MIN_ENTROPY_BITS) }
    }

    fn block(&mut self) -> Result<Block, EntropyError> {
        let failed = |fault| EntropyError { generator: self.name, fault };
        let mut block = Block::new([0; BLOCK]);
        self.generator.try_fill_bytes(&mut block[..]).map_err(|_| failed(Fault::NoBytes))?;
        self.health.feed(&block).map_err(|unhealthy| failed(unhealthy.into()))?;
        Ok(block)
    }

    fn untested(&mut self) -> Option<Block> {
        let mut block = Block::new([0; BLOCK]);
        self.generator.try_fill_bytes(&mut block[..]).ok().map(|()| block)
    }
}

/// HKDF-SHA-512 over `parts`, for one use.
fn mix(parts: &[&[u8]], usage: &[u8], out: &mut [u8]) {
    let input = Zeroizing::new(parts.concat());
    Hkdf::<Sha512>::new(None, &input)
        .expand(usage, out)
        .expect("no caller asks for more than 255 blocks at once");
}

impl<O, P> fmt::Debug for MixedEntropy<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MixedEntropy")
    }
}

#[cfg(test)]
mod tests;
