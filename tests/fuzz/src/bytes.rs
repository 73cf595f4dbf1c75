//! Bytes as a source of choices.

/// Choices read from bytes; after the last byte, arbitrary choices that depend on them.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    state: u64,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Bytes { rest: bytes, state: bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                first
            }
            None => {
                self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u8::try_from(self.state >> 56).unwrap_or(0)
            }
        }
    }

    /// Returns a number below `n`, which is at least 1, from as many bytes as needed.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let (mut number, mut reach) = (u64::from(self.byte()), 256_u64);
        while reach < n && reach < 1 << 56 {
            number = number << 8 | u64::from(self.byte());
            reach <<= 8;
        }
        number % n.max(1)
    }

    pub(crate) fn index(&mut self, n: usize) -> usize {
        usize::try_from(self.below(u64::try_from(n).unwrap_or(1))).unwrap_or(0)
    }

    pub(crate) fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}
