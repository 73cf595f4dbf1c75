//! Amounts of credits: no operators, no floats, no signed conversions.

use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Non-negative whole number of credits. Invariant: at most [`Credits::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "u64")]
pub struct Credits(u64);

/// An amount is outside the range 0 to 2^53 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("credits are whole numbers from 0 to 9007199254740991")]
pub struct CreditsOutOfRange;

impl Credits {
    /// No credits.
    pub const ZERO: Credits = Credits(0);
    /// 2^53 - 1: the largest integer that every JSON reader keeps exact.
    pub const MAX: Credits = Credits((1 << 53) - 1);

    /// Checks that `amount` is at most [`Credits::MAX`].
    pub const fn try_new(amount: u64) -> Result<Credits, CreditsOutOfRange> {
        if amount > Credits::MAX.0 { Err(CreditsOutOfRange) } else { Ok(Credits(amount)) }
    }

    /// Makes an amount that needs no check: every `u32` is in range.
    #[must_use]
    pub const fn of(amount: u32) -> Credits {
        Credits(amount as u64)
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Adds two amounts. Errors if the sum is over [`Credits::MAX`].
    pub const fn plus(self, other: Credits) -> Result<Credits, CreditsOutOfRange> {
        // Both are below 2^53, so the sum fits a u64.
        Credits::try_new(self.0.saturating_add(other.0))
    }

    /// Subtracts. Errors if `other` is more than `self`.
    pub const fn minus(self, other: Credits) -> Result<Credits, CreditsOutOfRange> {
        match self.0.checked_sub(other.0) {
            Some(rest) => Ok(Credits(rest)),
            None => Err(CreditsOutOfRange),
        }
    }

    /// Subtracts, and gives zero if `other` is more than `self`.
    #[must_use]
    pub const fn saturating_minus(self, other: Credits) -> Credits {
        Credits(self.0.saturating_sub(other.0))
    }

    /// Multiplies. Errors if the product leaves the range.
    pub const fn times(self, factor: u64) -> Result<Credits, CreditsOutOfRange> {
        match self.0.checked_mul(factor) {
            Some(product) => Credits::try_new(product),
            None => Err(CreditsOutOfRange),
        }
    }

    /// Equal shares and the remainder: `share * ways + remainder == self`, `remainder < ways`.
    #[must_use]
    pub const fn split(self, ways: NonZeroU8) -> (Credits, Credits) {
        let ways = ways.get() as u64;
        (Credits(self.0.div_euclid(ways)), Credits(self.0.rem_euclid(ways)))
    }

    /// `self * parts / whole`, rounded down: for shares and rates. Errors if the result leaves the
    /// range or `whole` is 0.
    pub fn portion(self, parts: u64, whole: u64) -> Result<Credits, CreditsOutOfRange> {
        u128::from(self.0)
            .checked_mul(u128::from(parts))
            .and_then(|product| product.checked_div(u128::from(whole)))
            .and_then(|share| u64::try_from(share).ok())
            .ok_or(CreditsOutOfRange)
            .and_then(Credits::try_new)
    }

    /// Sum of all amounts. Errors if it leaves the range.
    pub fn sum(amounts: impl IntoIterator<Item = Credits>) -> Result<Credits, CreditsOutOfRange> {
        amounts.into_iter().try_fold(Credits::ZERO, Credits::plus)
    }
}

impl TryFrom<u64> for Credits {
    type Error = CreditsOutOfRange;

    fn try_from(amount: u64) -> Result<Credits, CreditsOutOfRange> {
        Credits::try_new(amount)
    }
}

/// Reads plain decimal digits: no sign, no leading zero, no separators.
impl FromStr for Credits {
    type Err = CreditsOutOfRange;

    fn from_str(text: &str) -> Result<Credits, CreditsOutOfRange> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let canonical = digits && (text == "0" || !text.starts_with('0'));
        if !canonical {
            return Err(CreditsOutOfRange);
        }
        text.parse::<u64>().map_err(|_| CreditsOutOfRange).and_then(Credits::try_new)
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}cr", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_ends_at_2_to_the_53() {
        assert_eq!(Credits::try_new(1 << 53), Err(CreditsOutOfRange));
        assert_eq!(Credits::MAX.plus(Credits::of(1)), Err(CreditsOutOfRange));
        assert_eq!(Credits::ZERO.minus(Credits::of(1)), Err(CreditsOutOfRange));
        assert_eq!(Credits::MAX.times(2), Err(CreditsOutOfRange));
        assert_eq!(Credits::MAX.portion(10_000, 10_000), Ok(Credits::MAX));
        assert_eq!(Credits::MAX.portion(1, 0), Err(CreditsOutOfRange));
    }

    #[test]
    fn split_returns_every_credit() {
        let ways = NonZeroU8::new(3).unwrap();
        assert_eq!(Credits::of(11).split(ways), (Credits::of(3), Credits::of(2)));
    }

    #[test]
    fn text_is_canonical_decimal() {
        for bad in ["", "-1", "+1", "01", "1.0", "1e3", " 1", "9007199254740992"] {
            assert_eq!(bad.parse::<Credits>(), Err(CreditsOutOfRange), "{bad:?}");
        }
        assert_eq!("9007199254740991".parse(), Ok(Credits::MAX));
        assert_eq!("0".parse(), Ok(Credits::ZERO));
    }
}
