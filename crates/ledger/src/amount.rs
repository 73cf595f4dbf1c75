//! Signed credits: the amount of a leg and the balance of an account.

use std::fmt;

use primitives::Credits;

const MAX: i64 = (1 << 53) - 1;

/// A signed whole number of credits. Invariant: its magnitude is at most [`Credits::MAX`]. In a
/// leg, a positive amount is credited to the account and a negative one is debited from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i64);

/// Error of an amount outside the range from -(2^53 - 1) to 2^53 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signed amount is a whole number from -9007199254740991 to 9007199254740991")]
pub struct AmountOutOfRange;

impl Amount {
    pub const ZERO: Amount = Amount(0);

    pub const fn try_new(amount: i64) -> Result<Amount, AmountOutOfRange> {
        if amount < -MAX || amount > MAX { Err(AmountOutOfRange) } else { Ok(Amount(amount)) }
    }

    /// `credits` to the account: a positive amount.
    #[must_use]
    pub const fn credit(credits: Credits) -> Amount {
        // At most 2^53 - 1: the bits and the value are the same in both types.
        Amount(credits.get().cast_signed())
    }

    /// `credits` from the account: a negative amount.
    #[must_use]
    pub const fn debit(credits: Credits) -> Amount {
        Amount(credits.get().cast_signed().saturating_neg())
    }

    /// The opposite amount.
    #[must_use]
    pub const fn negated(self) -> Amount {
        // The range is symmetric.
        Amount(self.0.saturating_neg())
    }

    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub const fn is_credit(self) -> bool {
        self.0 > 0
    }

    #[must_use]
    pub const fn is_debit(self) -> bool {
        self.0 < 0
    }

    /// The amount without its sign.
    #[must_use]
    pub fn magnitude(self) -> Credits {
        Credits::try_new(self.0.unsigned_abs()).expect("an amount's magnitude is at most the limit")
    }

    pub const fn plus(self, other: Amount) -> Result<Amount, AmountOutOfRange> {
        // Both magnitudes are below 2^53: the sum cannot leave i64.
        Amount::try_new(self.0.saturating_add(other.0))
    }

    /// Sum, clamped to the range.
    #[must_use]
    pub(crate) fn saturating_plus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0).clamp(-MAX, MAX))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+}cr", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_is_symmetric() {
        let top = Amount::credit(Credits::MAX);
        let bottom = Amount::debit(Credits::MAX);
        assert_eq!((top.get(), bottom.get()), (MAX, -MAX));
        assert_eq!(top.plus(bottom), Ok(Amount::ZERO));
        assert_eq!(top.plus(Amount::credit(Credits::of(1))), Err(AmountOutOfRange));
        assert_eq!(bottom.plus(Amount::debit(Credits::of(1))), Err(AmountOutOfRange));
        assert_eq!(Amount::try_new(i64::MIN), Err(AmountOutOfRange));
        assert_eq!(bottom.magnitude(), Credits::MAX);
        assert_eq!(top.saturating_plus(top), top);
    }
}
