//! Times as the public API says them.

use primitives::UnixMicros;
use prost_types::Timestamp;

/// Converts an instant to a protobuf timestamp. An instant after the year 9999, which protobuf does
/// not allow, becomes the last second of that year.
#[must_use]
pub fn timestamp(at: UnixMicros) -> Timestamp {
    const LAST: i64 = 253_402_300_799;
    let seconds = i64::try_from(at.0 / 1_000_000).unwrap_or(i64::MAX);
    if seconds > LAST {
        return Timestamp { seconds: LAST, nanos: 0 };
    }
    let nanos = i32::try_from(at.0 % 1_000_000 * 1000).unwrap_or(0);
    Timestamp { seconds, nanos }
}

/// Converts a protobuf timestamp to an instant, to the microsecond; `None` for a time before 1970.
#[must_use]
pub fn instant(at: Timestamp) -> Option<UnixMicros> {
    let Timestamp { seconds, nanos } = at;
    let (seconds, nanos) = (u64::try_from(seconds).ok()?, u64::try_from(nanos).ok()?);
    Some(UnixMicros(seconds.checked_mul(1_000_000)?.checked_add(nanos / 1000)?))
}

/// Writes an instant as in RFC 3339, in UTC, to the microsecond.
#[must_use]
pub fn rfc3339(at: UnixMicros) -> String {
    let mut text = at.to_string();
    text.pop();
    format!("{text}{:03}Z", at.0 % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_to_the_microsecond() {
        for micros in [0, 1, 999_999, 1_000_000, 1_700_000_000_123_456] {
            assert_eq!(instant(timestamp(UnixMicros(micros))), Some(UnixMicros(micros)));
        }
        assert_eq!(instant(Timestamp { seconds: -1, nanos: 0 }), None);
        assert_eq!(timestamp(UnixMicros(u64::MAX)).seconds, 253_402_300_799);
    }

    #[test]
    fn an_instant_in_words_has_six_digits_of_a_second() {
        assert_eq!(rfc3339(UnixMicros(1_700_000_000_123_456)), "2023-11-14T22:13:20.123456Z");
        assert_eq!(rfc3339(UnixMicros(0)), "1970-01-01T00:00:00.000000Z");
    }
}
