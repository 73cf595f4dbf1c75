//! Seat numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of a seat at a table, 1 to 8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct SeatNo(u8);

/// The number is not from 1 to 8. No game has more than eight seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("seats are numbered from 1 to 8")]
pub struct SeatNoOutOfRange;

impl SeatNo {
    /// Highest seat number.
    pub const MAX: u8 = 8;

    pub const fn try_new(number: u8) -> Result<SeatNo, SeatNoOutOfRange> {
        if number == 0 || number > SeatNo::MAX { Err(SeatNoOutOfRange) } else { Ok(SeatNo(number)) }
    }

    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u32> for SeatNo {
    type Error = SeatNoOutOfRange;

    fn try_from(number: u32) -> Result<SeatNo, SeatNoOutOfRange> {
        u8::try_from(number).map_err(|_| SeatNoOutOfRange).and_then(SeatNo::try_new)
    }
}

impl fmt::Display for SeatNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SeatNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}
