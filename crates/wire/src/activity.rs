//! Counts and latencies of a room's activity.

use std::time::Duration;

use proto::table::v1 as pb;

/// Writes a window of a service's activity: its length, how much of it the counts are of, the counts,
/// and the steps.
#[must_use]
pub fn window(
    length: Duration,
    covered: Duration,
    counts: Vec<(pb::ActivityKind, u64)>,
    steps: Vec<pb::StepLatency>,
) -> pb::ActivityWindow {
    let counts = counts.into_iter().map(|(kind, count)| pb::ActivityCount {
        kind: kind.into(),
        count,
        per_hour: per_hour(count, covered),
    });
    pb::ActivityWindow {
        seconds: u32::try_from(length.as_secs()).unwrap_or(u32::MAX),
        covered_ms: u64::try_from(covered.as_millis()).unwrap_or(u64::MAX),
        counts: counts.collect(),
        steps,
    }
}

/// Things in an hour, where there were `count` in `covered`; rounded down, 0 in no time.
fn per_hour(count: u64, covered: Duration) -> u64 {
    const HOUR_MILLIS: u128 = 3_600_000;
    let rate = (u128::from(count) * HOUR_MILLIS).checked_div(covered.as_millis()).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_the_time_that_is_covered() {
        assert_eq!(per_hour(7, Duration::ZERO), 0);
        assert_eq!(per_hour(7, Duration::from_secs(60)), 420);
        assert_eq!(per_hour(1, Duration::from_secs(7_201)), 0);
        assert_eq!(per_hour(u64::MAX, Duration::from_millis(1)), u64::MAX);
        let counts = vec![(pb::ActivityKind::Calls, 3)];
        let minute = Duration::from_secs(60);
        let written = window(minute, minute / 2, counts, Vec::new());
        assert_eq!((written.seconds, written.covered_ms), (60, 30_000));
        let [count] = &written.counts[..] else { panic!("{written:?}") };
        assert_eq!((count.kind(), count.count), (pb::ActivityKind::Calls, 3));
        assert_eq!(count.per_hour, 360);
    }
}
