//! Instants as the logs record them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct UnixMicros(pub u64);

impl UnixMicros {
    /// Adds a span; saturates at `u64::MAX`.
    #[must_use]
    pub fn plus(self, span: Duration) -> UnixMicros {
        UnixMicros(self.0.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)))
    }

    /// Time before this one by a span; 0 if that is before 1970.
    #[must_use]
    pub fn minus(self, span: Duration) -> UnixMicros {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        UnixMicros(self.0.saturating_sub(micros))
    }

    /// Time from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: UnixMicros) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Writes RFC 3339 with milliseconds, in UTC.
impl fmt::Display for UnixMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000;
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil_date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let millis = self.0 / 1000 % 1000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl fmt::Debug for UnixMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar.
/// It works in eras of 400 years; a year is counted from March, so that the leap day is its last.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_rfc_3339() {
        assert_eq!(UnixMicros(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(UnixMicros(951_782_400_123_456).to_string(), "2000-02-29T00:00:00.123Z");
        assert_eq!(UnixMicros(1_735_689_599_999_999).to_string(), "2024-12-31T23:59:59.999Z");
    }
}
