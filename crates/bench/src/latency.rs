//! Latencies of answers. All are kept, so a percentile is an observed value and not an estimate.

use std::time::Duration;

use serde::Serialize;

/// Latencies in microseconds, unordered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    micros: Vec<u32>,
}

/// Percentiles of latencies, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Latencies {
    /// Adds a latency. More than 71 minutes count as 71 minutes.
    pub(crate) fn add(&mut self, took: Duration) {
        self.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// Adds another worker's latencies.
    pub(crate) fn absorb(&mut self, mut other: Latencies) {
        self.micros.append(&mut other.micros);
    }

    #[must_use]
    pub(crate) fn count(&self) -> u64 {
        self.micros.len() as u64
    }

    /// Returns the percentiles; none without an answer. A percentile is the least latency that this
    /// share of the answers did not exceed.
    #[must_use]
    pub(crate) fn percentiles(mut self) -> Option<Percentiles> {
        self.micros.sort_unstable();
        let max = *self.micros.last()?;
        let at = |percent: usize| {
            let rank = (self.micros.len() * percent).div_ceil(100).max(1);
            self.micros.get(rank - 1).copied().unwrap_or(max)
        };
        let millis = |micros: u32| f64::from(micros) / 1000.0;
        let (p50, p95, p99) = (at(50), at(95), at(99));
        Some(Percentiles { p50: millis(p50), p95: millis(p95), p99: millis(p99), max: millis(max) })
    }
}

impl std::fmt::Display for Percentiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Percentiles { p50, p95, p99, max } = self;
        write!(f, "p50 {p50:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms, max {max:.2} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_an_answer_that_so_many_did_not_exceed() {
        let mut latencies = Latencies::default();
        for millis in (1..=100).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        let mut late = Latencies::default();
        late.add(Duration::from_secs(5));
        latencies.absorb(late);
        assert_eq!(latencies.count(), 101);
        let Percentiles { p50, p95, p99, max } = latencies.percentiles().unwrap();
        assert_eq!((p50, p95, p99, max), (51.0, 96.0, 100.0, 5000.0));
    }

    #[test]
    fn one_answer_is_every_percentile_and_none_is_none() {
        assert_eq!(Latencies::default().percentiles(), None);
        let mut one = Latencies::default();
        one.add(Duration::from_secs(10_000));
        let spread = one.percentiles().unwrap();
        assert_eq!((spread.p50, spread.max), (f64::from(u32::MAX) / 1000.0, spread.p50));
    }
}
