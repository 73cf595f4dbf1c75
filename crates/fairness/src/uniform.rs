//! Words of an operation's stream, and the only code that turns one into a number below n.
//!
//! Specification: fairness/SPEC.md §6.3, §6.4.

use std::num::NonZeroU64;

use hmac::Mac;
use zeroize::Zeroizing;

use crate::encoding::{KeyedHmac, Secret64, keyed_hmac};

/// The u64 words of HMAC-SHA-512(key, u32 j) for j = 0, 1, 2 …, big-endian, eight a block.
pub(crate) struct WordStream {
    key: KeyedHmac,
    block: Secret64,
    /// Number of the block after `block`.
    next_block: u32,
    /// Number of words of `block` that are used up.
    used_words: usize,
}

impl WordStream {
    pub(crate) fn new(key: &[u8; 64]) -> WordStream {
        WordStream {
            key: keyed_hmac(key),
            block: Zeroizing::new([0; 64]),
            next_block: 0,
            used_words: 8,
        }
    }

    pub(crate) fn word(&mut self) -> u64 {
        if self.used_words == 8 {
            let mut mac = self.key.clone();
            mac.update(&self.next_block.to_be_bytes());
            self.block = Zeroizing::new(mac.finalize().into_bytes().into());
            self.next_block =
                self.next_block.checked_add(1).expect("no operation takes 2^35 words");
            self.used_words = 0;
        }
        let (words, _) = self.block.as_chunks::<8>();
        let word = u64::from_be_bytes(words[self.used_words]);
        self.used_words += 1;
        word
    }

    /// A number from 0 to `n` - 1, each exactly as likely.
    pub(crate) fn below(&mut self, n: NonZeroU64) -> u64 {
        uniform(n, || self.word())
    }
}

/// Makes a number from 0 to `n` - 1 of uniform words, each exactly as likely. Words at or above the
/// last whole multiple of `n` under 2^64 are thrown away, so that every remainder has as many
/// words. No other function may take a remainder of a random word.
pub(crate) fn uniform(n: NonZeroU64, mut word: impl FnMut() -> u64) -> u64 {
    let n = n.get();
    // 2^64 mod n: 2^64 - n, which fits a u64, has the same remainder.
    let excess = n.wrapping_neg() % n;
    let last = u64::MAX - excess;
    loop {
        let word = word();
        if word <= last {
            return word % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn n(n: u64) -> NonZeroU64 {
        NonZeroU64::new(n).unwrap()
    }

    /// Checks the answer of `uniform` to `words`, and the number of words that it took.
    fn check(below: u64, words: &[u64], answer: u64, taken: usize) {
        let mut left = words.iter();
        assert_eq!(uniform(n(below), || *left.next().unwrap()), answer, "below {below}");
        assert_eq!(words.len() - left.len(), taken, "below {below}");
    }

    /// fairness/SPEC.md §6.4.
    #[test]
    fn the_first_rejected_word_is_the_last_whole_multiple() {
        // 2^64 mod 3 = 1: only the highest word is thrown away.
        check(3, &[u64::MAX, 7], 1, 2);
        check(3, &[u64::MAX - 1, 7], 2, 1);
        // 2^64 mod 10 = 6: the six highest words are thrown away.
        check(10, &[u64::MAX, u64::MAX - 5, 12], 2, 3);
        check(10, &[u64::MAX - 6, 12], 9, 1);
        // 2^64 mod 76 = 36.
        check(76, &[u64::MAX - 35, 76], 0, 2);
        check(76, &[u64::MAX - 36], 75, 1);
    }

    /// fairness/SPEC.md §6.4.
    #[test]
    fn powers_of_two_reject_nothing() {
        for bits in 0..64 {
            check(1 << bits, &[u64::MAX], (1 << bits) - 1, 1);
        }
        check(u64::MAX, &[u64::MAX, 5], 5, 2);
        check((1 << 63) + 1, &[(1 << 63) + 1, u64::MAX, 1 << 63], 1 << 63, 3);
    }

    /// fairness/SPEC.md §6.3.
    #[test]
    fn words_are_blocks_in_order() {
        let mut words = WordStream::new(&[7; 64]);
        let taken: Vec<u64> = (0..17).map(|_| words.word()).collect();
        for block in [0_u32, 1] {
            let mut mac = keyed_hmac(&[7; 64]);
            mac.update(&block.to_be_bytes());
            let bytes = mac.finalize().into_bytes();
            let at = usize::try_from(block).unwrap() * 8;
            let seen: Vec<u8> = taken[at..at + 8].iter().flat_map(|w| w.to_be_bytes()).collect();
            assert_eq!(seen, bytes.to_vec());
        }
    }

    proptest! {
        /// The rule as it is published, in wider arithmetic.
        /// fairness/SPEC.md §6.4.
        #[test]
        fn agrees_with_the_rule_in_128_bits(below in 1_u64.., words in prop::collection::vec(any::<u64>(), 1..4)) {
            let limit = (1_u128 << 64) - (1_u128 << 64) % u128::from(below);
            let kept = words.iter().copied().find(|word| u128::from(*word) < limit);
            prop_assume!(kept.is_some());
            let mut left = words.iter();
            let drawn = uniform(n(below), || *left.next().unwrap());
            prop_assert!(drawn < below);
            prop_assert_eq!(Some(drawn), kept.map(|word| word % below));
        }
    }
}
