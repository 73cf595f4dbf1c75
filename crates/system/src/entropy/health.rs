//! Health tests of an entropy source: those of NIST SP 800-90B, section 4.4.
//!
//! The repetition count detects a source that is stuck, the adaptive proportion one that has come
//! to prefer a value. A source with the assessed min-entropy reaches either cutoff with a
//! probability of at most 2^-30 a sample; the cutoffs are computed here from that entropy.
//!
//! Samples are bytes. The repetition count also runs over whole blocks of [`BLOCK`] bytes, as many
//! as a seed has: a generator whose state was copied or stands still repeats itself block by block,
//! with bytes that look perfect.
//!
//! A healthy source is only one that is not plainly broken. Outputs cannot show whether somebody
//! else knows them.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::fmt;

use zeroize::Zeroizing;

use super::BLOCK;

/// Number of samples that the proportion is taken over.
pub const WINDOW: u32 = 512;
/// Number of samples that a source must pass before its first use.
pub const STARTUP_SAMPLES: usize = 1024;
/// A healthy source reaches a cutoff with a probability of 2 to the power of minus this.
const ALPHA_BITS: f64 = 30.0;

/// Reason why a source is unhealthy. It does not show which bytes came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unhealthy {
    #[error("one byte came {cutoff} times in a row")]
    Stuck { cutoff: u32 },
    #[error("one byte came {cutoff} times among {WINDOW}")]
    Preferred { cutoff: u32 },
    #[error("the same {BLOCK} bytes came twice in a row")]
    Repeated,
}

/// Counts from which on a test fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Number of equal samples in a row.
    pub repetition: u32,
    /// Number of samples equal to the first of a window of [`WINDOW`], including the first.
    pub proportion: u32,
}

impl Cutoffs {
    /// Cutoffs for samples of `bits` of min-entropy each. Values outside 0.001 to 8 count as the
    /// nearest of the two.
    #[must_use]
    pub fn for_entropy(bits: f64) -> Cutoffs {
        let bits = bits.clamp(0.001, 8.0);
        let mut repetition = 1;
        while f64::from(repetition - 1) * bits < ALPHA_BITS {
            repetition += 1;
        }
        Cutoffs { repetition, proportion: 1 + binomial_cutoff(WINDOW, (-bits).exp2(), ALPHA_BITS) }
    }
}

/// Critical value of the binomial law: the smallest k such that `n` samples hold more than k of a
/// value of probability `p` with a probability of at most 2^-`alpha_bits`.
fn binomial_cutoff(n: u32, p: f64, alpha_bits: f64) -> u32 {
    // Summed from the far end, so that rounding affects small numbers only.
    let mut at = n;
    let mut term = p.ln() * f64::from(n);
    let mut above = term.exp();
    while above <= (-alpha_bits).exp2() && at > 0 {
        // The term for k - 1, C(n, k - 1) p^(k - 1) q^(n - k + 1), from the term for k.
        term += (f64::from(at) / f64::from(n - at + 1)).ln() + ((1.0 - p) / p).ln();
        at -= 1;
        above += term.exp();
    }
    at
}

/// Health tests of one source, over everything that comes from it.
pub struct HealthTests {
    cutoffs: Cutoffs,
    last: Option<u8>,
    in_a_row: u32,
    window: Window,
    block: Option<Zeroizing<[u8; BLOCK]>>,
}

/// Count of the first value of a window of samples.
#[derive(Default)]
struct Window {
    value: u8,
    count: u32,
    samples: u32,
}

impl HealthTests {
    /// Tests a source whose bytes have `bits` of min-entropy each, above 0 and at most 8.
    #[must_use]
    pub fn new(bits: f64) -> HealthTests {
        let cutoffs = Cutoffs::for_entropy(bits);
        HealthTests { cutoffs, last: None, in_a_row: 0, window: Window::default(), block: None }
    }

    /// Takes the source's next bytes. After an error neither these nor later bytes may be used.
    pub fn feed(&mut self, block: &[u8; BLOCK]) -> Result<(), Unhealthy> {
        let before = self.block.replace(Zeroizing::new(*block));
        if before.is_some_and(|before| *before == *block) {
            return Err(Unhealthy::Repeated);
        }
        block.iter().try_for_each(|byte| self.sample(*byte))
    }

    fn sample(&mut self, byte: u8) -> Result<(), Unhealthy> {
        self.in_a_row = if self.last == Some(byte) { self.in_a_row + 1 } else { 1 };
        self.last = Some(byte);
        if self.in_a_row >= self.cutoffs.repetition {
            return Err(Unhealthy::Stuck { cutoff: self.cutoffs.repetition });
        }
        let window = &mut self.window;
        if window.samples == 0 {
            *window = Window { value: byte, ..Window::default() };
        }
        window.count += u32::from(window.value == byte);
        window.samples = (window.samples + 1) % WINDOW;
        if window.count >= self.cutoffs.proportion {
            return Err(Unhealthy::Preferred { cutoff: self.cutoffs.proportion });
        }
        Ok(())
    }
}

