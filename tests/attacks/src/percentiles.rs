//! Percentiles of latencies, observed and not estimated as by crate `hdrhistogram`.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// Latencies in milliseconds. A percentile is the least latency that this share of the answers did
/// not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub count: usize,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Percentiles {
    /// Computes the percentiles; none without a latency.
    #[must_use]
    pub fn of(mut took: Vec<Duration>) -> Option<Percentiles> {
        took.sort_unstable();
        let max = *took.last()?;
        let at = |percent: usize| {
            let rank = (took.len() * percent).div_ceil(100).max(1);
            took.get(rank - 1).copied().unwrap_or(max)
        };
        let millis = |span: Duration| span.as_secs_f64() * 1000.0;
        let (p50, p99) = (millis(at(50)), millis(at(99)));
        Some(Percentiles { count: took.len(), p50, p99, max: millis(max) })
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Percentiles { count, p50, p99, max } = self;
        write!(f, "p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms of {count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_answers_that_so_many_did_not_exceed() {
        assert_eq!(Percentiles::of(Vec::new()), None);
        let spread = Percentiles::of((1..=200).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!((spread.p50, spread.p99, spread.max), (100.0, 198.0, 200.0));
        let one = Percentiles::of(vec![Duration::from_millis(7)]).unwrap();
        assert_eq!((one.p50, one.p99, one.max), (7.0, 7.0, 7.0));
    }
}
