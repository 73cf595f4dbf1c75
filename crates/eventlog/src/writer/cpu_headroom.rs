//! Detection of unused processor time in this process.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

/// Time for which a measurement is used.
const MEASUREMENT_INTERVAL: Duration = Duration::from_millis(100);
/// Share of its time, in percent, below which a thread counts as having time to spare.
const MAX_BUSY_PERCENT: u32 = 60;

/// Load of this runtime's worker threads.
pub(crate) struct CpuHeadroom {
    measured_at: Instant,
    busy: Duration,
    is_available: bool,
}

impl CpuHeadroom {
    pub(crate) fn new() -> CpuHeadroom {
        CpuHeadroom { measured_at: Instant::now(), busy: busy_time().0, is_available: true }
    }

    /// Whether the threads were idle for a good part of the last measurement.
    pub(super) fn is_available(&mut self) -> bool {
        let (now, passed) = (Instant::now(), self.measured_at.elapsed());
        if passed >= MEASUREMENT_INTERVAL {
            let (busy, threads) = busy_time();
            self.is_available = has_headroom(busy.saturating_sub(self.busy), passed, threads);
            (self.measured_at, self.busy) = (now, busy);
        }
        self.is_available
    }
}

/// Whether threads that were busy for so long in all, in a time that passed, have time to spare.
fn has_headroom(busy: Duration, passed: Duration, threads: u32) -> bool {
    busy < passed * threads * MAX_BUSY_PERCENT / 100
}

/// Total busy time of the runtime's worker threads, and their number.
fn busy_time() -> (Duration, u32) {
    let metrics = Handle::current().metrics();
    let threads = metrics.num_workers();
    let busy = (0..threads).map(|thread| metrics.worker_total_busy_duration(thread)).sum();
    (busy, u32::try_from(threads).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ARCHITECTURE.md §2.5.
    #[test]
    fn threads_busy_for_three_fifths_of_their_time_have_none_to_spare() {
        let passed = MEASUREMENT_INTERVAL;
        for threads in [1, 2, 16] {
            let limit = passed * threads * 3 / 5;
            assert!(has_headroom(limit - Duration::from_nanos(1), passed, threads), "{threads}");
            assert!(!has_headroom(limit, passed, threads), "{threads}");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_thread_that_is_never_done_leaves_nothing() {
        let spare = tokio::spawn(async {
            let mut spare = CpuHeadroom::new();
            tokio::time::sleep(MEASUREMENT_INTERVAL).await;
            let idle = spare.is_available();
            let until = Instant::now() + MEASUREMENT_INTERVAL * 3;
            while Instant::now() < until {
                let turn = Instant::now();
                while turn.elapsed() < MEASUREMENT_INTERVAL / 100 {}
                tokio::task::yield_now().await;
            }
            (idle, spare.is_available())
        });
        assert_eq!(spare.await.expect("it does not panic"), (true, false));
    }
}
