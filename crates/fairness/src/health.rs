//! Whether a source of entropy still gives any: the health tests of NIST SP 800-90B, section 4.4.
//!
//! The repetition count notices a source that is stuck, the adaptive proportion one that has come
//! to prefer a value. Each has a cutoff that a source with the assessed min-entropy reaches with a
//! chance of at most 2^-30 a sample, and which is computed here from that entropy.
//!
//! Samples are bytes. Beside them the repetition count runs over whole blocks of [`BLOCK`] bytes,
//! as many as a seed has: a generator whose state was copied or stands still repeats itself block
//! by block, with bytes that look perfect.
//!
//! Healthy says only that the source is not plainly broken. Nothing can be learnt from outputs
//! about whether somebody else knows them.

use std::fmt;

use zeroize::Zeroizing;

/// Bytes fed at once.
pub const BLOCK: usize = 64;
/// Samples that the proportion is taken of.
pub const WINDOW: u32 = 512;
/// Samples that a source must pass before its first use.
pub const START: usize = 1024;
/// The chance that a healthy source reaches a cutoff is two to the minus this.
const ALPHA_BITS: f64 = 30.0;

/// What is wrong with a source. It does not say which bytes came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unhealthy {
    #[error("one byte came {cutoff} times in a row")]
    Stuck { cutoff: u32 },
    #[error("one byte came {cutoff} times among {WINDOW}")]
    Preferred { cutoff: u32 },
    #[error("the same {BLOCK} bytes came twice in a row")]
    Repeated,
}

/// From how many on a count is too high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Equal samples in a row.
    pub repetition: u32,
    /// Samples equal to the first of a window of [`WINDOW`], itself counted.
    pub proportion: u32,
}

impl Cutoffs {
    /// For samples of `bits` of min-entropy each, above 0 and at most 8; what lies outside is taken
    /// as the nearest of 0.001 and 8.
    #[must_use]
    pub fn of(bits: f64) -> Cutoffs {
        let bits = bits.clamp(0.001, 8.0);
        let mut repetition = 1;
        while f64::from(repetition - 1) * bits < ALPHA_BITS {
            repetition += 1;
        }
        Cutoffs { repetition, proportion: 1 + most(WINDOW, (-bits).exp2(), ALPHA_BITS) }
    }
}

/// The smallest k for which `n` samples hold at most k of a value of chance `p`, but for a chance
/// of 2^-`alpha_bits`: the critical value of the binomial law.
fn most(n: u32, p: f64, alpha_bits: f64) -> u32 {
    // Summed from the far end, where what is lost to rounding is lost from small numbers.
    let mut at = n;
    let mut term = p.ln() * f64::from(n);
    let mut above = term.exp();
    while above <= (-alpha_bits).exp2() && at > 0 {
        // C(n, k - 1) p^(k - 1) q^(n - k + 1) out of the term for k.
        term += (f64::from(at) / f64::from(n - at + 1)).ln() + ((1.0 - p) / p).ln();
        at -= 1;
        above += term.exp();
    }
    at
}

/// The tests of one source, over everything that comes from it.
pub struct Health {
    cutoffs: Cutoffs,
    last: Option<u8>,
    in_a_row: u32,
    /// The value that this window counts, how often it came, and samples of the window so far.
    window: (u8, u32, u32),
    block: Option<Zeroizing<[u8; BLOCK]>>,
}

impl Health {
    /// Of a source whose bytes have `bits` of min-entropy each, above 0 and at most 8.
    #[must_use]
    pub fn new(bits: f64) -> Health {
        let cutoffs = Cutoffs::of(bits);
        Health { cutoffs, last: None, in_a_row: 0, window: (0, 0, 0), block: None }
    }

    /// Takes the source's next bytes. After an error these, and what follows, are not to be used.
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
        let (value, count, samples) = &mut self.window;
        if *samples == 0 {
            (*value, *count) = (byte, 0);
        }
        *count += u32::from(*value == byte);
        *samples = (*samples + 1) % WINDOW;
        if *count >= self.cutoffs.proportion {
            return Err(Unhealthy::Preferred { cutoff: self.cutoffs.proportion });
        }
        Ok(())
    }
}

/// What it has seen may become a seed: it does not print.
impl fmt::Debug for Health {
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

    /// What becomes of `blocks`, and after how many.
    fn check(bits: f64, blocks: &[[u8; BLOCK]], outcome: Result<(), Unhealthy>, taken: usize) {
        let mut health = Health::new(bits);
        for (at, block) in blocks.iter().enumerate() {
            let fed = health.feed(block);
            if fed.is_err() || at + 1 == blocks.len() {
                assert_eq!((fed, at + 1), (outcome, taken));
                return;
            }
        }
    }

    /// The table in SP 800-90B section 4.4.2, for windows of 512 and of 1024 samples, is for a
    /// chance of 2^-20.
    #[test]
    fn cutoffs_as_published() {
        for (bits, cutoff) in [(0.5, 410), (1.0, 311), (2.0, 177), (4.0, 62), (8.0, 13)] {
            assert_eq!(1 + most(512, f64::exp2(-bits), 20.0), cutoff, "{bits} bits");
        }
        for (bits, cutoff) in [(0.2, 941), (0.4, 840), (0.6, 748), (0.8, 664), (1.0, 589)] {
            assert_eq!(1 + most(1024, f64::exp2(-bits), 20.0), cutoff, "{bits} bits");
        }
    }

    /// Computed with sixty digits elsewhere.
    #[test]
    fn cutoffs_of_ours() {
        let table = [(0.5, 61, 422), (1.0, 31, 325), (2.0, 16, 190), (4.0, 9, 71), (8.0, 5, 16)];
        for (bits, repetition, proportion) in table {
            assert_eq!(Cutoffs::of(bits), Cutoffs { repetition, proportion }, "{bits} bits");
        }
    }

    #[test]
    fn a_source_that_changes_is_healthy() {
        let blocks: Vec<_> = (0..=255).map(plain).collect();
        check(8.0, &blocks, Ok(()), 256);
    }

    #[test]
    fn a_stuck_byte_is_noticed_at_the_cutoff_and_not_before() {
        let stuck = |count: usize| {
            let mut block = plain(0);
            block[10..10 + count].fill(99);
            block
        };
        assert_eq!(Cutoffs::of(4.0).repetition, 9);
        check(4.0, &[stuck(8), plain(1)], Ok(()), 2);
        check(4.0, &[plain(1), stuck(9)], Err(Unhealthy::Stuck { cutoff: 9 }), 2);
        // Over the border of two blocks.
        let (mut end, mut start) = (plain(0), plain(1));
        end[59..].fill(99);
        start[..4].fill(99);
        check(4.0, &[end, start], Err(Unhealthy::Stuck { cutoff: 9 }), 2);
    }

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
        // As it should be with two bits a byte.
        check(2.0, &blocks, Ok(()), 8);
    }

    #[test]
    fn a_repeated_block_is_noticed() {
        check(8.0, &[plain(0), plain(1), plain(1)], Err(Unhealthy::Repeated), 3);
    }

    #[test]
    fn what_was_fed_does_not_print() {
        let mut health = Health::new(4.0);
        health.feed(&plain(3)).unwrap();
        let cutoffs = "Cutoffs { repetition: 9, proportion: 71 }";
        assert_eq!(format!("{health:?}"), format!("Health {{ cutoffs: {cutoffs}, .. }}"));
    }
}