/// Hides the samples: they may become a seed.
impl fmt::Debug for HealthTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Health {{ cutoffs: {:?}, .. }}", self.cutoffs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that differ from block to block and hold no value often.
    fn plain(block: u8) -> [u8; BLOCK] {
        let byte = |at: u8| at.wrapping_mul(5).wrapping_add(block.wrapping_mul(67));
        std::array::from_fn(|at| byte(u8::try_from(at).unwrap()))
    }

    /// Feeds `blocks` and compares the outcome, and the number of blocks taken until then.
    fn check(bits: f64, blocks: &[[u8; BLOCK]], outcome: Result<(), Unhealthy>, taken: usize) {
        let mut health = HealthTests::new(bits);
        for (at, block) in blocks.iter().enumerate() {
            let fed = health.feed(block);
            if fed.is_err() || at + 1 == blocks.len() {
                assert_eq!((fed, at + 1), (outcome, taken));
                return;
            }
        }
    }

    /// The table in SP 800-90B section 4.4.2, for windows of 512 and of 1024 samples, is for a
    /// probability of 2^-20.
    #[test]
    fn cutoffs_as_published() {
        for (bits, cutoff) in [(0.5, 410), (1.0, 311), (2.0, 177), (4.0, 62), (8.0, 13)] {
            assert_eq!(1 + binomial_cutoff(512, f64::exp2(-bits), 20.0), cutoff, "{bits} bits");
        }
        for (bits, cutoff) in [(0.2, 941), (0.4, 840), (0.6, 748), (0.8, 664), (1.0, 589)] {
            assert_eq!(1 + binomial_cutoff(1024, f64::exp2(-bits), 20.0), cutoff, "{bits} bits");
        }
    }

    /// Computed elsewhere with sixty digits.
    #[test]
    fn cutoffs_of_ours() {
        let table = [(0.5, 61, 422), (1.0, 31, 325), (2.0, 16, 190), (4.0, 9, 71), (8.0, 5, 16)];
        for (bits, repetition, proportion) in table {
            assert_eq!(
                Cutoffs::for_entropy(bits),
                Cutoffs { repetition, proportion },
                "{bits} bits"
            );
        }
    }

    #[test]
    fn a_source_that_changes_is_healthy() {
        let blocks: Vec<_> = (0..=255).map(plain).collect();
        check(8.0, &blocks, Ok(()), 256);
    }

    /// fairness/SPEC.md §13.1.
    #[test]
    fn a_stuck_byte_is_noticed_at_the_cutoff_and_not_before() {
        let stuck = |count: usize| {
            let mut block = plain(0);
            block[10..10 + count].fill(99);
            block
        };
        assert_eq!(Cutoffs::for_entropy(4.0).repetition, 9);
        check(4.0, &[stuck(8), plain(1)], Ok(()), 2);
        check(4.0, &[plain(1), stuck(9)], Err(Unhealthy::Stuck { cutoff: 9 }), 2);
        // A row that spans two blocks.
        let (mut end, mut start) = (plain(0), plain(1));
        end[59..].fill(99);
        start[..4].fill(99);
        check(4.0, &[end, start], Err(Unhealthy::Stuck { cutoff: 9 }), 2);
    }

    /// fairness/SPEC.md §13.1.
    #[test]
    fn a_preferred_byte_is_noticed_though_it_never_comes_twice_in_a_row() {
        let preferring = |block: u8| {
            let mut bytes = plain(block);
            bytes.iter_mut().step_by(4).for_each(|byte| *byte = 7);
            bytes
        };
        let blocks: Vec<_> = (0..8).map(preferring).collect();
        // 16 or 17 of 64: the 71st comes in the fifth block.
        check(4.0, &blocks, Err(Unhealthy::Preferred { cutoff: 71 }), 5);
        // This count is normal with two bits a byte.
        check(2.0, &blocks, Ok(()), 8);
    }

    /// fairness/SPEC.md §13.1.
    #[test]
    fn a_repeated_block_is_noticed() {
        check(8.0, &[plain(0), plain(1), plain(1)], Err(Unhealthy::Repeated), 3);
    }

    #[test]
    fn what_was_fed_does_not_print() {
        let mut health = HealthTests::new(4.0);
        health.feed(&plain(3)).unwrap();
        let cutoffs = "Cutoffs { repetition: 9, proportion: 71 }";
        assert_eq!(format!("{health:?}"), format!("Health {{ cutoffs: {cutoffs}, .. }}"));
    }
}
